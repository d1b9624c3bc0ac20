//! Inserts entries into JSONC text and removes them, changing only the bytes of the entry and its
//! comma.

use super::parse::{Child, Document, Node, SyntaxError};
use crate::agent_config::json::{Json, Layout, string};
use crate::agent_config::undo::{Container, Undo};

pub(crate) type Result<T, E = ChangeError> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    #[error("`{keys}` is not {wanted}")]
    Shape { keys: String, wanted: &'static str },
}

pub(crate) fn put(text: &str, keys: &[&str], value: &Json) -> Result<(String, Undo)> {
    let Some((document, root)) = parse_object(text)? else { return Ok(whole(text, keys, value)) };
    let layout = layout(text, &root);
    if let Some(node) = root.at(keys) {
        let written =
            layout_in(text, node, &layout).value(value, line_indent(text, node.span.start));
        let replaced = text[node.span.clone()].to_owned();
        let new_text = replace(text, node.span.clone(), &written);
        return Ok((new_text, Undo { replaced: Some(replaced), ..Undo::default() }));
    }
    insert(text, &document, &root, keys, value)
}

pub(crate) fn append(text: &str, keys: &[&str], item: &Json) -> Result<(String, Undo)> {
    let list = || Json::List(vec![item.clone()]);
    let Some((document, root)) = parse_object(text)? else { return Ok(whole(text, keys, &list())) };
    let Some(node) = root.at(keys) else { return insert(text, &document, &root, keys, &list()) };
    if !node.is_list() {
        return Err(shape(keys, "a list"));
    }
    let mut undo = Undo::default();
    undo.containers.extend(empty_container(text, node, keys));
    let render = |layout: &Layout, indent: &str| layout.value(item, indent);
    Ok((insert_child(text, &document, &root, node, render), undo))
}

/// Removes the member at the path `keys`, or restores the value that it replaced.
pub(crate) fn remove_entry(text: &str, keys: &[&str], undo: &Undo) -> Result<String> {
    let Some((_, root)) = parse_object(text)? else { return Ok(text.to_owned()) };
    let Some((leaf, parents)) = keys.split_last() else { return Ok(text.to_owned()) };
    let Some(parent) = root.at(parents) else { return Ok(text.to_owned()) };
    let Some(child) = parent.member(leaf) else { return Ok(text.to_owned()) };
    if let Some(replaced) = &undo.replaced {
        return Ok(replace(text, child.value.span.clone(), replaced));
    }
    let idx = parent.children().iter().rposition(|other| other.start == child.start);
    Ok(without_child(text, parent, idx.unwrap_or_default()))
}

/// Cleans up containers that have become empty: removes those that did not originally exist and
/// restores the others to their original text.
pub(crate) fn tidy(text: &str, undo: &Undo) -> Result<String> {
    let mut text = text.to_owned();
    for container in undo.containers.iter().rev() {
        let Some((document, root)) = parse_object(&text)? else { return Ok(text) };
        let Some(node) = root.at(&container.keys) else { continue };
        let is_as_it_was = |was: &String| same_but_blanks(was, &text[node.span.clone()]);
        let may_go =
            !document.has_comment(&node.span) || container.was.as_ref().is_some_and(is_as_it_was);
        if !node.children().is_empty() || !may_go {
            continue;
        }
        text = match (&container.was, container.keys.split_last()) {
            // The original file was blank.
            (Some(was), None) if is_blank(was) && is_alone(&text, node) => was.clone(),
            (Some(was), _) if is_blank(was) => text,
            (Some(was), _) => replace(&text, node.span.clone(), was),
            (None, None) => text,
            (None, Some((leaf, parents))) => match root.at(parents) {
                Some(parent) => {
                    let is_it = |child: &Child| child.key.as_deref() == Some(leaf);
                    let idx = parent.children().iter().rposition(is_it);
                    without_child(&text, parent, idx.unwrap_or_default())
                }
                None => text,
            },
        };
    }
    Ok(text)
}

