//! The screen of an operator's console: a tile for one fixture in sixteen, with its dimmer and its colour, and a meter of the
//! load for each universe. It watches those cells and makes none.
//!
//! A callback puts a value on the screen and counts; what is there is that of the last frame.

use std::cell::RefCell;
use std::rc::Rc;

use hyphae::SubscriptionGuard;

use crate::dmx::{self, Universe};
use crate::parts::{Fixture, Group, Output};

/// One fixture in so many has a tile; the first of them has the first.
pub(crate) const EACH: usize = 16;

/// Tiles of a full universe.
const TILES: usize = dmx::FIXTURES / EACH;

/// A fixture on the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) dimmer: u8,
    pub(crate) colour: [u8; 3],
}

/// What is on the screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Screen {
    pub(crate) tiles: Vec<Tile>,
    /// One for each universe; 0 while it has no load yet.
    pub(crate) meters: Vec<f32>,
    /// How often something was put on it, after the first time.
    pub(crate) redraws: u64,
}

/// The screen and what keeps it up to date.
#[derive(Debug)]
pub(crate) struct Monitor {
    pub(crate) screen: Rc<RefCell<Screen>>,
    _watched: Vec<SubscriptionGuard>,
}

impl Monitor {
    pub(crate) fn new(groups: &[Group], outputs: &[Output]) -> Self {
        let fixtures: Vec<_> =
            groups.iter().flat_map(|group| &group.fixtures).step_by(EACH).collect();
        let screen = Rc::new(RefCell::new(Screen {
            tiles: vec![Tile::default(); fixtures.len()],
            meters: vec![0.0; outputs.len()],
            redraws: 0,
        }));
        let tiles = fixtures.into_iter().enumerate();
        let meters = outputs.iter().enumerate();
        let watched = tiles
            .flat_map(|(at, fixture)| watch_fixture(&screen, at, fixture))
            .chain(meters.map(|(at, output)| watch_load(&screen, at, output)))
            .collect();
        screen.borrow_mut().redraws = 0;
        Self { screen, _watched: watched }
    }

    /// The channels of a universe as they would be if what its tiles show was sent over them.
    pub(crate) fn over(&self, universe: usize, mut channels: Universe) -> Universe {
        let tiles = &self.screen.borrow().tiles;
        let fixtures = channels.chunks_exact_mut(size_of::<dmx::Packet>()).step_by(EACH);
        for (fixture, tile) in fixtures.zip(tiles.iter().skip(universe * TILES)) {
            fixture[0] = tile.dimmer;
            fixture[1..4].copy_from_slice(&tile.colour);
        }
        channels
    }
}

fn watch_fixture(
    screen: &Rc<RefCell<Screen>>,
    at: usize,
    fixture: &Fixture,
) -> [SubscriptionGuard; 2] {
    let [on_dimmer, on_colour] = [screen.clone(), screen.clone()];
    let dimmer = fixture.dimmer.watch(move |dimmer| {
        let screen = &mut *on_dimmer.borrow_mut();
        screen.tiles[at].dimmer = *dimmer;
        screen.redraws += 1;
    });
    let colour = fixture.colour.watch(move |colour| {
        let screen = &mut *on_colour.borrow_mut();
        screen.tiles[at].colour = *colour;
        screen.redraws += 1;
    });
    [dimmer, colour]
}

fn watch_load(screen: &Rc<RefCell<Screen>>, at: usize, output: &Output) -> SubscriptionGuard {
    let screen = screen.clone();
    output.load.watch(move |load| {
        let screen = &mut *screen.borrow_mut();
        screen.meters[at] = load.unwrap_or(0.0);
        screen.redraws += 1;
    })
}
