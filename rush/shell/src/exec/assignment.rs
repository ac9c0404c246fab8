//! Assignments: first the right-hand sides are expanded (`Ready`), then they are stored; declaration builtins do
//! something in between.

use crate::expand::{Expanded, Index, Resolved};
use crate::state::array::{AssociativeArray, IndexedArray};
use crate::state::names::NameId;
use crate::state::options::SetOption;
use crate::state::session::AssignError;
use crate::state::value::{Attributes, Value};
use crate::syntax::Text;
use crate::syntax::ast::{ArrayElement, Assignment, AssignmentValue, Expression, Part, SimpleCommand};
use crate::{Bytes, Session, Status, quote};
use std::rc::Rc;

/// An assignment whose right-hand side is expanded.
pub struct Ready<'a> {
    /// The variable.
    pub id: NameId,
    /// The subscript, not yet evaluated.
    pub subscript: Option<&'a Expression>,
    /// Whether it is `+=`.
    pub append: bool,
    /// The value.
    pub value: ReadyValue<'a>,
}

/// An expanded right-hand side.
pub enum ReadyValue<'a> {
    /// A string.
    Scalar(Bytes),
    /// The elements of `( )`.
    Array(Vec<ReadyElement<'a>>),
}

/// An expanded element.
pub struct ReadyElement<'a> {
    subscript: Option<&'a Expression>,
    append: bool,
    value: Bytes,
}

impl ReadyElement<'_> {
    fn plain(value: Bytes) -> Self {
        ReadyElement { subscript: None, append: false, value }
    }

    /// The element as `set -x` shows it.
    pub(crate) fn traced(&self) -> Bytes {
        let value = quote::single_quote(&self.value);
        match self.subscript {
            None => value,
            Some(subscript) => {
                let operator: &[u8] = if self.append { b"]+=" } else { b"]=" };
                [b"[", &quote::single_quote(subscript.word.source())[..], operator, &value].concat()
            }
        }
    }
}

impl Session {
    /// Performs `assignment`.
    pub(crate) fn run_assignment(&mut self, assignment: &Assignment) -> Expanded<()> {
        if let (AssignmentValue::Scalar(word), None, false) =
            (&assignment.value, &assignment.subscript, assignment.append)
        {
            let value = self.expand_string(word)?;
            if self.is(SetOption::Xtrace) {
                self.trace_assignment(assignment, &value);
            }
            return self.set_id(assignment.id, value).map_err(|error| self.assignment_failed(error));
        }
        let ready = self.prepare(assignment)?;
        if self.is(SetOption::Xtrace) {
            self.trace_ready(assignment, &ready);
        }
        self.apply_assignment(ready)
    }

