//! The pretty-printer: the text of a tree as `declare -f`, `type`, `jobs` and BASH_COMMAND show it, in bash's layout.
//! What it prints parses back to the same tree.

use super::ast::*;
use crate::Bytes;
use crate::sys::stack;

/// A function as `declare -f` prints it.
pub fn function(definition: &FunctionDefinition) -> Bytes {
    let mut printer = Printer { in_function: true, ..Printer::default() };
    printer.text(&definition.name);
    printer.text(b" () \n");
    printer.body(&definition.body);
    printer.out
}

/// A function without its name, for the environment.
pub fn function_body(definition: &FunctionDefinition) -> Bytes {
    let mut printer = Printer { in_function: true, ..Printer::default() };
    printer.text(b"() ");
    printer.body(&definition.body);
    printer.out
}

/// A simple command on one line.
pub fn simple_command(command: &SimpleCommand) -> Bytes {
    let mut printer = Printer::default();
    printer.simple(command);
    printer.out
}

/// A pipeline.
pub fn pipeline(pipeline: &Pipeline) -> Bytes {
    let mut printer = Printer::default();
    printer.pipeline(pipeline);
    printer.out
}

/// A command.
pub fn command(command: &Command) -> Bytes {
    let mut printer = Printer::default();
    printer.command(command);
    printer.here_documents();
    printer.out
}

/// A compound command with its redirections.
pub fn compound_command(command: &CompoundCommand) -> Bytes {
    let mut printer = Printer::default();
    printer.compound(command);
    printer.here_documents();
    printer.out
}

/// An and-or list.
pub fn and_or(and_or: &AndOr) -> Bytes {
    let mut printer = Printer::default();
    printer.and_or(and_or);
    printer.here_documents();
    printer.out
}

/// `( elements )` of an array assignment.
pub fn array_literal(assignment: &Assignment) -> Bytes {
    let mut printer = Printer::default();
    printer.array(assignment);
    printer.out
}

/// `for x in words`, without the body.
pub fn for_head(keyword: &str, head: &ForLoop) -> Bytes {
    let mut printer = Printer::default();
    printer.for_head(keyword, head);
    printer.out
}

/// `case word in `, without the arms.
pub fn case_head(word: &Word) -> Bytes {
    let mut text = b"case ".to_vec();
    text.extend_from_slice(word.source());
    text.extend_from_slice(b" in");
    text
}

/// `[[ ... ]]`
pub fn conditional(condition: &Condition) -> Bytes {
    let mut printer = Printer::default();
    printer.text(b"[[ ");
    printer.condition(condition);
    printer.text(b" ]]");
    printer.out
}

const STEP: usize = 4;

#[derive(Default)]
struct Printer {
    out: Bytes,
    indent: usize,
    /// In a function each command of a list has a row of its own; elsewhere a list is one row.
    in_function: bool,
    pending: Vec<std::rc::Rc<HereDocument>>,
}

impl Printer {
    fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    fn newline(&mut self) {
        self.out.push(b'\n');
        self.out.extend(std::iter::repeat_n(b' ', self.indent));
    }

    /// The bodies of the here-documents of the command just printed.
    fn here_documents(&mut self) -> bool {
        if self.pending.is_empty() {
            return false;
        }
        self.text(b"\n");
        for here in std::mem::take(&mut self.pending) {
            if let Some(body) = here.body.get() {
                self.text(&body.text);
            }
            self.text(&here.delimiter);
            self.text(b"\n");
        }
        true
    }

    /// `;` where one is needed before a closing word.
    fn semicolon(&mut self) {
        if !self.here_documents() && !self.out.ends_with(b"&") && !self.out.ends_with(b"\n") {
            self.text(b";");
        }
    }

    /// A body in braces, as functions have it.
    fn body(&mut self, command: &CompoundCommand) {
        let outer = std::mem::replace(&mut self.in_function, true);
        self.body_here(command);
        self.in_function = outer;
    }

    fn body_here(&mut self, command: &CompoundCommand) {
        if let Compound::Group(list) = &command.kind {
            self.text(b"{ ");
            self.indented(list);
            self.newline();
            self.text(b"}");
            self.redirects(&command.redirects);
            return;
        }
        self.text(b"{ ");
        self.indent += STEP;
        self.newline();
        self.compound(command);
        self.indent -= STEP;
        self.newline();
        self.text(b"}");
    }

    /// A list on lines of its own, one level deeper.
    fn indented(&mut self, list: &List) {
        self.indent += STEP;
        self.newline();
        self.list(list);
        self.here_documents();
        self.indent -= STEP;
        if self.out.ends_with(b"\n") {
            self.out.pop();
        }
    }

