//! The part of verification that follows control: what a register holds where it is read.
//!
//! The virtual machine reads some registers without asking what is in them: scopes, arrays under construction, the records
//! of array iteration. And a register that nothing has written yet, or that a call has passed through, holds what another
//! frame left there. This pass finds the kind of every register at every instruction, by abstract interpretation to a
//! fixpoint, and refuses code that could read the wrong one. Scopes are followed into the functions that capture them.
//! The machine's own records (scopes, enumerations, lists of resources) never get where a value of the language is read.
//! And it finds how far the activation may be: a coroutine starts once, suspends only after that, and the arguments on the
//! stack are read only before the frame may have moved.
//!
//! Registers that the frame has no room for lie in the slots of a scope (`spill`); this pass follows them as it follows registers, and so
//! nothing else may touch that scope.
//!
//! Left to trust: what the scope of a module or of direct eval holds, which is known to the linker only.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::code::{CodeKind, EvalStorage, EvalVariable, FunctionCode, Spilled};
use super::opcodes::{Kind, Op, Slot, operand};
use super::spill::PREFIX;
use super::verify::VerifyError;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    /// Perhaps nothing of this frame's.
    Unset,
    /// Some value.
    Any,
    /// An array that the code has made.
    Array,
    /// The first register of an iterator record.
    Iterator,
    /// The second register of an iterator record.
    Next,
    /// A scope: an index into the known ones.
    Scope(u32),
    /// A scope that the linker vouches for.
    Trusted,
    /// The state of a for-in loop.
    Enumeration,
    /// A list of disposable resources.
    Disposables,
}

impl Type {
    fn meet(self, other: Type) -> Type {
        match (self, other) {
            (a, b) if a == b => a,
            (a, b) if a.is_value() && b.is_value() => Type::Any,
            _ => Type::Unset,
        }
    }

    /// Whether a value of the language is there (or the uninitialised marker), for all to read.
    fn is_value(self) -> bool {
        matches!(self, Type::Any | Type::Array | Type::Iterator | Type::Next)
    }

    fn is_scope(self) -> bool {
        matches!(self, Type::Scope(_) | Type::Trusted)
    }
}

/// How far the activation may be, as a set.
type Phases = u8;
/// It is an ordinary one so far.
const PLAIN: Phases = 1;
/// Its promise is made, and its frame is where it was.
const STARTED: Phases = 2;
/// It is a coroutine whose frame may have moved.
const MOVED: Phases = 4;

/// What is known where control comes by.
#[derive(Clone)]
struct Registers {
    types: Vec<Type>,
    phases: Phases,
}

/// A scope: how many slots, and what its parent is.
type Scope = (u32, Type);

/// Follows the control of `function` and of the functions nested in it.
pub(super) fn check(function: &FunctionCode) -> Result<(), VerifyError> {
    let outer = if function.kind == CodeKind::Script { Type::Any } else { Type::Trusted };
    check_function(function, outer, &mut Vec::new())
}

fn check_function(function: &FunctionCode, env: Type, scopes: &mut Vec<Scope>) -> Result<(), VerifyError> {
    check_spilled(function)?;
    let mut flow = Flow {
        function,
        env,
        scopes,
        states: FxHashMap::default(),
        pending: BTreeSet::new(),
        children: vec![None; function.functions.len()],
        is_target: vec![false; function.code.len() + 1],
    };
    flow.mark_targets();
    flow.run()?;
    let children = flow.children;
    for (child, env) in function.functions.iter().zip(children) {
        // What no reachable instruction makes a closure of cannot run.
        if let Some(env) = env {
            check_function(child, env, scopes)?;
        }
    }
    Ok(())
}

