//! Shows what a run folder keeps of the talk with models.

use nacre_api::wire::{MessageRole, RunMessage, RunMessagesReport, RunMessagesRequest};
use nacre_engine::flows::messages::{self, RunMessages, read_messages};

use super::show::find;
use crate::error::OpError;
use crate::host::Host;

pub fn messages(host: &Host, request: &RunMessagesRequest) -> Result<RunMessagesReport, OpError> {
    let store = host.store_to_write(None)?.store;
    let id = find(&store, &request.run)?;
    let RunMessages { messages, n_left_out } = read_messages(&store, &id)?;
    Ok(RunMessagesReport {
        run: id.to_string(),
        messages: messages.into_iter().map(message).collect(),
        left_out: n_left_out,
    })
}

fn message(of: messages::RunMessage) -> RunMessage {
    let messages::RunMessage { role, text, at, tool } = of;
    let role = match role {
        messages::MessageRole::User => MessageRole::User,
        messages::MessageRole::Assistant => MessageRole::Assistant,
        messages::MessageRole::Tool => MessageRole::Tool,
        messages::MessageRole::System => MessageRole::System,
    };
    RunMessage { role, text, at, tool }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test plays the model of a run")]

    use std::fs;

    use nacre_api::wire::{ErrorCode, SyncRequest};

    use super::*;
    use crate::events::Events;
    use crate::operations::sync::sync;
    use crate::operations::testing::Place;

    #[test]
    fn a_run_without_a_model_has_no_messages() {
        let place = Place::new();
        place.talk("one", "Always use pnpm here, never npm.");
        let host = place.host();
        sync(&host, &SyncRequest::default(), &Events::ignored()).unwrap();
        let asked = |run: &str| messages(&host, &RunMessagesRequest { run: run.to_owned() });
        let found = asked("sync-").unwrap();
        assert_eq!((found.messages.len(), found.left_out), (0, 0));

        let metrics =
            place.root().join("work/.nacre/workspace").join(&found.run).join("metrics.json");
        let text = fs::read_to_string(&metrics).unwrap();
        fs::write(&metrics, text.replace("\"model_calls\": 0", "\"model_calls\": 1")).unwrap();
        let found = asked(&found.run).unwrap();
        assert_eq!(found.messages.len(), 1, "what the log begins with");
        assert_eq!(found.messages[0].role, MessageRole::System);
        assert_eq!(asked("sync-none").unwrap_err().code, ErrorCode::NotFound);
    }
}
