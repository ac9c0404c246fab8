//! The promises of plain actors, through the public API and on real threads: order, exits, links, monitors, calls,
//! names, timers, swaps, virtual and pull actors.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::{LONG, wait_until};
use iris_runtime::*;

/// Miri interprets: a thousandth of the messages takes it longer than all of them take a processor.
const fn scaled(count: u64) -> u64 {
    if cfg!(miri) { count / 1_000 } else { count }
}

#[test]
fn messages_of_one_sender_arrive_in_order() {
    let runtime = Runtime::builder().workers(2).build();
    let (sender, receiver) = mpsc::channel();
    let actor = runtime
        .spawn_fn(move |_: &mut Context<'_, u32>, message| sender.send(message).map_err(|_| "gone"))
        .unwrap();
    for message in 0..scaled(10_000) as u32 {
        actor.send(message).unwrap();
    }
    for expected in 0..scaled(10_000) as u32 {
        assert_eq!(receiver.recv_timeout(LONG), Ok(expected));
    }
}

#[test]
fn a_flood_from_many_threads_is_handled_exactly_once() {
    let runtime = Runtime::builder().workers(2).build();
    let sum = Arc::new(AtomicU64::new(0));
    let total = sum.clone();
    let actor = runtime
        .spawn_fn(move |_: &mut Context<'_, u64>, message| {
            total.fetch_add(message, Ordering::Relaxed);
        })
        .unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let actor = actor.clone();
            scope.spawn(move || (0..scaled(20_000)).for_each(|_| actor.send(1).unwrap()));
        }
    });
    wait_until("all messages", || sum.load(Ordering::Relaxed) == scaled(20_000) * 4);
    // The runner's part of the count is read without synchronisation, so the last message may be counted a moment longer.
    wait_until("an empty mailbox", || actor.mailbox_len() == 0);
}

/// Five messages lie in the mailbox of an actor that asks for its own end in the first of them; what it handled, and what it saw waiting.
fn ended_by_its_first_message(handle: &Handle, run: impl FnOnce()) -> (u32, usize) {
    let (gate, saw) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let handled = Arc::new(AtomicU32::new(0));
    let (open, waiting, count) = (gate.clone(), saw.clone(), handled.clone());
    let actor = handle
        .spawn_fn(move |cx: &mut Context<'_, u32>, _| {
            count.fetch_add(1, Ordering::SeqCst);
            wait_until("the other messages", || open.load(Ordering::SeqCst));
            waiting.store(cx.me().mailbox_len(), Ordering::SeqCst);
            cx.handle().exit(cx.pid(), ExitReason::Shutdown);
        })
        .unwrap();
    (0..5).for_each(|message| actor.send(message).unwrap());
    gate.store(true, Ordering::SeqCst);
    run();
    wait_until("its end", || !actor.is_alive());
    (handled.load(Ordering::SeqCst), saw.load(Ordering::SeqCst))
}

#[test]
fn an_exit_ends_a_running_actor_before_its_next_message() {
    let runtime = Runtime::builder().workers(2).build();
    for _ in 0..scaled(2_000) {
        assert_eq!(ended_by_its_first_message(&runtime, || ()), (1, 4));
    }
    for seed in 0..20 {
        let simulation = iris_runtime::simulation::Simulation::new(seed);
        let run = || assert!(simulation.run(1_000));
        assert_eq!(ended_by_its_first_message(simulation.handle(), run), (1, 4));
    }
}

#[test]
fn a_panic_becomes_an_exit_that_monitors_see() {
    let runtime = Runtime::new();
    let (actor, mut inbox) = runtime.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
    let victim = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| -> () { panic!("boom") }).unwrap();
    let monitor = runtime.monitor(actor.pid(), victim.pid());
    victim.send(1).unwrap();
    match inbox.recv_blocking(Some(LONG)) {
        Ok(Received::Signal(Signal::Down { monitor: fired, pid, reason: ExitReason::Panic(text) })) => {
            assert_eq!((fired, pid, &*text), (monitor, victim.pid(), "boom"));
        }
        other => panic!("unexpected {other:?}"),
    }
    assert!(!runtime.is_alive(victim.pid()));
    assert!(matches!(victim.send(1), Err(SendError::NoProcess(1))));
    runtime.monitor(actor.pid(), victim.pid());
    assert!(matches!(
        inbox.recv_blocking(Some(LONG)),
        Ok(Received::Signal(Signal::Down { reason: ExitReason::NoProcess, .. }))
    ));
}

