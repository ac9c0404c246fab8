//! [`Mutator`]: the program's side of the heap. Allocation, charges, what is due when, and the roots that this crate knows.
//!
//! A virtual machine holds a `Mutator` as a field and dereferences to it, so that everything below that allocates takes `&mut Mutator`,
//! whoever owns it. What the heap needs of its owner is three functions ([`Owner`]): more roots, weak tables, and an error to throw.
//!
//! [`Mutator::alloc_raw`] never fails from the caller's view: small cells beyond the heap limit are still handed out, but the
//! next poll ends the guest. Anything whose size the guest chooses is checked first with [`Mutator::check_heap_room`].

use std::time::Instant;

use crate::gc::collect::{self, Phase};
use crate::gc::native_stack::{self, StackBounds};
use crate::gc::{ExternalCharge, Gc, GcStats, Heap, RootedVec, Tracer, Zeal};
use crate::limits;
use crate::shape::Shape;
use crate::string::JsStr;
use crate::string::hash::HashSeed;
use crate::string::intern::InternTable;
use crate::value::Value;

/// Why an operation did not complete normally. The thrown value, or the termination, is in the [`Mutator`].
#[repr(u64)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Abrupt {
    /// A guest exception: [`Mutator::take_exception`].
    Throw = 0,
    /// The guest was ended: [`Mutator::termination`]. Guest code cannot catch it, and `finally` does not run.
    Terminate = 1,
}

/// The result of anything that may run guest code.
pub type JsResult<T> = Result<T, Abrupt>;

/// Why a guest was ended. Not catchable by the guest.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Termination {
    /// The fuel is used up.
    Fuel,
    /// The heap limit, buffers and strings included.
    Heap,
    /// The deadline has passed.
    Deadline,
    /// Another thread asked for it.
    Cancelled,
    /// The host asked for it (`exit`).
    Host,
}

impl std::fmt::Display for Termination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Termination::Fuel => "out of fuel",
            Termination::Heap => "heap limit exceeded",
            Termination::Deadline => "deadline exceeded",
            Termination::Cancelled => "cancelled",
            Termination::Host => "ended by the host",
        })
    }
}

