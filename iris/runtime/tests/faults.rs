//! What user code around actors may do without harm to the runtime: timers, subscribers and destructors that panic, time-outs without
//! end; and what ends in the same moment as something else begins: children and their parents, links, names.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use common::{LONG, wait_until};
use iris_runtime::*;

/// Whether an actor that is made now still gets its message.
fn check_alive(runtime: &Runtime, what: &str) {
    let (sender, receiver) = mpsc::channel();
    let actor = runtime.spawn_fn(move |_: &mut Context<'_, u8>, message| sender.send(message)).unwrap();
    actor.send(7).unwrap();
    assert_eq!(receiver.recv_timeout(LONG), Ok(7), "{what}: a worker is gone");
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[test]
fn timers_go_on_when_an_action_panics() {
    let runtime = Runtime::new();
    let actor = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| ()).unwrap();
    let guard = PanicsWhenDropped;
    runtime.run_after(Duration::ZERO, move || {
        let _guard = &guard;
        panic!("an action")
    });
    // (To print one backtrace takes Miri longer than many of these periods, and missed ones are made up for.)
    let period = Duration::from_millis(if cfg!(miri) { 3_600_000 } else { 1 });
    runtime.send_interval(period, &actor, || panic!("a message"));
    let (sender, receiver) = mpsc::channel();
    let sender = parking_lot::Mutex::new(sender);
    runtime.run_after(Duration::from_millis(10), move || sender.lock().send(()).unwrap());
    assert_eq!(receiver.recv_timeout(LONG), Ok(()), "the keeper is gone");
}

#[test]
fn workers_go_on_when_a_subscriber_of_dead_letters_panics() {
    let runtime = Runtime::builder().workers(1).build();
    let (told, subscriber) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let flag = subscriber.clone();
    runtime.on_dead_letter(Some(Arc::new(move |_, _| {
        flag.store(true, Ordering::SeqCst);
        panic!("a subscriber")
    })));
    let (begin, gate) = mpsc::channel::<()>();
    let flag = told.clone();
    let actor = runtime
        .spawn_fn(move |_: &mut Context<'_, u8>, _| {
            flag.store(true, Ordering::SeqCst);
            let _ = gate.recv();
            Flow::stop()
        })
        .unwrap();
    (0..3).for_each(|message| actor.send(message).unwrap());
    begin.send(()).unwrap();
    wait_until("the end of the actor", || runtime.live() == 0);
    assert!(told.load(Ordering::SeqCst) && subscriber.load(Ordering::SeqCst));
    assert_eq!(runtime.dead_letters(), 2);
    check_alive(&runtime, "a subscriber that panics");
}

#[test]
fn workers_go_on_when_an_unread_swap_panics_in_its_destructor() {
    let runtime = Runtime::builder().workers(1).build();
    let (begin, gate) = mpsc::channel::<()>();
    let actor = runtime
        .spawn_fn(move |_: &mut Context<'_, u8>, _| {
            let _ = gate.recv();
            Flow::stop()
        })
        .unwrap();
    actor.send(1).unwrap();
    let guard = PanicsWhenDropped;
    actor.hot_swap(Handler::new(move |_: &mut Context<'_, u8>, _| {
        let _guard = &guard;
    }));
    begin.send(()).unwrap();
    wait_until("the end of the actor", || runtime.live() == 0);
    check_alive(&runtime, "a destructor that panics");
}

#[test]
fn a_delayed_message_that_nobody_is_left_for_is_a_dead_letter() {
    let runtime = Runtime::new();
    let actor = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| Flow::stop()).unwrap();
    runtime.send_after(Duration::from_millis(20), &actor, 1_u8);
    actor.send(0).unwrap();
    drop(actor);
    wait_until("the end of the actor", || runtime.live() == 0);
    wait_until("the dead letter", || !runtime.recent_dead_letters().is_empty());
    assert_eq!((runtime.recent_dead_letters()[0].reason, runtime.dead_letters()), ("noproc", 1));
}

#[test]
fn time_outs_without_end_are_none() {
    let runtime = Runtime::new();
    let actor = runtime
        .spawn_fn(|_: &mut Context<'_, ReplyTo<u8>>, reply: ReplyTo<u8>| {
            reply.send(3);
        })
        .unwrap();
    assert_eq!(actor.ask(Some(Duration::MAX), |reply| reply), Ok(3));
    assert_eq!(actor.call(Some(Duration::MAX), |reply| reply).wait(Some(Duration::MAX)), Ok(3));
    let (other, mut inbox) = runtime.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
    other.send(1).unwrap();
    assert!(matches!(inbox.recv_blocking(Some(Duration::MAX)), Ok(Received::Message(1))));
    drop(inbox);
    let report = runtime.stop(Some(Duration::MAX), Duration::MAX);
    assert!(report.complete && report.drained);
    assert!(runtime.join(Some(Duration::MAX)));
}