    /// Expands the right-hand side.
    pub(crate) fn prepare<'a>(&mut self, assignment: &'a Assignment) -> Expanded<Ready<'a>> {
        self.prepare_as(assignment, false)
    }

    /// Expands the right-hand side; `associative` says that an array is going to have that attribute.
    pub(crate) fn prepare_as<'a>(
        &mut self,
        assignment: &'a Assignment,
        associative: bool,
    ) -> Expanded<Ready<'a>> {
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => ReadyValue::Scalar(self.expand_string(word)?),
            AssignmentValue::Array(elements) => {
                let associative = associative || self.is_associative_id(assignment.id);
                ReadyValue::Array(self.prepare_elements(elements, associative)?)
            }
        };
        Ok(Ready {
            id: assignment.id,
            subscript: assignment.subscript.as_deref(),
            append: assignment.append,
            value,
        })
    }

    fn prepare_elements<'a>(
        &mut self,
        elements: &'a [ArrayElement],
        associative: bool,
    ) -> Expanded<Vec<ReadyElement<'a>>> {
        let mut out = Vec::with_capacity(elements.len());
        for element in elements {
            if let Some(subscript) = element.subscript.as_ref().filter(|_| !associative)
                && let Some(words) = self.brace_words(&element.value)
            {
                // Braces make several plain words of it, which are split as such.
                let operator: &[u8] = if element.append { b"]+=" } else { b"]=" };
                let head = Part::Quoted(Text::from([b"[", subscript.word.source(), operator].concat()));
                for word in words.iter() {
                    let mut values = Vec::new();
                    self.expand_word(&word.after(head.clone()), &mut values)?;
                    out.extend(values.into_iter().map(ReadyElement::plain));
                }
                continue;
            }
            if element.subscript.is_some() {
                // What is assigned to a key is no assignment's value: a tilde stays as it is.
                let value = if associative {
                    self.expand_string(&element.value.without_tildes())?
                } else {
                    self.expand_string(&element.value)?
                };
                out.push(ReadyElement {
                    subscript: element.subscript.as_ref(),
                    append: element.append,
                    value,
                });
                continue;
            }
            let mut values = Vec::new();
            self.expand_word(&element.value, &mut values)?;
            out.extend(values.into_iter().map(ReadyElement::plain));
        }
        Ok(out)
    }

    /// Stores an expanded assignment.
    pub(crate) fn apply_assignment(&mut self, ready: Ready<'_>) -> Expanded<()> {
        let id = ready.id;
        let index = match ready.subscript {
            Some(subscript) => {
                if subscript.word.source().is_empty() {
                    let mut message = self.variables.names.text(id).to_vec();
                    message.extend_from_slice(b"[]: bad array subscript");
                    return Err(self.expansion_error(message));
                }
                if matches!(subscript.word.source(), b"@" | b"*") && !self.is_associative_id(id) {
                    let mut message = self.variables.names.text(id).to_vec();
                    message.push(b'[');
                    message.extend_from_slice(subscript.word.source());
                    message.extend_from_slice(b"]: bad array subscript");
                    return Err(self.expansion_error(message));
                }
                let index = self.index(id, subscript)?;
                if matches!(&index, Index::Key(key) if key.is_empty()) {
                    let mut message = self.variables.names.text(id).to_vec();
                    message.push(b'[');
                    message.extend_from_slice(subscript.word.source());
                    message.extend_from_slice(b"]: bad array subscript");
                    self.error(message);
                    return Err(crate::Unwind::Discard(1));
                }
                if let Index::Number(..0) = &index
                    && !self.has_element_from_end(id, &index)
                {
                    let mut message = self.variables.names.text(id).to_vec();
                    message.push(b'[');
                    message.extend_from_slice(subscript.word.source());
                    message.extend_from_slice(b"]: bad array subscript");
                    self.error(message);
                    return Err(self.assignment_failed(AssignError::Reported));
                }
                Some(index)
            }
            None => None,
        };
        match ready.value {
            ReadyValue::Scalar(value) => {
                let result = self.assign(id, index, value, ready.append);
                result.map_err(|error| self.assignment_failed(error))
            }
            ReadyValue::Array(_) if index.is_some() => {
                let mut message = self.variables.names.text(id).to_vec();
                message.extend_from_slice(b": cannot assign list to array member");
                self.error(message);
                Err(crate::Unwind::Discard(1))
            }
            ReadyValue::Array(elements) => self.apply_array(id, elements, ready.append),
        }
    }

    fn apply_array(&mut self, id: NameId, elements: Vec<ReadyElement<'_>>, append: bool) -> Expanded<()> {
        let id = match self.resolve(id) {
            Resolved::Variable(id) => id,
            Resolved::Element(id, subscript) => {
                let mut message = b"`".to_vec();
                message.extend_from_slice(self.variables.names.text(id));
                message.push(b'[');
                message.extend(subscript);
                message.extend_from_slice(b"]': not a valid identifier");
                return Err(self.expansion_error(message));
            }
            Resolved::Circular => return Err(crate::Unwind::Discard(1)),
            Resolved::Dangling(id) => {
                let slot = self.variables.slot_mut(id);
                slot.attributes = slot.attributes.without(Attributes::NAMEREF);
                id
            }
        };
        if self.variables.slot(id).attributes.has(Attributes::READONLY) {
            let name = self.variables.names.text(id).to_vec();
            return Err(self.assignment_failed(AssignError::Readonly(name)));
        }
        if !self.is_associative_id(id) {
            return self.assign_indexed_elements(id, elements, append);
        }
        let value = self.associative_elements(id, elements, append)?;
        let slot = self.variables.slot_mut(id);
        slot.value = value;
        slot.attributes = slot.attributes.with(Attributes::DECLARED);
        if self.is(SetOption::Allexport) {
            let slot = self.variables.slot_mut(id);
            slot.attributes = slot.attributes.with(Attributes::EXPORT);
        }
        Ok(())
    }

    /// Elements are stored one by one, because a subscript may look at those before it.
    fn assign_indexed_elements(
        &mut self,
        id: NameId,
        elements: Vec<ReadyElement<'_>>,
        append: bool,
    ) -> Expanded<()> {
        // Taken out of its slot, an array that nobody else holds is appended to where it is.
        let start = match std::mem::take(&mut self.variables.slot_mut(id).value) {
            Value::Indexed(array) if append => Rc::unwrap_or_clone(array),
            Value::Unset => IndexedArray::default(),
            value if append => {
                let first = value.scalar().map(|v| v.into_owned());
                IndexedArray::from_values(first.into_iter().collect())
            }
            _ => IndexedArray::default(),
        };
        let exports = self.is(SetOption::Allexport);
        let transforms = self.variables.slot(id).attributes.any(Attributes::TRANSFORMING);
        let mut next = start.max_index() + 1;
        let slot = self.variables.slot_mut(id);
        slot.value = Value::Indexed(Rc::new(start));
        slot.attributes = slot.attributes.with(Attributes::DECLARED);
        if exports {
            slot.attributes = slot.attributes.with(Attributes::EXPORT);
        }
        for element in elements {
            if let Some(subscript) = element.subscript {
                match self.element_index(id, subscript, &element.value)? {
                    Some(index) => next = index,
                    None => continue,
                }
            }
            let value = if transforms { self.transform_element(id, element.value)? } else { element.value };
            if let Value::Indexed(array) = &mut self.variables.slot_mut(id).value {
                let array = Rc::make_mut(array);
                if element.append {
                    array.entry(next).extend_from_slice(&value)
                } else {
                    array.set(next, value)
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// The index of `[subscript]=value`; `None` if it is out of range, which is reported.
    fn element_index(&mut self, id: NameId, subscript: &Expression, value: &[u8]) -> Expanded<Option<i64>> {
        let mut index = self.subscript(subscript)?;
        if index < 0
            && let Value::Indexed(array) = &self.variables.slot(id).value
        {
            index += array.max_index() + 1;
        }
        if index >= 0 {
            return Ok(Some(index));
        }
        let mut message = b"[".to_vec();
        message.extend_from_slice(subscript.word.source());
        message.extend_from_slice(b"]=");
        message.extend_from_slice(value);
        message.extend_from_slice(b": bad array subscript");
        self.error(message);
        Ok(None)
    }

    fn transform_element(&mut self, id: NameId, value: Bytes) -> Expanded<Bytes> {
        let result = self.transform_assigned(id, None, value, false);
        result.map_err(|error| self.assignment_failed(error))
    }

    fn associative_elements(
        &mut self,
        id: NameId,
        elements: Vec<ReadyElement<'_>>,
        append: bool,
    ) -> Expanded<Value> {
        let mut added: Vec<(Bytes, Bytes, bool)> = Vec::with_capacity(elements.len());
        let transforms = self.variables.slot(id).attributes.any(Attributes::TRANSFORMING);
        let mut elements = elements.into_iter().peekable();
        let pairs = elements.peek().is_some_and(|e| e.subscript.is_none());
        while let Some(element) = elements.next() {
            if pairs {
                let value = elements.next().map(|e| e.value).unwrap_or_default();
                added.push((element.value, value, false));
                continue;
            }
            let Some(subscript) = element.subscript else {
                let mut message = self.variables.names.text(id).to_vec();
                message.extend_from_slice(b": ");
                message.extend_from_slice(&element.value);
                message.extend_from_slice(b": must use subscript when assigning associative array");
                self.error(message);
                continue;
            };
            let Index::Key(key) = self.index(id, subscript)? else { continue };
            let value = if transforms { self.transform_element(id, element.value)? } else { element.value };
            added.push((key, value, element.append));
        }
        // Taken out of its slot only now: keys and values may have looked at the array.
        let mut array = match std::mem::take(&mut self.variables.slot_mut(id).value) {
            Value::Associative(array) if append => Rc::unwrap_or_clone(array),
            _ => AssociativeArray::default(),
        };
        for (key, value, appends) in added {
            if appends { array.entry(key).extend_from_slice(&value) } else { array.set(key, value) }
        }
        Ok(Value::Associative(Rc::new(array)))
    }

    /// An assignment before a command: bound in the innermost (temporary) frame and exported.
    pub(crate) fn temporary_assignment(&mut self, assignment: &Assignment) -> Expanded<()> {
        let ready = self.prepare(assignment)?;
        if self.is(SetOption::Xtrace) {
            self.trace_ready(assignment, &ready);
        }
        let id = match self.resolve(ready.id) {
            Resolved::Variable(id) => id,
            _ => ready.id,
        };
        let value = match ready.value {
            ReadyValue::Scalar(value) => value,
            ReadyValue::Array(_) => crate::syntax::printer::array_literal(assignment),
        };
        if ready.subscript.is_some() {
            return Ok(());
        }
        if self.variables.slot(id).attributes.has(Attributes::READONLY) {
            let name = self.variables.names.text(id).to_vec();
            self.report_assign_error(&AssignError::Readonly(name));
            // The command is given up, and what follows on its line.
            if self.is(SetOption::Posix) && !self.interactive {
                self.status = 1;
                return Err(crate::Unwind::Discard(1));
            }
            return Ok(());
        }
        let scope = self.variables.depth();
        let old = self.variables.bind(id, scope).unwrap_or_default();
        let dropped = Attributes::DYNAMIC.with(Attributes::NAMEREF).with(Attributes::BINDING);
        let kept = old.attributes.without(dropped);
        let slot = self.variables.slot_mut(id);
        slot.attributes = kept;
        if ready.append {
            slot.value = Value::Scalar(old.value.scalar().unwrap_or_default().into_owned());
        }
        let result = self.assign(id, None, value, ready.append);
        result.map_err(|error| self.assignment_failed(error))?;
        let slot = self.variables.slot_mut(id);
        slot.attributes = slot
            .attributes
            .with(Attributes::EXPORT)
            .with(Attributes::DECLARED)
            .with(Attributes::TEMPORARY)
            .with(Attributes::PREFIXED);
        self.variables.export_generation += 1;
        Ok(())
    }

    /// Runs a declaration builtin whose arguments hold assignments; `None` if the command is something else.
    pub(crate) fn run_declaration(&mut self, command: &SimpleCommand) -> Expanded<Option<Status>> {
        crate::builtins::declare::run_command(self, command)
    }
}