#[test]
fn links_propagate_and_trapping_turns_them_into_signals() {
    let runtime = Runtime::new();
    let failing = || runtime.spawn_fn(|_: &mut Context<'_, u8>, _| Err::<(), _>("bad")).unwrap();
    let (first, second) = (failing(), failing());
    assert!(runtime.link(first.pid(), second.pid()));
    let trapping = SpawnOptions { trap_exit: true, ..SpawnOptions::default() };
    let (trapper, mut inbox) = runtime.spawn_inbox::<u8>(trapping).unwrap();
    runtime.link(trapper.pid(), second.pid());
    first.send(0).unwrap();
    match inbox.recv_blocking(Some(LONG)) {
        Ok(Received::Signal(Signal::Exit { from, reason: ExitReason::Error(text) })) => {
            assert_eq!((from, &*text), (second.pid(), "bad"));
        }
        other => panic!("unexpected {other:?}"),
    }
    assert!(trapper.is_alive());
}

#[test]
fn a_normal_exit_does_not_take_links_along() {
    let runtime = Runtime::new();
    let quitting = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| Flow::stop()).unwrap();
    let other = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| ()).unwrap();
    runtime.link(quitting.pid(), other.pid());
    quitting.send(0).unwrap();
    wait_until("the end", || !quitting.is_alive());
    assert!(other.is_alive());
}

#[test]
fn children_end_with_their_parent() {
    let runtime = Runtime::new();
    let parent = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| Flow::stop()).unwrap();
    let under = SpawnOptions { parent: Some(parent.pid()), ..SpawnOptions::default() };
    let idle = |_: &mut Context<'_, u8>, _| ();
    let children: Vec<_> = (0..10).map(|_| runtime.spawn_with(under, Handler::new(idle)).unwrap()).collect();
    assert_eq!(runtime.children(parent.pid()).len(), 10);
    parent.send(0).unwrap();
    wait_until("all ends", || runtime.live() == 0);
    assert!(children.iter().all(|child| !child.is_alive()));
    assert!(matches!(runtime.spawn_with(under, Handler::new(idle)), Err(SpawnError::NoParent)));
}

enum Calculate {
    Double(u32, ReplyTo<u32>),
    Ignore(ReplyTo<u32>),
    Keep(ReplyTo<u32>),
}

#[test]
fn calls_end_with_a_reply_a_refusal_or_the_deadline() {
    let runtime = Runtime::new();
    let mut kept = Vec::new();
    let actor = runtime
        .spawn_fn(move |_: &mut Context<'_, Calculate>, message| match message {
            Calculate::Double(value, reply) => drop(reply.send(value * 2)),
            Calculate::Ignore(reply) => drop(reply),
            Calculate::Keep(reply) => kept.push(reply),
        })
        .unwrap();
    assert_eq!(actor.ask(Some(LONG), |reply| Calculate::Double(21, reply)), Ok(42));
    assert_eq!(actor.ask(Some(LONG), Calculate::Ignore), Err(CallError::NoReply));
    assert_eq!(actor.ask(Some(Duration::from_millis(5)), Calculate::Keep), Err(CallError::Timeout));
    let call = actor.call(None, Calculate::Keep);
    actor.exit(ExitReason::Shutdown);
    assert_eq!(call.wait(Some(LONG)), Err(CallError::NoReply));
    assert_eq!(actor.ask(Some(LONG), |reply| Calculate::Double(1, reply)), Err(CallError::NotAccepted));
}

/// Asks the next of a chain, from the thread of its pool.
struct Link(Option<ActorRef<Asked>>);

type Asked = ReplyTo<Result<u32, CallError>>;

impl Behaviour<Asked> for Link {
    fn handle(&mut self, _: &mut Context<'_, Asked>, reply: Asked) -> Flow {
        let below = self.0.as_ref().map_or(Ok(Ok(0)), |next| next.ask(None, |reply| reply));
        let _ = reply.send(below.and_then(|below| below).map(|below| below + 1));
        Flow::Continue
    }
}

