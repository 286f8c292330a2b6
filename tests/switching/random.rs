//! Cells of cells, redefined at random while they are in use: switches and computed cells reach cells of any age, in waves, in
//! batches and in reads of a batch, against a plain evaluation of the definitions.

use hyphae::{Cell, CellImmutable, Pipeline, SubscriptionGuard, arena, batch};

use crate::support::{Log, owning};

type Derived = Cell<u64, CellImmutable>;
/// The cell that a slot holds now.
type Place = Cell<Derived>;

const SOURCES: usize = 4;
const SLOTS: usize = 12;

/// A fixed random sequence.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let step = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = step.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }
}

/// How the cell of a slot is made: from one source, and from two slots before its own.
#[derive(Clone, Copy, Debug)]
struct Definition {
    kind: u64,
    source: usize,
    slots: [usize; 2],
}

impl Definition {
    fn random(random: &mut Random, slot: usize) -> Self {
        let kind = if slot < 2 { 0 } else { random.below(6) };
        let before = slot.max(1);
        let slots = [random.index(before), random.index(before)];
        Self { kind, source: random.index(SOURCES), slots }
    }
}

struct World {
    sources: Vec<Cell<u64>>,
    places: Vec<Place>,
    definitions: Vec<Definition>,
    heard: Log<(usize, u64)>,
    guards: Vec<SubscriptionGuard>,
}

impl World {
    fn new(random: &mut Random) -> Self {
        let sources: Vec<_> = (0..SOURCES as u64).map(Cell::new).collect();
        let mut world = Self {
            sources,
            places: Vec::new(),
            definitions: Vec::new(),
            heard: Log::new(),
            guards: Vec::new(),
        };
        for slot in 0..SLOTS {
            let definition = Definition::random(random, slot);
            let cell = world.make(definition);
            world.places.push(Cell::new(cell));
            world.definitions.push(definition);
        }
        world
    }

    /// A cell that follows the slot, whatever it holds.
    fn follow(place: &Place) -> Derived {
        place.switch_map(Clone::clone)
    }

    fn make(&self, definition: Definition) -> Derived {
        let source = self.sources[definition.source].clone();
        if definition.kind == 0 {
            return source.map(|v| v + 1).materialize();
        }
        let [a, b] = definition.slots.map(|slot| self.places[slot].clone());
        match definition.kind {
            1 => {
                let [a, b] = [&a, &b].map(Self::follow);
                a.join(&b).map(|(a, b)| a.wrapping_mul(3) + b).materialize()
            }
            2 => {
                source.switch_map(move |v| Self::follow(if v.is_multiple_of(2) { &a } else { &b }))
            }
            3 => Cell::computed(move || {
                let place = if source.get().is_multiple_of(2) { &a } else { &b };
                place.get().get()
            }),
            4 => {
                let [a, b] = [&a, &b].map(Self::follow);
                source.switch_map(move |v| if v.is_multiple_of(2) { a.clone() } else { b.clone() })
            }
            _ => Cell::computed(move || {
                let (source, place) = (source.get(), a.clone());
                let inner = Cell::computed(move || place.with(Cell::get));
                if source.is_multiple_of(3) { inner.get() } else { inner.get() ^ b.get().get() }
            }),
        }
    }

    fn expected(&self, slot: usize) -> u64 {
        let Definition { kind, source, slots } = self.definitions[slot];
        let source = self.sources[source].get();
        let [a, b] = slots;
        match kind {
            0 => source + 1,
            1 => self.expected(a).wrapping_mul(3) + self.expected(b),
            2..=4 => self.expected(if source.is_multiple_of(2) { a } else { b }),
            _ if source.is_multiple_of(3) => self.expected(a),
            _ => self.expected(a) ^ self.expected(b),
        }
    }

    fn step(&mut self, random: &mut Random) {
        match random.below(8) {
            0..4 => self.sources[random.index(SOURCES)].set(random.below(9)),
            4..6 => {
                let slot = random.index(SLOTS);
                let definition = Definition::random(random, slot);
                self.definitions[slot] = definition;
                self.places[slot].set(self.make(definition));
            }
            _ => {
                let slot = random.index(SLOTS);
                assert_eq!(self.places[slot].get().get(), self.expected(slot));
            }
        }
    }

    /// Subscribes to what follows a slot.
    fn watch(&mut self, slot: usize) {
        let heard = self.heard.clone();
        let following = Self::follow(&self.places[slot]);
        self.guards.push(following.watch_changes(move |v| heard.push((slot, *v))));
    }

    fn check(&self, before: &[u64]) {
        let now: Vec<u64> = (0..SLOTS).map(|slot| self.expected(slot)).collect();
        let found: Vec<u64> = self.places.iter().map(|place| place.get().get()).collect();
        assert_eq!(found, now);
        let heard = self.heard.take();
        for slot in 0..SLOTS {
            let of_slot: Vec<u64> =
                heard.iter().filter(|(s, _)| *s == slot).map(|(_, v)| *v).collect();
            assert!(of_slot.len() <= 1 && of_slot.iter().all(|v| *v == now[slot]), "{of_slot:?}");
            assert!(before[slot] == now[slot] || of_slot.len() == 1, "slot {slot} was not heard");
        }
    }
}

/// Waves of one to four steps, with a subscriber on every slot.
fn run(seed: u64) {
    let mut random = Random(seed);
    let mut world = World::new(&mut random);
    (0..SLOTS).for_each(|slot| world.watch(slot));
    for _ in 0..300 {
        let before: Vec<u64> = (0..SLOTS).map(|slot| world.expected(slot)).collect();
        match 1 + random.below(4) {
            1 => world.step(&mut random),
            steps => batch(|| (0..steps).for_each(|_| world.step(&mut random))),
        }
        world.check(&before);
    }
    drop(world);
    arena::assert_no_live();
    assert_eq!(arena::totals().edges, 0);
}

#[test]
fn cells_of_cells_follow_their_definitions() {
    (0..60).for_each(run);
}

/// The same from inside a callback: the steps of a wave are queued, and redefinitions are made in the middle of it.
#[test]
fn cells_of_cells_are_redefined_in_callbacks() {
    for seed in 100..130 {
        let mut random = Random(seed);
        let mut world = World::new(&mut random);
        (0..SLOTS).for_each(|slot| world.watch(slot));
        let (trigger, shared) =
            (Cell::new(0), std::rc::Rc::new(std::cell::RefCell::new((world, random))));
        let acts = trigger.watch_changes(owning!([shared] move |_| {
            let (world, random) = &mut *shared.borrow_mut();
            let slot = random.index(SLOTS);
            let definition = Definition::random(random, slot);
            world.definitions[slot] = definition;
            let made = world.make(definition);
            let source = world.sources[random.index(SOURCES)].clone();
            batch(|| {
                world.places[slot].set(made);
                source.set(random.below(9));
            });
        }));
        for v in 0..200 {
            let before: Vec<u64> = (0..SLOTS).map(|s| shared.borrow().0.expected(s)).collect();
            trigger.set(v);
            shared.borrow().0.check(&before);
        }
        drop((acts, shared, trigger));
        arena::assert_no_live();
    }
}