/// What the owner of a [`Mutator`] does for it. The functions are given the address of the `Mutator`, from which an owner that holds it in a
/// known place finds itself.
pub struct Owner {
    /// Reports every root that the owner holds. The heap is being traced: the function allocates nothing, and borrows nothing of the
    /// `Mutator`.
    pub trace: unsafe fn(*const Mutator, &mut Tracer<'_>),
    /// Drops what the owner refers to weakly and is not marked, and caches of addresses. The same rules.
    pub purge: unsafe fn(*mut Mutator, &Tracer<'_>),
    /// Forgets caches of addresses, before any collection. The same rules.
    pub forget_caches: unsafe fn(*mut Mutator),
    /// Throws a RangeError with this message.
    pub throw_range_error: unsafe fn(*mut Mutator, &str) -> Abrupt,
}

/// The program's side of one heap. Used by one thread at a time.
pub struct Mutator {
    /// The heap.
    pub heap: Heap,
    /// Steps left until the next look at fuel, deadline and cancellation.
    pub budget: u32,
    /// Whether some prototype may have indexed properties (then element fast paths must look).
    pub indexed_prototypes: bool,
    /// Advances when the set of properties of any prototype changes: guards cached prototype lookups. Wide enough that no guest
    /// can make it come round to a value that an old cache remembers.
    pub proto_epoch: u64,
    /// Steps that were charged beyond the budget, and that the next look takes off the fuel.
    pub owed: u64,
    /// The key of all hashes of what the guest chooses.
    pub hash_seed: HashSeed,
    /// The native stack that is scanned.
    pub native_stack: StackBounds,
    pub(crate) interned: InternTable,
    pub(crate) root_shapes: rustc_hash::FxHashMap<(u64, u32), Gc<Shape>>,
    /// The keys of those made since the last collection: a young one looks at no others.
    pub(crate) young_root_shapes: Vec<(u64, u32)>,
    /// For long lists outside the heap ([`Mutator::charge_lists`]).
    lists: ExternalCharge,
    exception: Value,
    termination: Option<Termination>,
    owner: &'static Owner,
}

impl Mutator {
    /// A mutator with an empty heap of at most `heap_bytes_max`.
    ///
    /// # Safety
    /// The functions of `owner` may be called with the address of the `Mutator` wherever it stands when something is allocated, thrown or
    /// collected through it.
    pub unsafe fn new(heap_bytes_max: usize, owner: &'static Owner) -> Mutator {
        Mutator {
            heap: Heap::new(heap_bytes_max),
            budget: limits::POLL_INTERVAL,
            indexed_prototypes: false,
            proto_epoch: 0,
            owed: 0,
            hash_seed: HashSeed::random(),
            native_stack: StackBounds::of_current_thread(),
            interned: InternTable::default(),
            root_shapes: Default::default(),
            young_root_shapes: Vec::new(),
            lists: ExternalCharge::default(),
            exception: Value::UNDEFINED,
            termination: None,
            owner,
        }
    }

    /// An empty rooted vector for values that must survive allocations.
    pub fn scratch(&self) -> RootedVec {
        RootedVec::new(&self.heap)
    }

    /// Throws `v`.
    #[inline]
    pub fn throw(&mut self, v: Value) -> Abrupt {
        self.exception = v;
        Abrupt::Throw
    }

    /// Takes the thrown value, after `Abrupt::Throw`.
    pub fn take_exception(&mut self) -> Value {
        std::mem::replace(&mut self.exception, Value::UNDEFINED)
    }

    /// Throws the owner's RangeError.
    #[cold]
    #[inline(never)]
    pub(crate) fn range_error(&mut self, message: &str) -> Abrupt {
        let owner = self.owner;
        // SAFETY: `new` was promised that its owner's functions fit.
        unsafe { (owner.throw_range_error)(self, message) }
    }

    /// Why the guest was ended, after `Abrupt::Terminate`.
    pub fn termination(&self) -> Option<Termination> {
        self.termination
    }

    /// Ends the guest.
    pub fn terminate(&mut self, why: Termination) -> Abrupt {
        self.termination.get_or_insert(why);
        Abrupt::Terminate
    }

    /// Forgets a termination, so that the host can use the isolate again.
    pub fn clear_termination(&mut self) {
        self.termination = None;
    }

    /// Invalidates every cached prototype lookup.
    #[inline]
    pub fn bump_proto_epoch(&mut self) {
        self.proto_epoch += 1;
    }

    /// Charges work over `bytes` bytes that is done in one go; the next poll pays.
    #[inline(always)]
    pub fn charge_bytes(&mut self, bytes: usize) {
        if bytes >= limits::CHARGED_BYTES_MIN {
            self.charge_many_bytes(bytes);
        }
    }

    /// The same without the exemption of small pieces: for those of a long loop.
    #[inline(never)]
    pub fn charge_many_bytes(&mut self, bytes: usize) {
        let steps = (bytes / limits::BYTES_PER_STEP) as u64;
        let paid = steps.min(u64::from(self.budget));
        self.budget -= paid as u32;
        self.owed += steps - paid;
    }

    /// Memory for a cell of `bytes`, which the caller initialises before anything else.
    #[inline(always)]
    pub(crate) fn alloc_raw(&mut self, bytes: usize, finalizable: bool) -> *mut u8 {
        match self.heap.alloc_fast(bytes, finalizable) {
            Some(p) => p,
            None => self.alloc_raw_slow(bytes, finalizable),
        }
    }

    #[cold]
    #[inline(never)]
    fn alloc_raw_slow(&mut self, bytes: usize, finalizable: bool) -> *mut u8 {
        // Smaller cells are not charged: whether they come here depends on where free cells are.
        if bytes > crate::gc::block::SMALL_MAX {
            self.charge_bytes(bytes);
        }
        self.make_room(bytes);
        if let Some(p) = self.heap.alloc_slow(bytes, finalizable) {
            return p;
        }
        self.collect_garbage();
        match self.heap.alloc_slow(bytes, finalizable) {
            Some(p) => p,
            // The operating system has no memory left: nothing sensible can follow in this process.
            None => std::alloc::handle_alloc_error(std::alloc::Layout::new::<[u64; 1024]>()),
        }
    }

    /// Collects if that is due before `bytes` more are in use. A guest that they take over its limit ends at the next poll.
    pub(crate) fn make_room(&mut self, bytes: usize) {
        if self.heap.collection_due(bytes) {
            self.collect_due();
        }
        if self.heap.used_bytes() + bytes > self.heap.limit() {
            self.at_heap_limit();
        }
    }

    /// The heap is full: the guest ends at the next poll, unless collecting helps. While collection is postponed, an allocation
    /// after that finds the heap full again.
    #[cold]
    fn at_heap_limit(&mut self) {
        if self.termination().is_some() || self.heap.inhibit != 0 {
            return;
        }
        // A list may have gone since it was charged.
        self.charge_lists();
        if self.heap.used_bytes() < self.heap.limit() {
            return;
        }
        if !self.collect_at_limit() || self.heap.used_bytes() >= self.heap.limit() {
            self.terminate(Termination::Heap);
            self.budget = 0;
        }
    }

    /// A full collection because the heap is nearly full; false if the last one of this kind gained too little, and too
    /// little has been allocated since, for another to be worth it: a guest at its limit would spend its time collecting.
    fn collect_at_limit(&mut self) -> bool {
        let (before, little) = (self.heap.used_bytes(), self.heap.limit() / limits::GC_GAIN_MIN_DIVISOR);
        if self.heap.futile_at.is_some_and(|at| before.saturating_sub(at) < little) {
            return false;
        }
        self.collect_garbage();
        let after = self.heap.used_bytes();
        self.heap.futile_at = (before.saturating_sub(after) < little).then_some(after);
        // Collecting takes time that no step accounts for: look at the deadline soon.
        self.budget = 0;
        true
    }

    /// Makes sure that `bytes` more fit the heap, collecting if that helps; ends the guest otherwise. No borrow of a cell's data
    /// may be held, and nothing by a list outside the heap alone.
    pub fn check_heap_room(&mut self, bytes: usize) -> JsResult<()> {
        if self.heap.zeal() == Zeal::Whole && self.heap.inhibit == 0 {
            self.collect_garbage();
        }
        if self.heap.used_bytes().saturating_add(bytes) <= self.heap.limit() {
            return Ok(());
        }
        self.charge_lists();
        if self.heap.used_bytes().saturating_add(bytes) <= self.heap.limit() {
            return Ok(());
        }
        if self.collect_at_limit() && self.heap.used_bytes().saturating_add(bytes) <= self.heap.limit() {
            return Ok(());
        }
        Err(self.terminate(Termination::Heap))
    }

    /// Charges what the rooted vectors hold now, if that is much; how much it is.
    fn charge_lists(&mut self) -> usize {
        let bytes = self.heap.roots.list_bytes();
        let charged = if bytes > limits::LARGE_ALLOCATION_BYTES { bytes } else { 0 };
        if charged != self.lists.bytes() {
            self.lists.set_beyond_limit(&self.heap, charged);
        }
        bytes
    }

    /// For every look at the limits: charges the rooted vectors, in which builtins gather values one by one, so that no builtin has to
    /// remember that. The next allocation meets the charge; a guest whose lists alone exceed the limit ends here, because filling a list need
    /// not allocate. Collects nothing.
    pub fn check_lists(&mut self) -> JsResult<()> {
        if self.charge_lists() > self.heap.limit() {
            return Err(self.terminate(Termination::Heap));
        }
        Ok(())
    }

    /// Makes sure that the units of `s` fit the heap once they are contiguous. Flattening a rope cannot fail: what can asks this before it, because a
    /// rope whose room was there when it was made may meet a heap that many like it have filled.
    #[inline(always)]
    pub fn check_flat_room(&mut self, s: JsStr) -> JsResult<()> {
        if s.len() <= limits::LARGE_ALLOCATION_BYTES || s.is_flat() {
            return Ok(());
        }
        self.check_heap_room(s.byte_len())
    }

    /// Bytes that fit the heap's limit besides what is in use.
    pub fn heap_room(&self) -> usize {
        self.heap.limit().saturating_sub(self.heap.used_bytes())
    }

    /// Charges memory that a cell owns outside the heap (a buffer). The charge ends when it is dropped.
    pub fn charge_external(&mut self, bytes: usize) -> JsResult<ExternalCharge> {
        if self.heap.collection_due(bytes) {
            self.collect_due();
        }
        self.check_heap_room(bytes)?;
        self.charge_bytes(bytes);
        Ok(self.heap.charge_beyond_limit(bytes))
    }

    /// Changes a charge to `bytes`, when what it is for has grown or shrunk; may collect, as [`Mutator::check_heap_room`] does.
    pub fn recharge_external(&mut self, charge: &ExternalCharge, bytes: usize) -> JsResult<()> {
        let grows = bytes > charge.bytes();
        self.charge_bytes(bytes.saturating_sub(charge.bytes()));
        charge.set_beyond_limit(&self.heap, bytes);
        if !grows {
            return Ok(());
        }
        if self.heap.collection_due(0) {
            self.collect_due();
        }
        self.check_heap_room(0)
    }

    /// What is due: a young collection, a step of a full one, or its beginning.
    fn collect_due(&mut self) {
        if self.heap.zeal() != Zeal::Off {
            return self.collect_zealously();
        }
        if let Phase::Marking(rounds) = self.heap.mark.phase {
            return self.full_step(rounds);
        }
        let used = self.heap.used_bytes();
        if used >= self.heap.full_at && used < limits::GC_INCREMENTAL_MIN_BYTES {
            self.collect_garbage();
        } else if used >= self.heap.full_at {
            self.heap.stepped_at = self.heap.cell_bytes;
            self.stop(|heap, roots, _| collect::begin_full(heap, roots));
        } else {
            self.stop(|heap, roots, weak| collect::young(heap, roots, weak));
        }
    }

    /// What a test asked for: see [`Zeal`]. In steps, young and full collections take turns.
    #[cold]
    fn collect_zealously(&mut self) {
        let stats = self.heap.stats();
        match self.heap.mark.phase {
            _ if self.heap.zeal() == Zeal::Whole => self.collect_garbage(),
            Phase::Marking(_) if !self.heap.mark.nothing_left() => self.stop(|heap, _, _| {
                collect::mark_step(heap, limits::GC_ZEAL_STEP_CELLS);
            }),
            Phase::Marking(rounds) => self.full_step(rounds),
            Phase::Idle if stats.young_collections > stats.full_collections => {
                self.stop(|heap, roots, _| collect::begin_full(heap, roots));
            }
            Phase::Idle => self.stop(|heap, roots, weak| collect::young(heap, roots, weak)),
        }
    }

    /// Much was written to traced cells: looks at it now, so that no stop has to look at more.
    pub fn collect_written(&mut self) {
        if self.heap.inhibit != 0 {
            return;
        }
        match self.heap.mark.phase {
            Phase::Marking(_) => self.stop(|heap, _, _| collect::relieve(heap)),
            Phase::Idle => self.collect_due(),
        }
    }

    /// One stop of an incremental marking: a step, another round, or the end.
    fn full_step(&mut self, rounds: u32) {
        if self.heap.has_many_remembered() {
            self.stop(|heap, _, _| collect::relieve(heap));
        } else if !self.heap.mark.nothing_left() {
            self.stop(|heap, _, _| {
                collect::mark_step(heap, limits::GC_STEP_CELLS);
            });
        } else if rounds < limits::GC_ROUNDS_MAX && !self.heap.mark.settled {
            self.stop(|heap, roots, _| {
                collect::next_round(heap, roots);
                heap.mark.settled = collect::mark_step(heap, limits::GC_STEP_CELLS / 2);
            });
        } else {
            self.stop(|heap, roots, weak| collect::finish(heap, roots, weak));
        }
        self.heap.stepped_at = self.heap.cell_bytes;
    }

    /// A full collection in one stop (a marking that is under way is started afresh).
    pub fn collect_garbage(&mut self) {
        self.stop(|heap, roots, weak| {
            collect::begin_full(heap, |_| {});
            collect::finish(heap, roots, weak);
        });
    }

    /// Figures about the heap.
    pub fn gc_stats(&self) -> GcStats {
        self.heap.stats()
    }

    /// Stops the program for `work`, which gets the heap, the roots and the weak tables.
    #[inline(never)]
    pub(crate) fn stop(
        &mut self,
        work: impl FnOnce(&mut Heap, &mut dyn FnMut(&mut Tracer<'_>), &mut dyn FnMut(&Tracer<'_>)),
    ) {
        let start = Instant::now();
        self.heap.inhibit += 1;
        let (this, owner, exception) = (&raw mut *self, self.owner, self.exception);
        let high = self.native_stack.high;
        let registry = self.heap.roots.clone();
        // SAFETY: `new` was promised that its owner's functions fit; nothing of the mutator is borrowed by them.
        unsafe { (owner.forget_caches)(this) };
        let Mutator { heap, interned, root_shapes, young_root_shapes, .. } = self;
        let mut roots = |t: &mut Tracer<'_>| {
            t.value(exception);
            registry.trace(t);
            // SAFETY: as above.
            unsafe { (owner.trace)(this, t) };
            native_stack::scan(t, high);
        };
        let mut weak = |t: &Tracer<'_>| {
            interned.purge(t);
            // SAFETY: as above.
            unsafe { (owner.purge)(this, t) };
            let lives = |&(prototype, _): &(u64, u32), shape: &Gc<Shape>| {
                t.is_marked_bits(prototype) && t.is_marked(Value::cell(*shape))
            };
            let young = std::mem::take(young_root_shapes);
            if t.is_full() {
                root_shapes.retain(|key, shape| lives(key, shape));
                return;
            }
            for key in young {
                if root_shapes.get(&key).is_some_and(|shape| !lives(&key, shape)) {
                    root_shapes.remove(&key);
                }
            }
        };
        work(heap, &mut roots, &mut weak);
        self.heap.inhibit -= 1;
        self.heap.note_pause(start.elapsed().as_nanos() as u64);
    }
}
