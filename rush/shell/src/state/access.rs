//! Reading and assigning variables with everything a shell variable implies: namerefs, attributes, arrays, and the
//! variables whose values the session computes.

use super::array::{AssociativeArray, IndexedArray};
use super::names::{self, NameId};
use super::options::{SetOption, Shopt};
use super::session::{AssignError, Session};
use super::value::{Attributes, Value, decimal};
use crate::expand::Index;
use crate::quote;
use crate::{Bytes, Unwind, arith, sys};
use std::borrow::Cow;
use std::rc::Rc;

/// What an assignment gives.
pub type Assigned = Result<(), AssignError>;

/// Variables whose value is computed when read.
const DYNAMIC: &[NameId] = &[
    names::LINENO,
    names::HISTCMD,
    names::RANDOM,
    names::SRANDOM,
    names::SECONDS,
    names::EPOCHSECONDS,
    names::EPOCHREALTIME,
    names::BASH_MONOSECONDS,
    names::BASHPID,
    names::BASH_SUBSHELL,
    names::BASH_COMMAND,
    names::BASH_SOURCE,
    names::BASH_LINENO,
    names::FUNCNAME,
    names::PIPESTATUS,
    names::BASH_ARGC,
    names::BASH_ARGV,
    names::BASH_ARGV0,
    names::DIRSTACK,
    names::GROUPS,
    names::BASH_ALIASES,
    names::BASH_CMDS,
    names::SHELLOPTS,
    names::BASHOPTS,
    names::UNDERSCORE,
];

impl Session {
    pub(super) fn define_dynamic(&mut self) {
        for id in DYNAMIC {
            let slot = self.variables.slot_mut(*id);
            slot.attributes = Attributes::DYNAMIC.with(Attributes::DECLARED);
        }
        for id in [names::SHELLOPTS, names::BASHOPTS] {
            let slot = self.variables.slot_mut(id);
            slot.attributes = slot.attributes.with(Attributes::READONLY);
        }
    }

