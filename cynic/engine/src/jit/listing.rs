//! Listings of compiled code: the bytecode of a function and what the template tier makes of each instruction, for `cynic disasm --native`
//! and the golden tests.
//!
//! Knows the encodings that the assembler (`masm::x64`) makes and no others. Registers with a meaning have its name, and so have fields of
//! the isolate, the frame and the caches; addresses, which differ from run to run, are left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::mem::offset_of;

use super::offsets::{NUMBER_TAG, frame};
use super::stubs::Stubs;
use super::template::Translation;
use crate::bytecode::disassemble::disassemble;
use crate::vm::interpreter::template::{FunctionTemplate, Ic};
use crate::vm::offsets as isolate;

/// The listing of a function's code.
pub(super) fn listing(
    template: &FunctionTemplate,
    translation: Translation,
    stubs: &Stubs,
) -> Option<String> {
    let bytecode = disassemble(&template.function);
    let mut lines = bytecode.lines().take_while(|line| !line.is_empty());
    let mut out = String::new();
    let _ = writeln!(out, "{}", lines.next()?);
    let instructions: BTreeMap<usize, &str> = lines
        .filter_map(|line| Some((line.trim_start().split(' ').next()?.parse().ok()?, line.trim_start())))
        .collect();
    let Translation { asm, entries, pieces, .. } = translation;
    // Any place from which the shared code is near, and where none of it is.
    const AWAY: usize = 1 << 28;
    let base = stubs.resume + AWAY;
    let code = asm.finish(base)?;
    let mut heads: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    for (pc, entry) in entries.iter().enumerate().filter(|(_, entry)| **entry != 0) {
        let at = *entry as usize - 1;
        heads
            .entry(at)
            .or_default()
            .push(instructions.get(&pc).map_or_else(String::new, |line| (*line).into()));
        names.insert(at, pc.to_string());
    }
    for (at, pc) in pieces {
        heads.entry(at as usize).or_default().push(format!("behind {pc}"));
    }
    let decoded = decode_all(&code, base);
    let inside = |target: usize| target.checked_sub(base).filter(|at| *at <= code.len());
    for target in decoded.iter().filter_map(|(_, one)| one.target.and_then(inside)) {
        let unnamed = names.len();
        names.entry(target).or_insert_with(|| format!(".{unnamed}"));
    }
    number_labels(&mut names);
    for (at, one) in &decoded {
        for head in heads.get(at).into_iter().flatten() {
            let _ = writeln!(out, "  {head}");
        }
        if let Some(label) = names.get(at).filter(|label| label.starts_with('.')) {
            let _ = writeln!(out, "    {label}:");
        }
        let target = one.target.map(|target| match inside(target) {
            Some(at) => names.get(&at).cloned().unwrap_or_default(),
            None => stubs.name_of(target),
        });
        let _ = writeln!(out, "        {}{}", one.text, target.unwrap_or_default());
    }
    let _ = writeln!(out, "  {} bytes", code.len());
    Some(out)
}

/// Labels that are no instruction's are numbered in the order of the code.
fn number_labels(names: &mut BTreeMap<usize, String>) {
    let unnamed = names.values_mut().filter(|name| name.starts_with('.'));
    for (i, name) in unnamed.enumerate() {
        *name = format!(".{i}");
    }
}

fn decode_all(code: &[u8], base: usize) -> Vec<(usize, Decoded)> {
    let mut all = Vec::new();
    let mut reader = Reader { code, at: 0, base };
    while reader.at < code.len() {
        let at = reader.at;
        all.push((at, reader.instruction()));
    }
    all
}

/// One machine instruction.
struct Decoded {
    text: String,
    /// Where a jump or a call goes, as an address; it belongs at the end of the text.
    target: Option<usize>,
}

struct Reader<'a> {
    code: &'a [u8],
    at: usize,
    base: usize,
}

/// The byte that says what the operands are, with the bits that a prefix adds.
struct Operands {
    reg: u8,
    rm: Rm,
}

enum Rm {
    Register(u8),
    Memory(String),
    /// An address relative to the next instruction.
    Here(i32),
}

const CONDITIONS: [&str; 16] =
    ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"];
