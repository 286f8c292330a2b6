//! The table: what each combinator delivers, written by hand. Both the library and the references must give it.

use crate::script::{Kind, Op, Run};

/// A combinator; what is written before it is made and after; what is heard. Sources start with 0, 10, 20.
type Row = (Op, usize, &'static str, &'static str, &'static str);

#[rustfmt::skip]
const TABLE: [Row; 69] = [
    // The current values are pair number 0; what comes first waits for its partner.
    (Op::Zip, 2, "", "0:1 0:2 1:11 1:12 1:13", "0,10 1,11 2,12"),
    (Op::Zip, 2, "0:5 1:6", "0:1 [1:11 0:2] 1:12", "5,6 1,11 2,12"),
    (Op::Zip, 2, "", "0:1 0:2 0| 1:11 1:12", "0,10 1,11 2,12 |"),
    (Op::Zip, 2, "", "0|", "0,10 |"),
    (Op::Zip, 2, "", "[0:1 0|] 1:11", "0,10 1,11 |"),
    (Op::Zip, 2, "", "0:1 1!", "0,10 !1"),
    (Op::Zip, 2, "", "[0:1 1:11 0!]", "0,10 1,11 !0"),
    (Op::Zip, 2, "0|", "1:11", "0,10 |"),
    (Op::Zip, 2, "1! 0!", "", "0,10 !0"),
    (Op::ZipVec, 3, "", "0:1 2:21 2:22 1:11 0:2 1:12", "0,10,20 1,11,21 2,12,22"),
    (Op::ZipVec, 3, "", "0:1 1| 2:21", "0,10,20 |"),
    (Op::ZipVec, 1, "", "0:1 0|", "0 1 |"),
    (Op::ZipVec, 0, "", "", "- |"),
    // The seed is that of the last argument.
    (Op::Merge, 2, "", "0:1 1:11 0:2", "10 1 11 2"),
    (Op::Merge, 2, "", "[0:1 1:11] [1:12 0:2]", "10 1 11 12 2"),
    (Op::Merge, 2, "", "[0:1 1:11 0:2]", "10 11 2"),
    (Op::Merge, 2, "", "0| 1:11 1|", "10 11 |"),
    (Op::Merge, 2, "", "[0:1 0| 1:11 1|]", "10 1 11 |"),
    (Op::Merge, 2, "", "[1| 0:1] 0|", "10 1 |"),
    (Op::Merge, 2, "", "0:1 0! 1:11", "10 1 !0"),
    (Op::Merge, 2, "0| 1|", "", "10 |"),
    (Op::MergeVec, 3, "", "[2:21 1:11 0:1]", "20 21 11 1"),
    (Op::MergeVec, 3, "", "[2:21 1:11 0:1 ? 2:22]", "20 ?1 22"),
    (Op::MergeVec, 1, "", "0:1 0|", "0 1 |"),
    (Op::MergeVec, 0, "", "", "- |"),
    // The second one counts from its first change after the end of the first.
    (Op::Concat, 2, "", "0:1 1:11 0| 1:12 1|", "0 1 12 |"),
    (Op::Concat, 2, "", "1:11 0| 1|", "0 |"),
    (Op::Concat, 2, "", "1| 0:1 0|", "0 1 |"),
    (Op::Concat, 2, "", "1! 0:1 0|", "0 1 !1"),
    (Op::Concat, 2, "", "0! 1:11", "0 !0"),
    (Op::Concat, 2, "", "0| 1:11 1!", "0 11 !1"),
    (Op::Concat, 2, "", "[0:1 0| 1:11] 1:12", "0 1 11 12"),
    (Op::Concat, 2, "", "[1:11 0:1 0|] 1:12", "0 1 12"),
    (Op::Concat, 2, "", "[0:1 0| 1:11 1|]", "0 1 11 |"),
    (Op::Concat, 2, "0| 1:5", "1:11", "0 11"),
    (Op::Concat, 2, "1| 0|", "", "0 |"),
    // What the stop holds at first, and its end, do not count.
    (Op::TakeUntil, 2, "", "0:1 1:11 0:2", "0 1 |"),
    (Op::TakeUntil, 2, "", "1| 0:1 0|", "0 1 |"),
    (Op::TakeUntil, 2, "", "1! 0:1", "0 1"),
    (Op::TakeUntil, 2, "", "0:1 0! 1:11", "0 1 !0"),
    (Op::TakeUntil, 2, "", "[0:1 1:11]", "0 1 |"),
    (Op::TakeUntil, 2, "", "[1:11 0:1]", "0 |"),
    (Op::TakeUntil, 2, "", "[0:1 ? 1:11 0:2]", "0 ?1 1 |"),
    (Op::TakeUntil, 2, "1:5", "0:1", "0 1"),
    (Op::TakeUntil, 2, "0|", "1:11", "0 |"),
    (Op::Join, 2, "", "0:1 [0:2 1:11] 0| 1:12 1|", "0,10 1,10 2,11 2,12 |"),
    (Op::Join, 2, "", "0:1 0! 1:11", "0,10 1,10 !0"),
    (Op::JoinVec, 3, "", "[2:21 0:1] 1:11 1!", "0,10,20 1,10,21 1,11,21 !1"),
    (Op::JoinVec, 0, "", "", "() |"),
    (Op::Combine, 3, "", "[2:21 0:1] 1:11 0| 1| 2:22 2|", "0,10,20 1,10,21 1,11,21 1,11,22 |"),
    (Op::Combine, 2, "0! 1!", "", "0,10 !0"),
    (Op::CombineVec, 3, "", "[2:21 0:1] 1:11 1!", "0,10,20 1,10,21 1,11,21 !1"),
    (Op::CombineVec, 0, "", "", "() |"),
    // Changes of the second alone, and its end, give nothing.
    (Op::WithLatest, 2, "", "1:11 0:1 [0:2 1:12] [1:13 0:3]", "0,10 1,11 2,12 3,13"),
    (Op::WithLatest, 2, "", "1:11 1| 0:1 0|", "0,10 1,11 |"),
    (Op::WithLatest, 2, "", "1! 0:1 0!", "0,10 1,10 !0"),
    (Op::WithLatest, 2, "", "[0:1 1:11 ? 1:12]", "0,10 ?1,11 1,11"),
    (Op::SharedLatest, 2, "", "1:11 0:1 [0:2 1:12] 0|", "0,10 1,11 2,12 |"),
    (Op::Sample, 2, "", "0:1 0:2 1:11 1:12", "0 2 2"),
    (Op::Sample, 2, "", "[1:11 0:1] [0:2 1:12]", "0 1 2"),
    (Op::Sample, 2, "", "0:1 0| 1:11 1|", "0 1 |"),
    (Op::Sample, 2, "", "0:1 0! 1:11 1!", "0 1 !1"),
    (Op::SampleOn, 2, "", "0:1 1:11 0:2 1:12 1:13", "0 1 2 2"),
    (Op::SampleOn, 2, "", "[1:11 0:1 1:12] 1|", "0 1 1 |"),
    (Op::SampleOn, 2, "1:5", "0:1 0! 1:11", "0 1"),
    (Op::Selector(2), 1, "", "0:1 0:2 0:2 0:3 0:2 0|", "0 1 0 1 |"),
    (Op::Selector(2), 1, "", "[0:2 0:3] [0:2 ? 0:3]", "0 ?1 0"),
    (Op::Selector(0), 1, "", "0:1 0!", "1 0 !0"),
    (Op::Selector(0), 1, "0:4 0|", "", "0 |"),
];

#[test]
fn every_combinator_delivers_what_the_table_says() {
    for (op, inputs, before, after, expected) in TABLE {
        let run = Run::direct(op, Kind::Plain, inputs, before, after);
        assert_eq!(run.heard(), expected, "{op:?} over {before} / {after}");
        assert_eq!(run.expected(), expected, "the reference of {op:?} over {before} / {after}");
    }
}

/// Cells that keep the events of a batch: the rounds, and who comes first in each (rule P12).
#[test]
fn every_event_of_a_batch_counts() {
    #[rustfmt::skip]
    let rows = [
        (Op::Zip, "[0:1 0:2 1:11 1:12]", "0,10 1,11 2,12"),
        (Op::Zip, "[0:1 0:2 0| 1:11] 1:12", "0,10 1,11 2,12 |"),
        (Op::Merge, "[0:1 0:2 1:11 1:12]", "10 1 2 11 12"),
        (Op::Merge, "[1:11 0:1 0:2 0| 1|]", "10 11 1 2 |"),
        (Op::Concat, "[0:1 0:2 0| 1:11]", "0 1 2 11"),
        (Op::Concat, "[1:11 0:1 0| 1:12]", "0 1 12"),
        (Op::TakeUntil, "[0:1 0:2 1:11 0:3]", "0 1 2 |"),
        (Op::TakeUntil, "[1:11 0:1]", "0 |"),
        (Op::Join, "[0:1 0:2 1:11]", "0,10 1,10 2,11"),
        (Op::Combine, "[0:1 1:11 0:2]", "0,10 1,11 2,11"),
        (Op::CombineVec, "[0:1 1:11 0:2]", "0,10 1,11 2,11"),
        (Op::WithLatest, "[0:1 0:2 1:11]", "0,10 1,10 2,11"),
        (Op::Sample, "[1:11 1:12 0:1]", "0 0 1"),
        (Op::SampleOn, "[1:11 1:12 0:1]", "0 0 1"),
    ];
    for (op, after, expected) in rows {
        let run = Run::direct(op, Kind::Kept, 2, "", after);
        assert_eq!(run.heard(), expected, "{op:?} over {after}");
        assert_eq!(run.expected(), expected, "the reference of {op:?} over {after}");
    }
}

/// An event and a plain write of one round: the order of arrival, not of the kinds.
#[test]
fn events_and_plain_writes_of_a_batch() {
    #[rustfmt::skip]
    let rows = [
        (Op::Merge, Kind::Kept, Kind::Plain, "[0:1 1:11]", "10 1 11"),
        (Op::Merge, Kind::Kept, Kind::Plain, "[1:11 0:1]", "10 11 1"),
        (Op::Merge, Kind::Plain, Kind::Kept, "[1:11 0:1]", "10 11 1"),
        (Op::Merge, Kind::Kept, Kind::CutOff, "[0:1 1:11]", "10 1 11"),
        (Op::Merge, Kind::Plain, Kind::CutOff, "[0:1 1:11]", "10 1 11"),
        (Op::Merge, Kind::Plain, Kind::CutOff, "[1:11 0:1]", "10 11 1"),
        // The second event opens a round of its own, the plain write belongs to the first.
        (Op::Merge, Kind::Kept, Kind::Plain, "[0:1 0:2 1:11]", "10 1 11 2"),
        (Op::TakeUntil, Kind::Kept, Kind::Plain, "[0:1 1:11]", "0 1 |"),
        (Op::TakeUntil, Kind::Kept, Kind::Plain, "[1:11 0:1]", "0 |"),
        (Op::TakeUntil, Kind::Plain, Kind::Kept, "[0:1 1:11]", "0 1 |"),
        (Op::TakeUntil, Kind::Plain, Kind::Kept, "[1:11 0:1]", "0 |"),
        (Op::TakeUntil, Kind::Kept, Kind::Plain, "[0! 1:11]", "0 !0"),
        (Op::TakeUntil, Kind::Kept, Kind::Plain, "[1:11 0!]", "0 |"),
        (Op::Concat, Kind::Kept, Kind::Plain, "[0| 1:11]", "0 11"),
        (Op::Concat, Kind::Kept, Kind::Plain, "[1:11 0|]", "0"),
        (Op::Concat, Kind::Plain, Kind::Kept, "[0| 1:11]", "0 11"),
        (Op::Concat, Kind::Plain, Kind::Kept, "[1:11 0|]", "0"),
    ];
    for (op, first, second, after, expected) in rows {
        let run = Run { kinds: vec![first, second], ..Run::direct(op, first, 2, "", after) };
        assert_eq!(run.heard(), expected, "{op:?} of {first:?} and {second:?} over {after}");
        assert_eq!(run.expected(), expected, "the reference over {after}");
    }
}