#[test]
fn a_chain_of_requests_longer_than_the_pool_is_told_so() {
    let runtime = Runtime::builder().workers(2).build();
    let chain = |length: usize| {
        let mut last = None;
        for _ in 0..length {
            last = Some(runtime.spawn(Link(last)).unwrap());
        }
        last.unwrap().ask(Some(LONG), |reply| reply)
    };
    let threads = 2 + limits::SPARE_WORKERS_MAX + limits::WAITING_WORKERS_MAX;
    let long = if cfg!(miri) { [3, 5] } else { [200, threads - 1] };
    for length in long {
        assert_eq!(chain(length), Ok(Ok(length as u32)));
    }
    if cfg!(miri) {
        return;
    }
    for length in [threads + 1, 2 * threads] {
        assert_eq!(chain(length), Ok(Err(CallError::NoThread)), "{length}");
    }
    assert_eq!(chain(500), Ok(Ok(500)), "and all goes on");
}

#[test]
fn names_paths_and_groups_leave_with_the_actor() {
    let runtime = Runtime::new();
    let make = || runtime.spawn_fn(|_: &mut Context<'_, u8>, _| Flow::stop()).unwrap();
    let (one, two) = (make(), make());
    assert!(runtime.register("db", one.pid()));
    assert!(runtime.register_path("svc/db/one", one.pid()));
    assert!(runtime.join_group("all", one.pid()) && runtime.join_group("all", two.pid()));
    assert_eq!(runtime.whereis("db"), Some(one.pid()));
    assert_eq!(runtime.whereis_path("/svc/db/one/"), Some(one.pid()));
    let (pid, path) = (two.pid(), "/svc/db/one");
    assert!(!runtime.register("db", pid) && !runtime.register_path(path, pid), "nobody loses a name unasked");
    assert_eq!(runtime.claim("db", pid, Taking::Free), Err(NameError::Taken(one.pid())));
    assert_eq!(runtime.whereis("db"), Some(one.pid()));
    assert!(runtime.register("db", one.pid()), "who has it may say so again");
    assert_eq!(runtime.claim("db", pid, Taking::Held), Ok(()));
    one.send(0).unwrap();
    wait_until("the end", || !runtime.is_alive(one.pid()));
    assert_eq!(runtime.whereis("db"), Some(two.pid()), "a name that moved on stays");
    assert_eq!(runtime.whereis_path("/svc/db/one"), None);
    assert_eq!(runtime.group("all"), [two.pid()]);
    assert!(!runtime.register("ghost", one.pid()));
    assert_eq!(runtime.claim_path("ghost", one.pid(), Taking::Held), Err(NameError::NoProcess));
    assert!(runtime.register_path("/svc/db/one", two.pid()), "free after its end");
}

#[test]
fn swaps_and_rollbacks_happen_in_mailbox_order() {
    let runtime = Runtime::builder().workers(2).build();
    let (sender, receiver) = mpsc::channel();
    let version = |number: u32| {
        let sender = sender.clone();
        Handler::new(move |_: &mut Context<'_, u32>, expected: u32| {
            let _ = sender.send((expected, number));
        })
    };
    let actor = runtime.spawn(version(1)).unwrap();
    let mut sent = 0;
    for number in 1..=50 {
        for _ in 0..5 {
            actor.send(number).unwrap();
            sent += 1;
        }
        assert_eq!(actor.hot_swap(version(number + 1)), Some(number + 1));
    }
    assert_eq!(runtime.version(actor.pid()), Some(51));
    assert_eq!(runtime.rollback(actor.pid(), 17), None, "the history keeps 16");
    assert_eq!(runtime.rollback(actor.pid(), 16), Some(35));
    actor.send(35).unwrap();
    assert_eq!(runtime.rollback(actor.pid(), 1), None);
    for _ in 0..=sent {
        let (expected, ran) = receiver.recv_timeout(LONG).unwrap();
        assert_eq!(expected, ran, "a message ran on the wrong version");
    }
}

struct Tally {
    step: u32,
    total: u32,
}

