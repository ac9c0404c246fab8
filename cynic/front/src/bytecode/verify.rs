//! Checks a compiled function before it may run: the virtual machine trusts what passed.
//!
//! Invariant established: every instruction is whole, every register is inside the frame, every index inside its
//! table, every jump and handler lands on an instruction, every loop polls, control cannot run off the end, and every instruction suits the
//! kind of its function; and, by [`verify_flow`], that what is read without a check at run time is what it is taken for.
//!
//! What is left to the interpreter are properties of the objects that instructions get: those it looks at itself, each time.

use super::code::{CodeKind, Constant, FunctionCode, Text};
use super::opcodes::{Kind, Op, operand};

/// Why a function was refused.
#[derive(Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The word at fault.
    pub pc: usize,
    /// What is wrong there.
    pub problem: &'static str,
}

/// Verifies `function` and its nested functions: what can be said of each instruction by itself. All code passes this
/// before it runs.
pub fn verify(function: &FunctionCode) -> Result<(), VerifyError> {
    verify_tables(function)?;
    let starts = instruction_starts(function)?;
    let is_start = |at: i64| usize::try_from(at).is_ok_and(|at| starts.get(at).copied().unwrap_or(false));
    let mut pc = 0;
    let mut last = Op::Nop;
    while let Some(op) = function.code.get(pc).and_then(|word| Op::decode(*word)) {
        let words = &function.code[pc..];
        for (slot, kind) in op.info().operands {
            let value = operand(words, *slot);
            check_operand(function, op, *kind, value).map_err(|problem| VerifyError { pc, problem })?;
            if *kind == Kind::Jump && !is_start(pc as i64 + value) {
                return Err(VerifyError { pc, problem: "jump into the middle of an instruction" });
            }
            if *kind == Kind::Jump && value <= 0 && jumps_forward_only(op) {
                return Err(VerifyError { pc, problem: "a backward jump that is not metered" });
            }
        }
        check_kind(function, op, words).map_err(|problem| VerifyError { pc, problem })?;
        check_window(function, op, words).map_err(|problem| VerifyError { pc, problem })?;
        last = op;
        pc += op.len();
    }
    let ends = [Op::Ret, Op::RetUndefined, Op::Jump, Op::Throw, Op::AsyncReturn, Op::GeneratorReturn];
    if !ends.contains(&last) {
        return Err(VerifyError { pc, problem: "control runs off the end" });
    }
    for handler in &function.handlers {
        let ok = is_start(i64::from(handler.start))
            && handler.end as usize <= function.code.len()
            && is_start(i64::from(handler.target))
            && handler.target >= handler.end
            && u32::from(handler.register) < function.registers;
        if !ok {
            return Err(VerifyError { pc: handler.start as usize, problem: "bad exception handler" });
        }
    }
    function.functions.iter().try_for_each(|nested| verify(nested))
}

/// Verifies what the machine reads without asking, along the control flow, of code that passed [`verify`]. The compiler's
/// output has this property by construction, so that the machine does not spend the time; code from elsewhere must pass.
pub fn verify_flow(function: &FunctionCode) -> Result<(), VerifyError> {
    super::flow::check(function)
}

/// The tables refer to one another within their bounds, and each cache site belongs to one kind of instruction: what it
/// caches means something else to another.
fn verify_tables(function: &FunctionCode) -> Result<(), VerifyError> {
    let error = |problem| VerifyError { pc: 0, problem };
    let is_name = |index: u32| matches!(function.constants.get(index as usize), Some(Constant::String(_)));
    let keys_ok = function.object_literals.iter().all(|keys| verify_keys(function, keys));
    let classes_ok = function.classes.iter().all(|class| {
        let constructor = function.functions.get(class.constructor as usize);
        let kind = if class.has_heritage { CodeKind::DerivedConstructor } else { CodeKind::ClassConstructor };
        constructor.is_some_and(|constructor| constructor.kind == kind)
    });
    let sites_ok = function.ic_sites.iter().all(|name| *name == u32::MAX || is_name(*name));
    if !(keys_ok && classes_ok && sites_ok) {
        return Err(error("a table refers to nothing"));
    }
    if function.registers <= function.parameters {
        return Err(error("the parameters do not fit the frame"));
    }
    let mut users: Vec<Option<Op>> = vec![None; function.ic_sites.len()];
    let mut pc = 0;
    while let Some(op) = function.code.get(pc).and_then(|word| Op::decode(*word)) {
        for (slot, _) in op.info().operands.iter().filter(|(_, kind)| *kind == Kind::Ic) {
            let Some(words) = function.code.get(pc..pc + op.len()) else { break };
            let site = operand(words, *slot) as usize;
            let keyed =
                matches!(op, Op::GetElem | Op::SetElem | Op::GetElemMethod | Op::GetPrivate | Op::SetPrivate);
            let Some(user) = users.get_mut(site) else { continue };
            if user.is_some_and(|user| user != op) || keyed != (function.ic_sites[site] == u32::MAX) {
                return Err(VerifyError { pc, problem: "a cache site has two uses" });
            }
            *user = Some(op);
        }
        pc += op.len();
    }
    Ok(())
}

