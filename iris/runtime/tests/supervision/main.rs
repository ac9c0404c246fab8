//! Supervisors in the seeded simulation: strategies, restart types, intensity, back-off, ordered shutdown, escalation.
//! Everything runs on a virtual clock, so time-outs cost nothing and a failure repeats from its seed.
//! What happens when plans meet (a stop during a pause, a start that fails in the middle) is in `plans`.

mod plans;

use std::sync::Arc;
use std::time::Duration;

use iris_runtime::simulation::Simulation;
use iris_runtime::supervisor::*;
use iris_runtime::*;
use parking_lot::Mutex;

const STEPS: usize = 100_000;
/// Under Miri time is virtual, and every step of the interpreter takes microseconds of it.
const LONG: Duration = Duration::from_secs(if cfg!(miri) { 2_000 } else { 20 });

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, what: impl Into<String>) {
        self.0.lock().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

struct Worker {
    name: &'static str,
    log: Log,
    stubborn: bool,
}

impl Behaviour<&'static str> for Worker {
    fn needs_start(&self) -> bool {
        true
    }

    fn started(&mut self, cx: &mut Context<'_, &'static str>) -> Flow {
        cx.trap_exit(self.stubborn);
        self.log.add(format!("start {}", self.name));
        Flow::Continue
    }

    fn handle(&mut self, _: &mut Context<'_, &'static str>, message: &'static str) -> Flow {
        match message {
            "crash" => Flow::Exit(ExitReason::error("crash")),
            "quit" => Flow::stop(),
            _ => Flow::Continue,
        }
    }

    fn shutdown(&mut self, _: &mut Context<'_, &'static str>, _: ExitReason) -> Flow {
        Flow::Continue
    }

    fn terminate(&mut self, _: &mut Context<'_, &'static str>, _: &ExitReason) {
        self.log.add(format!("stop {}", self.name));
    }
}

fn child(name: &'static str, log: &Log) -> ChildSpec {
    let log = log.clone();
    ChildSpec::new(name, move |cx| cx.spawn(Worker { name, log: log.clone(), stubborn: false }))
}

fn ask<R>(simulation: &Simulation, call: Call<R>) -> R {
    assert!(simulation.settle(STEPS));
    call.wait(Some(Duration::ZERO)).expect("the supervisor answers")
}

fn pid_of(simulation: &Simulation, supervisor: &SupervisorRef, id: &str) -> Option<Pid> {
    let children = ask(simulation, supervisor.which_children());
    children.into_iter().find(|child| child.id == id).and_then(|child| child.pid)
}

fn tell(simulation: &Simulation, supervisor: &SupervisorRef, id: &str, what: &'static str) {
    let pid = pid_of(simulation, supervisor, id).expect("the child runs");
    simulation.handle().send(pid, what).expect("the child takes it");
    assert!(simulation.settle(STEPS));
}

fn three(strategy: Strategy) -> (Simulation, SupervisorRef, Log) {
    let (simulation, log) = (Simulation::new(7), Log::default());
    let supervisor =
        ["a", "b", "c"].into_iter().fold(Supervisor::new(strategy), |all, name| all.child(child(name, &log)));
    let supervisor = supervisor.start(simulation.handle(), SpawnOptions::default()).unwrap();
    assert!(simulation.settle(STEPS));
    let mut started = log.take();
    started.sort();
    assert_eq!(started, ["start a", "start b", "start c"]);
    (simulation, supervisor, log)
}

fn check(strategy: Strategy, stopped: &[&str], mut restarted: Vec<&str>) {
    let (simulation, supervisor, log) = three(strategy);
    tell(&simulation, &supervisor, "b", "crash");
    let log = log.take();
    assert_eq!(log[..stopped.len()], *stopped, "{strategy:?}");
    let mut again = log[stopped.len()..].to_vec();
    again.sort();
    restarted.sort_unstable();
    assert_eq!(again, restarted, "{strategy:?}");
    assert!(pid_of(&simulation, &supervisor, "b").is_some());
}

