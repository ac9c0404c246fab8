//! Looking at values without running guest code: for completion and for inspection. What only a getter or a proxy could tell is not told.

use cynic_engine::preview;

use super::error::Result;
use super::handle::Handle;
use super::realm::Realm;

impl Realm<'_> {
    /// The names of global bindings and of the global object's properties.
    pub fn global_names(&mut self) -> Vec<String> {
        preview::global_names(self.vm)
    }

    /// The value of a global, if that can be told.
    pub fn peek_global(&mut self, name: &str) -> Option<Handle> {
        preview::peek_global(self.vm, name).map(|value| self.handle(value))
    }

    /// The value of a property, its own or inherited, if that can be told.
    pub fn peek_property(&mut self, of: &Handle, name: &str) -> Result<Option<Handle>> {
        let of = of.value_in(self.vm)?;
        Ok(preview::peek_property(self.vm, of, name).map(|value| self.handle(value)))
    }

    /// The names of a value's properties, its own and inherited.
    pub fn property_names(&mut self, of: &Handle) -> Result<Vec<String>> {
        let of = of.value_in(self.vm)?;
        Ok(preview::property_names(self.vm, of))
    }
}
