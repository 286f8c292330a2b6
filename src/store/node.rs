//! The node of a cell: one allocation that holds header, value and behaviour (its closure and the state of its
//! stages), reached by a thin pointer whose types are erased.
//!
//! The first of the store's two files with `unsafe` (`callback` is the other). It knows nothing of graph, queue or subscribers lists; it
//! is told when to run and when to free.
//!
//! Invariants that the `SAFETY` lines name:
//! - **N1 alive** A [`NodeRef`] is dereferenced only while its node is allocated. A node is freed by `Remains::bury`
//!   alone (from `Store::drop_soon`, `Store::bury` and the teardown), when no user code is on the stack, after its id,
//!   its row, its edges and its subscribers are gone; whatever waits for it in the queue names it by id. Handles count, and
//!   follow their pointer while the store is open alone; edges keep every node that an [`Input`] of a linked node points to.
//! - **N2 typed** A node's value is a `T` exactly if its vtable was made by `table::<T, _>`. Typed handles and inputs
//!   are made only with the `T` of the node they came from; upgrades compare the `TypeId`.
//! - **N3 lent** A value is overwritten only when no user code that it could be lent to is on the stack: the settle
//!   loop, a direct write and the end of a round run below every such frame, never inside one; or, where a closure waits
//!   for a cell that it reads, inside that closure alone, to which its kernel lends nothing and which is inside no `with` (T2 of `track`).
//!   The one `&mut T` handed to users (`update`) is guarded by [`flag::LENT`], which every read checks.
//! - **N4 single** A behaviour is borrowed mutably only by its own turn; turns of one node never nest: one whose closure waits
//!   has [`flag::RUNNING`], which keeps it from another turn.
//! - **N5 layout** `Node<T, B>` starts with `Valued<T>`, which starts with `Header` (`repr(C)`), so one pointer serves
//!   as all three.
//! - **N6 called** A callback's box is dropped only when no user code is on the stack (`Store::drop_soon`, the graveyard,
//!   teardown); it is called by the fan-out alone, which never nests.
//!
//! - **N7 room** A node is in a slot of the store's slab that was made for its layout, or in a box; the slab outlives all nodes.
//!
//! Costs: 32 bytes of header, then value and behaviour; a turn is one indirect call.
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::any::TypeId;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::callback::{fanout, fanout_event};
use super::kernel::{End, Kernel, Outcome, Over, Turn, Upstream, end_of_kernel};
use super::probe::{Row, frames};
use super::slab::Slab;
use super::{Store, flag};

/// What every node begins with.
#[derive(Debug)]
pub(crate) struct Header {
    vtable: &'static VTable,
    /// Handles, guards, un-linked inputs and dependents.
    pub(crate) strong: Cell<u32>,
    /// Bits of [`flag`].
    pub(crate) flags: Cell<u32>,
    /// The store's clock at the last change of the value.
    pub(crate) stamp: Cell<u32>,
    /// Interned place of creation.
    pub(crate) place: u32,
    /// First subscriber (`NONE` without).
    pub(crate) subs: Cell<u32>,
    /// Place in the topological order; meaningless once dead.
    pub(crate) rank: Cell<u32>,
    /// Where it is counted.
    pub(crate) row: Row,
}

#[repr(C)]
struct Valued<T> {
    head: Header,
    value: UnsafeCell<T>,
}

#[repr(C)]
struct Node<T, B> {
    valued: Valued<T>,
    behaviour: UnsafeCell<ManuallyDrop<B>>,
}

/// The operations of a node whose types are erased.
#[derive(Debug)]
pub(crate) struct VTable {
    turn: unsafe fn(NodeRef, &Store) -> Outcome,
    fanout: unsafe fn(NodeRef, &Store),
    apply: unsafe fn(NodeRef, &Store),
    clear: unsafe fn(NodeRef),
    set_ran: unsafe fn(NodeRef, u32),
    stale_inputs: unsafe fn(NodeRef, &mut Vec<NodeRef>),
    written: unsafe fn(NodeRef) -> u32,
    drop_behaviour: unsafe fn(NodeRef),
    free: unsafe fn(NodeRef, &Store),
    value_type: fn() -> TypeId,
    type_name: fn() -> &'static str,
    operator: &'static str,
    bytes: usize,
}

