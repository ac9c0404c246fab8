//! `URL`. <https://url.spec.whatwg.org/#url-class>
//!
//! Parsing and the setters' quirks are the `url` crate's. A URL and its `searchParams` refer to each other.

use std::cell::{Cell, RefCell};

use cynic_engine::gc::{ExternalCharge, Trace, Tracer};
use cynic_engine::host_objects::HostClass;
use cynic_engine::object::Object;
use cynic_engine::object::function::{CallArgs, NativeSpec};
use cynic_engine::realm::{PropertySpec, accessor, getter, method, to_string_tag};
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};
use url::{Url, quirks};

use crate::host::limits::URL_BYTES_MAX;
use crate::host::url_search_params;

/// The class URL.
pub(crate) static CLASS: HostClass = HostClass {
    constructor: NativeSpec::constructor("URL", 1, construct),
    statics: STATICS,
    prototype: PROTOTYPE,
};

static STATICS: &[PropertySpec] = &[method("canParse", 1, can_parse), method("parse", 1, parse_or_null)];

static PROTOTYPE: &[PropertySpec] = &[
    accessor("hash", |vm, args| get(vm, args, quirks::hash), |vm, args| set(vm, args, quirks::set_hash)),
    accessor("host", |vm, args| get(vm, args, quirks::host), |vm, args| try_set(vm, args, quirks::set_host)),
    accessor(
        "hostname",
        |vm, args| get(vm, args, quirks::hostname),
        |vm, args| try_set(vm, args, quirks::set_hostname),
    ),
    accessor("href", |vm, args| get(vm, args, quirks::href), set_href),
    getter("origin", |vm, args| {
        let data = this_url(vm, args)?;
        let origin = quirks::origin(&data.url.borrow());
        Ok(Value::string(vm.new_string(&origin)))
    }),
    accessor(
        "password",
        |vm, args| get(vm, args, quirks::password),
        |vm, args| try_set(vm, args, quirks::set_password),
    ),
    accessor(
        "pathname",
        |vm, args| get(vm, args, quirks::pathname),
        |vm, args| set(vm, args, quirks::set_pathname),
    ),
    accessor("port", |vm, args| get(vm, args, quirks::port), |vm, args| try_set(vm, args, quirks::set_port)),
    accessor(
        "protocol",
        |vm, args| get(vm, args, quirks::protocol),
        |vm, args| try_set(vm, args, quirks::set_protocol),
    ),
    accessor("search", |vm, args| get(vm, args, quirks::search), set_search),
    getter("searchParams", search_params),
    method("toJSON", 0, |vm, args| get(vm, args, quirks::href)),
    method("toString", 0, |vm, args| get(vm, args, quirks::href)),
    accessor(
        "username",
        |vm, args| get(vm, args, quirks::username),
        |vm, args| try_set(vm, args, quirks::set_username),
    ),
    to_string_tag("URL"),
];

/// The native side of a URL.
pub(crate) struct UrlData {
    pub(crate) url: RefCell<Url>,
    /// The `searchParams` object, once asked for.
    params: Cell<Option<Object>>,
    /// For the text of the URL.
    charge: ExternalCharge,
}

impl UrlData {
    fn new(vm: &mut Vm, url: Url) -> JsResult<Self> {
        let charge = vm.charge_external(url.as_str().len())?;
        Ok(UrlData { url: RefCell::new(url), params: Cell::new(None), charge })
    }

    /// A setter writes the whole text anew.
    fn charge_rewriting(&self, vm: &mut Vm) {
        vm.charge_bytes(self.charge.bytes());
    }

    /// To be called when the URL has changed.
    fn recharge(&self, vm: &mut Vm) -> JsResult<()> {
        let bytes = self.url.borrow().as_str().len();
        vm.recharge_external(&self.charge, bytes)
    }
}

impl Trace for UrlData {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        if let Some(params) = self.params.get() {
            tracer.cell(params);
        }
    }
}

type UrlCell = cynic_engine::gc::Gc<cynic_engine::gc::Data<UrlData>>;

fn this_url(vm: &mut Vm, args: CallArgs) -> JsResult<UrlCell> {
    vm.host_data::<UrlData>(args.this, "URL")
}

