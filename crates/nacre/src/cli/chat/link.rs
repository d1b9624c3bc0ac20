//! The line to the agent: requests go in, messages come out. The agent is in the server of this home, where one runs that would do
//! the same, else in this process.

use std::path::PathBuf;

use nacre_api::client::Client;
use nacre_api::wire::{HelloRequest, RPC_VERSION, RpcCall};
use nacre_ops::chat::{ChatOptions, Chats};
use nacre_ops::host::git_root;
use nacre_ops::{Host, OpError};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{channel, unbounded_channel};

use super::carry::{WAITING, carry};
use super::line::{Connection, Line};
use super::served;

/// The conversations of a home, and the threads that they are carried on.
pub(crate) struct Conversations {
    pub(crate) runtime: Runtime,
    agent: Agent,
    folder: PathBuf,
}

/// Where the agent is.
enum Agent {
    Here(Chats),
    Server(Client),
}

impl Conversations {
    /// Conversations with the agent of the server, or with one in this process.
    pub(crate) fn open(
        host: &Host,
        server: Option<Client>,
        script: Option<&str>,
    ) -> Result<Self, OpError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| OpError {
                causes: vec![error.to_string()],
                ..OpError::failed("Cannot start the async runtime")
            })?;
        let agent = match server {
            Some(client) => Agent::Server(client),
            None => {
                let script = script.map(|file| host.environment.absolute(file.as_ref()));
                let options = ChatOptions { script, ..ChatOptions::default() };
                let handle = runtime.handle().clone();
                Agent::Here(Chats::new(host.environment.clone(), options, handle))
            }
        };
        Ok(Self { runtime, agent, folder: workspace(host) })
    }

    /// The folder that sessions work in.
    pub(crate) fn folder(&self) -> String {
        self.folder.display().to_string()
    }

    /// Whether turns go on when this process is gone.
    pub(crate) fn goes_on(&self) -> bool {
        matches!(self.agent, Agent::Server(_))
    }

    /// Makes new lines to the agent of this process, on which nobody has greeted yet, for clients that work in a folder.
    pub(crate) fn connector(&self) -> impl Fn(PathBuf) -> Connection + Send + Sync + 'static {
        let chats = self.chats();
        let runtime = self.runtime.handle().clone();
        move |folder| {
            let (requests, asked) = unbounded_channel();
            let (tell, messages) = channel(WAITING);
            if let Some(chats) = chats.clone() {
                runtime.spawn(carry(chats, folder, asked, tell));
            }
            (requests, messages)
        }
    }

    fn chats(&self) -> Option<Chats> {
        match &self.agent {
            Agent::Here(chats) => Some(chats.clone()),
            Agent::Server(_) => None,
        }
    }

    /// Ends every turn of this process; each says so before it is gone.
    pub(crate) fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let chats = self.chats();
        move || {
            if let Some(chats) = &chats {
                chats.cancel_all();
            }
        }
    }

    /// A new line, after both sides have greeted.
    pub(crate) fn line(&self) -> Result<Line, OpError> {
        let (requests, messages) = match &self.agent {
            Agent::Here(_) => self.connector()(self.folder.clone()),
            Agent::Server(client) => served::connect(client)?,
        };
        let mut line = Line { requests, messages, next: 1 };
        let hello = HelloRequest { version: RPC_VERSION, client: "nacre chat".to_owned() };
        self.runtime.block_on(line.ask::<serde_json::Value>(RpcCall::Hello(hello)))?;
        Ok(line)
    }

    /// Asks one thing.
    pub(crate) fn ask<R: DeserializeOwned>(&self, call: RpcCall) -> Result<R, OpError> {
        let mut line = self.line()?;
        self.runtime.block_on(line.ask(call))
    }

    /// Ends what still runs in this process, in order.
    pub(crate) fn close(self) {
        if let Agent::Here(chats) = &self.agent {
            chats.cancel_all();
            self.runtime.block_on(async {
                while chats.n_turns() > 0 {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            });
        }
        self.runtime.shutdown_background();
    }
}

/// The folder that a session works in: the project around, the repository, or the folder itself.
fn workspace(host: &Host) -> PathBuf {
    let folder = &host.environment.folder;
    let project = host.project.as_ref().map(|project| project.path.clone());
    project.or_else(|| git_root(&host.person, folder)).unwrap_or_else(|| folder.clone())
}
