//! A group: actors that share one behaviour and one isolate, each an iris actor with a state of its own.
//!
//! Everything that touches JavaScript happens in these actors' turns, on the one thread of the JavaScript pool.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak, mpsc};

use iris_runtime::supervisor::{ChildSpec, Restart, StartContext};
use iris_runtime::{
    ActorRef, Behaviour, Context, Direction, ExitReason, Flow, Overflow, Pid, ReplyTo, SpawnOptions,
};

use super::isolate::{self, Failed};
use super::message::RestartPolicy;
use super::replies::Replies;
use crate::limits::{ACTOR_LOG_LINES, ACTOR_MAILBOX_MAX, LINE_BYTES_SHOWN_MAX};
use crate::sync::Locked;

/// The pool whose one thread runs all JavaScript.
pub(super) const JAVASCRIPT_POOL: u8 = 1;

/// What an actor takes: JSON, and for an ask the right to answer.
pub(super) enum Message {
    Tell(Arc<str>),
    Ask(Arc<str>, ReplyTo<Result<String, String>>),
}

/// The groups of a system by name.
pub(super) type Groups = Locked<HashMap<String, Arc<Group>>>;

/// One group.
pub(super) struct Group {
    pub(super) id: u32,
    pub(super) name: String,
    /// By index; none after an end for good.
    members: Locked<Vec<Option<ActorRef<Message>>>>,
    /// The version that new and restarted actors begin with.
    version: AtomicU32,
    pub(super) handled: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) restarts: AtomicU64,
    notes: Locked<VecDeque<String>>,
    groups: Weak<Groups>,
}

impl Group {
    pub(super) fn new(id: u32, name: String, groups: &Arc<Groups>) -> Arc<Self> {
        Arc::new(Self {
            id,
            name,
            members: Locked::default(),
            version: AtomicU32::new(1),
            handled: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            restarts: AtomicU64::new(0),
            notes: Locked::default(),
            groups: Arc::downgrade(groups),
        })
    }

    pub(super) fn version(&self) -> u32 {
        self.version.load(Ordering::SeqCst)
    }

    pub(super) fn set_version(&self, version: u32) {
        self.version.store(version, Ordering::SeqCst);
    }

