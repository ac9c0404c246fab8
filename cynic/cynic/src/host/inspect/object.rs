//! What an object is called and which braces it gets; which of its keys are shown.

use cynic_engine::atoms;
use cynic_engine::gc::RootedVec;
use cynic_engine::object::{Object, ObjectKind};
use cynic_engine::property_key::PropertyKey;
use cynic_engine::symbol;
use cynic_engine::value::Value;
use cynic_engine::vm::Vm;

use super::Work;
use super::style::{Style, Styles};

/// Prototypes that are looked through for a constructor's name.
const PROTOTYPES_MAX: usize = 100;

/// The shape of an object's text.
enum Form {
    /// `{ ... }` with a prefix, which is left out for plain objects.
    Braces { prefix: String },
    /// `[ ... ]` with a prefix.
    Brackets { prefix: String },
    /// A text of its own, followed by braces only if there are keys.
    Leaf { text: String },
}

/// How an object begins.
pub(super) struct Heading {
    form: Form,
    name: String,
}

impl Heading {
    /// The whole text, if there is nothing to put between braces.
    pub(super) fn leaf_if(&self, no_keys: bool) -> Option<String> {
        match &self.form {
            Form::Leaf { text } if no_keys => Some(text.clone()),
            _ => None,
        }
    }

    /// How long the text is.
    pub(super) fn bytes(&self) -> usize {
        let (Form::Braces { prefix: text } | Form::Brackets { prefix: text } | Form::Leaf { text }) =
            &self.form;
        text.len() + self.name.len()
    }

    /// What stands for the object where nesting ends.
    pub(super) fn constructor_name(&self) -> &str {
        &self.name
    }

    /// The opening and the closing brace.
    pub(super) fn braces(&self) -> (String, &'static str) {
        match &self.form {
            Form::Braces { prefix } => (format!("{prefix}{{"), "}"),
            Form::Brackets { prefix } => (format!("{prefix}["), "]"),
            Form::Leaf { .. } => ("{".into(), "}"),
        }
    }

    /// What comes before the opening brace.
    pub(super) fn base(&self) -> String {
        match &self.form {
            Form::Leaf { text } => text.clone(),
            _ => String::new(),
        }
    }
}

/// The object that a chain of proxies leads to; a revoked proxy is itself.
pub(super) fn behind_proxies(mut object: Object, work: &mut Work) -> Object {
    while object.is(ObjectKind::Proxy) {
        work.spend(1);
        match object.slot(0).as_object() {
            Some(target) => object = target,
            None => break,
        }
    }
    object
}

/// Whether there can be no keys but those of elements that are shown as such, of which there may be many.
fn is_all_elements(object: Object) -> bool {
    object.is(ObjectKind::TypedArray) && object.shape().property_count() == 0
}

/// The own properties to show: enumerable ones, but not elements that are shown as such.
pub(super) fn shown_keys(vm: &mut Vm, object: Object, work: &mut Work) -> RootedVec<PropertyKey> {
    let mut shown = RootedVec::new(&vm.heap);
    if object.is(ObjectKind::Proxy) || work.is_spent() || is_all_elements(object) {
        return shown;
    }
    let Ok(keys) = vm.own_property_keys(object) else { return shown };
    work.spend(keys.len());
    let kind = object.kind();
    let indexed = matches!(
        kind,
        ObjectKind::Array | ObjectKind::TypedArray | ObjectKind::String | ObjectKind::Arguments
    );
    for &key in keys.iter() {
        let hidden_error_part = kind == ObjectKind::Error && (key == atoms::MESSAGE || key == atoms::STACK);
        if (indexed && key.is_index()) || hidden_error_part {
            continue;
        }
        if let Ok(Some(property)) = vm.get_own_property(object, key) {
            let cause = kind == ObjectKind::Error && key == atoms::CAUSE;
            if property.is_enumerable() || cause {
                shown.push(key);
            }
        }
    }
    shown
}

/// Where an array has elements: looked up once, not at every index.
pub(super) struct Holes {
    indices: Vec<u32>,
}

