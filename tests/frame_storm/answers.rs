//! What the cells of the show say.

use std::collections::HashSet;

use hyphae::{FrameReport, arena, batch, census};

use crate::monitor::{EACH, Tile};
use crate::options::Options;
use crate::play::{Player, Show};
use crate::rig::{self, FIXTURES, GROUPS, Rig};
use crate::storm::Storm;
use crate::{options, played};

#[test]
fn there_are_as_many_cells_as_planned() {
    for groups in [1, 2, GROUPS, GROUPS + 1, 3 * GROUPS] {
        let storm = Storm::new(&Rig::new(1, groups));
        let totals = arena::totals();
        assert_eq!(totals.cells, rig::cells(groups), "{groups}");
        let (universes, tiles) = (groups.div_ceil(GROUPS), (groups * FIXTURES).div_ceil(EACH));
        assert_eq!(totals.subscribers, universes * 2 + tiles * 2, "{groups}");
        drop(storm);
        arena::assert_no_live();
    }
}

#[test]
fn every_frame_is_as_computed_plainly() {
    for seed in 1..=3 {
        let options = Options { seed, churn: 600, assert: true, ..options(2000, 20) };
        let (player, findings) = played(&options);
        assert_eq!(findings.record.frames_checked, 20);
        assert_eq!((findings.relinks, player.show.desk.relinks), (200, 200));
    }
}

#[test]
fn frames_with_a_fade_of_everything_and_another_mute_too() {
    let options = Options { assert: true, ..options(1000, 620) };
    let (player, findings) = played(&options);
    assert_eq!(findings.record.frames_checked, 20);
    let desk = &player.show.desk;
    assert!(desk.grand == 1.0 && desk.muted != 0 && desk.goes > 0, "{desk:?}");
    let rhythm = &player.show.storm.rhythm;
    // 619 frames are 10.3 s, of 2 beats each, and the first value.
    assert_eq!((rhythm.bar.get(), rhythm.steps.get()), (Some(20), 21 + desk.goes));
}

#[test]
fn a_wrong_channel_is_found() {
    let (player, _) = played(&options(2000, 3));
    player.show.check(2).unwrap();
    player.show.storm.outputs[1].wire.borrow_mut()[9] ^= 1;
    let mismatch = player.show.check(2).unwrap_err();
    assert_eq!((mismatch.frame, mismatch.universe, mismatch.channel), (2, 2, 10));
    assert_eq!(mismatch.got, mismatch.expected ^ 1);
}

#[test]
fn the_monitor_shows_what_the_cells_say() {
    let options = options(2000, 30);
    let (player, findings) = played(&options);
    let storm = &player.show.storm;
    let screen = storm.monitor.screen.borrow().clone();
    let loads: Vec<_> = storm.outputs.iter().map(|output| output.load.get().unwrap()).collect();
    assert_eq!(screen.meters, loads);
    let wires = [0, 1, 2].map(|universe| storm.wire(universe));
    let on_wires = wires.iter().flat_map(|wire| wire.chunks_exact(8).step_by(EACH));
    let tiles: Vec<_> = on_wires
        .map(|channels| Tile {
            dimmer: channels[0],
            colour: [channels[1], channels[2], channels[3]],
        })
        .collect();
    assert_eq!(screen.tiles, tiles[..screen.tiles.len()]);
    assert!(findings.answers.redraws > 30, "{}", findings.answers.redraws);
}

#[test]
fn a_wrong_tile_is_found() {
    let (player, _) = played(&options(2000, 3));
    player.show.storm.monitor.screen.borrow_mut().tiles[5].colour[1] ^= 1;
    let mismatch = player.show.check(2).unwrap_err();
    // The second tile of the second universe, in the third of its channels.
    assert_eq!((mismatch.universe, mismatch.channel), (2, EACH * 8 + 3));
    assert_eq!((mismatch.place, mismatch.got), ("on the monitor", mismatch.expected ^ 1));
}

