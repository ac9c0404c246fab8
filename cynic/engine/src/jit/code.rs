//! The isolate's code: its region with the shared stubs, and the memory of each function's code.
//!
//! Invariant: code belongs to its function's template and is given back when that is collected, which is when nothing can run it any more.
//! It is charged to the heap like a buffer.

#![allow(unsafe_code)]

use std::cell::RefCell;
use std::rc::Rc;

use super::region::Region;
use super::stubs::Stubs;
use super::template::Translation;
use crate::gc::ExternalCharge;
use crate::vm::Vm;
use crate::vm::interpreter::compiled::Compiled;

/// Where an isolate's code is.
pub(super) struct CodeSpace {
    region: Rc<RefCell<Region>>,
    stubs: Stubs,
}

/// The memory of one function's code.
struct CodeMemory {
    region: Rc<RefCell<Region>>,
    address: usize,
    len: usize,
    /// Released with the memory.
    _charge: ExternalCharge,
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        self.region.borrow_mut().give_back(self.address, self.len);
    }
}

impl CodeSpace {
    /// Reserves executable memory and makes the stubs. `None` where it is refused.
    pub(super) fn reserve() -> Option<CodeSpace> {
        let mut region = Region::reserve()?;
        let stubs = Stubs::make(&mut region)?;
        Some(CodeSpace { region: Rc::new(RefCell::new(region)), stubs })
    }

    /// The code that all functions share.
    pub(super) fn stubs(&self) -> &Stubs {
        &self.stubs
    }

    /// Bytes in use.
    pub(super) fn used_bytes(&self) -> usize {
        self.region.borrow().used_bytes()
    }

    /// Gives a function's code a place. `None` if there is none, or the code is not whole.
    pub(super) fn place(&self, vm: &Vm, translation: Translation) -> Option<Compiled> {
        let Translation { asm, entries, takes_objects, named, .. } = translation;
        let len = asm.code.len();
        let address = self.region.borrow_mut().take(len)?;
        let charge = ExternalCharge::default();
        charge.set_beyond_limit(&vm.heap, len + entries.len() * size_of::<u32>());
        let memory = CodeMemory { region: self.region.clone(), address, len, _charge: charge };
        let code = asm.finish(address)?;
        if !self.region.borrow_mut().write(address, &code) {
            return None;
        }
        Some(Compiled {
            base: address as *const u8,
            len,
            entries,
            takes_objects,
            named,
            resume: self.stubs.resume as *const u8,
            stub: self.stubs.enter,
            _owner: Box::new(memory),
        })
    }
}