/// The scope of spilled registers is made first and once, and only loads and stores name it.
fn check_spilled(function: &FunctionCode) -> Result<(), VerifyError> {
    let Some(Spilled { register, slots }) = function.spilled else { return Ok(()) };
    let error = |pc| Err(VerifyError { pc, problem: "the scope of spilled registers is used otherwise" });
    let first = u32::from_le_bytes([Op::LoadUndefined as u8, register, 0, 0]);
    let second = u32::from_le_bytes([Op::NewScope as u8, register, register, 0]);
    let begins = function.code.starts_with(&[first, second, slots]);
    let own = usize::from(register);
    if !begins || own <= function.parameters as usize || own >= function.registers as usize {
        return error(0);
    }
    if function
        .handlers
        .iter()
        .any(|handler| (handler.target as usize) < PREFIX || handler.register == register)
    {
        return error(0);
    }
    let mut pc = PREFIX;
    while let Some(op) = function.code.get(pc).and_then(|word| Op::decode(*word)) {
        let words = &function.code[pc..];
        let accesses = matches!(op, Op::GetSlotUp | Op::SetSlotUp);
        for (slot, kind) in op.info().operands {
            let value = operand(words, *slot);
            let names = matches!(kind, Kind::Dst | Kind::Src | Kind::Reg) && value == i64::from(register);
            let is_access = accesses
                && *slot == Slot::b
                && operand(words, Slot::c) == 0
                && operand(words, Slot::x) < i64::from(slots);
            if names && !is_access || *kind == Kind::Jump && pc as i64 + value < PREFIX as i64 {
                return error(pc);
            }
        }
        let reads = register_run(function, op, words).contains(&own);
        let writes = writes_two(op) && operand(words, Slot::a) + 1 == i64::from(register);
        if reads || writes {
            return error(pc);
        }
        pc += op.len();
    }
    Ok(())
}

/// Whether the instruction writes the register after its result as well.
fn writes_two(op: Op) -> bool {
    matches!(op, Op::GetMethod | Op::GetElemMethod | Op::GetIterator | Op::GetAsyncIterator | Op::DefineClass)
}

struct Flow<'f> {
    function: &'f FunctionCode,
    env: Type,
    scopes: &'f mut Vec<Scope>,
    /// The registers at each place that control can come to from more than one.
    states: FxHashMap<usize, Registers>,
    /// Where to go on, first things first: most jumps go forward, so that most of what comes together there is known then.
    pending: BTreeSet<usize>,
    /// The scope each nested function captures.
    children: Vec<Option<Type>>,
    is_target: Vec<bool>,
}

