//! The arguments that commands about traces share.

use clap::ValueEnum;
use nacre_core::transcript::Agent;
pub(crate) use nacre_ops::host::{
    connections, homes, index_folder, index_texts, named_trace, open_catalog, parse_when,
    rebuild_texts, refresh_options, short,
};

/// An agent on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentName {
    Claude,
    Codex,
    Cursor,
    Opencode,
    Generic,
}

impl From<AgentName> for Agent {
    fn from(name: AgentName) -> Self {
        match name {
            AgentName::Claude => Self::Claude,
            AgentName::Codex => Self::Codex,
            AgentName::Cursor => Self::Cursor,
            AgentName::Opencode => Self::OpenCode,
            AgentName::Generic => Self::Generic,
        }
    }
}
