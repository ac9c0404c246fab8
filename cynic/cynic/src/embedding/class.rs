//! Classes of the host's: instances hold a Rust value, which methods get by a checked handle.
//!
//! Invariants: references to a native value never point into the heap, because a host may keep them longer than the isolate: the cell has a counted
//! reference. The native value is found by its Rust type, so that a method called on anything else is a TypeError. It may hold [`Handle`]s, which
//! are roots of their own; it cannot hold what the collector would have to trace, because nothing of that kind is public.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;

use cynic_engine::atoms;
use cynic_engine::gc::{Trace, Tracer};
use cynic_engine::object::ObjectKind;
use cynic_engine::object::function::{CallArgs, NativeSpec};
use cynic_engine::shape::{Lock, attrs};
use cynic_engine::value::Value;
use cynic_engine::vm::{JsResult, Vm};

use super::convert::{FromJs, IntoJs, mismatch};
use super::error::Result;
use super::function::{self, HostFunction};
use super::handle::Handle;
use super::realm::Realm;

/// The cell's content.
struct Content<T>(Rc<RefCell<T>>);

impl<T: 'static> Trace for Content<T> {
    const BARRIERED: bool = true;
    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}

/// What a class's constructor gives: the native value of the new instance.
pub struct Instance<T>(pub T);

impl<T: 'static> IntoJs for Instance<T> {
    /// An instance whose prototype is null until the constructor has returned it.
    fn into_js(self, realm: &mut Realm<'_>) -> Result<Handle> {
        let object = realm.vm.new_host_object(Value::NULL, Content(Rc::new(RefCell::new(self.0))));
        Ok(realm.handle(Value::object(object)))
    }
}

/// An instance of a class, with its native value. As the first parameter of a method it is the receiver.
///
/// The value is in a [`RefCell`]: a method that calls back into JavaScript lets go of its borrow first, because guests may call the
/// method again.
pub struct Native<T: 'static> {
    handle: Handle,
    content: Rc<RefCell<T>>,
}

impl<T> Native<T> {
    /// The instance as a value.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl<T> Deref for Native<T> {
    type Target = RefCell<T>;
    fn deref(&self) -> &RefCell<T> {
        &self.content
    }
}

impl<T: 'static> FromJs for Native<T> {
    fn from_js(handle: &Handle, realm: &mut Realm<'_>) -> Result<Self> {
        let value = handle.value_in(realm.vm)?;
        let object = value.as_object().filter(|object| object.is(ObjectKind::Host));
        match object.and_then(|object| object.data::<Content<T>>(0)) {
            Some(content) => Ok(Native { handle: handle.clone(), content: Rc::clone(&content.0) }),
            None => Err(mismatch("an instance of the class", realm, value).into()),
        }
    }
}

/// A class of the host's, to which methods are added before guests see it.
pub struct Class<T> {
    constructor: Handle,
    prototype: Handle,
    instances: PhantomData<fn() -> T>,
}

impl<T: 'static> Class<T> {
    /// The constructor.
    pub fn constructor(&self) -> &Handle {
        &self.constructor
    }

    /// The object that instances inherit from.
    pub fn prototype(&self) -> &Handle {
        &self.prototype
    }

    /// Adds a method; its first parameter is the receiver ([`Native`]).
    pub fn method<S, F: HostFunction<S>>(&self, realm: &mut Realm<'_>, name: &str, method: F) -> Result<()> {
        let method = function::make_method(realm, name, method);
        let prototype = realm.object(&self.prototype)?;
        let key = realm.vm.key_from_str(name);
        realm.vm.add_keyed_property(prototype, key, method, attrs::METHOD);
        Ok(())
    }

    /// Makes the constructor a global, and freezes the class in hardened mode.
    pub fn define(&self, realm: &mut Realm<'_>, name: &str) -> Result<()> {
        let prototype = realm.object(&self.prototype)?;
        let constructor = realm.object(&self.constructor)?;
        if realm.vm.options.hardened {
            realm.vm.ordinary_lock(prototype, Lock::Freeze);
            realm.vm.ordinary_lock(constructor, Lock::Freeze);
        }
        realm.define_global(name, self.constructor.clone())
    }
}

static CONSTRUCTOR: NativeSpec = NativeSpec::constructor("", 0, construct);

fn construct(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let Some(target) = args.new_target.as_object() else {
        return Err(vm.throw_type_error("a class must be called with new"));
    };
    let made = function::enter(vm, args)?;
    let prototype = match vm.get(target, atoms::PROTOTYPE)? {
        prototype if prototype.is_object() => prototype,
        _ => vm.get(args.callee, atoms::PROTOTYPE)?,
    };
    if let Some(object) = made.as_object() {
        vm.ordinary_set_prototype_of(object, prototype);
    }
    Ok(made)
}

/// A class whose instances hold what `make` gives in an [`Instance`].
pub(super) fn class<T: 'static, S, F: HostFunction<S>>(
    realm: &mut Realm<'_>,
    name: &str,
    make: F,
) -> Class<T> {
    let constructor = function::make_from(realm, &CONSTRUCTOR, name, make);
    let vm = &mut *realm.vm;
    let prototype = vm.new_object();
    if let Some(object) = constructor.as_object() {
        vm.add_keyed_property(prototype, atoms::CONSTRUCTOR, constructor, attrs::METHOD);
        vm.add_keyed_property(object, atoms::PROTOTYPE, Value::object(prototype), 0);
    }
    Class {
        constructor: realm.handle(constructor),
        prototype: realm.handle(Value::object(prototype)),
        instances: PhantomData,
    }
}
