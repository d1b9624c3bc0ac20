//! Where the events of a read go, and how much of each is wanted there.
//!
//! Most bytes of a trace belong to tools. Who keeps only what was said need not pay for decoding and
//! redacting the rest, so the reader is told before it starts.

use super::event::{Event, EventKind};

/// Which texts a caller keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All of them.
    Everything,
    /// Those of user and assistant events. All other events still come, in their place and number,
    /// but without a text; facts and reports are the same, except that a text which was not read
    /// never counts as cut.
    Said,
    /// As `Said`, and a trace of lines is read only until its folder is known and a person has spoken in it. Facts and
    /// report are those of the part that was read.
    Opening,
}

impl Detail {
    /// Whether the texts of events of this kind are wanted.
    pub(super) fn wants(self, kind: EventKind) -> bool {
        match (self, kind) {
            (Self::Everything, _)
            | (Self::Said | Self::Opening, EventKind::User | EventKind::Assistant) => true,
            (
                Self::Said | Self::Opening,
                EventKind::Reasoning
                | EventKind::ToolCall
                | EventKind::ToolResult
                | EventKind::Summary
                | EventKind::Compaction
                | EventKind::Meta,
            ) => false,
        }
    }
}

/// Takes the events of one read, in order.
pub struct Sink<'a> {
    detail: Detail,
    each: &'a mut dyn FnMut(Event),
}

impl<'a> Sink<'a> {
    pub fn new(detail: Detail, each: &'a mut dyn FnMut(Event)) -> Self {
        Self { detail, each }
    }

    /// Wants every text.
    pub fn everything(each: &'a mut dyn FnMut(Event)) -> Self {
        Self::new(Detail::Everything, each)
    }

    /// Wants only what people and the assistant said.
    pub fn said(each: &'a mut dyn FnMut(Event)) -> Self {
        Self::new(Detail::Said, each)
    }

    /// Wants to know where the session was and whether a person spoke in it.
    pub fn opening(each: &'a mut dyn FnMut(Event)) -> Self {
        Self::new(Detail::Opening, each)
    }

    pub fn detail(&self) -> Detail {
        self.detail
    }

    pub fn take(&mut self, event: Event) {
        (self.each)(event);
    }
}
