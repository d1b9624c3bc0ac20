//! Chat completions, as OpenAI invented them and many servers speak them.
//!
//! What differs from server to server is data (`Habits`), one row a known server; an unknown one gets the habits that
//! most servers have. What they do differently in their answers is understood of all of them.

mod decode;
mod encode;
mod think;

use serde_json::Value;

use super::hosted::{Decoder, Dialect, OutputMode, TextualTools};
use super::provider::Call;
use super::schema::Bounds;
use super::secret::Secret;

/// The dialect of chat completions.
#[derive(Debug)]
pub(super) struct OpenAi {
    habits: Habits,
}

impl OpenAi {
    /// Takes the habits of a server by the name of its provider.
    pub(super) fn of_provider(name: &str) -> Self {
        let row = HABITS.iter().find(|row| row.0 == name);
        Self { habits: row.map_or(COMMON, |row| row.1) }
    }
}

/// How a server differs from others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    output: OutputMode,
    bounds: Bounds,
    textual_tools: TextualTools,
    max_tokens: &'static str,
    effort: EffortField,
    cache_key: CacheKey,
}

/// How a server is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EffortField {
    None,
    /// `reasoning_effort: "low"`
    Plain,
    /// `reasoning: { effort: "low" }`
    Nested,
    /// `thinking: { type: "enabled" }`
    Switch,
}

/// Whether requests may name what they share a beginning with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CacheKey {
    Sent,
    NotSent,
}

/// What most servers do.
const COMMON: Habits = Habits {
    output: OutputMode::Native,
    bounds: Bounds::Kept,
    textual_tools: TextualTools::Understood,
    max_tokens: "max_tokens",
    effort: EffortField::None,
    cache_key: CacheKey::NotSent,
};

const HABITS: &[(&str, Habits)] = &[
    (
        "openai",
        Habits {
            bounds: Bounds::Dropped,
            textual_tools: TextualTools::Ignored,
            max_tokens: "max_completion_tokens",
            effort: EffortField::Plain,
            cache_key: CacheKey::Sent,
            ..COMMON
        },
    ),
    (
        "openrouter",
        Habits {
            bounds: Bounds::Dropped,
            textual_tools: TextualTools::Ignored,
            effort: EffortField::Nested,
            ..COMMON
        },
    ),
    (
        "zai",
        Habits {
            output: OutputMode::ForcedTool,
            textual_tools: TextualTools::Ignored,
            effort: EffortField::Switch,
            ..COMMON
        },
    ),
];

impl Dialect for OpenAi {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, String)> {
        key.map(Secret::bearer).into_iter().collect()
    }

    fn output_mode(&self, _model: &str) -> OutputMode {
        self.habits.output
    }

    fn textual_tools(&self) -> TextualTools {
        self.habits.textual_tools
    }

    fn body(&self, call: &Call<'_>, mode: OutputMode) -> Value {
        encode::body(&self.habits, call, mode)
    }

    fn decoder(&self, call: &Call<'_>) -> Box<dyn Decoder> {
        Box::new(decode::OpenAiDecoder::new(call.request.messages.len()))
    }
}
