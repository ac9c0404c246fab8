//! The clock by which a taken shell has the daemon look after it. A word on a socket would wake the daemon at once, which
//! then takes a processor from the client and its shell; a clock lets it sleep until the command has turned out to be a long
//! one or the client has gone.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

/// One clock, which the daemon and one shell share.
pub(super) struct Clock(OwnedFd);

impl Clock {
    /// A clock that does not run.
    pub(super) fn new() -> io::Result<Clock> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Clock(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// The same clock behind a descriptor from `min` on.
    pub(super) fn above(&self, min: i32) -> io::Result<Clock> {
        Ok(Clock(rustix::io::fcntl_dupfd_cloexec(&self.0, min)?))
    }

    /// Lets it ring, once, after `delay`, which must not be zero.
    pub(super) fn ring_after(&self, delay: Duration) -> io::Result<()> {
        let it_value = Timespec { tv_sec: delay.as_secs() as i64, tv_nsec: i64::from(delay.subsec_nanos()) };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Ends its ringing.
    pub(super) fn silence(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.0, &mut count);
    }
}

impl AsFd for Clock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::Clock;

    fn rings_within(clock: &Clock, milliseconds: i64) -> bool {
        let patience = Timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
        poll(&mut [PollFd::new(clock, PollFlags::IN)], Some(&patience)).expect("polled") == 1
    }

    #[test]
    fn it_rings_after_its_time_until_it_is_silenced() {
        let clock = Clock::new().expect("a clock");
        assert!(!rings_within(&clock, 1));
        let start = Instant::now();
        clock.above(100).expect("shared").ring_after(Duration::from_millis(20)).expect("armed");
        assert!(rings_within(&clock, 900));
        assert!(start.elapsed() >= Duration::from_millis(20));
        clock.silence();
        assert!(!rings_within(&clock, 1));
        clock.silence();
    }
}