/// A thin pointer to a node (see N1 for when it may be followed).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NodeRef(NonNull<Header>);

impl std::ops::Deref for NodeRef {
    type Target = Header;

    #[inline]
    fn deref(&self) -> &Header {
        // SAFETY: N1: the node is allocated; its header is only ever borrowed shared.
        unsafe { self.0.as_ref() }
    }
}

impl Header {
    #[inline]
    pub(crate) fn has(&self, bits: u32) -> bool {
        self.flags.get() & bits != 0
    }

    pub(crate) fn raise(&self, bits: u32) {
        self.flags.set(self.flags.get() | bits);
    }

    pub(crate) fn lower(&self, bits: u32) {
        self.flags.set(self.flags.get() & !bits);
    }

    /// Notes that one of its inputs has ended, if that one has.
    pub(crate) fn ask_ends_of(&self, input: NodeRef) {
        if input.has(flag::ENDED) {
            self.raise(flag::ASKS_ENDS);
        }
    }

    pub(crate) fn operator(&self) -> &'static str {
        self.vtable.operator
    }

    pub(crate) fn type_name(&self) -> &'static str {
        (self.vtable.type_name)()
    }

    /// Bytes of the node's allocation (what values own on the heap is not known).
    pub(crate) fn bytes(&self) -> usize {
        self.vtable.bytes
    }

    pub(crate) fn holds<T: 'static>(&self) -> bool {
        (self.vtable.value_type)() == TypeId::of::<T>()
    }
}

