//! The template tier: which functions are compiled, and installing their code.
//!
//! What is hot is seen at looks at the limits only, every few thousand steps, so that the interpreter counts nothing. Steps are
//! deterministic, so that the same program compiles the same functions at the same steps.
//! Left to others: what the code is (`template`), where it lies (`code`, `region`).

#[path = "code.rs"]
mod code;
#[path = "listing.rs"]
mod listing;
#[path = "masm/mod.rs"]
mod masm;
#[path = "offsets.rs"]
mod offsets;
#[path = "region.rs"]
mod region;
#[path = "stubs.rs"]
mod stubs;
#[path = "template/mod.rs"]
mod template;
#[path = "typed.rs"]
mod typed;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use rustc_hash::FxHashMap;

use self::code::CodeSpace;
use super::Stats;
use crate::gc::{Data, Gc};
use crate::limits;
use crate::vm::Vm;
use crate::vm::interpreter::compiled::Compiler;
use crate::vm::interpreter::template::FunctionTemplate;

/// What compiles the functions of one isolate: `force`, before they run.
pub(super) fn compiler(force: bool) -> Option<Rc<dyn Compiler>> {
    Some(Rc::new(Tier { space: OnceCell::new(), force, heat: RefCell::default(), stats: RefCell::default() }))
}

struct Tier {
    /// Made for the first function that is compiled; `None` if the system refuses executable memory.
    space: OnceCell<Option<CodeSpace>>,
    force: bool,
    /// By address of the template. A function that is gone leaves its heat to whoever is made in its place, which does no harm.
    heat: RefCell<FxHashMap<usize, u32>>,
    stats: RefCell<Stats>,
}

impl Compiler for Tier {
    fn polled(&self, vm: &mut Vm) {
        // The running function, and those that wait for it.
        for i in 0..=limits::JIT_FRAMES_SEEN {
            let Some(template) = vm.interpreter.template_of_frame(i) else { break };
            self.warm(vm, template, if i == 0 { limits::JIT_HEAT_TOP } else { limits::JIT_HEAT_BELOW });
        }
    }

    fn called(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>) {
        self.warm(vm, template, limits::JIT_HEAT_TOP);
    }

    fn entered(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>) {
        self.warm(vm, template, limits::JIT_HEAT_FROM_CODE);
    }

    fn linked(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>) {
        if self.force {
            self.compile(vm, template);
        }
    }

    fn listing(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>) -> Option<String> {
        let space = self.space.get_or_init(CodeSpace::reserve).as_ref()?;
        let translation = template::translate(vm, template, space.stubs());
        listing::listing(&template, translation, space.stubs())
    }

    fn stats(&self) -> Stats {
        let space = self.space.get().and_then(Option::as_ref);
        Stats {
            used_bytes: space.map_or(0, CodeSpace::used_bytes),
            out_of_line: space.map_or_else(Vec::new, |space| space.stubs().out_of_line()),
            ..self.stats.borrow().clone()
        }
    }
}

impl Tier {
    /// Notes that a function was met, and compiles it when that was often enough.
    fn warm(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>, by: u32) {
        if template.compiled().is_some() {
            return;
        }
        let mut heat = self.heat.borrow_mut();
        if heat.len() >= limits::JIT_HEAT_ENTRIES_MAX {
            heat.clear();
        }
        let entry = heat.entry(template.addr()).or_default();
        *entry += by;
        // Beyond the threshold it was refused once and would be again.
        if (limits::JIT_HEAT..limits::JIT_HEAT + by).contains(entry) {
            drop(heat);
            self.compile(vm, template);
        }
    }

    fn compile(&self, vm: &mut Vm, template: Gc<Data<FunctionTemplate>>) {
        let started = Instant::now();
        let words = template.function.code.len();
        let space = self.space.get_or_init(CodeSpace::reserve);
        let code = space.as_ref().filter(|_| words <= limits::JIT_WORDS_MAX).and_then(|space| {
            let translation = template::translate(vm, template, space.stubs());
            space.place(vm, translation)
        });
        let mut stats = self.stats.borrow_mut();
        match code {
            Some(compiled) => {
                stats.functions += 1;
                stats.words += words as u64;
                stats.code_bytes += compiled.len as u64;
                template.install(compiled);
            }
            None => stats.refused += 1,
        }
        stats.compile_ns += started.elapsed().as_nanos() as u64;
    }
}