impl Holes {
    pub(super) fn of(vm: &mut Vm, array: Object, work: &mut Work) -> Self {
        let keys = vm.own_property_keys(array);
        let mut indices: Vec<u32> =
            keys.map_or_else(|_| Vec::new(), |keys| keys.iter().filter_map(|key| key.as_index()).collect());
        work.spend(indices.len());
        indices.sort_unstable();
        Holes { indices }
    }

    /// How many elements are missing from `from` on.
    pub(super) fn count(&self, from: usize, length: usize) -> usize {
        let next = self.indices.partition_point(|index| (*index as usize) < from);
        self.indices.get(next).map_or(length, |index| *index as usize).min(length) - from
    }
}

/// The name of the constructor that an object's prototypes lead to; `None` for a null prototype.
fn constructor_name(vm: &mut Vm, object: Object) -> Option<String> {
    let mut current = object;
    for _ in 0..PROTOTYPES_MAX {
        if current.is(ObjectKind::Proxy) {
            break;
        }
        if let Ok(Some(property)) = vm.get_own_property(current, atoms::CONSTRUCTOR)
            && property.accessor().is_none()
            && let Some(constructor) = property.value.as_object()
        {
            let name = function_name(vm, constructor);
            if !name.is_empty() {
                return Some(name);
            }
        }
        match vm.get_prototype_of(current).ok()?.as_object() {
            Some(prototype) => current = prototype,
            None => return None,
        }
    }
    Some("Object".into())
}

/// The `name` of a function, if it is an own string.
fn function_name(vm: &mut Vm, function: Object) -> String {
    if function.is(ObjectKind::Proxy) {
        return String::new();
    }
    match vm.get_own_property(function, atoms::NAME) {
        Ok(Some(property)) => {
            property.value.as_string().map_or_else(String::new, |name| name.to_rust_string())
        }
        _ => String::new(),
    }
}

/// `Symbol.toStringTag`, if it is a string on the object or a prototype.
fn string_tag(vm: &mut Vm, object: Object) -> Option<String> {
    let mut current = object;
    for _ in 0..PROTOTYPES_MAX {
        if current.is(ObjectKind::Proxy) {
            return None;
        }
        if let Ok(Some(property)) = vm.get_own_property(current, symbol::TO_STRING_TAG) {
            return property.value.as_string().map(|tag| tag.to_rust_string()).filter(|tag| !tag.is_empty());
        }
        current = vm.get_prototype_of(current).ok()?.as_object()?;
    }
    None
}

/// `Name ` or `Name(size) `, with the tag where it says something else.
fn prefix(vm: &mut Vm, object: Object, fallback: &str, size: Option<usize>) -> String {
    let size = size.map_or_else(String::new, |size| format!("({size})"));
    let name = constructor_name(vm, object);
    let tag = string_tag(vm, object).filter(|tag| Some(tag.as_str()) != name.as_deref());
    let tag = tag
        .filter(|tag| tag != fallback || name.is_none())
        .map_or_else(String::new, |tag| format!("[{tag}] "));
    match name {
        Some(name) => format!("{name}{size} {tag}"),
        None => format!("[{fallback}{size}: null prototype] {tag}"),
    }
}

/// What the object is.
pub(super) fn heading(vm: &mut Vm, object: Object, has_no_keys: bool, styles: Styles) -> Heading {
    let name = constructor_name(vm, object);
    let shown_name = name.clone().unwrap_or_else(|| "Object: null prototype".into());
    let shown_name = if object.is_array() { "Array".to_owned() } else { shown_name };
    Heading { form: form(vm, object, name.as_deref(), has_no_keys, styles), name: shown_name }
}