    /// Begins actors by an earlier version again, unless there is another one by now.
    pub(super) fn take_version_back(&self, version: u32, to: u32) {
        let _ = self.version.compare_exchange(version, to, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Makes room for more members; the index of the first.
    pub(super) fn reserve(&self, count: u32) -> u32 {
        self.members.with(|members| {
            let first = members.len() as u32;
            members.resize(members.len() + count as usize, None);
            first
        })
    }

    /// The live members.
    pub(super) fn members(&self) -> Vec<ActorRef<Message>> {
        self.members
            .with(|members| members.iter().flatten().filter(|member| member.is_alive()).cloned().collect())
    }

    pub(super) fn member(&self, index: u32) -> Option<ActorRef<Message>> {
        let member = self.members.with(|members| members.get(index as usize).cloned().flatten());
        member.filter(ActorRef::is_alive)
    }

    /// Sends for a behaviour, to any group of the system.
    pub(super) fn send_on(&self, to: &str, text: &str) -> bool {
        let Some((name, index)) = to.rsplit_once('/') else { return false };
        let Ok(index) = index.parse() else { return false };
        let member = if name == self.name {
            self.member(index)
        } else {
            let group =
                self.groups.upgrade().and_then(|groups| groups.with(|groups| groups.get(name).cloned()));
            group.and_then(|group| group.member(index))
        };
        member.is_some_and(|member| member.try_send(Message::Tell(Arc::from(text))).is_ok())
    }

    /// Keeps a line for those who look at the tree.
    pub(super) fn note(&self, mut line: String) {
        line.truncate(line.floor_char_boundary(LINE_BYTES_SHOWN_MAX));
        self.notes.with(|notes| {
            if notes.len() >= ACTOR_LOG_LINES {
                notes.pop_front();
            }
            notes.push_back(line);
        });
    }

    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.with(|notes| notes.iter().cloned().collect())
    }

    /// How the group's supervisor starts the actor of an index, first and again.
    pub(super) fn child(
        self: &Arc<Self>,
        index: u32,
        argument: Arc<str>,
        restart: RestartPolicy,
        begun: Begun,
    ) -> ChildSpec {
        let group = Arc::clone(self);
        let begun = Locked::new(Some(begun));
        let start = move |cx: &StartContext| {
            let begun = begun.with(Option::take);
            if begun.is_none() {
                group.restarts.fetch_add(1, Ordering::Relaxed);
            }
            group.spawn(cx, index, &argument, begun)
        };
        ChildSpec::new("", start).restart(match restart {
            RestartPolicy::Temporary => Restart::Temporary,
            RestartPolicy::Transient => Restart::Transient,
            RestartPolicy::Permanent => Restart::Permanent,
        })
    }

    fn spawn(
        self: &Arc<Self>,
        cx: &StartContext,
        index: u32,
        argument: &Arc<str>,
        begun: Option<Begun>,
    ) -> Result<Pid, ExitReason> {
        let options = SpawnOptions {
            pool: JAVASCRIPT_POOL,
            parent: Some(cx.supervisor),
            bound: Some((ACTOR_MAILBOX_MAX, Overflow::DropNew)),
            ..SpawnOptions::default()
        };
        let actor = JsActor {
            group: Arc::clone(self),
            index,
            argument: Arc::clone(argument),
            slot: None,
            version: self.version(),
            begun,
            pending: None,
        };
        let actor = cx.handle.spawn_with::<Message>(options, actor)?;
        let pid = actor.pid();
        // What stood there before is let go outside the lock.
        drop(self.members.with(|members| members.get_mut(index as usize).map(|place| place.replace(actor))));
        Ok(pid)
    }
}

/// A swap on its way to the actors of a group.
#[derive(Default)]
pub(super) struct Swap {
    /// Actors that it has not reached.
    pub(super) pending: AtomicU64,
    /// Actors that run the new version.
    pub(super) moved: AtomicU64,
    /// Why others go on with the version that they had.
    pub(super) kept: Locked<Replies>,
}

/// Counts down when a swap has reached its actor, or the actor ended before.
pub(super) struct Pending(pub(super) Arc<Swap>);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.pending.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Tells whoever asked for an actor how its first `init` went. A failure is told when this is dropped, and the runtime drops a behaviour after its actor
/// has ended: who hears of it meets that actor nowhere any more.
pub(super) struct Begun {
    to: mpsc::Sender<Result<(), String>>,
    outcome: Result<(), String>,
}

impl Begun {
    pub(super) fn new(to: mpsc::Sender<Result<(), String>>) -> Self {
        Self { to, outcome: Err("it ended before its init".to_string()) }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        // Whoever asked for the actor may have stopped waiting.
        let _ = self.to.send(std::mem::replace(&mut self.outcome, Ok(())));
    }
}

/// The iris behaviour of one JavaScript actor.
pub(super) struct JsActor {
    group: Arc<Group>,
    index: u32,
    argument: Arc<str>,
    slot: Option<u32>,
    version: u32,
    begun: Option<Begun>,
    pending: Option<Pending>,
}

impl JsActor {
    /// The behaviour that takes over from the one that runs; it gets index, argument and state from that.
    pub(super) fn successor(group: &Arc<Group>, version: u32, pending: Pending) -> Self {
        let argument = Arc::from("");
        Self {
            group: Arc::clone(group),
            index: 0,
            argument,
            slot: None,
            version,
            begun: None,
            pending: Some(pending),
        }
    }