const ARITHMETIC: [&str; 8] = ["add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"];

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let byte = self.code.get(self.at).copied().unwrap_or(0xcc);
        self.at += 1;
        byte
    }
    fn number(&mut self, bytes: usize) -> u64 {
        (0..bytes).fold(0, |all, i| all | u64::from(self.byte()) << (i * 8))
    }
    fn distance(&mut self) -> i32 {
        self.number(4) as u32 as i32
    }

    fn instruction(&mut self) -> Decoded {
        let start = self.at;
        let mut prefix = None;
        let mut first = self.byte();
        if matches!(first, 0x66 | 0xf2 | 0xf3) {
            prefix = Some(first);
            first = self.byte();
        }
        let mut rex = 0;
        if first & 0xf0 == 0x40 {
            rex = first;
            first = self.byte();
        }
        let decoded = match first {
            0x0f => self.two_bytes(prefix, rex),
            _ => self.one_byte(first, prefix, rex),
        };
        decoded.unwrap_or_else(|| {
            self.at = start + 1;
            Decoded { text: format!("? {:#04x}", self.code[start]), target: None }
        })
    }

    fn one_byte(&mut self, opcode: u8, prefix: Option<u8>, rex: u8) -> Option<Decoded> {
        let wide = rex & 8 != 0;
        let low = opcode & 7 | (rex & 1) << 3;
        let text = match opcode {
            0xe8 | 0xe9 => {
                let distance = self.distance();
                let target = self.target(distance);
                let name = if opcode == 0xe8 { "call " } else { "jmp " };
                return Some(Decoded { text: name.into(), target });
            }
            0x50..=0x57 => format!("push {}", register(low, true)),
            0x58..=0x5f => format!("pop {}", register(low, true)),
            0xb8..=0xbf => {
                let value = self.number(if wide { 8 } else { 4 });
                format!("mov {}, {}", register(low, wide), immediate(value))
            }
            0xc3 => "ret".into(),
            0xcc => "trap".into(),
            0x8b => self.both("mov", rex, wide),
            0x8d => {
                let Operands { reg, rm } = self.operands(rex);
                if let Rm::Here(distance) = rm {
                    let target = self.target(distance);
                    return Some(Decoded { text: format!("lea {}, ", register(reg, wide)), target });
                }
                format!("lea {}, {}", register(reg, wide), shown(&rm, wide))
            }
            0x88 | 0x89 => {
                let Operands { reg, rm } = self.operands(rex);
                let size = match (opcode, prefix) {
                    (0x88, _) => "byte ",
                    (_, Some(0x66)) => "word ",
                    _ => "",
                };
                format!("mov {size}{}, {}", shown(&rm, wide), register(reg, wide))
            }
            0x85 => {
                let Operands { reg, rm } = self.operands(rex);
                format!("test {}, {}", shown(&rm, wide), register(reg, wide))
            }
            0x80 | 0x81 | 0x83 => {
                let Operands { reg, rm } = self.operands(rex);
                let bytes = if opcode == 0x81 { 4 } else { 1 };
                let value = self.number(bytes);
                let value = if bytes == 4 { value as u32 as i32 } else { i32::from(value as u8 as i8) };
                let size = match (&rm, opcode) {
                    (Rm::Register(_), _) => "",
                    (_, 0x80) => "byte ",
                    _ if wide => "",
                    _ => "dword ",
                };
                format!("{} {size}{}, {value:#x}", ARITHMETIC[reg as usize & 7], shown(&rm, wide))
            }
            0xc1 | 0xd3 => {
                let Operands { reg, rm } = self.operands(rex);
                let name = match reg & 7 {
                    4 => "shl",
                    5 => "shr",
                    7 => "sar",
                    _ => return None,
                };
                let count = if opcode == 0xc1 { self.byte().to_string() } else { "cl".into() };
                format!("{name} {}, {count}", shown(&rm, wide))
            }
            0xc7 => {
                let Operands { rm, .. } = self.operands(rex);
                let size = if wide { "" } else { "dword " };
                format!("mov {size}{}, {:#x}", shown(&rm, wide), self.distance())
            }
            0xf7 => {
                let Operands { reg, rm } = self.operands(rex);
                match reg & 7 {
                    0 => format!("test dword {}, {:#x}", shown(&rm, wide), self.distance()),
                    2 => format!("not {}", shown(&rm, wide)),
                    3 => format!("neg {}", shown(&rm, wide)),
                    6 => format!("div {}", shown(&rm, wide)),
                    _ => return None,
                }
            }
            0xff => {
                let Operands { reg, rm } = self.operands(rex);
                let name = match reg & 7 {
                    2 => "call",
                    4 => "jmp",
                    6 => "push",
                    _ => return None,
                };
                format!("{name} {}", shown(&rm, true))
            }
            _ if opcode & 0xc7 == 0x03 => self.both(ARITHMETIC[opcode as usize >> 3], rex, wide),
            _ => return None,
        };
        Some(Decoded { text, target: None })
    }

    fn two_bytes(&mut self, prefix: Option<u8>, rex: u8) -> Option<Decoded> {
        let wide = rex & 8 != 0;
        let opcode = self.byte();
        let text = match (prefix, opcode) {
            (None, 0x80..=0x8f) => {
                let distance = self.distance();
                let target = self.target(distance);
                let text = format!("j{} ", CONDITIONS[opcode as usize & 15]);
                return Some(Decoded { text, target });
            }
            (None, 0xaf) => self.both("imul", rex, wide),
            (None, 0xb6) => self.both("movzx byte", rex, wide),
            (None, 0xb7) => self.both("movzx word", rex, wide),
            (None, 0xbe) => self.both("movsx byte", rex, wide),
            (None, 0xbf) => self.both("movsx word", rex, wide),
            (Some(0xf3), 0xbd) => self.both("lzcnt", rex, wide),
            (None, 0x57) => self.floating("xorps", rex, [true, true], wide),
            (Some(0x66), 0x2e) => self.floating("ucomisd", rex, [true, true], wide),
            (Some(0x66), 0x6e) => self.floating("movq", rex, [true, false], wide),
            (Some(0x66), 0x7e) => {
                let Operands { reg, rm } = self.operands(rex);
                format!("movq {}, xmm{reg}", shown(&rm, wide))
            }
            (Some(0x66), 0x3a) => {
                if self.byte() != 0x0b {
                    return None;
                }
                let text = self.floating("roundsd", rex, [true, true], wide);
                format!("{text}, {}", self.byte())
            }
            (Some(0xf2), 0x10) => self.floating("movsd", rex, [true, true], wide),
            (Some(0xf2 | 0xf3), 0x11) => {
                let Operands { reg, rm } = self.operands(rex);
                let name = if prefix == Some(0xf2) { "movsd" } else { "movss" };
                format!("{name} {}, xmm{reg}", shown(&rm, wide))
            }
            (Some(0xf2), 0x2a) => self.floating("cvtsi2sd", rex, [true, false], wide),
            (Some(0xf2), 0x2c) => self.floating("cvttsd2si", rex, [false, true], wide),
            (Some(0xf2), 0x51) => self.floating("sqrtsd", rex, [true, true], wide),
            (Some(0xf2), 0x58) => self.floating("addsd", rex, [true, true], wide),
            (Some(0xf2), 0x59) => self.floating("mulsd", rex, [true, true], wide),
            (Some(0xf2), 0x5a) => self.floating("cvtsd2ss", rex, [true, true], wide),
            (Some(0xf2), 0x5c) => self.floating("subsd", rex, [true, true], wide),
            (Some(0xf2), 0x5e) => self.floating("divsd", rex, [true, true], wide),
            (Some(0xf3), 0x5a) => self.floating("cvtss2sd", rex, [true, true], wide),
            _ => return None,
        };
        Some(Decoded { text, target: None })
    }

    fn target(&self, distance: i32) -> Option<usize> {
        (self.base + self.at).checked_add_signed(distance as isize)
    }

    fn both(&mut self, name: &str, rex: u8, wide: bool) -> String {
        let Operands { reg, rm } = self.operands(rex);
        format!("{name} {}, {}", register(reg, wide), shown(&rm, wide))
    }

    /// An instruction with floating-point registers where `floating` says so.
    fn floating(&mut self, name: &str, rex: u8, floating: [bool; 2], wide: bool) -> String {
        let Operands { reg, rm } = self.operands(rex);
        let first = if floating[0] { format!("xmm{reg}") } else { register(reg, wide).into() };
        match rm {
            Rm::Register(rm) if floating[1] => format!("{name} {first}, xmm{rm}"),
            rm => format!("{name} {first}, {}", shown(&rm, wide)),
        }
    }

    fn operands(&mut self, rex: u8) -> Operands {
        let byte = self.byte();
        let (mode, reg, rm) = (byte >> 6, (byte >> 3 & 7) | (rex & 4) << 1, byte & 7);
        if mode == 3 {
            return Operands { reg, rm: Rm::Register(rm | (rex & 1) << 3) };
        }
        if mode == 0 && rm == 5 {
            return Operands { reg, rm: Rm::Here(self.distance()) };
        }
        let (mut base, mut index) = (rm | (rex & 1) << 3, None);
        if rm == 4 {
            let sib = self.byte();
            base = sib & 7 | (rex & 1) << 3;
            let register = (sib >> 3 & 7) | (rex & 2) << 2;
            index = (register != 4).then_some((register, 1 << (sib >> 6)));
        }
        let displacement = match mode {
            1 => i32::from(self.byte() as i8),
            2 => self.distance(),
            _ => 0,
        };
        Operands { reg, rm: Rm::Memory(memory(base, index, displacement)) }
    }
}

