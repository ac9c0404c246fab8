//! The supervisor's state machine. Owns its children's places, restarts and ordered stops.
//!
//! At most one *plan* runs at a time: stop these children, last one first, each with its time-out; then restart some, or answer, or end.
//! Failures and commands that arrive during a plan wait in `deferred` until it is done, so no two plans ever interleave.
//! A child that is down is `due` if it will be started again without being asked for: its failure waits to be dealt with, its pause
//! lasts, or one before it did not start. Whoever stops it on purpose takes that back.
//! Invariant: every running child is monitored exactly once, and `by_pid` holds exactly the running children.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::report::{Event, Report};
use super::{ChildInfo, ChildSpec, Command, Restart, Shutdown, StartContext, Strategy, Supervisor};
use crate::behaviour::{Behaviour, Flow, MonitorRef, Signal};
use crate::call::ReplyTo;
use crate::context::Context;
use crate::exit::ExitReason;
use crate::limits::KILL_GRACE_MS;
use crate::pid::Pid;
use crate::timer::TimerId;

/// A child's place in the order of starting.
type Place = u64;
type Cx<'a> = Context<'a, Command>;

struct Child {
    spec: ChildSpec,
    pid: Option<Pid>,
    monitor: Option<MonitorRef>,
    restarts: u64,
    adopted: bool,
    /// It runs, and the plan is going to stop it.
    stopping: bool,
    /// It is down and comes back.
    due: bool,
}

impl Child {
    fn new(spec: ChildSpec, adopted: bool) -> Self {
        Self { spec, pid: None, monitor: None, restarts: 0, adopted, stopping: false, due: false }
    }
}

enum Then {
    Restart(Vec<Place>),
    Answer(ReplyTo<bool>),
    End(ExitReason),
}

struct Plan {
    /// Still to be stopped; the last one is next (or being stopped).
    stop: Vec<Place>,
    then: Then,
}

enum Deferred {
    Failed(Place, ExitReason),
    Command(Command),
}

#[derive(Clone, Copy)]
enum Tick {
    Kill(Pid),
    GiveUp(Pid),
    Restart(Place),
}

pub(super) struct Tree {
    options: Supervisor,
    children: BTreeMap<Place, Child>,
    by_pid: HashMap<Pid, Place>,
    by_id: HashMap<String, Place>,
    next_place: Place,
    plan: Option<Plan>,
    deferred: VecDeque<Deferred>,
    ticks: HashMap<u64, Tick>,
    next_tick: u64,
    /// The time-out of the child that is being stopped, or has been killed.
    kill: Option<(TimerId, u64)>,
    /// Times of the restarts inside the intensity period.
    recent: VecDeque<u64>,
}

impl Tree {
    pub(super) fn new(options: Supervisor) -> Self {
        Self {
            options,
            children: BTreeMap::new(),
            by_pid: HashMap::new(),
            by_id: HashMap::new(),
            next_place: 0,
            plan: None,
            deferred: VecDeque::new(),
            ticks: HashMap::new(),
            next_tick: 0,
            kill: None,
            recent: VecDeque::new(),
        }
    }

    fn tick(&mut self, cx: &Cx<'_>, after: Duration, tick: Tick) -> TimerId {
        self.next_tick += 1;
        self.ticks.insert(self.next_tick, tick);
        cx.tick_after(after, self.next_tick)
    }

    /// The child that was being stopped is down: its time-out is void.
    fn cancel_kill(&mut self, cx: &Cx<'_>) {
        if let Some((timer, token)) = self.kill.take() {
            cx.cancel_timer(timer);
            self.ticks.remove(&token);
        }
    }

    /// Kills the child that is being stopped. It may be in a handler that never returns: no thread can be ended from outside.
    fn kill(&mut self, cx: &Cx<'_>, pid: Pid) {
        cx.handle().exit(pid, ExitReason::Killed);
        let timer = self.tick(cx, Duration::from_millis(KILL_GRACE_MS), Tick::GiveUp(pid));
        self.kill = Some((timer, self.next_tick));
    }