impl Behaviour<ReplyTo<u32>> for Tally {
    fn handle(&mut self, _: &mut Context<'_, ReplyTo<u32>>, reply: ReplyTo<u32>) -> Flow {
        self.total += self.step;
        reply.send(self.total);
        Flow::Continue
    }

    fn code_change(&mut self, previous: &mut dyn std::any::Any, _: Direction) -> Result<(), ExitReason> {
        let previous = previous.downcast_ref::<Self>().ok_or_else(|| ExitReason::error("not a tally"))?;
        self.total = previous.total;
        Ok(())
    }
}

#[test]
fn code_change_migrates_state_both_ways() {
    let runtime = Runtime::new();
    let actor = runtime.spawn(Tally { step: 1, total: 0 }).unwrap();
    assert_eq!(actor.ask(Some(LONG), |reply| reply), Ok(1));
    actor.hot_swap(Tally { step: 10, total: 0 });
    assert_eq!(actor.ask(Some(LONG), |reply| reply), Ok(11));
    runtime.rollback(actor.pid(), 1);
    assert_eq!(actor.ask(Some(LONG), |reply| reply), Ok(12));
    actor.hot_swap(Handler::new(|_: &mut Context<'_, ReplyTo<u32>>, reply: ReplyTo<u32>| {
        reply.send(0);
    }));
    assert_eq!(actor.ask(Some(LONG), |reply| reply), Ok(0));
    runtime.rollback(actor.pid(), 1);
    wait_until("the failed migration", || !actor.is_alive());
}

#[test]
fn timers_fire_repeat_and_cancel() {
    let runtime = Runtime::new();
    let count = Arc::new(AtomicU32::new(0));
    let total = count.clone();
    let actor = runtime
        .spawn_fn(move |_: &mut Context<'_, u32>, message| {
            total.fetch_add(message, Ordering::Relaxed);
        })
        .unwrap();
    let never = runtime.send_after(Duration::from_secs(60), &actor, 1_000_000);
    assert!(runtime.cancel_timer(never));
    assert!(!runtime.cancel_timer(never));
    runtime.send_after(Duration::from_millis(2), &actor, 1_000);
    let interval = runtime.send_interval(Duration::from_millis(1), &actor, || 1);
    wait_until("one shot and some ticks", || count.load(Ordering::Relaxed) >= 1_005);
    assert!(runtime.cancel_timer(interval));
    actor.exit(ExitReason::Shutdown);
    wait_until("the end", || !actor.is_alive());
    runtime.send_after(Duration::from_millis(1), &actor, 1);
    wait_until("the dead letter", || runtime.dead_letters() >= 1);
}

#[test]
fn virtual_actors_wake_on_a_message_and_sleep_when_idle() {
    let runtime = Runtime::new();
    let made = Arc::new(AtomicUsize::new(0));
    let factory = {
        let made = made.clone();
        move || -> Box<dyn Behaviour<u8>> {
            made.fetch_add(1, Ordering::SeqCst);
            Box::new(Handler::new(|_: &mut Context<'_, u8>, _| ()))
        }
    };
    let actor =
        runtime.spawn_virtual(SpawnOptions::default(), Some(Duration::from_millis(5)), factory).unwrap();
    let dormant = || runtime.inspect(actor.pid()).is_some_and(|cell| cell.dormant);
    assert!(actor.is_alive() && dormant());
    assert_eq!(made.load(Ordering::SeqCst), 0);
    actor.send(1).unwrap();
    wait_until("activation", || made.load(Ordering::SeqCst) == 1);
    wait_until("deactivation", dormant);
    actor.send(1).unwrap();
    wait_until("activation again", || made.load(Ordering::SeqCst) == 2);
}

#[test]
fn selective_receive_keeps_the_order_of_the_rest() {
    let runtime = Runtime::new();
    let (actor, mut inbox) = runtime.spawn_inbox::<u32>(SpawnOptions::default()).unwrap();
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let matching = |item: &Received<u32>| matches!(item, Received::Message(7));
        loop {
            match inbox.fresh_blocking(Some(LONG)) {
                Ok(item) if matching(&item) => break,
                Ok(item) => inbox.stash(item),
                Err(_) => panic!("nothing came"),
            }
        }
        sender.send(7).unwrap();
        while let Ok(Received::Message(message)) = inbox.recv_blocking(None) {
            sender.send(message).unwrap();
        }
    });
    for message in [1, 2, 7, 3] {
        actor.send(message).unwrap();
    }
    let got: Vec<u32> = (0..4).map(|_| receiver.recv_timeout(LONG).unwrap()).collect();
    assert_eq!(got, [7, 1, 2, 3]);
    actor.exit(ExitReason::Shutdown);
    thread.join().unwrap();
    wait_until("the end", || !actor.is_alive());
}

