//! Promises that the host makes, looks at and settles.

use std::cell::Cell;
use std::rc::Rc;

use super::convert::IntoJs;
use super::error::Result;
use super::handle::Handle;
use super::realm::Realm;
use cynic_engine::builtins::promise;
use cynic_engine::object::Object;

/// What has become of a promise.
#[derive(Clone, Debug)]
pub enum PromiseState {
    /// Not settled.
    Pending,
    /// Settled with a value.
    Fulfilled(Handle),
    /// Settled with a reason.
    Rejected(Handle),
}

/// The host's side of a promise. Reactions are jobs: [`super::Isolate::run_jobs`] runs them.
#[derive(Clone, Debug)]
pub struct Resolver {
    pub(super) promise: Handle,
    pub(super) is_used: Rc<Cell<bool>>,
}

impl Resolver {
    /// The promise, the first time.
    fn take(&self, realm: &Realm<'_>) -> Result<Option<Object>> {
        let promise = self.promise.value_in(realm.vm)?;
        Ok(if self.is_used.replace(true) { None } else { promise.as_object() })
    }

    /// Resolves the promise; nothing happens if it was resolved or rejected before.
    pub fn resolve(&self, realm: &mut Realm<'_>, value: impl IntoJs) -> Result<()> {
        let value = value.into_js(realm)?.value_in(realm.vm)?;
        if let Some(object) = self.take(realm)? {
            let resolved = promise::resolve_promise(realm.vm, object, value);
            realm.check(resolved)?;
        }
        Ok(())
    }

    /// Rejects the promise; nothing happens if it was resolved or rejected before.
    pub fn reject(&self, realm: &mut Realm<'_>, reason: impl IntoJs) -> Result<()> {
        let reason = reason.into_js(realm)?.value_in(realm.vm)?;
        if let Some(object) = self.take(realm)? {
            promise::reject_promise(realm.vm, object, reason);
        }
        Ok(())
    }
}
