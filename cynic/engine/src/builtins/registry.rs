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
    Function => function::CONSTRUCTOR,
    FunctionPrototype => function::PROTOTYPE,
    GlobalThis => global::GLOBAL,
    IteratorPrototype => iterator::PROTOTYPE,
    JSON => json::JSON,
    Math => math::MATH,
    Number => number::CONSTRUCTOR,
    NumberPrototype => number::PROTOTYPE,
    Object => object::CONSTRUCTOR,
    ObjectPrototype => object::PROTOTYPE,
    Proxy => proxy::CONSTRUCTOR,
    RangeError => error::RANGE_ERROR,
    RangeErrorPrototype => error::RANGE_ERROR_PROTOTYPE,
    ReferenceError => error::REFERENCE_ERROR,
    ReferenceErrorPrototype => error::REFERENCE_ERROR_PROTOTYPE,
    RegExp => regexp::CONSTRUCTOR,
    RegExpPrototype => regexp::PROTOTYPE,
    RegExpStringIteratorPrototype => regexp_string_iterator::PROTOTYPE,
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
}
