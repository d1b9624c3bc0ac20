//! Programs on behalf of tools: every one gets the same walls, and none is started without them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_core::safefs::{Access, WriteScope};

use crate::confine::{Confinement, Metadata, Reach};
use crate::confine::{Finished, Launcher, ProcessError};
use crate::confine::{LaunchRequest, OutputCaps, Program, Quotas};
use crate::confine::{own_folders, program_environment};
use crate::record::Fault;
use crate::tools::{ToolContext, ToolError};

/// The folder for temporary files, beside the long outputs.
pub(super) const SCRATCH: &str = "tmp";

/// How an agent's programs are started.
#[derive(Clone, Debug)]
pub struct Programs {
    pub launcher: Launcher,
    /// The person's environment, of which a program gets what is on a list.
    pub environment: BTreeMap<String, String>,
    /// What no program may read.
    pub secrets: Vec<PathBuf>,
    pub reach: Reach,
    pub metadata: Metadata,
    pub quotas: Quotas,
    pub output: OutputCaps,
}

impl Programs {
    /// Runs a program in a folder of the workspace.
    pub(crate) async fn run(
        &self,
        program: Program,
        folder: &Path,
        time_limit: Duration,
        ctx: &ToolContext,
    ) -> Result<Finished, ToolError> {
        let unusable = |what: String| {
            ToolError::new(Fault::Io, what, "Tell the person; the folders of Nacre are not usable.")
        };
        let scratch = WriteScope::create_inside(&ctx.spill, SCRATCH, Access::Private)
            .map_err(|error| unusable(error.to_string()))?;
        let real = |path: &Path| {
            path.canonicalize().map_err(|error| unusable(format!("{}: {error}", path.display())))
        };
        let order = LaunchRequest {
            program,
            folder: folder.to_owned(),
            environment: self.environment(scratch.path()),
            time_limit,
            quotas: self.quotas,
            output: self.output,
            confinement: Confinement {
                workspace: real(&ctx.workspace)?,
                scratch: real(scratch.path())?,
                outside: real(&ctx.spill)?,
                own: own_folders(&self.environment),
                secrets: self.secrets.clone(),
                reach: self.reach,
                metadata: self.metadata,
            },
        };
        self.launcher.run(&order, &ctx.cancel).await.map_err(|error| tool_error(&error))
    }

    fn environment(&self, scratch: &Path) -> BTreeMap<String, String> {
        let person = self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        program_environment(person, scratch)
    }
}

fn tool_error(error: &ProcessError) -> ToolError {
    let (fault, hint) = match error {
        ProcessError::Unconfined(_) => {
            (Fault::Unconfined, "No program can be run here; work with the other tools.")
        }
        ProcessError::NotFound { .. } => (
            Fault::NotFound,
            "Name a program that is installed, or a file of the workspace as `./name`.",
        ),
        ProcessError::Failed(_) => (Fault::Exec, "Check the program, its folder and its rights."),
        ProcessError::Watcher(_) | ProcessError::Lost => (Fault::Exec, "Try once more."),
    };
    ToolError::new(fault, error.to_string(), hint)
}
