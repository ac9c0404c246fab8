//! Parameter expansion (POSIX XCU 2.6.2): finding the parameter's value or values and handing them to the operation.

use super::fields::{Fields, Purpose};
use super::reference::{Resolved, split_subscript};
use super::{Expanded, Index};
use crate::state::names::{NameId, is_name};
use crate::state::options::{SetOption, Shopt};
use crate::state::value::{Attributes, Value};
use crate::syntax::ast::{Operation, Parameter, ParameterName, Subscript, Word, WordKind};
use crate::sys::stack;
use crate::{Bytes, Session, Unwind};

/// What a parameter expansion is about, once indirection and subscripts are resolved.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A variable as a scalar.
    Variable(NameId),
    /// One element.
    Element(NameId, Index),
    /// `a[@]` or `a[*]`.
    Whole(NameId, bool),
    /// `$1` ...
    Positional(usize),
    /// `$@` or `$*`; whether `*`.
    AllPositional(bool),
    /// `$? $# $$ $! $- $0`
    Special(u8),
    /// A reference to nothing: unset.
    Nothing,
    /// A list that does not exist: no values.
    Missing,
}

/// The value or values of a target.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Not set.
    Unset,
    /// One.
    One(Bytes),
    /// Several, with whether they join with IFS (`*`).
    List(Vec<Bytes>, bool),
}

impl Session {
    /// Expands `parameter` into `fields`.
    pub(crate) fn expand_parameter(
        &mut self,
        parameter: &Parameter,
        quoted: bool,
        fields: &mut Fields<'_>,
    ) -> Expanded<()> {
        if self.expand_plain(parameter, quoted, fields) {
            return Ok(());
        }
        match &parameter.operation {
            Operation::Bad(text) => {
                let mut message = b"${".to_vec();
                message.extend_from_slice(text);
                message.extend_from_slice(b"}: bad substitution");
                return Err(self.expansion_error(message));
            }
            Operation::Names { prefix, at } => {
                let names = self.names_with_prefix(prefix);
                self.emit(Values::List(names, !*at), quoted, fields);
                return Ok(());
            }
            Operation::Keys => {
                let keys = self.keys(parameter)?;
                self.emit(keys, quoted, fields);
                return Ok(());
            }
            _ => {}
        }
        if let Some(name) = self.nameref_target(parameter) {
            self.emit(Values::One(name), quoted, fields);
            return Ok(());
        }
        let target = self.target(parameter)?;
        self.expand_target(parameter, target, quoted, fields)
    }

    /// OPTIMIZATION: `$name` and `$1` without any operation, equal to the general path below.
    fn expand_plain(&mut self, parameter: &Parameter, quoted: bool, fields: &mut Fields<'_>) -> bool {
        if !matches!(parameter.operation, Operation::Value)
            || parameter.indirect
            || parameter.subscript.is_some()
        {
            return false;
        }
        match parameter.name {
            ParameterName::Variable(id) => self.expand_plain_variable(id, quoted, fields),
            ParameterName::Positional(n) => match self.positional.get(n - 1) {
                Some(text) if quoted => {
                    fields.quoted(text);
                    true
                }
                Some(text) => {
                    fields.expanded(text);
                    true
                }
                None => false,
            },
            ParameterName::Special(_) => false,
        }
    }

    /// `$name`.
    pub(crate) fn expand_variable(
        &mut self,
        id: NameId,
        quoted: bool,
        fields: &mut Fields<'_>,
    ) -> Expanded<()> {
        if self.expand_plain_variable(id, quoted, fields) {
            return Ok(());
        }
        self.expand_parameter(&Parameter::variable(id), quoted, fields)
    }

    /// Expands the variable `id` if it is an ordinary scalar with a value.
    fn expand_plain_variable(&mut self, id: NameId, quoted: bool, fields: &mut Fields<'_>) -> bool {
        let slot = self.variables.slot(id);
        if slot.attributes.any(Attributes::DYNAMIC.with(Attributes::NAMEREF)) {
            return false;
        }
        match &slot.value {
            Value::Scalar(text) if quoted => fields.quoted(text),
            Value::Scalar(text) => fields.expanded(text),
            Value::Integer(i) if quoted => fields.quoted(&crate::state::value::decimal(*i)),
            Value::Integer(i) => fields.expanded(&crate::state::value::decimal(*i)),
            _ => return false,
        }
        true
    }

