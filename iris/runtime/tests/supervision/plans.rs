//! Where a supervisor's plans meet: temporary siblings, stops during a pause, starts that fail or panic in the middle of a restart, and
//! many children at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Starts in their order.
#[derive(Clone, Default)]
struct Starts(Arc<Mutex<Vec<&'static str>>>);

impl Starts {
    /// A child that is noted when its start function runs, and whose `fails` say which of its starts (from 1) fail.
    fn child(&self, name: &'static str, fails: &'static [usize]) -> ChildSpec {
        let (starts, count) = (self.0.clone(), AtomicUsize::new(0));
        ChildSpec::new(name, move |cx| {
            starts.lock().push(name);
            if fails.contains(&(count.fetch_add(1, Ordering::SeqCst) + 1)) {
                return Err(ExitReason::error("not now"));
            }
            cx.spawn(Handler::new(|_: &mut Context<'_, &'static str>, _| Err::<(), _>("crash")))
        })
    }

    fn names(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock())
    }
}

fn started(simulation: &Simulation, supervisor: Supervisor) -> SupervisorRef {
    let supervisor = supervisor.start(simulation.handle(), SpawnOptions::default()).unwrap();
    assert!(simulation.settle(STEPS));
    supervisor
}

fn ids(simulation: &Simulation, supervisor: &SupervisorRef) -> Vec<String> {
    ask(simulation, supervisor.which_children()).into_iter().map(|child| child.id).collect()
}

#[test]
fn a_temporary_sibling_goes_down_with_the_others_and_does_not_come_back() {
    for strategy in [Strategy::OneForAll, Strategy::RestForOne] {
        let (simulation, starts) = (Simulation::new(21), Starts::default());
        let supervisor = Supervisor::new(strategy)
            .child(starts.child("a", &[]))
            .child(starts.child("b", &[]).restart(Restart::Temporary))
            .child(starts.child("c", &[]).restart(Restart::Transient));
        let supervisor = started(&simulation, supervisor);
        starts.names();
        tell(&simulation, &supervisor, "a", "crash");
        assert_eq!(starts.names(), ["a", "c"], "{strategy:?}");
        assert_eq!(ids(&simulation, &supervisor), ["a", "c"], "{strategy:?}: its specification goes too");
        assert_eq!(simulation.handle().live(), 3);
    }
}

#[test]
fn a_temporary_child_that_fails_with_another_does_not_come_back_with_it() {
    for seed in 0..20 {
        let (simulation, starts) = (Simulation::new(seed), Starts::default());
        let supervisor = Supervisor::new(Strategy::OneForAll)
            .child(starts.child("a", &[]))
            .child(starts.child("b", &[]).restart(Restart::Temporary));
        let supervisor = started(&simulation, supervisor);
        for pid in ["a", "b"].map(|id| pid_of(&simulation, &supervisor, id).unwrap()) {
            simulation.handle().send(pid, "crash").unwrap();
        }
        assert!(simulation.run(STEPS));
        assert_eq!(starts.names(), ["a", "b", "a"], "seed {seed}");
        assert_eq!(ids(&simulation, &supervisor), ["a"], "seed {seed}");
    }
}

#[test]
fn a_temporary_child_that_is_stopped_is_forgotten() {
    let (simulation, starts) = (Simulation::new(22), Starts::default());
    let temporary = starts.child("x", &[]).restart(Restart::Temporary);
    let supervisor = started(&simulation, Supervisor::new(Strategy::OneForOne).child(temporary));
    assert!(ask(&simulation, supervisor.terminate_child("x")));
    assert!(ids(&simulation, &supervisor).is_empty());
}

#[test]
fn a_child_that_is_stopped_during_its_pause_stays_down() {
    let (simulation, starts) = (Simulation::new(23), Starts::default());
    let backoff = Backoff { first: Duration::from_millis(10), max: Duration::from_millis(50) };
    let supervisor = Supervisor::new(Strategy::OneForOne).backoff(backoff).child(starts.child("x", &[]));
    let supervisor = started(&simulation, supervisor);
    tell(&simulation, &supervisor, "x", "crash");
    assert!(!ask(&simulation, supervisor.delete_child("x")), "it is about to come back");
    assert!(ask(&simulation, supervisor.terminate_child("x")));
    assert!(simulation.run(STEPS));
    assert_eq!(starts.names(), ["x"], "the pause ends, and it was stopped on purpose");
    assert!(ask(&simulation, supervisor.delete_child("x")));
}