    fn list(&mut self, list: &List) {
        for (n, item) in list.items.iter().enumerate() {
            self.and_or(&item.and_or);
            let last = n + 1 == list.items.len();
            if item.background {
                self.text(if last { b" &" } else { b" & " });
            } else if !last {
                if !self.here_documents() {
                    self.text(b";");
                }
                if self.in_function {
                    self.newline();
                } else {
                    self.text(b" ");
                }
            }
        }
    }

    fn and_or(&mut self, and_or: &AndOr) {
        self.pipeline(&and_or.first);
        for (connector, pipeline) in and_or.rest.iter() {
            self.text(if *connector == Connector::And { b" && " } else { b" || " });
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        match pipeline.timed {
            Some(TimeStyle::Bash) => self.text(b"time "),
            Some(TimeStyle::Posix) => self.text(b"time -p "),
            None => {}
        }
        if pipeline.negated {
            self.text(b"! ");
        }
        for (n, stage) in pipeline.stages.iter().enumerate() {
            if n > 0 {
                self.text(b" |");
                if self.here_documents() {
                    self.text(b" ");
                }
                self.text(b" ");
            }
            self.command(stage);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => self.compound(compound),
            Command::Function(definition) => {
                self.text(b"function ");
                self.text(&definition.name);
                self.text(b" () ");
                self.newline();
                self.body(&definition.body);
            }
            Command::Coprocess(coprocess) => {
                self.text(b"coproc ");
                if matches!(*coprocess.command, Command::Compound(_)) {
                    self.text(coprocess.name.source());
                    self.text(b" ");
                }
                self.command(&coprocess.command);
            }
        }
    }

    fn simple(&mut self, command: &SimpleCommand) {
        let mut first = true;
        let mut space = |printer: &mut Printer| {
            if !std::mem::take(&mut first) {
                printer.text(b" ");
            }
        };
        for assignment in command.assignments() {
            space(self);
            self.assignment(assignment);
        }
        for word in &command.words {
            space(self);
            self.text(word.source());
        }
        for redirect in command.redirects() {
            space(self);
            self.redirect(redirect);
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.text(&assignment.name);
        if let Some(subscript) = &assignment.subscript {
            self.text(b"[");
            self.text(subscript.word.source());
            self.text(b"]");
        }
        self.text(if assignment.append { b"+=" } else { b"=" });
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.text(word.source()),
            AssignmentValue::Array(_) => self.array(assignment),
        }
    }

    fn array(&mut self, assignment: &Assignment) {
        let AssignmentValue::Array(elements) = &assignment.value else { return };
        self.text(b"(");
        for (n, element) in elements.iter().enumerate() {
            if n > 0 {
                self.text(b" ");
            }
            if let Some(subscript) = &element.subscript {
                self.text(b"[");
                self.text(subscript.word.source());
                self.text(if element.append { b"]+=" } else { b"]=" });
            }
            self.text(element.value.source());
        }
        self.text(b")");
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            self.text(b" ");
            self.redirect(redirect);
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        use RedirectOperator::*;
        let duplicate = matches!(redirect.operator, DuplicateInput | DuplicateOutput);
        match &redirect.number {
            RedirectNumber::Default if duplicate => {
                self.text(if redirect.operator == DuplicateInput { b"0" } else { b"1" });
            }
            RedirectNumber::Default => {}
            RedirectNumber::Number(n) => self.text(n.to_string().as_bytes()),
            RedirectNumber::Variable(name) => {
                self.text(b"{");
                self.text(name);
                self.text(b"}");
            }
        }
        self.text(redirect.operator.text().as_bytes());
        let tight = duplicate || matches!(redirect.operator, HereDocument | HereDocumentStripped);
        if !tight {
            self.text(b" ");
        }
        self.text(redirect.target.source());
        if let Some(here) = &redirect.here {
            self.pending.push(here.clone());
        }
    }

    fn compound(&mut self, command: &CompoundCommand) {
        stack::with_room(|| self.compound_here(command));
    }

    fn compound_here(&mut self, command: &CompoundCommand) {
        match &command.kind {
            Compound::Group(list) if self.in_function => {
                self.text(b"{ ");
                self.indented(list);
                self.newline();
                self.text(b"}");
            }
            Compound::Group(list) => {
                self.text(b"{ ");
                self.list(list);
                self.semicolon();
                self.text(b" }");
            }
            Compound::Subshell(list) => {
                self.text(b"( ");
                self.list(list);
                self.here_documents();
                self.text(b" )");
            }
            Compound::If { branches, otherwise } => self.if_command(branches, otherwise.as_ref()),
            Compound::While { until, condition, body } => {
                self.text(if *until { b"until " } else { b"while " });
                self.list(condition);
                self.text(b"; do");
                self.closed(body, b"done");
            }
            Compound::For(head) => {
                self.for_head("for", head);
                self.text(b";");
                self.newline();
                self.text(b"do");
                self.closed(&head.body, b"done");
            }
            Compound::Select(head) => {
                self.for_head("select", head);
                self.text(b";");
                self.newline();
                self.text(b"do");
                self.closed(&head.body, b"done");
            }
            Compound::ArithmeticFor(head) => {
                self.text(b"for ((");
                self.text(head.init.word.source().trim_ascii());
                self.text(b"; ");
                self.text(head.condition.word.source().trim_ascii());
                self.text(b"; ");
                self.text(head.step.word.source().trim_ascii());
                self.text(b"))");
                self.newline();
                self.text(b"do");
                self.closed(&head.body, b"done");
            }
            Compound::Case { word, arms } => self.case_command(word, arms),
            Compound::Arithmetic(expression) => {
                self.text(b"((");
                self.text(expression.word.source());
                self.text(b"))");
            }
            Compound::Conditional(condition) => {
                self.text(b"[[ ");
                self.condition(condition);
                self.text(b" ]]");
            }
        }
        self.redirects(&command.redirects);
    }

    /// An indented list, then `;` and a closing word.
    fn closed(&mut self, list: &List, word: &[u8]) {
        self.indent += STEP;
        self.newline();
        self.list(list);
        self.semicolon();
        self.indent -= STEP;
        if self.out.ends_with(b"\n") {
            self.out.pop();
        }
        self.newline();
        self.text(word);
    }

    fn if_command(&mut self, branches: &[(List, List)], otherwise: Option<&List>) {
        let Some(((condition, body), rest)) = branches.split_first() else { return };
        self.text(b"if ");
        self.list(condition);
        self.text(b"; then");
        let word: &[u8] = if rest.is_empty() && otherwise.is_none() { b"fi" } else { b"else" };
        self.closed(body, word);
        if !rest.is_empty() {
            self.indent += STEP;
            self.newline();
            self.if_command(rest, otherwise);
            self.text(b";");
            self.indent -= STEP;
            self.newline();
            self.text(b"fi");
        } else if let Some(otherwise) = otherwise {
            self.closed(otherwise, b"fi");
        }
    }

    fn for_head(&mut self, keyword: &str, head: &ForLoop) {
        self.text(keyword.as_bytes());
        self.text(b" ");
        self.text(&head.variable);
        self.text(b" in");
        match &head.words {
            None => self.text(b" \"$@\""),
            Some(words) => {
                for word in words {
                    self.text(b" ");
                    self.text(word.source());
                }
                if words.is_empty() {
                    self.text(b" ");
                }
            }
        }
    }

    fn case_command(&mut self, word: &Word, arms: &[CaseArm]) {
        self.text(&case_head(word));
        self.text(b" ");
        self.indent += STEP;
        for arm in arms {
            self.newline();
            for (n, pattern) in arm.patterns.iter().enumerate() {
                if n > 0 {
                    self.text(b" | ");
                }
                self.text(pattern.word.source());
            }
            self.text(b")");
            if arm.body.items.is_empty() {
                self.text(b"\n");
            } else {
                self.indented(&arm.body);
            }
            self.newline();
            self.text(match arm.end {
                CaseEnd::Break => b";;",
                CaseEnd::FallThrough => b";&",
                CaseEnd::Continue => b";;&",
            });
        }
        self.indent -= STEP;
        self.newline();
        self.text(b"esac");
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            // A word alone is the test whether it is empty, and shown as that.
            Condition::Word(word) => {
                self.text(b"-n ");
                self.text(word.source());
            }
            Condition::Unary(letter, word) => {
                self.text(&[b'-', *letter, b' ']);
                self.text(word.source());
            }
            Condition::Binary(left, operator, right) => {
                self.text(left.source());
                self.text(b" ");
                self.text(operator.text().as_bytes());
                self.text(b" ");
                self.text(right.source());
            }
            Condition::Not(inner) => stack::with_room(|| match &**inner {
                // Two negations are none.
                Condition::Not(innermost) => self.condition(innermost),
                inner => {
                    self.text(b"! ");
                    self.condition(inner);
                }
            }),
            Condition::And(all) => self.conditions(all, b" && "),
            Condition::Or(all) => self.conditions(all, b" || "),
            Condition::Group(inner) => {
                self.text(b"( ");
                stack::with_room(|| self.condition(inner));
                self.text(b" )");
            }
        }
    }

    fn conditions(&mut self, all: &[Condition], operator: &[u8]) {
        for (at, condition) in all.iter().enumerate() {
            if at > 0 {
                self.text(operator);
            }
            self.condition(condition);
        }
    }
}
