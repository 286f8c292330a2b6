//! The report page, as text.

use std::collections::HashSet;

use hyphae::{Cell, Timing, set_timing};

use crate::elements::{Element, elements};
use crate::findings::Findings;
use crate::options::{Options, Pace};
use crate::page::page;
use crate::play::Point;
use crate::{options, played};

const SVG: &str = "<svg version=\"1.1\" width=\"1200\" height=\"158\" xmlns=\"http://www.w3.org/2000/svg\"></svg>";

/// What a short run with a report found.
fn findings() -> Findings {
    let report = Some("unused".into());
    played(&Options { report, timing: Timing::EveryWave, ..options(1000, 12) }).1
}

fn read(page: &str) -> Vec<Element> {
    elements(page).unwrap_or_else(|problem| panic!("{problem}"))
}

fn with_attribute<'a>(
    elements: &'a [Element],
    key: &'a str,
) -> impl Iterator<Item = &'a str> + use<'a> {
    elements.iter().filter_map(move |element| element.attributes.get(key).map(String::as_str))
}

#[test]
fn it_is_well_formed_with_and_without_a_flame_graph() {
    let findings = findings();
    for flame in [None, Some(SVG)] {
        let text = page(&findings, flame);
        let elements = read(&text);
        let objects = elements.iter().filter(|element| element.name == "object").count();
        assert_eq!(objects, usize::from(flame.is_some()));
        let ids: Vec<_> = with_attribute(&elements, "id").collect();
        assert_eq!(ids.len(), ids.iter().collect::<HashSet<_>>().len(), "{ids:?}");
        assert!(with_attribute(&elements, "aria-labelledby").all(|id| ids.contains(&id)));
    }
}

#[test]
fn it_needs_no_other_file() {
    let text = page(&findings(), Some(SVG));
    let elements = read(&text);
    for key in ["src", "href", "srcset", "xlink:href", "action"] {
        assert_eq!(with_attribute(&elements, key).count(), 0, "{key}");
    }
    assert!(
        with_attribute(&elements, "data").all(|url| url.starts_with("data:image/svg+xml;base64,"))
    );
    // The one `http` is that of `http-equiv`, which forbids all that is not in the page.
    assert_eq!(text.matches("http").count(), 1);
    assert!(text.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';"));
    assert!(["url(", "@import", "import(", "fetch("].iter().all(|word| !text.contains(word)));
}

#[test]
fn names_of_cells_are_text() {
    let name = "<script>alert(\"1\")</script> & 'co'";
    let hot = Cell::new(0).with_name(name);
    set_timing(Timing::EveryWave);
    (0..100).for_each(|value| hot.set(value));
    let text = page(&played(&options(500, 3)).1, None);
    read(&text);
    assert!(!text.contains("<script>alert"));
    let safe = "<td>&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;co&#39;</td>";
    // Sorted by time it may be anywhere; without times it is the first.
    let options = Options { timing: Timing::Off, ..options(500, 3) };
    assert!(page(&played(&options).1, None).contains(safe));
}

#[test]
fn tables_can_be_sorted_with_the_keyboard() {
    let elements = read(&page(&findings(), None));
    let sortable = |element: &&Element| {
        element.name == "table" && element.attributes.get("class").is_some_and(|c| c == "sortable")
    };
    let labels: Vec<_> =
        elements.iter().filter(sortable).map(|table| &table.attributes["aria-label"][..]).collect();
    assert_eq!(labels, ["Slowest frames", "Operators", "Hot cells", "Census"]);
    let sorted = elements.iter().filter(|element| element.attributes.contains_key("aria-sort"));
    assert_eq!(sorted.count(), labels.len());
    let heads = elements.iter().filter(|element| {
        element.name == "button" && element.within.ends_with(&["tr".to_owned(), "th".to_owned()])
    });
    assert_eq!(heads.count(), 12 + 8 + 9 + 6);
}

#[test]
fn hot_cells_census_and_settings_are_there() {
    let findings = findings();
    let text = page(&findings, None);
    let cells = findings.hot.iter().take(200);
    assert!(cells.clone().count() == 200 && cells.clone().any(|cell| cell.name.is_none()));
    assert!(cells.clone().all(|cell| text.contains(&format!("<td>{}</td>", cell.display_name()))));
    let row = &findings.census[0];
    assert!(text.contains(&format!("<td>{}:{}:{}</td>", row.file, row.line, row.column)));
    assert!(text.contains("<dt>--cells</dt><dd>1000</dd>"));
    assert!(text.contains("<dt>--timing</dt><dd>all</dd>"));
    assert!(text.contains("All 12 frames") || text.contains(" of 12 frames took longer"));
}

/// The data of the plot.
fn plot(page: &str) -> serde_json::Value {
    let (_, after) = page.split_once("id=\"frames\">").unwrap();
    serde_json::from_str(after.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn the_plot_has_every_frame() {
    let findings = findings();
    let data = plot(&page(&findings, None));
    assert_eq!((data["each"].as_u64(), data["budget"].as_f64()), (Some(1), Some(16666.7)));
    let points = data["points"].as_array().unwrap();
    assert_eq!(points.len(), 12);
    let last = points.len() - 1;
    assert_eq!(points[last][0].as_u64(), Some(11));
    let total = findings.record.points[last].total_ns as f64 / 1e3;
    assert!((points[last][1].as_f64().unwrap() - total).abs() < 0.06);
}

#[test]
fn a_long_run_is_thinned_out_and_keeps_its_worst_frames() {
    let mut findings = findings();
    let point = |index: u64| Point {
        index,
        total_ns: if index == 4000 { 20_000_000 } else { 1_000_000 },
        settle_ns: 900_000,
        over_budget: index == 4000,
        late: index == 4001,
    };
    findings.record.points = (0..5001).map(point).collect();
    let data = plot(&page(&findings, None));
    let points = data["points"].as_array().unwrap();
    assert_eq!((data["each"].as_u64(), points.len()), (Some(3), 1667));
    let marked: Vec<String> =
        points.iter().filter(|point| point[3] != 0).map(ToString::to_string).collect();
    assert_eq!(marked, ["[4000,20000.0,900.0,3]"]);
}

#[test]
fn the_text_is_the_same_each_time_without_times() {
    let text = |pace| {
        let options = Options { timing: Timing::Off, pace, ..options(800, 5) };
        let findings = played(&options).1;
        let mut out = vec![];
        crate::show::built(&mut out, &options, &findings.built).unwrap();
        crate::show::findings(&mut out, &findings).unwrap();
        String::from_utf8(out).unwrap()
    };
    let (first, second) = (text(Pace::Fast), text(Pace::Fast));
    let stable = |text: &str| -> Vec<String> {
        let (before, after) = text.split_once("\n\n5 frames, ").unwrap();
        let (_, hot) = after.split_once("\nhot cells, ").unwrap();
        before.lines().chain(hot.lines()).map(str::to_owned).collect()
    };
    assert_eq!(stable(&first), stable(&second));
    assert!(stable(&first).len() > 30, "{first}");
}