impl Flow<'_> {
    fn mark_targets(&mut self) {
        let mut pc = 0;
        while let Some(op) = self.function.code.get(pc).and_then(|word| Op::decode(*word)) {
            for (slot, kind) in op.info().operands {
                if *kind == Kind::Jump {
                    let to = pc as i64 + operand(&self.function.code[pc..], *slot);
                    self.is_target[to as usize] = true;
                }
            }
            pc += op.len();
        }
        for handler in &self.function.handlers {
            self.is_target[handler.target as usize] = true;
        }
    }

    fn run(&mut self) -> Result<(), VerifyError> {
        let spilled = self.function.spilled.map_or(0, |spilled| spilled.slots);
        let mut types = vec![Type::Unset; (self.function.registers + spilled) as usize];
        let parameters = self.function.parameters as usize;
        types.iter_mut().take(parameters + 1).for_each(|register| *register = Type::Any);
        self.flow_to(0, &Registers { types, phases: PLAIN });
        while let Some(pc) = self.pending.pop_first() {
            if let Some(state) = self.states.get(&pc).cloned() {
                self.follow(pc, state)?;
            }
        }
        Ok(())
    }

    /// Control may come to `pc` with these registers.
    fn flow_to(&mut self, pc: usize, state: &Registers) {
        self.flow_with(pc, state, None);
    }

    /// The same where `received` holds some value then.
    fn flow_with(&mut self, pc: usize, state: &Registers, received: Option<usize>) {
        let Some(known) = self.states.get_mut(&pc) else {
            let mut state = state.clone();
            if let Some(register) = received {
                state.types[register] = Type::Any;
            }
            self.states.insert(pc, state);
            self.pending.insert(pc);
            return;
        };
        let mut changed = known.phases | state.phases != known.phases;
        known.phases |= state.phases;
        for (register, (known, &new)) in known.types.iter_mut().zip(&state.types).enumerate() {
            let new = if received == Some(register) { Type::Any } else { new };
            let met = known.meet(new);
            changed |= met != *known;
            *known = met;
        }
        if changed {
            self.pending.insert(pc);
        }
    }

    /// Goes on from `pc` as far as control runs straight.
    fn follow(&mut self, mut pc: usize, mut state: Registers) -> Result<(), VerifyError> {
        let code = &self.function.code;
        // The instruction before, if control has come from there alone.
        let mut before: &[u32] = &[];
        loop {
            let words = &code[pc..];
            let Some(op) = Op::decode(code[pc]) else { return Ok(()) };
            self.flow_to_handlers(pc, &state);
            match self.spilled(op, words) {
                Some(at) => move_spilled(op, words, before, at, &mut state.types),
                None => self
                    .check_reads(op, words, &state.types)
                    .and_then(|()| advance(op, &mut state.phases))
                    .and_then(|()| self.apply(op, words, &mut state.types)),
            }
            .map_err(|problem| VerifyError { pc, problem })?;
            before = words;
            self.flow_to_handlers(pc, &state);
            for (slot, kind) in op.info().operands {
                if *kind == Kind::Jump {
                    self.flow_to((pc as i64 + operand(words, *slot)) as usize, &state);
                }
            }
            if ends(op) {
                return Ok(());
            }
            pc += op.len();
            if self.is_target[pc] {
                self.flow_to(pc, &state);
                return Ok(());
            }
        }
    }

    fn flow_to_handlers(&mut self, pc: usize, state: &Registers) {
        let function = self.function;
        // The innermost, which comes first, has the exception.
        let handler = function.handlers.iter().find(|h| (h.start as usize..h.end as usize).contains(&pc));
        if let Some(handler) = handler {
            self.flow_with(handler.target as usize, state, Some(handler.register as usize));
        }
    }

    /// The place in the state of the spilled register that the instruction moves from or to.
    fn spilled(&self, op: Op, words: &[u32]) -> Option<usize> {
        let spilled = self.function.spilled?;
        let accesses = matches!(op, Op::GetSlotUp | Op::SetSlotUp);
        (accesses && operand(words, Slot::b) == i64::from(spilled.register))
            .then(|| self.function.registers as usize + operand(words, Slot::x) as usize)
    }

    fn check_reads(&self, op: Op, words: &[u32], state: &[Type]) -> Result<(), &'static str> {
        let value = |slot| operand(words, slot) as usize;
        let run = register_run(self.function, op, words);
        let has_run = !run.is_empty()
            || matches!(op, Op::NewArray | Op::Concat | Op::NewObjectLiteral | Op::CopyDataProperties);
        // Construction has no use for the register of `this`.
        let unused = match op {
            Op::New | Op::NewSpread => Some(run.start + 1),
            _ => None,
        };
        let check = |register: usize| match state.get(register) {
            None | Some(Type::Unset) => Err("a register is read before it is written"),
            Some(known) if known.is_value() => Ok(()),
            Some(_) => Err("a record of the machine is read as a value"),
        };
        run.clone().filter(|register| Some(*register) != unused).try_for_each(check)?;
        for (slot, kind) in op.info().operands {
            let reads = match kind {
                Kind::Src => !(has_run && matches!(slot, Slot::b | Slot::c) && value(*slot) == run.start),
                Kind::Reg => true,
                _ => false,
            };
            let register = value(*slot);
            if reads && !(takes_record(op, *slot) && state[register] != Type::Unset) {
                check(register)?;
            }
        }
        // A constructor's return reads `this`, whatever is returned.
        let constructs = matches!(
            self.function.kind,
            CodeKind::Normal | CodeKind::ClassConstructor | CodeKind::DerivedConstructor
        );
        if constructs && matches!(op, Op::Ret | Op::RetUndefined) { check(0) } else { Ok(()) }
    }

    /// The scope `hops` above the one in `register`.
    fn scope(&self, state: &[Type], register: usize, hops: usize) -> Result<Type, &'static str> {
        let mut at = state[register];
        for _ in 0..hops {
            at = match at {
                Type::Scope(index) => self.scopes[index as usize].1,
                Type::Trusted => return Ok(Type::Trusted),
                _ => break,
            };
        }
        if at.is_scope() { Ok(at) } else { Err("what is used as a scope is none") }
    }

    fn check_slot(&self, scope: Type, slot: usize) -> Result<(), &'static str> {
        match scope {
            Type::Scope(index) if slot >= self.scopes[index as usize].0 as usize => {
                Err("the scope has no such slot")
            }
            _ => Ok(()),
        }
    }

    /// Code from strings finds its variables in the scopes that the site lists, innermost first.
    fn check_eval(&self, state: &[Type], words: &[u32]) -> Result<(), &'static str> {
        let site = &self.function.eval_sites[operand(words, Slot::x) as usize];
        let mut at = state[operand(words, Slot::y) as usize];
        for variables in &site.scopes {
            at = match at {
                Type::Trusted => return Ok(()),
                Type::Scope(index) => {
                    let (slots, parent) = self.scopes[index as usize];
                    let fits = |v: &EvalVariable| v.storage == EvalStorage::Slot && v.slot < slots;
                    if !variables.iter().all(fits) {
                        return Err("the scope has no such slot");
                    }
                    parent
                }
                _ => return Err("what is used as a scope is none"),
            };
        }
        Ok(())
    }

    fn intern(&mut self, scope: Scope) -> Type {
        let known = self.scopes.iter().position(|known| *known == scope);
        let index = known.unwrap_or_else(|| {
            self.scopes.push(scope);
            self.scopes.len() - 1
        });
        Type::Scope(index as u32)
    }

    fn captured(&mut self, child: usize, scope: Type) {
        let met = self.children[child].map_or(scope, |known| known.meet(scope));
        self.children[child] = Some(met);
    }

    /// What the instruction asks of its operands, and what it leaves in the registers.
    fn apply(&mut self, op: Op, words: &[u32], state: &mut [Type]) -> Result<(), &'static str> {
        let value = |slot| operand(words, slot) as usize;
        let (a, b, c, x) = (value(Slot::a), value(Slot::b), value(Slot::c), value(Slot::x));
        let mut result = Type::Any;
        match op {
            // A record of array iteration is a pair: half of one is a value like any other.
            Op::Mov if matches!(state[b], Type::Iterator | Type::Next) => {}
            Op::Mov => result = state[b],
            Op::GetEnv => result = self.env,
            // Code without a closure has its scope in the callee's place.
            Op::GetFunction if matches!(self.function.kind, CodeKind::Module | CodeKind::Eval) => {
                result = Type::Trusted;
            }
            Op::NewScope => {
                let parent = state[b];
                result = self.intern((x as u32, parent));
            }
            Op::CloneScope => result = self.scope(state, b, 0)?,
            Op::GetSlot | Op::SetSlot => self.check_slot(self.scope(state, b, 0)?, c)?,
            Op::GetSlotUp | Op::SetSlotUp => self.check_slot(self.scope(state, b, c)?, x)?,
            Op::GetCell | Op::SetCell if self.scope(state, b, c)? != Type::Trusted => {
                return Err("a binding cell outside modules");
            }
            Op::Closure => self.captured(x, state[b]),
            Op::ForInPrepare => result = Type::Enumeration,
            Op::ForInNext if state[b] != Type::Enumeration => {
                return Err("what is enumerated is no enumeration");
            }
            Op::NewDisposables => result = Type::Disposables,
            Op::AddDisposable | Op::DisposeSync if state[a] != Type::Disposables => {
                return Err("what is disposed of is no list of resources");
            }
            Op::DisposeNext if state[b] != Type::Disposables => {
                return Err("what is disposed of is no list of resources");
            }
            // These change the completion, two registers.
            Op::DisposeSync | Op::DisposeError => state[b..b + 2].fill(Type::Any),
            Op::DisposeNext => state[c..c + 2].fill(Type::Any),
            Op::DefineClass => {
                let constructor = self.function.classes[x].constructor as usize;
                self.captured(constructor, state[c]);
                state[a + 1] = Type::Any;
            }
            Op::NewArray | Op::CreateRest => result = Type::Array,
            Op::ArrayAppend | Op::ArrayHole | Op::ArraySpread if state[a] != Type::Array => {
                return Err("what is appended to is no array");
            }
            Op::GetIterator | Op::GetAsyncIterator => {
                result = Type::Iterator;
                state[a + 1] = Type::Next;
            }
            Op::IteratorNext if (state[b], state[b + 1]) != (Type::Iterator, Type::Next) => {
                return Err("what is iterated over is no iterator record");
            }
            Op::GetMethod | Op::GetElemMethod => state[a + 1] = Type::Any,
            Op::Call
            | Op::New
            | Op::SuperCall
            | Op::TailCall
            | Op::DirectEval
            | Op::CallSpread
            | Op::NewSpread
            | Op::SuperCallSpread
            | Op::DirectEvalSpread => {
                if matches!(op, Op::DirectEval | Op::DirectEvalSpread) {
                    self.check_eval(state, words)?;
                }
                // The callee's registers lie over the window and all above it.
                state[b..self.function.registers as usize].fill(Type::Unset);
                if op == Op::TailCall {
                    state[b] = Type::Any;
                }
            }
            _ => {}
        }
        for (slot, kind) in op.info().operands {
            if *kind == Kind::Dst {
                state[value(*slot)] = if *slot == Slot::a { result } else { Type::Any };
            }
        }
        Ok(())
    }
}