#[test]
fn one_for_one_restarts_the_failed_child() {
    check(Strategy::OneForOne, &["stop b"], vec!["start b"]);
}

#[test]
fn one_for_all_restarts_everybody_last_one_stopped_first() {
    check(Strategy::OneForAll, &["stop b", "stop c", "stop a"], vec!["start a", "start b", "start c"]);
}

#[test]
fn rest_for_one_restarts_those_after_it() {
    check(Strategy::RestForOne, &["stop b", "stop c"], vec!["start b", "start c"]);
}

#[test]
fn restart_types_decide_who_comes_back() {
    for (restart, what, back) in [
        (Restart::Permanent, "quit", true),
        (Restart::Transient, "quit", false),
        (Restart::Transient, "crash", true),
        (Restart::Temporary, "crash", false),
    ] {
        let (simulation, log) = (Simulation::new(3), Log::default());
        let supervisor = Supervisor::new(Strategy::OneForOne).child(child("x", &log).restart(restart));
        let supervisor = supervisor.start(simulation.handle(), SpawnOptions::default()).unwrap();
        tell(&simulation, &supervisor, "x", what);
        assert_eq!(pid_of(&simulation, &supervisor, "x").is_some(), back, "{restart:?} {what}");
    }
}

#[test]
fn a_restart_storm_ends_at_the_intensity_and_escalates() {
    let simulation = Simulation::new(11);
    let starts = Arc::new(Mutex::new(0));
    let count = starts.clone();
    let storm = ChildSpec::new("storm", move |cx| {
        *count.lock() += 1;
        let pid = cx.spawn(Handler::new(|_: &mut Context<'_, u8>, _| Err::<(), _>("again")))?;
        cx.handle.send(pid, 0_u8).map_err(|_| ExitReason::NoProcess)?;
        Ok(pid)
    });
    let inner = Supervisor::new(Strategy::OneForOne).intensity(4, Duration::from_secs(1)).child(storm);
    let outer = Supervisor::new(Strategy::OneForOne)
        .intensity(2, Duration::from_secs(1))
        .child(inner.into_child("inner"));
    let outer = outer.start(simulation.handle(), SpawnOptions::default()).unwrap();
    assert!(simulation.run(STEPS), "the storm must end");
    assert!(!simulation.handle().is_alive(outer.pid()));
    assert_eq!(*starts.lock(), 5 * 3, "five starts for each of three inner supervisors");
    assert_eq!(simulation.handle().live(), 0);
}

#[test]
fn a_start_that_fails_on_restart_counts_as_a_restart() {
    let simulation = Simulation::new(5);
    let tries = Arc::new(Mutex::new(0));
    let count = tries.clone();
    let flaky = ChildSpec::new("flaky", move |cx| {
        let mut tries = count.lock();
        *tries += 1;
        if *tries == 1 {
            return cx.spawn(Handler::new(|_: &mut Context<'_, &'static str>, _| Flow::stop()));
        }
        Err(ExitReason::error("no"))
    });
    let supervisor = Supervisor::new(Strategy::OneForOne).intensity(6, Duration::from_secs(1)).child(flaky);
    let supervisor = supervisor.start(simulation.handle(), SpawnOptions::default()).unwrap();
    tell(&simulation, &supervisor, "flaky", "quit");
    assert_eq!(*tries.lock(), 1 + 6);
    assert!(!simulation.handle().is_alive(supervisor.pid()));
}

#[test]
fn back_off_spreads_restarts_over_time() {
    let simulation = Simulation::new(2);
    let times = Arc::new(Mutex::new(Vec::new()));
    let record = times.clone();
    let failing = ChildSpec::new("failing", move |cx| {
        record.lock().push(cx.handle.now_ms());
        let pid = cx.spawn(Handler::new(|_: &mut Context<'_, u8>, _| Err::<(), _>("again")))?;
        cx.handle.send(pid, 0_u8).map_err(|_| ExitReason::NoProcess)?;
        Ok(pid)
    });
    let backoff = Backoff { first: Duration::from_millis(10), max: Duration::from_millis(50) };
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .intensity(5, Duration::from_secs(60))
        .backoff(backoff)
        .child(failing);
    supervisor.start(simulation.handle(), SpawnOptions::default()).unwrap();
    assert!(simulation.run(STEPS));
    assert_eq!(*times.lock(), [0, 10, 30, 70, 120, 170]);
}

#[test]
fn shutdown_goes_backwards_and_kills_who_does_not_end() {
    let (simulation, log) = (Simulation::new(9), Log::default());
    let stubborn = {
        let log = log.clone();
        ChildSpec::new("s", move |cx| cx.spawn(Worker { name: "s", log: log.clone(), stubborn: true }))
            .shutdown(Shutdown::Timeout(Duration::from_millis(250)))
    };
    let supervisor =
        Supervisor::new(Strategy::OneForOne).child(child("a", &log)).child(stubborn).child(child("z", &log));
    let supervisor = supervisor.start(simulation.handle(), SpawnOptions::default()).unwrap();
    assert!(simulation.settle(STEPS));
    log.take();
    supervisor.shutdown(simulation.handle());
    assert!(simulation.run(STEPS));
    assert_eq!(log.take(), ["stop z", "stop a"], "a killed child does not clean up");
    assert_eq!(simulation.handle().now_ms(), 250);
    assert_eq!(simulation.handle().live(), 0);
}

/// A worker whose handler returns when it is told to.
struct Stuck {
    entered: std::sync::mpsc::Sender<()>,
    release: Arc<std::sync::atomic::AtomicBool>,
}

impl Behaviour<()> for Stuck {
    fn handle(&mut self, _: &mut Context<'_, ()>, (): ()) -> Flow {
        let _ = self.entered.send(());
        while !self.release.load(std::sync::atomic::Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Flow::Continue
    }
}

#[test]
fn a_child_whose_handler_never_returns_is_given_up() {
    let long = Some(LONG);
    for shutdown in [Shutdown::Timeout(Duration::from_millis(1)), Shutdown::Kill] {
        let runtime = Runtime::new();
        let (entered, inside) = std::sync::mpsc::channel();
        let release = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let gate = release.clone();
        let spec = ChildSpec::new("stuck", move |cx| {
            cx.spawn(Stuck { entered: entered.clone(), release: gate.clone() })
        });
        let supervisor =
            Supervisor::new(Strategy::OneForOne).start(&runtime, SpawnOptions::default()).unwrap();
        let first = supervisor.start_child(spec.shutdown(shutdown)).wait(long).unwrap().unwrap();
        runtime.send(first, ()).unwrap();
        inside.recv_timeout(LONG).unwrap();
        assert_eq!(supervisor.terminate_child("stuck").wait(long), Ok(true));
        let second = supervisor.restart_child("stuck").wait(long).unwrap().unwrap();
        assert!(second != first && runtime.is_alive(first), "it is still in its handler");
        release.store(true, std::sync::atomic::Ordering::SeqCst);
        supervisor.shutdown(&runtime);
        assert!(runtime.join(long), "both end");
    }
}

#[test]
fn children_can_be_started_stopped_restarted_deleted_and_released() {
    let (simulation, log) = (Simulation::new(4), Log::default());
    let supervisor =
        Supervisor::new(Strategy::OneForOne).start(simulation.handle(), SpawnOptions::default()).unwrap();
    let pid = ask(&simulation, supervisor.start_child(child("x", &log))).unwrap();
    assert!(ask(&simulation, supervisor.start_child(child("x", &log))).is_err(), "ids are unique");
    assert!(ask(&simulation, supervisor.terminate_child("x")));
    assert!(!simulation.handle().is_alive(pid));
    assert_eq!(pid_of(&simulation, &supervisor, "x"), None, "a child that was stopped on purpose stays down");
    assert!(ask(&simulation, supervisor.restart_child("x")).is_ok());
    assert!(!ask(&simulation, supervisor.delete_child("x")), "a running child is not deleted");
    ask(&simulation, supervisor.terminate_child("x"));
    assert!(ask(&simulation, supervisor.delete_child("x")));

    let loner = simulation.handle().spawn_fn(|_: &mut Context<'_, &'static str>, _| Flow::stop()).unwrap();
    ask(&simulation, supervisor.adopt(loner.pid(), child("loner", &log))).unwrap();
    tell(&simulation, &supervisor, "loner", "crash");
    let fresh = pid_of(&simulation, &supervisor, "loner").expect("it came back");
    assert!(ask(&simulation, supervisor.release(fresh)));
    assert!(simulation.handle().is_alive(fresh));
}

#[test]
fn simple_supervisors_hold_many_dynamic_children() {
    let (simulation, log) = (Simulation::new(8), Log::default());
    let supervisor =
        Supervisor::new(Strategy::Simple).start(simulation.handle(), SpawnOptions::default()).unwrap();
    let spec = || ChildSpec { id: String::new(), ..child("dyn", &log).restart(Restart::Transient) };
    let many = if cfg!(miri) { 20 } else { 500 };
    let pids: Vec<Pid> =
        (0..many).map(|_| ask(&simulation, supervisor.start_child(spec())).unwrap()).collect();
    simulation.handle().send(pids[3], "quit").unwrap();
    assert!(simulation.settle(STEPS));
    assert_eq!(ask(&simulation, supervisor.which_children()).len(), many - 1);
    supervisor.shutdown(simulation.handle());
    assert!(simulation.run(STEPS));
    assert_eq!(simulation.handle().live(), 0);
}

#[test]
fn failures_are_reported_and_ends_in_order_are_not() {
    let expected = [
        (Restart::Permanent, "crash", &["b failed and is restarted: error: crash"][..]),
        (Restart::Transient, "crash", &["b failed and is restarted: error: crash"]),
        (Restart::Temporary, "crash", &["b failed and stays down: error: crash"]),
        (Restart::Permanent, "quit", &[]),
        (Restart::Transient, "quit", &[]),
    ];
    for (restart, what, told) in expected {
        let (simulation, log, reports) = (Simulation::new(7), Log::default(), Log::default());
        let to = reports.clone();
        let supervisor = Supervisor::new(Strategy::OneForAll)
            .child(child("a", &log))
            .child(child("b", &log).restart(restart))
            .on_report(move |report| to.add(format!("{} {}: {}", report.child, report.event, report.reason)))
            .start(simulation.handle(), SpawnOptions::default())
            .unwrap();
        tell(&simulation, &supervisor, "b", what);
        assert_eq!(reports.take(), told, "{restart:?} {what}");
        supervisor.shutdown(simulation.handle());
        assert!(simulation.settle(STEPS));
        assert!(reports.take().is_empty());
    }
}

#[test]
fn the_failure_that_is_one_too_many_and_a_reporter_that_panics() {
    let (simulation, log, reports) = (Simulation::new(7), Log::default(), Log::default());
    let to = reports.clone();
    let supervisor = Supervisor::new(Strategy::OneForOne)
        .intensity(1, LONG)
        .child(child("a", &log))
        .on_report(move |report| {
            to.add(format!("{:?}", report.event));
            panic!("a reporter's own affair");
        })
        .start(simulation.handle(), SpawnOptions::default())
        .unwrap();
    tell(&simulation, &supervisor, "a", "crash");
    tell(&simulation, &supervisor, "a", "crash");
    assert_eq!(reports.take(), ["Restarting", "GivingUp"]);
    assert!(matches!(supervisor.actor().exit_reason(), Some(ExitReason::RestartIntensity { .. })));
}
