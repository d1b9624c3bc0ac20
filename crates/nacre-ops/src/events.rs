//! A running operation's events and its cancellation token. All front ends receive the same stream:
//! a terminal draws progress bars, and a server forwards the events.

use std::fmt;
use std::sync::Arc;

use nacre_engine::model::Cancel;
use nacre_types::{Event, Warning};

use crate::error::{OpError, Result};

/// Receives the events of one call in order, and can cancel the call.
#[derive(Clone)]
pub struct Events {
    listener: Arc<dyn Fn(Event) + Send + Sync>,
    cancel: Cancel,
}

nacre_base::debug_only!(Events {});

impl Events {
    pub fn new(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self { listener: Arc::new(listener), cancel: Cancel::new() }
    }

    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub fn check_cancelled(&self) -> Result<()> {
        if self.cancel.is_cancelled() { Err(OpError::cancelled()) } else { Ok(()) }
    }

    /// Discards all events.
    pub fn discard() -> Self {
        Self::new(drop)
    }

    pub fn emit(&self, event: Event) {
        (self.listener)(event);
    }

    pub fn warning(&self, message: impl fmt::Display, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.emit(Event::Warning(Warning { message: message.to_string(), hint }));
    }

    /// Reports an error that does not end the operation.
    pub(crate) fn warn(&self, error: &OpError) {
        self.warning(&error.message, error.hints.first().map(String::as_str));
    }

    pub fn step(&self, text: impl Into<String>) {
        self.emit(Event::Step { text: text.into() });
    }

    pub fn progress(&self, done: u64, total: u64, bytes: u64) {
        self.emit(Event::Progress { done, total, bytes });
    }

    pub fn note(&self, text: impl Into<String>) {
        self.emit(Event::Note { text: text.into() });
    }
}

#[cfg(test)]
mod tests {
    use nacre_types::ErrorCode;

    use super::*;

    #[test]
    fn a_cancelled_operation_fails_its_next_check() {
        let cancel = Cancel::new();
        let events = Events::discard().with_cancel(cancel.clone());
        assert!(events.check_cancelled().is_ok());
        cancel.cancel();
        assert_eq!(events.clone().check_cancelled().unwrap_err().code, ErrorCode::Cancelled);
    }
}
