//! Scopes at run time and access to variables, wherever they live.

use super::scope::{BindingKind, FUNCTION_NAME, NEW_TARGET_NAME, ScopeKind, node_key};
use super::{ActiveScope, Generator, Reg, Result, Unsupported};
use crate::bytecode::code::{EvalSite, EvalStorage, EvalVariable};
use crate::bytecode::{CodeKind, Op};

/// Locals beyond this many registers go to a heap scope, so that expressions keep room.
const LOCAL_REGISTERS_MAX: usize = 160;

/// Scopes that an instruction can go up.
const HOPS_MAX: u32 = 255;

/// Where a variable lives, seen from the current function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Register(Reg),
    /// `slot` of the scope `hops` above the scope in register `scope`.
    Slot {
        scope: Reg,
        hops: u32,
        slot: u32,
    },
    /// The same, with a module cell in the slot.
    Cell {
        scope: Reg,
        hops: u32,
        slot: u32,
    },
    Global,
}

/// A resolved variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub(super) storage: Storage,
    pub(super) kind: BindingKind,
    /// Reads need the check whatever the analysis says (variables seen through eval).
    pub(super) always_check: bool,
}

impl<'a> Generator<'a> {
    pub(super) fn depth(&self) -> u32 {
        self.outer.len() as u32
    }

    /// Loads the captured scope if the function reads its surroundings.
    pub(super) fn load_env(&mut self, function: u32) -> Result {
        if self.analysis.functions[function as usize].needs_env {
            self.env_register()?;
        }
        Ok(())
    }

    pub(super) fn env_register(&mut self) -> Result<Reg> {
        if let Some(env) = self.f.env {
            return Ok(env);
        }
        let env = self.alloc()?;
        self.op(Op::GetEnv, env, 0, 0);
        self.f.env = Some(env);
        Ok(env)
    }

    /// The register of the innermost heap scope of this function, or of the captured scope. Without either there is
    /// nothing to see, and `undefined` stands for it.
    pub(super) fn current_scope(&mut self) -> Result<Reg> {
        let depth = self.depth();
        let own = self.scopes.iter().rev().take_while(|scope| scope.depth == depth);
        if let Some(register) = own.filter_map(|scope| scope.register).next() {
            return Ok(register);
        }
        if let Some(env) = self.f.env {
            return Ok(env);
        }
        let none = self.alloc()?;
        self.op(Op::LoadUndefined, none, 0, 0);
        Ok(none)
    }

    /// Enters a scope: its heap record is made, its locals get registers and markers.
    pub(super) fn enter_scope(&mut self, index: u32) -> Result {
        self.enter_scope_with(index, None)
    }

    /// Enters a scope whose heap record exists already in `record`.
    pub(super) fn enter_scope_with(&mut self, index: u32, record: Option<Reg>) -> Result {
        self.spill_excess_locals(index);
        let is_heap = self.analysis.scope(index).is_heap;
        let mut register = record;
        if is_heap && record.is_none() {
            let parent = self.current_scope()?;
            let made = self.alloc()?;
            let slots = self.analysis.scope(index).bindings.iter().filter(|b| b.captured).count() as u32;
            self.op_x(Op::NewScope, made, parent, 0, slots);
            register = Some(made);
        }
        let mut locals = Vec::new();
        for at in 0..self.analysis.scope(index).bindings.len() {
            let binding = &self.analysis.scope(index).bindings[at];
            let (captured, marker) = (binding.captured, binding.needs_marker);
            let is_this = binding.kind == BindingKind::This;
            let in_place = if marker { None } else { self.f.parameter_registers.get(binding.name).copied() };
            let in_place = in_place.filter(|_| binding.kind == BindingKind::Parameter);
            let local = match in_place {
                _ if captured || is_this => 0,
                Some(register) => register,
                None => self.alloc()?,
            };
            if marker && !captured && !is_this {
                self.op(Op::LoadEmpty, local, 0, 0);
            }
            locals.push(local);
        }
        self.scopes.push(ActiveScope { index, depth: self.depth(), register, locals });
        Ok(())
    }

    fn spill_excess_locals(&mut self, index: u32) {
        // Such a function keeps them where it keeps registers.
        if self.f.asm.spills() {
            return;
        }
        let base = usize::from(self.f.next_register);
        let scope = &mut self.analysis.scopes[index as usize];
        let mut slot = scope.bindings.iter().filter(|binding| binding.captured).count();
        let mut used = base;
        for binding in &mut scope.bindings {
            if binding.captured {
                continue;
            }
            used += 1;
            if used > LOCAL_REGISTERS_MAX && binding.kind != BindingKind::This {
                binding.captured = true;
                binding.slot = slot as u32;
                slot += 1;
                scope.is_heap = true;
            }
        }
    }

