//! `URLSearchParams`. <https://url.spec.whatwg.org/#interface-urlsearchparams>
//!
//! A list of pairs. One that belongs to a URL writes every change back to its query.

use std::cell::RefCell;

use cynic_engine::gc::{Data, ExternalCharge, Gc, Trace, Tracer};
use cynic_engine::host_objects::HostClass;
use cynic_engine::object::Object;
use cynic_engine::object::function::{CallArgs, NativeSpec};
use cynic_engine::realm::{PropertySpec, getter, method, symbol_method, to_string_tag};
use cynic_engine::symbol;
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};
use url::form_urlencoded;

/// The class URLSearchParams.
pub(crate) static CLASS: HostClass = HostClass {
    constructor: NativeSpec::constructor("URLSearchParams", 0, construct),
    statics: &[],
    prototype: PROTOTYPE,
};

static PROTOTYPE: &[PropertySpec] = &[
    method("append", 2, append),
    method("delete", 1, delete),
    method("entries", 0, entries),
    method("forEach", 1, for_each),
    method("get", 1, get),
    method("getAll", 1, get_all),
    method("has", 1, has),
    method("keys", 0, |vm, args| iterate(vm, args, Part::Name)),
    method("set", 2, set),
    getter("size", |vm, args| {
        let params = unmetered_params(vm, args)?;
        let count = params.pairs.borrow().len();
        Ok(Value::number(count as f64))
    }),
    method("sort", 0, sort),
    method("toString", 0, to_string),
    method("values", 0, |vm, args| iterate(vm, args, Part::Value)),
    symbol_method(symbol::ITERATOR, "entries", 0, entries),
    to_string_tag("URLSearchParams"),
];

type Pair = (String, String);

/// Pairs that are sorted in one go.
const SORTED_AT_ONCE: usize = 4096;

struct Params {
    pairs: RefCell<Vec<Pair>>,
    /// For the pairs.
    charge: ExternalCharge,
    /// The URL object, or undefined.
    owner: Value,
}

impl Trace for Params {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.value(self.owner);
    }
}

/// The parameters, for a method that looks at all of them, which is charged.
fn this_params(vm: &mut Vm, args: CallArgs) -> JsResult<Gc<Data<Params>>> {
    let params = unmetered_params(vm, args)?;
    vm.charge_bytes(params.charge.bytes());
    Ok(params)
}

/// The parameters, for a method that looks at one, or charges for what it looks at.
fn unmetered_params(vm: &mut Vm, args: CallArgs) -> JsResult<Gc<Data<Params>>> {
    vm.host_data::<Params>(args.this, "URLSearchParams")
}

/// What a pair counts for against the heap's limit.
fn pair_bytes((name, value): &Pair) -> usize {
    size_of::<Pair>() + name.len() + value.len()
}

fn parse_query(vm: &mut Vm, query: &str) -> JsResult<Vec<Pair>> {
    let pairs = query.bytes().filter(|byte| *byte == b'&').count() + 1;
    vm.check_heap_room(pairs * size_of::<Pair>() + query.len())?;
    let mut list = Vec::with_capacity(pairs);
    for part in query.split('&') {
        vm.poll_bytes(part.len() * 4)?;
        list.extend(form_urlencoded::parse(part.as_bytes()).into_owned());
    }
    Ok(list)
}

impl Params {
    fn new(vm: &mut Vm, pairs: Vec<Pair>, owner: Value) -> JsResult<Self> {
        let charge = vm.charge_external(pairs.iter().map(pair_bytes).sum())?;
        Ok(Params { pairs: RefCell::new(pairs), charge, owner })
    }

    /// The pairs as a query.
    fn serialize(&self, vm: &mut Vm) -> JsResult<String> {
        // Percent-encoding makes a text up to three times as long.
        vm.check_heap_room(self.charge.bytes().saturating_mul(3))?;
        let mut out = form_urlencoded::Serializer::new(String::new());
        for pair in &*self.pairs.borrow() {
            vm.poll_bytes(pair_bytes(pair))?;
            out.append_pair(&pair.0, &pair.1);
        }
        Ok(out.finish())
    }