    fn expand_target(
        &mut self,
        parameter: &Parameter,
        target: Target,
        quoted: bool,
        fields: &mut Fields<'_>,
    ) -> Expanded<()> {
        if let Operation::Test { operator, colon, word } = &parameter.operation {
            let values = self.values(&target)?;
            return self.test(parameter, &target, values, *operator, *colon, word, quoted, fields);
        }
        if let Operation::Substring { offset, length } = &parameter.operation {
            let values = self.substring(&target, offset, length.as_deref(), parameter)?;
            self.emit(values, quoted, fields);
            return Ok(());
        }
        if matches!(parameter.operation, Operation::Length)
            && let Some(count) = self.count_of(&target)
        {
            self.emit(Values::One(count.to_string().into_bytes()), quoted, fields);
            return Ok(());
        }
        // OPTIMIZATION: counts where the text is. Equals counting a copy.
        if matches!(parameter.operation, Operation::Length)
            && let Some(text) = self.plain_text(&target)
        {
            let count = self.count_characters(text);
            self.emit(Values::One(count.to_string().into_bytes()), quoted, fields);
            return Ok(());
        }
        let values = self.values(&target)?;
        if matches!(values, Values::Unset) && self.is(SetOption::Nounset) {
            return Err(self.unbound(parameter));
        }
        let values = match &parameter.operation {
            Operation::Value => values,
            Operation::Length => Values::One(self.length(&values)),
            Operation::Transform(letter) => self.transform(*letter, &target, values, quoted)?,
            operation => self.operate(operation, values, quoted)?,
        };
        self.emit(values, quoted, fields);
        Ok(())
    }

    /// The error for an unset parameter under `set -u`.
    pub(crate) fn unbound(&mut self, parameter: &Parameter) -> Unwind {
        let mut message = self.parameter_text(parameter);
        if let ParameterName::Positional(_) = parameter.name {
            message.insert(0, b'$');
        }
        message.extend_from_slice(b": unbound variable");
        self.error(message);
        self.status = 1;
        if self.interactive { Unwind::Discard(1) } else { Unwind::Exit(self.fatal_status()) }
    }

    /// The status of a shell that an expansion ends: a `-c` string is given up as if it had not been found, also by the
    /// copies of the shell that run its simple commands in pipelines and in the background.
    pub(crate) fn fatal_status(&self) -> crate::Status {
        if self.runs_command_string
            && self.subshell_depth == self.plain_stages
            && !self.is(SetOption::Errexit)
        {
            127
        } else {
            1
        }
    }

    /// An indirection that leads nowhere gives up the line, in POSIX mode as well.
    fn indirection_failed(&mut self, message: Bytes) -> Unwind {
        self.error(message);
        self.status = 1;
        Unwind::Discard(1)
    }

    /// The parameter as messages name it.
    pub(crate) fn parameter_text(&self, parameter: &Parameter) -> Bytes {
        let mut text = match parameter.name {
            ParameterName::Variable(id) => self.variables.names.text(id).to_vec(),
            ParameterName::Positional(n) => n.to_string().into_bytes(),
            ParameterName::Special(b) => vec![b],
        };
        match &parameter.subscript {
            Some(Subscript::At) => text.extend_from_slice(b"[@]"),
            Some(Subscript::Star) => text.extend_from_slice(b"[*]"),
            Some(Subscript::Index(expression)) => {
                text.push(b'[');
                text.extend_from_slice(expression.word.source());
                text.push(b']');
            }
            None => {}
        }
        text
    }

    /// `${!ref}` of a nameref is the name it refers to.
    fn nameref_target(&mut self, parameter: &Parameter) -> Option<Bytes> {
        let ParameterName::Variable(id) = parameter.name else { return None };
        if !parameter.indirect
            || parameter.subscript.is_some()
            || !matches!(parameter.operation, Operation::Value)
        {
            return None;
        }
        let slot = self.variables.slot(id);
        if !slot.attributes.has(Attributes::NAMEREF) {
            return None;
        }
        slot.value.scalar().map(|v| v.into_owned())
    }

