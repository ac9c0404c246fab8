//! Structured clone: a value as plain Rust data that may cross isolates and threads, and back.
//! <https://html.spec.whatwg.org/multipage/structured-data.html>
//!
//! Cloned are primitives, plain objects and arrays, wrappers, Date, RegExp, Map, Set, errors, ArrayBuffers and typed arrays,
//! with shared references and cycles kept. Functions, symbols, proxies, weak collections and objects of the host are
//! refused with a TypeError that says DataCloneError.
//! Invariant: a [`Cloned`] holds no pointer into any heap, so it is `Send`.

use std::collections::HashMap;

use num_bigint::BigInt as Integer;

use crate::atoms;
use crate::builtins::date::date_value;
use crate::builtins::ordered_table::{HashedKey, OrderedTable};
use crate::gc::{ExternalCharge, RootedVec};
use crate::limits;
use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind, flags};
use crate::property_key::PropertyKey;
use crate::realm::Intrinsic;
use crate::string::{JsStr, StrView};
use crate::value::Value;
use crate::vm::{Abrupt, JsResult, Vm};

/// A cloned value.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloned {
    nodes: Vec<Node>,
    root: Item,
}

/// The units of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    Latin1(Box<[u8]>),
    Utf16(Box<[u16]>),
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    BigInt(Integer),
    /// A hole of an array never gets here; an object is a position in `nodes`.
    Node(usize),
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    /// Being filled (an object that refers to itself).
    Pending,
    Object(Vec<(Text, Item)>),
    Array {
        length: u32,
        entries: Vec<(Text, Item)>,
    },
    Wrapper(Item),
    Date(f64),
    RegExp {
        source: Text,
        flags: Text,
    },
    Map(Vec<(Item, Item)>),
    Set(Vec<Item>),
    Error {
        name: Text,
        message: Option<Text>,
        stack: Option<Text>,
    },
    Buffer(Vec<u8>),
    View {
        constructor: Text,
        bytes: Vec<u8>,
    },
}

impl Text {
    fn of(vm: &mut Vm, s: JsStr) -> Text {
        match s.view(vm) {
            StrView::Latin1(u) => Text::Latin1(u.into()),
            StrView::Utf16(u) => Text::Utf16(u.into()),
        }
    }

    fn to_string(&self, vm: &mut Vm) -> JsStr {
        match self {
            Text::Latin1(u) => vm.new_string_latin1(u),
            Text::Utf16(u) => vm.new_string_utf16(u),
        }
    }
}

/// The native errors, which are cloned as what they are.
const ERRORS: [(&str, Intrinsic); 7] = [
    ("Error", Intrinsic::ErrorPrototype),
    ("EvalError", Intrinsic::EvalErrorPrototype),
    ("RangeError", Intrinsic::RangeErrorPrototype),
    ("ReferenceError", Intrinsic::ReferenceErrorPrototype),
    ("SyntaxError", Intrinsic::SyntaxErrorPrototype),
    ("TypeError", Intrinsic::TypeErrorPrototype),
    ("URIError", Intrinsic::URIErrorPrototype),
];

/// Bytes that an object of the copy takes by itself, with the note that it has been seen.
const NODE_BYTES: usize = size_of::<Node>() + 4 * size_of::<u64>();

/// StructuredSerialize (2.7.3).
struct Serializer {
    nodes: Vec<Node>,
    seen: HashMap<u64, usize>,
    /// What has been seen stays alive, so that addresses stay unique.
    roots: RootedVec,
    /// Bytes of the copy so far.
    bytes: usize,
    /// For these, in steps.
    charge: ExternalCharge,
}

impl Vm {
    /// The value as plain data. Runs getters; throws what they throw, or a TypeError for what cannot be cloned.
    pub fn structured_serialize(&mut self, v: Value) -> JsResult<Cloned> {
        self.serialize_charged(v).map(|(cloned, _)| cloned)
    }

    /// The same with the charge for it, because a text or a buffer is copied as often as it occurs.
    fn serialize_charged(&mut self, v: Value) -> JsResult<(Cloned, ExternalCharge)> {
        let mut s = Serializer {
            nodes: Vec::new(),
            seen: HashMap::new(),
            roots: self.scratch(),
            bytes: 0,
            charge: ExternalCharge::default(),
        };
        let root = s.item(self, v)?;
        Ok((Cloned { nodes: s.nodes, root }, s.charge))
    }

