//! The first pass over a pattern: how many capturing groups it has and their names. Decimal escapes, `\k` and references to groups further on
//! cannot be read without it (22.2.1.2, CountLeftCapturingParensWithin).

use super::parser::Parser;
use crate::GroupName;
use crate::limits::CAPTURES_MAX;
use crate::meter::Meter;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The capturing groups of a pattern, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupTable {
    /// Capturing groups, without the whole match.
    pub(crate) count: u32,
    /// The names, in the order of their first appearance.
    pub(crate) names: Vec<GroupName>,
    ids: HashMap<Box<[u16]>, u32>,
}

impl GroupTable {
    /// Scans `source`; text that is wrong is skipped, the parser proper reports it. Ends early with too many groups.
    pub(super) fn scan(source: &[u16], sets: bool) -> Self {
        let mut table = Self::default();
        let mut class_depth = 0_u32;
        let mut pos = 0;
        while let Some(&unit) = source.get(pos).filter(|_| table.count < CAPTURES_MAX) {
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
            self.count += 1;
        } else if at(1) == Some(b'<') && !matches!(at(2), Some(b'=' | b'!')) {
            self.count += 1;
            // A name is read in one go: nothing to meter.
            let mut free = |_, _| ControlFlow::Continue(());
            let mut name_parser = Parser::for_name(source, pos + 2, Meter::new(&mut free));
            if let Ok(name) = name_parser.group_name() {
                self.add(name.into());
            }
        }
    }

    /// The group opened last has this name.
    fn add(&mut self, name: Box<[u16]>) {
        let next = self.names.len() as u32;
        let id = *self.ids.entry(name.clone()).or_insert(next);
        match self.names.get_mut(id as usize) {
            Some(known) => known.groups.push(self.count),
            None => self.names.push(GroupName { name, groups: vec![self.count] }),
        }
    }

    /// The number of a name.
    pub(super) fn id_of(&self, name: &[u16]) -> Option<u32> {
        self.ids.get(name).copied()
    }
}
