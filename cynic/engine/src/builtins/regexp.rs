//! RegExp objects (22.2): the constructor, the flags and the source. Patterns are compiled by `cynic_regexp`.
//! <https://tc39.es/ecma262/#sec-regexp-regular-expression-objects>
//!
//! Internal slots: 0 the source, 1 the flags (both strings), 2 the compiled pattern. `lastIndex` is the first property of each
//! object. Matching is in `regexp_exec`, the `Symbol.*` methods in `regexp_symbols`.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use cynic_regexp::{Flags, Input, Regex, Scratch, SyntaxError, SyntaxErrorKind};

use super::{regexp_exec, regexp_symbols};
use crate::atoms;
use crate::gc::{ExternalCharge, Gc, Trace, Tracer};
use crate::object::function::NativeFunctionObject as _;
use crate::object::function::{CallArgs, NativeSpec};
use crate::object::{Object, ObjectKind};
use crate::realm::{
    Body, Intrinsic, IntrinsicSpec, constructor, getter, method, prototype, species, symbol_method,
};
use crate::shape::attrs;
use crate::string::builder::StringBuilder;
use crate::string::{self, JsStr, StrView};
use crate::symbol;
use crate::value::Value;
use crate::vm::{JsResult, Vm};

const SOURCE_SLOT: u32 = 0;
const FLAGS_SLOT: u32 = 1;
const PROGRAM_SLOT: u32 = 2;
const INTERNAL_SLOTS: u32 = 3;

/// %RegExp%.
pub static CONSTRUCTOR: IntrinsicSpec = IntrinsicSpec {
    body: Body::Function(NativeSpec::constructor("RegExp", 2, construct)),
    prototype: Some(Intrinsic::FunctionPrototype),
    properties: &[prototype(Intrinsic::RegExpPrototype), method("escape", 1, escape), species()],
};

/// %RegExp.prototype%, an ordinary object.
pub static PROTOTYPE: IntrinsicSpec = IntrinsicSpec {
    body: Body::Object(ObjectKind::Ordinary, 0),
    prototype: Some(Intrinsic::ObjectPrototype),
    properties: &[
        constructor(Intrinsic::RegExp),
        method("exec", 1, regexp_exec::exec),
        getter("dotAll", |vm, args| flag_getter(vm, args, Flags::dot_all)),
        getter("flags", flags),
        getter("global", |vm, args| flag_getter(vm, args, Flags::global)),
        getter("hasIndices", |vm, args| flag_getter(vm, args, Flags::has_indices)),
        getter("ignoreCase", |vm, args| flag_getter(vm, args, Flags::ignore_case)),
        getter("multiline", |vm, args| flag_getter(vm, args, Flags::multiline)),
        getter("source", source),
        getter("sticky", |vm, args| flag_getter(vm, args, Flags::sticky)),
        getter("unicode", |vm, args| flag_getter(vm, args, Flags::unicode)),
        getter("unicodeSets", |vm, args| flag_getter(vm, args, Flags::unicode_sets)),
        method("test", 1, regexp_exec::test),
        method("toString", 0, to_string),
        symbol_method(symbol::MATCH, "[Symbol.match]", 1, regexp_symbols::match_),
        symbol_method(symbol::MATCH_ALL, "[Symbol.matchAll]", 1, regexp_symbols::match_all),
        symbol_method(symbol::REPLACE, "[Symbol.replace]", 2, regexp_symbols::replace),
        symbol_method(symbol::SEARCH, "[Symbol.search]", 1, regexp_symbols::search),
        symbol_method(symbol::SPLIT, "[Symbol.split]", 2, regexp_symbols::split),
    ],
};

/// A compiled pattern as a cell; objects made by the same literal share one.
pub struct Program {
    pub(crate) regex: Regex,
    _charge: ExternalCharge,
}

/// A reference to a compiled pattern in a cell.
struct SharedProgram(Rc<Program>);

