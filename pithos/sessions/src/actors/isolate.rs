//! The isolates of actors: one per group, all on the one thread of the worker's JavaScript pool, reached through thread-locals because
//! native functions have no state of their own. Invariant: guest code runs only inside [`Isolates::turn`], with fresh fuel, and a turn that
//! is ended by a limit leaves the isolate usable for the other actors of the group.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use cynic::builtins::json;
use cynic::compiler::{CompileOptions, compile_script};
use cynic::gc::Persistent;
use cynic::object::function::CallArgs;
use cynic::realm::{PropertySpec, getter, method};
use cynic::value::Value;
use cynic::vm::{Abrupt, JsResult, Options, Termination, Vm};
use cynic_host::inspect::{Styles, inspect};

use super::group::Group;
use crate::limits::{ACTOR_FUEL_PER_MESSAGE, ACTOR_HEAP_BYTES, ACTOR_MESSAGE_BYTES_MAX};

/// The part of an isolate that is written in its own language.
const DRIVER: &str = include_str!("driver.js");

/// The functions of the driver, rooted.
struct Driver {
    define: Persistent,
    start: Persistent,
    receive: Persistent,
    migrate: Persistent,
    drop: Persistent,
}

struct Isolate {
    driver: Driver,
    free: Vec<u32>,
    slots: u32,
    vm: Vm,
}

/// Whose turn it is, and what the guest asked for in it.
#[derive(Default)]
struct Turn {
    group: Option<Arc<Group>>,
    index: u32,
    reply: Option<String>,
    stop: bool,
}

/// What a turn left.
#[derive(Default)]
pub(super) struct Done {
    pub(super) reply: Option<String>,
    pub(super) stop: bool,
}

thread_local! {
    static ISOLATES: RefCell<HashMap<u32, Isolate>> = RefCell::default();
    static TURN: RefCell<Turn> = RefCell::default();
}

/// The context that behaviours are given.
static ACTOR: &[PropertySpec] = &[
    getter("id", id),
    method("log", 1, log),
    method("reply", 1, reply),
    method("send", 2, send),
    method("stop", 0, stop),
];

/// Adds a version of the group's behaviour, making its isolate when there is none; its number, from 1.
pub(super) fn define(group: &Arc<Group>, code: &str) -> Result<u32, String> {
    ISOLATES.with_borrow_mut(|isolates| {
        let fresh = !isolates.contains_key(&group.id);
        if fresh {
            isolates.insert(group.id, Isolate::new()?);
        }
        let Some(isolate) = isolates.get_mut(&group.id) else { return Err("the group is gone".to_string()) };
        let defined = isolate.define(group, code);
        if fresh && defined.is_err() {
            isolates.remove(&group.id);
        }
        defined
    })
}

/// Forgets a group's isolate with all its states.
pub(super) fn forget(group: u32) {
    let isolate = ISOLATES.with_borrow_mut(|isolates| isolates.remove(&group));
    drop(isolate);
}

/// Runs `init` for a new actor; its slot.
pub(super) fn start(group: &Arc<Group>, index: u32, version: u32, argument: &str) -> Result<u32, String> {
    with_isolate(group, |isolate| {
        let slot = isolate.free.pop().unwrap_or(isolate.slots);
        isolate.slots = isolate.slots.max(slot + 1);
        let started = isolate.turn(group, index, |vm, driver| {
            let text = Value::string(vm.new_string(argument));
            vm.call(driver.start.get(), Value::UNDEFINED, &[number(slot), number(version), text])
        });
        if started.is_err() {
            isolate.free.push(slot);
        }
        started.map(|_| slot)
    })
}

/// Gives the actor in `slot` a message.
pub(super) fn receive(
    group: &Arc<Group>,
    index: u32,
    slot: u32,
    version: u32,
    message: &str,
) -> Result<Done, String> {
    with_isolate(group, |isolate| {
        isolate.turn(group, index, |vm, driver| {
            let text = Value::string(vm.new_string(message));
            vm.call(driver.receive.get(), Value::UNDEFINED, &[number(slot), number(version), text])
        })
    })
}

/// Hands the state in `slot` to another version.
pub(super) fn migrate(
    group: &Arc<Group>,
    index: u32,
    slot: u32,
    version: u32,
    from: u32,
) -> Result<(), String> {
    with_isolate(group, |isolate| {
        let moved = isolate.turn(group, index, |vm, driver| {
            vm.call(driver.migrate.get(), Value::UNDEFINED, &[number(slot), number(version), number(from)])
        });
        moved.map(drop)
    })
}

/// Lets go of a state.
pub(super) fn drop_slot(group: &Arc<Group>, slot: u32) {
    let _ = with_isolate(group, |isolate| {
        let dropped = isolate.vm.call(isolate.driver.drop.get(), Value::UNDEFINED, &[number(slot)]);
        isolate.free.push(slot);
        dropped.map(drop).map_err(|_| String::new())
    });
}

fn with_isolate<T>(
    group: &Arc<Group>,
    work: impl FnOnce(&mut Isolate) -> Result<T, String>,
) -> Result<T, String> {
    ISOLATES.with_borrow_mut(|isolates| match isolates.get_mut(&group.id) {
        Some(isolate) => work(isolate),
        None => Err("the group is gone".to_string()),
    })
}

fn number(value: u32) -> Value {
    Value::number(f64::from(value))
}

