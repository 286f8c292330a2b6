//! HTML: text made safe, templates filled in, tables.
//!
//! It knows nothing of frames and cells.

use std::fmt::Write;

/// Text for HTML, also in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() => safe.push(char::REPLACEMENT_CHARACTER),
            c => safe.push(c),
        }
    }
    safe
}

/// A template with each `{{name}}` replaced by the value of that name, as it is. Values are not looked into.
///
/// # Panics
/// When a name has no value, or a value no place.
pub(crate) fn fill(template: &str, values: &[(&str, String)]) -> String {
    let (mut page, mut rest, mut used) = (String::new(), template, 0);
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("a `{{` of the template has its `}}`");
        let value = values.iter().find(|value| value.0 == name);
        let (_, value) = value.unwrap_or_else(|| panic!("the template's `{name}` has a value"));
        page.push_str(before);
        page.push_str(value);
        (rest, used) = (after, used + 1);
    }
    assert!(used >= values.len(), "{used} of {} values have a place", values.len());
    page + rest
}

/// Bytes as base64, for data in a URL.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let three = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = three.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        for digit in 0..4 {
            let sextet = bits >> (18 - 6 * digit) & 63;
            text.push(if digit <= chunk.len() { char::from(DIGITS[sextet]) } else { '=' });
        }
    }
    text
}

/// An entry of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Sorted as text.
    Text(String),
    /// Text, sorted by a number.
    Number(String, u64),
    /// A part of a whole in thousandths, with a bar whose width is another.
    Share(u64, u64),
}

impl Entry {
    pub(crate) fn count(count: u64) -> Self {
        Self::Number(count.to_string(), count)
    }

    fn write(&self, html: &mut String) {
        let _ = match self {
            Self::Text(text) => write!(html, "<td>{}</td>", escape(text)),
            Self::Number(text, value) => {
                write!(html, "<td class=\"n\" data-v=\"{value}\">{}</td>", escape(text))
            }
            Self::Share(share, width) => {
                let [share_text, width] =
                    [share, width].map(|part| format!("{}.{}", part / 10, part % 10));
                write!(
                    html,
                    "<td class=\"n share\" data-v=\"{share}\"><span style=\"width:{width}%\"></span>{share_text}</td>"
                )
            }
        };
    }
}

/// A table that sorts by a click on a head.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// What it is, for those who hear the page.
    pub(crate) label: &'static str,
    /// The heads, each with what it means.
    pub(crate) heads: Vec<(&'static str, &'static str)>,
    /// The column by which it is sorted, from the greatest, if by one.
    pub(crate) sorted: Option<usize>,
    pub(crate) rows: Vec<Vec<Entry>>,
}

impl Table {
    pub(crate) fn html(&self) -> String {
        let mut html = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n\
             <table class=\"sortable\" aria-label=\"{0}\"><thead><tr>",
            escape(self.label)
        );
        for (column, (head, meaning)) in self.heads.iter().enumerate() {
            self.head(column, head, meaning, &mut html);
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            row.iter().for_each(|entry| entry.write(&mut html));
            html.push_str("</tr>\n");
        }
        html + "</tbody></table></div>"
    }

    fn head(&self, column: usize, head: &str, meaning: &str, html: &mut String) {
        let is_number = self.rows.first().is_some_and(|row| !matches!(row[column], Entry::Text(_)));
        let class = if is_number { " class=\"n\"" } else { "" };
        let sort = if self.sorted == Some(column) { " aria-sort=\"descending\"" } else { "" };
        let (head, meaning) = (escape(head), escape(meaning));
        let _ = write!(
            html,
            "<th scope=\"col\"{class}{sort}><button type=\"button\" title=\"{meaning}\">{head}</button></th>"
        );
    }
}

/// Names and values, side by side.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    let pair = |(name, value): &(&str, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value))
    };
    format!("<dl>\n{}</dl>", pairs.iter().map(pair).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_made_safe() {
        assert_eq!(
            escape("<a href=\"x\">'&\u{7}"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\u{fffd}"
        );
    }

    #[test]
    fn a_value_is_not_looked_into() {
        let values = [("a", "{{b}}".to_owned()), ("b", "2".to_owned())];
        assert_eq!(fill("{{a}}-{{b}}-{{a}}", &values), "{{b}}-2-{{b}}");
    }

    #[test]
    #[should_panic(expected = "the template's `c` has a value")]
    fn a_place_without_a_value() {
        fill("{{c}}", &[("a", String::new())]);
    }

    #[test]
    fn known_base64() {
        let rows = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, encoded) in rows {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn a_table_says_how_it_is_sorted() {
        let rows = vec![vec![Entry::Text("<b>".into()), Entry::count(7), Entry::Share(123, 1000)]];
        let heads = vec![("name", ""), ("n", "how many"), ("%", "")];
        let html = Table { label: "t", heads, sorted: Some(1), rows }.html();
        assert!(html.contains("<td>&lt;b&gt;</td><td class=\"n\" data-v=\"7\">7</td>"), "{html}");
        assert!(
            html.contains("<th scope=\"col\" class=\"n\" aria-sort=\"descending\"><button"),
            "{html}"
        );
        assert!(html.contains("<span style=\"width:100.0%\"></span>12.3"), "{html}");
    }
}
