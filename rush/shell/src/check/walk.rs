//! Goes over a tree and shows every command, assignment, word and condition to the rules, each with its line and with how it stands.

use super::rules;
use super::{Finding, Kind};
use crate::Session;
use crate::state::names::NameId;
use crate::syntax::ast::*;
use crate::sys::stack;

/// Goes over a list.
pub(super) fn list(session: &Session, list: &List, findings: &mut Vec<Finding>) {
    Walk { session, findings, line: 1, subshells: 0 }.list(list);
}

/// Whether a script defines a function of this name somewhere: the builtin of that name is hardly meant then.
pub(super) fn defines(text: &[u8], name: &str) -> bool {
    let heads = [format!("{name}()"), format!("{name} ()"), format!("function {name}")];
    heads.iter().any(|head| text.windows(head.len()).any(|part| part == head.as_bytes()))
}

/// Where the walk is.
pub(super) struct Walk<'a> {
    session: &'a Session,
    findings: &'a mut Vec<Finding>,
    line: u32,
    /// How many subshells are around.
    pub(super) subshells: usize,
}

impl Walk<'_> {
    /// Something to tell of what is here.
    pub(super) fn tell(&mut self, kind: Kind, message: impl Into<String>) {
        self.findings.push(Finding { line: self.line, kind, message: message.into() });
    }

    /// The name of a variable.
    pub(super) fn name(&self, id: NameId) -> &[u8] {
        self.session.variables.names.text(id)
    }

    fn list(&mut self, list: &List) {
        for item in &list.items {
            let subshells = usize::from(item.background);
            self.subshells += subshells;
            self.pipeline(&item.and_or.first);
            for (_, pipeline) in item.and_or.rest.iter() {
                self.pipeline(pipeline);
            }
            self.subshells -= subshells;
        }
    }

    fn in_subshell(&mut self, list: &List) {
        self.subshells += 1;
        stack::with_room(|| self.list(list));
        self.subshells -= 1;
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        self.line = pipeline.line;
        let subshells = usize::from(pipeline.stages.len() > 1);
        self.subshells += subshells;
        for stage in pipeline.stages.iter() {
            self.command(stage);
        }
        self.subshells -= subshells;
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => stack::with_room(|| self.compound(compound)),
            Command::Function(definition) => {
                self.line = definition.line;
                stack::with_room(|| self.compound(&definition.body));
            }
            Command::Coprocess(coprocess) => {
                self.line = coprocess.line;
                self.subshells += 1;
                self.command(&coprocess.command);
                self.subshells -= 1;
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        self.line = command.line;
        rules::command(self, command);
        for assignment in command.assignments() {
            self.assignment(assignment);
        }
        for word in &command.words {
            match word.assignment() {
                Some(assignment) => self.assignment(assignment),
                None => self.word(word),
            }
        }
        self.redirects(command.redirects());
    }

    fn assignment(&mut self, assignment: &Assignment) {
        rules::assignment(self, assignment);
        if let Some(subscript) = &assignment.subscript {
            self.word(&subscript.word);
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.word(word),
            AssignmentValue::Array(elements) => {
                for element in elements {
                    if let Some(subscript) = &element.subscript {
                        self.word(&subscript.word);
                    }
                    self.word(&element.value);
                }
            }
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            self.word(&redirect.target);
            if let Some(body) = redirect.here.as_ref().and_then(|here| here.body.get()) {
                self.word(&body.word);
            }
        }
    }

    fn compound(&mut self, command: &CompoundCommand) {
        self.line = command.line;
        match &command.kind {
            Compound::Group(list) => self.list(list),
            Compound::Subshell(list) => self.in_subshell(list),
            Compound::For(head) | Compound::Select(head) => {
                for word in head.words.iter().flatten() {
                    self.word(word);
                }
                self.list(&head.body);
            }
            Compound::ArithmeticFor(head) => {
                for expression in [&head.init, &head.condition, &head.step] {
                    self.word(&expression.word);
                }
                self.list(&head.body);
            }
            Compound::While { condition, body, .. } => {
                self.list(condition);
                self.list(body);
            }
            Compound::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list(condition);
                    self.list(body);
                }
                otherwise.iter().for_each(|body| self.list(body));
            }
            Compound::Case { word, arms } => {
                self.word(word);
                for arm in arms {
                    arm.patterns.iter().for_each(|pattern| self.word(&pattern.word));
                    self.list(&arm.body);
                }
            }
            Compound::Arithmetic(expression) => self.word(&expression.word),
            Compound::Conditional(condition) => self.condition(condition),
        }
        self.redirects(&command.redirects);
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Word(word) | Condition::Unary(_, word) => self.word(word),
            Condition::Binary(left, operator, right) => {
                rules::comparison(self, *operator, right);
                self.word(left);
                self.word(right);
            }
            Condition::Not(inner) | Condition::Group(inner) => stack::with_room(|| self.condition(inner)),
            Condition::And(all) | Condition::Or(all) => all.iter().for_each(|inner| self.condition(inner)),
        }
    }

    fn word(&mut self, word: &Word) {
        if let WordKind::Parts(parts) = word.kind() {
            stack::with_room(|| self.parts(parts));
        }
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Literal(_) | Part::Quoted(_) | Part::Tilde(_) => {}
                Part::DoubleQuoted(inner) => self.parts(inner),
                Part::Variable(id) | Part::QuotedVariable(id) => rules::variable(self, *id),
                Part::Parameter(parameter) => self.parameter(parameter),
                Part::Command(substitution) => self.substitution(substitution),
                Part::Arithmetic(expression) => self.word(&expression.word),
                Part::Process(process) => self.in_subshell(&process.body),
            }
        }
    }

    fn substitution(&mut self, substitution: &CommandSubstitution) {
        rules::substitution(self, substitution);
        let line = self.line;
        match &substitution.body {
            Ok(list) if substitution.kind == SubstitutionKind::Subshell => self.in_subshell(list),
            Ok(list) => stack::with_room(|| self.list(list)),
            Err(error) => {
                self.line = error.line;
                self.tell(Kind::Refused, String::from_utf8_lossy(&error.message));
            }
        }
        self.line = line;
    }

    fn parameter(&mut self, parameter: &Parameter) {
        if let ParameterName::Variable(id) = parameter.name {
            rules::variable(self, id);
        }
        if let Some(Subscript::Index(expression)) = &parameter.subscript {
            self.word(&expression.word);
        }
        match &parameter.operation {
            Operation::Test { word, .. } => self.word(word),
            Operation::Remove { pattern, .. } => self.word(pattern),
            Operation::Replace { pattern, replacement, .. } => {
                self.word(pattern);
                replacement.iter().for_each(|word| self.word(word));
            }
            Operation::Substring { offset, length } => {
                self.word(&offset.word);
                length.iter().for_each(|length| self.word(&length.word));
            }
            Operation::Case { pattern, .. } => pattern.iter().for_each(|word| self.word(word)),
            Operation::Value
            | Operation::Length
            | Operation::Transform(_)
            | Operation::Names { .. }
            | Operation::Keys
            | Operation::Bad(_) => {}
        }
    }
}
