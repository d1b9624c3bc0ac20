//! Where the model's part of a lead is done: by agents of Nacre's own engine, or by Claude Code. All else, the checklist, the
//! checks and the report, is the same for both.

use std::sync::Arc;

use nacre_core::config::LeadRuntime;

use super::LeadRequest;
use super::agent;
use super::claude::ClaudeLead;
use super::explorers::ExplorerReport;
use super::told::Told;
use crate::agents::deps::AgentDeps;
use crate::lifecycle::RunControl;
use crate::record::{Clock, Events};
use crate::tools::MemoryHandle;

/// Who decides.
pub enum LeadRunner {
    /// Agents of ours. Their workspace is the memory root.
    Agent(Arc<AgentDeps>),
    Claude(Box<ClaudeLead>),
}

impl LeadRunner {
    pub fn runtime(&self) -> LeadRuntime {
        match self {
            Self::Agent(_) => LeadRuntime::Nacre,
            Self::Claude(_) => LeadRuntime::Claude,
        }
    }

    pub(super) fn clock(&self) -> &Clock {
        match self {
            Self::Agent(deps) => &deps.clock,
            Self::Claude(claude) => &claude.clock,
        }
    }

    /// Looks for memories before the lead does. `None` where it has nobody to send, and looks itself.
    pub(super) async fn explore(
        &self,
        order: &LeadRequest,
        memories: &MemoryHandle,
        (events, control): (&Events, &RunControl),
    ) -> Option<Vec<ExplorerReport>> {
        match self {
            Self::Agent(deps) => {
                Some(agent::explore(deps, order, memories, (events, control)).await)
            }
            Self::Claude(_) => None,
        }
    }

    /// Lets the lead decide, and tells the end of its task.
    pub(super) async fn decide(
        &self,
        order: &LeadRequest,
        (memories, question): (&MemoryHandle, &str),
        (events, control): (&Events, &RunControl),
    ) -> Told {
        match self {
            Self::Agent(deps) => {
                agent::decide(deps, order, (memories, question), (events, control)).await
            }
            Self::Claude(claude) => {
                claude.decide(order, (memories, question), (events, control)).await
            }
        }
    }
}
