//! What happens to the screen, and what the screen wants done.

use crossterm::event::KeyEvent;
use nacre_api::wire::{RpcMessage, RpcRequest};

/// Something that happened. When it did is said beside it, in milliseconds since the screen was opened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Key(KeyEvent),
    Paste(String),
    Resize {
        columns: u16,
        rows: u16,
    },
    Message(Box<RpcMessage>),
    /// Nothing will come from the agent any more.
    Closed,
    /// The files of the workspace, for completion.
    Files(Vec<String>),
    /// An action outside of the screen ended, with what there is to say of it.
    Outside(Result<Told, String>),
    /// Time went by.
    Tick,
}

/// What is to be done after something happened.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Send(Box<RpcRequest>),
    Outside(Outside),
    /// Draw every cell again: something else wrote to the terminal.
    Redraw,
    Quit,
}

/// What is done by whoever opened the screen, not by the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Reads a memory, to be shown.
    OpenMemory { id: String },
    /// Lets the person change a memory in their editor.
    EditMemory { id: String },
    /// Keeps an exported session in a file.
    SaveExport { session: String, transcript: String },
}

impl Outside {
    /// Whether it needs the terminal for itself.
    pub(crate) fn takes_terminal(&self) -> bool {
        match self {
            Self::EditMemory { .. } => true,
            Self::OpenMemory { .. } | Self::SaveExport { .. } => false,
        }
    }
}

/// What there is to say of an action outside of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// A line in the transcript.
    Note(String),
    /// A text to be read.
    Page { title: String, text: String },
}
