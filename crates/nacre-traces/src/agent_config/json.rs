//! JSON values with a fixed key order, formatted like the surrounding text.

use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(&'static str, Self)>),
}

impl Json {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// For comparisons that ignore the key order.
    pub(crate) fn to_value(&self) -> serde_json::Value {
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) newline: &'static str,
    pub(crate) unit: String,
    pub(crate) is_open: bool,
    pub(crate) is_spaced: bool,
}

impl Layout {
    pub(crate) fn blank(&self) -> &'static str {
        if self.is_spaced { " " } else { "" }
    }

    /// Formats an object member whose line is indented by `indent`.
    pub(crate) fn member(&self, key: &str, value: &Json, indent: &str) -> String {
        format!("{}:{}{}", string(key), self.blank(), self.value(value, indent))
    }

    /// Formats a value that starts on a line indented by `indent`.
    pub(crate) fn value(&self, value: &Json, indent: &str) -> String {
        match value {
            Json::Bool(value) => value.to_string(),
            Json::Number(value) => value.to_string(),
            Json::Text(text) => string(text),
            Json::List(items) => {
                let is_flat = |item: &Json| !matches!(item, Json::List(_) | Json::Map(_));
                let inner = format!("{indent}{}", self.unit);
                let parts: Vec<_> = items.iter().map(|item| self.value(item, &inner)).collect();
                let is_open = self.is_open && !items.iter().all(is_flat);
                self.enclose('[', ']', &parts, indent, is_open)
            }
            Json::Map(members) => {
                let inner = format!("{indent}{}", self.unit);
                let parts = members.iter().map(|(key, value)| self.member(key, value, &inner));
                self.enclose('{', '}', &parts.collect::<Vec<_>>(), indent, self.is_open)
            }
        }
    }

    fn enclose(
        &self,
        open: char,
        close: char,
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

pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
