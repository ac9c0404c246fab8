//! The list of intrinsics: one line each, in alphabetical order, naming the table that describes it.

use super::*;
use crate::realm::IntrinsicSpec;

macro_rules! intrinsics {
    ($($name:ident => $spec:path,)*) => {
        /// The intrinsic objects of a realm. <https://tc39.es/ecma262/#sec-well-known-intrinsic-objects>
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        #[allow(missing_docs, clippy::upper_case_acronyms)]
        #[repr(u16)]
        pub enum Intrinsic { $($name),* }

        impl Intrinsic {
            /// How many there are.
            pub const COUNT: usize = [$(Intrinsic::$name),*].len();

            /// The table that describes it.
            pub fn spec(self) -> &'static IntrinsicSpec {
                match self { $(Intrinsic::$name => &$spec),* }
            }
        }
    };
}

intrinsics! {
    AggregateError => error::AGGREGATE_ERROR,
    AggregateErrorPrototype => error::AGGREGATE_ERROR_PROTOTYPE,
    Array => array::CONSTRUCTOR,
    ArrayIteratorPrototype => array::iterator::ITERATOR_PROTOTYPE,
    ArrayPrototype => array::PROTOTYPE,
    BigInt => bigint::CONSTRUCTOR,
    BigIntPrototype => bigint::PROTOTYPE,
    Boolean => boolean::CONSTRUCTOR,
    BooleanPrototype => boolean::PROTOTYPE,
    Date => date::CONSTRUCTOR,
    DatePrototype => date::PROTOTYPE,
    Error => error::ERROR,
    ErrorPrototype => error::ERROR_PROTOTYPE,
    EvalError => error::EVAL_ERROR,
    EvalErrorPrototype => error::EVAL_ERROR_PROTOTYPE,
    FinalizationRegistry => finalization_registry::CONSTRUCTOR,
    FinalizationRegistryPrototype => finalization_registry::PROTOTYPE,
    Function => function::CONSTRUCTOR,
    FunctionPrototype => function::PROTOTYPE,
    GlobalThis => global::GLOBAL,
    Iterator => iterator::CONSTRUCTOR,
    IteratorHelperPrototype => iterator::helper::PROTOTYPE,
    IteratorPrototype => iterator::PROTOTYPE,
    JSON => json::JSON,
    Map => map::CONSTRUCTOR,
    MapIteratorPrototype => map::ITERATOR_PROTOTYPE,
    MapPrototype => map::PROTOTYPE,
    Math => math::MATH,
    Number => number::CONSTRUCTOR,
    NumberPrototype => number::PROTOTYPE,
    Object => object::CONSTRUCTOR,
    ObjectPrototype => object_prototype::PROTOTYPE,
    Proxy => proxy::CONSTRUCTOR,
    RangeError => error::RANGE_ERROR,
    RangeErrorPrototype => error::RANGE_ERROR_PROTOTYPE,
    ReferenceError => error::REFERENCE_ERROR,
    ReferenceErrorPrototype => error::REFERENCE_ERROR_PROTOTYPE,
    Reflect => reflect::REFLECT,
    RegExp => regexp::CONSTRUCTOR,
    RegExpPrototype => regexp::PROTOTYPE,
    RegExpStringIteratorPrototype => regexp_string_iterator::PROTOTYPE,
    Set => set::CONSTRUCTOR,
    SetIteratorPrototype => set::ITERATOR_PROTOTYPE,
    SetPrototype => set::PROTOTYPE,
    String => string::CONSTRUCTOR,
    StringIteratorPrototype => string_iterator::PROTOTYPE,
    StringPrototype => string::PROTOTYPE,
    SuppressedError => error::SUPPRESSED_ERROR,
    SuppressedErrorPrototype => error::SUPPRESSED_ERROR_PROTOTYPE,
    Symbol => symbol::CONSTRUCTOR,
    SymbolPrototype => symbol::PROTOTYPE,
    SyntaxError => error::SYNTAX_ERROR,
    SyntaxErrorPrototype => error::SYNTAX_ERROR_PROTOTYPE,
    Temporal => temporal::NAMESPACE,
    TemporalDuration => temporal::duration::CONSTRUCTOR,
    TemporalDurationPrototype => temporal::duration::PROTOTYPE,
    TemporalInstant => temporal::instant::CONSTRUCTOR,
    TemporalInstantPrototype => temporal::instant::PROTOTYPE,
    TemporalNow => temporal::now::NOW,
    TemporalPlainDate => temporal::plain_date::CONSTRUCTOR,
    TemporalPlainDatePrototype => temporal::plain_date::PROTOTYPE,
    TemporalPlainDateTime => temporal::plain_date_time::CONSTRUCTOR,
    TemporalPlainDateTimePrototype => temporal::plain_date_time::PROTOTYPE,
    TemporalPlainMonthDay => temporal::plain_month_day::CONSTRUCTOR,
    TemporalPlainMonthDayPrototype => temporal::plain_month_day::PROTOTYPE,
    TemporalPlainTime => temporal::plain_time::CONSTRUCTOR,
    TemporalPlainTimePrototype => temporal::plain_time::PROTOTYPE,
    TemporalPlainYearMonth => temporal::plain_year_month::CONSTRUCTOR,
    TemporalPlainYearMonthPrototype => temporal::plain_year_month::PROTOTYPE,
    TemporalZonedDateTime => temporal::zoned_date_time::CONSTRUCTOR,
    TemporalZonedDateTimePrototype => temporal::zoned_date_time::PROTOTYPE,
    TypeError => error::TYPE_ERROR,
    TypeErrorPrototype => error::TYPE_ERROR_PROTOTYPE,
    URIError => error::URI_ERROR,
    URIErrorPrototype => error::URI_ERROR_PROTOTYPE,
    WeakMap => weak::WEAK_MAP,
    WeakMapPrototype => weak::WEAK_MAP_PROTOTYPE,
    WeakRef => weak::WEAK_REF,
    WeakRefPrototype => weak::WEAK_REF_PROTOTYPE,
    WeakSet => weak::WEAK_SET,
    WeakSetPrototype => weak::WEAK_SET_PROTOTYPE,
    WrapForValidIteratorPrototype => iterator::wrap::PROTOTYPE,
}