#[test]
fn watchers_outside_hear_of_an_end_once_and_the_reason_stays() {
    let runtime = Runtime::new();
    let (sender, receiver) = mpsc::channel();
    let watch = |actor: &ActorRef<u8>, tag: u8| {
        let sender = sender.clone();
        runtime.watch(actor.pid(), move |reason| sender.send((tag, reason.label())).unwrap())
    };
    let make = || {
        runtime
            .spawn_fn(|_: &mut Context<'_, u8>, message| match message {
                0 => Flow::stop(),
                1 => Flow::Exit(ExitReason::error("one")),
                _ => panic!("two"),
            })
            .unwrap()
    };
    for (message, label) in [(0, "normal"), (1, "error"), (2, "panic")] {
        let actor = make();
        let taken = watch(&actor, 1).unwrap();
        watch(&actor, 2).unwrap();
        assert!(actor.exit_reason().is_none());
        assert!(runtime.unwatch(actor.pid(), taken) && !runtime.unwatch(actor.pid(), taken));
        actor.send(message).unwrap();
        assert_eq!(receiver.recv_timeout(LONG).unwrap(), (2, label));
        assert_eq!(actor.exit_reason().unwrap().label(), label);
        assert!(!runtime.is_alive(actor.pid()), "the pid is gone by then");
        assert!(watch(&actor, 3).is_none());
    }
    let killed = make();
    killed.exit(ExitReason::Killed);
    wait_until("the end", || !killed.is_alive());
    assert_eq!(killed.exit_reason().unwrap().label(), "killed");
    assert!(receiver.try_recv().is_err());
}

/// Counts how often it was woken.
#[derive(Default)]
struct Bell(AtomicUsize);

impl std::task::Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_killed_actor_receives_nothing_more_and_what_waited_is_counted_at_once() {
    let runtime = Runtime::new();
    for asked_before in [false, true] {
        let (actor, mut inbox) = runtime.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
        let before = runtime.metrics().dead_letters;
        (0..10).for_each(|message| actor.send(message).unwrap());
        inbox.stash(Received::Message(10));
        if asked_before {
            actor.exit(ExitReason::error("dawdles"));
            assert!(inbox.try_recv().is_ok(), "what waits can still be received");
        }
        actor.exit(ExitReason::Killed);
        assert!(matches!(inbox.try_recv(), Err(Nothing::Ended(ExitReason::Killed))));
        assert!(inbox.take_stashed(|_| true).is_none());
        assert!(matches!(actor.send(1), Err(SendError::NoProcess(1))), "nothing comes after a kill");
        drop(inbox);
        assert_eq!(runtime.metrics().dead_letters - before, if asked_before { 10 } else { 11 });
    }
}

#[test]
fn an_inbox_hears_of_the_wish_to_end_while_its_owner_waits_for_something_else() {
    let runtime = Runtime::new();
    for prompt in [false, true] {
        let (actor, mut inbox) = runtime.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
        let bell = Arc::new(Bell::default());
        let waker = std::task::Waker::from(bell.clone());
        inbox.end_promptly(prompt);
        assert!(inbox.watch_exit(&waker));
        actor.send(1).unwrap();
        assert_eq!(bell.0.load(Ordering::SeqCst), 0, "a message does not ring");
        actor.exit(ExitReason::error("enough"));
        actor.exit(ExitReason::error("the first reason stands"));
        assert_eq!(bell.0.load(Ordering::SeqCst), 1);
        assert!(!inbox.watch_exit(&waker), "there is nothing to wait for any more");
        assert_eq!(
            inbox.try_recv().is_err(),
            prompt,
            "what waits can be received, unless it was told otherwise"
        );
        assert!(matches!(inbox.try_recv(), Err(Nothing::Ended(ExitReason::Error(_)))));
    }
}

