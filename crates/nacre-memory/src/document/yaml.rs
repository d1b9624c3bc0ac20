//! Decodes values with the YAML parser.
//!
//! Each entry is parsed separately, together with its key, and always into a string type. An
//! untyped parse would convert `no` to false.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _, IgnoredAny, Visitor};
use serde::de::{MapAccess, SeqAccess};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Error, Options, Tagged};

use super::MAX_DEPTH;
use super::fault::{Broken, Fault};

pub(super) fn text(raw: &str, line: usize, key: &str) -> Result<Option<String>, Broken> {
    check_depth(raw, line)?;
    value::<Option<String>>(raw).or_else(|_| {
        well_formed(raw, line)?;
        Err(Fault::NotText { key: key.to_owned() }.on_line(line))
    })
}

pub(super) fn list(raw: &str, line: usize, key: &str) -> Result<Vec<String>, Broken> {
    check_depth(raw, line)?;
    if let Ok(items) = value::<Option<Vec<Option<String>>>>(raw) {
        return Ok(items.into_iter().flatten().flatten().collect());
    }
    if let Ok(item) = value::<Option<String>>(raw) {
        return Ok(item.into_iter().collect());
    }
    well_formed(raw, line)?;
    Err(Fault::NotList { key: key.to_owned() }.on_line(line))
}

/// Checks that the frontmatter is valid YAML within our limits. Line numbers in errors assume that
/// the frontmatter starts on line 2 of its file.
pub(super) fn check(frontmatter: &str) -> Result<(), Broken> {
    well_formed(frontmatter, 2)
}

/// Rejects an entry that might be nested too deeply, without parsing it. Brackets inside strings
/// also count, so the computed depth may be too high but is never too low.
pub(super) fn check_depth(raw: &str, line: usize) -> Result<(), Broken> {
    let mut brackets = 0_usize;
    let mut indents: Vec<usize> = Vec::new();
    for (line_idx, text) in raw.lines().enumerate() {
        let node = text.trim_start_matches(' ');
        let indent = text.len() - node.len();
        if !node.is_empty() {
            indents.retain(|outer| *outer < indent);
            indents.push(indent);
        }
        let mut deepest = brackets;
        for byte in node.bytes() {
            match byte {
                b'[' | b'{' => brackets += 1,
                b']' | b'}' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(brackets);
        }
        if MAX_DEPTH < indents.len() + block_marks(node) + deepest {
            return Err(Fault::TooDeep.on_line(line + line_idx));
        }
    }
    Ok(())
}

fn block_marks(node: &str) -> usize {
    let mut marks = 0;
    let mut rest = node;
    while let Some(after) = rest.strip_prefix(['-', '?', ':'])
        && after.starts_with([' ', '\t'])
    {
        marks += 1;
        rest = after.trim_start_matches([' ', '\t']);
    }
    marks
}

fn value<T: DeserializeOwned + Default>(raw: &str) -> Result<T, Error> {
    let map: BTreeMap<String, T> = serde_saphyr::from_str_with_options(raw, options())?;
    Ok(map.into_values().next().unwrap_or_default())
}

fn well_formed(yaml: &str, first_line: usize) -> Result<(), Broken> {
    // A document that contains only comments is null rather than an empty map.
    type Entries = Option<BTreeMap<String, Untagged>>;
    let read = serde_saphyr::from_str_with_options::<Entries>(yaml, options());
    read.map(drop).map_err(|error| to_broken(&error, first_line))
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_documents: 1,
            // The map of entries adds one level of nesting.
            max_depth: MAX_DEPTH + 1,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
        reject_unsupported_tags: true,
        emit_comments: false,
        with_snippet: false,
    }
}

fn to_broken(error: &Error, first_line: usize) -> Broken {
    let line = error.location().and_then(|place| usize::try_from(place.line()).ok()).unwrap_or(1);
    let is_tag = |message: &str| message == Fault::Tag.to_string();
    let fault = if matches!(error, Error::UnsupportedTag { .. })
        || matches!(error, Error::Message { msg, .. } if is_tag(msg))
    {
        Fault::Tag
    } else if matches!(error, Error::UnknownAnchor { .. }) {
        Fault::Alias
    } else if matches!(error, Error::MergeKeyNotAllowed { .. }) {
        Fault::MergeKey
    } else if matches!(error, Error::Budget { breach: BudgetBreach::Anchors { .. }, .. }) {
        Fault::Anchor
    } else if matches!(error, Error::Budget { breach: BudgetBreach::Depth { .. }, .. }) {
        Fault::TooDeep
    } else {
        Fault::Yaml { reason: reason(error) }
    };
    fault.on_line(first_line + line.saturating_sub(1))
}

fn reason(error: &Error) -> String {
    let message = error.to_string();
    message[..message.rfind(" at line ").unwrap_or(message.len())].to_owned()
}

/// Accepts any value that contains no tags, and discards it.
struct Untagged;

impl<'de> Deserialize<'de> for Untagged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Tagged::<Node>::deserialize(deserializer)? {
            Tagged(Node, None) => Ok(Self),
            Tagged(Node, Some(_)) => Err(D::Error::custom(Fault::Tag)),
        }
    }
}

/// Accepts a value that may itself be tagged but contains no other tags.
struct Node;

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        while items.next_element::<Untagged>()?.is_some() {}
        Ok(Node)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        while entries.next_entry::<IgnoredAny, Untagged>()?.is_some() {}
        Ok(Node)
    }
}
