//! Where an operation reports what it does while it runs.
//!
//! One stream for all faces: a terminal draws bars and warnings from it, a server sends it on. With it comes the token by
//! which the caller stops the operation.

use std::fmt;
use std::sync::Arc;

use nacre_api::wire::{Event, Warning};

use crate::cancel::Cancel;

/// Takes the events of one call, in order, and can stop it.
#[derive(Clone)]
pub struct Events {
    listener: Arc<dyn Fn(Event) + Send + Sync>,
    cancel: Cancel,
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}

impl Events {
    pub fn new(listener: impl Fn(Event) + Send + Sync + 'static) -> Self {
        Self { listener: Arc::new(listener), cancel: Cancel::new() }
    }

    /// The same, for a caller that may stop the operation.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// Tells whether the caller wants the operation stopped.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// For a caller that wants the report alone.
    pub fn ignored() -> Self {
        Self::new(drop)
    }

    pub fn emit(&self, event: Event) {
        (self.listener)(event);
    }

    /// Tells of something that a person should know.
    pub fn warning(&self, message: impl fmt::Display, hint: Option<&str>) {
        let hint = hint.map(str::to_owned);
        self.emit(Event::Warning(Warning { message: message.to_string(), hint }));
    }

    /// Tells what is being done now.
    pub fn step(&self, text: impl Into<String>) {
        self.emit(Event::Step { text: text.into() });
    }

    /// Tells how far it is.
    pub fn progress(&self, done: u64, total: u64, bytes: u64) {
        self.emit(Event::Progress { done, total, bytes });
    }

    /// Tells what an agent does.
    pub fn note(&self, text: impl Into<String>) {
        self.emit(Event::Note { text: text.into() });
    }
}
