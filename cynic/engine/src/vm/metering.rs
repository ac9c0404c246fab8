//! Metering: fuel, deadline, cancellation, heap; and the guard of the native stack.
//!
//! The interpreter calls [`Vm::poll`] at back-edges and entries, and every native loop whose length the guest chooses
//! calls it (or [`Vm::poll_n`]) too. The common case is one decrement. Work that is done in one go is *charged*
//! (`Mutator::charge_bytes`): that cannot fail, so it stands where bytes become accessible (a string's units, a large cell, an
//! external charge), and the next poll pays. Invariant: once a limit is exceeded, every poll answers `Abrupt::Terminate` until
//! the host clears it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Abrupt, JsResult, Termination, Vm};
use crate::gc::native_stack::address_of_frame;
use crate::limits;

/// Lets another thread end the guest.
#[derive(Clone, Default, Debug)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that has not been used.
    pub fn new() -> Self {
        Self::default()
    }
    /// Ends the guest at its next poll.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// Makes the token usable again.
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Steps between two looks at the limits, where there are many.
const POLL_INTERVAL_OFTEN: u32 = 13;

/// The limits that polls look at.
#[derive(Default)]
pub struct Metering {
    /// Steps left, if they are limited. A step is a back-edge, a call, or an iteration of a native loop.
    pub fuel: Option<u64>,
    /// When the guest must have ended.
    pub deadline: Option<Instant>,
    /// The token another thread may use.
    pub cancel: Option<CancelToken>,
    /// Looks at the limits every few steps: for tests of what happens there.
    pub looks_often: bool,
    /// Called at each look at the limits: lets a test measure how far apart they are.
    pub on_look: Option<Box<dyn FnMut()>>,
}

impl Vm {
    /// One step: fails when a limit is exceeded.
    #[inline(always)]
    pub fn poll(&mut self) -> JsResult<()> {
        if self.budget > 1 {
            self.budget -= 1;
            return Ok(());
        }
        self.poll_slow(1)
    }

    /// Pays for work that was charged beyond the budget, if there is any; no step of its own. What has no back-edge and no call (a row of
    /// comparisons of long strings, the arguments of one call) would be charged for ever and never end otherwise.
    #[inline(always)]
    pub fn pay(&mut self) -> JsResult<()> {
        if self.budget > 0 {
            return Ok(());
        }
        self.pay_slow()
    }

    #[cold]
    #[inline(never)]
    fn pay_slow(&mut self) -> JsResult<()> {
        if let Some(on_look) = &mut self.metering.on_look {
            on_look();
        }
        self.check_time()?;
        self.refill(0)
    }

    /// `k` steps at once.
    #[inline(always)]
    pub fn poll_n(&mut self, k: u32) -> JsResult<()> {
        if self.budget > k {
            self.budget -= k;
            return Ok(());
        }
        self.poll_slow(k)
    }

    /// Charges work over `bytes` bytes, and pays: for pieces of a long loop.
    #[inline]
    pub fn poll_bytes(&mut self, bytes: usize) -> JsResult<()> {
        self.charge_many_bytes(bytes);
        self.poll()
    }

    /// Steps left, if they are limited.
    pub fn fuel_left(&self) -> Option<u64> {
        let left = self.metering.fuel? + u64::from(self.budget);
        Some(left.saturating_sub(self.owed))
    }

    /// Refills the budget after looking at every limit.
    #[cold]
    #[inline(never)]
    pub fn poll_slow(&mut self, k: u32) -> JsResult<()> {
        if let Some(on_look) = &mut self.metering.on_look {
            on_look();
        }
        // Every loop comes here, so that even an interpreter whose handlers grew the stack could not overflow it.
        if self.termination().is_none() {
            self.check_native_stack()?;
        }
        self.check_time()?;
        self.check_lists()?;
        self.refill(k)?;
        self.polled();
        Ok(())
    }

    /// Looks at everything but the fuel: after work in one go whose time no step accounts for.
    pub(crate) fn check_time(&mut self) -> JsResult<()> {
        if self.termination().is_some() {
            return Err(Abrupt::Terminate);
        }
        if self.metering.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(self.terminate(Termination::Cancelled));
        }
        if self.metering.deadline.is_some_and(|d| Instant::now() >= d) {
            return Err(self.terminate(Termination::Deadline));
        }
        Ok(())
    }

    fn refill(&mut self, k: u32) -> JsResult<()> {
        let owed = u64::from(k.saturating_sub(self.budget)) + std::mem::take(&mut self.owed);
        let interval = if self.metering.looks_often { POLL_INTERVAL_OFTEN } else { limits::POLL_INTERVAL };
        let Some(fuel) = self.metering.fuel else {
            self.budget = interval;
            return Ok(());
        };
        let Some(left) = fuel.checked_sub(owed).filter(|&f| f > 0) else {
            self.metering.fuel = Some(0);
            self.budget = 0;
            return Err(self.terminate(Termination::Fuel));
        };
        let granted = left.min(u64::from(interval));
        self.metering.fuel = Some(left - granted);
        self.budget = granted as u32;
        Ok(())
    }

    /// Sets the fuel, counting from now.
    pub fn set_fuel(&mut self, fuel: Option<u64>) {
        self.metering.fuel = fuel;
        self.owed = 0;
        self.budget = 0;
    }

    /// Fails with a RangeError when the native stack is nearly used up: for everything that recurses natively.
    #[inline(always)]
    pub fn check_native_stack(&mut self) -> JsResult<()> {
        if address_of_frame() > self.native_stack_limit {
            return Ok(());
        }
        Err(self.throw_stack_overflow())
    }

    /// The RangeError of a recursion that is too deep.
    #[cold]
    #[inline(never)]
    pub fn throw_stack_overflow(&mut self) -> Abrupt {
        // The error object itself needs some stack: lower the guard while it is made.
        let limit = std::mem::replace(&mut self.native_stack_limit, 0);
        let abrupt = self.throw_range_error("Maximum call stack size exceeded");
        self.native_stack_limit = limit;
        abrupt
    }
}
