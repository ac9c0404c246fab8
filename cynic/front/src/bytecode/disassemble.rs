//! Prints compiled functions, for `cynic disasm` and the golden tests of the compiler.

use std::fmt::Write as _;

use super::code::{Constant, FunctionCode};
use super::opcodes::{Kind, Op, operand};

/// The listing of `function` and, after it, of its nested functions.
pub fn disassemble(function: &FunctionCode) -> String {
    let mut out = String::new();
    write_function(&mut out, function);
    out
}

fn write_function(out: &mut String, function: &FunctionCode) {
    let name = function.name.to_lossy();
    let name = if name.is_empty() { "(anonymous)" } else { &name };
    let _ = writeln!(out, "{name}: parameters {}, registers {}", function.parameters, function.registers);
    let mut pc = 0;
    while let Some(words) = function.code.get(pc..).filter(|words| !words.is_empty()) {
        let Some(op) = Op::decode(words[0]) else {
            let _ = writeln!(out, "{pc:5}  ?{:#x}", words[0]);
            pc += 1;
            continue;
        };
        let _ = write!(out, "{pc:5}  {}", op.info().name);
        for (index, (slot, kind)) in op.info().operands.iter().enumerate() {
            let value = operand(words, *slot);
            out.push_str(if index == 0 { " " } else { ", " });
            write_operand(out, function, pc, *kind, value);
        }
        out.push('\n');
        pc += op.len();
    }
    for handler in &function.handlers {
        let _ = writeln!(
            out,
            "       handler {}..{} -> {} in r{}",
            handler.start, handler.end, handler.target, handler.register
        );
    }
    for nested in &function.functions {
        out.push('\n');
        write_function(out, nested);
    }
}

fn write_operand(out: &mut String, function: &FunctionCode, pc: usize, kind: Kind, value: i64) {
    let _ = match kind {
        Kind::Dst | Kind::Src | Kind::Reg => write!(out, "r{value}"),
        Kind::Imm | Kind::Count => write!(out, "{value}"),
        Kind::Jump => write!(out, "->{}", pc as i64 + value),
        Kind::Const => write!(out, "{}", constant(function, value as usize)),
        Kind::Ic => match function.ic_sites.get(value as usize) {
            Some(&u32::MAX) | None => write!(out, "#{value}"),
            Some(&name) => write!(out, "#{value}:{}", constant(function, name as usize)),
        },
    };
}

fn constant(function: &FunctionCode, index: usize) -> String {
    match function.constants.get(index) {
        Some(Constant::Number(number)) => number.to_string(),
        Some(Constant::String(text)) => format!("{:?}", text.to_lossy()),
        Some(Constant::BigInt(digits)) => format!("{digits}n"),
        None => format!("?{index}"),
    }
}
