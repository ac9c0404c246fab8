//! How values are shown to people: node's `util.inspect`, on the engine's values.
//!
//! Never runs guest code: accessors are named, proxies are shown as their targets. Depth, length and breaking of lines follow
//! node's defaults. What one value may take is bounded: a small graph can have a text without end. `layout` breaks lines, `primitive` and `style` show leaves, `object` names what an object is.

mod layout;
mod object;
mod primitive;
mod style;

use cynic_engine::gc::RootedVec;
use cynic_engine::object::{Object, ObjectKind, OwnProperty};
use cynic_engine::property_key::PropertyKey;
use cynic_engine::value::Value;
use cynic_engine::vm::Vm;

use crate::{Error, Handle, Realm};

use self::layout::{Alignment, Parts, assemble};
use self::style::Style;
pub use self::style::Styles;
use crate::host::limits::INSPECT_WORK_MAX;

/// Levels of nesting that are shown.
const DEPTH_MAX: usize = 2;
/// Elements and entries that are shown.
const ENTRIES_MAX: usize = 100;
/// What an entry counts for besides its text.
const ENTRY_WORK: usize = 32;
/// Bytes of an array buffer that are shown.
const BYTES_MAX: usize = 50;

/// The text of a value; strings are quoted.
pub fn inspect(realm: &mut Realm<'_>, value: &Handle, styles: Styles) -> Result<String, Error> {
    let value = value.value_in(realm.vm)?;
    Ok(text_of(realm.vm, value, styles))
}

/// The same for the host's own functions.
pub(in crate::host) fn text_of(vm: &mut Vm, value: Value, styles: Styles) -> String {
    let mut inspector = Inspector {
        styles,
        open: Vec::new(),
        circular: Vec::new(),
        indentation: 0,
        deepest: 0,
        work: Work(INSPECT_WORK_MAX),
        roots: vm.scratch(),
    };
    inspector.roots.push(value);
    inspector.value(vm, value, 0)
}

/// The text of a value as `console.log` shows its arguments: strings as they are.
pub(in crate::host) fn display(vm: &mut Vm, value: Value, styles: Styles) -> String {
    match value.as_string() {
        Some(string) => string.to_rust_string(),
        None => text_of(vm, value, styles),
    }
}

struct Inspector {
    styles: Styles,
    /// The objects being shown, outermost first.
    open: Vec<Object>,
    /// Objects that refer to themselves, in the order in which that was found.
    circular: Vec<Object>,
    indentation: usize,
    /// The level of the object shown last: what node calls `currentDepth`.
    deepest: usize,
    work: Work,
    roots: RootedVec,
}

/// What may still be done for a value: bytes of text, and keys and links looked at.
struct Work(usize);

impl Work {
    fn spend(&mut self, units: usize) {
        self.0 = self.0.saturating_sub(units);
    }

    fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

impl Inspector {
    fn value(&mut self, vm: &mut Vm, value: Value, level: usize) -> String {
        let Some(object) = value.as_object() else {
            let text = primitive::primitive(vm, value, self.styles, self.indentation);
            self.work.spend(primitive::work(value, &text));
            return text;
        };
        let object = object::behind_proxies(object, &mut self.work);
        if self.open.contains(&object) {
            let index = match self.circular.iter().position(|known| *known == object) {
                Some(index) => index,
                None => {
                    self.circular.push(object);
                    self.circular.len() - 1
                }
            };
            return self.styles.paint(Style::Special, &format!("[Circular *{}]", index + 1));
        }
        self.object(vm, object, level)
    }

    fn object(&mut self, vm: &mut Vm, object: Object, level: usize) -> String {
        let keys = object::shown_keys(vm, object, &mut self.work);
        let heading = object::heading(vm, object, keys.is_empty(), self.styles);
        self.work.spend(heading.bytes());
        if let Some(leaf) = heading.leaf_if(keys.is_empty()) {
            return leaf;
        }
        if level > DEPTH_MAX {
            let name = heading.constructor_name();
            return self.styles.paint(Style::Special, &format!("[{name}]"));
        }
        self.deepest = level;
        self.open.push(object);
        let mut entries = self.entries(vm, object, level);
        let mut truncated = false;
        if let Some(rest) = entries.more {
            truncated = true;
            entries.texts.push(format!("... {rest} more item{}", if rest == 1 { "" } else { "s" }));
        }
        for (index, &key) in keys.iter().enumerate() {
            if self.work.is_spent() {
                entries.texts.push(format!("... {} more properties", keys.len() - index));
                break;
            }
            if let Some(text) = self.property(vm, object, key, level) {
                entries.texts.push(text);
            }
        }
        self.open.pop();
        let text = self.finish(object, heading, entries, truncated && keys.is_empty(), level);
        self.deepest = self.deepest.max(level);
        text
    }