    fn receive(&self, text: &str) -> (Result<Option<String>, String>, Flow) {
        let Some(slot) = self.slot else { return (Err("it has no state".to_string()), Flow::stop()) };
        self.group.handled.fetch_add(1, Ordering::Relaxed);
        match isolate::receive(&self.group, self.index, slot, self.version, text) {
            Ok(done) => (Ok(done.reply), if done.stop { Flow::stop() } else { Flow::Continue }),
            Err(Failed::Ends(message)) => (Err(message.clone()), Flow::Exit(ExitReason::error(message))),
            Err(Failed::Refused(message)) => {
                self.group
                    .note(format!("{}/{} did not handle a message: {message}", self.group.name, self.index));
                (Err(message), Flow::Continue)
            }
        }
    }
}

impl Behaviour<Message> for JsActor {
    fn needs_start(&self) -> bool {
        true
    }

    fn started(&mut self, _cx: &mut Context<'_, Message>) -> Flow {
        let started = isolate::start(&self.group, self.index, self.version, &self.argument);
        let started = started.map_err(|message| format!("init: {message}"));
        if let Some(begun) = &mut self.begun {
            begun.outcome = started.as_ref().map(|_| ()).map_err(Clone::clone);
        }
        match started {
            Ok(slot) => {
                self.slot = Some(slot);
                self.begun = None;
                Flow::Continue
            }
            Err(message) => Flow::Exit(ExitReason::error(message)),
        }
    }

    fn handle(&mut self, _cx: &mut Context<'_, Message>, message: Message) -> Flow {
        match message {
            Message::Tell(text) => self.receive(&text).1,
            Message::Ask(text, reply) => {
                let (outcome, flow) = self.receive(&text);
                match outcome {
                    Ok(Some(answer)) => {
                        reply.send(Ok(answer));
                    }
                    // Dropping the right to answer tells the asker that there is none.
                    Ok(None) => drop(reply),
                    Err(message) => {
                        reply.send(Err(message));
                    }
                }
                flow
            }
        }
    }

    fn terminate(&mut self, _cx: &mut Context<'_, Message>, reason: &ExitReason) {
        if let Some(slot) = self.slot.take() {
            isolate::drop_slot(&self.group, slot);
        }
        if reason.is_abnormal() {
            self.group.failed.fetch_add(1, Ordering::Relaxed);
            self.group.note(format!("{}/{} ended: {reason}", self.group.name, self.index));
        }
    }

    fn code_change(&mut self, previous: &mut dyn Any, _direction: Direction) -> Result<(), ExitReason> {
        let Some(previous) = previous.downcast_mut::<Self>() else {
            return Err(ExitReason::error("the actor was not one of this group"));
        };
        self.index = previous.index;
        self.argument = Arc::clone(&previous.argument);
        self.slot = previous.slot.take();
        let outcome = match self.slot {
            Some(slot) => isolate::migrate(&self.group, self.index, slot, self.version, previous.version),
            None => Ok(()),
        };
        let pending = self.pending.take();
        match (outcome, &pending) {
            (Ok(()), Some(Pending(swap))) => drop(swap.moved.fetch_add(1, Ordering::SeqCst)),
            (Ok(()), None) => {}
            // A state that the new version cannot take is still one of the old version, which goes on with it.
            (Err(message), _) => {
                self.version = previous.version;
                self.group.note(format!(
                    "{}/{} goes on with version {}: migrate: {message}",
                    self.group.name, self.index, self.version
                ));
                if let Some(Pending(swap)) = &pending {
                    swap.kept.with(|kept| kept.fail(message));
                }
            }
        }
        Ok(())
    }
}

/// Runs on the JavaScript pool: compiles versions and lets groups go.
pub(super) struct Loader;

/// What the loader does.
pub(super) enum Load {
    Define(Arc<Group>, String, ReplyTo<Result<u32, String>>),
    Forget(u32, ReplyTo<()>),
}

impl Behaviour<Load> for Loader {
    fn handle(&mut self, _cx: &mut Context<'_, Load>, message: Load) -> Flow {
        match message {
            Load::Define(group, code, reply) => {
                reply.send(isolate::define(&group, &code));
            }
            Load::Forget(group, reply) => {
                isolate::forget(group);
                reply.send(());
            }
        }
        Flow::Continue
    }
}
