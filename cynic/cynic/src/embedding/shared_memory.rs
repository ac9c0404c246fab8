//! The memory of SharedArrayBuffers, which isolates of other threads may share.

use std::sync::Arc;

use cynic_engine::object::buffer::SharedBlock;
use cynic_engine::value::Value;

use super::error::{HostError, Result};
use super::handle::Handle;
use super::realm::Realm;

/// Memory of a SharedArrayBuffer. It may go to other threads; its bytes are seen by guests alone.
#[derive(Clone)]
pub struct SharedMemory {
    block: Arc<SharedBlock>,
    growable: bool,
}

impl Realm<'_> {
    /// The memory of a SharedArrayBuffer; `None` for everything else.
    pub fn shared_memory(&mut self, buffer: &Handle) -> Result<Option<SharedMemory>> {
        let buffer = buffer.value_in(self.vm)?.as_object();
        let shared = buffer.and_then(|buffer| self.vm.shared_block(buffer));
        Ok(shared.map(|(block, growable)| SharedMemory { block, growable }))
    }

    /// A SharedArrayBuffer over memory that another isolate has too.
    pub fn shared_array_buffer(&mut self, memory: &SharedMemory) -> Result<Handle> {
        let made = self.vm.new_shared_array_buffer(Arc::clone(&memory.block), memory.growable);
        let buffer = self.check(made)?;
        Ok(self.handle(Value::object(buffer)))
    }

    /// Detaches an ArrayBuffer, as a transfer does.
    pub fn detach_array_buffer(&mut self, buffer: &Handle) -> Result<()> {
        let object = buffer.value_in(self.vm)?.as_object();
        match object.filter(|object| self.vm.detach_array_buffer(*object)) {
            Some(_) => Ok(()),
            None => Err(HostError::Conversion("expected an ArrayBuffer".to_owned()).into()),
        }
    }
}