    /// Resolves what `parameter` refers to.
    pub(crate) fn target(&mut self, parameter: &Parameter) -> Expanded<Target> {
        let direct = self.direct_target(parameter)?;
        if !parameter.indirect {
            return Ok(direct);
        }
        let text = match self.values(&direct)? {
            Values::Unset => {
                let mut message = self.parameter_text(parameter);
                if matches!(direct, Target::Positional(_) | Target::Special(_)) {
                    return Ok(Target::Nothing);
                }
                message.extend_from_slice(b": invalid indirect expansion");
                return Err(self.indirection_failed(message));
            }
            Values::One(text) => text,
            Values::List(items, _) => items.join(&b' '),
        };
        self.target_of_text(&text)
    }

    fn direct_target(&mut self, parameter: &Parameter) -> Expanded<Target> {
        let id = match parameter.name {
            ParameterName::Positional(n) => return Ok(Target::Positional(n)),
            ParameterName::Special(b @ (b'@' | b'*')) => return Ok(Target::AllPositional(b == b'*')),
            ParameterName::Special(b) => return Ok(Target::Special(b)),
            ParameterName::Variable(id) => id,
        };
        let id = match self.resolve(id) {
            Resolved::Variable(id) => id,
            Resolved::Dangling(_) | Resolved::Circular => return Ok(Target::Nothing),
            Resolved::Element(id, text) => {
                return match &parameter.subscript {
                    None => self.element_target(id, &text),
                    Some(_) => Ok(Target::Missing),
                };
            }
        };
        match &parameter.subscript {
            None => Ok(Target::Variable(id)),
            Some(Subscript::At) => Ok(Target::Whole(id, false)),
            Some(Subscript::Star) => Ok(Target::Whole(id, true)),
            Some(Subscript::Index(expression)) => {
                if matches!(expression.word.kind(), WordKind::Parts([]))
                    || expression.word.as_constant() == Some(b"")
                {
                    let mut message = b"${".to_vec();
                    message.extend(self.parameter_text(parameter));
                    message.extend_from_slice(b"}: bad substitution");
                    return Err(self.expansion_error(message));
                }
                let index = self.index(id, expression)?;
                Ok(Target::Element(id, index))
            }
        }
    }

    fn element_target(&mut self, id: NameId, subscript: &[u8]) -> Expanded<Target> {
        match subscript {
            b"@" => Ok(Target::Whole(id, false)),
            b"*" => Ok(Target::Whole(id, true)),
            _ => Ok(Target::Element(id, self.index_from_text(id, subscript)?)),
        }
    }

