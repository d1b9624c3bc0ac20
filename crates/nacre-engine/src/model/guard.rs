//! Words of a person's own that leave this machine in no request.
//!
//! It hangs in `Models`, so that no way to a model leads around it. Answers come back as they are: a model cannot say
//! a word that it was not told, and what is kept of them is redacted where it is kept.

use std::sync::Arc;

use nacre_core::base::redact::ExtraWords;
use serde_json::Value;

use super::content::{Arguments, Content};
use super::provider::{Call, Generation, Provider, Sink};
use super::request::{Message, Request};

/// A provider that is sent no word of the list.
pub(super) struct Guarded {
    provider: Arc<dyn Provider>,
    words: Arc<ExtraWords>,
}

impl Guarded {
    pub(super) fn new(provider: Arc<dyn Provider>, words: Arc<ExtraWords>) -> Self {
        Self { provider, words }
    }
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
                Arguments::Object(value) => clean_value(value, words),
                Arguments::Malformed { text, .. } => clean(text, words),
            },
            // The model's own, and signed: another text would be refused.
            Content::Reasoning(_) | Content::HiddenReasoning(_) => {}
            // No text to look through; a person chose to send it.
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

fn clean_value(value: &mut Value, words: &ExtraWords) {
    match value {
        Value::String(text) => clean(text, words),
        Value::Array(items) => items.iter_mut().for_each(|item| clean_value(item, words)),
        Value::Object(fields) => fields.values_mut().for_each(|item| clean_value(item, words)),
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