impl NodeRef {
    /// Allocates the node of a source cell.
    pub(crate) fn source<T: 'static>(store: &Store, value: T, place: u32) -> Self {
        Self::alloc(store, value, (), const { &VTables::<T>::SOURCE }, 0, place)
    }

    /// Allocates the node of a source cell that compares (its flag `CUTOFF` goes with the behaviour).
    pub(crate) fn cutoff<T: 'static>(
        store: &Store,
        value: T,
        same: impl FnMut(&T, &T) -> bool + 'static,
        place: u32,
    ) -> Self {
        let behaviour = Cutoff { same: Box::new(same), base: None, written: 0 };
        Self::alloc(
            store,
            value,
            behaviour,
            const { &VTables::<T>::CUTOFF },
            flag::KERNEL | flag::CUTOFF,
            place,
        )
    }

    /// Allocates the node of a derived cell whose seed was computed now.
    pub(crate) fn derived<K: Kernel>(store: &Store, value: K::Out, kernel: K, place: u32) -> Self {
        let behaviour = Derived { ran: store.clock.get(), kernel };
        let flags = flag::KERNEL | if K::LAZY { flag::LAZY } else { 0 };
        Self::alloc(store, value, behaviour, const { &Derived::<K>::VTABLE }, flags, place)
    }

    fn alloc<T, B>(
        store: &Store,
        value: T,
        behaviour: B,
        vtable: &'static VTable,
        flags: u32,
        place: u32,
    ) -> Self {
        let head = Header {
            vtable,
            strong: Cell::new(1),
            flags: Cell::new(flags),
            stamp: Cell::new(0),
            place,
            subs: Cell::new(crate::graph::NONE),
            rank: Cell::new(crate::graph::NONE),
            row: Row::default(),
        };
        let valued = Valued { head, value: UnsafeCell::new(value) };
        let node = Node { valued, behaviour: UnsafeCell::new(ManuallyDrop::new(behaviour)) };
        let slot = store.slab.borrow_mut().take(Layout::new::<Node<T, B>>());
        let Some(slot) = slot else {
            let raw = Box::into_raw(Box::new(node)).cast::<Header>();
            // SAFETY: `Box::into_raw` never gives null.
            return Self(unsafe { NonNull::new_unchecked(raw) });
        };
        // SAFETY: N7: the slot has room for the node, and is nobody else's.
        unsafe { slot.cast::<Node<T, B>>().write(node) };
        Self(slot.cast())
    }

    #[inline]
    pub(super) fn value_ptr<T>(self) -> *mut T {
        let valued = self.0.as_ptr().cast::<Valued<T>>();
        // SAFETY: N1 and N5: the projection stays inside the allocation; no reference is made.
        unsafe { UnsafeCell::raw_get(&raw const (*valued).value) }
    }

    #[inline]
    fn behaviour_ptr<T, B>(self) -> *mut ManuallyDrop<B> {
        let node = self.0.as_ptr().cast::<Node<T, B>>();
        // SAFETY: N1 and N5, as in `value_ptr`.
        unsafe { UnsafeCell::raw_get(&raw const (*node).behaviour) }
    }

    /// Lends the value. The caller holds a handle of type `T` to this node and is inside `Store::enter`.
    #[inline]
    pub(crate) fn with<T: 'static, R>(self, f: impl FnOnce(&T) -> R) -> R {
        debug_assert!(self.holds::<T>());
        // SAFETY: N2 for the type; N3: nothing overwrites it while `f` runs.
        f(unsafe { &*self.value_ptr::<T>() })
    }

    /// Lends the value mutably to `f` (the flag `LENT` is raised by the caller).
    pub(crate) fn with_mut<T: 'static, R>(self, f: impl FnOnce(&mut T) -> R) -> R {
        debug_assert!(self.holds::<T>() && self.has(flag::LENT));
        // SAFETY: N2 for the type; N3: reads are refused while `LENT` is raised, and no one else holds the value.
        f(unsafe { &mut *self.value_ptr::<T>() })
    }

    /// Stores a value and hands back the old one, which the caller drops when the store is consistent.
    #[inline]
    pub(crate) fn swap<T: 'static>(self, value: T) -> T {
        debug_assert!(self.holds::<T>());
        // SAFETY: N2 for the type; N3: nobody reads it now. `replace` runs no user code.
        unsafe { self.value_ptr::<T>().replace(value) }
    }

    /// The same, as a change that happens now.
    #[inline]
    pub(crate) fn put_value<T: 'static>(self, value: T, store: &Store) -> T {
        let old = self.swap(value);
        self.stamp.set(store.clock.get());
        old
    }

    /// Sets the value to compare with, if none is set; hands the value back otherwise.
    pub(crate) fn set_base<T: 'static>(self, base: T, now: u32) -> Option<T> {
        debug_assert!(self.holds::<T>() && self.has(flag::CUTOFF));
        // SAFETY: N2: the flag `CUTOFF` says that the behaviour is `Cutoff<T>`; N4: its turn is not running, since
        // writes are applied below all user code.
        let cutoff: &mut Cutoff<T> = unsafe { &mut *self.behaviour_ptr::<T, Cutoff<T>>() };
        cutoff.written = now;
        match cutoff.base {
            Some(_) => Some(base),
            None => {
                cutoff.base = Some(base);
                None
            }
        }
    }

    /// Takes the value to compare with away, so that the next turn counts as a change.
    pub(crate) fn take_base<T: 'static>(self) -> Option<T> {
        debug_assert!(self.holds::<T>() && self.has(flag::CUTOFF));
        // SAFETY: as in `set_base`.
        let cutoff: &mut Cutoff<T> = unsafe { &mut *self.behaviour_ptr::<T, Cutoff<T>>() };
        cutoff.base.take()
    }

    /// Runs one turn. Must not be called from user code (N3, N4).
    #[inline]
    pub(crate) fn turn(self, store: &Store) -> Outcome {
        // SAFETY: N1; the vtable was made for this node's types.
        unsafe { (self.vtable.turn)(self, store) }
    }

    /// Runs a turn that takes no values, only ends.
    pub(crate) fn quiet_turn(self, store: &Store) -> Outcome {
        self.set_ran(u32::MAX - 1);
        self.turn(store)
    }

    /// Calls the subscribers with what this round brought.
    pub(crate) fn fanout(self, store: &Store) {
        // SAFETY: as in `turn`.
        unsafe { (self.vtable.fanout)(self, store) }
    }

    /// Applies the oldest write that waits for this node.
    pub(crate) fn apply(self, store: &Store) {
        // SAFETY: as in `turn`.
        unsafe { (self.vtable.apply)(self, store) }
    }

    /// Drops the event of a `Source` when its round is over.
    pub(crate) fn clear(self) {
        // SAFETY: as in `turn`; N3: called between rounds.
        unsafe { (self.vtable.clear)(self) }
    }

    /// Sets when it last ran, by the store's clock: what is not later is no news to the next turn.
    pub(crate) fn set_ran(self, ran: u32) {
        if self.has(flag::KERNEL) {
            // SAFETY: as in `turn`; the behaviour is there and not running.
            unsafe { (self.vtable.set_ran)(self, ran) }
        }
    }

    /// Adds the inputs that have to be brought up to date before it can be told whether this one is.
    pub(crate) fn stale_inputs(self, found: &mut Vec<NodeRef>) {
        if self.has(flag::KERNEL) && !self.has(flag::RUNNING) {
            // SAFETY: as in `turn`; the behaviour is there, and no user code is called.
            unsafe { (self.vtable.stale_inputs)(self, found) }
        }
    }

    /// Drops the behaviour, if it is still there.
    pub(crate) fn drop_behaviour(self) {
        if self.has(flag::KERNEL) {
            self.lower(flag::KERNEL);
            // SAFETY: N4: its turn is not running (the caller's duty); the flag makes it happen once.
            unsafe { (self.vtable.drop_behaviour)(self) }
        }
    }

    /// Drops the value and frees the memory. No one may use the node afterwards (N1).
    pub(crate) fn free(self, store: &Store) {
        debug_assert!(!self.has(flag::KERNEL));
        // SAFETY: N1: the caller is `Store::bury` or the store's teardown, for which this is the last use.
        unsafe { (self.vtable.free)(self, store) }
    }
}

