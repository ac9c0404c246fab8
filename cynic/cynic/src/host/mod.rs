//! What guests find on the global object besides the language: `print`, `console`, timers, `queueMicrotask`,
//! `structuredClone`, `TextEncoder` and `TextDecoder`, `URL` and `URLSearchParams`, `atob` and `btoa`, `performance`, `crypto`, `self`,
//! events, aborting and message channels.
//!
//! Owns these and how values are shown ([`inspect`]). Touches nothing outside: texts go to the [`Sink`] that the embedder gives,
//! time comes from the isolate's clock, and the embedder drives the timers ([`timers::next_due`], [`timers::run_due`]).

mod base64;
pub mod console;
mod crypto;
mod events;
pub mod inspect;
pub mod limits;
mod microtask;
mod performance;
mod state;
mod text_encoding;
pub mod timers;
mod url;
mod url_search_params;

use cynic_engine::realm::{PropertySpec, ValueSpec, data};
use cynic_engine::shape::attrs;
use cynic_engine::value::Value;
use cynic_engine::vm::Vm;

use crate::{Isolate, Realm};

pub use self::state::{Sink, Stream};

/// Installs everything on the global object of an isolate's first realm. Call it before guest code runs.
pub fn install(isolate: &mut Isolate, sink: Box<dyn Sink>, styles: inspect::Styles) {
    state::attach(isolate.vm(), sink, styles);
    install_globals(&mut isolate.realm());
}

/// Installs the globals in a further realm of an isolate that has been given its sink.
pub fn install_globals(realm: &mut Realm<'_>) {
    realm.vm.install_globals(GLOBALS);
    realm.vm.install_globals(events::ROWS);
}

const fn lazy(name: &'static str, make: fn(&mut Vm) -> Value) -> PropertySpec {
    data(name, ValueSpec::Constant(make), attrs::METHOD)
}

static GLOBALS: &[PropertySpec] = &[
    lazy("TextDecoder", |vm| Value::object(vm.new_host_class(&text_encoding::DECODER))),
    lazy("TextEncoder", |vm| Value::object(vm.new_host_class(&text_encoding::ENCODER))),
    lazy("URL", |vm| Value::object(vm.new_host_class(&url::CLASS))),
    lazy("URLSearchParams", |vm| Value::object(vm.new_host_class(&url_search_params::CLASS))),
    cynic_engine::realm::method("atob", 1, base64::atob),
    cynic_engine::realm::method("btoa", 1, base64::btoa),
    cynic_engine::realm::method("clearInterval", 1, timers::clear),
    cynic_engine::realm::method("clearTimeout", 1, timers::clear),
    lazy("console", |vm| Value::object(vm.new_host_namespace(console::METHODS))),
    lazy("crypto", |vm| Value::object(vm.new_host_namespace(crypto::ROWS))),
    lazy("performance", |vm| Value::object(vm.new_host_namespace(performance::ROWS))),
    cynic_engine::realm::method("print", 1, console::print),
    cynic_engine::realm::method("queueMicrotask", 1, microtask::queue_microtask),
    // Bundles made for browsers and workers look for their global object under this name.
    lazy("self", |vm| Value::object(vm.global_object())),
    cynic_engine::realm::method("setInterval", 2, timers::set_interval),
    cynic_engine::realm::method("setTimeout", 2, timers::set_timeout),
    cynic_engine::realm::method("structuredClone", 1, cynic_engine::structured_clone::structured_clone),
];
