//! Encodings of x86-64.
//!
//! Displacements take 8 or 32 bits as they need, jumps always 32: a displacement of one or two bytes is never a guest's choice but a
//! register's number or a field's offset.

use super::{Alu, Assembler, Cond, Label, Mem, Reg, Shift, Sse, Width, Xmm};

/// What the bits of a prefix are made of.
#[derive(Clone, Copy)]
enum Rm {
    Register(u8),
    Memory(Mem),
}

impl Assembler {
    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    fn dword(&mut self, word: u32) {
        self.code.extend_from_slice(&word.to_le_bytes());
    }

    /// Prefixes, opcode and operands.
    fn encode(&mut self, prefix: Option<u8>, wide: bool, opcode: &[u8], reg: u8, rm: Rm) {
        if let Some(prefix) = prefix {
            self.byte(prefix);
        }
        let (x, b) = match rm {
            Rm::Register(register) => (0, register >> 3),
            Rm::Memory(mem) => (mem.index.map_or(0, |(index, _)| index as u8 >> 3), mem.base as u8 >> 3),
        };
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3) << 2 | x << 1 | b;
        if rex != 0x40 {
            self.byte(rex);
        }
        self.code.extend_from_slice(opcode);
        match rm {
            Rm::Register(register) => self.byte(0xc0 | (reg & 7) << 3 | register & 7),
            Rm::Memory(mem) => self.memory(reg, mem),
        }
    }

    fn memory(&mut self, reg: u8, mem: Mem) {
        let base = mem.base as u8 & 7;
        let short = i8::try_from(mem.displacement);
        // The encoding without a displacement means something else for rbp and r13.
        let mode = match short {
            Ok(0) if base != 5 => 0,
            Ok(_) => 1,
            Err(_) => 2,
        };
        let needs_sib = mem.index.is_some() || base == 4;
        self.byte(mode << 6 | (reg & 7) << 3 | if needs_sib { 4 } else { base });
        if needs_sib {
            let (index, scale) = mem.index.map_or((4, 0), |(index, scale)| (index as u8 & 7, scale));
            self.byte(scale << 6 | index << 3 | base);
        }
        match (mode, short) {
            (1, Ok(short)) => self.byte(short as u8),
            (2, _) => self.dword(mem.displacement as u32),
            _ => {}
        }
    }

    /// `a = b`, 64 bits.
    pub(crate) fn mov(&mut self, a: Reg, b: Reg) {
        self.encode(None, true, &[0x8b], a as u8, Rm::Register(b as u8));
    }
    /// `a = b`, 32 bits: the upper half becomes zero.
    pub(crate) fn mov32(&mut self, a: Reg, b: Reg) {
        self.encode(None, false, &[0x8b], a as u8, Rm::Register(b as u8));
    }
    /// `a = value`.
    pub(crate) fn mov_i(&mut self, a: Reg, value: u64) {
        if let Ok(value) = u32::try_from(value) {
            if a as u8 >= 8 {
                self.byte(0x41);
            }
            self.byte(0xb8 | a as u8 & 7);
            self.dword(value);
        } else {
            self.byte(0x48 | a as u8 >> 3);
            self.byte(0xb8 | a as u8 & 7);
            self.code.extend_from_slice(&value.to_le_bytes());
        }
    }
    /// Loads 64 bits.
    pub(crate) fn load(&mut self, a: Reg, from: Mem) {
        self.encode(None, true, &[0x8b], a as u8, Rm::Memory(from));
    }
    /// Loads 32 bits.
    pub(crate) fn load32(&mut self, a: Reg, from: Mem) {
        self.encode(None, false, &[0x8b], a as u8, Rm::Memory(from));
    }
    /// Loads a byte.
    pub(crate) fn load8(&mut self, a: Reg, from: Mem) {
        self.encode(None, false, &[0x0f, 0xb6], a as u8, Rm::Memory(from));
    }
    /// Loads a signed byte.
    pub(crate) fn load8_signed(&mut self, a: Reg, from: Mem) {
        self.encode(None, false, &[0x0f, 0xbe], a as u8, Rm::Memory(from));
    }
    /// Loads 16 bits.
    pub(crate) fn load16(&mut self, a: Reg, from: Mem) {
        self.encode(None, false, &[0x0f, 0xb7], a as u8, Rm::Memory(from));
    }
    /// Loads 16 bits with their sign.
    pub(crate) fn load16_signed(&mut self, a: Reg, from: Mem) {
        self.encode(None, false, &[0x0f, 0xbf], a as u8, Rm::Memory(from));
    }
    /// Stores 64 bits.
    pub(crate) fn store(&mut self, to: Mem, a: Reg) {
        self.encode(None, true, &[0x89], a as u8, Rm::Memory(to));
    }
    /// Stores 32 bits.
    pub(crate) fn store32(&mut self, to: Mem, a: Reg) {
        self.encode(None, false, &[0x89], a as u8, Rm::Memory(to));
    }
    /// Stores 16 bits.
    pub(crate) fn store16(&mut self, to: Mem, a: Reg) {
        self.encode(Some(0x66), false, &[0x89], a as u8, Rm::Memory(to));
    }
    /// Stores the low byte of rax, rcx, rdx or rbx, the registers that have a name for it without a prefix.
    pub(crate) fn store8(&mut self, to: Mem, a: Reg) {
        debug_assert!((a as u8) < 4);
        self.encode(None, false, &[0x88], a as u8, Rm::Memory(to));
    }
    /// Stores a 64-bit value that is the sign extension of 32 bits.
    pub(crate) fn store_i(&mut self, to: Mem, value: i32) {
        self.encode(None, true, &[0xc7], 0, Rm::Memory(to));
        self.dword(value as u32);
    }
    /// Stores 32 bits.
    pub(crate) fn store32_i(&mut self, to: Mem, value: u32) {
        self.encode(None, false, &[0xc7], 0, Rm::Memory(to));
        self.dword(value);
    }
    /// `a = address`.
    pub(crate) fn lea(&mut self, a: Reg, address: Mem) {
        self.encode(None, true, &[0x8d], a as u8, Rm::Memory(address));
    }
    /// `a = a op b`.
    pub(crate) fn alu(&mut self, width: Width, op: Alu, a: Reg, b: Reg) {
        self.encode(None, width == Width::W64, &[(op as u8) << 3 | 3], a as u8, Rm::Register(b as u8));
    }
    /// `a = a op memory`.
    pub(crate) fn alu_m(&mut self, width: Width, op: Alu, a: Reg, b: Mem) {
        self.encode(None, width == Width::W64, &[(op as u8) << 3 | 3], a as u8, Rm::Memory(b));
    }
    /// `a = a op value`.
    pub(crate) fn alu_i(&mut self, width: Width, op: Alu, a: Reg, value: i32) {
        self.immediate(width, op, Rm::Register(a as u8), value);
    }
    /// `memory = memory op value`.
    pub(crate) fn alu_mi(&mut self, width: Width, op: Alu, a: Mem, value: i32) {
        self.immediate(width, op, Rm::Memory(a), value);
    }
    fn immediate(&mut self, width: Width, op: Alu, rm: Rm, value: i32) {
        if let Ok(value) = i8::try_from(value) {
            self.encode(None, width == Width::W64, &[0x83], op as u8, rm);
            self.byte(value as u8);
        } else {
            self.encode(None, width == Width::W64, &[0x81], op as u8, rm);
            self.dword(value as u32);
        }
    }
    /// Compares a byte.
    pub(crate) fn cmp8_mi(&mut self, a: Mem, value: u8) {
        self.encode(None, false, &[0x80], Alu::Cmp as u8, Rm::Memory(a));
        self.byte(value);
    }
    /// Sets the flags of `a & b`.
    pub(crate) fn test(&mut self, width: Width, a: Reg, b: Reg) {
        self.encode(None, width == Width::W64, &[0x85], b as u8, Rm::Register(a as u8));
    }
    /// Sets the flags of `memory & value`, 32 bits.
    pub(crate) fn test_mi(&mut self, a: Mem, value: u32) {
        self.encode(None, false, &[0xf7], 0, Rm::Memory(a));
        self.dword(value);
    }
    /// `a = a * b`, 32 bits.
    pub(crate) fn imul(&mut self, a: Reg, b: Reg) {
        self.encode(None, false, &[0x0f, 0xaf], a as u8, Rm::Register(b as u8));
    }
    /// `eax, edx = edx:eax / a, remainder`, unsigned, 32 bits.
    pub(crate) fn div(&mut self, a: Reg) {
        self.encode(None, false, &[0xf7], 6, Rm::Register(a as u8));
    }
    /// `a = -a`, 32 bits.
    pub(crate) fn neg(&mut self, a: Reg) {
        self.encode(None, false, &[0xf7], 3, Rm::Register(a as u8));
    }
    /// `a = ~a`, 32 bits.
    pub(crate) fn not(&mut self, a: Reg) {
        self.encode(None, false, &[0xf7], 2, Rm::Register(a as u8));
    }
    /// Shifts `a` by `count`, 32 bits.
    pub(crate) fn shift_i(&mut self, shift: Shift, a: Reg, count: u8) {
        self.encode(None, false, &[0xc1], shift as u8, Rm::Register(a as u8));
        self.byte(count & 31);
    }
    /// Shifts `a` by cl, 32 bits.
    pub(crate) fn shift_cl(&mut self, shift: Shift, a: Reg) {
        self.encode(None, false, &[0xd3], shift as u8, Rm::Register(a as u8));
    }
    /// `a` = the bits of `x`.
    pub(crate) fn from_double(&mut self, a: Reg, x: Xmm) {
        self.encode(Some(0x66), true, &[0x0f, 0x7e], x as u8, Rm::Register(a as u8));
    }
    /// `x` = the bits of `a`.
    pub(crate) fn to_double(&mut self, x: Xmm, a: Reg) {
        self.encode(Some(0x66), true, &[0x0f, 0x6e], x as u8, Rm::Register(a as u8));
    }
    /// `x` = the int32 `a`.
    pub(crate) fn int_to_double(&mut self, x: Xmm, a: Reg) {
        // The conversion leaves the upper half, on whose last writer it would wait.
        self.encode(None, false, &[0x0f, 0x57], x as u8, Rm::Register(x as u8));
        self.encode(Some(0xf2), false, &[0x0f, 0x2a], x as u8, Rm::Register(a as u8));
    }
    /// `x` = the int64 `a`.
    pub(crate) fn int64_to_double(&mut self, x: Xmm, a: Reg) {
        self.encode(None, false, &[0x0f, 0x57], x as u8, Rm::Register(x as u8));
        self.encode(Some(0xf2), true, &[0x0f, 0x2a], x as u8, Rm::Register(a as u8));
    }
    /// `a` = the double `x` cut to an integer of `width`.
    pub(crate) fn double_to_int(&mut self, width: Width, a: Reg, x: Xmm) {
        self.encode(Some(0xf2), width == Width::W64, &[0x0f, 0x2c], a as u8, Rm::Register(x as u8));
    }
    /// `x = x op y`.
    pub(crate) fn sse(&mut self, op: Sse, x: Xmm, y: Xmm) {
        self.encode(Some(0xf2), false, &[0x0f, op as u8], x as u8, Rm::Register(y as u8));
    }
    /// `x = y` rounded down.
    pub(crate) fn floor(&mut self, x: Xmm, y: Xmm) {
        self.encode(Some(0x66), false, &[0x0f, 0x3a, 0x0b], x as u8, Rm::Register(y as u8));
        // Down, and without the exception for what is not exact.
        self.byte(9);
    }
    /// `a` = the zero bits above the highest one of `b`, 32 bits.
    pub(crate) fn lzcnt(&mut self, a: Reg, b: Reg) {
        self.encode(Some(0xf3), false, &[0x0f, 0xbd], a as u8, Rm::Register(b as u8));
    }
    /// Compares two doubles.
    pub(crate) fn compare_doubles(&mut self, x: Xmm, y: Xmm) {
        self.encode(Some(0x66), false, &[0x0f, 0x2e], x as u8, Rm::Register(y as u8));
    }
    /// Loads a double.
    pub(crate) fn load_double(&mut self, x: Xmm, from: Mem) {
        self.encode(Some(0xf2), false, &[0x0f, 0x10], x as u8, Rm::Memory(from));
    }
    /// Stores a double.
    pub(crate) fn store_double(&mut self, to: Mem, x: Xmm) {
        self.encode(Some(0xf2), false, &[0x0f, 0x11], x as u8, Rm::Memory(to));
    }
    /// Loads a float as a double.
    pub(crate) fn load_float(&mut self, x: Xmm, from: Mem) {
        self.encode(Some(0xf3), false, &[0x0f, 0x5a], x as u8, Rm::Memory(from));
    }
    /// Rounds `x` to a float.
    pub(crate) fn double_to_float(&mut self, x: Xmm) {
        self.encode(Some(0xf2), false, &[0x0f, 0x5a], x as u8, Rm::Register(x as u8));
    }
    /// Stores a float.
    pub(crate) fn store_float(&mut self, to: Mem, x: Xmm) {
        self.encode(Some(0xf3), false, &[0x0f, 0x11], x as u8, Rm::Memory(to));
    }
    /// Goes on at `label`.
    pub(crate) fn jmp(&mut self, label: Label) {
        self.byte(0xe9);
        self.distance(label);
    }
    /// Goes on at `label` if `cond`.
    pub(crate) fn jcc(&mut self, cond: Cond, label: Label) {
        self.byte(0x0f);
        self.byte(0x80 | cond as u8);
        self.distance(label);
    }
    fn distance(&mut self, label: Label) {
        let at = self.code.len() as u32;
        self.fixups.push((at, label));
        self.dword(0);
    }
    /// Calls the code at an address.
    pub(crate) fn call_to(&mut self, address: usize) {
        self.byte(0xe8);
        self.outside.push((self.code.len() as u32, address));
        self.dword(0);
    }
    /// Goes on at an address.
    pub(crate) fn jmp_to(&mut self, address: usize) {
        self.byte(0xe9);
        self.outside.push((self.code.len() as u32, address));
        self.dword(0);
    }
    /// Goes on where `a` says.
    pub(crate) fn jmp_r(&mut self, a: Reg) {
        self.encode(None, false, &[0xff], 4, Rm::Register(a as u8));
    }
    /// Goes on where memory says.
    pub(crate) fn jmp_m(&mut self, a: Mem) {
        self.encode(None, false, &[0xff], 4, Rm::Memory(a));
    }
    /// Calls the code that `a` points to.
    pub(crate) fn call_r(&mut self, a: Reg) {
        self.encode(None, false, &[0xff], 2, Rm::Register(a as u8));
    }
    /// `a = address of label`.
    pub(crate) fn lea_label(&mut self, a: Reg, label: Label) {
        self.byte(0x48 | (a as u8 >> 3) << 2);
        self.byte(0x8d);
        self.byte((a as u8 & 7) << 3 | 5);
        self.distance(label);
    }
    /// Pushes a register.
    pub(crate) fn push(&mut self, a: Reg) {
        if a as u8 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x50 | a as u8 & 7);
    }
    /// Pops a register.
    pub(crate) fn pop(&mut self, a: Reg) {
        if a as u8 >= 8 {
            self.byte(0x41);
        }
        self.byte(0x58 | a as u8 & 7);
    }
    /// Stops the process.
    pub(crate) fn trap(&mut self) {
        self.byte(0xcc);
    }
    /// Returns.
    pub(crate) fn ret(&mut self) {
        self.byte(0xc3);
    }
}