/// Drops `value`, keeping a panic of its `Drop` away from a store that has yet to be told of the change.
pub(crate) fn drop_guarded<T>(value: T, store: &Store) {
    if std::mem::needs_drop::<T>() {
        store.guarded(|| drop(value));
    }
}

/// The store of a cell's value by a turn. A node that the old value's `Drop` has killed counts as unchanged.
///
/// The stamp comes before any user code that the turn goes on to run: who joins there has seen the value.
#[inline]
fn write_value<T: 'static>(node: NodeRef, value: T, store: &Store) -> Outcome {
    let old = frames::Cell::write_value(node, value, store);
    drop_guarded(old, store);
    if std::mem::needs_drop::<T>() && node.has(flag::DEAD) {
        Outcome::NOTHING
    } else {
        Outcome::CHANGED
    }
}

struct Derived<K> {
    /// The store's clock at the last turn.
    ran: u32,
    kernel: K,
}

impl<K: Kernel> Derived<K> {
    const VTABLE: VTable = VTable {
        turn: Self::turn,
        set_ran: Self::set_ran,
        stale_inputs: Self::stale_inputs,
        ..table::<K::Out, Self>(K::OPERATOR)
    };

    /// # Safety
    /// As for `turn`.
    unsafe fn set_ran(node: NodeRef, ran: u32) {
        // SAFETY: N4, and the caller's promise.
        let this: &mut Self = unsafe { &mut *node.behaviour_ptr::<K::Out, Self>() };
        this.ran = ran;
    }

    /// # Safety
    /// As for `turn`.
    unsafe fn stale_inputs(node: NodeRef, found: &mut Vec<NodeRef>) {
        // SAFETY: N4, and the caller's promise.
        let this: &mut Self = unsafe { &mut *node.behaviour_ptr::<K::Out, Self>() };
        let again = node.has(flag::REPEAT);
        this.kernel.stale_inputs(Turn::after(this.ran, false), again, found);
    }

