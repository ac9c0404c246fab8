//! The names the engine itself knows, as static strings and constant property keys.
//!
//! One table, in alphabetical order of the constants; add a row to get `atoms::NAME`. The cells are in static
//! memory: they cost no start-up time, are shared by all isolates, and comparing keys with them is comparing words.
//! (Builtin tables need no row here: their names are interned when an intrinsic is materialised.)

use crate::property_key::PropertyKey;
use crate::string::{self, JsStr, StaticStr, StrView};

macro_rules! atoms {
    ($($name:ident $text:literal;)*) => {
        mod cells {
            use super::StaticStr;
            $(pub(super) static $name: StaticStr<{ $text.len() }> = StaticStr::new($text);)*
        }
        /// The strings themselves.
        #[allow(dead_code)]
        pub(crate) mod cells_str {
            use super::{JsStr, cells, string};
            $(#[allow(non_snake_case)] pub(crate) const fn $name() -> JsStr { string::static_cell(&cells::$name) })*
        }
        $(
            #[doc = concat!("The key `", $text, "`.")]
            pub const $name: PropertyKey = PropertyKey::from_static(&cells::$name);
        )*
        const COUNT: usize = [$($text),*].len();
        static ALL_KEYS: [PropertyKey; COUNT] = [$($name),*];
        const LENGTHS: [usize; COUNT] = [$($text.len()),*];
        const HASHES: [u32; COUNT] = [$(string::plain_hash($text.as_bytes())),*];
    };
}

atoms! {
    ADD "add";
    AGGREGATE_ERROR "AggregateError";
    ANONYMOUS "anonymous";
    APPLY "apply";
    ARGUMENTS "arguments";
    ARGUMENTS_NAME "Arguments";
    ARRAY "Array";
    ARRAY_BUFFER "ArrayBuffer";
    ASYNC "async";
    ASYNC_DISPOSE "asyncDispose";
    ASYNC_FUNCTION "AsyncFunction";
    ASYNC_GENERATOR_FUNCTION "AsyncGeneratorFunction";
    AT "at";
    ATOMICS "Atomics";
    BIGINT "bigint";
    BIGINT_NAME "BigInt";
    BOOLEAN "boolean";
    BOOLEAN_NAME "Boolean";
    BOUND "bound";
    BUFFER "buffer";
    BYTE_LENGTH "byteLength";
    BYTE_OFFSET "byteOffset";
    CALENDAR "calendar";
    CALLBACK "callback";
    CALLEE "callee";
    CALLER "caller";
    CAUSE "cause";
    CONCAT "concat";
    CONFIGURABLE "configurable";
    CONSTRUCT "construct";
    CONSTRUCTOR "constructor";
    DATA_VIEW "DataView";
    DATE_NAME "Date";
    DAY "day";
    DEFAULT "default";
    DEFINE_PROPERTY "defineProperty";
    DELETE "delete";
    DELETE_PROPERTY "deleteProperty";
    DIRNAME "dirname";
    DISPOSE "dispose";
    DONE "done";
    DOT_ALL "dotAll";
    ENTRIES "entries";
    ENUMERABLE "enumerable";
    ERA "era";
    ERROR "error";
    ERRORS "errors";
    ERROR_NAME "Error";
    EVAL "eval";
    EVAL_ERROR "EvalError";
    EXEC "exec";
    FALSE "false";
    FILENAME "filename";
    FINALIZATION_REGISTRY "FinalizationRegistry";
    FLAGS "flags";
    FOR_EACH "forEach";
    FROM "from";
    FULFILLED "fulfilled";
    FUNCTION "function";
    FUNCTION_NAME "Function";
    GENERATOR "Generator";
    GENERATOR_FUNCTION "GeneratorFunction";
    GET "get";
    GET_OWN_PROPERTY_DESCRIPTOR "getOwnPropertyDescriptor";
    GET_PROTOTYPE_OF "getPrototypeOf";
    GLOBAL "global";
    GLOBAL_THIS "globalThis";
    GROUPS "groups";
    HAS "has";
    HAS_INDICES "hasIndices";
    HINT "hint";
    HOUR "hour";
    IGNORE_CASE "ignoreCase";
    INDEX "index";
    INDICES "indices";
    INFINITY "Infinity";
    INPUT "input";
    INT8_ARRAY "Int8Array";
    INTERNAL_ERROR "InternalError";
    IS_EXTENSIBLE "isExtensible";
    ITERATOR "Iterator";
    JOIN "join";
    JSON "JSON";
    KEYS "keys";
    LAST_INDEX "lastIndex";
    LENGTH "length";
    MAIN "main";
    MAP_NAME "Map";
    MATH "Math";
    MAX_BYTE_LENGTH "maxByteLength";
    MESSAGE "message";
    META "meta";
    MINUTE "minute";
    MODULE "Module";
    MONTH "month";
    MULTILINE "multiline";
    NAME "name";
    NAN "NaN";
    NEXT "next";
    NULL "null";
    NUMBER "number";
    NUMBER_NAME "Number";
    OBJECT "object";
    OBJECT_NAME "Object";
    OF "of";
    OWN_KEYS "ownKeys";
    POP "pop";
    PREVENT_EXTENSIONS "preventExtensions";
    PROMISE "promise";
    PROMISE_NAME "Promise";
    PROTOTYPE "prototype";
    PROXY "proxy";
    PROXY_NAME "Proxy";
    PUSH "push";
    RANGE_ERROR "RangeError";
    RAW "raw";
    RAW_JSON "rawJSON";
    REASON "reason";
    REFERENCE_ERROR "ReferenceError";
    REFLECT "Reflect";
    REG_EXP "RegExp";
    REJECT "reject";
    REJECTED "rejected";
    RESOLVE "resolve";
    RETURN "return";
    REVOKE "revoke";
    SECOND "second";
    SET "set";
    SET_NAME "Set";
    SET_PROTOTYPE_OF "setPrototypeOf";
    SHARED_ARRAY_BUFFER "SharedArrayBuffer";
    SIZE "size";
    SLICE "slice";
    SOURCE "source";
    STACK "stack";
    STATUS "status";
    STICKY "sticky";
    STRING "string";
    STRING_NAME "String";
    SUPPRESSED "suppressed";
    SUPPRESSED_ERROR "SuppressedError";
    SYMBOL "symbol";
    SYMBOL_NAME "Symbol";
    SYM_ASYNC_DISPOSE "Symbol.asyncDispose";
    SYM_ASYNC_ITERATOR "Symbol.asyncIterator";
    SYM_DISPOSE "Symbol.dispose";
    SYM_HAS_INSTANCE "Symbol.hasInstance";
    SYM_IS_CONCAT_SPREADABLE "Symbol.isConcatSpreadable";
    SYM_ITERATOR "Symbol.iterator";
    SYM_MATCH "Symbol.match";
    SYM_MATCH_ALL "Symbol.matchAll";
    SYM_REPLACE "Symbol.replace";
    SYM_SEARCH "Symbol.search";
    SYM_SPECIES "Symbol.species";
    SYM_SPLIT "Symbol.split";
    SYM_TO_PRIMITIVE "Symbol.toPrimitive";
    SYM_TO_STRING_TAG "Symbol.toStringTag";
    SYM_UNSCOPABLES "Symbol.unscopables";
    SYNTAX_ERROR "SyntaxError";
    TEMPORAL "Temporal";
    THEN "then";
    THIS "this";
    THROW "throw";
    TIME_ZONE "timeZone";
    TO_ISO_STRING "toISOString";
    TO_JSON "toJSON";
    TO_LOCALE_STRING "toLocaleString";
    TO_STRING "toString";
    TRUE "true";
    TYPE "type";
    TYPE_ERROR "TypeError";
    UNDEFINED "undefined";
    UNICODE "unicode";
    UNICODE_SETS "unicodeSets";
    URI_ERROR "URIError";
    URL "url";
    VALUE "value";
    VALUES "values";
    VALUE_OF "valueOf";
    WEAK_MAP "WeakMap";
    WEAK_REF "WeakRef";
    WEAK_SET "WeakSet";
    WITH "with";
    WRITABLE "writable";
    YEAR "year";
}

const TABLE_SIZE: usize = (COUNT * 2).next_power_of_two();

/// Open addressing over the hashes: position in `ALL_KEYS` plus one, 0 for free.
static TABLE: [u16; TABLE_SIZE] = {
    let mut table = [0u16; TABLE_SIZE];
    let mut i = 0;
    while i < COUNT {
        let mut at = HASHES[i] as usize & (TABLE_SIZE - 1);
        while table[at] != 0 {
            at = (at + 1) & (TABLE_SIZE - 1);
        }
        table[at] = i as u16 + 1;
        i += 1;
    }
    table
};

/// Units of the longest static name.
const LONGEST: usize = {
    let mut longest = 0;
    let mut i = 0;
    while i < COUNT {
        if LENGTHS[i] > longest {
            longest = LENGTHS[i];
        }
        i += 1;
    }
    longest
};

/// The static string with these units, if there is one.
pub(crate) fn lookup(view: StrView<'_>) -> Option<JsStr> {
    match view.len() {
        0 => return Some(string::empty()),
        1 => {
            let u = view.at(0);
            return (u < 0x100 && !(0x30..=0x39).contains(&u)).then(|| string::character(u as u8));
        }
        2..=LONGEST => {}
        _ => return None,
    }
    // Names that the engine knows are ASCII.
    let mut buffer = [0u8; LONGEST];
    let text = match view {
        StrView::Latin1(text) => text,
        StrView::Utf16(units) => {
            for (to, &unit) in buffer.iter_mut().zip(units) {
                *to = u8::try_from(unit).ok()?;
            }
            &buffer[..units.len()]
        }
    };
    let hash = string::plain_hash(text);
    let mut at = hash as usize & (TABLE_SIZE - 1);
    while TABLE[at] != 0 {
        let s = ALL_KEYS[TABLE[at] as usize - 1].static_str();
        if s.cached_hash() == hash && s.flat_view() == Some(view) {
            return Some(s);
        }
        at = (at + 1) & (TABLE_SIZE - 1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_atom_is_found_by_its_text() {
        for key in &ALL_KEYS {
            let s = key.static_str();
            let text = s.to_rust_string();
            let view = StrView::Latin1(text.as_bytes());
            let found = lookup(view).map(|f| f.addr());
            assert_eq!(found, Some(s.addr()), "{text}");
            assert!(text.len() > 1, "single characters come from the character table: {text}");
        }
        let view = StrView::Latin1(b"noSuchNameAtAll");
        assert!(lookup(view).is_none());
    }
}
