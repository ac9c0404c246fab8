//! `harden(value)`: freezes everything reachable from a value, transitively.
//! (Hardened JavaScript; there is no section of ECMA-262 for it.)
//!
//! What is reached: own properties' values, getters and setters, and prototypes. The walk uses a work list (depth does not
//! matter) and a set of what has been seen (cycles do not matter). It is a transaction as far as that is possible:
//! first everything is collected, then everything is frozen; a proxy's traps run, and may throw, in either phase.
//! Objects that are hardened already are not walked again (flag `HARDENED`).

use std::collections::HashSet;

use crate::object::function::CallArgs;
use crate::object::{Object, ObjectKind, flags};
use crate::shape::{Lock, attrs};
use crate::value::Value;
use crate::vm::{JsResult, Vm};

/// The global function.
pub(super) fn harden(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    vm.harden(args.get(0))?;
    Ok(args.get(0))
}

impl Vm {
    /// Hardens everything reachable from `root`.
    pub fn harden(&mut self, root: Value) -> JsResult<()> {
        let mut found = self.scratch();
        let mut seen: HashSet<u64> = HashSet::new();
        note(&mut found, &mut seen, root);
        let mut next = 0;
        while next < found.len() {
            self.poll()?;
            if let Some(o) = found[next].as_object() {
                self.collect_reachable(o, &mut found, &mut seen)?;
            }
            next += 1;
        }
        for i in 0..found.len() {
            self.poll()?;
            if let Some(o) = found[i].as_object() {
                self.freeze_one(o)?;
            }
        }
        for v in found.iter() {
            if let Some(o) = v.as_object()
                && !o.has_flag(flags::EXOTIC)
            {
                o.set_flag(flags::HARDENED);
            }
        }
        Ok(())
    }

    fn collect_reachable(
        &mut self,
        o: Object,
        found: &mut crate::gc::RootedVec,
        seen: &mut HashSet<u64>,
    ) -> JsResult<()> {
        let prototype = self.get_prototype_of(o)?;
        note(found, seen, prototype);
        if o.has_flag(flags::EXOTIC) {
            let keys = self.own_property_keys(o)?;
            for &key in keys.iter() {
                self.poll()?;
                if let Some(p) = self.get_own_property(o, key)? {
                    note_property(found, seen, p.value, p.attrs);
                }
            }
            return Ok(());
        }
        for i in 0..o.elements().len() {
            note(found, seen, o.element(i));
        }
        // OPTIMIZATION: equals [[OwnPropertyKeys]] and [[GetOwnProperty]] of an ordinary object. Rows of const tables that
        // were never read are left alone: what they become is frozen as it is made (or on demand, below).
        for (key, info) in o.shape().properties() {
            if key.is_private() {
                continue;
            }
            let value = o.slot(info.slot);
            if value.is_static_ptr() {
                if !self.options.hardened
                    && let Some(p) = self.ordinary_get_own_property(o, key)
                {
                    note_property(found, seen, p.value, p.attrs);
                }
                continue;
            }
            note_property(found, seen, value, info.attrs);
        }
        Ok(())
    }

    fn freeze_one(&mut self, o: Object) -> JsResult<()> {
        // Elements of typed arrays cannot be frozen; like the shim, lock everything else about them.
        if o.is(ObjectKind::TypedArray) {
            return self.seal_typed_array(o);
        }
        if !self.set_integrity_level(o, Lock::Freeze)? {
            return Err(self.throw_type_error("harden: an object refused to be frozen"));
        }
        Ok(())
    }

    fn seal_typed_array(&mut self, o: Object) -> JsResult<()> {
        self.prevent_extensions(o)?;
        let keys = self.own_property_keys(o)?;
        for &key in keys.iter().filter(|k| !k.is_index()) {
            let desc = crate::object::PropertyDescriptor {
                configurable: Some(false),
                writable: self.get_own_property(o, key)?.filter(|p| p.accessor().is_none()).map(|_| false),
                ..Default::default()
            };
            self.define_property_or_throw(o, key, &desc)?;
        }
        Ok(())
    }
}

fn note(found: &mut crate::gc::RootedVec, seen: &mut HashSet<u64>, v: Value) {
    if let Some(o) = v.as_object()
        && !o.has_flag(flags::HARDENED)
        && seen.insert(v.to_bits())
    {
        found.push(v);
    }
}

fn note_property(found: &mut crate::gc::RootedVec, seen: &mut HashSet<u64>, value: Value, attributes: u8) {
    if attributes & attrs::ACCESSOR == 0 {
        note(found, seen, value);
    } else if let Some(a) = value.as_accessor() {
        note(found, seen, a.getter());
        note(found, seen, a.setter());
    }
}
