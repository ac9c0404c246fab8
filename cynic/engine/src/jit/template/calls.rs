//! Calls of closures and returns to compiled code: frames are pushed and popped as the interpreter does it, and jumped between.

use super::super::masm::{Alu, Cond, Label, Reg, Width, at, below, indexed};
use super::super::offsets::{FRAME, ICS, REGS, VM, frame, of_frame, register, template};
use super::super::stubs::{load_frame, note_frame};
use super::{Origin, Translator};
use crate::bytecode::Op;
use crate::gc::{CellKind, Data, Gc, offsets as cell};
use crate::object::{OBJECT_HEADER_BYTES, ObjectKind};
use crate::value::Value;
use crate::vm::interpreter::call::{STACK_RESERVE, class_shape, closure_template, slots_to_construct};
use crate::vm::interpreter::closure::TEMPLATE_SLOT;
use crate::vm::interpreter::frame_flags;
use crate::vm::interpreter::template::{FunctionTemplate, template_flags};
use crate::vm::offsets as vm;

/// A closure that is probably called: what belongs to its template is written into the code.
#[derive(Clone, Copy)]
struct Known {
    closure: Value,
    template: Gc<Data<FunctionTemplate>>,
}

impl Translator<'_> {
    /// A call or a return; false if this instruction is none.
    pub(super) fn call_or_return(&mut self) -> bool {
        match self.place.op {
            Op::Call => self.call(),
            Op::New => self.construct(),
            Op::TailCall => self.tail_call(),
            Op::Ret => self.give_back(Some(self.a())),
            Op::RetUndefined => self.give_back(None),
            _ => return false,
        }
        true
    }

    /// The closure that this instruction probably calls, if it has `wanted` of the flags and none of the `others`, and can be entered with
    /// this many arguments.
    fn known_callee(&mut self, wanted: u32, others: u32) -> Option<Known> {
        const FILLED_MAX: usize = 4;
        let value = match self.origins[self.b()]? {
            Origin::Method(site) => self.template.method_of_site(self.vm, site)?,
            Origin::Global(site) => self.template.global_of_site(self.global, site)?,
        };
        let closure = value.as_object().filter(|closure| closure.is(ObjectKind::Closure))?;
        let template = closure_template(closure);
        let (count, parameters) = (self.c(), template.parameters as usize);
        let fits = if count > parameters {
            template.flags & template_flags::NEEDS_ARGUMENTS == 0
        } else {
            parameters - count <= FILLED_MAX
        };
        let same_realm = template.realm.addr() == self.template.realm.addr();
        if !fits || !same_realm || template.flags & (wanted | others) != wanted {
            return None;
        }
        self.named.push(value);
        Some(Known { closure: value, template })
    }

    /// A call of the closure that is probably called, of others behind the code.
    fn call(&mut self) {
        let Some(known) = self.known_callee(0, template_flags::CLASS_CONSTRUCTOR) else {
            return self.call_any();
        };
        let other = self.elsewhere(|t| t.call_any());
        let slow = self.out_of_line();
        self.prepare_known(known, other, slow);
        self.step();
        self.enter_known(known, 0);
    }

    /// rdi = register 0 of a frame of the closure in register b, rsi = the end of its registers, rdx = its template, r8 = its code unless
    /// that is known; elsewhere if the closure is not `known`, out of line if it cannot be entered.
    fn prepare_known(&mut self, known: Known, other: Label, slow: Label) {
        self.get(Reg::Rax, self.b());
        self.constant(Reg::Rcx, known.closure.to_bits());
        self.asm.alu(Width::W64, Alu::Cmp, Reg::Rax, Reg::Rcx);
        self.asm.jcc(Cond::NotEqual, other);
        self.constant(Reg::Rdx, known.template.addr() as u64);
        if self.known_code(known).is_none() {
            self.asm.load(Reg::R8, at(Reg::Rdx, template::ENTRY));
            self.asm.test(Width::W64, Reg::R8, Reg::R8);
            self.asm.jcc(Cond::Equal, slow);
        }
        self.callee_window();
        self.asm.lea(Reg::Rsi, at(REGS, (self.b() + 1 + known.template.registers as usize) * 8));
        self.check_end(slow);
        self.check_frames(slow);
    }

    /// Where the code of a closure is, if it has been compiled.
    fn known_code(&self, known: Known) -> Option<usize> {
        let entry = known.template.entry.get();
        (!entry.is_null()).then_some(entry as usize)
    }

    /// Enters the closure that [`Translator::prepare_known`] has prepared for.
    fn enter_known(&mut self, known: Known, flags: u8) {
        let count = self.c();
        for i in count..known.template.parameters as usize {
            self.asm.store_i(register(self.b() + 2 + i), Value::UNDEFINED.to_bits() as i32);
        }
        self.push_record(frame::SIZE, Some((flags, count)), Some(known));
        self.wait_and_enter();
        match self.known_code(known) {
            Some(code) => self.asm.jmp_to(code),
            None => self.asm.jmp_r(Reg::R8),
        }
    }

    /// A call of a compiled closure; of a native function behind the code.
    fn call_any(&mut self) {
        let slow = self.out_of_line();
        let native = self.elsewhere(move |t| {
            let general = t.asm.label();
            t.check_kind(Reg::Rax, Reg::Rcx, ObjectKind::NativeFunction, slow);
            t.call_in_line(general);
            t.asm.bind(general);
            t.distance();
            t.asm.call_to(t.stubs.native);
            let next = t.next();
            t.asm.jmp(next);
        });
        self.compiled_callee(native, slow);
        self.fit_arguments(slow);
        self.asm.test_mi(at(Reg::Rdx, template::FLAGS), template_flags::CLASS_CONSTRUCTOR);
        self.asm.jcc(Cond::NotEqual, slow);
        self.check_room(slow);
        self.step();
        self.enter(0, self.c());
    }

    /// A call of a compiled closure with as many arguments as it has parameters, in this frame's place. The frame's flags say that it may
    /// be left: they stay what they are, as does the register that takes the result.
    fn tail_call(&mut self) {
        const COPIED_MAX: usize = 8;
        let slow = self.out_of_line();
        let (base, count) = (self.b(), self.c());
        if count + 2 > COPIED_MAX {
            self.asm.jmp(slow);
            return;
        }
        self.asm.load8(Reg::Rcx, of_frame(frame::FLAGS));
        self.asm.alu_i(Width::W32, Alu::And, Reg::Rcx, i32::from(!frame_flags::FROM_CODE));
        self.asm.jcc(Cond::NotEqual, slow);
        self.compiled_callee(slow, slow);
        self.asm.alu_mi(Width::W32, Alu::Cmp, at(Reg::Rdx, template::PARAMETERS), count as i32);
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.test_mi(at(Reg::Rdx, template::FLAGS), template_flags::CLASS_CONSTRUCTOR);
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.mov(Reg::Rdi, REGS);
        self.callee_end();
        self.check_end(slow);
        // One step of the call, and one for the frame.
        self.steps(2);
        for i in 0..count + 2 {
            self.get(Reg::Rax, base + i);
            // The callee is below register 0.
            self.asm.store(if i == 0 { below(REGS, 8) } else { register(i - 1) }, Reg::Rax);
        }
        self.push_record(0, None, None);
        self.asm.store32_i(of_frame(frame::ARGUMENT_COUNT), count as u32);
        self.asm.jmp_r(Reg::R8);
    }

    /// A call of the getter rax of the object in register b, if it is a compiled closure without parameters.
    pub(super) fn enter_getter(&mut self, slow: Label) {
        self.compiled_closure(slow, slow);
        self.asm.alu_mi(Width::W32, Alu::Cmp, at(Reg::Rdx, template::PARAMETERS), 0);
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.test_mi(at(Reg::Rdx, template::FLAGS), template_flags::CLASS_CONSTRUCTOR);
        self.asm.jcc(Cond::NotEqual, slow);
        // The window is above the registers of this frame.
        self.asm.load(Reg::Rdi, of_frame(frame::END));
        self.asm.alu_i(Width::W64, Alu::Add, Reg::Rdi, 8);
        self.callee_end();
        self.check_end(slow);
        self.check_frames(slow);
        // One step of the call, and one for the frame.
        self.steps(2);
        self.asm.store(below(Reg::Rdi, 8), Reg::Rax);
        self.get(Reg::Rax, self.b());
        self.asm.store(at(Reg::Rdi, 0), Reg::Rax);
        self.enter(0, 0);
    }

    /// Construction of what a compiled closure that is no derived constructor makes, if the shape is known.
    fn construct(&mut self) {
        let Some(known) = self.known_callee(template_flags::CONSTRUCTOR, template_flags::DERIVED) else {
            return self.construct_any();
        };
        let other = self.elsewhere(|t| t.construct_any());
        let slow = self.out_of_line();
        self.prepare_known(known, other, slow);
        if self.make_this_in_line(known, slow) {
            self.enter_known(known, frame_flags::CONSTRUCT);
            return;
        }
        self.make_this(slow);
        // What was prepared may have been overwritten.
        self.constant(Reg::Rdx, known.template.addr() as u64);
        if self.known_code(known).is_none() {
            self.asm.load(Reg::R8, at(Reg::Rdx, template::ENTRY));
        }
        self.callee_window();
        self.asm.lea(Reg::Rsi, at(REGS, (self.b() + 1 + known.template.registers as usize) * 8));
        self.enter_known(known, frame_flags::CONSTRUCT);
    }

    fn construct_any(&mut self) {
        let slow = self.out_of_line();
        let base = self.b();
        self.compiled_callee(slow, slow);
        self.fit_arguments(slow);
        let wanted = template_flags::CONSTRUCTOR;
        self.asm.load32(Reg::Rcx, at(Reg::Rdx, template::FLAGS));
        self.asm.alu_i(Width::W32, Alu::And, Reg::Rcx, (wanted | template_flags::DERIVED) as i32);
        self.asm.alu_i(Width::W32, Alu::Cmp, Reg::Rcx, wanted as i32);
        self.asm.jcc(Cond::NotEqual, slow);
        self.check_room(slow);
        self.make_this(slow);
        self.get(Reg::Rax, base);
        self.asm.load(Reg::Rdx, at(Reg::Rax, OBJECT_HEADER_BYTES + TEMPLATE_SLOT as usize * 8));
        self.asm.load(Reg::R8, at(Reg::Rdx, template::ENTRY));
        self.callee_window();
        self.callee_end();
        self.enter(frame_flags::CONSTRUCT, self.c());
    }

    /// Makes the object that the constructor of a class begins with, and takes the steps; changes no more than rax and rcx. False if there is
    /// no code for that.
    fn make_this_in_line(&mut self, known: Known, slow: Label) -> bool {
        const CLEARED_MAX: u8 = 16;
        let Some(shape) = known.closure.as_object().and_then(class_shape) else { return false };
        let inline = slots_to_construct(shape);
        if inline > CLEARED_MAX {
            return false;
        }
        // The interpreter takes one in its slow path, and one for the frame.
        self.steps(2);
        let none = self.elsewhere(move |t| {
            t.asm.alu_mi(Width::W32, Alu::Add, at(VM, vm::BUDGET), 2);
            t.asm.jmp(slow);
        });
        let made = self.allocate(shape, inline, none);
        debug_assert!(made, "so few slots are a small cell");
        self.clear_slots(0, inline);
        self.set(self.b() + 1, Reg::Rax);
        true
    }

    /// Makes the object that the constructor in register b begins with, if its shape is known, and takes the steps.
    fn make_this(&mut self, slow: Label) {
        let base = self.b();
        // The interpreter takes one in its slow path, and one for the frame.
        self.steps(2);
        let unknown = self.elsewhere(move |t| {
            t.asm.alu_mi(Width::W32, Alu::Add, at(VM, vm::BUDGET), 2);
            t.asm.jmp(slow);
        });
        // Making the object may collect, which looks at where the frame is.
        self.note_place();
        note_frame(&mut self.asm);
        self.asm.mov(Reg::Rdi, VM);
        self.get(Reg::Rsi, base);
        self.asm.call_to(self.stubs.new_this);
        self.asm.test(Width::W64, Reg::Rax, Reg::Rax);
        self.asm.jcc(Cond::Equal, unknown);
        self.set(base + 1, Reg::Rax);
    }

    /// rdx = the template of the closure in register b, r8 = its code; elsewhere if it is none of this realm that is compiled, or no closure.
    fn compiled_callee(&mut self, no_closure: Label, slow: Label) {
        self.get(Reg::Rax, self.b());
        self.check_cell(Reg::Rax, slow);
        self.compiled_closure(no_closure, slow);
    }

    /// The same of the cell rax.
    fn compiled_closure(&mut self, no_closure: Label, slow: Label) {
        self.check_kind(Reg::Rax, Reg::Rcx, ObjectKind::Closure, no_closure);
        self.asm.load(Reg::Rdx, at(Reg::Rax, OBJECT_HEADER_BYTES + TEMPLATE_SLOT as usize * 8));
        self.asm.load(Reg::Rcx, at(Reg::Rdx, template::REALM));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, at(VM, vm::REALM));
        self.asm.jcc(Cond::NotEqual, slow);
        self.asm.load(Reg::R8, at(Reg::Rdx, template::ENTRY));
        self.asm.test(Width::W64, Reg::R8, Reg::R8);
        self.asm.jcc(Cond::Equal, slow);
    }

    /// Makes the arguments as many as the template rdx has parameters: those that are missing are undefined, and those beyond stay where
    /// they are unless the callee wants all of them.
    fn fit_arguments(&mut self, slow: Label) {
        let back = self.asm.label();
        let count = self.c() as i32;
        let other = self.elsewhere(move |t| {
            let fill = t.asm.label();
            t.asm.jcc(Cond::Above, fill);
            t.asm.test_mi(at(Reg::Rdx, template::FLAGS), template_flags::NEEDS_ARGUMENTS);
            t.asm.jcc(Cond::NotEqual, slow);
            t.asm.jmp(back);
            t.asm.bind(fill);
            // The parameters' registers must be there.
            t.callee_window();
            t.callee_end();
            t.check_end(slow);
            t.asm.load32(Reg::Rcx, at(Reg::Rdx, template::PARAMETERS));
            let again = t.asm.label();
            t.asm.bind(again);
            t.asm.store_i(indexed(Reg::Rdi, Reg::Rcx, 3, 0), Value::UNDEFINED.to_bits() as i32);
            t.asm.alu_i(Width::W32, Alu::Sub, Reg::Rcx, 1);
            t.asm.alu_i(Width::W32, Alu::Cmp, Reg::Rcx, count);
            t.asm.jcc(Cond::Above, again);
            t.asm.jmp(back);
        });
        self.asm.alu_mi(Width::W32, Alu::Cmp, at(Reg::Rdx, template::PARAMETERS), count);
        self.asm.jcc(Cond::NotEqual, other);
        self.asm.bind(back);
    }

    /// rdi = where register 0 of a callee with its window at register b is.
    fn callee_window(&mut self) {
        self.asm.lea(Reg::Rdi, at(REGS, (self.b() + 1) * 8));
    }

    /// rsi = the end of the registers of a frame for the template rdx, of which the first is at rdi.
    fn callee_end(&mut self) {
        self.asm.load32(Reg::Rsi, at(Reg::Rdx, template::REGISTERS));
        self.asm.lea(Reg::Rsi, indexed(Reg::Rdi, Reg::Rsi, 3, 0));
    }

    /// rdi = register 0 of a callee's frame, rsi = its end; elsewhere if there is no room for it.
    fn check_room(&mut self, slow: Label) {
        self.callee_window();
        self.callee_end();
        self.check_end(slow);
        self.check_frames(slow);
    }

    /// Elsewhere unless registers may end at rsi. Changes rcx.
    fn check_end(&mut self, slow: Label) {
        self.asm.lea(Reg::Rcx, at(Reg::Rsi, STACK_RESERVE * 8));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, at(VM, vm::STACK_LIMIT));
        self.asm.jcc(Cond::Above, slow);
    }

    /// Elsewhere unless there may be one more frame. Changes rcx.
    fn check_frames(&mut self, slow: Label) {
        self.asm.lea(Reg::Rcx, at(FRAME, frame::SIZE));
        self.asm.alu_m(Width::W64, Alu::Cmp, Reg::Rcx, at(VM, vm::FRAMES_END));
        self.asm.jcc(Cond::AboveEqual, slow);
    }

    /// The frame's place is behind this instruction, where the callee returns to.
    fn note_place(&mut self) {
        let place = self.template.code.wrapping_add(self.place.pc + self.place.op.len());
        self.constant(Reg::Rax, place as u64);
        self.asm.store(of_frame(frame::PC), Reg::Rax);
    }

    /// Pushes the record of a frame for the template rdx with the registers from rdi to rsi, and goes to its code at r8.
    fn enter(&mut self, flags: u8, count: usize) {
        self.push_record(frame::SIZE, Some((flags, count)), None);
        self.wait_and_enter();
        self.asm.jmp_r(Reg::R8);
    }

    /// The running frame waits for the one above it, with register 0 at rdi, which runs from here on.
    fn wait_and_enter(&mut self) {
        let back = self.next();
        self.asm.lea_label(Reg::Rax, back);
        self.asm.store(of_frame(frame::RESUME), Reg::Rax);
        self.note_place();
        self.asm.alu_i(Width::W64, Alu::Add, FRAME, frame::SIZE as i32);
        self.asm.mov(REGS, Reg::Rdi);
    }

    /// Writes the record of a frame `above` bytes above the running one's, but for its place, which is noted when somebody may look, and
    /// loads the caches. Flags and count of arguments are those of a call by this instruction, or, at a tail call, the flags stay what they
    /// are.
    fn push_record(&mut self, above: usize, call: Option<(u8, usize)>, known: Option<Known>) {
        let new = |offset: usize| at(FRAME, above + offset);
        self.asm.store(new(frame::REGS), Reg::Rdi);
        self.asm.lea(Reg::Rax, at(Reg::Rdi, 8));
        self.asm.store(new(frame::ARGUMENTS), Reg::Rax);
        self.asm.store(new(frame::END), Reg::Rsi);
        if let Some(Known { template, .. }) = known {
            self.constant(ICS, template.feedback as u64);
            self.constant(Reg::Rax, template.constants as u64);
        } else {
            self.asm.load(ICS, at(Reg::Rdx, template::FEEDBACK));
            self.asm.load(Reg::Rax, at(Reg::Rdx, template::CONSTANTS));
        }
        self.asm.store(new(frame::FEEDBACK), ICS);
        self.asm.store(new(frame::CONSTANTS), Reg::Rax);
        self.asm.store(new(frame::TEMPLATE_CELL), Reg::Rdx);
        self.asm.store_i(new(frame::NEW_TARGET), Value::UNDEFINED.to_bits() as i32);
        self.asm.store_i(new(frame::COROUTINE), Value::UNDEFINED.to_bits() as i32);
        let Some((flags, count)) = call else { return };
        if flags & frame_flags::CONSTRUCT != 0 {
            self.get(Reg::Rax, self.b());
            self.asm.store(new(frame::NEW_TARGET), Reg::Rax);
        }
        // Destination and flags are bytes beside one another, behind the count.
        const _: () = assert!(frame::DST == frame::ARGUMENT_COUNT + 4 && frame::FLAGS == frame::DST + 1);
        self.asm.store32_i(new(frame::ARGUMENT_COUNT), count as u32);
        let flags = u32::from(flags | frame_flags::FROM_CODE);
        self.asm.store32_i(new(frame::DST), self.a() as u32 | flags << 8);
    }

    /// A return to a frame that waits in compiled code; to others, and from frames with flags, out of line.
    fn give_back(&mut self, value: Option<usize>) {
        let slow = self.out_of_line();
        let back = self.asm.label();
        let construct = self.elsewhere(move |t| {
            t.asm.alu_i(
                Width::W32,
                Alu::Cmp,
                Reg::Rax,
                i32::from(frame_flags::FROM_CODE | frame_flags::CONSTRUCT),
            );
            t.asm.jcc(Cond::NotEqual, slow);
            // What is no object is replaced by `this`.
            let this = t.asm.label();
            if value.is_some() {
                t.check_cell(Reg::Rcx, this);
                t.asm.cmp8_mi(at(Reg::Rcx, cell::KIND), CellKind::Object as u8);
                t.asm.jcc(Cond::Equal, back);
            }
            t.asm.bind(this);
            t.get(Reg::Rcx, 0);
            t.asm.jmp(back);
        });
        match value {
            Some(i) => self.get(Reg::Rcx, i),
            None => self.constant(Reg::Rcx, Value::UNDEFINED.to_bits()),
        }
        self.asm.load8(Reg::Rax, of_frame(frame::FLAGS));
        self.asm.alu_i(Width::W32, Alu::Cmp, Reg::Rax, i32::from(frame_flags::FROM_CODE));
        self.asm.jcc(Cond::NotEqual, construct);
        self.asm.bind(back);
        self.asm.load8(Reg::Rdx, of_frame(frame::DST));
        self.asm.alu_i(Width::W64, Alu::Sub, FRAME, frame::SIZE as i32);
        load_frame(&mut self.asm);
        self.asm.store(indexed(REGS, Reg::Rdx, 3, 0), Reg::Rcx);
        self.asm.jmp_m(of_frame(frame::RESUME));
    }
}