fn form(vm: &mut Vm, object: Object, name: Option<&str>, has_no_keys: bool, styles: Styles) -> Form {
    match object.kind() {
        _ if object.is_callable() => Form::Leaf { text: function_text(vm, object, styles) },
        ObjectKind::Array => array_form(vm, object, name),
        ObjectKind::TypedArray => {
            let length = cynic_engine::preview::typed_array_length(vm, object);
            empty_or(Form::Brackets { prefix: prefix(vm, object, "TypedArray", Some(length)) }, length)
        }
        ObjectKind::Arguments => Form::Brackets { prefix: "[Arguments] ".into() },
        ObjectKind::Map | ObjectKind::Set => {
            let size = cynic_engine::preview::collection_size(object);
            let fallback = if object.is(ObjectKind::Map) { "Map" } else { "Set" };
            empty_or(Form::Braces { prefix: prefix(vm, object, fallback, Some(size)) }, size)
        }
        ObjectKind::Error => Form::Leaf { text: error_text(vm, object) },
        ObjectKind::Date => {
            Form::Leaf { text: styles.paint(Style::Date, &cynic_engine::preview::date_text(object)) }
        }
        ObjectKind::RegExp => {
            Form::Leaf { text: styles.paint(Style::Regexp, &cynic_engine::preview::regexp_text(vm, object)) }
        }
        ObjectKind::Number
        | ObjectKind::String
        | ObjectKind::Boolean
        | ObjectKind::Symbol
        | ObjectKind::BigInt => Form::Leaf { text: boxed_text(vm, object, styles) },
        ObjectKind::Promise | ObjectKind::WeakMap | ObjectKind::WeakSet | ObjectKind::ArrayBuffer => {
            Form::Braces { prefix: prefix(vm, object, "Object", None) }
        }
        ObjectKind::ModuleNamespace => Form::Braces { prefix: "[Module: null prototype] ".into() },
        kind => match cynic_engine::preview::temporal_text(vm, object) {
            Some(text) => Form::Leaf { text: format!("{} {text}", name.unwrap_or("Temporal")) },
            None => plain_form(vm, object, kind, name, has_no_keys),
        },
    }
}

/// Containers without entries collapse to their braces.
fn empty_or(form: Form, size: usize) -> Form {
    if size > 0 {
        return form;
    }
    match form {
        Form::Braces { prefix } => Form::Leaf { text: format!("{prefix}{{}}") },
        Form::Brackets { prefix } => Form::Leaf { text: format!("{prefix}[]") },
        leaf @ Form::Leaf { .. } => leaf,
    }
}

fn array_form(vm: &mut Vm, array: Object, name: Option<&str>) -> Form {
    let length = array.array_length() as usize;
    let prefix = if name == Some("Array") { String::new() } else { prefix(vm, array, "Array", Some(length)) };
    empty_or(Form::Brackets { prefix }, length)
}

fn plain_form(vm: &mut Vm, object: Object, kind: ObjectKind, name: Option<&str>, has_no_keys: bool) -> Form {
    let prefix = match (name, string_tag(vm, object)) {
        (Some("Object"), None) if kind != ObjectKind::Global => String::new(),
        _ => prefix(vm, object, "Object", None),
    };
    if has_no_keys {
        return Form::Leaf { text: format!("{prefix}{{}}") };
    }
    Form::Braces { prefix }
}

fn function_text(vm: &mut Vm, function: Object, styles: Styles) -> String {
    let name = function_name(vm, function);
    if cynic_engine::preview::is_class(function) {
        let name = if name.is_empty() { "(anonymous)".to_owned() } else { name };
        let parent = match vm.get_prototype_of(function).ok().and_then(Value::as_object) {
            Some(parent) => function_name(vm, parent),
            None => "null".into(),
        };
        let extends = if parent.is_empty() { String::new() } else { format!(" extends {parent}") };
        return styles.paint(Style::Special, &format!("[class {name}{extends}]"));
    }
    let kind = constructor_name(vm, function).unwrap_or_else(|| "Function (null prototype)".into());
    let text = if name.is_empty() { format!("[{kind} (anonymous)]") } else { format!("[{kind}: {name}]") };
    styles.paint(Style::Special, &text)
}

fn boxed_text(vm: &mut Vm, object: Object, styles: Styles) -> String {
    let value = object.slot(0);
    let kind = format!("{:?}", object.kind());
    let inner = super::primitive::primitive(vm, value, Styles::Plain, 0);
    styles.paint(if value.is_string() { Style::String } else { Style::Number }, &format!("[{kind}: {inner}]"))
}

/// The stack, or, if there is none, the error in brackets.
fn error_text(vm: &mut Vm, error: Object) -> String {
    let stack = cynic_engine::preview::error_stack(vm, error);
    if let Some(stack) = stack.filter(|stack| stack.contains("\n    at")) {
        return stack;
    }
    format!("[{}]", vm.error_header(error))
}
