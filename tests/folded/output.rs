//! The text and the picture.

use std::io::{self, Write};

use hyphae::{Folded, FoldedError};

use super::{busy, compute, fanout, pass, record, wave};

fn svg(folded: &Folded) -> String {
    let mut out = Vec::new();
    folded.render_svg(&mut out).expect("there are stacks");
    String::from_utf8(out).expect("SVG is text")
}

fn is_entity(text: &str) -> bool {
    let name = text.split_once(';').map(|(name, _)| name);
    name.is_some_and(|name| {
        ["lt", "gt", "amp", "quot", "apos"].contains(&name) || name.starts_with('#')
    })
}

/// Checks that tags are closed in order and that text has no bare `<` or `&`; gives the texts between tags.
fn texts(xml: &str) -> Vec<String> {
    let (mut open, mut texts, mut rest) = (Vec::new(), Vec::new(), xml);
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(
            text.match_indices('&').all(|(at, _)| is_entity(&text[at + 1..])),
            "bare &: {text}"
        );
        texts.push(text.to_owned());
        rest = &rest[at..];
        let cdata = rest.starts_with("<![CDATA[");
        let close = if cdata { "]]>" } else { ">" };
        let end = rest.find(close).expect("a tag ends") + close.len();
        let tag = &rest[..end];
        rest = &rest[end..];
        if tag.starts_with("<?") || tag.starts_with("<!") || tag.ends_with("/>") {
            continue;
        }
        let name = |tag: &str| tag.split([' ', '>', '\n']).next().expect("a name").to_owned();
        match tag.strip_prefix("</") {
            Some(closed) => assert_eq!(open.pop(), Some(name(closed)), "{tag}"),
            None => open.push(name(&tag[1..])),
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest:?}");
    texts
}

#[test]
fn a_flame_graph_names_the_cells() {
    let (_guard, folded) = record();
    wave(3).in_scope(|| {
        pass(1_000);
        busy(fanout("price"), 2_000);
        busy(compute("map", "total", 1), 3_000);
        busy(fanout("<&>\"'\u{1b};\n"), 4_000);
    });
    let svg = svg(&folded);
    let texts = texts(&svg);
    let titles = [
        "hyphae.wave (10,000 ns, 100.00%)",
        "hyphae.fanout [price] (2,000 ns, 20.00%)",
        "map [total] (3,000 ns, 30.00%)",
        "hyphae.fanout [&lt;&amp;&gt;&quot;&apos;\\u{1b}\\u{3b}\\n] (4,000 ns, 40.00%)",
    ];
    for title in titles {
        assert!(texts.iter().any(|text| text == title), "{title} is not in {texts:#?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("10000 ns in spans")));
    assert!(
        !svg.contains(|c: char| c.is_control() && c != '\n' && c != '\t'),
        "no such thing in XML"
    );
    assert_eq!(svg, self::svg(&folded), "the same sums give the same picture");
}

#[test]
fn text_is_written_as_it_is_displayed() {
    let (_guard, folded) = record();
    busy(wave(1), 5);
    let mut out = Vec::new();
    folded.write_to(&mut out).expect("there are stacks");
    assert_eq!(out, b"hyphae.wave 5\n");
    assert_eq!(folded.to_string(), "hyphae.wave 5\n");
}

#[test]
fn no_time_is_no_flame_graph() {
    let (_guard, folded) = record();
    assert!(matches!(folded.render_svg(Vec::new()), Err(FoldedError::Empty)));
    assert!(matches!(folded.write_to(Vec::new()), Err(FoldedError::Empty)));
    busy(wave(1), 0);
    assert!(matches!(folded.render_svg(Vec::new()), Err(FoldedError::Empty)));
    let mut out = Vec::new();
    folded.write_to(&mut out).expect("a stack was entered");
    assert_eq!(out, b"hyphae.wave 0\n");
}

/// An output that takes `0` more bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_fails_is_reported() {
    let (_guard, folded) = record();
    busy(wave(1), 5);
    for error in [folded.write_to(Full(3)), folded.render_svg(Full(1_000))] {
        let error = error.expect_err("the output is full");
        let FoldedError::Io(cause) = &error else { panic!("{error:?}") };
        assert_eq!(cause.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("the folded stacks could not be written: "));
    }
}
