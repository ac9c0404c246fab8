//! The actor worker: an iris runtime with one pool for supervisors and one, of a single thread, for JavaScript. The main thread takes
//! requests; each is carried out on a thread of its own, because asks and swaps wait.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use iris_runtime::supervisor::{ChildSpec, Command, Restart, StartContext, Strategy, Supervisor};
use iris_runtime::{ActorRef, CallError, ExitReason, PoolOptions, Runtime, SpawnOptions, Taking};
use rush_session::{Frames, encode, send_all};
use serde_json::{Value, json};

use super::group::{Begun, Group, Groups, JAVASCRIPT_POOL, JsActor, Load, Loader, Message, Pending, Swap};
use super::message::{ActorRequest, FromActors, RestartPolicy, ToActors};
use super::replies::Replies;
use crate::limits::{
    ACTOR_GRACE_MS, ACTOR_MESSAGE_BYTES_MAX, ACTOR_REQUESTS_MAX, ACTOR_RESTARTS_MAX,
    ACTOR_RESTARTS_PERIOD_MS, ACTOR_SENDS_MAX, ACTOR_VERSIONS_MAX, ACTORS_MAX,
};
use crate::sync::Locked;

/// Between two looks at a swap that goes through the mailboxes.
const SWAP_LOOK_MS: u64 = 1;

