//! The flame graph of a few frames more, after the measured ones: to listen to spans takes several times as long as what
//! they tell of, and would show in the frame statistics.
//!
//! A build without the feature `flame` has none.

use std::error::Error;

use crate::play::Player;

/// The graph as SVG; `None` in a build that cannot make one.
#[cfg(not(feature = "flame"))]
pub(crate) fn record(_: &mut Player) -> Result<Option<String>, Box<dyn Error>> {
    Ok(None)
}

/// How many frames are listened to.
#[cfg(feature = "flame")]
pub(crate) const FRAMES: u64 = 60;

/// The graph as SVG; `None` in a build that cannot make one.
#[cfg(feature = "flame")]
pub(crate) fn record(player: &mut Player) -> Result<Option<String>, Box<dyn Error>> {
    use tracing_subscriber::layer::SubscriberExt;

    let (layer, folded) = hyphae::FoldedLayer::new();
    let listener = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(listener, || {
        (0..FRAMES).for_each(|_| {
            player.frame_now();
        });
    });
    let cells = folded.stacks().filter(|stack| stack.frames().next_back().is_some_and(is_cell));
    draw(cells.map(|stack| by_kind(&stack.to_string()))).map(Some)
}

/// Whether the frame of a stack is a cell's. The others are waves: what they take by themselves here is mostly the making of
/// spans, and would hide the rest.
#[cfg(feature = "flame")]
fn is_cell(frame: &str) -> bool {
    frame.contains('[')
}

#[cfg(feature = "flame")]
fn draw(lines: impl Iterator<Item = String>) -> Result<String, Box<dyn Error>> {
    use inferno::flamegraph::color::{BackgroundColor, Color};
    use inferno::flamegraph::{Options, from_lines};
    const WHITE: Color = Color { r: 255, g: 255, b: 255 };

    let mut options = Options::default();
    options.title = "Self time of cells".to_owned();
    options.subtitle = Some(format!("{FRAMES} frames; * is any number"));
    options.bgcolors = Some(BackgroundColor::Flat(WHITE));
    options.count_name = "ns".to_owned();
    options.name_type = "Frame:".to_owned();
    options.deterministic = true;
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    let mut svg = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)?;
    Ok(String::from_utf8(svg)?)
}

/// A line of folded stacks with the operator and the cell of its last frame as two frames, and `*` for the number in the
/// name of a cell, `track 12` or `fixture 3/dimmer`: thousands of cells that do the same would each be too narrow to be
/// drawn. Of the place where an unnamed cell was made the folders go.
#[cfg(any(feature = "flame", test))]
fn by_kind(line: &str) -> String {
    let (stack, nanos) = line.rsplit_once(' ').unwrap_or((line, ""));
    let (frames, name) = stack.rsplit_once(" [").unwrap_or((stack, ""));
    let name = name.strip_suffix(']').unwrap_or(name);
    let name = match name.rsplit_once('/') {
        Some((_, place)) if place.contains(".rs:") => place.to_owned(),
        _ => name.split(' ').map(unnumbered).collect::<Vec<_>>().join(" "),
    };
    format!("{frames};{name} {nanos}")
}

/// A word with `*` for the number that it begins with.
#[cfg(any(feature = "flame", test))]
fn unnumbered(word: &str) -> String {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < word.len() { format!("*{rest}") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cells_go_and_others_stay() {
        let rows = [
            ("hyphae.wave;map [track 12] 34", "hyphae.wave;map;track * 34"),
            ("combine [fixture 3/dimmer] 5", "combine;fixture */dimmer 5"),
            ("join [track 14::join] 5", "join;track *::join 5"),
            ("map [a/b c/d.rs:12] 5", "map;d.rs:12 5"),
            ("map [grand master] 5", "map;grand master 5"),
        ];
        for (line, drawn) in rows {
            assert_eq!(by_kind(line), drawn);
        }
    }
}
