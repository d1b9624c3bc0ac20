//! Programs on behalf of tools: every one gets the same walls, and none is started without them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nacre_core::safefs::{Access, WriteScope};
use tokio::task::spawn_blocking;

use super::guarded::Guarded;
use crate::confine::{Confinement, Metadata, Reach};
use crate::confine::{Finished, Launcher, ProcessError};
use crate::confine::{LaunchRequest, OutputCaps, Program, Quotas};
use crate::confine::{own_folders, own_home, program_environment, secrets_of_home};
use crate::model::CancelSource;
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
    /// Nacre's own folder, which no program may read.
    pub home: Option<PathBuf>,
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
        let scratch = WriteScope::create_inside(&ctx.spill, SCRATCH, Access::Private)
            .map_err(|error| unusable(error.to_string()))?;
        let real = |path: &Path| {
            path.canonicalize().map_err(|error| unusable(format!("{}: {error}", path.display())))
        };
        let home = own_home(&self.environment);
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
                secrets: secrets_of_home(home.as_deref(), self.home.as_deref()),
                own: own_folders(&self.environment),
                home,
                reach: self.reach,
                metadata: self.metadata,
            },
        };
        let (launcher, nacre) = (self.launcher.clone(), self.home.clone());
        let workspace = Arc::clone(&ctx.workspace);
        let stop = StopOnDrop(CancelSource::new());
        let stopped = stop.0.token();
        // A task of its own: a call that is dropped stops the program, and its changes are recorded all the same.
        let mut running = tokio::spawn(async move {
            let look = move || Guarded::look(&workspace, nacre.as_deref());
            let before = spawn_blocking(look).await.map_err(|_| ProcessError::Lost)?;
            let finished = launcher.run(&order, &stopped).await;
            let notes = spawn_blocking(move || before.finish()).await.unwrap_or_default();
            finished.map(|finished| Finished { notes, ..finished })
        });
        let finished = tokio::select! {
            finished = &mut running => finished,
            () = ctx.cancel.cancelled() => {
                stop.0.cancel();
                running.await
            }
        };
        finished.unwrap_or(Err(ProcessError::Lost)).map_err(|error| tool_error(&error))
    }

    fn environment(&self, scratch: &Path) -> BTreeMap<String, String> {
        let person = self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        program_environment(person, scratch)
    }
}

pub(super) fn unusable(what: String) -> ToolError {
    ToolError::new(Fault::Io, what, "Tell the person; the folders of Nacre are not usable.")
}

struct StopOnDrop(CancelSource);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
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