fn shown(rm: &Rm, wide: bool) -> String {
    match rm {
        Rm::Register(rm) => register(*rm, wide).into(),
        Rm::Memory(text) => text.clone(),
        Rm::Here(distance) => format!("[here{distance:+}]"),
    }
}

fn register(i: u8, wide: bool) -> &'static str {
    const WIDE: [&str; 16] = [
        "rax", "rcx", "rdx", "ics", "rsp", "not_cell", "rsi", "rdi", "r8", "r9", "r10", "r11", "regs", "vm",
        "frame", "tag",
    ];
    const NARROW: [&str; 16] = [
        "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d",
        "r14d", "r15d",
    ];
    if wide { WIDE[i as usize & 15] } else { NARROW[i as usize & 15] }
}

/// What a guest or the engine chose is shown, addresses are not.
fn immediate(value: u64) -> String {
    const ADDRESSES: std::ops::Range<u64> = 1 << 32..1 << 47;
    match value {
        NUMBER_TAG => "tag".into(),
        _ if ADDRESSES.contains(&value) => "address".into(),
        _ => format!("{value:#x}"),
    }
}

fn memory(base: u8, index: Option<(u8, u8)>, displacement: i32) -> String {
    let field = usize::try_from(displacement).ok();
    let named = match (base, index, field) {
        (12, None, Some(offset)) => Some(format!("[r{}]", offset / 8)),
        (12, None, None) if displacement == -8 => Some("[callee]".into()),
        (13, None, Some(offset)) => isolate_field(offset).map(|name| format!("[vm.{name}]")),
        (14, None, Some(offset)) if offset < frame::SIZE => {
            frame_field(offset).map(|name| format!("[frame.{name}]"))
        }
        (14, None, Some(offset)) => frame_field(offset - frame::SIZE).map(|name| format!("[above.{name}]")),
        (3, None, Some(offset)) => cache_field(offset % size_of::<Ic>())
            .map(|name| format!("[ic{}.{name}]", offset / size_of::<Ic>())),
        _ => None,
    };
    named.unwrap_or_else(|| {
        let index =
            index.map_or_else(String::new, |(index, scale)| format!("+{}*{scale}", register(index, true)));
        let displacement = match displacement {
            0 => String::new(),
            negative @ ..0 => format!("-{:#x}", negative.unsigned_abs()),
            positive => format!("+{positive:#x}"),
        };
        format!("[{}{index}{displacement}]", register(base, true))
    })
}

