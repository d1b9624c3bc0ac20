//! Finds the position of every value in JSONC text without building a tree of values. `value_at`
//! builds a single value for comparison.

use std::ops::Range;

/// No real settings file is nested this deeply.
const MAX_DEPTH: usize = 128;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SyntaxError {
    pub line: usize,
    pub message: &'static str,
}

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) root: Option<Node>,
    pub(crate) comments: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: NodeKind,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Object(Vec<Child>),
    Array(Vec<Child>),
    Scalar,
}

#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) key: Option<String>,
    pub(crate) start: usize,
    pub(crate) value: Node,
    pub(crate) comma: Option<usize>,
}

impl Node {
    pub(crate) fn children(&self) -> &[Child] {
        match &self.kind {
            NodeKind::Object(children) | NodeKind::Array(children) => children,
            NodeKind::Scalar => &[],
        }
    }

    /// Returns the last member with this key if there are duplicates, as most JSON parsers do.
    pub(crate) fn member(&self, key: &str) -> Option<&Child> {
        let NodeKind::Object(children) = &self.kind else { return None };
        children.iter().rfind(|child| child.key.as_deref() == Some(key))
    }

    pub(crate) fn at<K: AsRef<str>>(&self, keys: &[K]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| Some(&node.member(key.as_ref())?.value))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.kind, NodeKind::Array(_))
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self.kind, NodeKind::Object(_))
    }
}

impl Document {
    pub(crate) fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, comments: Vec::new() };
        if text.starts_with('\u{feff}') {
            parser.at = '\u{feff}'.len_utf8();
        }
        parser.skip()?;
        let root = parser.peek().map(|_| parser.value(0)).transpose()?;
        parser.skip()?;
        match parser.peek() {
            None => Ok(Self { root, comments: parser.comments }),
            Some(_) => Err(parser.error("unexpected text after the end of the value")),
        }
    }

    pub(crate) fn has_comment(&self, span: &Range<usize>) -> bool {
        self.comments.iter().any(|comment| span.start <= comment.start && comment.end <= span.end)
    }
}

/// Parses a document. Returns `None` if it is invalid or empty.
pub fn parse_jsonc(text: &str) -> Option<serde_json::Value> {
    let document = Document::parse(text).ok()?;
    document.root.map(|root| value_at(text, &root))
}

pub(crate) fn value_at(text: &str, node: &Node) -> serde_json::Value {
    match &node.kind {
        NodeKind::Scalar => serde_json::from_str(&text[node.span.clone()]).unwrap_or_default(),
        NodeKind::Array(items) => items.iter().map(|item| value_at(text, &item.value)).collect(),
        NodeKind::Object(members) => {
            let pairs = members.iter().map(|member| {
                (member.key.clone().unwrap_or_default(), value_at(text, &member.value))
            });
            serde_json::Value::Object(pairs.collect())
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    comments: Vec<Range<usize>>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn error(&self, message: &'static str) -> SyntaxError {
        let before = &self.bytes[..self.at.min(self.bytes.len())];
        SyntaxError { line: 1 + before.iter().filter(|byte| **byte == b'\n').count(), message }
    }

    fn skip(&mut self) -> Result<(), SyntaxError> {
        loop {
            match (self.peek(), self.bytes.get(self.at + 1)) {
                (Some(b' ' | b'\t' | b'\r' | b'\n'), _) => self.at += 1,
                (Some(b'/'), Some(b'/')) => {
                    let rest = &self.text[self.at..];
                    let line = rest.find('\n').unwrap_or(rest.len());
                    let end = self.at + rest[..line].trim_end_matches('\r').len();
                    self.comments.push(self.at..end);
                    self.at = end;
                }
                (Some(b'/'), Some(b'*')) => {
                    let Some(length) = self.text[self.at + 2..].find("*/") else {
                        return Err(self.error("unterminated comment"));
                    };
                    let end = self.at + 2 + length + 2;
                    self.comments.push(self.at..end);
                    self.at = end;
                }
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error("value is too deeply nested"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => NodeKind::Object(self.children(b'}', depth)?),
            Some(b'[') => NodeKind::Array(self.children(b']', depth)?),
            Some(b'"') => self.string().map(|()| NodeKind::Scalar)?,
            Some(_) => self.word().map(|()| NodeKind::Scalar)?,
            None => return Err(self.error("expected a value")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn children(&mut self, close: u8, depth: usize) -> Result<Vec<Child>, SyntaxError> {
        self.at += 1;
        let mut children = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(children);
            }
            let start = self.at;
            let key = if close == b'}' { Some(self.key()?) } else { None };
            let value = self.value(depth + 1)?;
            self.skip()?;
            let comma = match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    Some(self.at - 1)
                }
                Some(byte) if byte == close => None,
                _ => return Err(self.error("expected a comma or a closing bracket")),
            };
            children.push(Child { key, start, value, comma });
        }
    }

    fn key(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a key in double quotes"));
        }
        self.string()?;
        let key = serde_json::from_str(&self.text[start..self.at]);
        let key = key.map_err(|_| self.error("key is not a valid JSON string"))?;
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.error("expected a colon"));
        }
        self.at += 1;
        self.skip()?;
        Ok(key)
    }

    fn string(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break self.at += 1,
                Some(b'\\') => self.at += 2,
                Some(b'\n') | None => return Err(self.error("unterminated string")),
                Some(_) => self.at += 1,
            }
        }
        let is_valid = self.text.get(start..self.at).is_some_and(|text| {
            // Raw tabs inside strings are accepted, because only very strict parsers reject them.
            serde_json::from_str::<String>(&text.replace('\t', " ")).is_ok()
        });
        if is_valid { Ok(()) } else { Err(self.error("invalid string")) }
    }

    fn word(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        match serde_json::from_str::<serde_json::Value>(&self.text[start..self.at]) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.error("not a JSON value")),
        }
    }
}
