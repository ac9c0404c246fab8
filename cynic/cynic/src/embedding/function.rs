//! Host functions: Rust closures that guests call, with typed parameters and results.

use super::convert::{FromJs, IntoJs};
use super::error::{Error, Result};
use super::handle::Handle;
use super::realm::Realm;
use cynic_engine::gc::{Trace, Tracer, data_of};
use cynic_engine::object::function::{CallArgs, NativeSpec};
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};

/// All arguments of a call, for a host function that takes any number: its only parameter.
pub struct Rest<T>(pub Vec<T>);

/// A Rust function that guests can call. Implemented for closures of up to five parameters that are [`FromJs`] (or one [`Rest`]) with a
/// result that is [`IntoJs`], which a `Result` is too. A first parameter `&mut Realm<'_>` lets the closure call back.
pub trait HostFunction<Signature>: 'static {
    /// The `length` property.
    const LENGTH: u32;
    /// Converts, calls, converts.
    fn invoke(&self, realm: &mut Realm<'_>, arguments: &[Handle]) -> Result<Handle>;
}

fn argument<T: FromJs>(realm: &mut Realm<'_>, arguments: &[Handle], index: usize) -> Result<T> {
    match arguments.get(index) {
        Some(argument) => T::from_js(argument, realm),
        None => {
            let missing = realm.handle(Value::UNDEFINED);
            T::from_js(&missing, realm)
        }
    }
}

/// Marks the signatures whose first parameter is the realm.
pub struct WithRealm;

macro_rules! host_functions {
    ($($length:literal: $($parameter:ident $index:literal),*;)*) => { $(
        impl<F, R, $($parameter),*> HostFunction<($($parameter,)*)> for F
        where
            F: Fn($($parameter),*) -> R + 'static,
            R: IntoJs,
            $($parameter: FromJs,)*
        {
            const LENGTH: u32 = $length;
            #[allow(unused_variables)]
            fn invoke(&self, realm: &mut Realm<'_>, arguments: &[Handle]) -> Result<Handle> {
                let result = self($(argument::<$parameter>(realm, arguments, $index)?),*);
                result.into_js(realm)
            }
        }

        impl<F, R, $($parameter),*> HostFunction<(WithRealm, $($parameter,)*)> for F
        where
            F: Fn(&mut Realm<'_>, $($parameter),*) -> R + 'static,
            R: IntoJs,
            $($parameter: FromJs,)*
        {
            const LENGTH: u32 = $length;
            #[allow(unused_variables, non_snake_case)]
            fn invoke(&self, realm: &mut Realm<'_>, arguments: &[Handle]) -> Result<Handle> {
                $(let $parameter = argument::<$parameter>(realm, arguments, $index)?;)*
                let result = self(realm, $($parameter),*);
                result.into_js(realm)
            }
        }
    )* };
}

host_functions! {
    0: ;
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
}

/// Marks the signatures that take every argument.
pub struct WithRest;

impl<F, R, T> HostFunction<(WithRest, T)> for F
where
    F: Fn(&mut Realm<'_>, Rest<T>) -> R + 'static,
    R: IntoJs,
    T: FromJs,
{
    const LENGTH: u32 = 0;
    fn invoke(&self, realm: &mut Realm<'_>, arguments: &[Handle]) -> Result<Handle> {
        let all = arguments.iter().map(|argument| T::from_js(argument, realm)).collect::<Result<_>>()?;
        self(realm, Rest(all)).into_js(realm)
    }
}

type Invoke = dyn Fn(&mut Realm<'_>, &[Handle]) -> Result<Handle>;

/// The closure behind a native function. What it captures is Rust's: handles in it are roots of their own.
struct Closure(Box<Invoke>);

impl Trace for Closure {
    const BARRIERED: bool = true;
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

static SPEC: NativeSpec = NativeSpec::new("", 0, enter);
static METHOD: NativeSpec = NativeSpec::new("", 0, enter_method);

/// Calls the closure of a native function that [`make_from`] made.
pub(super) fn enter(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let arguments = args.as_slice().iter().map(|&value| Handle::new(vm, value)).collect();
    invoke(vm, args, arguments)
}

/// The same; the receiver is the first argument.
fn enter_method(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let receiver = std::iter::once(&args.this);
    let arguments = receiver.chain(args.as_slice()).map(|&value| Handle::new(vm, value)).collect();
    invoke(vm, args, arguments)
}

fn invoke(vm: &mut Vm, args: CallArgs, arguments: Vec<Handle>) -> JsResult<Value> {
    let Some(closure) = data_of::<Closure>(args.captured(0)) else { return Ok(Value::UNDEFINED) };
    vm.check_native_stack()?;
    let result = (closure.0)(&mut Realm { vm: &mut *vm }, &arguments)
        .and_then(|handle| handle.value_in(vm).map_err(Error::from));
    result.map_err(|error| error.into_abrupt(vm))
}

/// A function object for a closure; in hardened mode it is frozen.
pub(super) fn make<S, F: HostFunction<S>>(realm: &mut Realm<'_>, name: &str, function: F) -> Value {
    let function = make_from(realm, &SPEC, name, function);
    freeze(realm, function)
}

/// The same for a method: the closure's first parameter is the receiver.
pub(super) fn make_method<S, F: HostFunction<S>>(realm: &mut Realm<'_>, name: &str, method: F) -> Value {
    let method = make_from(realm, &METHOD, name, method);
    freeze(realm, method)
}

fn freeze(realm: &mut Realm<'_>, function: Value) -> Value {
    if let Some(object) = function.as_object().filter(|_| realm.vm.options.hardened) {
        realm.vm.ordinary_lock(object, cynic_engine::shape::Lock::Freeze);
    }
    function
}

/// A function object for a closure, that may still be changed. `spec` says how it is entered.
pub(super) fn make_from<S, F: HostFunction<S>>(
    realm: &mut Realm<'_>,
    spec: &'static NativeSpec,
    name: &str,
    function: F,
) -> Value {
    let invoke = move |realm: &mut Realm<'_>, arguments: &[Handle]| function.invoke(realm, arguments);
    let vm = &mut *realm.vm;
    let closure = Value::cell(vm.alloc_data(Closure(Box::new(invoke))));
    let name = vm.new_string(name);
    let length = F::LENGTH.saturating_sub(u32::from(std::ptr::eq(spec, &METHOD)));
    Value::object(vm.new_native_function_named(spec, name, length, &[closure]))
}
