//! What loom checks of the mailbox's states, in every order of the threads. Run with
//! `RUSTFLAGS="--cfg iris_loom" cargo test --target-dir target/loom -p pithos-iris --lib --profile fast loom`.

use super::*;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

type Box8 = Mailbox<u8, ()>;

/// A worker's turn with the given budget; returns what it read and whether it holds a new permit.
fn turn(mailbox: &Box8, budget: usize, out: &mut Vec<u8>) -> bool {
    let mut turn = Turn::empty();
    if !mailbox.begin(&mut turn) {
        return false;
    }
    let mut done = 0;
    loop {
        match turn.batch.pop() {
            Some(Envelope::User(message)) => out.push(message),
            Some(Envelope::Control(_)) => {}
            None if mailbox.refill_or_idle(&mut turn) => continue,
            None => return false,
        }
        done += 1;
        if done == budget {
            return mailbox.yield_turn(&mut turn);
        }
    }
}

/// Sends as a reference does; whether the cell has to be scheduled.
fn push(mailbox: &Box8, message: u8) -> bool {
    mailbox.deliver(message).unwrap_or_else(|message| {
        matches!(mailbox.push(Envelope::User(message), Fit::Bounded, None), Push::Queued(Wake::Schedule))
    })
}

/// Every permit that is handed out is run, as a scheduler would; all messages must be read, once, in order.
fn deliver(budget: usize) {
    loom::model(move || {
        let mailbox = Arc::new(Mailbox::push_role(()));
        let (permits, running) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (theirs, count) = (mailbox.clone(), permits.clone());
        let sender = thread::spawn(move || {
            for message in 1..=2 {
                if push(&theirs, message) {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        let mut read = Vec::new();
        let run = |read: &mut Vec<u8>| {
            while permits.load(Ordering::SeqCst) > 0 {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "two runners");
                permits.fetch_sub(1, Ordering::SeqCst);
                let again = turn(&mailbox, budget, read);
                running.fetch_sub(1, Ordering::SeqCst);
                if again {
                    permits.fetch_add(1, Ordering::SeqCst);
                }
            }
        };
        run(&mut read);
        sender.join().unwrap();
        run(&mut read);
        assert_eq!(read, [1, 2]);
        assert_eq!(mailbox.len(), (0, false));
    });
}

#[test]
fn loom_no_message_is_lost_when_the_runner_goes_idle() {
    deliver(100);
}

#[test]
fn loom_no_message_is_lost_when_the_runner_yields() {
    deliver(1);
}

#[test]
fn loom_two_senders_hand_out_one_permit() {
    loom::model(|| {
        let mailbox: Arc<Box8> = Arc::new(Mailbox::push_role(()));
        let theirs = mailbox.clone();
        let other = thread::spawn(move || push(&theirs, 1));
        let mine = push(&mailbox, 2);
        assert!(mine ^ other.join().unwrap(), "exactly one of two pushes schedules an idle cell");
    });
}

#[test]
fn loom_an_exit_is_seen_by_the_runner_or_schedules_the_cell() {
    loom::model(|| {
        let mailbox: Arc<Box8> = Arc::new(Mailbox::push_role(()));
        assert!(push(&mailbox, 1));
        let preempt = Arc::new(AtomicBool::new(false));
        let (theirs, preempts) = (mailbox.clone(), preempt.clone());
        let killer = thread::spawn(move || match theirs.request_exit(ExitReason::Killed) {
            Wake::Preempt => {
                preempts.store(true, Ordering::Relaxed);
                false
            }
            wake => matches!(wake, Wake::Schedule),
        });
        let mut read = Vec::new();
        let mut turn_now = Turn::empty();
        assert!(mailbox.begin(&mut turn_now));
        let mut seen = false;
        loop {
            if turn_now.exit || (preempt.load(Ordering::Relaxed) && mailbox.exit_requested()) {
                seen = true;
                break;
            }
            match turn_now.batch.pop() {
                Some(Envelope::User(message)) => read.push(message),
                Some(Envelope::Control(_)) => {}
                None if mailbox.refill_or_idle(&mut turn_now) => {}
                None => break,
            }
        }
        let scheduled = killer.join().unwrap();
        assert!(seen ^ scheduled, "the wish to end was lost or acted on twice");
    });
}

/// A waker that remembers that it was woken.
struct Bell(AtomicBool);

impl std::task::Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn bell() -> (std::sync::Arc<Bell>, Waker) {
    let bell = std::sync::Arc::new(Bell(AtomicBool::new(false)));
    (bell.clone(), Waker::from(bell))
}

#[test]
fn loom_a_pull_that_found_nothing_is_woken() {
    loom::model(|| {
        let mailbox: Arc<Box8> = Arc::new(Mailbox::pull_role());
        let theirs = mailbox.clone();
        let sender = thread::spawn(move || {
            if let Push::Queued(Wake::Waker(waker)) = theirs.push(Envelope::User(1), Fit::Bounded, None) {
                waker.wake();
            }
        });
        let (bell, waker) = bell();
        let empty = matches!(mailbox.pull(Some(&waker), false), Pull::Empty);
        sender.join().unwrap();
        assert_eq!(bell.0.load(Ordering::SeqCst), empty, "woken exactly if it had to wait");
        assert_eq!(matches!(mailbox.pull(None, false), Pull::Item(_)), empty);
    });
}

#[test]
fn loom_an_owner_that_waits_for_something_else_hears_of_the_wish_to_end() {
    loom::model(|| {
        let mailbox: Arc<Box8> = Arc::new(Mailbox::pull_role());
        let theirs = mailbox.clone();
        let killer = thread::spawn(move || {
            if let Wake::Waker(waker) = theirs.request_exit(ExitReason::Killed) {
                waker.wake();
            }
        });
        let (bell, waker) = bell();
        let watched = mailbox.watch_exit(&waker);
        killer.join().unwrap();
        assert_eq!(bell.0.load(Ordering::SeqCst), watched, "woken exactly if it was not told at once");
    });
}

#[test]
fn loom_a_sender_that_waits_for_room_is_woken() {
    loom::model(|| {
        let mailbox: Arc<Box8> = Arc::new(Mailbox::push_role(()));
        mailbox.set_bound(Some(1), Overflow::Block);
        assert!(push(&mailbox, 1));
        let theirs = mailbox.clone();
        let (bell, waker) = bell();
        let sender = thread::spawn(move || {
            matches!(theirs.push(Envelope::User(2), Fit::Bounded, Some(&waker)), Push::Full(..))
        });
        let mut read = Vec::new();
        turn(&mailbox, 100, &mut read);
        let waited = sender.join().unwrap();
        assert_eq!(bell.0.load(Ordering::SeqCst), waited, "woken exactly if it had to wait");
        assert_eq!(read.first(), Some(&1));
    });
}

#[test]
fn loom_close_and_push_agree_on_every_message() {
    loom::model(|| {
        let mailbox: Arc<Box8> = Arc::new(Mailbox::push_role(()));
        let theirs = mailbox.clone();
        let sender = thread::spawn(move || {
            !matches!(theirs.push(Envelope::User(1), Fit::Bounded, None), Push::Dead(_))
        });
        let found = mailbox.close(&ExitReason::Normal).map_or(0, |rest| rest.len());
        let accepted = sender.join().unwrap();
        assert_eq!(usize::from(accepted), found, "an accepted message must be found by close");
    });
}