/// A text that is to be parsed. Percent-encoding makes it up to three times as long.
fn text_of(vm: &mut Vm, value: Value) -> JsResult<String> {
    let text = vm.to_string(value)?;
    if text.len() > URL_BYTES_MAX {
        return Err(vm.throw_type_error("Invalid URL: it is too long"));
    }
    let text = vm.to_rust_string(Value::string(text))?;
    // Parsing looks at each byte several times.
    vm.charge_bytes(text.len().saturating_mul(4));
    vm.check_heap_room(text.len().saturating_mul(3))?;
    Ok(text)
}

/// The URL that the first two arguments stand for.
fn from_arguments(vm: &mut Vm, args: CallArgs) -> JsResult<Result<Url, String>> {
    let text = text_of(vm, args.get(0))?;
    if args.get(1).is_undefined() {
        return Ok(Url::parse(&text).map_err(|_| text));
    }
    let base = text_of(vm, args.get(1))?;
    Ok(Url::parse(&base).and_then(|base| base.join(&text)).map_err(|_| text))
}

fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    match from_arguments(vm, args)? {
        Ok(url) => {
            let data = UrlData::new(vm, url)?;
            Ok(Value::object(vm.new_host_instance(args, data)?))
        }
        Err(_) => Err(vm.throw_type_error("Invalid URL")),
    }
}

fn can_parse(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    Ok(Value::bool(from_arguments(vm, args)?.is_ok()))
}

fn parse_or_null(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Ok(url) = from_arguments(vm, args)? else { return Ok(Value::NULL) };
    let prototype = match args.this.as_object() {
        Some(class) => vm.get(class, cynic_engine::atoms::PROTOTYPE)?,
        None => Value::NULL,
    };
    let data = UrlData::new(vm, url)?;
    Ok(Value::object(vm.new_host_object(prototype, data)))
}

fn get(vm: &mut Vm, args: CallArgs, part: fn(&Url) -> &str) -> JsResult<Value> {
    let data = this_url(vm, args)?;
    let text = part(&data.url.borrow()).to_owned();
    Ok(Value::string(vm.new_string(&text)))
}

fn set(vm: &mut Vm, args: CallArgs, change: fn(&mut Url, &str)) -> JsResult<Value> {
    let data = this_url(vm, args)?;
    let text = text_of(vm, args.get(0))?;
    data.charge_rewriting(vm);
    change(&mut data.url.borrow_mut(), &text);
    data.recharge(vm)?;
    Ok(Value::UNDEFINED)
}

/// A setter that leaves the URL as it is when the value does not fit.
fn try_set(vm: &mut Vm, args: CallArgs, change: fn(&mut Url, &str) -> Result<(), ()>) -> JsResult<Value> {
    let data = this_url(vm, args)?;
    let text = text_of(vm, args.get(0))?;
    data.charge_rewriting(vm);
    let _ignored = change(&mut data.url.borrow_mut(), &text);
    data.recharge(vm)?;
    Ok(Value::UNDEFINED)
}

fn set_href(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let data = this_url(vm, args)?;
    let text = text_of(vm, args.get(0))?;
    let Ok(url) = Url::parse(&text) else { return Err(vm.throw_type_error("Invalid URL")) };
    data.url.replace(url);
    data.recharge(vm)?;
    reload_params(vm, &data)?;
    Ok(Value::UNDEFINED)
}

fn set_search(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    set(vm, args, quirks::set_search)?;
    let data = this_url(vm, args)?;
    reload_params(vm, &data)?;
    Ok(Value::UNDEFINED)
}

/// Makes the parameters object follow a changed query.
fn reload_params(vm: &mut Vm, data: &UrlData) -> JsResult<()> {
    match data.params.get() {
        Some(params) => url_search_params::reload(vm, params, data.url.borrow().query().unwrap_or_default()),
        None => Ok(()),
    }
}

fn search_params(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let data = this_url(vm, args)?;
    if let Some(params) = data.params.get() {
        return Ok(Value::object(params));
    }
    let query = data.url.borrow().query().unwrap_or_default().to_owned();
    let params = url_search_params::for_url(vm, args.this, &query)?;
    data.params.set(Some(params));
    data.write_barrier();
    Ok(Value::object(params))
}

/// Replaces the query of the URL that a parameters object belongs to.
pub(crate) fn set_query(vm: &mut Vm, owner: Object, query: &str) -> JsResult<()> {
    let Some(data) = owner.data::<UrlData>(0) else { return Ok(()) };
    data.charge_rewriting(vm);
    data.url.borrow_mut().set_query((!query.is_empty()).then_some(query));
    data.recharge(vm)
}