    /// The scalar value of the variable called `name` (element 0 of an array), following namerefs.
    pub fn get(&mut self, name: &[u8]) -> Option<Cow<'_, [u8]>> {
        let id = self.variables.names.find(name)?;
        self.get_id(id)
    }

    /// The scalar value of the variable `id`, following namerefs.
    pub fn get_id(&mut self, id: NameId) -> Option<Cow<'_, [u8]>> {
        let slot = self.variables.slot(id);
        if !slot.attributes.any(Attributes::DYNAMIC.with(Attributes::NAMEREF)) {
            return self.variables.slot(id).value.scalar();
        }
        use crate::expand::Resolved;
        match self.resolve(id) {
            Resolved::Variable(id) => self.value(id).scalar().map(|v| Cow::Owned(v.into_owned())),
            Resolved::Element(id, text) => {
                let index = self.index_from_text(id, &text).ok()?;
                self.element(id, &index).ok()?.map(Cow::Owned)
            }
            Resolved::Dangling(_) | Resolved::Circular => None,
        }
    }

    /// The value of the variable `id` itself (namerefs are not followed), computed if it is a dynamic one.
    pub fn value(&mut self, id: NameId) -> Value {
        if self.variables.slot(id).attributes.has(Attributes::DYNAMIC) {
            return self.dynamic_value(id);
        }
        self.variables.slot(id).value.clone()
    }

    /// Assigns a string to the variable called `name`, as `name=value` does: attributes and namerefs are honoured.
    pub fn set(&mut self, name: &[u8], value: Bytes) -> Assigned {
        let id = self.variables.intern(name);
        self.set_id(id, value)
    }

    /// Assigns a string to the variable `id`.
    pub fn set_id(&mut self, id: NameId, value: Bytes) -> Assigned {
        let slot = self.variables.slot(id);
        let plain = matches!(slot.value, Value::Scalar(_) | Value::Integer(_) | Value::Unset);
        let special = Attributes::DYNAMIC
            .with(Attributes::NAMEREF)
            .with(Attributes::READONLY)
            .with(Attributes::TRANSFORMING);
        if plain && !slot.attributes.any(special) && !self.options.is(SetOption::Allexport) {
            let slot = self.variables.slot_mut(id);
            slot.value = Value::Scalar(value);
            slot.attributes = slot.attributes.with(Attributes::DECLARED);
            return Ok(());
        }
        self.assign(id, None, value, false)
    }

    /// Assigns `value` to the variable or element; `append` is `+=`.
    pub fn assign(&mut self, id: NameId, index: Option<Index>, value: Bytes, append: bool) -> Assigned {
        use crate::expand::Resolved;
        let (id, index) = match self.resolve(id) {
            Resolved::Variable(id) => (id, index),
            Resolved::Element(id, text) if index.is_some() => {
                let mut message = b"`".to_vec();
                message.extend_from_slice(self.variables.names.text(id));
                message.push(b'[');
                message.extend(text);
                message.extend_from_slice(b"]': not a valid identifier");
                self.error(message);
                return Err(AssignError::Reported);
            }
            Resolved::Element(id, text) => {
                let index = self.index_from_text(id, &text).map_err(AssignError::Unwind)?;
                (id, Some(index))
            }
            Resolved::Circular => return Err(AssignError::Reported),
            Resolved::Dangling(id) => return self.assign_dangling(id, value),
        };
        let attributes = self.variables.slot(id).attributes;
        if attributes.has(Attributes::READONLY) {
            return Err(AssignError::Readonly(self.variables.names.text(id).to_vec()));
        }
        if attributes.has(Attributes::DYNAMIC) {
            return self.assign_dynamic(id, index, value);
        }
        let value = self.transform_assigned(id, index.as_ref(), value, append)?;
        let append = append && !attributes.any(Attributes::INTEGER.with(Attributes::CAPITALIZE));
        self.store(id, index, value, append)?;
        if self.options.is(SetOption::Allexport) {
            let slot = self.variables.slot_mut(id);
            slot.attributes = slot.attributes.with(Attributes::EXPORT);
            self.variables.export_generation += 1;
        }
        Ok(())
    }

    /// A nameref without a target takes the value as its target.
    fn assign_dangling(&mut self, id: NameId, value: Bytes) -> Assigned {
        let valid = names::is_name(&value) || crate::expand::split_subscript(&value).is_some();
        let slot = self.variables.slot(id);
        if slot.is_set() && slot.value.scalar().is_some_and(|v| !v.is_empty()) || !valid {
            let shown =
                if slot.is_set() { slot.value.scalar().unwrap_or_default().into_owned() } else { value };
            let mut message = b"`".to_vec();
            message.extend_from_slice(&shown);
            message.extend_from_slice(b"': not a valid identifier");
            self.error(message);
            return Err(AssignError::Reported);
        }
        let slot = self.variables.slot_mut(id);
        slot.value = Value::Scalar(value);
        Ok(())
    }

    /// Applies the integer and case attributes to a value about to be stored.
    pub(crate) fn transform_assigned(
        &mut self,
        id: NameId,
        index: Option<&Index>,
        value: Bytes,
        append: bool,
    ) -> Result<Bytes, AssignError> {
        let attributes = self.variables.slot(id).attributes;
        if !attributes.any(Attributes::TRANSFORMING) {
            return Ok(value);
        }
        if attributes.has(Attributes::INTEGER) {
            let result = self.evaluate(&value);
            let mut number = self.or_abandon(result).map_err(AssignError::Unwind)?;
            if append {
                let old = match index {
                    Some(index) => self.element(id, index).map_err(AssignError::Unwind)?,
                    None => self.variables.slot(id).value.scalar().map(|v| v.into_owned()),
                };
                let old = self.evaluate(&old.unwrap_or_default()).map_err(AssignError::Unwind)?;
                number = number.wrapping_add(old);
            }
            return Ok(decimal(number));
        }
        let whole = match (append && attributes.has(Attributes::CAPITALIZE), index) {
            (false, _) => None,
            (true, Some(index)) => self.element(id, index).map_err(AssignError::Unwind)?,
            (true, None) => self.variables.slot(id).value.scalar().map(|v| v.into_owned()),
        };
        let value = whole.map_or_else(|| value.clone(), |old| [&old[..], &value].concat());
        Ok(if attributes.has(Attributes::UPPERCASE) {
            self.map_case(&value, b'^', true)
        } else if attributes.has(Attributes::LOWERCASE) {
            self.map_case(&value, b',', true)
        } else {
            let lower = self.map_case(&value, b',', true);
            self.map_case(&lower, b'^', false)
        })
    }

    /// Puts a final value into the store.
    fn store(&mut self, id: NameId, index: Option<Index>, value: Bytes, append: bool) -> Assigned {
        let negative = matches!(index, Some(Index::Number(n)) if n < 0);
        let index = if negative { Some(self.index_from_end(id, index)?) } else { index };
        let slot = self.variables.slot_mut(id);
        slot.attributes = slot.attributes.with(Attributes::DECLARED);
        match (&mut slot.value, index) {
            (Value::Associative(array), index) => {
                let array = Rc::make_mut(array);
                let key = match index {
                    Some(Index::Key(key)) => key,
                    Some(Index::Number(n)) => decimal(n),
                    None => b"0".to_vec(),
                };
                put(array.entry(key), value, append);
            }
            (Value::Indexed(array), index) => {
                let array = Rc::make_mut(array);
                let at = if let Some(Index::Number(n)) = index { n } else { 0 };
                if append { array.entry(at).extend_from_slice(&value) } else { array.set(at, value) }
            }
            (old, Some(Index::Number(n))) => {
                let mut array = IndexedArray::default();
                if let Some(first) = old.scalar() {
                    array.set(0, first.into_owned());
                }
                if append {
                    array.entry(n).extend_from_slice(&value)
                } else {
                    array.set(n, value)
                }
                *old = Value::Indexed(Rc::new(array));
            }
            (old, Some(Index::Key(key))) => {
                let mut array = AssociativeArray::default();
                array.set(key, value);
                *old = Value::Associative(Rc::new(array));
            }
            (Value::Scalar(text), None) if append => text.extend_from_slice(&value),
            (Value::Integer(i), None) if append => {
                let mut text = decimal(*i);
                text.extend_from_slice(&value);
                slot.value = Value::Scalar(text);
            }
            (old, None) => *old = Value::Scalar(value),
        }
        Ok(())
    }

    /// Whether a negative index leads to an element, seen from the end.
    pub(crate) fn has_element_from_end(&self, id: NameId, index: &Index) -> bool {
        let Index::Number(n) = index else { return true };
        match &self.variables.slot(id).value {
            Value::Indexed(array) => n + array.max_index() + 1 >= 0,
            Value::Unset => *n + 1 > 0,
            Value::Associative(_) => true,
            _ => n + 1 >= 0,
        }
    }

    fn index_from_end(&mut self, id: NameId, index: Option<Index>) -> Result<Index, AssignError> {
        let Some(Index::Number(n)) = index else { return Err(AssignError::Reported) };
        let max = match &self.variables.slot(id).value {
            Value::Indexed(array) => array.max_index(),
            Value::Unset => -1,
            Value::Associative(_) => return Ok(Index::Key(decimal(n))),
            _ => 0,
        };
        let at = n + max + 1;
        if at < 0 {
            let mut message = self.variables.names.text(id).to_vec();
            message.extend_from_slice(format!("[{n}]: bad array subscript").as_bytes());
            self.error(message);
            return Err(AssignError::Reported);
        }
        Ok(Index::Number(at))
    }

    /// Replaces the whole value by an indexed array of `values`.
    pub fn set_array(&mut self, name: &[u8], values: Vec<Bytes>) -> Assigned {
        let id = self.variables.intern(name);
        self.set_array_id(id, values)
    }

    /// Replaces the whole value by an indexed array of `values`.
    pub fn set_array_id(&mut self, id: NameId, values: Vec<Bytes>) -> Assigned {
        use crate::expand::Resolved;
        let id = match self.resolve(id) {
            Resolved::Variable(id) => id,
            _ => id,
        };
        let slot = self.variables.slot_mut(id);
        if slot.attributes.has(Attributes::READONLY) {
            return Err(AssignError::Readonly(self.variables.names.text(id).to_vec()));
        }
        slot.attributes = slot.attributes.with(Attributes::DECLARED);
        slot.value = Value::Indexed(Rc::new(IndexedArray::from_values(values)));
        Ok(())
    }

    /// Sets a variable the shell maintains itself, whatever its attributes.
    pub fn set_internal(&mut self, id: NameId, value: Bytes) {
        let slot = self.variables.slot_mut(id);
        slot.value = Value::Scalar(value);
        slot.attributes = slot.attributes.with(Attributes::DECLARED);
    }

    fn dynamic_value(&mut self, id: NameId) -> Value {
        let number = |n: i64| Value::Integer(n);
        let list = |v: Vec<Bytes>| Value::Indexed(Rc::new(IndexedArray::from_values(v)));
        match id {
            names::LINENO => number(i64::from(self.line)),
            names::HISTCMD => number(self.history_number() as i64 - 1),
            names::RANDOM => number(i64::from(self.next_random())),
            names::SRANDOM => number(i64::from(sys::random_u32())),
            names::SECONDS => number(sys::now_seconds() - self.seconds_base),
            names::EPOCHSECONDS => number(sys::now_seconds()),
            names::BASH_MONOSECONDS => number(sys::monotonic_seconds()),
            names::EPOCHREALTIME => {
                let (seconds, micros) = sys::now();
                Value::Scalar(format!("{seconds}.{micros:06}").into_bytes())
            }
            names::BASHPID => number(i64::from(sys::process_id())),
            names::BASH_SUBSHELL => number(i64::from(self.subshell_depth)),
            names::BASH_COMMAND => Value::Scalar(self.command_text.clone()),
            names::PIPESTATUS => list(self.pipeline_status.iter().map(|s| decimal(i64::from(*s))).collect()),
            names::FUNCNAME => match self.function_names() {
                Some(names) => list(names),
                None => Value::Unset,
            },
            names::BASH_SOURCE => list(self.source_names()),
            names::BASH_LINENO => list(self.call_lines()),
            names::BASH_ARGC | names::BASH_ARGV => self.call_arguments(id == names::BASH_ARGC),
            names::BASH_ARGV0 => Value::Scalar(self.name.clone()),
            names::DIRSTACK => {
                let mut stack = vec![self.get_id(names::PWD).unwrap_or_default().into_owned()];
                stack.extend(self.directory_stack.iter().cloned());
                list(stack)
            }
            names::GROUPS => list(sys::groups().into_iter().map(|g| decimal(i64::from(g))).collect()),
            names::BASH_ALIASES => {
                let mut array = AssociativeArray::default();
                for (name, text) in self.aliases.iter() {
                    array.set(name.clone(), text.clone());
                }
                Value::Associative(Rc::new(array))
            }
            names::BASH_CMDS => {
                let mut array = AssociativeArray::default();
                for (name, hashed) in self.hashed.iter() {
                    array.set(name.clone(), hashed.path.clone());
                }
                Value::Associative(Rc::new(array))
            }
            names::SHELLOPTS => Value::Scalar(self.set_option_names()),
            names::BASHOPTS => Value::Scalar(self.shopt_names()),
            names::UNDERSCORE => Value::Scalar(self.last_argument.clone()),
            _ => Value::Unset,
        }
    }

    fn set_option_names(&self) -> Bytes {
        let on: Vec<&str> =
            SetOption::ALL.iter().filter(|o| self.is(**o) && !o.is_own()).map(|o| o.name()).collect();
        on.join(":").into_bytes()
    }

    fn shopt_names(&self) -> Bytes {
        let on: Vec<&str> = Shopt::ALL.iter().filter(|o| self.shopt(**o)).map(|o| o.name()).collect();
        on.join(":").into_bytes()
    }

    /// `FUNCNAME`, or nothing outside of functions.
    fn function_names(&self) -> Option<Vec<Bytes>> {
        if !self.calls.iter().any(|c| c.is_function) {
            return None;
        }
        let mut names: Vec<Bytes> = self.calls.iter().rev().map(|c| c.name.to_vec()).collect();
        if !self.runs_command_string && !self.reads_standard_input {
            names.push(b"main".to_vec());
        }
        Some(names)
    }

    fn source_names(&self) -> Vec<Bytes> {
        let mut names: Vec<Bytes> = self.calls.iter().rev().map(|c| c.source.to_vec()).collect();
        if !self.runs_command_string && !self.reads_standard_input {
            names.push(self.name.clone());
        }
        names
    }

    fn call_lines(&self) -> Vec<Bytes> {
        let mut lines: Vec<Bytes> = self.calls.iter().rev().map(|c| decimal(i64::from(c.line))).collect();
        if !self.runs_command_string && !self.reads_standard_input {
            lines.push(b"0".to_vec());
        }
        lines
    }

    fn call_arguments(&self, counts: bool) -> Value {
        let mut values = Vec::new();
        for call in self.calls.iter().rev() {
            if counts {
                values.push(decimal(call.arguments.len() as i64));
            } else {
                values.extend(call.arguments.iter().rev().cloned());
            }
        }
        Value::Indexed(Rc::new(IndexedArray::from_values(values)))
    }

    fn assign_dynamic(&mut self, id: NameId, index: Option<Index>, value: Bytes) -> Assigned {
        match id {
            names::RANDOM => {
                let seed = arith::evaluate(&value, self).unwrap_or(0);
                self.random = seed as u32;
                self.random_begins = false;
            }
            names::SECONDS => {
                let offset = arith::evaluate(&value, self).unwrap_or(0);
                self.seconds_base = sys::now_seconds() - offset;
            }
            names::BASH_ARGV0 => self.name = value,
            names::BASH_ALIASES => {
                if let Some(Index::Key(key)) = index {
                    Rc::make_mut(&mut self.aliases).insert(key, value);
                }
            }
            names::BASH_CMDS => {
                if self.is_restricted() && value.contains(&b'/') {
                    self.error([&value[..], b": restricted"].concat());
                } else if let Some(Index::Key(key)) = index {
                    self.check_hash();
                    std::rc::Rc::make_mut(&mut self.hashed)
                        .insert(key, super::session::Hashed { path: value, hits: 0 });
                }
            }
            names::DIRSTACK => {
                if let Some(Index::Number(n)) = index {
                    let stack = Rc::make_mut(&mut self.directory_stack);
                    if let Some(slot) = stack.get_mut((n - 1).max(0) as usize) {
                        *slot = value;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// OPTIMIZATION: how one element of a table of the session is read, without making an array of the table.
    pub(crate) fn dynamic_element(&self, id: NameId) -> Option<fn(&Session, &[u8]) -> Option<Bytes>> {
        match id {
            _ if !self.variables.slot(id).attributes.has(Attributes::DYNAMIC) => None,
            names::BASH_ALIASES => Some(|session, key| session.aliases.get(key).cloned()),
            names::BASH_CMDS => Some(|session, key| session.hashed.get(key).map(|h| h.path.clone())),
            _ => None,
        }
    }

    pub(crate) fn is_dynamic_associative(&self, id: NameId) -> bool {
        matches!(id, names::BASH_ALIASES | names::BASH_CMDS)
            && self.variables.slot(id).attributes.has(Attributes::DYNAMIC)
    }

    /// The next value of RANDOM: bash's generator (Park and Miller's minimal standard).
    fn next_random(&mut self) -> u32 {
        if std::mem::take(&mut self.random_begins) {
            self.random = sys::random_u32();
        }
        if self.random == 0 {
            self.random = 123_459_876;
        }
        let seed = i64::from(self.random as i32);
        let high = seed / 127_773;
        let low = seed % 127_773;
        let next = 16_807 * low - 2_836 * high;
        self.random = if next < 0 { (next + 0x7fff_ffff) as u32 } else { next as u32 };
        (self.random ^ (self.random >> 16)) & 0x7fff
    }

    /// Reading `BASHPID` in an in-process subshell needs a real process.
    pub(crate) fn need_process(&mut self, id: NameId) -> Result<(), Unwind> {
        if id == names::BASHPID { self.ensure_real_process() } else { Ok(()) }
    }

    /// `declare -p` of the variable `id`, without a newline; `None` if it does not exist.
    pub(crate) fn declaration(&mut self, id: NameId) -> Option<Bytes> {
        if !self.variables.slot(id).exists() {
            return None;
        }
        let letters = self.attribute_letters(id);
        let mut text = b"declare -".to_vec();
        if letters.is_empty() {
            text.push(b'-')
        } else {
            text.extend(letters)
        }
        text.push(b' ');
        text.extend_from_slice(self.variables.names.text(id));
        match self.value(id) {
            Value::Unset => {}
            Value::Indexed(array) if array.is_declared_only() => {}
            Value::Associative(array) if array.is_declared_only() => {}
            value => {
                text.push(b'=');
                text.extend(declared_value(&value));
            }
        }
        Some(text)
    }
}

/// A value as `declare -p` shows it.
pub(crate) fn declared_value(value: &Value) -> Bytes {
    let mut text = Bytes::new();
    match value {
        Value::Indexed(array) => {
            text.push(b'(');
            for (n, (index, value)) in array.iter().enumerate() {
                if n > 0 {
                    text.push(b' ');
                }
                text.extend_from_slice(format!("[{index}]=").as_bytes());
                text.extend(quote::declaration(value));
            }
            text.push(b')');
        }
        Value::Associative(array) => {
            text.push(b'(');
            for (key, value) in array.iter() {
                text.push(b'[');
                text.extend(quote::key(key));
                text.extend_from_slice(b"]=");
                text.extend(quote::declaration(value));
                text.push(b' ');
            }
            text.push(b')');
        }
        value => text.extend(quote::declaration(&value.scalar().unwrap_or_default())),
    }
    text
}

fn put(slot: &mut Bytes, value: Bytes, append: bool) {
    if append { slot.extend_from_slice(&value) } else { *slot = value }
}