#[test]
fn async_actors_run_on_the_pool() {
    let runtime = Runtime::new();
    let echo = runtime
        .spawn_async(SpawnOptions::default(), |mut inbox: Inbox<(u32, ReplyTo<u32>)>| async move {
            while let Some(Received::Message((value, reply))) = inbox.recv().await {
                reply.send(value + 1);
            }
        })
        .unwrap();
    for value in 0..100 {
        assert_eq!(echo.ask(Some(LONG), |reply| (value, reply)), Ok(value + 1));
    }
    let caller = echo.clone();
    let relay = runtime
        .spawn_async(SpawnOptions::default(), |mut inbox: Inbox<ReplyTo<u32>>| async move {
            while let Some(Received::Message(reply)) = inbox.recv().await {
                let answer = caller.call(Some(LONG), |reply| (40, reply)).await;
                reply.send(answer.unwrap_or(0) + 1);
            }
        })
        .unwrap();
    assert_eq!(relay.ask(Some(LONG), |reply| reply), Ok(42));
}

#[test]
fn a_blocking_handler_does_not_hold_up_others() {
    let runtime = Runtime::builder().workers(1).build();
    let release = Arc::new(AtomicBool::new(false));
    let gate = release.clone();
    let stuck = runtime
        .spawn_fn(move |_: &mut Context<'_, u8>, _| {
            while !gate.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        })
        .unwrap();
    stuck.send(0).unwrap();
    wait_until("the blocker", || runtime.inspect(stuck.pid()).is_some_and(|cell| cell.state == "running"));
    let echo = runtime
        .spawn_fn(|_: &mut Context<'_, ReplyTo<u8>>, reply: ReplyTo<u8>| {
            reply.send(1);
        })
        .unwrap();
    for _ in 0..20 {
        assert_eq!(echo.ask(Some(LONG), |reply| reply), Ok(1));
    }
    assert!(runtime.inspect(stuck.pid()).is_some_and(|cell| cell.state == "running"));
    release.store(true, Ordering::SeqCst);
}

#[test]
fn a_handler_that_computes_does_not_hold_up_others() {
    let runtime = Runtime::builder().workers(1).build();
    let over = Arc::new(AtomicBool::new(false));
    let flag = over.clone();
    let computing = runtime
        .spawn_fn(move |_: &mut Context<'_, ()>, ()| {
            let until = Instant::now() + LONG;
            while !flag.load(Ordering::SeqCst) && Instant::now() < until {}
            assert!(flag.load(Ordering::SeqCst), "nobody stood in");
        })
        .unwrap();
    computing.send(()).unwrap();
    let ending =
        runtime.spawn_fn(move |_: &mut Context<'_, ()>, ()| over.store(true, Ordering::SeqCst)).unwrap();
    ending.send(()).unwrap();
    wait_until("the end of the computation", || computing.mailbox_len() == 0 && ending.mailbox_len() == 0);
    assert!(runtime.is_alive(computing.pid()));
}

