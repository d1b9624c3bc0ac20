//! The provider interface, which makes one attempt to get a response. `Guarded` wraps a provider
//! and redacts words that must not leave this machine.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use nacre_base::redact::ExtraWords;
use serde_json::Value;

use crate::model::conversation::{Arguments, Content, Message, ModelEvent, Request, Response};
use crate::model::error::ModelError;
use crate::model::roles::ModelRef;

/// Receives events as they arrive. It must not block, because it delays the next event.
pub type Sink<'s> = dyn FnMut(ModelEvent) + Send + 's;

/// A running attempt. Dropping it closes the connection.
pub type Generation<'a> = Pin<Box<dyn Future<Output = Result<Response, ModelError>> + Send + 'a>>;

pub trait Provider: Send + Sync {
    /// Makes one attempt, which ends with exactly one response or one error.
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a>;

    /// Returns whether requests may contain images. The model may still reject them.
    fn takes_images(&self) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub model: &'a ModelRef,
    pub request: &'a Request,
    pub limits: &'a Limits,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum time from the request to the first piece of the response.
    pub first_token: Duration,
    /// Maximum time between two pieces of the response. A keep-alive counts as a piece.
    pub next_token: Duration,
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_token: Duration::from_secs(120),
            next_token: Duration::from_secs(60),
            answer_bytes: 8 << 20,
        }
    }
}

/// Wraps a provider and redacts the listed words from every request.
pub(super) struct Guarded {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) words: Arc<ExtraWords>,
}

impl Provider for Guarded {
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a> {
        Box::pin(async move {
            let request = without_words(call.request, &self.words);
            self.provider.generate(Call { request: &request, ..call }, sink).await
        })
    }

    fn takes_images(&self) -> bool {
        self.provider.takes_images()
    }
}

fn without_words(request: &Request, words: &ExtraWords) -> Request {
    let mut request = request.clone();
    clean(&mut request.system, words);
    for content in
        request.messages.iter_mut().flat_map(|message: &mut Message| &mut message.content)
    {
        match content {
            Content::Text(text) => clean(text, words),
            Content::ToolResult(result) => clean(&mut result.text, words),
            Content::ToolUse(call) => match &mut call.arguments {
                Arguments::Object(value) => {
                    edit_strings(value, &mut |text| clean(text, words));
                }
                Arguments::Malformed { text, .. } => clean(text, words),
            },
            // Reasoning is signed by the model's provider, which would reject modified text.
            Content::Reasoning(_) | Content::HiddenReasoning(_) => {}
            // Image contents cannot be searched, and the user chose to send the image.
            Content::Image(_) => {}
        }
    }
    request
}

fn clean(text: &mut String, words: &ExtraWords) {
    if let std::borrow::Cow::Owned(redacted) = words.redact(text) {
        *text = redacted;
    }
}

/// Calls `edit` with every string value in a JSON document.
pub(crate) fn edit_strings(value: &mut Value, edit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => edit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| edit_strings(item, edit)),
        Value::Object(fields) => fields.values_mut().for_each(|item| edit_strings(item, edit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{Role, ToolCall, ToolResult, ToolStatus};

    #[test]
    fn no_part_of_a_request_holds_a_word_of_the_list() {
        let words = ExtraWords::new(&["Acme Corp".to_owned()]);
        let mut request = Request::new(Role::Ask, "You work for Acme Corp.", "Who is Acme Corp?");
        let call = ToolCall {
            id: "1".to_owned(),
            name: "file_search".to_owned(),
            arguments: Arguments::Object(json!({ "pattern": ["Acme Corp"] })),
        };
        let malformed = ToolCall {
            arguments: Arguments::Malformed {
                text: "{\"a\": \"Acme Corp".to_owned(),
                error: String::new(),
            },
            ..call.clone()
        };
        let content = vec![Content::ToolUse(call), Content::ToolUse(malformed)];
        request.messages.push(Message { content, ..Message::user("") });
        request.messages.push(Message::results(vec![ToolResult {
            call_id: "1".to_owned(),
            text: "src/lib.rs: Acme Corp".to_owned(),
            status: ToolStatus::Done,
        }]));
        let clean = without_words(&request, &words);
        assert!(!format!("{clean:?}").contains("Acme"), "{clean:?}");
        assert!(clean.system.contains("[redacted:extra]"));
    }
}