fn named(fields: &[(usize, &'static str)], offset: usize) -> Option<&'static str> {
    fields.iter().find(|(at, _)| *at == offset).map(|(_, name)| *name)
}

fn isolate_field(offset: usize) -> Option<&'static str> {
    const FIELDS: [(usize, &str); 7] = [
        (isolate::BUDGET, "budget"),
        (isolate::PROTO_EPOCH, "proto_epoch"),
        (isolate::STACK_TOP, "stack_top"),
        (isolate::STACK_LIMIT, "stack_limit"),
        (isolate::FRAME, "frame"),
        (isolate::FRAMES_END, "frames_end"),
        (isolate::REALM, "realm"),
    ];
    named(&FIELDS, offset)
}

fn frame_field(offset: usize) -> Option<&'static str> {
    const FIELDS: [(usize, &str); 13] = [
        (frame::REGS, "regs"),
        (frame::PC, "pc"),
        (frame::FEEDBACK, "feedback"),
        (frame::CONSTANTS, "constants"),
        (frame::END, "end"),
        (frame::NEW_TARGET, "new_target"),
        (frame::ARGUMENTS, "arguments"),
        (frame::ARGUMENT_COUNT, "argument_count"),
        (frame::DST, "dst"),
        (frame::FLAGS, "flags"),
        (frame::COROUTINE, "coroutine"),
        (frame::TEMPLATE_CELL, "template_cell"),
        (frame::RESUME, "resume"),
    ];
    named(&FIELDS, offset)
}

fn cache_field(offset: usize) -> Option<&'static str> {
    const FIELDS: [(usize, &str); 9] = [
        (offset_of!(Ic, key), "key"),
        (offset_of!(Ic, shape), "shape"),
        (offset_of!(Ic, shape_2), "shape_2"),
        (offset_of!(Ic, slot), "slot"),
        (offset_of!(Ic, slot_2), "slot_2"),
        (offset_of!(Ic, far_shape), "far_shape"),
        (offset_of!(Ic, far), "far"),
        (offset_of!(Ic, far_slot), "far_slot"),
        (offset_of!(Ic, epoch), "epoch"),
    ];
    named(&FIELDS, offset)
}