#[test]
fn a_show_that_skips_frames_comes_to_the_same() {
    let options = Options { churn: 600, ..options(2000, 1) };
    let (mut all, mut some) = (Show::new(&options), Show::new(&options));
    (0..=90).for_each(|index| batch(|| all.write(index)));
    [0, 17, 90].into_iter().for_each(|index| batch(|| some.write(index)));
    assert_eq!(all.desk, some.desk);
    assert_eq!(all.storm.checksum(), some.storm.checksum());
    some.check(90).unwrap();
}

/// The sum of all that the arena holds.
fn held() -> (usize, usize, usize, usize) {
    let totals = arena::totals();
    let bytes = census().iter().map(|row| row.bytes).sum();
    (totals.cells, totals.edges, totals.subscribers, bytes)
}

#[test]
fn re_links_leave_nothing_behind() {
    let options = Options { churn: 1200, ..options(2000, 30) };
    let mut player = Player::new(&options);
    let count = |player: &Player| player.show.desk.relinks;
    // Memory of values that grow (the universe's last states) is there after some frames.
    player.play(&options, |_, _| false).unwrap();
    let (before, ids) = (held(), arena::cells().into_iter().collect::<HashSet<_>>());
    assert_eq!(count(&player), 600);
    player.play(&options, |_, _| false).unwrap();
    assert_eq!((count(&player), held()), (1200, before));
    // A re-link makes a cell and lets the one before it go; each group has been re-linked.
    let fresh = arena::cells().iter().filter(|id| !ids.contains(id)).count();
    assert_eq!(fresh, player.show.rig.groups.len());
    drop(player);
    arena::assert_no_live();
}

#[test]
fn a_re_link_changes_what_a_dimmer_follows() {
    let checksum = |churn| played(&Options { churn, ..options(1000, 60) }).1.answers.checksum;
    assert_ne!(checksum(0), checksum(600));
}

#[test]
fn a_cell_whose_universe_was_sent_fires_twice_in_a_frame() {
    let mut player = Player::new(&options(3000, 5));
    player.play(&options(3000, 5), |_, _| false).unwrap();
    let report = player.pass();
    let refiring = report.refiring_cells();
    let universes = player.show.rig.timelines.len() as u64;
    assert_eq!((report.total_refires(), refiring.len() as u64), (universes, universes));
    let status = player.show.storm.outputs[0].status.cell_id();
    assert!(
        refiring
            .iter()
            .any(|(uuid, fires)| { arena::by_uuid(*uuid) == Some(status) && *fires == 2 })
    );
}

#[test]
fn the_record_has_the_slowest_frames_and_the_sums() {
    let options = Options { report: Some("unused".into()), ..options(500, 40) };
    let mut player = Player::new(&options);
    let mut reports = vec![];
    let keep = |_: &Player, report: &FrameReport| {
        reports.push(*report);
        false
    };
    let record = player.play(&options, keep).unwrap();
    assert_eq!((record.work.frames, record.points.len(), reports.len()), (40, 40, 40));
    let computed: u64 = reports.iter().map(|report| report.cells_computed).sum();
    assert_eq!(record.work.cells_computed, computed);
    let mut totals: Vec<u64> = reports.iter().map(|report| report.total_ns).collect();
    totals.sort_unstable_by(|a, b| b.cmp(a));
    let slowest: Vec<u64> = record.slowest.iter().map(|report| report.total_ns).collect();
    assert_eq!(slowest, totals[..10]);
}

#[test]
fn names_are_those_that_an_engineer_knows() {
    let rig = Rig::new(1, GROUPS + 1);
    let storm = Storm::new(&rig);
    let names: HashSet<String> =
        arena::cells().into_iter().filter_map(arena::name).map(|name| name.to_string()).collect();
    let fixtures = rig.fixtures();
    let expected = ["time", "timeline 2", "universe 2", "fixture 1", "fixture 1/dimmer", "track 1"];
    let last = [format!("fixture {fixtures}/dimmer"), format!("track {}", (GROUPS + 1) * 4)];
    for name in expected.iter().map(ToString::to_string).chain(last) {
        assert!(names.contains(&name), "{name}");
    }
    assert_eq!(fixtures, (GROUPS + 1) * FIXTURES);
    drop(storm);
}