/// A register goes to its slot or comes from there; `before` are the words of the instruction before. The two halves of an iterator record are
/// one only where they move together: half of one is a value like any other.
fn move_spilled(
    op: Op,
    words: &[u32],
    before: &[u32],
    at: usize,
    state: &mut [Type],
) -> Result<(), &'static str> {
    let register = operand(words, Slot::a) as usize;
    let (from, to) = if op == Op::GetSlotUp { (at, register) } else { (register, at) };
    let is_second = before.first().and_then(|word| Op::decode(*word)) == Some(op)
        && operand(before, Slot::b) == operand(words, Slot::b)
        && operand(before, Slot::a) + 1 == operand(words, Slot::a)
        && operand(before, Slot::x) + 1 == operand(words, Slot::x);
    let known = state[from];
    if known == Type::Unset {
        return Err("a register is read before it is written");
    }
    if is_second && (state[from - 1], known) == (Type::Iterator, Type::Next) {
        state[to - 1] = Type::Iterator;
        state[to] = Type::Next;
        return Ok(());
    }
    state[to] = if matches!(known, Type::Iterator | Type::Next) { Type::Any } else { known };
    Ok(())
}

/// Whether the operand that is read may be a record of the machine; `apply` says which.
fn takes_record(op: Op, slot: Slot) -> bool {
    match op {
        Op::Mov
        | Op::NewScope
        | Op::CloneScope
        | Op::GetSlot
        | Op::SetSlot
        | Op::GetSlotUp
        | Op::SetSlotUp
        | Op::GetCell
        | Op::SetCell
        | Op::Closure
        | Op::ForInNext
        | Op::DisposeNext => slot == Slot::b,
        Op::DefineClass => slot == Slot::c,
        Op::DirectEval | Op::DirectEvalSpread => slot == Slot::y,
        Op::AddDisposable | Op::DisposeSync => slot == Slot::a,
        _ => false,
    }
}

