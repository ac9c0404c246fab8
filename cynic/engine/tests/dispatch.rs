//! The tail-calling dispatcher must jump from instruction to instruction: a call instead would grow the native stack
//! with every instruction.
//!
//! The disassembly is looked at in builds that have the dispatcher (optimised ones: `cargo test --profile bench-dev`); the loop
//! runs in every build. `CYNIC_DISPATCH_BINARY` names another program to disassemble, the release build say.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::process::Command;

use cynic_engine::vm::interpreter::TAIL_CALLS;
use cynic_engine::vm::{Options, Vm};

macro_rules! handler_names {
    ($($name:ident $handler:ident ($($slot:ident : $kind:ident),*) $meaning:literal;)*) => {
        const HANDLERS: &[&str] = &[$(stringify!($handler)),*];
    };
}
cynic_engine::for_each_opcode!(handler_names);

/// What a disassembled function does where it could leave.
#[derive(Default)]
struct Function {
    returns: usize,
    jumps: usize,
}

fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CYNIC_DISPATCH_BINARY") {
        return Some(path.into());
    }
    TAIL_CALLS.then(|| std::env::current_exe().expect("a program knows itself"))
}

/// The functions of the dispatcher, by name: `by_tail_calls::add`, and the slow ways out of handlers.
fn disassemble(program: &PathBuf) -> HashMap<String, Function> {
    let output = Command::new("objdump").args(["-d", "-C", "--no-show-raw-insn"]).arg(program).output();
    let output = output.expect("objdump, which comes with the linker (binutils), is needed here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut functions: HashMap<String, Function> = HashMap::new();
    let mut current = None;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(name) =
            line.strip_suffix(">:").and_then(|line| line.split_once(" <")).map(|(_, name)| name)
        {
            let is_ours = name.contains("by_tail_calls::") || name.contains("::out_of_line");
            current = is_ours.then(|| name.to_owned());
            continue;
        }
        let (Some(name), Some(instruction)) = (&current, line.split('\t').nth(1)) else { continue };
        let function = functions.entry(name.clone()).or_default();
        let mut words = instruction.split_whitespace();
        match words.next() {
            Some("ret" | "retq" | "retaa" | "retab") => function.returns += 1,
            Some("jmp" | "jmpq" | "br" | "b") => function.jumps += 1,
            _ => {}
        }
    }
    functions
}

#[test]
fn handlers_end_in_jumps() {
    let Some(program) = program() else {
        println!("this build dispatches by a match; an optimised one is what this test is for");
        return;
    };
    let functions = disassemble(&program);
    // The entry of the run loop and the end of the program return; nothing else may.
    let exempt = |name: &str| name.ends_with("::run") || name.ends_with("::stop");
    for (name, function) in functions.iter().filter(|(name, _)| !exempt(name)) {
        assert_eq!(function.returns, 0, "{name} returns: its dispatch is a call");
        assert!(function.jumps > 0, "{name} does not jump on");
    }
    let found: HashSet<&str> = functions.keys().filter_map(|name| name.rsplit("::").next()).collect();
    // The instruction that halts has no handler.
    let missing: Vec<_> =
        HANDLERS.iter().filter(|name| **name != "halt" && !found.contains(**name)).collect();
    assert!(missing.is_empty(), "handlers that the listing does not show: {missing:?}");
}

/// Ten million instructions of many kinds on a small stack, which even 16 bytes for each would overflow.
#[test]
fn long_loops_do_not_grow_the_native_stack() {
    let source = "
        class Point { #z = 1; constructor(x) { this.x = x; } get y() { return this.#z; } up() { return this.x + this.y; } }
        const list = [1, 2, 3], text = 'abc', bytes = new Uint8Array(4);
        const p = new Point(2);
        function work(n) {
            let sum = 0;
            for (let i = 0; i < n; i++) {
                sum = (sum + p.up() * 2 - (i % 3) + list[i & 1] + text.length) | 0;
                bytes[i & 3] = i;
                p.x = (i >> 1) ^ bytes[1];
                if (i === 5 || sum < -1.5) { sum += [i, i].length; }
                for (const v of list) sum += v;
                try { if ((i & 4095) === 7) throw i; } catch (e) { sum -= e; }
            }
            return sum;
        }
        work(1000);
        work(200000) === (work(1000), work(200000))";
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        let mut vm = Vm::new(Options::default());
        let value = vm.evaluate_script("loop.js", source);
        value.map(|value| value == cynic_engine::value::Value::TRUE)
    });
    let same = thread.expect("a thread can be made").join().expect("no panic");
    assert_eq!(same, Ok(true));
}