impl Isolate {
    fn new() -> Result<Self, String> {
        let mut vm = Vm::new(Options { heap_bytes_max: ACTOR_HEAP_BYTES, ..Options::default() });
        vm.freeze_global();
        let made = (|| {
            let script = vm.evaluate_script("driver", DRIVER)?;
            let script = Persistent::new(&vm.heap, script);
            let actor = Value::object(vm.new_host_namespace(ACTOR));
            let object = vm.call(script.get(), Value::UNDEFINED, &[actor])?;
            let object = Persistent::new(&vm.heap, object);
            let mut function = |name: &str| -> JsResult<Persistent> {
                let key = vm.key_from_str(name);
                let Some(object) = object.get().as_object() else {
                    return Err(vm.throw_type_error("no driver"));
                };
                let value = vm.get(object, key)?;
                Ok(Persistent::new(&vm.heap, value))
            };
            Ok(Driver {
                define: function("define")?,
                start: function("start")?,
                receive: function("receive")?,
                migrate: function("migrate")?,
                drop: function("drop")?,
            })
        })();
        match made {
            Ok(driver) => Ok(Self { driver, free: Vec::new(), slots: 0, vm }),
            Err(abrupt) => Err(describe(&mut vm, abrupt)),
        }
    }

    fn define(&mut self, group: &Arc<Group>, code: &str) -> Result<u32, String> {
        let options = CompileOptions { typescript: true, ..CompileOptions::default() };
        let script = compile_script("behaviour", &format!("(\n{code}\n)"), options).map_err(|error| {
            format!(
                "SyntaxError: {} ({}:{})\n{}",
                error.message,
                error.line.saturating_sub(1),
                error.column,
                error.excerpt
            )
        })?;
        let mut version = 0;
        self.turn(group, 0, |vm, driver| {
            let behaviour = vm.run_script(&script)?;
            let number = vm.call(driver.define.get(), Value::UNDEFINED, &[behaviour])?;
            version = number.as_number().unwrap_or_default() as u32;
            Ok(number)
        })?;
        Ok(version)
    }

    /// Runs guest code for one actor, with its share of fuel.
    fn turn(
        &mut self,
        group: &Arc<Group>,
        index: u32,
        work: impl FnOnce(&mut Vm, &Driver) -> JsResult<Value>,
    ) -> Result<Done, String> {
        TURN.with_borrow_mut(|turn| {
            *turn = Turn { group: Some(Arc::clone(group)), index, ..Turn::default() }
        });
        self.vm.set_fuel(Some(ACTOR_FUEL_PER_MESSAGE));
        let result = work(&mut self.vm, &self.driver);
        let result = result.and_then(|_| if self.vm.has_jobs() { self.vm.run_jobs() } else { Ok(()) });
        let turn = TURN.take();
        let outcome = result.map_err(|abrupt| describe(&mut self.vm, abrupt));
        self.vm.set_fuel(None);
        outcome.map(|()| Done { reply: turn.reply, stop: turn.stop })
    }
}

/// The text of a throw or of a limit; afterwards the isolate can be used again.
fn describe(vm: &mut Vm, abrupt: Abrupt) -> String {
    if abrupt == Abrupt::Throw {
        let error = vm.take_exception();
        vm.set_fuel(Some(ACTOR_FUEL_PER_MESSAGE));
        let text = inspect(vm, error, Styles::Plain);
        vm.clear_termination();
        return text;
    }
    let why = match vm.termination() {
        Some(Termination::Fuel) => "out of fuel: one message may take so many steps and no more",
        Some(Termination::Heap) => "out of heap: the actors of a group share one heap",
        _ => "ended",
    };
    vm.clear_termination();
    vm.collect_garbage();
    why.to_string()
}

fn text_of(vm: &mut Vm, value: Value) -> JsResult<String> {
    let text = json::to_text(vm, value)?.unwrap_or_else(|| "null".to_string());
    if text.len() > ACTOR_MESSAGE_BYTES_MAX {
        return Err(
            vm.throw_range_error(&format!("a message has at most {ACTOR_MESSAGE_BYTES_MAX} bytes as JSON"))
        );
    }
    Ok(text)
}

fn id(vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    let text =
        TURN.with_borrow(|turn| turn.group.as_ref().map(|group| format!("{}/{}", group.name, turn.index)));
    Ok(Value::string(vm.new_string(&text.unwrap_or_default())))
}

/// `actor.send(to, message)`: whether the message lies in a mailbox.
fn send(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let to = vm.to_string(args.get(0))?.to_rust_string();
    let text = text_of(vm, args.get(1))?;
    let group = TURN.with_borrow(|turn| turn.group.clone());
    Ok(Value::bool(group.is_some_and(|group| group.send_on(&to, &text))))
}

/// `actor.reply(value)`: the answer to an ask; a message that nobody waits for has none to give.
fn reply(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = text_of(vm, args.get(0))?;
    TURN.with_borrow_mut(|turn| turn.reply = Some(text));
    Ok(Value::UNDEFINED)
}

/// `actor.stop()`: ends the actor in order after this message.
fn stop(_vm: &mut Vm, _args: CallArgs) -> JsResult<Value> {
    TURN.with_borrow_mut(|turn| turn.stop = true);
    Ok(Value::UNDEFINED)
}

/// `actor.log(text)`: a line for the tree.
fn log(vm: &mut Vm, args: CallArgs) -> JsResult<Value> {
    let text = vm.to_string(args.get(0))?.to_rust_string();
    TURN.with_borrow(|turn| {
        turn.group.as_ref().map(|group| group.note(format!("{}/{}: {text}", group.name, turn.index)))
    });
    Ok(Value::UNDEFINED)
}