fn same_but_blanks(a: &str, b: &str) -> bool {
    let visible = |c: &char| !BLANKS.contains(c);
    a.chars().filter(visible).eq(b.chars().filter(visible))
}

fn is_alone(text: &str, node: &Node) -> bool {
    let around = [&text[..node.span.start], &text[node.span.end..]];
    around.iter().all(|part| is_blank(part))
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// Parses text that must be either blank or a JSON object.
pub(crate) fn parse_object(text: &str) -> Result<Option<(Document, Node)>> {
    let mut document = Document::parse(text)?;
    match document.root.take() {
        None if document.comments.is_empty() => Ok(None),
        None => Err(SyntaxError { line: 1, message: "the file contains only comments" }.into()),
        Some(root) if root.is_object() => Ok(Some((document, root))),
        Some(_) => Err(shape(&["the whole file"], "an object")),
    }
}

fn shape(keys: &[&str], wanted: &'static str) -> ChangeError {
    ChangeError::Shape { keys: keys.join("."), wanted }
}

fn whole(text: &str, keys: &[&str], value: &Json) -> (String, Undo) {
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let newline = newline_of(text);
    let layout = Layout { newline, unit: "  ".to_owned(), is_open: true, is_spaced: true };
    let written = nest(keys, value, &layout, "");
    let mut containers = vec![Container { keys: Vec::new(), was: Some(text.to_owned()) }];
    containers.extend(new_containers(keys, 0, value));
    (format!("{mark}{written}{newline}"), Undo { containers, ..Undo::default() })
}

/// Wraps `value` in one nested object per key.
fn nest(keys: &[&str], value: &Json, layout: &Layout, indent: &str) -> String {
    if keys.is_empty() {
        return layout.value(value, indent);
    }
    let inner = format!("{indent}{}", layout.unit);
    let member = member(keys, value, layout, &inner);
    if layout.is_open {
        let newline = layout.newline;
        format!("{{{newline}{inner}{member}{newline}{indent}}}")
    } else {
        format!("{{{member}}}")
    }
}

/// Formats a member. Its value is wrapped in one nested object per key after the first.
fn member(keys: &[&str], value: &Json, layout: &Layout, indent: &str) -> String {
    let [key, rest @ ..] = keys else { return layout.value(value, indent) };
    format!("{}:{}{}", string(key), layout.blank(), nest(rest, value, layout, indent))
}

fn new_containers(keys: &[&str], depth: usize, value: &Json) -> impl Iterator<Item = Container> {
    // A new array is a container too, so that it is removed together with its last item.
    let end = keys.len() + usize::from(matches!(value, Json::List(_)));
    (depth + 1..end).map(move |end| container(&keys[..end], None))
}

fn container(keys: &[&str], was: Option<String>) -> Container {
    Container { keys: keys.iter().map(|key| (*key).to_owned()).collect(), was }
}

fn empty_container(text: &str, node: &Node, keys: &[&str]) -> Option<Container> {
    let was = &text[node.span.clone()];
    node.children().is_empty().then(|| container(keys, Some(was.to_owned())))
}

fn insert(
    text: &str,
    document: &Document,
    root: &Node,
    keys: &[&str],
    value: &Json,
) -> Result<(String, Undo)> {
    let is_there = |depth: &usize| root.at(&keys[..*depth]).is_some();
    let depth = (0..keys.len()).rev().find(is_there).unwrap_or_default();
    let (parents, rest) = keys.split_at(depth);
    let node = root.at(parents).filter(|node| node.is_object());
    let node = node.ok_or_else(|| shape(parents, "an object"))?;
    let mut undo = Undo::default();
    undo.containers.extend(empty_container(text, node, parents));
    undo.containers.extend(new_containers(keys, depth, value));
    let render = |layout: &Layout, indent: &str| member(rest, value, layout, indent);
    Ok((insert_child(text, document, root, node, render), undo))
}

/// Inserts at the end of a container, after its last comment. The comma is placed directly after
/// the previous value.
fn insert_child(
    text: &str,
    document: &Document,
    root: &Node,
    node: &Node,
    render: impl Fn(&Layout, &str) -> String,
) -> String {
    let close = node.span.end - 1;
    let at = text[..close].trim_end_matches(BLANKS).len();
    let layout = layout_in(text, node, &layout(text, root));
    let is_line_comment = |comment: &std::ops::Range<usize>| {
        comment.end >= at && text[comment.clone()].starts_with("//")
    };
    let mut inside = document.comments.iter().filter(|comment| comment.start < at);
    let on_a_line = layout.is_open || inside.next_back().is_some_and(is_line_comment);
    let outer = line_indent(text, node.span.start);
    let indent = match node.children().first() {
        Some(first) if is_at_line_start(text, first.start) => {
            line_indent(text, first.start).to_owned()
        }
        Some(_) | None => format!("{outer}{}", layout.unit),
    };
    let written = render(&layout, &indent);
    let last = node.children().last();
    let before = match (on_a_line, last) {
        (true, _) => format!("{}{indent}", layout.newline),
        (false, Some(_)) => layout.blank().to_owned(),
        (false, None) => String::new(),
    };
    let ends_line = !on_a_line || last.is_some() || text[at..close].contains('\n');
    let after = match last.and_then(|last| last.comma) {
        Some(_) => ",".to_owned(),
        None if ends_line => String::new(),
        None => format!("{}{outer}", layout.newline),
    };
    let comma_at = last.filter(|last| last.comma.is_none()).map(|last| last.value.span.end);
    let (first, comma) = match comma_at {
        Some(comma_at) => (comma_at, ","),
        None => (at, ""),
    };
    let (head, between, tail) = (&text[..first], &text[first..at], &text[at..]);
    [head, comma, between, &before, &written, &after, tail].concat()
}

/// Removes a child along with the whitespace before it and one comma.
pub(crate) fn without_child(text: &str, parent: &Node, idx: usize) -> String {
    let children = parent.children();
    let Some(child) = children.get(idx) else { return text.to_owned() };
    let start = text[..child.start].trim_end_matches(BLANKS).len();
    let end = child.value.span.end;
    if let Some(comma) = child.comma {
        let between = &text[end..comma];
        let between = if between.trim().is_empty() { "" } else { between };
        return [&text[..start], between, &text[comma + 1..]].concat();
    }
    match idx.checked_sub(1).and_then(|before| children[before].comma) {
        Some(comma) => [&text[..comma], &text[comma + 1..start], &text[end..]].concat(),
        None => [&text[..start], &text[end..]].concat(),
    }
}

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

fn replace(text: &str, range: std::ops::Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}

fn newline_of(text: &str) -> &'static str {
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.ends_with("\r\n") { "\r\n" } else { "\n" }
}

fn line_indent(text: &str, offset: usize) -> &str {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].trim_start_matches('\u{feff}');
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn is_at_line_start(text: &str, offset: usize) -> bool {
    let start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    start > 0 && text[start..offset].trim().is_empty()
}

fn layout(text: &str, root: &Node) -> Layout {
    let body = &text[root.span.clone()];
    let first = root.children().first();
    let unit = match first {
        Some(first) if is_at_line_start(text, first.start) => line_indent(text, first.start),
        Some(_) | None => "",
    };
    let is_open = body.contains('\n') || root.children().is_empty();
    let is_spaced = is_open || body.contains("\": ") || body.contains(", ");
    let unit = if unit.is_empty() { "  " } else { unit };
    Layout { newline: newline_of(text), unit: unit.to_owned(), is_open, is_spaced }
}

/// Returns the layout of a container. The container counts as a single line if its first child is
/// on the same line as the opening bracket.
fn layout_in(text: &str, node: &Node, layout: &Layout) -> Layout {
    let is_open = match node.children().first() {
        Some(first) => text[node.span.start..first.start].contains('\n'),
        None => layout.is_open,
    };
    Layout { is_open, ..layout.clone() }
}