    /// Goes on without a child that was killed and is still there; it ends when its handler returns.
    fn give_up(&mut self, cx: &Cx<'_>, pid: Pid) -> Flow {
        let child = self.by_pid.get(&pid).and_then(|place| self.children.get(place));
        if let Some(monitor) = child.and_then(|child| child.monitor) {
            cx.handle().demonitor(pid, monitor);
        }
        // Whoever takes its place may go by its names.
        cx.handle().free_names(pid);
        self.down(cx, pid, ExitReason::Killed)
    }

    fn place_of(&self, id: &str) -> Option<Place> {
        self.by_id.get(id).copied()
    }

    fn insert(&mut self, spec: ChildSpec, adopted: bool) -> Result<Place, ExitReason> {
        if !spec.id.is_empty() && self.by_id.contains_key(&spec.id) {
            return Err(ExitReason::error(format!(
                "the supervisor has a child with the id {:?} already",
                spec.id
            )));
        }
        let place = self.next_place;
        self.next_place += 1;
        if !spec.id.is_empty() {
            self.by_id.insert(spec.id.clone(), place);
        }
        self.children.insert(place, Child::new(spec, adopted));
        Ok(place)
    }

    fn remove(&mut self, place: Place) {
        if let Some(child) = self.children.remove(&place) {
            self.by_id.remove(&child.spec.id);
            if let Some(pid) = child.pid {
                self.by_pid.remove(&pid);
            }
        }
    }

    fn start_at(&mut self, cx: &Cx<'_>, place: Place) -> Result<Pid, ExitReason> {
        let Some(child) = self.children.get(&place) else { return Err(ExitReason::NoProcess) };
        if let Some(pid) = child.pid {
            return Ok(pid);
        }
        let start = child.spec.start.clone();
        let context = StartContext { handle: cx.handle(), supervisor: cx.pid() };
        let started = catch_unwind(AssertUnwindSafe(|| start.start(&context)));
        let pid = started.unwrap_or_else(|payload| Err(ExitReason::from_panic(payload)))?;
        self.attach(cx, place, pid);
        Ok(pid)
    }

    fn attach(&mut self, cx: &Cx<'_>, place: Place, pid: Pid) {
        let Some(child) = self.children.get_mut(&place) else { return };
        if !child.adopted {
            cx.handle().set_parent(pid, cx.pid());
        }
        child.pid = Some(pid);
        child.due = false;
        child.monitor = Some(cx.monitor(pid));
        self.by_pid.insert(pid, place);
    }

    /// Starts a new child; a child that does not start leaves no trace.
    fn start_new(&mut self, cx: &Cx<'_>, spec: ChildSpec) -> Result<Pid, ExitReason> {
        let place = self.insert(spec, false)?;
        let started = self.start_at(cx, place);
        if started.is_err() {
            self.remove(place);
        }
        started
    }

    fn adopt(&mut self, cx: &Cx<'_>, pid: Pid, spec: ChildSpec) -> Result<Pid, ExitReason> {
        if self.by_pid.contains_key(&pid) {
            return Err(ExitReason::error("the supervisor has this child already"));
        }
        let place = self.insert(spec, true)?;
        self.attach(cx, place, pid);
        Ok(pid)
    }

    /// A child is down: is it part of a plan, or a failure?
    fn down(&mut self, cx: &Cx<'_>, pid: Pid, reason: ExitReason) -> Flow {
        let Some(place) = self.by_pid.remove(&pid) else { return Flow::Continue };
        let Some(child) = self.children.get_mut(&place) else { return Flow::Continue };
        child.pid = None;
        child.monitor = None;
        if std::mem::take(&mut child.stopping) {
            if child.spec.restart == Restart::Temporary {
                self.remove(place);
            }
            return self.advance(cx);
        }
        child.due = true;
        self.deferred.push_back(Deferred::Failed(place, reason));
        self.settle(cx)
    }

    /// Works through what was deferred until a plan begins or nothing is left.
    fn settle(&mut self, cx: &Cx<'_>) -> Flow {
        while self.plan.is_none() {
            let flow = match self.deferred.pop_front() {
                Some(Deferred::Failed(place, reason)) => self.failed(cx, place, &reason),
                Some(Deferred::Command(command)) => self.command(cx, command),
                None => return Flow::Continue,
            };
            if let Flow::Exit(_) = flow {
                return flow;
            }
        }
        Flow::Continue
    }

