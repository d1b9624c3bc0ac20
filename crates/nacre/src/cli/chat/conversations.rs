//! The connection to the chat agent. The agent runs in the local server if the server has the same
//! version and settings, and in this process otherwise.

use std::path::PathBuf;
use std::time::Duration;

use nacre_ops::chat::Chats;
use nacre_ops::host::{Shared, git_root};
use nacre_ops::{Host, OpError, Result};
use nacre_server::client::Client;
use nacre_types::RpcCall;
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{channel, unbounded_channel};

use crate::acp::{Link, MAX_BUFFERED, connect};

const END_PERIOD: Duration = Duration::from_millis(5);

pub(super) struct Conversations {
    pub(super) runtime: Runtime,
    agent: Agent,
    folder: PathBuf,
}

enum Agent {
    Here(Chats),
    Server(Client),
}

impl Conversations {
    pub(super) fn open(host: &Host, server: Option<Client>, script: Option<&str>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| OpError::failed("Could not start the async runtime").because(error))?;
        let agent = match server {
            Some(client) => Agent::Server(client),
            None => {
                let script = script.map(|file| host.environment.absolute(file.as_ref()));
                let handle = runtime.handle().clone();
                let environment = host.environment.clone();
                Agent::Here(nacre_ops::chat::open(environment, Shared::default(), script, handle))
            }
        };
        let folder = &host.environment.folder;
        let project = host.project.as_ref().map(|project| project.path.clone());
        let folder =
            project.or_else(|| git_root(&host.person, folder)).unwrap_or_else(|| folder.clone());
        Ok(Self { runtime, agent, folder })
    }

    /// Returns the directory that sessions work in: the project, the repository or the current
    /// directory.
    pub(super) fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    /// Returns whether turns continue after this process exits.
    pub(super) fn is_served(&self) -> bool {
        matches!(self.agent, Agent::Server(_))
    }

    pub(super) fn chats(&self) -> Option<Chats> {
        match &self.agent {
            Agent::Here(chats) => Some(chats.clone()),
            Agent::Server(_) => None,
        }
    }

    pub(super) fn link(&self) -> Result<Link> {
        let connection = match &self.agent {
            Agent::Here(chats) => {
                let _runtime = self.runtime.enter();
                connect(chats, self.folder.clone())
            }
            Agent::Server(client) => {
                let (requests, received) = unbounded_channel();
                let (sender, messages) = channel(MAX_BUFFERED);
                let opened = self.runtime.block_on(client.open_chat(received, sender));
                opened.map_err(|error| {
                    error.or_hint("Chat without the server: nacre chat --local")
                })?;
                (requests, messages)
            }
        };
        Ok(self.runtime.block_on(Link::open(connection, "nacre chat"))?)
    }

    pub(super) fn ask<R: DeserializeOwned>(&self, call: RpcCall) -> Result<R> {
        let mut link = self.link()?;
        Ok(self.runtime.block_on(link.ask(call))?)
    }

    /// Stops the turns running in this process and waits for them to end.
    pub(super) fn close(self) {
        if let Agent::Here(chats) = &self.agent {
            chats.cancel_all();
            self.runtime.block_on(async {
                while chats.n_turns() > 0 {
                    tokio::time::sleep(END_PERIOD).await;
                }
            });
        }
        self.runtime.shutdown_background();
    }
}