/// How far the activation is after `op`, which may not be run at every point. (That the function is of the right kind for it is
/// known already.)
fn advance(op: Op, phases: &mut Phases) -> Result<(), &'static str> {
    match op {
        Op::AsyncStart | Op::GeneratorStart if *phases != PLAIN => Err("a coroutine starts twice"),
        Op::AsyncStart => {
            *phases = STARTED;
            Ok(())
        }
        Op::GeneratorStart => {
            *phases = MOVED;
            Ok(())
        }
        Op::Await | Op::Yield | Op::YieldDelegate if *phases & PLAIN != 0 => {
            Err("what has not started suspends")
        }
        Op::Await | Op::Yield | Op::YieldDelegate => {
            *phases = MOVED;
            Ok(())
        }
        Op::AsyncReturn | Op::GeneratorReturn if *phases & PLAIN != 0 => Err("what has not started returns"),
        Op::CreateArguments | Op::CreateRest if *phases & MOVED != 0 => {
            Err("the arguments are read after the frame may have moved")
        }
        _ => Ok(()),
    }
}

/// The run of registers that the instruction reads: a call's window, a list of values, an iterator's record.
pub(super) fn register_run(function: &FunctionCode, op: Op, words: &[u32]) -> Range<usize> {
    let value = |slot| operand(words, slot) as usize;
    match op {
        Op::Call | Op::New | Op::SuperCall | Op::TailCall | Op::DirectEval => {
            value(Slot::b)..value(Slot::b) + 2 + value(Slot::c)
        }
        Op::CallSpread | Op::NewSpread | Op::SuperCallSpread | Op::DirectEvalSpread => {
            value(Slot::b)..value(Slot::b) + 3
        }
        // The one instruction that reads what it writes.
        Op::CheckConstructorReturn => value(Slot::a)..value(Slot::a) + 1,
        // The completion is a kind and, in the register after it, a value.
        Op::DisposeSync | Op::DisposeError => value(Slot::b)..value(Slot::b) + 2,
        Op::DisposeNext => value(Slot::c)..value(Slot::c) + 2,
        Op::NewArray | Op::Concat => value(Slot::b)..value(Slot::b) + value(Slot::x),
        Op::NewObjectLiteral => {
            let keys = function.object_literals.get(value(Slot::x)).map_or(0, |keys| keys.len());
            value(Slot::b)..value(Slot::b) + keys
        }
        Op::CopyDataProperties => value(Slot::c)..value(Slot::c) + value(Slot::x),
        Op::IteratorNext
        | Op::IteratorCall
        | Op::IteratorCallWith
        | Op::IteratorClose
        | Op::IteratorCloseSilently => value(Slot::b)..value(Slot::b) + 2,
        _ => 0..0,
    }
}

/// Whether control never goes on to the next instruction.
pub(super) fn ends(op: Op) -> bool {
    matches!(
        op,
        Op::Ret
            | Op::RetUndefined
            | Op::Jump
            | Op::Throw
            | Op::ThrowConst
            | Op::ThrowError
            | Op::AsyncReturn
            | Op::GeneratorReturn
            | Op::Halt
    )
}