    /// # Safety
    /// The node's value is a `K::Out`, its behaviour a `Derived<K>` that is still there and not running.
    unsafe fn turn(node: NodeRef, store: &Store) -> Outcome {
        // SAFETY: the caller's promise; it is called at once.
        frames::Cell::<K::Out>::notify(node, store, |node, store| unsafe {
            Self::compute(node, store)
        })
    }

    /// # Safety
    /// As for `turn`.
    #[inline]
    unsafe fn compute(node: NodeRef, store: &Store) -> Outcome {
        if K::LAZY && store.puts_off(node) {
            return Outcome::NOTHING;
        }
        // SAFETY: the caller's promise.
        unsafe {
            match node.has(flag::ASKS_ENDS) {
                false => Self::compute_in::<false>(node, store),
                true => Self::compute_asking(node, store),
            }
        }
    }

    /// The same where an input has ended.
    ///
    /// # Safety
    /// As for `turn`.
    #[cold]
    #[inline(never)]
    unsafe fn compute_asking(node: NodeRef, store: &Store) -> Outcome {
        // SAFETY: the caller's promise.
        unsafe { Self::compute_in::<true>(node, store) }
    }

    /// # Safety
    /// As for `turn`.
    #[inline(always)]
    unsafe fn compute_in<const ASKS_ENDS: bool>(node: NodeRef, store: &Store) -> Outcome {
        frames::tell_apart::<Self>();
        // SAFETY: N4, and the caller's promise.
        let this: &mut Self = unsafe { &mut *node.behaviour_ptr::<K::Out, Self>() };
        let turn = Turn::after(this.ran, ASKS_ENDS);
        this.ran = store.clock.get();
        let mut outcome = Outcome::NOTHING;
        let over = this.kernel.turn(turn, |value| {
            if !node.has(flag::DEAD | flag::DISPOSED) {
                outcome = write_value(node, value, store);
            }
        });
        if over == Over::No {
            return outcome;
        }
        // SAFETY: the caller's promise; `this` is not used any more.
        unsafe { Self::end(node, store, over, outcome) }
    }

    /// The rest of a turn that was over.
    ///
    /// # Safety
    /// As for `turn`.
    #[cold]
    #[inline(never)]
    unsafe fn end(node: NodeRef, store: &Store, over: Over, outcome: Outcome) -> Outcome {
        if node.has(flag::DEAD | flag::DISPOSED) {
            return outcome;
        }
        // SAFETY: N4, and the caller's promise.
        let this: &Self = unsafe { &*node.behaviour_ptr::<K::Out, Self>() };
        let end = end_of_kernel(&this.kernel, over);
        store.ended_in_turn(node, end);
        if node.has(flag::DEAD) { Outcome::NOTHING } else { outcome.with_end() }
    }
}

struct Cutoff<T> {
    same: Box<dyn FnMut(&T, &T) -> bool>,
    /// The value before the writes that have not been compared yet.
    base: Option<T>,
    /// The store's clock at the last write.
    written: u32,
}

impl<T: 'static> Cutoff<T> {
    /// # Safety
    /// As for `turn`.
    unsafe fn written(node: NodeRef) -> u32 {
        // SAFETY: N4, and the caller's promise.
        let this: &Self = unsafe { &*node.behaviour_ptr::<T, Self>() };
        this.written
    }

    /// # Safety
    /// The node's value is a `T`, its behaviour a `Cutoff<T>` that is not running.
    unsafe fn turn(node: NodeRef, store: &Store) -> Outcome {
        // SAFETY: the caller's promise; it is called at once.
        frames::Cell::<T>::notify(node, store, |node, store| unsafe { Self::compute(node, store) })
    }

    /// # Safety
    /// As for `turn`.
    unsafe fn compute(node: NodeRef, store: &Store) -> Outcome {
        frames::tell_apart::<Self>();
        // SAFETY: N4, and the caller's promise. The base is taken out first, so that `same` may write this very cell
        // in vain (its write is queued).
        let this: &mut Self = unsafe { &mut *node.behaviour_ptr::<T, Self>() };
        let Some(base) = this.base.take() else {
            // A `modify` has told of the change already.
            return Outcome::NOTHING;
        };
        let forced = node.has(flag::FORCED);
        node.lower(flag::PENDING | flag::FORCED);
        if forced {
            drop_guarded(base, store);
            return Outcome::NOTHING;
        }
        let same = node.with::<T, _>(|value| (this.same)(&base, value));
        if !same {
            node.stamp.set(store.clock.get());
        }
        // What is not needed goes: the new value, or the one it was compared with.
        drop_guarded(if same { node.swap(base) } else { base }, store);
        if same || node.has(flag::DEAD) { Outcome::NOTHING } else { Outcome::CHANGED }
    }
}