    /// To be called when the pairs have come to count for `bytes`: writes them to the URL they belong to.
    fn changed(&self, vm: &mut Vm, bytes: usize) -> JsResult<Value> {
        vm.recharge_external(&self.charge, bytes)?;
        if let Some(owner) = self.owner.as_object() {
            let query = self.serialize(vm)?;
            crate::host::url::set_query(vm, owner, &query)?;
        }
        Ok(Value::UNDEFINED)
    }

    fn counted_bytes(&self) -> usize {
        self.pairs.borrow().iter().map(pair_bytes).sum()
    }
}

/// The parameters of a URL object.
pub(crate) fn for_url(vm: &mut Vm, owner: Value, query: &str) -> JsResult<Object> {
    let global = vm.global_object();
    let key = vm.key_from_str("URLSearchParams");
    let class = vm.get(global, key)?;
    let prototype = match class.as_object() {
        Some(class) => vm.get(class, cynic_engine::atoms::PROTOTYPE)?,
        None => Value::NULL,
    };
    let pairs = parse_query(vm, query)?;
    let params = Params::new(vm, pairs, owner)?;
    Ok(vm.new_host_object(prototype, params))
}

/// Replaces the pairs after the URL's query has changed.
pub(crate) fn reload(vm: &mut Vm, params: Object, query: &str) -> JsResult<()> {
    let Some(params) = params.data::<Params>(0) else { return Ok(()) };
    let pairs = parse_query(vm, query)?;
    params.pairs.replace(pairs);
    vm.recharge_external(&params.charge, params.counted_bytes())
}

fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let pairs = initial_pairs(vm, args.get(0))?;
    let params = Params::new(vm, pairs, Value::UNDEFINED)?;
    Ok(Value::object(vm.new_host_instance(args, params)?))
}

fn initial_pairs(vm: &mut Vm, init: Value) -> JsResult<Vec<Pair>> {
    let Some(object) = init.as_object() else {
        if init.is_undefined() {
            return Ok(Vec::new());
        }
        let text = vm.to_rust_string(init)?;
        return parse_query(vm, text.strip_prefix('?').unwrap_or(&text));
    };
    if vm.get_method(init, symbol::ITERATOR)?.is_undefined() {
        return pairs_of_record(vm, object);
    }
    let mut pairs = Pairs::default();
    let items = vm.iterable_to_list(init)?;
    for &item in items.iter() {
        let pair = vm.iterable_to_list(item)?;
        let [name, value] = pair[..] else {
            return Err(vm.throw_type_error("Each query pair must be an iterable [name, value] tuple"));
        };
        let pair = (vm.to_rust_string(name)?, vm.to_rust_string(value)?);
        pairs.push(vm, pair)?;
    }
    Ok(pairs.list)
}

/// Pairs that are being collected, counted before they are charged.
#[derive(Default)]
struct Pairs {
    list: Vec<Pair>,
    bytes: usize,
}

impl Pairs {
    fn push(&mut self, vm: &mut Vm, pair: Pair) -> JsResult<()> {
        self.bytes += pair_bytes(&pair);
        vm.check_heap_room(self.bytes)?;
        self.list.push(pair);
        Ok(())
    }
}

fn pairs_of_record(vm: &mut Vm, record: Object) -> JsResult<Vec<Pair>> {
    let mut pairs = Pairs::default();
    let keys = vm.own_property_keys(record)?;
    for &key in keys.iter() {
        let enumerable = vm.get_own_property(record, key)?.is_some_and(|property| property.is_enumerable());
        if enumerable && !key.is_symbol() {
            let value = vm.get(record, key)?;
            let pair = (key.to_display(), vm.to_rust_string(value)?);
            pairs.push(vm, pair)?;
        }
    }
    Ok(pairs.list)
}

fn append(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = unmetered_params(vm, args)?;
    let pair = (vm.to_rust_string(args.get(0))?, vm.to_rust_string(args.get(1))?);
    let bytes = params.charge.bytes() + pair_bytes(&pair);
    params.pairs.borrow_mut().push(pair);
    params.changed(vm, bytes)
}

/// The name, and the value if one is given.
fn selector(vm: &mut Vm, args: CallArgs) -> JsResult<(String, Option<String>)> {
    let name = vm.to_rust_string(args.get(0))?;
    let value = args.get(1);
    let value = if value.is_undefined() { None } else { Some(vm.to_rust_string(value)?) };
    Ok((name, value))
}

