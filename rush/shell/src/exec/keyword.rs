//! `set -k`: the assignments among a command's words are for its environment, as if they stood before it.

use crate::Session;
use crate::state::options::Shopt;
use crate::syntax::ast::{Assignment, SimpleCommand, Word};
use crate::syntax::{Context, Input, Parser};

impl Session {
    /// The command with its assignments in front; `None` if all of them are there already.
    pub(super) fn with_assignments_first(&mut self, command: &SimpleCommand) -> Option<SimpleCommand> {
        let mut assignments = command.assignments().to_vec();
        let mut words = Vec::with_capacity(command.words.len());
        for (n, word) in command.words.iter().enumerate() {
            match self.assignment_in(word).filter(|_| n > 0) {
                Some(assignment) => assignments.push(assignment),
                None => words.push(word.clone()),
            }
        }
        let moved = words.len() < command.words.len();
        moved.then(|| {
            SimpleCommand::new(assignments.into(), words.into(), command.redirects().into(), command.line)
        })
    }

    /// The assignment that a word is as it was written.
    fn assignment_in(&mut self, word: &Word) -> Option<Assignment> {
        if let Some(assignment) = word.assignment() {
            return Some(assignment.clone());
        }
        let mut input = Input::from_bytes(word.source(), self.line);
        let context = Context {
            variables: &mut self.variables,
            aliases: None,
            extglob: self.copied.options.shopt(Shopt::Extglob),
            posix: false,
        };
        Parser::new(&mut input, context).whole_assignment()
    }
}