#[test]
fn a_drain_waits_for_what_pull_actors_have_taken() {
    let runtime = Runtime::builder().workers(1).build();
    let seen = Arc::new(AtomicU64::new(0));
    let count = seen.clone();
    let sink = runtime.spawn_fn(move |_: &mut Context<'_, u64>, _| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let sink = sink.unwrap();
    let (stage, mut inbox) = runtime.spawn_inbox::<u64>(SpawnOptions::default()).unwrap();
    let thread = std::thread::spawn(move || {
        let mut refused = 0;
        // The first passes over one message, which is then read from where it was put aside.
        let mut odd = |item: &Received<u64>| matches!(item, Received::Message(message) if message % 2 == 1);
        while let Some(Received::Message(message)) = match inbox.take_stashed(&mut odd) {
            Some(item) => Some(item),
            None => inbox.recv_blocking(None).ok(),
        } {
            if message == 0 {
                inbox.stash(Received::Message(5));
            }
            std::thread::sleep(Duration::from_millis(20));
            refused += u64::from(sink.send(message).is_err());
        }
        refused
    });
    (0..4).for_each(|message| stage.send(message).unwrap());
    let report = runtime.stop(Some(LONG), LONG);
    assert_eq!(report, StopReport { complete: true, drained: true, dropped: 0, actors: 2 });
    assert_eq!((thread.join().unwrap(), seen.load(Ordering::Relaxed)), (0, 5));
}

#[test]
fn stop_with_drain_loses_nothing_and_without_it_counts() {
    let runtime = Runtime::builder().workers(2).build();
    let seen = Arc::new(AtomicU64::new(0));
    let handler = |seen: &Arc<AtomicU64>| {
        let seen = seen.clone();
        Handler::new(move |_: &mut Context<'_, u64>, _| {
            seen.fetch_add(1, Ordering::Relaxed);
        })
    };
    let actors: Vec<_> = (0..100).map(|_| runtime.spawn(handler(&seen)).unwrap()).collect();
    let count = scaled(100_000);
    (0..count).for_each(|at| actors[at as usize % 100].send(1).unwrap());
    let report = runtime.stop(Some(LONG), LONG);
    assert_eq!(report, StopReport { complete: true, drained: true, dropped: 0, actors: 100 });
    assert_eq!(seen.load(Ordering::Relaxed), count);
    assert!(matches!(runtime.spawn(handler(&seen)), Err(SpawnError::Stopping)));

    let runtime = Runtime::builder().workers(2).build();
    let seen = Arc::new(AtomicU64::new(0));
    let actor = runtime.spawn(handler(&seen)).unwrap();
    let count = scaled(1_000_000);
    (0..count).for_each(|_| actor.send(1).unwrap());
    let report = runtime.stop(None, LONG);
    assert!(report.complete);
    assert_eq!(
        seen.load(Ordering::Relaxed) + report.dropped,
        count,
        "a message was neither handled nor counted"
    );
}

#[test]
fn many_runtimes_come_and_go() {
    for _ in 0..scaled(300).max(3) {
        let runtime = Runtime::builder().workers(1).build();
        let actor = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| ()).unwrap();
        actor.send(1).unwrap();
    }
}

#[test]
fn a_pull_actor_has_no_behaviour_to_swap() {
    let runtime = Runtime::new();
    let (actor, _inbox) = runtime.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
    assert_eq!(actor.hot_swap(Handler::new(|_: &mut Context<'_, u8>, _| ())), None);
    assert_eq!(runtime.version(actor.pid()), Some(1));
}

#[test]
fn handlers_are_timed_while_somebody_looks() {
    let runtime = Runtime::new();
    let actor = runtime
        .spawn_fn(|_: &mut Context<'_, ReplyTo<()>>, reply: ReplyTo<()>| {
            std::thread::sleep(Duration::from_millis(1));
            reply.send(());
        })
        .unwrap();
    let busy = || runtime.inspect(actor.pid()).map(|cell| cell.busy).unwrap();
    actor.ask(Some(LONG), |reply| reply).unwrap();
    assert_eq!(busy(), Duration::ZERO);
    runtime.time_handlers(true);
    // The turn that began before is not timed, and may handle the next message as well.
    wait_until("a timed turn", || {
        actor.ask(Some(LONG), |reply| reply).unwrap();
        busy() >= Duration::from_millis(1)
    });
    runtime.time_handlers(false);
}

#[test]
fn a_pool_keeps_to_its_limits() {
    let runtime = Runtime::builder().workers(4).build();
    assert!(runtime.set_pool_limits(0, 2, 2));
    assert!(!runtime.set_pool_limits(9, 1, 1));
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let left = Arc::new(AtomicUsize::new(8));
    for _ in 0..8 {
        let (now, most, left) = (now.clone(), most.clone(), left.clone());
        let blocking = move |_: &mut Context<'_, u8>, _| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // Long enough for the keeper to look for a stand-in, which there may not be.
            std::thread::sleep(Duration::from_millis(10));
            now.fetch_sub(1, Ordering::SeqCst);
            left.fetch_sub(1, Ordering::SeqCst);
        };
        runtime.spawn_fn(blocking).unwrap().send(0).unwrap();
    }
    wait_until("all handlers", || left.load(Ordering::SeqCst) == 0);
    assert!(most.load(Ordering::SeqCst) <= 2);
}
