//! What goes on when the server's loop does not: a thread that asks the loop for a sign of life. A loop that gives none is a fault of ours that nothing
//! inside the loop can report, so the thread answers the calls that are under way and ends the process; the guardian then ends what ran, and
//! the client may start the server again. Without it such a fault would look like a call that takes long.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pithos_sessions::Locked;
use pithos_sessions::errln;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};
use tokio::runtime::Handle;

/// Between two looks at the loop.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A loop that says nothing for so long is stuck.
const STUCK_AFTER: Duration = Duration::from_secs(15);
/// The same when the client has gone: nobody waits for an answer.
const STUCK_ALONE_AFTER: Duration = Duration::from_secs(2);
/// The process's status then: an internal software error, as `sysexits.h` counts.
const EXIT_STUCK: i32 = 70;
/// JSON-RPC's code for an internal error.
const INTERNAL_ERROR: i32 = -32603;

/// The calls under way: the id of each request, by a number of ours.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    ids: Arc<Locked<HashMap<u64, Value>>>,
    next: Arc<AtomicU64>,
}

/// A call is under way until this is dropped.
pub(crate) struct UnderWay {
    calls: Calls,
    number: u64,
}

impl Calls {
    /// Notes a call.
    pub(crate) fn enter(&self, id: Value) -> UnderWay {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.ids.with(|ids| ids.insert(number, id));
        UnderWay { calls: self.clone(), number }
    }

    /// The answers that a stuck server owes, one JSON-RPC line each.
    fn answers(&self) -> String {
        let ids: Vec<Value> = self.ids.with(|ids| ids.values().cloned().collect());
        let message = "the server was stuck and has ended with everything it ran; start it again (this is a fault of pithos)";
        let answer =
            |id| json!({"jsonrpc": "2.0", "id": id, "error": {"code": INTERNAL_ERROR, "message": message}});
        ids.into_iter().map(|id| format!("{}\n", answer(id))).collect()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.calls.ids.with(|ids| ids.remove(&self.number));
    }
}

/// Watches the loop of this thread for a server on standard input and output, or (`stdio` is false) one that answers elsewhere.
pub(crate) fn start(calls: Calls, stdio: bool) -> Result<(), String> {
    let runtime = Handle::current();
    let watch = move || {
        let alone = || stdio && client_gone();
        wait_until_stuck(&runtime, LOOK_EVERY, |silent| {
            silent >= STUCK_AFTER || silent >= STUCK_ALONE_AFTER && alone()
        });
        errln!("pithos: the server's loop has been stuck for {} s: ending", STUCK_AFTER.as_secs());
        if stdio && !alone() {
            // Not by way of the library: its lock may be held by what is stuck.
            let _ = rustix::io::write(rustix::stdio::stdout(), calls.answers().as_bytes());
        }
        std::process::exit(EXIT_STUCK);
    };
    let spawned = std::thread::Builder::new().name("watchdog".into()).spawn(watch);
    spawned.map(drop).map_err(|error| format!("the watchdog: {error}"))
}

/// Returns when the loop has been silent for so long that `stuck` says yes.
fn wait_until_stuck(runtime: &Handle, look_every: Duration, stuck: impl Fn(Duration) -> bool) {
    let answered = Arc::new(AtomicU64::new(0));
    let mut asked = 0;
    let mut last_sign = Instant::now();
    loop {
        if answered.load(Ordering::Relaxed) == asked {
            last_sign = Instant::now();
            asked += 1;
            let (answered, number) = (Arc::clone(&answered), asked);
            runtime.spawn(async move { answered.store(number, Ordering::Relaxed) });
        } else if stuck(last_sign.elapsed()) {
            return;
        }
        std::thread::sleep(look_every);
    }
}

fn client_gone() -> bool {
    let stdin = std::io::stdin();
    let mut wait = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut wait, Some(&now)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{Calls, wait_until_stuck};

    #[test]
    fn a_stuck_loop_is_noticed_and_an_idle_one_is_not() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let handle = runtime.handle().clone();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            wait_until_stuck(&handle, Duration::from_millis(10), |silent| {
                silent > Duration::from_millis(300)
            });
            let _ = sender.send(());
        });
        runtime.block_on(async {
            tokio::time::sleep(Duration::from_millis(800)).await;
            assert!(receiver.try_recv().is_err(), "an idle loop answers");
            // What no handler may do.
            assert!(receiver.recv_timeout(Duration::from_secs(30)).is_ok());
        });
    }

    #[test]
    fn the_calls_under_way_are_answered_and_no_others() {
        let calls = Calls::default();
        let first = calls.enter(json!(1));
        let second = calls.enter(json!("two"));
        drop(first);
        let answer: Value = serde_json::from_str(calls.answers().trim()).expect("one line");
        assert_eq!((&answer["id"], answer["error"]["code"].as_i64()), (&json!("two"), Some(-32603)));
        drop(second);
        assert_eq!(calls.answers(), "");
    }
}