    fn failed(&mut self, cx: &Cx<'_>, place: Place, reason: &ExitReason) -> Flow {
        let Some(child) = self.children.get_mut(&place).filter(|child| child.due) else {
            return Flow::Continue;
        };
        let again = match child.spec.restart {
            _ if cx.handle().is_stopping() => false,
            Restart::Permanent => true,
            Restart::Transient => reason.is_abnormal(),
            Restart::Temporary => false,
        };
        if !again {
            if reason.is_abnormal() {
                self.report(cx, place, Event::Down, reason);
            }
            let Some(child) = self.children.get_mut(&place) else { return Flow::Continue };
            child.due = false;
            if child.spec.restart == Restart::Temporary || self.options.strategy == Strategy::Simple {
                self.remove(place);
            }
            return Flow::Continue;
        }
        let now = cx.handle().now_ms();
        if let Some(too_many) = self.count_restart(now) {
            self.report(cx, place, Event::GivingUp, reason);
            return self.begin(cx, self.running(), Then::End(too_many));
        }
        // An end of a permanent child in order is a restart, but no failure.
        if reason.is_abnormal() {
            self.report(cx, place, Event::Restarting, reason);
        }
        if let Some(pause) = self.pause() {
            self.tick(cx, pause, Tick::Restart(place));
            return Flow::Continue;
        }
        self.recover(cx, place)
    }

    /// Tells the log. What a reporter does wrong is its own affair.
    fn report(&self, cx: &Cx<'_>, place: Place, event: Event, reason: &ExitReason) {
        let Some(child) = self.children.get(&place) else { return };
        let report = Report { supervisor: cx.pid(), child: &child.spec.id, event, reason };
        crate::trace::supervised(&report);
        if let Some(reporter) = &self.options.reporter {
            drop(catch_unwind(AssertUnwindSafe(|| reporter(&report))));
        }
    }

    /// Notes a restart; returns the reason to end if it is one too many.
    fn count_restart(&mut self, now: u64) -> Option<ExitReason> {
        let (restarts_max, period) = self.options.limits();
        let period_ms = period.as_millis() as u64;
        while self.recent.front().is_some_and(|then| then + period_ms < now) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        let restarts = self.recent.len() as u32;
        (restarts > restarts_max).then_some(ExitReason::RestartIntensity { restarts, period_ms })
    }

    fn pause(&self) -> Option<Duration> {
        let backoff = self.options.backoff?;
        let doublings = self.recent.len().saturating_sub(1).min(20) as u32;
        Some(backoff.first.saturating_mul(1 << doublings).min(backoff.max))
    }

    fn recover(&mut self, cx: &Cx<'_>, place: Place) -> Flow {
        let affected: Vec<Place> = match self.options.strategy {
            Strategy::OneForOne | Strategy::Simple => vec![place],
            Strategy::OneForAll => self.children.keys().copied().collect(),
            Strategy::RestForOne => self.children.range(place..).map(|(place, _)| *place).collect(),
        };
        let running = |at: &Place| self.children.get(at).is_some_and(|child| child.pid.is_some());
        let stop: Vec<Place> = affected.iter().copied().filter(running).collect();
        // A child that had been stopped on purpose, or was done, stays so.
        let comes_back =
            |child: &Child| child.spec.restart != Restart::Temporary && (child.due || child.pid.is_some());
        let restart: Vec<Place> =
            affected.into_iter().filter(|at| self.children.get(at).is_some_and(comes_back)).collect();
        for place in &restart {
            if let Some(child) = self.children.get_mut(place) {
                child.due = true;
            }
        }
        self.begin(cx, stop, Then::Restart(restart))
    }

    fn running(&self) -> Vec<Place> {
        self.children.iter().filter(|(_, child)| child.pid.is_some()).map(|(place, _)| *place).collect()
    }

    fn begin(&mut self, cx: &Cx<'_>, stop: Vec<Place>, then: Then) -> Flow {
        self.mark_stopping(&stop);
        self.plan = Some(Plan { stop, then });
        self.stop_last(cx);
        self.advance(cx)
    }

