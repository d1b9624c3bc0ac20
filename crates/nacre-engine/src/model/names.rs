//! What models and the jobs they are given are called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The name of the provider that follows a script.
const SCRIPTED: &str = "scripted";

/// A model at a provider: `anthropic/claude-sonnet-4-6`, `openrouter/qwen/qwen3-coder`, `scripted`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelRef {
    provider: String,
    model: String,
}

/// A text that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a model; write `provider/model`")]
pub struct BadModelRef(String);

impl ModelRef {
    /// The model of the provider that follows a script.
    pub fn scripted() -> Self {
        Self { provider: SCRIPTED.to_owned(), model: String::new() }
    }

    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// The model's name as its provider spells it; empty for a script.
    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn is_scripted(&self) -> bool {
        self.provider == SCRIPTED
    }
}

impl FromStr for ModelRef {
    type Err = BadModelRef;

    fn from_str(text: &str) -> Result<Self, BadModelRef> {
        if text == SCRIPTED {
            return Ok(Self::scripted());
        }
        let is_plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control())
        };
        match text.split_once('/') {
            Some((provider, model))
                if is_plain(provider) && is_plain(model) && provider != SCRIPTED =>
            {
                Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
            }
            Some(_) | None => Err(BadModelRef(text.escape_debug().collect())),
        }
    }
}

impl TryFrom<String> for ModelRef {
    type Error = BadModelRef;

    fn try_from(text: String) -> Result<Self, BadModelRef> {
        text.parse()
    }
}

impl From<ModelRef> for String {
    fn from(model: ModelRef) -> Self {
        model.to_string()
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_scripted() {
            return f.write_str(SCRIPTED);
        }
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// The jobs that a model can be set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Lead,
    Explorer,
    Extract,
    Summarize,
    Ask,
    Chat,
}

impl Role {
    pub const ALL: [Self; 6] =
        [Self::Lead, Self::Explorer, Self::Extract, Self::Summarize, Self::Ask, Self::Chat];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lead => "lead",
            Self::Explorer => "explorer",
            Self::Extract => "extract",
            Self::Summarize => "summarize",
            Self::Ask => "ask",
            Self::Chat => "chat",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for text in ["anthropic/claude-sonnet-4-6", "openrouter/qwen/qwen3-coder:free", "scripted"]
        {
            assert_eq!(text.parse::<ModelRef>().unwrap().to_string(), text);
        }
        let model: ModelRef = "openrouter/qwen/qwen3".parse().unwrap();
        assert_eq!((model.provider(), model.model()), ("openrouter", "qwen/qwen3"));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", "gpt", "/x", "x/", "a b/c", "a/b\nc", "scripted/x"] {
            assert!(text.parse::<ModelRef>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn roles_are_read_and_written_alike() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
        assert_eq!(Role::parse("leader"), None);
    }
}