    fn finish(
        &mut self,
        object: Object,
        heading: object::Heading,
        entries: Entries,
        truncated: bool,
        level: usize,
    ) -> String {
        let (mut open, close) = heading.braces();
        let mut base = heading.base();
        if let Some(index) = self.circular.iter().position(|known| *known == object) {
            let reference = self.styles.paint(Style::Special, &format!("<ref *{}>", index + 1));
            if base.is_empty() {
                open = format!("{reference} {open}");
            } else {
                base = format!("{reference} {base}");
            }
        }
        let parts =
            Parts { base, open, close, entries: entries.texts, elements: entries.alignment, truncated };
        assemble(parts, self.indentation, self.deepest - level.min(self.deepest))
    }

    /// One property, or `None` if it is gone.
    fn property(&mut self, vm: &mut Vm, object: Object, key: PropertyKey, level: usize) -> Option<String> {
        let property = vm.get_own_property(object, key).ok()??;
        let text = self.property_value(vm, &property, level);
        let name = primitive::key(key, self.styles);
        self.work.spend(name.len() + ENTRY_WORK);
        Some(format!("{name}: {text}"))
    }

    fn property_value(&mut self, vm: &mut Vm, property: &OwnProperty, level: usize) -> String {
        let Some(accessor) = property.accessor() else { return self.nested(vm, property.value, level) };
        let text = match (accessor.getter().is_undefined(), accessor.setter().is_undefined()) {
            (false, false) => "[Getter/Setter]",
            (false, true) => "[Getter]",
            (true, false) => "[Setter]",
            (true, true) => "undefined",
        };
        self.styles.paint(Style::Special, text)
    }

    fn nested(&mut self, vm: &mut Vm, value: Value, level: usize) -> String {
        self.roots.push(value);
        self.indentation += 2;
        let text = self.value(vm, value, level + 1);
        self.indentation -= 2;
        self.roots.pop();
        text
    }

    /// What comes before the keyed properties: elements, map and set entries and the like.
    fn entries(&mut self, vm: &mut Vm, object: Object, level: usize) -> Entries {
        match object.kind() {
            ObjectKind::Array => self.array_elements(vm, object, level),
            ObjectKind::Arguments => self.array_like(vm, object, level),
            ObjectKind::Map | ObjectKind::Set => self.collection(vm, object, level),
            ObjectKind::Promise => self.promise(vm, object, level),
            ObjectKind::TypedArray => self.typed_array(vm, object),
            ObjectKind::ArrayBuffer | ObjectKind::SharedArrayBuffer => self.buffer(vm, object),
            ObjectKind::WeakMap | ObjectKind::WeakSet => {
                Entries::one(self.styles.paint(Style::Special, "<items unknown>"))
            }
            _ => Entries::default(),
        }
    }

    fn array_elements(&mut self, vm: &mut Vm, array: Object, level: usize) -> Entries {
        let length = array.array_length() as usize;
        let mut texts = Vec::new();
        let mut all_numbers = true;
        let mut index = 0;
        let mut holes: Option<object::Holes> = None;
        while index < length && texts.len() < ENTRIES_MAX && !self.work.is_spent() {
            let key = PropertyKey::index(index as u32);
            match vm.get_own_property(array, key) {
                Ok(Some(property)) => {
                    all_numbers &= property.value.is_number() || property.value.is_bigint();
                    texts.push(self.property_value(vm, &property, level));
                    index += 1;
                }
                _ => {
                    let holes = holes.get_or_insert_with(|| object::Holes::of(vm, array, &mut self.work));
                    let holes = holes.count(index, length);
                    let text = format!("<{holes} empty item{}>", if holes == 1 { "" } else { "s" });
                    texts.push(self.styles.paint(Style::Undefined, &text));
                    all_numbers = false;
                    index += holes;
                }
            }
        }
        let more = (index < length).then(|| length - index);
        let alignment = Some(if all_numbers { Alignment::Right } else { Alignment::Left });
        Entries { texts, alignment, more }
    }