impl Trace for SharedProgram {
    const BARRIERED: bool = true;
    fn trace(&self, _: &mut Tracer<'_>) {}
}

/// Patterns kept for the next object with the same source.
const CACHE_ENTRIES_MAX: usize = 128;

/// What an isolate keeps for regular expressions.
#[derive(Default)]
pub struct RegExpState {
    /// The matcher's memory, with the captures of the last match.
    pub(crate) scratch: Scratch,
    cache: HashMap<(Vec<u16>, u8), Rc<Program>>,
}

/// The text of a view as the matcher takes it.
pub(super) fn input(view: StrView<'_>) -> Input<'_> {
    match view {
        StrView::Latin1(units) => Input::Latin1(units),
        StrView::Utf16(units) => Input::Utf16(units),
    }
}

/// The object as a RegExp: it has `[[OriginalFlags]]`.
pub(super) fn as_regexp(v: Value) -> Option<Object> {
    v.as_object().filter(|o| o.is(ObjectKind::RegExp) && o.slot(PROGRAM_SLOT).is_cell())
}

/// The compiled pattern of a RegExp.
pub(super) fn program_of(o: Object) -> Option<Rc<Program>> {
    o.data::<SharedProgram>(PROGRAM_SLOT).map(|cell| Rc::clone(&cell.0))
}

/// 22.2.4.1
fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let (pattern, flags) = (args.get(0), args.get(1));
    let pattern_is_regexp = vm.is_regexp(pattern)?;
    let mut new_target = args.new_target;
    if !args.is_construct() {
        new_target = Value::object(args.callee);
        if let Some(o) = pattern.as_object().filter(|_| pattern_is_regexp && flags.is_undefined()) {
            let c = vm.get(o, atoms::CONSTRUCTOR)?;
            if vm.same_value(new_target, c) {
                return Ok(pattern);
            }
        }
    }
    let (source, flags) = match (as_regexp(pattern), pattern.as_object()) {
        (Some(o), _) => (o.slot(SOURCE_SLOT), if flags.is_undefined() { o.slot(FLAGS_SLOT) } else { flags }),
        (None, Some(o)) if pattern_is_regexp => {
            let source = vm.get(o, atoms::SOURCE)?;
            (source, if flags.is_undefined() { vm.get(o, atoms::FLAGS)? } else { flags })
        }
        _ => (pattern, flags),
    };
    let o = regexp_alloc(vm, new_target)?;
    regexp_initialize(vm, o, source, flags)?;
    Ok(Value::object(o))
}

/// RegExpAlloc (22.2.3.2).
fn regexp_alloc(vm: &mut Vm, new_target: Value) -> JsResult<Object> {
    let prototype = vm.get_prototype_from_constructor(new_target, Intrinsic::RegExpPrototype)?;
    alloc_with(vm, prototype)
}

fn alloc_with(vm: &mut Vm, prototype: Object) -> JsResult<Object> {
    let shape = vm.root_shape(Value::object(prototype), INTERNAL_SLOTS);
    let (shape, slot) = vm.shape_add(shape, atoms::LAST_INDEX, attrs::WRITABLE);
    let o = vm.alloc_object(shape, ObjectKind::RegExp, INTERNAL_SLOTS as u8 + 1, 0);
    o.set_slot(slot, Value::int32(0));
    Ok(o)
}

/// RegExpInitialize (22.2.3.3).
fn regexp_initialize(vm: &mut Vm, o: Object, pattern: Value, flags: Value) -> JsResult<()> {
    let pattern = if pattern.is_undefined() { string::empty() } else { vm.to_string(pattern)? };
    let flags = if flags.is_undefined() { string::empty() } else { vm.to_string(flags)? };
    let program = compile(vm, pattern, flags)?;
    o.set_slot(SOURCE_SLOT, Value::string(pattern));
    o.set_slot(FLAGS_SLOT, Value::string(flags));
    let cell: Gc<_> = vm.alloc_data(SharedProgram(program));
    o.set_slot(PROGRAM_SLOT, Value::cell(cell));
    vm.set_or_throw(o, atoms::LAST_INDEX, Value::int32(0))
}

/// RegExpCreate (22.2.3.1).
pub(crate) fn regexp_create(vm: &mut Vm, pattern: Value, flags: Value) -> JsResult<Object> {
    let prototype = vm.intrinsic(Intrinsic::RegExpPrototype);
    let o = alloc_with(vm, prototype)?;
    regexp_initialize(vm, o, pattern, flags)?;
    Ok(o)
}

/// The compiled pattern, or the SyntaxError it deserves.
fn compile(vm: &mut Vm, pattern: JsStr, flags: JsStr) -> JsResult<Rc<Program>> {
    let Some(parsed) = Flags::parse(flags.view(vm).units()) else {
        let message = format!("Invalid flags supplied to RegExp constructor '{}'", quoted(vm, flags));
        return Err(vm.throw_syntax_error(&message));
    };
    vm.poll_n((pattern.len() / 8) as u32)?;
    // A long source is not copied for the cache, which would not keep it: the copy is outside the heap's limit.
    let cached = pattern.len() <= crate::limits::REGEXP_CACHED_UNITS_MAX;
    let key = cached.then(|| (pattern.to_units(), parsed.bits()));
    if let Some(known) = key.as_ref().and_then(|key| vm.regexp.cache.get(key)) {
        return Ok(Rc::clone(known));
    }
    let regex = match compile_metered(vm, pattern, parsed)? {
        Ok(regex) => regex,
        Err(error) => {
            let source = quoted(vm, pattern);
            let flags = quoted(vm, flags);
            let message = format!("Invalid regular expression: /{source}/{flags}: {}", error.message());
            return Err(vm.throw_syntax_error(&message));
        }
    };
    let bytes = regex.heap_bytes();
    let program = Rc::new(Program { regex, _charge: vm.charge_external(bytes)? });
    if vm.regexp.cache.len() >= CACHE_ENTRIES_MAX {
        vm.regexp.cache.clear();
    }
    if let Some(key) = key {
        vm.regexp.cache.insert(key, Rc::clone(&program));
    }
    Ok(program)
}

/// Compiles within the heap's limit and the time that is left.
fn compile_metered(vm: &mut Vm, pattern: JsStr, flags: Flags) -> JsResult<Result<Regex, SyntaxError>> {
    if pattern.len() > cynic_regexp::limits::PATTERN_UNITS_MAX {
        // Not even looked at: a concatenation would be copied.
        return Ok(Err(SyntaxError { offset: 0, kind: SyntaxErrorKind::TooLarge }));
    }
    let view = pattern.view(vm);
    let charge = vm.charge_external(0)?;
    let mut stopped = None;
    let mut budget = |steps: u32, bytes: isize| {
        let held = charge.bytes().saturating_add_signed(bytes);
        let paid = vm.recharge_external(&charge, held);
        match paid.and_then(|()| vm.poll_n(steps / regexp_exec::MATCHER_STEPS_PER_STEP)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(abrupt) => {
                stopped = Some(abrupt);
                ControlFlow::Break(())
            }
        }
    };
    let compiled = Regex::compile_metered(input(view), flags, &mut budget);
    stopped.map_or(Ok(compiled), Err)
}

/// A pattern or its flags for a message: of a long one, the beginning.
fn quoted(vm: &mut Vm, text: JsStr) -> String {
    const SHOWN: usize = crate::limits::REGEXP_QUOTED_UNITS_MAX;
    if text.len() <= SHOWN {
        return text.to_rust_string();
    }
    let beginning: Vec<u16> = text.view(vm).units().take(SHOWN).collect();
    String::from_utf16_lossy(&beginning) + "..."
}

/// 22.2.5.1 RegExp.escape
fn escape(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(s) = args.get(0).as_string() else {
        return Err(vm.throw_type_error("RegExp.escape needs a string"));
    };
    let view = s.view(vm);
    let mut out = StringBuilder::new();
    let mut i = 0;
    while let Some((c, width)) = view.code_point_at(i) {
        let leading = i == 0 && char::from_u32(c).is_some_and(|ch| ch.is_ascii_alphanumeric());
        if leading {
            out.push_str(&format!("\\x{c:02x}"));
        } else {
            encode_for_regexp_escape(&mut out, c);
        }
        i += width;
        if i % 1024 == 0 {
            vm.poll_n(64)?;
            out.check(vm)?;
        }
    }
    Ok(Value::string(out.finish(vm)?))
}

/// EncodeForRegExpEscape (22.2.5.1.1).
fn encode_for_regexp_escape(out: &mut StringBuilder, c: u32) {
    let ascii = u8::try_from(c).ok().filter(u8::is_ascii);
    match ascii {
        Some(
            b'^' | b'$' | b'\\' | b'.' | b'*' | b'+' | b'?' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|'
            | b'/',
        ) => {
            out.push_unit(u16::from(b'\\'));
            out.push_code_point(c);
        }
        Some(b'\t') => out.push_str("\\t"),
        Some(b'\n') => out.push_str("\\n"),
        Some(0xB) => out.push_str("\\v"),
        Some(0xC) => out.push_str("\\f"),
        Some(b'\r') => out.push_str("\\r"),
        Some(
            b',' | b'-' | b'=' | b'<' | b'>' | b'#' | b'&' | b'!' | b'%' | b':' | b';' | b'@' | b'~' | b'\''
            | b'`' | b'"' | b' ',
        ) => {
            out.push_str(&format!("\\x{c:02x}"));
        }
        _ if (0xD800..=0xDFFF).contains(&c) => out.push_str(&format!("\\u{c:04x}")),
        _ => match u16::try_from(c) {
            Ok(unit) if crate::ops::numeric::is_white_space(unit) && unit < 0x100 => {
                out.push_str(&format!("\\x{unit:02x}"));
            }
            Ok(unit) if crate::ops::numeric::is_white_space(unit) => out.push_str(&format!("\\u{unit:04x}")),
            _ => out.push_code_point(c),
        },
    }
}

/// The getters of single flags (22.2.6.4.1 RegExpHasFlag).
fn flag_getter(vm: &mut Vm, args: CallArgs, flag: fn(Flags) -> bool) -> JsResult<Value> {
    if let Some(program) = as_regexp(args.this).and_then(program_of) {
        return Ok(Value::bool(flag(program.regex.flags())));
    }
    if args.this == Value::object(vm.intrinsic(Intrinsic::RegExpPrototype)) {
        return Ok(Value::UNDEFINED);
    }
    let name = args.callee.native_spec().name;
    let message = format!("RegExp.prototype.{name} getter called on an object that is not a RegExp");
    Err(vm.throw_type_error(&message))
}

/// 22.2.6.4 get RegExp.prototype.flags
fn flags(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = args.this.as_object() else {
        return Err(
            vm.throw_type_error("RegExp.prototype.flags getter called on a value that is not an object")
        );
    };
    let table = [
        (atoms::HAS_INDICES, b'd'),
        (atoms::GLOBAL, b'g'),
        (atoms::IGNORE_CASE, b'i'),
        (atoms::MULTILINE, b'm'),
        (atoms::DOT_ALL, b's'),
        (atoms::UNICODE, b'u'),
        (atoms::UNICODE_SETS, b'v'),
        (atoms::STICKY, b'y'),
    ];
    let mut letters = Vec::new();
    for (key, letter) in table {
        if vm.get(o, key)?.to_boolean() {
            letters.push(letter);
        }
    }
    Ok(Value::string(vm.new_string_latin1(&letters)))
}

/// 22.2.6.13 get RegExp.prototype.source
fn source(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    if let Some(s) = as_regexp(args.this).and_then(|o| o.slot(SOURCE_SLOT).as_string()) {
        return Ok(Value::string(escape_pattern(vm, s)?));
    }
    if args.this == Value::object(vm.intrinsic(Intrinsic::RegExpPrototype)) {
        return Ok(Value::string(vm.new_string("(?:)")));
    }
    Err(vm.throw_type_error("RegExp.prototype.source getter called on an object that is not a RegExp"))
}

/// EscapeRegExpPattern (22.2.6.13.1): the source as it can stand between slashes.
fn escape_pattern(vm: &mut Vm, s: JsStr) -> JsResult<JsStr> {
    if s.is_empty() {
        return Ok(vm.new_string("(?:)"));
    }
    let view = s.view(vm);
    let mut out = StringBuilder::new();
    let (mut in_class, mut escaped, mut changed) = (false, false, false);
    for unit in view.units() {
        let replacement = match unit {
            0x2F if !in_class && !escaped => Some("\\/"),
            0xA => Some(if escaped { "n" } else { "\\n" }),
            0xD => Some(if escaped { "r" } else { "\\r" }),
            0x2028 => Some(if escaped { "u2028" } else { "\\u2028" }),
            0x2029 => Some(if escaped { "u2029" } else { "\\u2029" }),
            _ => None,
        };
        match replacement {
            Some(text) => {
                changed = true;
                out.push_str(text);
            }
            None => out.push_unit(unit),
        }
        match unit {
            0x5B if !escaped => in_class = true,
            0x5D if !escaped => in_class = false,
            _ => {}
        }
        escaped = unit == 0x5C && !escaped;
    }
    if changed { out.finish(vm) } else { Ok(s) }
}

/// 22.2.6.17
fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(o) = args.this.as_object() else {
        return Err(vm.throw_type_error("RegExp.prototype.toString called on a value that is not an object"));
    };
    let source = vm.get(o, atoms::SOURCE)?;
    let source = vm.to_string(source)?;
    let flags = vm.get(o, atoms::FLAGS)?;
    let flags = vm.to_string(flags)?;
    let mut out = StringBuilder::new();
    out.push_unit(u16::from(b'/'));
    out.push_string(vm, source);
    out.push_unit(u16::from(b'/'));
    out.push_string(vm, flags);
    Ok(Value::string(out.finish(vm)?))
}

impl Vm {
    /// The value of a regular expression literal: a new object for each evaluation. <https://tc39.es/ecma262/#sec-regular-expression-literals-runtime-semantics-evaluation>
    pub fn regexp_literal(&mut self, pattern: JsStr, flags: JsStr) -> JsResult<Object> {
        regexp_create(self, Value::string(pattern), Value::string(flags))
    }
}

/// `/source/flags`, read from the internal slots.
pub(crate) fn literal_text(vm: &mut Vm, regexp: Object) -> String {
    let source = regexp.slot(SOURCE_SLOT).as_string().and_then(|source| escape_pattern(vm, source).ok());
    let flags = regexp.slot(FLAGS_SLOT).as_string();
    let text = |part: Option<JsStr>| part.map_or_else(String::new, |part| part.to_rust_string());
    format!("/{}/{}", text(source), text(flags))
}
