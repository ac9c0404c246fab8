//! Bounded mailboxes: what each policy does at capacity, from outside and from inside actors, and that no policy deadlocks.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use common::{LONG, wait_until};
use iris_runtime::*;

/// A pull actor with room for two messages.
fn narrow(runtime: &Runtime, policy: Overflow) -> (ActorRef<u32>, Inbox<u32>) {
    runtime.spawn_inbox(SpawnOptions { bound: Some((2, policy)), ..SpawnOptions::default() }).unwrap()
}

fn contents(inbox: &mut Inbox<u32>) -> Vec<u32> {
    let mut out = Vec::new();
    while let Ok(Received::Message(message)) = inbox.try_recv() {
        out.push(message);
    }
    out
}

#[test]
fn drop_new_refuses_and_drop_old_makes_room() {
    let runtime = Runtime::new();
    let (actor, mut inbox) = narrow(&runtime, Overflow::DropNew);
    actor.send(1).unwrap();
    actor.send(2).unwrap();
    assert!(matches!(actor.send(3), Err(SendError::Full(3))));
    assert_eq!(contents(&mut inbox), [1, 2]);

    let (actor, mut inbox) = narrow(&runtime, Overflow::DropOld);
    (1..=5).for_each(|message| actor.send(message).unwrap());
    assert_eq!(contents(&mut inbox), [4, 5]);
    assert_eq!(runtime.dead_letters(), 3);
}

#[test]
fn redirect_and_spill_hand_over_what_does_not_fit() {
    let runtime = Runtime::new();
    let (overflow, mut at_overflow) = narrow(&runtime, Overflow::DropNew);
    for (policy, beyond) in
        [(Overflow::Redirect(overflow.pid()), false), (Overflow::Spill(overflow.pid()), true)]
    {
        let (actor, mut inbox) = narrow(&runtime, policy);
        (1..=4).for_each(|message| actor.send(message).unwrap());
        // Now the target is full as well: redirect refuses, spill keeps the message.
        assert_eq!(actor.send(5).is_ok(), beyond);
        assert_eq!(contents(&mut at_overflow), [3, 4]);
        assert_eq!(contents(&mut inbox), if beyond { vec![1, 2, 5] } else { vec![1, 2] });
    }
}

#[test]
fn redirection_in_a_circle_ends() {
    let runtime = Runtime::new();
    let (one, _first) = narrow(&runtime, Overflow::DropNew);
    let (two, _second) = narrow(&runtime, Overflow::Redirect(one.pid()));
    runtime.set_overflow(one.pid(), None, Overflow::Redirect(two.pid()));
    (1..=4).for_each(|message| one.send(message).unwrap());
    assert!(matches!(one.send(5), Err(SendError::Full(5))));
}

#[test]
fn block_waits_for_room_outside() {
    let runtime = Runtime::new();
    let (actor, mut inbox) = narrow(&runtime, Overflow::Block);
    let done = Arc::new(AtomicBool::new(false));
    let flag = done.clone();
    let sender = std::thread::spawn(move || {
        (0..100).for_each(|message| actor.send(message).unwrap());
        flag.store(true, Ordering::SeqCst);
        actor
    });
    let mut got = Vec::new();
    while got.len() < 100 {
        assert!(inbox.me().mailbox_len() <= 2);
        if let Ok(Received::Message(message)) = inbox.recv_blocking(Some(LONG)) {
            got.push(message);
        }
    }
    let actor = sender.join().unwrap();
    assert_eq!(got, (0..100).collect::<Vec<_>>());
    // A sender that waits is released when the actor ends.
    (0..2).for_each(|message| actor.send(message).unwrap());
    let waiting = std::thread::spawn(move || actor.send(2));
    std::thread::sleep(Duration::from_millis(5));
    drop(inbox);
    assert!(matches!(waiting.join().unwrap(), Err(SendError::NoProcess(2))));
}

#[test]
fn block_inside_actors_never_deadlocks_the_pool() {
    let runtime = Runtime::builder().workers(1).build();
    let bound = SpawnOptions { bound: Some((4, Overflow::Block)), ..SpawnOptions::default() };
    let handled = Arc::new(AtomicU64::new(0));
    let count = handled.clone();
    let slow = runtime
        .spawn_with(
            bound,
            Handler::new(move |_: &mut Context<'_, u32>, _| {
                count.fetch_add(1, Ordering::SeqCst);
            }),
        )
        .unwrap();
    let producer = runtime
        .spawn_fn(move |_: &mut Context<'_, u32>, count| {
            (0..count).for_each(|message| slow.send(message).unwrap())
        })
        .unwrap();
    let messages = if cfg!(miri) { 50 } else { 2_000 };
    producer.send(messages).unwrap();
    wait_until("all messages through four places", || handled.load(Ordering::SeqCst) == u64::from(messages));
}