#[test]
fn a_child_that_is_started_during_its_pause_is_started_once() {
    let (simulation, starts) = (Simulation::new(24), Starts::default());
    let supervisor = Supervisor::new(Strategy::OneForAll).backoff(Backoff::default());
    let supervisor =
        started(&simulation, supervisor.child(starts.child("x", &[])).child(starts.child("y", &[])));
    tell(&simulation, &supervisor, "x", "crash");
    assert!(ask(&simulation, supervisor.restart_child("x")).is_ok());
    assert!(simulation.run(STEPS));
    assert_eq!(starts.names(), ["x", "y", "x"]);
}

#[test]
fn those_after_a_child_that_fails_to_start_wait_for_it() {
    for (strategy, expected) in
        [(Strategy::RestForOne, vec!["b", "b", "c"]), (Strategy::OneForAll, vec!["a", "b", "a", "b", "c"])]
    {
        for backoff in [None, Some(Backoff::default())] {
            let (simulation, starts) = (Simulation::new(25), Starts::default());
            let mut supervisor = Supervisor::new(strategy)
                .child(starts.child("a", &[]))
                .child(starts.child("b", &[2]))
                .child(starts.child("c", &[]));
            if let Some(backoff) = backoff {
                supervisor = supervisor.backoff(backoff);
            }
            let supervisor = started(&simulation, supervisor);
            starts.names();
            tell(&simulation, &supervisor, "b", "crash");
            assert!(simulation.run(STEPS));
            assert_eq!(starts.names(), expected, "{strategy:?}, {backoff:?}");
            assert_eq!(simulation.handle().live(), 4, "all three came back");
        }
    }
}

#[test]
fn a_start_that_panics_is_a_start_that_fails() {
    let simulation = Simulation::new(26);
    let supervisor = started(&simulation, Supervisor::new(Strategy::OneForOne));
    let panicking = ChildSpec::new("p", |_| panic!("no such luck"));
    let refused = ask(&simulation, supervisor.start_child(panicking));
    assert!(matches!(refused, Err(ExitReason::Panic(text)) if &*text == "no such luck"));
    assert!(simulation.handle().is_alive(supervisor.pid()), "the supervisor goes on");
    assert!(ids(&simulation, &supervisor).is_empty());
}

#[test]
fn many_children_are_stopped_in_time_that_grows_with_their_number() {
    let many = if cfg!(miri) { 20 } else { 30_000 };
    let simulation = Simulation::new(27);
    let spec = ChildSpec::new("", |cx| cx.spawn(Handler::new(|_: &mut Context<'_, ()>, ()| ())));
    let supervisor = started(
        &simulation,
        (0..many).fold(Supervisor::new(Strategy::Simple), |all, _| all.child(spec.clone())),
    );
    assert_eq!(simulation.handle().live(), many + 1);
    let begun = std::time::Instant::now();
    supervisor.shutdown(simulation.handle());
    assert!(simulation.run(100 * STEPS));
    assert_eq!(simulation.handle().live(), 0);
    // A tenth of a second; with a look at all the others for each of them it was tens of seconds.
    assert!(begun.elapsed() < LONG / 4, "{:?}", begun.elapsed());
}

#[test]
fn a_runtime_that_stops_leaves_the_order_to_the_supervisors() {
    for seed in 0..20 {
        let (simulation, log) = (Simulation::new(seed), Log::default());
        let inner = ["c", "d"]
            .into_iter()
            .fold(Supervisor::new(Strategy::OneForOne), |all, name| all.child(child(name, &log)));
        let supervisor = Supervisor::new(Strategy::OneForOne)
            .child(child("a", &log))
            .child(inner.into_child("inner"))
            .child(child("z", &log));
        let supervisor = started(&simulation, supervisor);
        let watcher = simulation.handle().spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
        simulation.handle().monitor(watcher.0.pid(), supervisor.pid());
        log.take();
        simulation.handle().request_stop();
        assert!(simulation.run(STEPS));
        assert_eq!(log.take(), ["stop z", "stop d", "stop c", "stop a"], "seed {seed}");
        let (_, mut inbox) = watcher;
        let down = inbox.try_recv();
        assert!(
            matches!(down, Ok(Received::Signal(Signal::Down { reason: ExitReason::Shutdown, .. }))),
            "{down:?}"
        );
    }
}
