//! The function under construction: registers, constants, cache sites and the control stack.

use rustc_hash::FxHashMap;

use super::control::Control;
use super::{Generator, Reg, Result, Unsupported};
use crate::bytecode::code::{
    ClassSite, CodeKind, Constant, EvalSite, FunctionCode, GlobalDeclarations, TemplateSite, Text,
};
use crate::bytecode::{Assembler, Label, Op, spill};
use std::sync::Arc;

/// Registers that a function may have, those that its frame has no room for included.
const REGISTERS_MAX: u16 = 60_000;

/// A constant in the form that deduplicates.
#[derive(PartialEq, Eq, Hash)]
enum ConstantKey {
    Number(u64),
    String(Text),
    BigInt(Box<str>),
}

/// One function under construction.
pub(super) struct Builder<'a> {
    pub(super) asm: Assembler,
    pub(super) kind: CodeKind,
    pub(super) name: Text,
    pub(super) is_generator: bool,
    pub(super) is_async: bool,
    pub(super) parameters: u32,
    pub(super) length: u32,
    pub(super) needs_arguments: bool,
    pub(super) span: (u32, u32),
    constants: Vec<Constant>,
    constant_index: FxHashMap<ConstantKey, u32>,
    ic_sites: Vec<u32>,
    pub(super) functions: Vec<Arc<FunctionCode>>,
    pub(super) object_literals: Vec<Box<[u32]>>,
    pub(super) templates: Vec<TemplateSite>,
    pub(super) classes: Vec<ClassSite>,
    pub(super) eval_sites: Vec<EvalSite>,
    pub(super) globals: GlobalDeclarations,
    pub(super) control: Vec<Control<'a>>,
    /// Where `?.` goes when its base is nullish.
    pub(super) chain_exits: Vec<Label>,
    pub(super) next_register: u16,
    registers: u16,
    pub(super) env: Option<Reg>,
    /// The register of the completion value (scripts and eval).
    pub(super) completion: Option<Reg>,
    /// The finalisers that the code being generated is in, innermost last: the control depth each began at, and the
    /// register of the completion value around it.
    pub(super) finalizers: Vec<(usize, Reg)>,
    /// Labels waiting for the statement they name.
    pub(super) pending_labels: Vec<&'a str>,
    /// Parameters that are plain names, with the register the argument arrives in.
    pub(super) parameter_registers: FxHashMap<&'a str, Reg>,
    /// The list of resources that `using` declarations of the current block add to.
    pub(super) disposables: Option<Reg>,
}

impl Builder<'_> {
    pub(super) fn new(kind: CodeKind, name: &str, span: (u32, u32)) -> Self {
        Self {
            asm: Assembler::default(),
            kind,
            name: name.into(),
            is_generator: false,
            is_async: false,
            parameters: 0,
            length: 0,
            needs_arguments: false,
            span,
            constants: Vec::new(),
            constant_index: FxHashMap::default(),
            ic_sites: Vec::new(),
            functions: Vec::new(),
            object_literals: Vec::new(),
            templates: Vec::new(),
            classes: Vec::new(),
            eval_sites: Vec::new(),
            globals: GlobalDeclarations::default(),
            control: Vec::new(),
            chain_exits: Vec::new(),
            next_register: 1,
            registers: 1,
            env: None,
            completion: None,
            finalizers: Vec::new(),
            pending_labels: Vec::new(),
            parameter_registers: FxHashMap::default(),
            disposables: None,
        }
    }

    fn constant(&mut self, key: ConstantKey, make: impl FnOnce() -> Constant) -> u32 {
        let constants = &mut self.constants;
        *self.constant_index.entry(key).or_insert_with(|| {
            constants.push(make());
            constants.len() as u32 - 1
        })
    }

    pub(super) fn number(&mut self, number: f64) -> u32 {
        self.constant(ConstantKey::Number(number.to_bits()), || Constant::Number(number))
    }

    pub(super) fn string(&mut self, text: impl Into<Text>) -> u32 {
        let text = text.into();
        self.constant(ConstantKey::String(text.clone()), || Constant::String(text))
    }

    pub(super) fn bigint(&mut self, digits: &str) -> u32 {
        self.constant(ConstantKey::BigInt(digits.into()), || Constant::BigInt(digits.into()))
    }

    /// A fresh cache site for the property or global `name`.
    pub(super) fn ic(&mut self, name: impl Into<Text>) -> u32 {
        let name = self.string(name);
        self.ic_sites.push(name);
        self.ic_sites.len() as u32 - 1
    }

    /// A fresh cache site for a computed key.
    pub(super) fn keyed_ic(&mut self) -> u32 {
        self.ic_sites.push(u32::MAX);
        self.ic_sites.len() as u32 - 1
    }
}

impl<'a> Generator<'a> {
    /// Allocates a register above all others.
    pub(super) fn alloc(&mut self) -> Result<Reg> {
        self.alloc_run(1)
    }