/// The keys of an object literal become a shape as they are: names, no elements, each once.
fn verify_keys(function: &FunctionCode, keys: &[u32]) -> bool {
    let mut seen = rustc_hash::FxHashSet::default();
    keys.iter().all(|key| match function.constants.get(*key as usize) {
        Some(Constant::String(text)) => !is_array_index(text) && seen.insert(text),
        _ => false,
    })
}

fn is_array_index(text: &Text) -> bool {
    let Text::Utf8(text) = text else { return false };
    text.parse::<u32>().is_ok_and(|index| index != u32::MAX && index.to_string() == **text)
}

/// Whether `op` may stand in a function of this kind. How a function ends and suspends is known to what calls it, and so is
/// what a constructor is.
fn check_kind(function: &FunctionCode, op: Op, words: &[u32]) -> Result<(), &'static str> {
    let (is_async, is_generator) = (function.is_async, function.is_generator);
    let is_module = function.kind == CodeKind::Module;
    let fits = match op {
        Op::Halt => return Err("the end of a run loop inside a function"),
        Op::GeneratorStart | Op::GeneratorReturn => is_generator,
        Op::Yield | Op::YieldDelegate => is_generator && !is_module,
        Op::AsyncStart | Op::AsyncReturn => is_async && !is_generator,
        Op::Await => is_async,
        Op::Ret | Op::RetUndefined | Op::TailCall => !is_async && !is_generator,
        Op::CreateArguments | Op::CreateRest => function.needs_arguments,
        _ => true,
    };
    if !fits {
        return Err("the instruction does not suit the function");
    }
    // Class constructors are made with their class, and scripts are never inside a function.
    let plain = [CodeKind::Normal, CodeKind::Arrow, CodeKind::Method];
    let nested = function.functions.get(operand(words, super::opcodes::Slot::x) as usize);
    if op == Op::Closure && nested.is_some_and(|nested| !plain.contains(&nested.kind)) {
        return Err("a closure of what is no plain function");
    }
    Ok(())
}

fn instruction_starts(function: &FunctionCode) -> Result<Vec<bool>, VerifyError> {
    let mut starts = vec![false; function.code.len()];
    let mut pc = 0;
    while pc < function.code.len() {
        let op = Op::decode(function.code[pc]).ok_or(VerifyError { pc, problem: "no such instruction" })?;
        if pc + op.len() > function.code.len() {
            return Err(VerifyError { pc, problem: "instruction is cut off" });
        }
        starts[pc] = true;
        pc += op.len();
    }
    Ok(starts)
}

fn check_operand(function: &FunctionCode, op: Op, kind: Kind, value: i64) -> Result<(), &'static str> {
    let table = match (kind, op) {
        (Kind::Imm | Kind::Jump, _) => return Ok(()),
        (Kind::Dst | Kind::Src | Kind::Reg, _) => function.registers as usize,
        (Kind::Const, _) => function.constants.len(),
        (Kind::Ic, _) => function.ic_sites.len(),
        (Kind::Count, Op::Closure) => function.functions.len(),
        (Kind::Count, Op::DefineClass) => function.classes.len(),
        (Kind::Count, Op::NewObjectLiteral) => function.object_literals.len(),
        (Kind::Count, Op::TemplateObject) => function.templates.len(),
        (Kind::Count, Op::DirectEval | Op::DirectEvalSpread) => function.eval_sites.len(),
        (Kind::Count, _) if value >= 0 => return Ok(()),
        (Kind::Count, _) => return Err("count out of range"),
    };
    if (0..table as i64).contains(&value) { Ok(()) } else { Err("operand outside its table") }
}

/// Whether the instruction's jump does not poll, because the compiler uses it to leave something. Every loop must poll:
/// for the same reason handlers lie behind what they protect.
fn jumps_forward_only(op: Op) -> bool {
    matches!(op, Op::IteratorNext | Op::IteratorResult | Op::ForInNext | Op::Yield | Op::DisposeNext)
}

/// Instructions that use a run of registers must have the whole run inside the frame.
fn check_window(function: &FunctionCode, op: Op, words: &[u32]) -> Result<(), &'static str> {
    use super::opcodes::Slot;
    let value = |slot| operand(words, slot);
    let end = match op {
        Op::Call | Op::New | Op::SuperCall | Op::TailCall | Op::DirectEval => {
            value(Slot::b) + 2 + value(Slot::c)
        }
        Op::CallSpread | Op::NewSpread | Op::SuperCallSpread | Op::DirectEvalSpread => value(Slot::b) + 3,
        Op::NewArray | Op::Concat => value(Slot::b) + value(Slot::x),
        Op::NewObjectLiteral => {
            let keys = function.object_literals.get(value(Slot::x) as usize).map_or(0, |keys| keys.len());
            value(Slot::b) + keys as i64
        }
        Op::CopyDataProperties => value(Slot::c) + value(Slot::x),
        Op::GetMethod | Op::GetElemMethod | Op::GetIterator | Op::GetAsyncIterator | Op::DefineClass => {
            value(Slot::a) + 2
        }
        Op::IteratorNext
        | Op::IteratorCall
        | Op::IteratorCallWith
        | Op::IteratorClose
        | Op::IteratorCloseSilently => value(Slot::b) + 2,
        Op::DisposeSync | Op::DisposeError => value(Slot::b) + 2,
        Op::DisposeNext => value(Slot::c) + 2,
        _ => 0,
    };
    if end <= i64::from(function.registers) { Ok(()) } else { Err("register run leaves the frame") }
}
