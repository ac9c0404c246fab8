//! The first pass over a pattern: how many capturing groups it has and their names. Decimal escapes, `\k` and references to groups further on
//! cannot be read without it (22.2.1.2, CountLeftCapturingParensWithin).

use super::parser::Parser;

/// A named group: its name in code units and its number.
#[derive(Clone, Debug)]
pub(crate) struct NamedGroup {
    pub(crate) name: Vec<u16>,
    pub(crate) index: u32,
}

/// The capturing groups of a pattern, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupTable {
    /// Capturing groups, without the whole match.
    pub(crate) count: u32,
    pub(crate) named: Vec<NamedGroup>,
}

impl GroupTable {
    /// Scans `source`; text that is wrong is skipped, the parser proper reports it.
    pub(super) fn scan(source: &[u16], sets: bool) -> Self {
        let mut table = Self::default();
        let mut class_depth = 0_u32;
        let mut pos = 0;
        while let Some(&unit) = source.get(pos) {
            pos += 1;
            match u8::try_from(unit).unwrap_or(0) {
                b'\\' => pos += 1,
                b'[' if class_depth == 0 || sets => class_depth += 1,
                b']' if class_depth > 0 => class_depth -= 1,
                b'(' if class_depth == 0 => table.open_parenthesis(source, pos),
                _ => {}
            }
        }
        table
    }

    fn open_parenthesis(&mut self, source: &[u16], pos: usize) {
        let at = |n: usize| source.get(pos + n).and_then(|&unit| u8::try_from(unit).ok());
        if at(0) != Some(b'?') {
            self.count = self.count.saturating_add(1);
        } else if at(1) == Some(b'<') && !matches!(at(2), Some(b'=' | b'!')) {
            self.count = self.count.saturating_add(1);
            let mut name_parser = Parser::for_name(source, pos + 2);
            if let Ok(name) = name_parser.group_name() {
                self.named.push(NamedGroup { name, index: self.count });
            }
        }
    }

    /// The numbers of all groups called `name`.
    pub(super) fn indices_of(&self, name: &[u16]) -> Vec<u32> {
        self.named.iter().filter(|group| group.name == name).map(|group| group.index).collect()
    }
}
