//! Damaged bytecode: the verifier refuses it, or the virtual machine survives it.

use std::sync::Arc;

use cynic::{Engine, Jit, Limits, Script};
use cynic_front::bytecode::code::{FunctionCode, Handler};
use cynic_front::compiler::{CompileOptions, compile_script};

use super::Failure;
use crate::program;
use crate::random::Random;

/// Damaged copies that are made of one program.
const COPIES: usize = 200;
/// Steps that one copy may take.
const FUEL: u64 = 200_000;
/// The heap of one copy.
const HEAP_BYTES: usize = 32 << 20;

/// One program, damaged in many ways. A copy that passes the verifier is run; whatever it does, it must come back.
pub(super) fn damaged(random: &mut Random) -> Result<u64, Failure> {
    let source = program::program(random);
    let Ok(undamaged) = compile_script("program", &source, CompileOptions::default()) else {
        return Err(Failure::Found(format!("does not compile:\n{source}")));
    };
    if let Err(error) = Script::from_bytecode(FunctionCode::clone(&undamaged)) {
        return Err(Failure::Found(format!("undamaged code is refused: {error:?}\n{source}")));
    }
    let mut ran = 0;
    for _ in 0..COPIES {
        let mut code = FunctionCode::clone(&undamaged);
        for _ in 0..1 + random.below(3) {
            damage(&mut code, random);
        }
        // Everything that code from elsewhere must pass.
        if let Ok(script) = Script::from_bytecode(code) {
            run(&script, random.chance(50), if random.chance(50) { Jit::ForceTemplate } else { Jit::Off });
            ran += 1;
        }
    }
    Ok(ran)
}

fn run(script: &Script, hardened: bool, jit: Jit) {
    let engine = if hardened { Engine::new() } else { Engine::new().unhardened() };
    let mut isolate =
        engine.jit(jit).isolate(Limits { heap_bytes: HEAP_BYTES, fuel: Some(FUEL), ..Limits::default() });
    let _ = isolate.realm().run(script);
}

/// Changes one thing in the function, or in one nested in it.
fn damage(code: &mut FunctionCode, random: &mut Random) {
    if !code.functions.is_empty() && random.chance(70) {
        let at = random.below(code.functions.len());
        return damage(Arc::make_mut(&mut code.functions[at]), random);
    }
    let words = code.code.len();
    let at = random.below(words);
    match random.below(8) {
        0 => code.code[at] = random.next() as u32,
        1 => code.code[at] ^= 1 << random.below(32),
        2 => code.code[at] = (code.code[at] & !0xff) | (random.next() as u32 & 0xff),
        3 => {
            let shift = 8 * (1 + random.below(3));
            code.code[at] = (code.code[at] & !(0xff << shift)) | (random.below(16) as u32) << shift;
        }
        4 => code.code[at] = code.code[random.below(words)],
        5 => code.code.swap(at, random.below(words)),
        6 => code.code[at] = code.code[at].wrapping_add(random.below(7) as u32).wrapping_sub(3),
        _ => damage_tables(code, random),
    }
}

fn damage_tables(code: &mut FunctionCode, random: &mut Random) {
    let words = code.code.len();
    match random.below(5) {
        0 => code.registers = (code.registers as usize + random.below(5)).saturating_sub(2) as u32,
        1 => code.parameters = random.below(6) as u32,
        2 if !code.handlers.is_empty() => {
            let at = random.below(code.handlers.len());
            let handler = &mut code.handlers[at];
            handler.target = random.below(words) as u32;
        }
        3 => code.handlers.push(Handler {
            start: random.below(words) as u32,
            end: random.below(words) as u32,
            target: random.below(words) as u32,
            register: random.below(16) as u8,
        }),
        4 if code.constants.len() > 1 => {
            let (a, b) = (random.below(code.constants.len()), random.below(code.constants.len()));
            code.constants.swap(a, b);
        }
        _ => code.needs_arguments = !code.needs_arguments,
    }
}