#[test]
fn blocking_on_oneself_or_in_a_circle_goes_over_capacity_instead() {
    let runtime = Runtime::builder().workers(1).build();
    let bound = SpawnOptions { bound: Some((1, Overflow::Block)), ..SpawnOptions::default() };
    let handled = Arc::new(AtomicU64::new(0));
    let count = handled.clone();
    let echoing = runtime
        .spawn_with(
            bound,
            Handler::new(move |cx: &mut Context<'_, u32>, left: u32| {
                count.fetch_add(1, Ordering::SeqCst);
                (0..left).for_each(|_| cx.me().send(0).unwrap());
            }),
        )
        .unwrap();
    echoing.send(10).unwrap();
    wait_until("its own messages", || handled.load(Ordering::SeqCst) == 11);

    let handled = Arc::new(AtomicU64::new(0));
    let partner = |to: Arc<std::sync::OnceLock<ActorRef<u32>>>| {
        let count = handled.clone();
        Handler::new(move |_: &mut Context<'_, u32>, left: u32| {
            count.fetch_add(1, Ordering::SeqCst);
            for _ in 0..left.min(3) {
                to.get().unwrap().send(left.saturating_sub(1)).unwrap();
            }
        })
    };
    let cells = [Arc::new(std::sync::OnceLock::new()), Arc::new(std::sync::OnceLock::new())];
    let left = runtime.spawn_with(bound, partner(cells[1].clone())).unwrap();
    let right = runtime.spawn_with(bound, partner(cells[0].clone())).unwrap();
    cells[0].set(left.clone()).unwrap();
    cells[1].set(right).unwrap();
    left.send(6).unwrap();
    // 1 + 3 + 9 + 27 + 81 + 243 (3 sends each while more than two are left) + 2 * 243 + 486 from the last levels.
    let expected = 1 + 3 + 9 + 27 + 81 + 162 + 162;
    wait_until("the whole tree", || handled.load(Ordering::SeqCst) == expected);
}

#[test]
fn a_target_decides_by_its_own_policy_what_is_redirected_to_it() {
    let runtime = Runtime::new();
    let (last, mut at_last) = narrow(&runtime, Overflow::DropNew);
    let (keeping, mut at_keeping) = narrow(&runtime, Overflow::Spill(last.pid()));
    let (first, _inbox) = narrow(&runtime, Overflow::Redirect(keeping.pid()));
    (1..=7).for_each(|message| first.send(message).unwrap());
    assert_eq!(contents(&mut at_last), [5, 6]);
    assert_eq!(contents(&mut at_keeping), [3, 4, 7], "who spills keeps what nobody takes");

    let (slow, mut at_slow) = narrow(&runtime, Overflow::Block);
    let (first, _inbox) = narrow(&runtime, Overflow::Redirect(slow.pid()));
    (1..=4).for_each(|message| first.send(message).unwrap());
    assert!(matches!(first.try_send(5), Err(SendError::Full(5))));
    let waiting = std::thread::spawn(move || first.send(6));
    std::thread::sleep(Duration::from_millis(5));
    assert!(!waiting.is_finished(), "the target makes its senders wait");
    for expected in [3, 4, 6] {
        let got = at_slow.recv_blocking(Some(LONG));
        assert!(matches!(got, Ok(Received::Message(message)) if message == expected), "{got:?}");
    }
    waiting.join().unwrap().unwrap();
}

#[test]
fn a_request_that_waits_for_room_ends_at_its_deadline() {
    let runtime = Runtime::new();
    let bound = SpawnOptions { bound: Some((1, Overflow::Block)), ..SpawnOptions::default() };
    let (actor, _inbox) = runtime.spawn_inbox::<Option<ReplyTo<u8>>>(bound).unwrap();
    actor.send(None).unwrap();
    let (done, told) = std::sync::mpsc::channel();
    let asking = actor.clone();
    std::thread::spawn(move || {
        let soon = Some(Duration::from_millis(5));
        let asked = asking.ask(soon, Some);
        let called = asking.call(soon, Some).wait(None);
        done.send((asked, called)).unwrap();
    });
    assert_eq!(told.recv_timeout(LONG), Ok((Err(CallError::Timeout), Err(CallError::Timeout))));
    assert_eq!(actor.mailbox_len(), 1, "what came too late is not delivered after all");
}

#[test]
fn an_async_actor_that_floods_itself_goes_over_capacity() {
    let runtime = Runtime::builder().workers(1).build();
    let bound = SpawnOptions { bound: Some((1, Overflow::Block)), ..SpawnOptions::default() };
    let (done, told) = std::sync::mpsc::channel();
    runtime
        .spawn_async(bound, |mut inbox: Inbox<u8>| async move {
            (0..3).for_each(|message| inbox.me().send(message).unwrap());
            for expected in 0..3 {
                assert!(matches!(inbox.recv().await, Some(Received::Message(got)) if got == expected));
            }
            done.send(()).unwrap();
        })
        .unwrap();
    assert_eq!(told.recv_timeout(LONG), Ok(()));
}

#[test]
fn who_blocks_has_room_for_one_at_least() {
    let runtime = Runtime::new();
    let bound = SpawnOptions { bound: Some((0, Overflow::Block)), ..SpawnOptions::default() };
    let (actor, mut inbox) = runtime.spawn_inbox::<u32>(bound).unwrap();
    let sender = std::thread::spawn(move || (0..3).for_each(|message| actor.send(message).unwrap()));
    for expected in 0..3 {
        let got = inbox.recv_blocking(Some(LONG));
        assert!(matches!(got, Ok(Received::Message(message)) if message == expected), "{got:?}");
    }
    sender.join().unwrap();
}
