//! Finding the next place at which a match can begin.

use super::input::{Text, Unit};
use crate::compile::program::{Program, Start};

/// The first candidate at or after `from`. A candidate never stands between the halves of a pair.
pub(crate) fn next_start<U: Unit, const PAIRS: bool>(
    program: &Program,
    text: Text<'_, U, PAIRS>,
    from: usize,
) -> Option<usize> {
    match program.start {
        Start::Anywhere => (from <= text.len()).then_some(from),
        Start::Beginning => (from == 0).then_some(0),
        Start::Line if from == 0 => Some(0),
        Start::Line => {
            let after_terminator = |unit: &U| matches!((*unit).into(), 0xA | 0xD | 0x2028 | 0x2029);
            Some(from + text.units.get(from - 1..)?.iter().position(after_terminator)?)
        }
        Start::Literal(id) => {
            let literal = program.literals.get(id as usize)?;
            Some(from + U::find_literal(text.units.get(from..)?, literal)?)
        }
        Start::Set(id) => {
            let set = program.sets.get(id as usize)?;
            if let Some(only) = set.only.filter(|&only| only < 0xD800) {
                return Some(from + U::find(text.units.get(from..)?, only)?);
            }
            if !PAIRS || set.single_unit {
                let rest = text.units.get(from..)?;
                return Some(from + rest.iter().position(|&unit| set.contains(unit.into()))?);
            }
            let mut at = from;
            while let Some((c, after)) = text.next(at) {
                if set.contains(c) {
                    return Some(at);
                }
                at = after;
            }
            None
        }
    }
}