    /// Leaves the innermost scope; the caller frees the registers.
    pub(super) fn leave_scope(&mut self) {
        self.scopes.pop();
    }

    /// Finds the variable `name`.
    pub(super) fn resolve(&mut self, name: &str) -> Result<Variable> {
        let variable = self.find(name)?;
        match variable.storage {
            Storage::Slot { hops, .. } | Storage::Cell { hops, .. } if hops > HOPS_MAX => {
                let message = "a variable is used more than 255 scopes further in than it is declared";
                let offset = self.f.asm.last_position().unwrap_or(self.f.span.0);
                Err(Unsupported { message, offset })
            }
            _ => Ok(variable),
        }
    }

    fn find(&mut self, name: &str) -> Result<Variable> {
        let depth = self.depth();
        let mut hops = 0;
        for active in self.scopes.iter().rev() {
            let scope = self.analysis.scope(active.index);
            let is_own = active.depth == depth;
            if let Some(&at) = scope.names.get(name) {
                let binding = &scope.bindings[at as usize];
                let kind = binding.kind;
                let is_cell = binding.exported && scope.kind == ScopeKind::Module;
                let slot = binding.slot;
                let captured = binding.captured;
                let own = active.register.filter(|_| is_own);
                let local = active.locals.get(at as usize).copied().unwrap_or(0);
                let storage = if !captured {
                    Storage::Register(local)
                } else {
                    let (scope, hops) = match own {
                        Some(register) => (register, 0),
                        None => (self.env_register()?, hops),
                    };
                    if is_cell {
                        Storage::Cell { scope, hops, slot }
                    } else {
                        Storage::Slot { scope, hops, slot }
                    }
                };
                return Ok(Variable { storage, kind, always_check: false });
            }
            if scope.is_heap && !is_own {
                hops += 1;
            }
        }
        self.resolve_in_eval_site(name, hops)
    }

    fn resolve_in_eval_site(&mut self, name: &str, hops: u32) -> Result<Variable> {
        let sites = self.eval_site.as_ref().map_or(&[][..], |site| &site.scopes);
        let found = sites.iter().enumerate().find_map(|(distance, variables)| {
            variables
                .iter()
                .find(|variable| *variable.name == *name)
                .map(|variable| (distance, variable.clone()))
        });
        if let Some((distance, variable)) = found {
            let scope = self.env_register()?;
            let (hops, slot) = (hops + distance as u32, variable.slot);
            let storage = match variable.storage {
                EvalStorage::Slot => Storage::Slot { scope, hops, slot },
                EvalStorage::Cell => Storage::Cell { scope, hops, slot },
            };
            let kind = match (&*variable.name, variable.is_const) {
                ("this", _) => BindingKind::This,
                (_, true) => BindingKind::Const,
                (_, false) => BindingKind::Let,
            };
            return Ok(Variable { storage, kind, always_check: variable.needs_tdz });
        }
        Ok(Variable { storage: Storage::Global, kind: BindingKind::Var, always_check: false })
    }

    /// What direct eval here can see.
    pub(super) fn eval_site(&self) -> EvalSite {
        let depth_zero_site = self.eval_site.clone().unwrap_or_default();
        let mut site = EvalSite { scopes: Vec::new(), ..EvalSite::default() };
        let mut function = None;
        for active in self.scopes.iter().rev() {
            let scope = self.analysis.scope(active.index);
            let info = &self.analysis.functions[scope.function as usize];
            let is_real = scope.kind == ScopeKind::Function && !info.is_arrow;
            if is_real && function.is_none() {
                function = Some(scope.function);
                site.in_function = true;
                site.in_method = info.is_method;
                site.in_derived_constructor = info.is_derived_constructor;
                site.in_field_initializer = info.is_field_initializer;
            }
            if !scope.is_heap {
                continue;
            }
            let variables = scope.bindings.iter().filter(|binding| binding.captured);
            site.scopes.push(variables.map(|b| eval_variable(b, scope.kind)).collect());
        }
        if function.is_none() {
            site.in_function = depth_zero_site.in_function;
            site.in_method = depth_zero_site.in_method;
            site.in_derived_constructor = depth_zero_site.in_derived_constructor;
            site.in_field_initializer = depth_zero_site.in_field_initializer;
        }
        site.scopes.extend(depth_zero_site.scopes);
        site
    }

