//! The compiler's output: listings of small programs, and the verifier's refusals.

use cynic::bytecode::verify::verify;
use cynic::bytecode::{FunctionCode, Op, disassemble};
use cynic::compiler::{CompileOptions, compile_script};

fn compile(source: &str) -> std::sync::Arc<FunctionCode> {
    compile_script("t.js", source, CompileOptions::default()).unwrap_or_else(|error| panic!("{error}"))
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