    /// Allocates `count` consecutive registers and returns the first.
    pub(super) fn alloc_run(&mut self, count: u16) -> Result<Reg> {
        let first = self.f.next_register;
        let spills = self.f.asm.spills();
        // A run lies on one side of the bound.
        let first = if spills && first < spill::DIRECT && first.saturating_add(count) > spill::DIRECT {
            spill::DIRECT
        } else {
            first
        };
        let end = first.saturating_add(count);
        if end > REGISTERS_MAX {
            let message = "this function needs too many registers: split the expression or the function";
            return Err(Unsupported { message, offset: self.f.asm.last_position().unwrap_or(self.f.span.0) });
        }
        if spills && count > spill::RUN_MAX {
            let message = "too many properties are left out by the rest of a pattern";
            return Err(Unsupported { message, offset: self.f.asm.last_position().unwrap_or(self.f.span.0) });
        }
        self.f.next_register = end;
        self.f.registers = self.f.registers.max(end);
        Ok(first)
    }

    /// How many registers of the frame are left.
    pub(super) fn registers_left(&self) -> usize {
        usize::from(spill::FRAME.saturating_sub(self.f.next_register))
    }

    /// Makes room for registers beyond the frame's, if this function is known to need them.
    pub(super) fn begin_spilling(&mut self) -> Result {
        if self.spilling.contains(&self.f.span) {
            let register = self.alloc()?;
            self.f.asm.begin_spilling(register as u8);
        }
        Ok(())
    }

    /// The allocation state, to be given back to [`Self::free`].
    pub(super) fn mark(&self) -> u16 {
        self.f.next_register
    }

    /// Frees every register allocated since `mark`.
    pub(super) fn free(&mut self, mark: u16) {
        self.f.next_register = mark;
    }

    pub(super) fn pos(&mut self, offset: u32) {
        self.f.asm.position(offset);
    }

    pub(super) fn op(&mut self, op: Op, a: Reg, b: Reg, c: Reg) {
        self.f.asm.op(op, a, b, c);
    }

    pub(super) fn op_x(&mut self, op: Op, a: Reg, b: Reg, c: Reg, x: u32) {
        self.f.asm.op_x(op, a, b, c, x);
    }

    pub(super) fn label(&mut self) -> Label {
        self.f.asm.label()
    }

    pub(super) fn bind(&mut self, label: Label) {
        self.f.asm.bind(label);
    }

    pub(super) fn bound(&mut self) -> Label {
        self.f.asm.bound()
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.f.asm.jump(label);
    }

    pub(super) fn branch(&mut self, op: Op, a: Reg, label: Label) {
        self.f.asm.branch(op, a, 0, 0, label);
    }

    /// `dst = src`, unless they are the same.
    pub(super) fn mov(&mut self, dst: Reg, src: Reg) {
        if dst != src {
            self.op(Op::Mov, dst, src, 0);
        }
    }

    pub(super) fn load_int(&mut self, dst: Reg, value: i32) {
        match i16::try_from(value) {
            Ok(small) => self.f.asm.op_d(Op::LoadInt, dst, small),
            Err(_) => {
                let index = self.f.number(f64::from(value));
                self.op_x(Op::LoadConst, dst, 0, 0, index);
            }
        }
    }

    pub(super) fn load_string(&mut self, dst: Reg, text: impl Into<Text>) {
        let index = self.f.string(text);
        self.op_x(Op::LoadConst, dst, 0, 0, index);
    }

    pub(super) fn get_prop(&mut self, dst: Reg, object: Reg, name: &str) {
        let ic = self.f.ic(name);
        let op = if name == "length" { Op::GetLength } else { Op::GetProp };
        self.op_x(op, dst, object, 0, ic);
    }

    /// Ends the function under construction.
    pub(super) fn finish_function(&mut self) -> Result<FunctionCode> {
        self.poll(self.f.span.0)?;
        let f = std::mem::replace(
            &mut self.f,
            self.outer.pop().unwrap_or_else(|| Builder::new(CodeKind::Script, "", (0, 0))),
        );
        if f.registers > spill::FRAME && !f.asm.spills() {
            self.spilling.insert(f.span);
            self.begins_anew = true;
        }
        let too_far = Unsupported { message: "this function is too large", offset: f.span.0 };
        let assembled = f.asm.finish().ok_or(too_far)?;
        Ok(FunctionCode {
            name: f.name,
            kind: f.kind,
            is_generator: f.is_generator,
            is_async: f.is_async,
            parameters: f.parameters,
            length: f.length,
            registers: u32::from(if assembled.spilled.is_some() { spill::FRAME } else { f.registers }),
            spilled: assembled.spilled,
            needs_arguments: f.needs_arguments,
            code: assembled.code,
            constants: f.constants,
            ic_sites: f.ic_sites,
            handlers: assembled.handlers,
            positions: assembled.positions,
            functions: f.functions,
            object_literals: f.object_literals,
            templates: f.templates,
            classes: f.classes,
            eval_sites: f.eval_sites,
            globals: f.globals,
            span: f.span,
            source: self.source.clone(),
        })
    }
}
