//! A small reader of HTML that is written like XML: it sees that all that is opened is closed, in order.

use std::collections::HashMap;

/// An element: its name and its attributes. Those that are inside it come after it.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: HashMap<String, String>,
    /// The names of those that it is in, outermost first.
    pub(crate) within: Vec<String>,
}

/// All elements of a page, in order; or what is wrong with it.
pub(crate) fn elements(page: &str) -> Result<Vec<Element>, String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").ok_or("there is no doctype")?;
    let (mut open, mut elements): (Vec<String>, Vec<Element>) = (vec![], vec![]);
    while let Some((text, tag_on)) = rest.split_once('<') {
        check_text(text)?;
        let (tag, after) = tag_on.split_once('>').ok_or_else(|| format!("`<{}`", start(tag_on)))?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            if last.as_deref() != Some(name) {
                return Err(format!("`</{name}>` closes {last:?}"));
            }
            continue;
        }
        let element = element(tag.trim_end_matches('/'), &open)?;
        if matches!(&element.name[..], "script" | "style") {
            let end = format!("</{}>", element.name);
            rest = rest.split_once(&end).ok_or_else(|| format!("no {end}"))?.1;
        } else if !tag.ends_with('/') {
            open.push(element.name.clone());
        }
        elements.push(element);
    }
    check_text(rest)?;
    if open.is_empty() { Ok(elements) } else { Err(format!("{open:?} are never closed")) }
}

fn start(text: &str) -> String {
    text.chars().take(40).collect()
}

/// An element of which the tag is this, without its brackets.
fn element(tag: &str, open: &[String]) -> Result<Element, String> {
    let (name, mut rest) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        return Err(format!("`<{}` is no tag", start(tag)));
    }
    let mut attributes = HashMap::new();
    while !rest.trim().is_empty() {
        let (key, after) =
            rest.split_once("=\"").ok_or_else(|| format!("`{}` in <{name}>", start(rest)))?;
        let (value, after) = after.split_once('"').ok_or_else(|| format!("a quote of <{name}>"))?;
        check_text(value)?;
        if attributes.insert(key.trim().to_owned(), value.to_owned()).is_some() {
            return Err(format!("<{name}> has two `{key}`"));
        }
        rest = after;
    }
    Ok(Element { name: name.to_owned(), attributes, within: open.to_vec() })
}

/// Text has no `>` and each `&` begins something.
fn check_text(text: &str) -> Result<(), String> {
    let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
    let bare =
        text.split('&').skip(1).find(|after| !known.iter().any(|end| after.starts_with(end)));
    match bare {
        Some(after) => Err(format!("a bare `&{}`", start(after))),
        None if text.contains('>') => Err(format!("a bare `>` in `{}`", start(text))),
        None => Ok(()),
    }
}

#[test]
fn what_is_well_formed() {
    let page = "<!DOCTYPE html><p class=\"a\" id=\"b\">x &lt; y<br/><script>if (a < b && c) {}</script></p>\n";
    let found = elements(page).unwrap();
    let names: Vec<_> = found.iter().map(|element| &element.name[..]).collect();
    assert_eq!(names, ["p", "br", "script"]);
    assert_eq!(found[0].attributes["id"], "b");
    assert_eq!(found[1].within, ["p"]);
}

#[test]
fn what_is_not() {
    for body in
        ["<p>", "<p><b></p></b>", "</p>", "a > b", "a & b", "<p id=x></p>", "<a b=\"&\"/>", "<p"]
    {
        assert!(elements(&format!("<!DOCTYPE html>{body}")).is_err(), "{body}");
    }
    assert!(elements("<p></p>").is_err());
}
