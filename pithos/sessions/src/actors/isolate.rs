//! The isolates of actors: one per group, all on the one thread of the worker's JavaScript pool. Invariant: guest code runs only inside
//! [`ActorIsolate::turn`], with fresh fuel, and a turn that is ended by a limit leaves the isolate usable for the other actors of the group.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use cynic::host::inspect::{Styles, inspect};
use cynic::{Engine, Error, Handle, HostError, Isolate, Limits, Realm, Termination};

use super::group::Group;
use super::heap::{self, Before, Watch};
use crate::limits::{
    ACTOR_FUEL_PER_COUNT, ACTOR_FUEL_PER_MESSAGE, ACTOR_HEAP_BYTES, ACTOR_MESSAGE_BYTES_MAX,
};

/// The part of an isolate that is written in its own language.
const DRIVER: &str = include_str!("driver.js");

/// The functions of the driver.
struct Driver {
    define: Handle,
    start: Handle,
    receive: Handle,
    migrate: Handle,
    drop: Handle,
    largest: Handle,
}

struct ActorIsolate {
    driver: Driver,
    turn: CurrentTurn,
    free: Vec<u32>,
    slots: u32,
    watch: Watch,
    /// Slots whose state was taken from them, with what it held.
    taken: HashMap<u32, usize>,
    isolate: Isolate,
}

/// Whose turn it is, and what the guest asked for in it.
#[derive(Default)]
struct Turn {
    group: Option<Arc<Group>>,
    index: u32,
    reply: Option<String>,
    stop: bool,
}

/// The turn that the host functions of an isolate act in.
type CurrentTurn = Rc<RefCell<Turn>>;

/// Why there was no turn, or what became of it.
pub(super) enum Failed {
    /// The actor must end.
    Ends(String),
    /// The message was not handled; the actor goes on.
    Refused(String),
}

/// What a turn left.
#[derive(Default)]
pub(super) struct Done {
    pub(super) reply: Option<String>,
    pub(super) stop: bool,
}

thread_local! {
    static ISOLATES: RefCell<HashMap<u32, ActorIsolate>> = RefCell::default();
}