struct VTables<T>(PhantomData<T>);

impl<T: 'static> VTables<T> {
    const SOURCE: VTable = table::<T, ()>("cell");
    const CUTOFF: VTable = VTable {
        turn: Cutoff::<T>::turn,
        written: Cutoff::<T>::written,
        ..table::<T, Cutoff<T>>("cell")
    };
}

const fn table<T: 'static, B>(operator: &'static str) -> VTable {
    VTable {
        turn: no_turn,
        fanout: fanout::<T>,
        apply: apply::<T>,
        clear: nothing,
        set_ran: no_ran,
        stale_inputs: no_inputs,
        written: stamp,
        drop_behaviour: drop_behaviour::<T, B>,
        free: free::<T, B>,
        value_type: TypeId::of::<T>,
        type_name: std::any::type_name::<T>,
        operator,
        bytes: Slab::room(Layout::new::<Node<T, B>>()),
    }
}

/// A source without cut-off has nothing to compute.
unsafe fn no_turn(_: NodeRef, _: &Store) -> Outcome {
    Outcome::NOTHING
}

unsafe fn nothing(_: NodeRef) {}

unsafe fn no_ran(_: NodeRef, _: u32) {}

unsafe fn no_inputs(_: NodeRef, _: &mut Vec<NodeRef>) {}

unsafe fn stamp(node: NodeRef) -> u32 {
    node.stamp.get()
}

/// # Safety
/// The node's value is a `T`.
unsafe fn apply<T: 'static>(node: NodeRef, store: &Store) {
    if let Some(write) = store.pop_write::<T>(node) {
        store.apply_event(node, write);
    }
}

/// # Safety
/// The node's behaviour is a `B` that was not dropped yet.
unsafe fn drop_behaviour<T, B>(node: NodeRef) {
    // SAFETY: the caller's promise; N4.
    unsafe { ManuallyDrop::drop(&mut *node.behaviour_ptr::<T, B>()) }
}

/// # Safety
/// The node is a `Node<T, B>` that nobody uses any more.
unsafe fn free<T, B>(node: NodeRef, store: &Store) {
    let (raw, layout) = (node.0.cast::<Node<T, B>>(), Layout::new::<Node<T, B>>());
    if !Slab::serves(layout) {
        // SAFETY: it came from `Box::into_raw` of this very type.
        return drop(unsafe { Box::from_raw(raw.as_ptr()) });
    }
    let _slot = SlotOnDrop(store, raw.cast(), layout);
    // SAFETY: the caller's promise; what follows does not look into it any more.
    unsafe { raw.drop_in_place() };
}

/// Gives a slot back, also when what was in it panics in its `Drop`.
struct SlotOnDrop<'a>(&'a Store, NonNull<u8>, Layout);

impl Drop for SlotOnDrop<'_> {
    fn drop(&mut self) {
        self.0.slab.borrow_mut().give_back(self.1, self.2);
    }
}

/// A kernel's reference to a cell that it reads: a pinned pointer, no look-up and no count in the loop.
///
/// Made un-linked it holds a reference of its own (the lowest bit of the pointer says so); when the edge is linked,
/// the edge takes that reference over.
pub(crate) struct Input<T: 'static> {
    node: NonNull<Header>,
    _value: PhantomData<fn() -> T>,
}

const OWNED: usize = 1;