    /// Reads a variable into `dst`, or returns the register it is in.
    pub(super) fn load_variable(
        &mut self,
        name: &str,
        variable: Variable,
        dst: Option<Reg>,
        check: bool,
    ) -> Result<Reg> {
        if let Storage::Register(register) = variable.storage {
            if check {
                self.check_initialized(register, variable.kind, name);
            }
            return Ok(match dst {
                Some(dst) => {
                    self.mov(dst, register);
                    dst
                }
                None => register,
            });
        }
        let dst = match dst {
            Some(dst) => dst,
            None => self.alloc()?,
        };
        match variable.storage {
            Storage::Global => {
                let ic = self.f.ic(name);
                self.op_x(Op::GetGlobal, dst, 0, 0, ic);
            }
            storage => {
                self.load_storage(dst, storage);
                if check || variable.always_check {
                    self.check_initialized(dst, variable.kind, name);
                }
            }
        }
        Ok(dst)
    }

    fn check_initialized(&mut self, register: Reg, kind: BindingKind, name: &str) {
        if kind == BindingKind::This {
            self.op(Op::CheckThis, register, 0, 0);
        } else {
            let name = self.f.string(name);
            self.op_x(Op::CheckTdz, register, 0, 0, name);
        }
    }

    fn load_storage(&mut self, dst: Reg, storage: Storage) {
        match storage {
            Storage::Register(register) => self.mov(dst, register),
            Storage::Slot { scope, hops: 0, slot } if slot < 256 => {
                self.op(Op::GetSlot, dst, scope, slot as Reg)
            }
            Storage::Slot { scope, hops, slot } => self.op_x(Op::GetSlotUp, dst, scope, hops as Reg, slot),
            Storage::Cell { scope, hops, slot } => self.op_x(Op::GetCell, dst, scope, hops as Reg, slot),
            Storage::Global => {}
        }
    }

    pub(super) fn store_storage(&mut self, storage: Storage, value: Reg) {
        match storage {
            Storage::Register(register) => self.mov(register, value),
            Storage::Slot { scope, hops: 0, slot } if slot < 256 => {
                self.op(Op::SetSlot, value, scope, slot as Reg)
            }
            Storage::Slot { scope, hops, slot } => self.op_x(Op::SetSlotUp, value, scope, hops as Reg, slot),
            Storage::Cell { scope, hops, slot } => self.op_x(Op::SetCell, value, scope, hops as Reg, slot),
            Storage::Global => {}
        }
    }

    /// Reads the variable that the reference node `site` names.
    pub(super) fn load_name<T>(&mut self, name: &str, site: &T, dst: Option<Reg>) -> Result<Reg> {
        let variable = self.resolve(name)?;
        let check = self.analysis.checked.contains(&node_key(site));
        self.load_variable(name, variable, dst, check)
    }

    /// Reads a binding the compiler itself made.
    pub(super) fn load_hidden(&mut self, name: &str, dst: Option<Reg>) -> Result<Reg> {
        let variable = self.resolve(name)?;
        self.load_variable(name, variable, dst, false)
    }

    /// Initialises the binding `name` (declarations: no checks, constants allowed).
    pub(super) fn initialize_name(&mut self, name: &str, value: Reg) -> Result {
        let variable = self.resolve(name)?;
        if variable.storage == Storage::Global {
            let ic = self.f.ic(name);
            self.op_x(Op::InitGlobal, value, 0, 0, ic);
        } else {
            self.store_storage(variable.storage, value);
        }
        Ok(())
    }

    /// Assigns to the variable that the reference node `site` names.
    pub(super) fn assign_name<T>(&mut self, name: &str, site: &T, value: Reg) -> Result {
        let variable = self.resolve(name)?;
        if variable.storage == Storage::Global {
            let ic = self.f.ic(name);
            self.op_x(Op::SetGlobal, value, 0, 0, ic);
            return Ok(());
        }
        let check = self.analysis.checked.contains(&node_key(site)) || variable.always_check;
        if check {
            let mark = self.mark();
            self.load_variable(name, variable, None, true)?;
            self.free(mark);
        }
        if variable.kind.is_const() {
            let name = self.f.string(name);
            self.op_x(Op::ThrowConst, 0, 0, 0, name);
        } else {
            self.store_storage(variable.storage, value);
        }
        Ok(())
    }

    /// The register of a local that may be written directly: not captured, not constant, no check needed.
    pub(super) fn plain_local<T>(&mut self, name: &str, site: &T) -> Result<Option<Reg>> {
        if self.analysis.checked.contains(&node_key(site)) {
            return Ok(None);
        }
        let variable = self.resolve(name)?;
        Ok(match variable.storage {
            Storage::Register(register) if !variable.kind.is_const() && register != 0 => Some(register),
            _ => None,
        })
    }