    fn array_like(&mut self, vm: &mut Vm, object: Object, level: usize) -> Entries {
        let mut texts = Vec::new();
        let mut all_numbers = true;
        while texts.len() < ENTRIES_MAX && !self.work.is_spent() {
            let key = PropertyKey::index(texts.len() as u32);
            let Ok(Some(property)) = vm.get_own_property(object, key) else { break };
            all_numbers &= property.value.is_number();
            texts.push(self.property_value(vm, &property, level));
        }
        Entries {
            texts,
            alignment: Some(if all_numbers { Alignment::Right } else { Alignment::Left }),
            more: None,
        }
    }

    fn collection(&mut self, vm: &mut Vm, object: Object, level: usize) -> Entries {
        let preview = cynic_engine::preview::collection_entries(vm, object, ENTRIES_MAX);
        let count = cynic_engine::preview::collection_size(object);
        let mut texts = Vec::new();
        for pair in preview.chunks(2) {
            if self.work.is_spent() {
                break;
            }
            let key = self.nested(vm, pair[0], level);
            if object.is(ObjectKind::Map) {
                texts.push(format!("{key} => {}", self.nested(vm, pair[1], level)));
            } else {
                texts.push(key);
            }
        }
        let more = (count > texts.len()).then(|| count - texts.len());
        Entries { texts, alignment: None, more }
    }

    fn promise(&mut self, vm: &mut Vm, object: Object, level: usize) -> Entries {
        match cynic_engine::preview::promise_state(object) {
            cynic_engine::preview::PromiseState::Pending => {
                Entries::one(self.styles.paint(Style::Special, "<pending>"))
            }
            cynic_engine::preview::PromiseState::Fulfilled(value) => {
                Entries::one(self.nested(vm, value, level))
            }
            cynic_engine::preview::PromiseState::Rejected(reason) => {
                let marker = self.styles.paint(Style::Special, "<rejected>");
                Entries::one(format!("{marker} {}", self.nested(vm, reason, level)))
            }
        }
    }

    fn typed_array(&mut self, vm: &mut Vm, object: Object) -> Entries {
        let length = cynic_engine::preview::typed_array_length(vm, object);
        let mut texts = Vec::new();
        for index in 0..length.min(ENTRIES_MAX) {
            let key = PropertyKey::index(index as u32);
            let Ok(Some(property)) = vm.get_own_property(object, key) else { break };
            texts.push(primitive::primitive(vm, property.value, self.styles, self.indentation));
        }
        self.work.spend(texts.iter().map(String::len).sum());
        let more = (length > ENTRIES_MAX).then(|| length - ENTRIES_MAX);
        Entries { texts, alignment: Some(Alignment::Right), more }
    }

    fn buffer(&mut self, vm: &mut Vm, object: Object) -> Entries {
        let Some((bytes, length)) = cynic_engine::preview::buffer_bytes(vm, object, BYTES_MAX) else {
            return Entries::one(self.styles.paint(Style::Special, "(detached)"));
        };
        let mut shown: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if length > BYTES_MAX {
            let rest = length - BYTES_MAX;
            shown.push(format!("... {rest} more byte{}", if rest == 1 { "" } else { "s" }));
        }
        let contents = self.styles.paint(Style::Special, "Uint8Contents");
        let length = self.styles.paint(Style::Number, &length.to_string());
        let texts = vec![format!("[{contents}]: <{}>", shown.join(" ")), format!("byteLength: {length}")];
        Entries { texts, alignment: None, more: None }
    }
}

/// The entries of an object that are not keyed properties.
#[derive(Default)]
struct Entries {
    texts: Vec<String>,
    alignment: Option<Alignment>,
    /// How many were left out.
    more: Option<usize>,
}

impl Entries {
    fn one(text: String) -> Self {
        Entries { texts: vec![text], alignment: None, more: None }
    }
}