    /// What the text of an indirect reference names.
    pub(crate) fn target_of_text(&mut self, text: &[u8]) -> Expanded<Target> {
        if is_name(text) {
            let id = self.variables.intern(text);
            return Ok(match self.resolve(id) {
                Resolved::Variable(id) => Target::Variable(id),
                Resolved::Element(id, subscript) => return self.element_target(id, &subscript),
                Resolved::Dangling(_) | Resolved::Circular => Target::Nothing,
            });
        }
        if let Some((name, subscript)) = split_subscript(text) {
            let (name, subscript) = (name.to_vec(), subscript.to_vec());
            let id = self.variables.intern(&name);
            let id = match self.resolve(id) {
                Resolved::Variable(id) => id,
                _ => id,
            };
            return self.element_target(id, &subscript);
        }
        match text {
            [b @ (b'@' | b'*')] => return Ok(Target::AllPositional(*b == b'*')),
            [b @ (b'?' | b'#' | b'$' | b'!' | b'-' | b'0')] => return Ok(Target::Special(*b)),
            _ => {}
        }
        if !text.is_empty()
            && text.iter().all(u8::is_ascii_digit)
            && let Some(n) = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok())
        {
            return Ok(Target::Positional(n));
        }
        let mut message = text.to_vec();
        message.extend_from_slice(b": invalid variable name");
        Err(self.indirection_failed(message))
    }

    /// Reads a target.
    pub(crate) fn values(&mut self, target: &Target) -> Expanded<Values> {
        let one = |value: Option<Bytes>| value.map_or(Values::Unset, Values::One);
        Ok(match target {
            Target::Variable(id) => {
                self.need_process(*id)?;
                one(self.value(*id).scalar().map(|v| v.into_owned()))
            }
            Target::Element(id, index) => one(self.element(*id, index)?),
            Target::Whole(id, star) => match self.value(*id) {
                Value::Unset => Values::List(Vec::new(), *star),
                Value::Indexed(array) => Values::List(array.iter().map(|(_, v)| v.clone()).collect(), *star),
                Value::Associative(array) => {
                    Values::List(array.iter().map(|(_, v)| v.clone()).collect(), *star)
                }
                value => Values::List(value.scalar().map(|v| v.into_owned()).into_iter().collect(), *star),
            },
            Target::Positional(n) => one(self.positional.get(n.wrapping_sub(1)).cloned()),
            Target::AllPositional(star) => Values::List(self.positional.to_vec(), *star),
            Target::Special(byte) => one(self.special(*byte)),
            Target::Nothing => Values::Unset,
            Target::Missing => Values::List(Vec::new(), false),
        })
    }

    /// The value of a special parameter other than `@` and `*`.
    fn special(&mut self, byte: u8) -> Option<Bytes> {
        Some(match byte {
            b'?' => self.status.to_string().into_bytes(),
            b'#' => self.positional.len().to_string().into_bytes(),
            b'$' => self.pid.to_string().into_bytes(),
            b'!' => self.last_background?.to_string().into_bytes(),
            b'-' => self.option_letters(),
            _ => self.name.clone(),
        })
    }

    fn names_with_prefix(&mut self, prefix: &[u8]) -> Vec<Bytes> {
        let ids = self.variables.sorted_ids();
        ids.into_iter()
            .filter(|id| {
                self.variables.slot(*id).is_set()
                    || self.variables.slot(*id).attributes.has(Attributes::DYNAMIC)
            })
            .map(|id| self.variables.names.text(id).to_vec())
            .filter(|name| name.starts_with(prefix))
            .collect()
    }

    fn keys(&mut self, parameter: &Parameter) -> Expanded<Values> {
        let target = self.direct_target(parameter)?;
        let Target::Whole(id, star) = target else { return Ok(Values::Unset) };
        let keys = match self.value(id) {
            Value::Unset => Vec::new(),
            Value::Indexed(array) => array.iter().map(|(i, _)| i.to_string().into_bytes()).collect(),
            Value::Associative(array) => array.iter().map(|(k, _)| k.clone()).collect(),
            _ => vec![b"0".to_vec()],
        };
        Ok(Values::List(keys, star))
    }

    /// OPTIMIZATION: how many values a list has, without a copy of them; equal to the length of its values.
    fn count_of(&self, target: &Target) -> Option<usize> {
        match target {
            Target::AllPositional(_) => Some(self.positional.len()),
            Target::Whole(id, _) => match &self.variables.slot(*id).value {
                Value::Indexed(array) => Some(array.len()),
                Value::Associative(array) => Some(array.len()),
                _ => None,
            },
            _ => None,
        }
    }

    fn length(&mut self, values: &Values) -> Bytes {
        let n = match values {
            Values::Unset => 0,
            Values::One(text) => self.count_characters(text),
            Values::List(items, _) => items.len(),
        };
        n.to_string().into_bytes()
    }

    /// How many characters `text` has in the session's locale; a byte that is not UTF-8 counts as one.
    pub(crate) fn count_characters(&self, text: &[u8]) -> usize {
        super::substring::count(text, self.utf8)
    }

    /// Puts values into fields.
    pub(crate) fn emit(&mut self, values: Values, quoted: bool, fields: &mut Fields<'_>) {
        match values {
            Values::Unset if quoted => fields.quoted(b""),
            Values::Unset => {}
            Values::One(text) if quoted => fields.quoted(&text),
            Values::One(text) => fields.expanded(&text),
            Values::List(items, star) => emit_list(&items, star, quoted, fields),
        }
    }

    #[allow(clippy::fn_params_excessive_bools)]
    fn test(
        &mut self,
        parameter: &Parameter,
        target: &Target,
        values: Values,
        operator: u8,
        colon: bool,
        word: &Word,
        quoted: bool,
        fields: &mut Fields<'_>,
    ) -> Expanded<()> {
        let absent = match &values {
            Values::Unset => true,
            Values::One(text) => colon && text.is_empty(),
            Values::List(items, star) => {
                let joined = items.len() > 1 && (!(*star && quoted) || fields.joiner().is_some());
                items.is_empty() || colon && !joined && items.iter().all(Vec::is_empty)
            }
        };
        match (operator, absent) {
            (b'+', true) => {
                // `"$@"` and `"${a[@]}"` without elements are no field at all.
                let list = !parameter.indirect
                    && (parameter.name == ParameterName::Special(b'@')
                        || matches!(parameter.subscript, Some(Subscript::At)));
                if quoted && !list {
                    fields.quoted(b"");
                }
                Ok(())
            }
            (b'+', false) | (b'-', true) => {
                if quoted {
                    fields.quoted(b"");
                }
                self.expand_operand(word, quoted, fields)
            }
            (b'=', true) => {
                let value = self.expand_operand_string(word, quoted)?;
                self.assign_target(parameter, target, value.clone())?;
                self.emit(Values::One(value), quoted, fields);
                Ok(())
            }
            (b'?', true) => Err(self.parameter_error(parameter, word, colon, quoted)?),
            _ => {
                self.emit(values, quoted, fields);
                Ok(())
            }
        }
    }

    fn parameter_error(
        &mut self,
        parameter: &Parameter,
        word: &Word,
        colon: bool,
        quoted: bool,
    ) -> Expanded<Unwind> {
        let mut message = self.parameter_text(parameter);
        message.extend_from_slice(b": ");
        let text = self.expand_operand_string(word, quoted)?;
        if !text.is_empty() || !word.source().is_empty() {
            message.extend_from_slice(&text);
        } else if colon {
            message.extend_from_slice(b"parameter null or not set");
        } else {
            message.extend_from_slice(b"parameter not set");
        }
        self.error(message);
        self.status = 1;
        let status = self.fatal_status();
        Ok(if self.interactive { Unwind::Discard(1) } else { Unwind::Exit(status) })
    }

    /// Expands the word of `${x-word}`: its unquoted literal text is split like the result of an expansion.
    fn expand_operand(&mut self, word: &Word, quoted: bool, fields: &mut Fields<'_>) -> Expanded<()> {
        match word.kind() {
            WordKind::Constant(text) if quoted || !word.is_plain() => fields.quoted(text),
            WordKind::Constant(text) => fields.expanded(text),
            WordKind::Parts(parts) if quoted => {
                stack::with_room(|| self.expand_parts(parts, true, fields))?;
            }
            WordKind::Parts(parts) => stack::with_room(|| {
                for part in parts {
                    match part {
                        crate::syntax::ast::Part::Literal(text) => fields.expanded(text),
                        other => self.expand_parts(std::slice::from_ref(other), false, fields)?,
                    }
                }
                Ok(())
            })?,
        }
        Ok(())
    }

    fn expand_operand_string(&mut self, word: &Word, quoted: bool) -> Expanded<Bytes> {
        match word.kind() {
            WordKind::Constant(text) => Ok(text.to_vec()),
            WordKind::Parts(parts) => stack::with_room(|| self.expand_as(parts, quoted, Purpose::Single)),
        }
    }

    fn assign_target(&mut self, parameter: &Parameter, target: &Target, value: Bytes) -> Expanded<()> {
        let result = match target {
            Target::Variable(id) => self.set_id(*id, value),
            Target::Element(id, index) => self.assign(*id, Some(index.clone()), value, false),
            _ => {
                let mut message = b"$".to_vec();
                message.extend(self.parameter_text(parameter));
                message.extend_from_slice(b": cannot assign in this way");
                return Err(self.expansion_error(message));
            }
        };
        result.map_err(|error| self.assignment_failed(error))
    }

    /// Whether `set -o` and `shopt` let case be ignored when matching.
    pub(crate) fn ignores_case(&self) -> bool {
        self.shopt(Shopt::Nocasematch)
    }
}

fn emit_list(items: &[Bytes], star: bool, quoted: bool, fields: &mut Fields<'_>) {
    if !fields.splits() || quoted && star {
        let joiner = if star { fields.joiner() } else { Some(&b" "[..]) };
        let mut text = Bytes::new();
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                text.extend_from_slice(joiner.unwrap_or_default());
            }
            text.extend_from_slice(item);
        }
        if quoted {
            fields.quoted(&text)
        } else {
            fields.expanded(&text)
        }
        return;
    }
    for (at, item) in items.iter().enumerate() {
        if quoted {
            if at > 0 {
                fields.break_quoted();
            }
            fields.quoted(item);
        } else {
            if at > 0 {
                fields.break_unquoted();
            }
            fields.expanded(item);
        }
    }
}