    /// Reads `this`.
    pub(super) fn load_this<T>(&mut self, site: &T, dst: Option<Reg>) -> Result<Reg> {
        let variable = self.resolve("this")?;
        if variable.storage == Storage::Global {
            return self.load_hidden("globalThis", dst);
        }
        // `this` of a function that is no derived constructor never changes: register 0 keeps it.
        let is_own = match variable.storage {
            Storage::Slot { hops: 0, scope, .. } => self.f.env != Some(scope),
            Storage::Register(_) => true,
            _ => false,
        };
        if is_own && self.f.kind != CodeKind::DerivedConstructor {
            return self.move_to(0, dst);
        }
        let check = self.analysis.checked.contains(&node_key(site)) || variable.always_check;
        self.load_variable("this", variable, dst, check)
    }

    pub(super) fn move_to(&mut self, register: Reg, dst: Option<Reg>) -> Result<Reg> {
        Ok(match dst {
            Some(dst) => {
                self.mov(dst, register);
                dst
            }
            None => register,
        })
    }

    /// Fills the bindings `this`, `new.target`, the running function and `arguments` of a function scope.
    pub(super) fn pseudo_bindings(&mut self, index: u32) -> Result {
        for at in 0..self.analysis.scope(index).bindings.len() {
            let binding = &self.analysis.scope(index).bindings[at];
            let (kind, captured, name) = (binding.kind, binding.captured, binding.name);
            let op = match kind {
                BindingKind::This if captured && self.f.kind != CodeKind::DerivedConstructor => {
                    let variable = self.resolve(name)?;
                    self.store_storage(variable.storage, 0);
                    continue;
                }
                BindingKind::NewTarget => Op::GetNewTarget,
                BindingKind::ActiveFunction => Op::GetFunction,
                BindingKind::Arguments => {
                    self.f.needs_arguments = true;
                    Op::CreateArguments
                }
                _ => continue,
            };
            let variable = self.resolve(name)?;
            let mark = self.mark();
            let register = match variable.storage {
                Storage::Register(register) => register,
                _ => self.alloc()?,
            };
            self.op(op, register, 0, 0);
            self.store_storage(variable.storage, register);
            self.free(mark);
        }
        Ok(())
    }

    /// `var` bindings start as undefined, or as the parameter of the same name (`parameters` is its scope).
    pub(super) fn init_vars(&mut self, index: u32, parameters: Option<u32>) -> Result {
        for at in 0..self.analysis.scope(index).bindings.len() {
            let binding = &self.analysis.scope(index).bindings[at];
            if binding.kind != BindingKind::Var {
                continue;
            }
            let name = binding.name;
            let variable = self.resolve(name)?;
            let mark = self.mark();
            let inherited = parameters.filter(|scope| self.analysis.scope(*scope).names.contains_key(name));
            let value = match (inherited, variable.storage) {
                (Some(_), _) => self.load_outer_parameter(name)?,
                (None, Storage::Register(register)) => {
                    self.op(Op::LoadUndefined, register, 0, 0);
                    register
                }
                (None, _) => {
                    let value = self.alloc()?;
                    self.op(Op::LoadUndefined, value, 0, 0);
                    value
                }
            };
            self.store_storage(variable.storage, value);
            self.free(mark);
        }
        Ok(())
    }

    /// Reads `name` as the scope around the innermost one has it.
    fn load_outer_parameter(&mut self, name: &str) -> Result<Reg> {
        let inner = self.scopes.pop();
        let variable = self.resolve(name);
        let result = variable.and_then(|variable| self.load_variable(name, variable, None, false));
        self.scopes.extend(inner);
        result
    }

    /// Reads `new.target`.
    pub(super) fn load_new_target(&mut self, dst: Option<Reg>) -> Result<Reg> {
        let variable = self.resolve(NEW_TARGET_NAME)?;
        if variable.storage == Storage::Global {
            let dst = match dst {
                Some(dst) => dst,
                None => self.alloc()?,
            };
            self.op(Op::LoadUndefined, dst, 0, 0);
            return Ok(dst);
        }
        self.load_variable(NEW_TARGET_NAME, variable, dst, false)
    }

    /// Reads the function whose home object `super` means.
    pub(super) fn load_active_function(&mut self) -> Result<Reg> {
        self.load_hidden(FUNCTION_NAME, None)
    }
}

fn eval_variable(binding: &super::scope::Binding<'_>, scope: ScopeKind) -> EvalVariable {
    let is_cell = binding.exported && scope == ScopeKind::Module;
    EvalVariable {
        name: binding.name.into(),
        slot: binding.slot,
        storage: if is_cell { EvalStorage::Cell } else { EvalStorage::Slot },
        is_const: binding.kind.is_const(),
        needs_tdz: binding.needs_marker || binding.kind == BindingKind::Import,
    }
}
