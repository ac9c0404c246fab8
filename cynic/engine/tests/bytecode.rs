//! The compiler's output: listings of small programs, and the verifier's refusals.

use std::sync::Arc;

use cynic_engine::bytecode::verify::{verify, verify_flow};
use cynic_engine::bytecode::{FunctionCode, Op, disassemble};
use cynic_engine::compiler::{CompileOptions, compile_script};
use cynic_engine::vm::{Options, Vm};

fn compile(source: &str) -> std::sync::Arc<FunctionCode> {
    compile_script("t.js", source, CompileOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn getters_take_no_parameters() {
    for parameters in ["a", "...a", "...[a]", "a = 1", "a, b"] {
        for name in ["x", "'x'", "1", "[x]", "#x", "static x"] {
            let in_class = format!("class A {{ #y; get {name}({parameters}) {{}} }}")
                .replace("get static", "static get");
            assert!(compile_script("t.js", &in_class, CompileOptions::default()).is_err(), "{in_class}");
            let in_object = format!("({{ get {name}({parameters}) {{}} }})");
            assert!(compile_script("t.js", &in_object, CompileOptions::default()).is_err(), "{in_object}");
        }
    }
    let good = "({ get x() {}, set x(a) {} }); class A { get #x() {} static get [1]() {} }";
    assert!(compile_script("t.js", good, CompileOptions::default()).is_ok());
}

#[test]
fn uncaptured_locals_are_registers_and_branches_are_fused() {
    let code = compile("function f(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s }");
    let listing = disassemble::disassemble(&code.functions[0]);
    assert!(listing.contains("JLt "), "{listing}");
    assert!(!listing.contains("Scope"), "{listing}");
    assert!(!listing.contains("CheckTdz"), "{listing}");
}

#[test]
fn captured_loop_variables_are_copied_per_iteration() {
    let code = compile("function f() { for (let i = 0; i < 3; i++) g(() => i) }");
    let listing = disassemble::disassemble(&code.functions[0]);
    assert!(listing.contains("CloneScope"), "{listing}");
}

fn with_code(words: Vec<u32>) -> FunctionCode {
    let code = compile("1");
    let mut code = std::sync::Arc::into_inner(code).unwrap_or_else(|| panic!("the only owner"));
    code.code = words.into();
    code
}

#[test]
fn the_verifier_refuses_what_could_run_wild() {
    let op = |op: Op, a: u32| op as u32 | a << 8;
    let problem = |words| verify(&with_code(words)).err().map(|error| error.problem);
    assert_eq!(problem(vec![op(Op::Ret, 0)]), None);
    assert_eq!(problem(vec![op(Op::Ret, 255)]), Some("operand outside its table"));
    assert_eq!(problem(vec![op(Op::LoadConst, 0)]), Some("instruction is cut off"));
    assert_eq!(problem(vec![0xff]), Some("no such instruction"));
    assert_eq!(problem(vec![op(Op::LoadNull, 0)]), Some("control runs off the end"));
    assert_eq!(
        problem(vec![op(Op::JTrue, 0), 1, op(Op::Ret, 0)]),
        Some("jump into the middle of an instruction")
    );
    assert_eq!(
        problem(vec![op(Op::ForInNext, 0), 0, op(Op::Ret, 0)]),
        Some("a backward jump that is not metered")
    );
    assert_eq!(problem(vec![op(Op::Concat, 0), 200, op(Op::Ret, 0)]), Some("register run leaves the frame"));
    assert_eq!(problem(vec![op(Op::NewArray, 0), u32::MAX, op(Op::Ret, 0)]), Some("count out of range"));
}

/// The first function of `source`, damaged by `damage`.
fn damaged(source: &str, damage: impl FnOnce(&mut FunctionCode)) -> FunctionCode {
    let script = compile(source);
    let mut function = FunctionCode::clone(&script.functions[0]);
    assert_eq!(verify(&function).and_then(|()| verify_flow(&function)), Ok(()), "{source}");
    damage(&mut function);
    function
}

/// Turns the last instruction of the kind `from` into one of the kind `to`, with the same operands.
fn replace_last(function: &mut FunctionCode, from: Op, to: Op) {
    assert_eq!(from.len(), to.len());
    let (mut found, mut pc) = (None, 0);
    while let Some(op) = function.code.get(pc).and_then(|word| Op::decode(*word)) {
        if op == from {
            found = Some(pc);
        }
        pc += op.len();
    }
    let word = &mut function.code[found.unwrap_or_else(|| panic!("there is a {from:?}"))];
    *word = (*word & !0xff) | to as u32;
}

fn refusal(source: &str, from: Op, to: Op) -> Option<&'static str> {
    let function = damaged(source, |function| replace_last(function, from, to));
    verify(&function).and_then(|()| verify_flow(&function)).err().map(|error| error.problem)
}

#[test]
fn a_function_ends_and_suspends_as_its_kind_does() {
    let unsuited = Some("the instruction does not suit the function");
    assert_eq!(refusal("function* f() { yield 1 }", Op::GeneratorReturn, Op::Ret), unsuited);
    assert_eq!(refusal("function* f() { yield 1 }", Op::GeneratorReturn, Op::AsyncReturn), unsuited);
    assert_eq!(refusal("async function f() { await 1 }", Op::AsyncReturn, Op::Ret), unsuited);
    assert_eq!(refusal("function f(x) { return x + 1 }", Op::Ret, Op::GeneratorReturn), unsuited);
    assert_eq!(refusal("function f() { g(1); return 2 }", Op::Call, Op::Await), unsuited);
    let halted = Some("the end of a run loop inside a function");
    assert_eq!(refusal("function f() { return null }", Op::LoadNull, Op::Halt), halted);
    let function = damaged("function f(...a) { return a }", |function| function.needs_arguments = false);
    assert_eq!(verify(&function).err().map(|error| error.problem), unsuited);
}

#[test]
fn a_coroutine_starts_once_before_it_suspends() {
    let unstarted = Some("what has not started suspends");
    assert_eq!(refusal("function* f() { yield 1 }", Op::GeneratorStart, Op::Nop), unstarted);
    assert_eq!(refusal("async function f() { await 1 }", Op::AsyncStart, Op::Nop), unstarted);
    let twice = Some("a coroutine starts twice");
    assert_eq!(refusal("async function f() { await 1 }", Op::Await, Op::AsyncStart), twice);
    assert_eq!(
        refusal("async function f(...a) { await 1; await 2 }", Op::Await, Op::CreateRest),
        Some("the arguments are read after the frame may have moved")
    );
}

#[test]
fn records_of_the_machine_are_no_values() {
    let leaked = Some("a record of the machine is read as a value");
    assert_eq!(
        refusal("function f(o) { for (const k in o) g(k) }", Op::ForInNext, Op::IteratorResult),
        leaked
    );
    let function = damaged("function f() { let x = 1; return () => x }", |function| {
        let at = function.code.iter().position(|word| Op::decode(*word) == Some(Op::SetSlot));
        let word = &mut function.code[at.expect("x is captured")];
        // The scope itself goes into its slot.
        *word = (*word & !0xff00) | (*word >> 8 & 0xff00);
    });
    assert_eq!(verify_flow(&function).err().map(|error| error.problem), leaked);
    assert_eq!(
        refusal("function f(o) { for (const v of o) g(v) }", Op::IteratorNext, Op::ForInNext),
        Some("what is enumerated is no enumeration")
    );
    assert_eq!(
        refusal("function f(r) { { using x = r; g(x) } }", Op::NewDisposables, Op::NewObject),
        Some("what is disposed of is no list of resources")
    );
}

#[test]
fn what_cannot_wait_has_no_await_using() {
    let compiles = |source: &str| compile_script("t.js", source, CompileOptions::default()).is_ok();
    assert!(!compiles("for (await using x of []);"));
    assert!(!compiles("function f() { for (await using x of []); }"));
    assert!(compiles("async function f() { for (await using x of []); }"));
}

#[test]
fn a_class_constructor_comes_with_its_class() {
    let function =
        damaged("function f() { class C {} return () => C }", |function| function.functions.swap(0, 1));
    assert!(verify(&function).is_err());
}

#[test]
fn the_keys_of_a_literal_are_distinct_names() {
    let source = "function f() { return [{ a: 1, b: 2 }, '0'] }";
    assert!(
        verify(&damaged(source, |function| function.object_literals[0][1] = function.object_literals[0][0]))
            .is_err()
    );
    let last = |function: &FunctionCode| function.constants.len() as u32 - 1;
    assert!(verify(&damaged(source, |function| function.object_literals[0][1] = last(function))).is_err());
}

#[test]
fn what_is_no_closure_has_no_home() {
    let op = |op: Op, a: u32, b: u32| op as u32 | a << 8 | b << 16;
    for kept in [Op::SetHome, Op::SetFieldsInit, Op::RunFields] {
        for make in [vec![op(Op::NewObject, 1, 0)], vec![op(Op::NewArray, 1, 0), 0]] {
            let mut words = make;
            words.extend([op(kept, 1, 1), op(Op::Ret, 1, 0)]);
            let code = Arc::new(with_code(words));
            let mut vm = Vm::new(Options::default());
            assert!(vm.run_script(&code).is_ok_and(|value| value.is_object()), "{kept:?}");
        }
    }
}
