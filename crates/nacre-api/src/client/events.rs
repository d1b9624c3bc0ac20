//! The stream of events, one after the other, until the server ends it.

use std::io::BufRead;

use super::connection::{Answer, Client, Route};
use super::error::ClientError;
use crate::wire::StreamEvent;

/// No event is longer.
const MAX_LINE_BYTES: u64 = 4 << 20;

/// What happens in the server, as it happens.
pub struct EventStream {
    answer: Answer,
    last_id: Option<String>,
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").field("last_id", &self.last_id).finish_non_exhaustive()
    }
}

impl EventStream {
    pub(super) fn open(client: &Client, task: Option<&str>) -> Result<Self, ClientError> {
        let route = Route { verb: "GET", path: "/api/events" };
        let extra: Vec<(&str, &str)> = task.into_iter().map(|task| ("task", task)).collect();
        let answer = client.open(&route, &(), (&extra, None, Some("text/event-stream")))?;
        match answer.status {
            200 => Ok(Self { answer, last_id: None }),
            status => Err(ClientError::Broken(format!("status {status}"))),
        }
    }

    /// The id of the event that was read last.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }
}

impl Iterator for EventStream {
    type Item = Result<StreamEvent, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut line = String::new();
            let mut bounded = std::io::Read::take(&mut self.answer.body, MAX_LINE_BYTES);
            match bounded.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some(Err(ClientError::Broken(error.to_string()))),
            }
            if let Some(id) = line.strip_prefix("id: ") {
                self.last_id = Some(id.trim_end().to_owned());
            }
            if let Some(data) = line.strip_prefix("data: ") {
                let event = serde_json::from_str(data);
                return Some(event.map_err(|error| ClientError::Broken(error.to_string())));
            }
        }
    }
}
