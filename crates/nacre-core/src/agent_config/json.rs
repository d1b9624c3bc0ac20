//! JSON values in an order of our choice, written in the style of the text around them.

use std::fmt::Write as _;

/// A value to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(&'static str, Self)>),
}

impl Json {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The value as others compare it: keys have no order.
    pub(super) fn to_value(&self) -> serde_json::Value {
        match self {
            Self::Bool(value) => (*value).into(),
            Self::Number(value) => (*value).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Map(members) => {
                let pairs =
                    members.iter().map(|(key, value)| ((*key).to_owned(), value.to_value()));
                serde_json::Value::Object(pairs.collect())
            }
        }
    }
}

/// How a text is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) newline: &'static str,
    /// One step of indentation.
    pub(super) unit: String,
    /// Whether values that hold others take several lines.
    pub(super) is_open: bool,
    /// Whether a blank follows a colon and a comma.
    pub(super) is_spaced: bool,
}

impl Layout {
    /// The blank after a comma or colon.
    pub(super) fn blank(&self) -> &'static str {
        if self.is_spaced { " " } else { "" }
    }

    /// A member of an object, the way it is written at `indent`.
    pub(super) fn member(&self, key: &str, value: &Json, indent: &str) -> String {
        format!("{}:{}{}", string(key), self.blank(), self.value(value, indent))
    }

    /// A value that begins somewhere on a line of this indentation.
    pub(super) fn value(&self, value: &Json, indent: &str) -> String {
        match value {
            Json::Bool(value) => value.to_string(),
            Json::Number(value) => value.to_string(),
            Json::Text(text) => string(text),
            Json::List(items) => {
                let is_flat = |item: &Json| !matches!(item, Json::List(_) | Json::Map(_));
                let inner = format!("{indent}{}", self.unit);
                let parts: Vec<_> = items.iter().map(|item| self.value(item, &inner)).collect();
                let is_open = self.is_open && !items.iter().all(is_flat);
                self.enclosed(('[', ']'), &parts, indent, is_open)
            }
            Json::Map(members) => {
                let inner = format!("{indent}{}", self.unit);
                let parts = members.iter().map(|(key, value)| self.member(key, value, &inner));
                self.enclosed(('{', '}'), &parts.collect::<Vec<_>>(), indent, self.is_open)
            }
        }
    }

    fn enclosed(
        &self,
        (open, close): (char, char),
        parts: &[String],
        indent: &str,
        is_open: bool,
    ) -> String {
        if !is_open || parts.is_empty() {
            return format!("{open}{}{close}", parts.join(&format!(",{}", self.blank())));
        }
        let mut text = String::from(open);
        for (idx, part) in parts.iter().enumerate() {
            let comma = if idx + 1 < parts.len() { "," } else { "" };
            let _ = write!(text, "{}{indent}{}{part}{comma}", self.newline, self.unit);
        }
        let _ = write!(text, "{}{indent}{close}", self.newline);
        text
    }
}

/// A text as a JSON string.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