fn selects(selector: &(String, Option<String>), pair: &Pair) -> bool {
    selector.0 == pair.0 && selector.1.as_ref().is_none_or(|value| *value == pair.1)
}

fn delete(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    let selector = selector(vm, args)?;
    params.pairs.borrow_mut().retain(|pair| !selects(&selector, pair));
    params.changed(vm, params.counted_bytes())
}

fn has(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    let selector = selector(vm, args)?;
    let found = params.pairs.borrow().iter().any(|pair| selects(&selector, pair));
    Ok(Value::bool(found))
}

fn get(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    let name = vm.to_rust_string(args.get(0))?;
    let found = params.pairs.borrow().iter().find(|pair| pair.0 == name).map(|pair| pair.1.clone());
    Ok(found.map_or(Value::NULL, |value| Value::string(vm.new_string(&value))))
}

fn get_all(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    let name = vm.to_rust_string(args.get(0))?;
    let found: Vec<String> =
        params.pairs.borrow().iter().filter(|pair| pair.0 == name).map(|pair| pair.1.clone()).collect();
    let mut values = vm.scratch();
    for value in found {
        vm.poll()?;
        values.push(Value::string(vm.new_string(&value)));
    }
    Ok(Value::object(vm.new_array_from(&values)?))
}

fn set(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    let name = vm.to_rust_string(args.get(0))?;
    let value = vm.to_rust_string(args.get(1))?;
    let mut pairs = params.pairs.borrow_mut();
    match pairs.iter().position(|pair| pair.0 == name) {
        Some(first) => {
            pairs[first].1 = value;
            let mut index = 0;
            pairs.retain(|pair| {
                index += 1;
                index - 1 <= first || pair.0 != name
            });
        }
        None => pairs.push((name, value)),
    }
    drop(pairs);
    params.changed(vm, params.counted_bytes())
}

fn sort(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    let mut pairs = std::mem::take(&mut *params.pairs.borrow_mut());
    let sorted = sort_pairs(vm, &mut pairs);
    params.pairs.replace(pairs);
    sorted?;
    params.changed(vm, params.counted_bytes())
}

/// Sorts stably by name, a bounded part of the list between two looks at the limits.
fn sort_pairs(vm: &mut Vm, pairs: &mut [Pair]) -> JsResult<()> {
    let bytes: usize = pairs.iter().map(pair_bytes).sum();
    if pairs.len() > SORTED_AT_ONCE {
        let (left, right) = pairs.split_at_mut(pairs.len() / 2);
        sort_pairs(vm, left)?;
        sort_pairs(vm, right)?;
    }
    vm.poll_bytes(bytes * 4)?;
    // A merge, when both halves are sorted.
    pairs.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    Ok(())
}

fn to_string(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    let text = params.serialize(vm)?;
    Ok(Value::string(vm.new_string(&text)))
}

fn for_each(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let params = unmetered_params(vm, args)?;
    let mut index = 0;
    loop {
        let pair = params.pairs.borrow().get(index).cloned();
        let Some((name, value)) = pair else { return Ok(Value::UNDEFINED) };
        let name = Value::string(vm.new_string(&name));
        let value = Value::string(vm.new_string(&value));
        vm.call(args.get(0), args.get(1), &[value, name, args.this])?;
        index += 1;
    }
}

#[derive(Clone, Copy)]
enum Part {
    Name,
    Value,
    Both,
}

fn entries(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    iterate(vm, args, Part::Both)
}

/// An iterator over the pairs as they are now.
fn iterate(vm: &mut Vm, args: CallArgs, part: Part) -> JsResult<Value> {
    let params = this_params(vm, args)?;
    vm.check_heap_room(params.charge.bytes().saturating_mul(2))?;
    let pairs = params.pairs.borrow().clone();
    let mut values = vm.scratch();
    for (name, value) in pairs {
        vm.poll()?;
        let item = match part {
            Part::Name => Value::string(vm.new_string(&name)),
            Part::Value => Value::string(vm.new_string(&value)),
            Part::Both => {
                let name = Value::string(vm.new_string(&name));
                let value = Value::string(vm.new_string(&value));
                Value::object(vm.new_array_from(&[name, value])?)
            }
        };
        values.push(item);
    }
    let array = vm.new_array_from(&values)?;
    vm.invoke(Value::object(array), symbol::ITERATOR, &[])
}
