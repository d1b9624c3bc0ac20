//! The screen's events, and the effects that it requests.

use crossterm::event::KeyEvent;
use nacre_types::{Failure, RpcMessage, RpcRequest};
use tokio::sync::mpsc::{Receiver, UnboundedSender};

#[derive(Clone, Debug)]
pub(crate) enum ScreenEvent {
    Key(KeyEvent),
    Paste(String),
    Resize { columns: u16, rows: u16 },
    Message(Box<RpcMessage>),
    Closed,
    Files(Vec<String>),
    Outside(Result<OutsideResult, Failure>),
    Tick,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Send(Box<RpcRequest>),
    Outside(Outside),
    /// Redraws all cells, because another program wrote to the terminal.
    Redraw,
    Quit,
}

/// Actions that the caller performs for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    OpenMemory { id: String },
    EditMemory { id: String },
    SaveExport { session: String, transcript: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutsideResult {
    Note(String),
    Page { title: String, text: String },
}

#[derive(Debug)]
pub(crate) struct ChatLink {
    pub(crate) requests: UnboundedSender<RpcRequest>,
    pub(crate) messages: Receiver<RpcMessage>,
}