impl<T: 'static> Input<T> {
    /// Refers to a node whose value is a `T`, taking over one strong reference to it.
    pub(crate) fn adopt(node: NodeRef) -> Self {
        debug_assert!(node.holds::<T>());
        let node = node.0.map_addr(|a| a | OWNED);
        Self { node, _value: PhantomData }
    }

    #[inline]
    fn target(&self) -> NodeRef {
        let raw = self.node.as_ptr().map_addr(|a| a & !OWNED);
        // SAFETY: the address of an allocation with the lowest bit cleared is not null.
        NodeRef(unsafe { NonNull::new_unchecked(raw) })
    }

    /// The target of an input that was linked, as every input is when its kernel runs: no tag to take off.
    #[inline]
    fn linked_target(&self) -> NodeRef {
        debug_assert!(!self.is_owned());
        NodeRef(self.node)
    }

    fn is_owned(&self) -> bool {
        self.node.addr().get() & OWNED != 0
    }

    /// Lends its value if it changed since the turn before, and tells whether it has ended.
    #[inline]
    pub(crate) fn lend(&self, turn: Turn, f: impl FnOnce(&T)) -> Over {
        let node = self.linked_target();
        if node.stamp.get() >= turn.since {
            node.with(f);
        }
        Over::upstream_if(turn.ended(self))
    }

    /// Refers to an input that an edge keeps, for as long as a turn.
    pub(crate) fn of_linked(node: NodeRef) -> Self {
        debug_assert!(node.holds::<T>());
        Self { node: node.0, _value: PhantomData }
    }

    /// The store's clock when its last change was written, as far as that is known: else when it changed.
    pub(crate) fn arrival(&self) -> u32 {
        let node = self.linked_target();
        if node.has(flag::EVENT) {
            return super::event_written(node);
        }
        if !node.has(flag::CUTOFF) || !node.has(flag::KERNEL) {
            return node.stamp.get();
        }
        // SAFETY: N1; the vtable was made for this node's types, and its behaviour is there. N4: the turn of a source does
        // not run during that of another node.
        unsafe { (node.vtable.written)(node) }
    }

    /// The store's clock when its end was written, if it has ended.
    pub(crate) fn end_arrival(&self) -> Option<u32> {
        if self.ended() { super::end_written(self.target()) } else { None }
    }

    /// Whether it changed since the turn before.
    #[inline]
    pub(crate) fn fresh(&self, turn: Turn) -> bool {
        self.linked_target().stamp.get() >= turn.since
    }

    /// Lends its value.
    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        self.linked_target().with(f)
    }

    /// Whether it has ended.
    #[inline]
    pub(crate) fn ended(&self) -> bool {
        self.linked_target().has(flag::ENDED)
    }

    /// Whether it has ended with an error.
    pub(crate) fn failed(&self) -> bool {
        self.linked_target().has(flag::FAILED)
    }

    /// How it ended, if it has.
    pub(crate) fn end(&self) -> Option<End> {
        super::end_of(self.target())
    }
}

impl<T: 'static> Upstream for Input<T> {
    fn node(&self) -> NodeRef {
        self.target()
    }

    fn linked(&mut self) {
        self.node = self.target().0;
    }
}

impl<T: 'static> Drop for Input<T> {
    fn drop(&mut self) {
        if self.is_owned() {
            super::release_node(self.target());
        }
    }
}

/// The value type of a `Source`: the event of the round under way.
pub(crate) struct Event<T>(pub(crate) Option<T>);

impl NodeRef {
    /// Allocates the node of an event source.
    pub(crate) fn event<T: 'static>(store: &Store, place: u32) -> Self {
        Self::alloc(
            store,
            Event::<T>(None),
            (),
            const { &EventTable::<T>::TABLE },
            flag::EVENT | flag::SOURCE,
            place,
        )
    }
}

struct EventTable<T>(PhantomData<T>);

impl<T: 'static> EventTable<T> {
    const TABLE: VTable = VTable {
        clear: clear_event::<T>,
        fanout: fanout_event::<T>,
        ..table::<Event<T>, ()>("source")
    };
}

/// # Safety
/// The node's value is an `Event<T>`.
unsafe fn clear_event<T: 'static>(node: NodeRef) {
    drop(node.swap(Event::<T>(None)));
}
