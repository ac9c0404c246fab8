//! The variable store: one slot per interned name, holding the binding that is visible now.
//!
//! Dynamic scope is shallow binding: a frame keeps the bindings it shadows and puts them back when it is popped.
//! In-process subshells are undone from a journal: the first change of a slot (or frame) after `mark` saves the old
//! state. Invariant: every mutable access to a slot goes through `slot_mut`, which journals. Attribute semantics
//! (readonly, integer ...) and special variables are the session's, not the store's.

use super::names::{NameId, Names, WATCHED};
use super::value::{Attributes, Value};

/// A variable as it is bound now.
#[derive(Debug, Clone, Default)]
pub struct Variable {
    /// The value.
    pub value: Value,
    /// The attributes.
    pub attributes: Attributes,
    scope: u32,
    journaled: u32,
}

impl Variable {
    /// Whether the variable exists (it may have no value).
    pub fn exists(&self) -> bool {
        self.attributes.has(Attributes::DECLARED)
    }

    /// Whether the variable has a value; an array has one when element 0 does.
    pub fn is_set(&self) -> bool {
        !matches!(self.value, Value::Unset)
    }

    /// The frame that owns the binding; 0 is the global scope.
    pub fn scope(&self) -> usize {
        self.scope as usize
    }
}

/// What a frame was pushed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// A function call: `local` binds here.
    Function,
    /// Assignments before a command.
    Temporary,
}

#[derive(Debug, Clone)]
struct Frame {
    kind: FrameKind,
    shadowed: Vec<(NameId, Variable)>,
    journaled: u32,
}

enum Undo {
    Slot(NameId, Variable),
    Frame(usize, Frame),
}

/// A point to which `Variables::restore` goes back.
#[derive(Debug)]
pub struct Mark {
    journal_len: usize,
    frames_len: usize,
    outer: u32,
    option_generation: u64,
}

/// Room for the names of a usual environment.
const ENVIRONMENT_NAMES: usize = 64;

/// The store.
#[derive(Default)]
pub struct Variables {
    /// The interned names; ids index the slots.
    pub names: Names,
    slots: Vec<Variable>,
    frames: Vec<Frame>,
    journal: Vec<Undo>,
    mark: u32,
    next_mark: u32,
    /// Changed whenever an exported binding may have changed; lets the environment block be cached.
    pub export_generation: u64,
    /// Changed whenever a watched name (`IFS`, `PATH` ...) may have changed; caches compare it.
    pub watch_generation: u64,
    /// Changed whenever OPTIND may have changed; `getopts` compares it.
    pub option_generation: u64,
}

impl Variables {
    /// A store with room for the well-known names and those of the environment.
    pub fn new() -> Self {
        let mut store = Variables::default();
        store.slots.resize_with(store.names.len() + ENVIRONMENT_NAMES, Variable::default);
        store
    }

    /// The id of `name`, with a slot.
    pub fn intern(&mut self, name: &[u8]) -> NameId {
        let id = self.names.intern(name);
        if id.index() >= self.slots.len() {
            self.slots.resize_with((id.index() + 1) * 2, Variable::default);
        }
        id
    }

    /// The variable `id`, as it is visible now.
    pub fn slot(&self, id: NameId) -> &Variable {
        &self.slots[id.index()]
    }

    /// The variable `id` for change, journaled if a subshell is active.
    pub fn slot_mut(&mut self, id: NameId) -> &mut Variable {
        let slot = &mut self.slots[id.index()];
        if slot.journaled != self.mark {
            self.journal.push(Undo::Slot(id, slot.clone()));
            slot.journaled = self.mark;
        }
        if slot.attributes.has(Attributes::EXPORT) {
            self.export_generation += 1;
        }
        if id.0 < WATCHED {
            self.watch_generation += 1;
            self.option_generation += u64::from(id == super::names::OPTIND);
        }
        slot
    }

    /// Every existing variable's id, sorted by name.
    pub fn sorted_ids(&self) -> Vec<NameId> {
        let mut ids: Vec<NameId> =
            (0..self.names.len() as u32).map(NameId).filter(|id| self.slot(*id).exists()).collect();
        ids.sort_by(|a, b| self.names.text(*a).cmp(self.names.text(*b)));
        ids
    }

    /// How many frames there are; also the scope number of the innermost one.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Opens a frame.
    pub fn push_frame(&mut self, kind: FrameKind) {
        self.frames.push(Frame { kind, shadowed: Vec::new(), journaled: self.mark });
    }

    /// Turns the innermost frame, which holds assignments before a function call, into the function's own.
    pub fn adopt_frame(&mut self) {
        let index = self.frames.len().wrapping_sub(1);
        if index < self.frames.len() {
            self.frame_mut(index).kind = FrameKind::Function;
        }
    }

    /// Closes the innermost frame; what it shadowed is visible again.
    pub fn pop_frame(&mut self) {
        let scope = self.frames.len();
        let Some(frame) = self.frames.pop() else { return };
        for (id, old) in frame.shadowed.into_iter().rev() {
            let slot = self.slot(id);
            let stays = slot.attributes.any(Attributes::STAYS.with(Attributes::STAYS_LOCAL));
            let inner = (stays && slot.scope() == scope).then(|| slot.clone());
            self.put_back(id, old);
            if let Some(inner) = inner {
                self.let_stay(id, inner);
            }
        }
    }