    /// The data as a value of the current realm.
    pub fn structured_deserialize(&mut self, cloned: &Cloned) -> JsResult<Value> {
        let mut made = self.scratch();
        // Containers first, so that cycles can refer to them.
        for node in &cloned.nodes {
            self.poll()?;
            let v = self.make_node(node)?;
            made.push(v);
        }
        for (i, node) in cloned.nodes.iter().enumerate() {
            self.poll()?;
            if let Some(o) = made[i].as_object() {
                self.fill_node(o, node, &made)?;
            }
        }
        Ok(self.make_item(&cloned.root, &made))
    }

    fn make_item(&mut self, item: &Item, made: &[Value]) -> Value {
        match item {
            Item::Undefined => Value::UNDEFINED,
            Item::Null => Value::NULL,
            Item::Bool(b) => Value::bool(*b),
            Item::Number(n) => Value::number(*n),
            Item::Text(t) => Value::string(t.to_string(self)),
            Item::BigInt(i) => Value::bigint(self.new_bigint(i.clone())),
            Item::Node(i) => made.get(*i).copied().unwrap_or(Value::UNDEFINED),
        }
    }

    fn make_node(&mut self, node: &Node) -> JsResult<Value> {
        let o = match node {
            Node::Pending | Node::Object(_) => self.new_object(),
            Node::Array { length, .. } => self.array_create(f64::from(*length), None)?,
            Node::Wrapper(item) => {
                let v = self.make_item(item, &[]);
                self.to_object(v)?
            }
            Node::Date(t) => {
                let constructor = self.intrinsic(Intrinsic::Date);
                self.construct(constructor, &[Value::number(*t)], constructor)?
            }
            Node::RegExp { source, flags } => {
                let (source, flags) = (source.to_string(self), flags.to_string(self));
                let constructor = self.intrinsic(Intrinsic::RegExp);
                self.construct(constructor, &[Value::string(source), Value::string(flags)], constructor)?
            }
            Node::Map(_) => {
                let prototype = Value::object(self.intrinsic(Intrinsic::MapPrototype));
                self.new_map(prototype)
            }
            Node::Set(_) => self.new_set(),
            Node::Error { name, message, stack } => self.make_error(name, message.as_ref(), stack.as_ref()),
            Node::Buffer(bytes) => self.make_buffer(bytes)?,
            Node::View { constructor, bytes } => self.make_view(constructor, bytes)?,
        };
        Ok(Value::object(o))
    }

    fn make_error(&mut self, name: &Text, message: Option<&Text>, stack: Option<&Text>) -> Object {
        let name = name.to_string(self).to_rust_string();
        let which =
            ERRORS.iter().find(|(n, _)| *n == name).map_or(Intrinsic::ErrorPrototype, |(_, which)| *which);
        let error = match message {
            Some(m) => {
                let m = m.to_string(self);
                self.new_error_with(which, m)
            }
            None => {
                let prototype = Value::object(self.intrinsic(which));
                self.new_error_object(prototype)
            }
        };
        if let Some(stack) = stack {
            let stack = stack.to_string(self);
            error.set_slot(0, Value::string(stack));
        }
        error
    }

    fn make_buffer(&mut self, bytes: &[u8]) -> JsResult<Object> {
        let view = self.new_uint8_array(bytes)?;
        match self.get(view, atoms::BUFFER)?.as_object() {
            Some(buffer) => Ok(buffer),
            None => Err(self.throw_type_error("a typed array without a buffer")),
        }
    }

    fn make_view(&mut self, constructor: &Text, bytes: &[u8]) -> JsResult<Object> {
        let buffer = self.make_buffer(bytes)?;
        let name = constructor.to_string(self);
        let key = self.key_from_string(name);
        let global = self.global_object();
        match self.get(global, key)?.as_object().filter(|c| c.is_constructor()) {
            Some(c) => self.construct(c, &[Value::object(buffer)], c),
            None => Err(self.throw_type_error("DataCloneError: no such typed array")),
        }
    }

