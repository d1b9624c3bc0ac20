//! Conversations with Nacre's own agent, for any number of clients: sessions, turns that run one after the other, and
//! what they tell.
//!
//! A client is somebody who sends lines of JSON and is sent lines of JSON; what carries them is not known here. A turn
//! belongs to its session and not to the client that began it: clients come and go, and what they miss is kept.

mod approvals;
mod asked;
mod asking;
mod attached;
mod base64;
mod client;
mod export;
mod follow;
mod items;
mod log;
mod memory;
mod pictures;
mod queue;
mod recovery;
mod remember;
mod requests;
mod sessions;
mod shared;
mod tell;
mod toolbox;
mod turn;
mod undo;

use std::path::PathBuf;
use std::sync::Arc;

use nacre_engine::record::CancelledBy;
use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;

pub use self::client::Client;
pub use self::export::save_export;
use self::shared::ChatShared;
use crate::host::{Environment, Shared};

/// A longer line is no request.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// The conversations of a process. Clones are the same ones.
#[derive(Clone)]
pub struct Chats {
    shared: Arc<ChatShared>,
}

/// How the conversations of a process are opened.
#[derive(Clone, Debug, Default)]
pub struct ChatOptions {
    /// What calls of this process share.
    pub shared: Shared,
    /// Answers for every model, for tests.
    pub script: Option<PathBuf>,
}

/// The folders that a client may name for its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workspaces {
    /// Any: the client is a process of the owner.
    Any,
    /// The roots of registered projects. No other path is looked at, whether it exists or not.
    Registered,
}

impl Chats {
    /// Everything runs on the runtime of `handle`, which somebody else drives.
    pub fn new(environment: Environment, options: ChatOptions, handle: Handle) -> Self {
        let ChatOptions { shared, script } = options;
        Self { shared: Arc::new(ChatShared::new(environment, shared, handle, script)) }
    }

    /// A new client that works in a folder unless it says otherwise. What it is sent goes to `out`.
    pub fn client(&self, folder: PathBuf, workspaces: Workspaces, out: Sender<Arc<str>>) -> Client {
        Client::new(Arc::clone(&self.shared), (folder, workspaces), out)
    }

    /// Turns that run or wait.
    pub fn n_turns(&self) -> usize {
        self.shared.turns().len()
    }

    /// Ends every turn, because the process does. Each says so before it is gone from `n_turns`.
    pub fn cancel_all(&self) {
        for turn in self.shared.turns() {
            turn.handle.cancel(CancelledBy::Shutdown);
        }
    }
}