/// The worker's main function: `socket` leads to the server. Returns when that closes.
pub(crate) fn main(socket: OwnedFd) -> io::Result<()> {
    let answers = Arc::new(Locked::new(socket.try_clone()?));
    let mut frames = Frames::new(socket);
    let system = System::start().map_err(|error| io::Error::other(error.to_string()))?;
    answer(&answers, &FromActors::Ready)?;
    let busy = Arc::new(AtomicUsize::new(0));
    loop {
        let (ToActors { id, request }, _) = match frames.receive() {
            Ok(Some(message)) => message,
            // Actors are not asked: their server is gone, and so is everything they could tell.
            Ok(None) => std::process::exit(0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if busy.fetch_add(1, Ordering::SeqCst) >= ACTOR_REQUESTS_MAX {
            busy.fetch_sub(1, Ordering::SeqCst);
            let result = Err(format!("the system is busy with {ACTOR_REQUESTS_MAX} requests: wait for some"));
            answer(&answers, &FromActors::Answer { id, result })?;
            continue;
        }
        let (system, answers, busy) = (Arc::clone(&system), Arc::clone(&answers), Arc::clone(&busy));
        std::thread::Builder::new().name("request".into()).spawn(move || {
            let result = system.carry_out(request);
            busy.fetch_sub(1, Ordering::SeqCst);
            // A server that has gone reads no answer; this process goes with it.
            let _ = answer(&answers, &FromActors::Answer { id, result });
        })?;
    }
}

fn answer(socket: &Locked<OwnedFd>, message: &FromActors) -> io::Result<()> {
    let bytes = encode(message, 0).or_else(|error| match message {
        FromActors::Answer { id, .. } => encode(
            &FromActors::Answer { id: *id, result: Err(format!("the answer is too long: {error}")) },
            0,
        ),
        FromActors::Ready => Err(error),
    })?;
    socket.with(|socket| send_all(socket.as_fd(), &bytes, &[]))
}

/// The iris runtime and the groups in it.
struct System {
    runtime: Runtime,
    root: ActorRef<Command>,
    loader: ActorRef<Load>,
    groups: Arc<Groups>,
    next_group: AtomicU32,
    /// The names of groups that are being made.
    making: Locked<HashSet<String>>,
}

/// What a request gives: JSON, or a message for the one who asked.
type Answer = Result<Value, String>;

impl System {
    fn start() -> Result<Arc<Self>, ExitReason> {
        let javascript = PoolOptions { spares: 0, ..PoolOptions::new("javascript", 1) };
        let runtime = Runtime::builder().workers(1).pool(javascript).build();
        let options = SpawnOptions { trap_exit: true, ..SpawnOptions::default() };
        let root = Supervisor::new(Strategy::OneForOne).start(&runtime, options)?.actor().clone();
        runtime.register("actors", root.pid());
        let loader = SpawnOptions { pool: JAVASCRIPT_POOL, ..SpawnOptions::default() };
        let loader = runtime.spawn_with(loader, Loader)?;
        runtime.register("loader", loader.pid());
        let (groups, next_group, making) = (Arc::default(), AtomicU32::new(1), Locked::default());
        Ok(Arc::new(Self { runtime, root, loader, groups, next_group, making }))
    }

    fn carry_out(&self, request: ActorRequest) -> Answer {
        match request {
            ActorRequest::Spawn { name, code, count, argument, restart } => {
                self.spawn(&name, code, count, &argument, restart)
            }
            ActorRequest::Send { to, message, repeat } => self.send(&to, &message, repeat),
            ActorRequest::Ask { to, message, timeout_ms } => self.ask(&to, &message, timeout_ms),
            ActorRequest::Swap { name, code, timeout_ms } => self.swap(&name, &code, timeout_ms),
            ActorRequest::Stop { to } => self.stop(&to),
            ActorRequest::Tree => Ok(self.tree()),
        }
    }

    fn group(&self, name: &str) -> Result<Arc<Group>, String> {
        self.groups.with(|groups| {
            groups.get(name).cloned().ok_or_else(|| {
                let known: Vec<&str> = groups.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
                format!("there is no group '{name}'; there is: {known}")
            })
        })
    }

    /// The members that an address means.
    fn addressed(&self, to: &str) -> Result<(Arc<Group>, Vec<ActorRef<Message>>), String> {
        if let Some((name, index)) = to.rsplit_once('/') {
            let index = index.parse().map_err(|_| format!("'{to}' is no actor: write group/index"))?;
            let group = self.group(name)?;
            let member =
                group.member(index).ok_or_else(|| format!("there is no actor '{to}', or it has ended"))?;
            return Ok((group, vec![member]));
        }
        let group = self.group(to)?;
        let members = group.members();
        Ok((group, members))
    }

    fn spawn(
        &self,
        name: &str,
        code: Option<String>,
        count: u32,
        argument: &Value,
        restart: RestartPolicy,
    ) -> Answer {
        if self.runtime.live() as u64 + u64::from(count) > u64::from(ACTORS_MAX) {
            return Err(format!("a system holds at most {ACTORS_MAX} actors"));
        }
        let argument: Arc<str> = Arc::from(bounded(argument)?);
        let start = Instant::now();
        let made = code.is_some();
        let group = self.group_for(name, code)?;
        let supervisor = self.supervisor_of(&group)?;
        let first = group.reserve(count);
        let (begun, begins) = mpsc::channel();
        let calls: Vec<_> = (first..first + count)
            .map(|index| {
                let spec = group.child(index, Arc::clone(&argument), restart, Begun::new(begun.clone()));
                supervisor.call(None, |reply| Command::Start(spec, reply))
            })
            .collect();
        drop(begun);
        let patience = Duration::from_millis(ACTOR_GRACE_MS);
        let mut failures = Replies::default();
        for call in calls {
            match call.wait(Some(patience)) {
                // Who was spawned tells of its `init`; who was not has dropped what it would have told with.
                Ok(_) => {}
                Err(error) => return Err(format!("the group's supervisor gave no answer: {error}")),
            }
        }
        // An actor is started when its `init` has run: before that, what is sent to it may never be read.
        let mut started = 0_u32;
        let end = Instant::now() + patience;
        loop {
            match begins.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(Ok(())) => started += 1,
                Ok(Err(message)) => failures.fail(message),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!(
                        "{started} of {count} were started within {} s; the others may still come",
                        patience.as_secs()
                    ));
                }
            }
        }
        let failures = failures.into_json();
        if started == 0 {
            // A group that nobody lives in would only be in the way of the next attempt.
            if made {
                let _ = self.stop(name);
            }
            let why = failures["failures"][0]["message"].as_str().unwrap_or("they ended before that");
            return Err(format!("none of {count} actors could be started: {why}"));
        }
        let mut answer = json!({"name": name, "first": first, "count": started, "version": group.version(), "ms": milliseconds(start)});
        if failures["failures"].is_array() {
            answer["failed"] = failures["failed"].clone();
            answer["failures"] = failures["failures"].clone();
        }
        Ok(answer)
    }

    /// The group of a name; made when there is code for it.
    fn group_for(&self, name: &str, code: Option<String>) -> Result<Arc<Group>, String> {
        let known = self.groups.with(|groups| groups.get(name).cloned());
        match (known, code) {
            (Some(group), None) => Ok(group),
            (Some(_), Some(_)) => {
                Err(format!("there is a group '{name}': swap its behaviour, or spawn without code"))
            }
            (None, None) => Err(format!("there is no group '{name}': give code to make it")),
            (None, Some(code)) => {
                if !self.making.with(|making| making.insert(name.to_string())) {
                    return Err(format!(
                        "the group '{name}' is being made by another call: spawn without code afterwards"
                    ));
                }
                // It may have been made since it was looked for.
                let made = match self.groups.with(|groups| groups.contains_key(name)) {
                    true => Err(format!("there is a group '{name}' by now: spawn without code")),
                    false => self.make_group(name, code),
                };
                self.making.with(|making| making.remove(name));
                made
            }
        }
    }

    fn make_group(&self, name: &str, code: String) -> Result<Arc<Group>, String> {
        let good = !name.is_empty()
            && name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !good {
            return Err(format!(
                "'{name}' cannot name a group: use 1 to 64 letters, digits, '-', '_' or '.'"
            ));
        }
        let group =
            Group::new(self.next_group.fetch_add(1, Ordering::SeqCst), name.to_string(), &self.groups);
        self.define(&group, code)?;
        let registered = format!("group {name}");
        let start = move |cx: &StartContext| {
            let options = SpawnOptions { parent: Some(cx.supervisor), ..SpawnOptions::default() };
            let period = Duration::from_millis(ACTOR_RESTARTS_PERIOD_MS);
            let supervisor = Supervisor::new(Strategy::Simple)
                .intensity(ACTOR_RESTARTS_MAX, period)
                .start(&cx.handle, options)?;
            // Of the earlier group with this name there may be something left.
            cx.handle
                .claim(&registered, supervisor.pid(), Taking::Held)
                .map_err(|error| ExitReason::error(error.to_string()))?;
            Ok(supervisor.pid())
        };
        let spec = ChildSpec::new(format!("group {name} {}", group.id), start).restart(Restart::Temporary);
        let started = self.root.call(None, |reply| Command::Start(spec, reply)).wait(None);
        started.map_err(|error| error.to_string())?.map_err(|reason| reason.to_string())?;
        self.groups.with(|groups| groups.insert(name.to_string(), Arc::clone(&group)));
        Ok(group)
    }

    fn define(&self, group: &Arc<Group>, code: String) -> Result<u32, String> {
        let call = self.loader.call(None, |reply| Load::Define(Arc::clone(group), code, reply));
        call.wait(None).map_err(|error| error.to_string())?
    }

    fn supervisor_of(&self, group: &Group) -> Result<ActorRef<Command>, String> {
        let pid = self.runtime.whereis(&format!("group {}", group.name));
        pid.and_then(|pid| self.runtime.actor(pid))
            .ok_or_else(|| format!("the group '{}' has ended: its actors failed too often", group.name))
    }

    fn send(&self, to: &str, message: &Value, repeat: u32) -> Answer {
        let text: Arc<str> = Arc::from(bounded(message)?);
        let (_, members) = self.addressed(to)?;
        if members.len() as u64 * u64::from(repeat) > ACTOR_SENDS_MAX {
            return Err(format!("one call sends at most {ACTOR_SENDS_MAX} messages"));
        }
        let start = Instant::now();
        let (mut accepted, mut refused) = (0_u64, 0_u64);
        for _ in 0..repeat {
            for member in &members {
                match member.try_send(Message::Tell(Arc::clone(&text))) {
                    Ok(()) => accepted += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        Ok(json!({"to": to, "accepted": accepted, "refused": refused, "ms": milliseconds(start)}))
    }

    fn ask(&self, to: &str, message: &Value, timeout_ms: u64) -> Answer {
        let text: Arc<str> = Arc::from(bounded(message)?);
        let (group, members) = self.addressed(to)?;
        let start = Instant::now();
        let calls: Vec<_> = members
            .iter()
            .map(|member| member.call(None, |reply| Message::Ask(Arc::clone(&text), reply)))
            .collect();
        let end = start + Duration::from_millis(timeout_ms);
        let mut replies = Replies::default();
        for call in calls {
            let patience = end.saturating_duration_since(Instant::now());
            match call.wait(Some(patience)) {
                Ok(Ok(reply)) => replies.take(&reply),
                Ok(Err(message)) => replies.fail(message),
                Err(CallError::Timeout) => replies.fail(format!("no reply within {timeout_ms} ms")),
                Err(error) => replies.fail(error.to_string()),
            }
        }
        let mut answer = replies.into_json();
        answer["to"] = json!(to);
        answer["version"] = json!(group.version());
        answer["ms"] = json!(milliseconds(start));
        Ok(answer)
    }

    fn swap(&self, name: &str, code: &str, timeout_ms: u64) -> Answer {
        let group = self.group(name)?;
        if group.version() >= ACTOR_VERSIONS_MAX {
            return Err(format!(
                "a group sees at most {ACTOR_VERSIONS_MAX} versions: stop it and spawn another"
            ));
        }
        let start = Instant::now();
        let from = group.version();
        let version = self.define(&group, code.to_string())?;
        group.set_version(version);
        let members = group.members();
        let handled = group.handled.load(Ordering::SeqCst);
        let swap = Arc::new(Swap::default());
        for member in &members {
            swap.pending.fetch_add(1, Ordering::SeqCst);
            let successor = JsActor::successor(&group, version, Pending(Arc::clone(&swap)));
            member.hot_swap(successor);
        }
        let end = start + Duration::from_millis(timeout_ms);
        while swap.pending.load(Ordering::SeqCst) > 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(SWAP_LOOK_MS));
        }
        let pending = swap.pending.load(Ordering::SeqCst);
        let moved = swap.moved.load(Ordering::SeqCst);
        let kept = swap.kept.with(std::mem::take).into_json();
        if pending == 0 && moved == 0 && kept["failed"] != 0 {
            // Nobody lives by it, so nobody is started by it either.
            group.take_version_back(version, from);
            let why = kept["failures"][0]["message"].as_str().unwrap_or("migrate failed");
            return Err(format!("nothing was swapped, and all go on with version {from}: migrate: {why}"));
        }
        let mut answer = json!({
            "name": name,
            "version": version,
            "from": from,
            "actors": moved,
            "pending": pending,
            "handled_meanwhile": group.handled.load(Ordering::SeqCst) - handled,
            "ms": milliseconds(start),
        });
        if kept["failed"] != 0 {
            answer["kept_their_version"] = kept["failed"].clone();
            answer["failures"] = kept["failures"].clone();
        }
        Ok(answer)
    }

    fn stop(&self, to: &str) -> Answer {
        let start = Instant::now();
        let (group, members) = self.addressed(to)?;
        if to.contains('/') {
            let supervisor = self.supervisor_of(&group)?;
            for member in &members {
                // Its supervisor would start a permanent one again.
                let released = supervisor.call(None, |reply| Command::Release(member.pid(), reply));
                released
                    .wait(Some(Duration::from_millis(ACTOR_GRACE_MS)))
                    .map_err(|error| error.to_string())?;
                member.exit(ExitReason::Shutdown);
            }
            // Whoever is told that it was stopped meets it nowhere any more, unless it is in the middle of a turn that goes on and on.
            let end = start + Duration::from_millis(ACTOR_GRACE_MS);
            while members.iter().any(ActorRef::is_alive) && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(SWAP_LOOK_MS));
            }
        } else {
            drop(self.groups.with(|groups| groups.remove(&group.name)));
            if let Ok(supervisor) = self.supervisor_of(&group) {
                supervisor.exit(ExitReason::Killed);
            }
            members.iter().for_each(|member| member.exit(ExitReason::Killed));
            let forgotten = self.loader.call(None, |reply| Load::Forget(group.id, reply));
            forgotten.wait(None).map_err(|error| error.to_string())?;
        }
        Ok(json!({"to": to, "stopped": members.len(), "ms": milliseconds(start)}))
    }

    fn tree(&self) -> Value {
        let mut groups: Vec<Arc<Group>> = self.groups.with(|groups| groups.values().cloned().collect());
        groups.sort_by(|left, right| left.name.cmp(&right.name));
        let rows: Vec<Value> = groups
            .iter()
            .map(|group| {
                let members = group.members();
                json!({
                    "name": group.name,
                    "supervisor": self.supervisor_of(group).is_ok(),
                    "actors": members.len(),
                    "version": group.version(),
                    "messages_waiting": members.iter().map(ActorRef::mailbox_len).sum::<usize>(),
                    "messages_handled": group.handled.load(Ordering::Relaxed),
                    "failed": group.failed.load(Ordering::Relaxed),
                    "restarts": group.restarts.load(Ordering::Relaxed),
                    "log": group.notes(),
                })
            })
            .collect();
        let metrics = self.runtime.metrics();
        json!({
            "groups": rows,
            "live": metrics.live,
            "spawned": metrics.spawned,
            "exits_abnormal": metrics.exits_abnormal,
            "dead_letters": metrics.dead_letters,
            "threads": metrics.threads.iter().map(|(pool, threads)| format!("{pool}: {threads}")).collect::<Vec<_>>(),
        })
    }
}

fn bounded(value: &Value) -> Result<String, String> {
    let text = value.to_string();
    if text.len() > ACTOR_MESSAGE_BYTES_MAX {
        return Err(format!("a message has at most {ACTOR_MESSAGE_BYTES_MAX} bytes as JSON"));
    }
    Ok(text)
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_micros() as f64 / 1e3
}
