//! What a span is called in a stack.
//!
//! For each span the texts of its fields are gathered as they come; the label is made of them once, when they are seen
//! for the first time. A label has no `;` and no line break; its first part has no white space and no `#`, so that a
//! line never starts like a comment and never ends in two numbers, which tools would take for a comparison. It knows
//! spans, not stacks. The program's own code (`Display` of a field) runs here, outside of any lock; it may make spans.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::ops::Range;

use tracing::field::{Field, Visit};
use tracing::span::Attributes;

use super::TARGET;

/// What a label is made of, in a buffer that is used again for each span of a thread.
#[derive(Default)]
pub(super) struct Parts {
    /// The texts one after the other, each closed by a mark of its kind.
    text: String,
    span: Range<usize>,
    operator: Range<usize>,
    name: Range<usize>,
    id: Range<usize>,
    with_id: bool,
}

thread_local! {
    static PARTS: Cell<Parts> = Cell::default();
}

/// Calls `f` with the parts of the span's label. A span made while a field is formatted gets a buffer of its own.
pub(super) fn with_parts(span: &Attributes<'_>, with_id: bool, f: impl FnOnce(&Parts)) {
    let mut text = PARTS.try_with(Cell::take).unwrap_or_default().text;
    text.clear();
    let metadata = span.metadata();
    text.push_str(metadata.name());
    let mut parts = Parts { span: 0..text.len(), text, with_id, ..Parts::default() };
    if metadata.target() == TARGET {
        span.record(&mut parts);
    }
    f(&parts);
    let _ = PARTS.try_with(|free| free.set(parts));
}

impl Parts {
    /// Equal for equal labels of one place in the program; else different, unless names hold the marks.
    pub(super) fn key(&self) -> &str {
        &self.text
    }

    /// `operator [name id]`; the span's name stands in for an operator, and what is empty is left out.
    #[cold]
    pub(super) fn label(&self) -> Box<str> {
        let [span, operator, name, id] =
            [&self.span, &self.operator, &self.name, &self.id].map(|part| &self.text[part.clone()]);
        let mut label = String::new();
        push_head(&mut label, if operator.is_empty() { span } else { operator });
        if !(name.is_empty() && id.is_empty()) {
            let gap = if name.is_empty() || id.is_empty() { "" } else { " " };
            label.push_str(" [");
            [name, gap, id].iter().for_each(|text| push_text(&mut label, text));
            label.push(']');
        }
        label.into()
    }

    /// Adds what `write` writes as the part that the field is for, if it is for one.
    fn add(&mut self, field: &Field, write: impl FnOnce(&mut String)) {
        let (part, mark) = match field.name() {
            "name" => (&mut self.name, '\u{1}'),
            "operator" => (&mut self.operator, '\u{2}'),
            "id" if self.with_id => (&mut self.id, '\u{3}'),
            _ => return,
        };
        let start = self.text.len();
        write(&mut self.text);
        *part = start..self.text.len();
        self.text.push(mark);
    }
}

impl Visit for Parts {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, |text| text.push_str(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, |text| {
            // A `Display` that fails leaves what it has written.
            let _ = write!(text, "{value:?}");
        });
    }
}

fn push_head(label: &mut String, head: &str) {
    if head.is_empty() {
        label.push_str("(no_name)");
    }
    for c in head.chars() {
        match c {
            '#' => label.extend(c.escape_unicode()),
            _ if c.is_whitespace() => label.push('_'),
            _ => push_char(label, c),
        }
    }
}

fn push_text(label: &mut String, text: &str) {
    text.chars().for_each(|c| push_char(label, c));
}

fn push_char(label: &mut String, c: char) {
    match c {
        // XML can't hold the last two, nor most control characters.
        ';' | '\u{fffe}' | '\u{ffff}' => label.extend(c.escape_unicode()),
        _ if c.is_control() => label.extend(c.escape_default()),
        _ => label.push(c),
    }
}