    fn fill_node(&mut self, o: Object, node: &Node, made: &[Value]) -> JsResult<()> {
        match node {
            Node::Object(entries) | Node::Array { entries, .. } => {
                for (key, item) in entries {
                    self.poll()?;
                    let v = self.make_item(item, made);
                    let name = key.to_string(self);
                    let key = self.key_from_string(name);
                    self.create_data_property_or_throw(o, key, v)?;
                }
            }
            Node::Map(entries) => {
                for (k, v) in entries {
                    let (k, v) = (self.make_item(k, made), self.make_item(v, made));
                    self.add_to_table(o, k, v)?;
                }
            }
            Node::Set(items) => {
                for k in items {
                    let k = self.make_item(k, made);
                    self.add_to_table(o, k, k)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds an entry to a Map, or a value to a Set.
    pub fn add_to_table(&mut self, o: Object, k: Value, v: Value) -> JsResult<()> {
        self.poll()?;
        let Some(table) = o.data::<OrderedTable>(0) else { return Ok(()) };
        let key = HashedKey::new(self, k)?;
        self.table_insert(table, key, v)
    }
}

impl Serializer {
    /// Counts `bytes` that are about to be copied; they may be too many for the heap.
    fn count(&mut self, vm: &mut Vm, bytes: usize) -> JsResult<()> {
        self.bytes += bytes;
        if self.bytes - self.charge.bytes() < limits::CLONE_STEP_BYTES {
            return Ok(());
        }
        vm.recharge_external(&self.charge, self.bytes)
    }

    fn text(&mut self, vm: &mut Vm, s: JsStr) -> JsResult<Text> {
        self.count(vm, if s.is_latin1() { s.len() } else { s.len() * 2 })?;
        Ok(Text::of(vm, s))
    }

    /// The bytes that a buffer or a view shows.
    fn bytes(&mut self, vm: &mut Vm, v: Value) -> JsResult<Vec<u8>> {
        self.count(vm, vm.byte_length_of(v).unwrap_or_default())?;
        match vm.bytes_of(v) {
            Some(bytes) => Ok(bytes),
            None => Err(refuse(vm, v)),
        }
    }

    fn item(&mut self, vm: &mut Vm, v: Value) -> JsResult<Item> {
        if let Some(o) = v.as_object() {
            return self.object(vm, o).map(Item::Node);
        }
        self.count(vm, size_of::<Item>())?;
        if let Some(s) = v.as_string() {
            return self.text(vm, s).map(Item::Text);
        }
        if let Some(n) = v.as_number() {
            return Ok(Item::Number(n));
        }
        if let Some(b) = v.as_bigint() {
            self.count(vm, (b.value().bits() / 8) as usize)?;
            return Ok(Item::BigInt(b.value().clone()));
        }
        match v {
            Value::UNDEFINED => Ok(Item::Undefined),
            Value::NULL => Ok(Item::Null),
            Value::TRUE => Ok(Item::Bool(true)),
            Value::FALSE => Ok(Item::Bool(false)),
            _ => Err(refuse(vm, v)),
        }
    }

    fn object(&mut self, vm: &mut Vm, o: Object) -> JsResult<usize> {
        let v = Value::object(o);
        if let Some(&at) = self.seen.get(&v.to_bits()) {
            return Ok(at);
        }
        vm.check_native_stack()?;
        vm.poll()?;
        self.count(vm, size_of::<Item>() + NODE_BYTES)?;
        let at = self.nodes.len();
        self.nodes.push(Node::Pending);
        self.seen.insert(v.to_bits(), at);
        self.roots.push(v);
        let node = self.node(vm, o)?;
        self.nodes[at] = node;
        Ok(at)
    }

    fn node(&mut self, vm: &mut Vm, o: Object) -> JsResult<Node> {
        let v = Value::object(o);
        Ok(match o.kind() {
            ObjectKind::Array => {
                let length = o.array_length();
                Node::Array { length, entries: self.entries(vm, o)? }
            }
            ObjectKind::Boolean | ObjectKind::Number | ObjectKind::String | ObjectKind::BigInt => {
                Node::Wrapper(self.item(vm, o.slot(0))?)
            }
            ObjectKind::Date => Node::Date(date_value(o).unwrap_or(f64::NAN)),
            ObjectKind::RegExp => {
                let (source, flags) = (vm.get(o, atoms::SOURCE)?, vm.get(o, atoms::FLAGS)?);
                let (source, flags) = (vm.to_string(source)?, vm.to_string(flags)?);
                Node::RegExp { source: self.text(vm, source)?, flags: self.text(vm, flags)? }
            }
            ObjectKind::Map => Node::Map(self.table(vm, o)?),
            ObjectKind::Set => Node::Set(self.table(vm, o)?.into_iter().map(|(k, _)| k).collect()),
            ObjectKind::Error => self.error(vm, o)?,
            ObjectKind::ArrayBuffer => Node::Buffer(self.bytes(vm, v)?),
            ObjectKind::TypedArray => self.view(vm, o)?,
            ObjectKind::Ordinary | ObjectKind::Arguments
                if !o.is_callable() && !o.has_flag(flags::EXOTIC) =>
            {
                Node::Object(self.entries(vm, o)?)
            }
            _ => return Err(refuse(vm, v)),
        })
    }

    /// The enumerable string-keyed properties.
    fn entries(&mut self, vm: &mut Vm, o: Object) -> JsResult<Vec<(Text, Item)>> {
        let keys = vm.own_property_keys(o)?;
        let mut entries = Vec::with_capacity(keys.len());
        for &key in keys.iter().filter(|k| !k.is_symbol()) {
            vm.poll()?;
            let Some(p) = vm.get_own_property(o, key)? else { continue };
            if !p.is_enumerable() {
                continue;
            }
            let v = vm.get(o, key)?;
            let name = self.key_text(vm, key)?;
            entries.push((name, self.item(vm, v)?));
        }
        Ok(entries)
    }

    fn table(&mut self, vm: &mut Vm, o: Object) -> JsResult<Vec<(Item, Item)>> {
        let Some(table) = o.data::<OrderedTable>(0) else { return Ok(Vec::new()) };
        // A copy first: getters of the entries could change the table.
        let mut copy = vm.scratch();
        let position = table.begin_iteration();
        while let Some((k, v)) = table.next(&position) {
            copy.push(k);
            copy.push(v);
        }
        let mut entries = Vec::with_capacity(copy.len() / 2);
        for pair in copy.chunks_exact(2) {
            vm.poll()?;
            entries.push((self.item(vm, pair[0])?, self.item(vm, pair[1])?));
        }
        Ok(entries)
    }

    fn error(&mut self, vm: &mut Vm, o: Object) -> JsResult<Node> {
        let name = vm.get(o, atoms::NAME)?;
        let name = match name {
            n if n.is_undefined() => atoms::ERROR_NAME.static_str(),
            n => vm.to_string(n)?,
        };
        let message = match vm.get_own_property(o, atoms::MESSAGE)? {
            Some(p) if p.accessor().is_none() => Some(vm.to_string(p.value)?),
            _ => None,
        };
        let stack = vm.get(o, atoms::STACK)?.as_string();
        Ok(Node::Error {
            name: self.text(vm, name)?,
            message: message.map(|m| self.text(vm, m)).transpose()?,
            stack: stack.map(|s| self.text(vm, s)).transpose()?,
        })
    }

    fn view(&mut self, vm: &mut Vm, o: Object) -> JsResult<Node> {
        let v = Value::object(o);
        let tag = vm.get(o, crate::symbol::TO_STRING_TAG)?;
        let Some(name) = tag.as_string() else { return Err(refuse(vm, v)) };
        Ok(Node::View { constructor: self.text(vm, name)?, bytes: self.bytes(vm, v)? })
    }

    fn key_text(&mut self, vm: &mut Vm, key: PropertyKey) -> JsResult<Text> {
        self.count(vm, size_of::<Text>())?;
        match key.to_value(vm).as_string() {
            Some(s) => self.text(vm, s),
            None => Ok(Text::Latin1(Box::default())),
        }
    }
}

fn refuse(vm: &mut Vm, v: Value) -> Abrupt {
    let message = format!("DataCloneError: {} could not be cloned", vm.describe(v));
    vm.throw_type_error(&message)
}

/// The global function `structuredClone(value, options)`, for hosts to install. Buffers listed in `options.transfer`
/// are detached after they have been copied.
pub fn structured_clone(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let mut transfer = vm.scratch();
    if let Some(options) = args.get(1).as_object() {
        let key = vm.key_from_str("transfer");
        let list = vm.get(options, key)?;
        if !list.is_undefined() {
            transfer = vm.iterable_to_list(list)?;
        }
    }
    if let Some(&v) = transfer.iter().find(|v| !v.as_object().is_some_and(|o| o.is(ObjectKind::ArrayBuffer)))
    {
        return Err(refuse(vm, v));
    }
    let (cloned, _charge) = vm.serialize_charged(args.get(0))?;
    for v in transfer.iter() {
        if let Some(o) = v.as_object() {
            vm.detach_array_buffer(o);
        }
    }
    vm.structured_deserialize(&cloned)
}