    /// A binding before a command that `export` and its like have named: the variable beneath becomes it.
    fn let_stay(&mut self, id: NameId, inner: Variable) {
        if inner.attributes.has(Attributes::STAYS_LOCAL)
            && let Some(function) = self.function_scope()
        {
            self.bind(id, function);
        }
        let slot = self.slot_mut(id);
        let mut attributes = slot.attributes.with(inner.attributes.without(Attributes::BINDING));
        if slot.attributes.has(Attributes::PREFIXED) {
            attributes = attributes.with(Attributes::STAYS);
        }
        slot.attributes = attributes;
        slot.value = inner.value;
        self.export_generation += 1;
    }

    /// The scope number of the innermost function, if any.
    pub fn function_scope(&self) -> Option<usize> {
        self.frames.iter().rposition(|f| f.kind == FrameKind::Function).map(|i| i + 1)
    }

    /// Whether `scope` is a temporary frame (assignments before a command).
    pub fn is_temporary(&self, scope: usize) -> bool {
        scope > 0 && self.frames.get(scope - 1).is_some_and(|f| f.kind == FrameKind::Temporary)
    }

    /// Whether `id` is bound in the frame `scope`, visibly or shadowed by an inner frame.
    pub fn is_bound_in(&self, id: NameId, scope: usize) -> bool {
        self.slot(id).scope() == scope
            || self.frames.iter().any(|f| f.shadowed.iter().any(|(i, v)| *i == id && v.scope() == scope))
    }

    /// Gives `id` a fresh binding in the frame `scope` and returns what it shadows. A second call for the same frame
    /// leaves the binding as it is and returns `None`.
    pub fn bind(&mut self, id: NameId, scope: usize) -> Option<Variable> {
        debug_assert!(scope >= 1 && scope <= self.frames.len());
        if self.slot(id).scope() >= scope {
            return None;
        }
        let old = std::mem::take(self.slot_mut(id));
        let frame = self.frame_mut(scope - 1);
        frame.shadowed.push((id, old.clone()));
        let mark = self.mark;
        let slot = &mut self.slots[id.index()];
        *slot = Variable { scope: scope as u32, journaled: mark, ..Variable::default() };
        Some(old)
    }

    /// Removes the visible binding of `id`. One that belongs to an outer frame uncovers what it shadowed; one of the
    /// function `keep_scope` stays as an unset local.
    pub fn unset(&mut self, id: NameId, keep_scope: Option<usize>) {
        let scope = self.slot(id).scope();
        let temporary = self.slot(id).attributes.has(Attributes::TEMPORARY);
        if scope == 0 || !temporary && keep_scope.is_some_and(|keep| scope >= keep) {
            let slot = self.slot_mut(id);
            slot.value = Value::Unset;
            slot.attributes = Attributes::NONE;
            return;
        }
        self.slot_mut(id);
        let frame = self.frame_mut(scope - 1);
        let at = frame.shadowed.iter().rposition(|(i, _)| *i == id);
        let old = at.map(|at| frame.shadowed.remove(at).1).unwrap_or_default();
        self.put_back(id, old);
    }

    /// The binding of `id` in the global scope.
    pub fn global(&self, id: NameId) -> &Variable {
        self.outermost(id).map_or_else(|| self.slot(id), |(f, at)| &self.frames[f].shadowed[at].1)
    }

    /// The binding of `id` in the global scope, for change.
    pub fn global_mut(&mut self, id: NameId) -> &mut Variable {
        self.export_generation += 1;
        match self.outermost(id) {
            Some((f, at)) => &mut self.frame_mut(f).shadowed[at].1,
            None => self.slot_mut(id),
        }
    }

    fn outermost(&self, id: NameId) -> Option<(usize, usize)> {
        self.frames
            .iter()
            .enumerate()
            .find_map(|(f, frame)| frame.shadowed.iter().position(|(i, _)| *i == id).map(|at| (f, at)))
    }

    fn frame_mut(&mut self, index: usize) -> &mut Frame {
        if self.frames[index].journaled != self.mark {
            self.journal.push(Undo::Frame(index, self.frames[index].clone()));
            self.frames[index].journaled = self.mark;
        }
        &mut self.frames[index]
    }

    fn put_back(&mut self, id: NameId, old: Variable) {
        let slot = self.slot_mut(id);
        let journaled = slot.journaled;
        *slot = old;
        slot.journaled = journaled;
        if slot.attributes.has(Attributes::EXPORT) {
            self.export_generation += 1;
        }
    }

    /// Starts recording changes for an in-process subshell.
    pub fn mark(&mut self) -> Mark {
        let outer = self.mark;
        self.next_mark += 1;
        self.mark = self.next_mark;
        Mark {
            journal_len: self.journal.len(),
            frames_len: self.frames.len(),
            outer,
            option_generation: self.option_generation,
        }
    }

    /// Undoes every change since `mark`.
    pub fn restore(&mut self, mark: Mark) {
        self.frames.truncate(mark.frames_len);
        self.mark = mark.outer;
        self.option_generation = mark.option_generation;
        while self.journal.len() > mark.journal_len {
            match self.journal.pop() {
                Some(Undo::Slot(id, old)) => {
                    self.watch_generation += u64::from(id.0 < WATCHED);
                    let exported = old.attributes.has(Attributes::EXPORT)
                        || self.slots[id.index()].attributes.has(Attributes::EXPORT);
                    self.export_generation += u64::from(exported);
                    self.slots[id.index()] = old;
                }
                Some(Undo::Frame(index, old)) => self.frames[index] = old,
                None => break,
            }
        }
    }
}