/// Adds a version of the group's behaviour, making its isolate when there is none; its number, from 1.
pub(super) fn define(group: &Arc<Group>, code: &str) -> Result<u32, String> {
    ISOLATES.with_borrow_mut(|isolates| {
        let fresh = !isolates.contains_key(&group.id);
        if fresh {
            isolates.insert(group.id, ActorIsolate::new().map_err(|error| error.to_string())?);
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
        isolate.make_room()?;
        let slot = isolate.free.pop().unwrap_or(isolate.slots);
        isolate.slots = isolate.slots.max(slot + 1);
        let started = isolate.turn(group, index, |realm, driver| {
            let arguments = [realm.value(slot)?, realm.value(version)?, realm.value(argument)?];
            realm.call(&driver.start, &arguments)
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
) -> Result<Done, Failed> {
    let mut refused = None;
    let done = with_isolate(group, |isolate| {
        let room = isolate.make_room();
        // Its own end comes before the want of others.
        if let Some(bytes) = isolate.taken.get(&slot) {
            return Err(heap::held_too_much(*bytes));
        }
        if let Err(message) = room {
            refused = Some(message);
            return Ok(Done::default());
        }
        isolate.turn(group, index, |realm, driver| {
            let arguments = [realm.value(slot)?, realm.value(version)?, realm.value(message)?];
            realm.call(&driver.receive, &arguments)
        })
    });
    match refused {
        Some(message) => Err(Failed::Refused(message)),
        None => done.map_err(Failed::Ends),
    }
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
        let moved = isolate.turn(group, index, |realm, driver| {
            let arguments = [realm.value(slot)?, realm.value(version)?, realm.value(from)?];
            realm.call(&driver.migrate, &arguments)
        });
        moved.map(drop)
    })
}

/// Lets go of a state.
pub(super) fn drop_slot(group: &Arc<Group>, slot: u32) {
    let _ = with_isolate(group, |isolate| {
        let ActorIsolate { driver, isolate: guest, .. } = isolate;
        let mut realm = guest.realm();
        let dropped = realm.value(slot).and_then(|slot| realm.call(&driver.drop, &[slot]));
        isolate.taken.remove(&slot);
        isolate.free.push(slot);
        dropped.map(drop).map_err(|error| error.to_string())
    });
}

fn with_isolate<T>(
    group: &Arc<Group>,
    work: impl FnOnce(&mut ActorIsolate) -> Result<T, String>,
) -> Result<T, String> {
    ISOLATES.with_borrow_mut(|isolates| match isolates.get_mut(&group.id) {
        Some(isolate) => work(isolate),
        None => Err("the group is gone".to_string()),
    })
}

impl ActorIsolate {
    fn new() -> Result<Self, Error> {
        let limits = Limits { heap_bytes: ACTOR_HEAP_BYTES, ..Limits::default() };
        let mut isolate = crate::compiling::engine().isolate(limits);
        let mut realm = isolate.realm();
        let turn = CurrentTurn::default();
        let host = host_functions(&mut realm, &turn)?;
        let make = realm.evaluate("driver", DRIVER)?;
        let object = realm.call(&make, &[host])?;
        let driver = Driver {
            define: realm.get(&object, "define")?,
            start: realm.get(&object, "start")?,
            receive: realm.get(&object, "receive")?,
            migrate: realm.get(&object, "migrate")?,
            drop: realm.get(&object, "drop")?,
            largest: realm.get(&object, "largest")?,
        };
        Ok(Self {
            driver,
            turn,
            free: Vec::new(),
            slots: 0,
            watch: Watch::default(),
            taken: HashMap::new(),
            isolate,
        })
    }

    fn define(&mut self, group: &Arc<Group>, code: &str) -> Result<u32, String> {
        let script = Engine::new().compile_typescript("behaviour", &format!("(\n{code}\n)"));
        let script = script.map_err(|error| match error {
            HostError::Syntax(error) => format!(
                "SyntaxError: {} ({}:{})\n{}",
                error.message,
                error.line.saturating_sub(1),
                error.column,
                error.excerpt
            ),
            other => other.to_string(),
        })?;
        let mut version = 0;
        self.turn(group, 0, |realm, driver| {
            let behaviour = realm.run(&script)?;
            let number = realm.call(&driver.define, &[behaviour])?;
            version = number.to(realm)?;
            Ok(number)
        })?;
        Ok(version)
    }

    /// Sees to it that a turn has room for itself: collects, and takes the state from who holds far too much. An error where the group as a whole is full.
    fn make_room(&mut self) -> Result<(), String> {
        match self.watch.before(self.isolate.heap_bytes()) {
            Before::Go => return Ok(()),
            Before::Refuse => return Err(heap::group_is_full()),
            Before::Collect => {}
        }
        loop {
            self.isolate.collect_garbage();
            if !self.watch.collected(self.isolate.heap_bytes()) {
                return Ok(());
            }
            let Some((slot, bytes)) = self.largest().filter(|(_, bytes)| heap::is_at_fault(*bytes)) else {
                return Err(heap::group_is_full());
            };
            self.taken.insert(slot, bytes);
            let mut realm = self.isolate.realm();
            let dropped = realm.value(slot).and_then(|slot| realm.call(&self.driver.drop, &[slot]));
            dropped.map_err(|error| error.to_string())?;
        }
    }

    /// The slot with the largest state, and about how many bytes that is; none when counting took too much itself.
    fn largest(&mut self) -> Option<(u32, usize)> {
        self.isolate.set_fuel(Some(ACTOR_FUEL_PER_COUNT));
        let mut realm = self.isolate.realm();
        let counted = realm.call(&self.driver.largest, &[]).and_then(|text| text.to::<String>(&mut realm));
        if counted.is_err() {
            self.isolate.recover();
        }
        self.isolate.set_fuel(None);
        let text = counted.ok()?;
        let (slot, bytes) = text.split_once(' ')?;
        Some((slot.parse().ok()?, bytes.parse::<f64>().ok()? as usize))
    }

    /// Runs guest code for one actor, with its share of fuel.
    fn turn(
        &mut self,
        group: &Arc<Group>,
        index: u32,
        work: impl FnOnce(&mut Realm<'_>, &Driver) -> Result<Handle, Error>,
    ) -> Result<Done, String> {
        *self.turn.borrow_mut() = Turn { group: Some(Arc::clone(group)), index, ..Turn::default() };
        self.isolate.set_fuel(Some(ACTOR_FUEL_PER_MESSAGE));
        let result = work(&mut self.isolate.realm(), &self.driver);
        let result = result.and_then(|_| self.isolate.run_jobs());
        let turn = self.turn.take();
        let outcome = result.map_err(|error| describe(&mut self.isolate, &error));
        self.isolate.set_fuel(None);
        outcome.map(|()| Done { reply: turn.reply, stop: turn.stop })
    }
}

/// What the driver makes the context of behaviours from; texts in, texts out.
fn host_functions(realm: &mut Realm<'_>, turn: &CurrentTurn) -> Result<Handle, Error> {
    let host = realm.new_object();
    let current = Rc::clone(turn);
    let id = realm.function("id", move || {
        let turn = current.borrow();
        turn.group.as_ref().map(|group| format!("{}/{}", group.name, turn.index))
    });
    let current = Rc::clone(turn);
    let log = realm.function("log", move |text: String| {
        let turn = current.borrow();
        if let Some(group) = &turn.group {
            group.note(format!("{}/{}: {text}", group.name, turn.index));
        }
    });
    let current = Rc::clone(turn);
    let reply = realm.function("reply", move |message: String| {
        current.borrow_mut().reply = Some(fitting(message)?);
        Ok::<(), HostError>(())
    });
    let current = Rc::clone(turn);
    let send = realm.function("send", move |to: String, message: String| {
        let message = fitting(message)?;
        let group = current.borrow().group.clone();
        Ok::<bool, HostError>(group.is_some_and(|group| group.send_on(&to, &message)))
    });
    let current = Rc::clone(turn);
    let stop = realm.function("stop", move || current.borrow_mut().stop = true);
    for (name, function) in [("id", id), ("log", log), ("reply", reply), ("send", send), ("stop", stop)] {
        realm.set(&host, name, function)?;
    }
    Ok(host)
}

/// A message that is not too long.
fn fitting(message: String) -> Result<String, HostError> {
    if message.len() <= ACTOR_MESSAGE_BYTES_MAX {
        return Ok(message);
    }
    Err(HostError::Range(format!("a message has at most {ACTOR_MESSAGE_BYTES_MAX} bytes as JSON")))
}

/// The text of a throw or of a limit; afterwards the isolate can be used again.
fn describe(isolate: &mut Isolate, error: &Error) -> String {
    let why = match error {
        Error::Thrown(exception) => {
            isolate.set_fuel(Some(ACTOR_FUEL_PER_MESSAGE));
            let shown = inspect(&mut isolate.realm(), &exception.value, Styles::Plain);
            let text = shown.unwrap_or_else(|error| error.to_string());
            isolate.recover();
            return text;
        }
        Error::Host(error) => return error.to_string(),
        Error::Terminated(Termination::Fuel) => "out of fuel: one message may take so many steps and no more",
        Error::Terminated(Termination::Heap) => {
            "out of heap: one message may take a quarter of its group's heap and no more"
        }
        Error::Terminated(_) => "ended",
    };
    isolate.recover();
    isolate.collect_garbage();
    why.to_string()
}