    fn mark_stopping(&mut self, places: &[Place]) {
        for place in places {
            if let Some(child) = self.children.get_mut(place) {
                child.stopping = child.pid.is_some();
            }
        }
    }

    /// Drops the last of the plan that are already down and goes on with the next, or finishes it.
    fn advance(&mut self, cx: &Cx<'_>) -> Flow {
        let Some(plan) = &mut self.plan else { return Flow::Continue };
        let before = plan.stop.last().copied();
        let runs = |place: &Place| self.children.get(place).is_some_and(|child| child.pid.is_some());
        while plan.stop.last().is_some_and(|place| !runs(place)) {
            plan.stop.pop();
        }
        if plan.stop.is_empty() {
            return self.finish(cx);
        }
        if plan.stop.last().copied() != before {
            self.stop_last(cx);
        }
        Flow::Continue
    }

    fn stop_last(&mut self, cx: &Cx<'_>) {
        self.cancel_kill(cx);
        let last = self.plan.as_ref().and_then(|plan| plan.stop.last());
        let Some(child) = last.and_then(|place| self.children.get(place)) else { return };
        let (Some(pid), shutdown) = (child.pid, child.spec.shutdown) else { return };
        match shutdown {
            Shutdown::Kill => self.kill(cx, pid),
            Shutdown::Infinity => drop(cx.handle().shutdown(pid, ExitReason::Shutdown)),
            Shutdown::Timeout(timeout) => {
                cx.handle().shutdown(pid, ExitReason::Shutdown);
                let timer = self.tick(cx, timeout, Tick::Kill(pid));
                self.kill = Some((timer, self.next_tick));
            }
        }
    }

    fn finish(&mut self, cx: &Cx<'_>) -> Flow {
        let Some(plan) = self.plan.take() else { return Flow::Continue };
        self.cancel_kill(cx);
        match plan.then {
            Then::End(reason) => return Flow::Exit(reason),
            Then::Answer(reply) => drop(reply.send(true)),
            // Those after one that does not start stay due, and come with it.
            Then::Restart(places) => {
                let _ = places.into_iter().try_for_each(|place| self.restart_at(cx, place));
            }
        }
        self.settle(cx)
    }

    /// A restart that fails is a failure of the child like any other, and counts towards the intensity.
    fn restart_at(&mut self, cx: &Cx<'_>, place: Place) -> ControlFlow<()> {
        match self.start_at(cx, place) {
            Ok(_) => {
                cx.handle().count_restart();
                if let Some(child) = self.children.get_mut(&place) {
                    crate::trace::restarted(cx.pid(), &child.spec.id);
                    child.restarts += 1;
                    if let Some(pid) = child.pid {
                        cx.handle().note_restarts(pid, child.restarts);
                    }
                }
                ControlFlow::Continue(())
            }
            Err(reason) => {
                self.report(cx, place, Event::StartFailed, &reason);
                self.deferred.push_back(Deferred::Failed(place, reason));
                ControlFlow::Break(())
            }
        }
    }

    fn command(&mut self, cx: &Cx<'_>, command: Command) -> Flow {
        match command {
            Command::Start(spec, reply) => drop(reply.send(self.start_new(cx, spec))),
            Command::Adopt(pid, spec, reply) => drop(reply.send(self.adopt(cx, pid, spec))),
            Command::Restart(id, reply) => {
                let started = match self.place_of(&id) {
                    Some(place) => self.start_at(cx, place),
                    None => Err(ExitReason::error(format!("no child has the id {id:?}"))),
                };
                reply.send(started);
            }
            Command::Terminate(id, reply) => match self.place_of(&id) {
                Some(place) => return self.terminate_child(cx, place, reply),
                None => drop(reply.send(false)),
            },
            Command::Delete(id, reply) => {
                let stopped = |place: &Place| {
                    self.children.get(place).is_some_and(|child| child.pid.is_none() && !child.due)
                };
                let place = self.place_of(&id).filter(stopped);
                place.iter().for_each(|place| self.remove(*place));
                reply.send(place.is_some());
            }
            Command::Release(pid, reply) => drop(reply.send(self.release(cx, pid))),
            Command::Child(id, reply) => drop(reply.send(self.running_child(&id))),
            Command::Which(reply) => drop(reply.send(self.which())),
        }
        Flow::Continue
    }