#[test]
fn children_that_are_made_while_their_parent_ends_end_too() {
    let runtime = Runtime::builder().workers(1).build();
    for round in 0..if cfg!(miri) { 5 } else { 1_000 } {
        let parent = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| ()).unwrap();
        let pid = parent.pid();
        let go = Arc::new(AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (runtime, go) = (&runtime, &go);
            scope.spawn(move || {
                while !go.load(Ordering::SeqCst) {}
                let options = SpawnOptions { parent: Some(pid), ..SpawnOptions::default() };
                while runtime.spawn_with(options, Handler::new(|_: &mut Context<'_, u8>, _| ())).is_ok() {}
            });
            go.store(true, Ordering::SeqCst);
            (0..round % 60).for_each(|_| std::hint::spin_loop());
            parent.exit(ExitReason::Normal);
        });
        wait_until("the children's end", || runtime.live() == 0);
    }
}

#[test]
fn a_name_that_two_actors_fight_for_is_free_after_both() {
    let runtime = Runtime::new();
    for _ in 0..if cfg!(miri) { 3 } else { 500 } {
        let actors = [0, 1].map(|_| runtime.spawn_fn(|_: &mut Context<'_, u8>, _| ()).unwrap());
        std::thread::scope(|scope| {
            for actor in &actors {
                let runtime = &runtime;
                scope.spawn(move || {
                    for _ in 0..if cfg!(miri) { 3 } else { 50 } {
                        runtime.register("name", actor.pid());
                    }
                });
            }
        });
        actors.iter().for_each(|actor| actor.exit(ExitReason::Normal));
        wait_until("their end", || runtime.live() == 0);
        assert_eq!(runtime.whereis("name"), None);
    }
}

#[test]
fn an_actor_that_is_unlinked_outlives_the_other() {
    let runtime = Runtime::new();
    for round in 0..if cfg!(miri) { 5 } else { 1_000 } {
        let [one, other] = [0, 1].map(|_| runtime.spawn_fn(|_: &mut Context<'_, u8>, _| ()).unwrap());
        let pids = (one.pid(), other.pid());
        runtime.link(pids.0, pids.1);
        let unlinked = std::thread::scope(|scope| {
            let runtime = &runtime;
            let unlinking = scope.spawn(move || {
                (0..round % 100).for_each(|_| std::hint::spin_loop());
                runtime.unlink(pids.0, pids.1);
                // Unlinked in time, if it has not been asked to end by now.
                runtime.inspect(pids.0).is_some_and(|snapshot| snapshot.state == "idle")
            });
            other.exit(ExitReason::error("alone"));
            unlinking.join().unwrap()
        });
        wait_until("the end of the other", || !runtime.is_alive(pids.1) && runtime.live() <= 1);
        if unlinked {
            let (monitor, mut inbox) = runtime.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
            runtime.monitor(monitor.pid(), pids.0);
            let ended = inbox.recv_blocking(Some(Duration::from_micros(200)));
            assert!(matches!(ended, Err(Nothing::Empty)), "it was unlinked before: {ended:?}");
        }
        one.exit(ExitReason::Normal);
        wait_until("both ends", || runtime.live() == 0);
    }
}

/// Every kind of end: told of before anybody can see it, and once.
#[test]
fn the_host_is_told_of_an_end_before_it_can_be_seen_and_once() {
    type Seen = Arc<parking_lot::Mutex<Vec<(Pid, ExitReason, Option<bool>)>>>;
    type Known = Arc<parking_lot::Mutex<std::collections::HashMap<Pid, ActorRef<u8>>>>;
    let (seen, known) = (Seen::default(), Known::default());
    let (told, refs) = (seen.clone(), known.clone());
    let runtime = Runtime::builder()
        .on_end(move |pid, reason| {
            let alive = refs.lock().get(&pid).map(|actor| actor.is_alive() && actor.exit_reason().is_none());
            told.lock().push((pid, reason.clone(), alive));
            assert!(!matches!(reason, ExitReason::Killed), "the host's code fails for the killed");
        })
        .build();
    let handle = runtime.handle();
    let note = |actor: &ActorRef<u8>| drop(known.lock().insert(actor.pid(), actor.clone()));
    let ends = |pid: Pid| seen.lock().iter().filter(|(of, ..)| *of == pid).cloned().collect::<Vec<_>>();
    let check = |actor: ActorRef<u8>, what: &str| {
        wait_until(what, || !actor.is_alive());
        let told = ends(actor.pid());
        assert_eq!(told.len(), 1, "{what}: {told:?}");
        assert_eq!(told[0].2, Some(true), "{what}: it could be seen before the host was told");
    };
    for reason in [ExitReason::Normal, ExitReason::Shutdown, ExitReason::Killed, ExitReason::error("why")] {
        let pushed = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| ()).unwrap();
        note(&pushed);
        assert!(handle.exit(pushed.pid(), reason.clone()));
        check(pushed, &format!("push {reason}"));
        let (pulled, mut inbox) = handle.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
        note(&pulled);
        inbox.set_reason(reason.clone());
        drop(inbox);
        check(pulled, &format!("pull {reason}"));
    }
    let panicked = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| -> () { panic!("a handler") }).unwrap();
    note(&panicked);
    panicked.send(1).unwrap();
    check(panicked, "a panic");
    let (given_up, inbox) = handle.spawn_inbox::<u8>(SpawnOptions::default()).unwrap();
    note(&given_up);
    handle.exit(given_up.pid(), ExitReason::Killed);
    handle.give_up(given_up.pid());
    drop(inbox);
    check(given_up, "given up");
}