    fn terminate_child(&mut self, cx: &Cx<'_>, place: Place, reply: ReplyTo<bool>) -> Flow {
        if let Some(child) = self.children.get_mut(&place) {
            child.due = false;
        }
        self.begin(cx, vec![place], Then::Answer(reply))
    }

    fn release(&mut self, cx: &Cx<'_>, pid: Pid) -> bool {
        let Some(place) = self.by_pid.get(&pid).copied() else { return false };
        if let Some(monitor) = self.children.get(&place).and_then(|child| child.monitor) {
            cx.handle().demonitor(pid, monitor);
        }
        self.remove(place);
        true
    }

    /// The pid of the running child with this id; where ids are not unique, the first one's.
    fn running_child(&self, id: &str) -> Option<Pid> {
        match self.by_id.get(id) {
            Some(place) => self.children.get(place).and_then(|child| child.pid),
            None => self.children.values().find(|child| child.spec.id == id && child.pid.is_some())?.pid,
        }
    }

    fn which(&self) -> Vec<ChildInfo> {
        let info =
            |child: &Child| ChildInfo { id: child.spec.id.clone(), pid: child.pid, restarts: child.restarts };
        self.children.values().map(info).collect()
    }
}

impl Behaviour<Command> for Tree {
    fn needs_start(&self) -> bool {
        !self.options.children.is_empty()
    }

    fn started(&mut self, cx: &mut Cx<'_>) -> Flow {
        for spec in std::mem::take(&mut self.options.children) {
            if let Err(reason) = self.start_new(cx, spec) {
                return self.begin(cx, self.running(), Then::End(reason));
            }
        }
        Flow::Continue
    }

    fn handle(&mut self, cx: &mut Cx<'_>, command: Command) -> Flow {
        match command {
            Command::Child(id, reply) => {
                reply.send(self.running_child(&id));
                Flow::Continue
            }
            Command::Which(reply) => {
                reply.send(self.which());
                Flow::Continue
            }
            command => {
                self.deferred.push_back(Deferred::Command(command));
                self.settle(cx)
            }
        }
    }

    fn signal(&mut self, cx: &mut Cx<'_>, signal: Signal) -> Flow {
        match signal {
            Signal::Down { pid, reason, .. } => self.down(cx, pid, reason),
            Signal::Exit { .. } => Flow::Continue,
            Signal::Tick(token) => match self.ticks.remove(&token) {
                Some(Tick::Kill(pid)) => {
                    self.kill(cx, pid);
                    Flow::Continue
                }
                Some(Tick::GiveUp(pid)) => self.give_up(cx, pid),
                // A plan is running: look again when it may be over.
                Some(again @ Tick::Restart(_)) if self.plan.is_some() => {
                    self.tick(cx, Duration::from_millis(1), again);
                    Flow::Continue
                }
                Some(Tick::Restart(place)) => match self.children.get(&place) {
                    Some(child) if child.due => self.recover(cx, place),
                    _ => Flow::Continue,
                },
                None => Flow::Continue,
            },
        }
    }

    /// The starters that nobody else has a copy of.
    fn parts(&self) -> Vec<&dyn Any> {
        let starters = self.children.values().map(|child| &child.spec.start);
        starters.filter(|start| Arc::strong_count(start) == 1).map(|start| &**start as &dyn Any).collect()
    }

    fn shutdown(&mut self, cx: &mut Cx<'_>, reason: ExitReason) -> Flow {
        match &mut self.plan {
            // The plan that runs goes on, with the end instead of what it was for.
            Some(plan) => {
                plan.then = Then::End(reason);
                let mut rest =
                    self.children.iter().filter(|(_, child)| child.pid.is_some()).map(|(place, _)| *place);
                let stopping = plan.stop.last().copied();
                let mut stop: Vec<Place> = rest.by_ref().filter(|place| Some(*place) != stopping).collect();
                stop.extend(stopping);
                plan.stop.clone_from(&stop);
                self.mark_stopping(&stop);
                self.advance(cx)
            }
            None => self.begin(cx, self.running(), Then::End(reason)),
        }
    }
}
