//! Runs programs for tools, always in the sandbox.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nacre_base::fs::ScratchFolder;
use tokio::task::spawn_blocking;

use crate::confine::{
    Confinement, Finished, LaunchRequest, Launcher, LiveOutput, OutputCaps, ProcessError, Program,
    Quotas, own_folders, own_home, program_environment, secrets_of_home,
};
use crate::model::Cancel;
use crate::record::Fault;
use crate::tools::guarded::Guarded;
use crate::tools::{Result, ToolContext, ToolError};

/// Directory for the programs' temporary directories, next to the spill files.
const SCRATCH: &str = "tmp";

#[derive(Clone, Debug)]
pub struct Programs {
    pub launcher: Launcher,
    /// The user's environment. Programs receive only allowlisted variables.
    pub environment: BTreeMap<String, String>,
    /// Nacre's own directory, which programs must not read.
    pub home: PathBuf,
    /// Fills a buffer with cryptographically secure random bytes.
    pub random: fn(&mut [u8]) -> std::io::Result<()>,
    pub quotas: Quotas,
    pub output: OutputCaps,
}

impl Programs {
    /// Runs a program. The output so far is available in `stdout` while the program is running.
    pub(crate) async fn run(
        &self,
        program: Program,
        folder: &Path,
        time_limit: Duration,
        ctx: &ToolContext,
        stdout: &LiveOutput,
    ) -> Result<Finished> {
        let mut random = [0; 16];
        (self.random)(&mut random).map_err(|error| unusable(error.to_string()))?;
        let random = format!("{:032x}", u128::from_ne_bytes(random));
        let scratch = ScratchFolder::create_as(&ctx.spill.join(SCRATCH), &format!("-{random}"))
            .map_err(|error| unusable(error.to_string()))?;
        let real = |path: &Path| {
            nacre_base::platform::canonicalize(path)
                .map_err(|error| unusable(format!("{}: {error}", path.display())))
        };
        let home = own_home(&self.environment);
        let person = self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let order = LaunchRequest {
            program,
            folder: folder.to_owned(),
            environment: program_environment(person, scratch.path()),
            time_limit,
            quotas: self.quotas,
            output: self.output,
            confinement: Confinement {
                workspace: real(&ctx.workspace)?,
                scratch: real(scratch.path())?,
                outside: real(&ctx.spill)?,
                secrets: secrets_of_home(home.as_deref(), Some(&self.home)),
                own: own_folders(&self.environment),
                home,
            },
        };
        let (launcher, nacre) = (self.launcher.clone(), self.home.clone());
        let (workspace, stdout) = (Arc::clone(&ctx.workspace), stdout.clone());
        let stop = Cancel::new();
        let (stopped, _guard) = (stop.clone(), stop.clone().drop_guard());
        // Run the program in a spawned task, so that dropping the call stops it but still records
        // its changes.
        let mut running = tokio::spawn(async move {
            let look = move || Guarded::look(&workspace, &nacre, &random);
            let before = spawn_blocking(look).await.map_err(|_| tool_error(&ProcessError::Lost))?;
            let before = before.map_err(|error| unusable(error.to_string()))?;
            let finished = launcher.run(&order, &stopped, &stdout).await;
            let finish = move || {
                drop(scratch);
                before.finish()
            };
            let notes = spawn_blocking(finish).await.unwrap_or_default();
            let finished = finished.map(|finished| Finished { notes, ..finished });
            finished.map_err(|error| tool_error(&error))
        });
        let finished = tokio::select! {
            finished = &mut running => finished,
            () = ctx.cancel.cancelled() => {
                stop.cancel();
                running.await
            }
        };
        finished.unwrap_or_else(|_| Err(tool_error(&ProcessError::Lost)))
    }
}

fn unusable(what: String) -> ToolError {
    ToolError::new(Fault::Io, what, "Tell the user that Nacre's directories are not usable.")
}

fn tool_error(error: &ProcessError) -> ToolError {
    let (fault, hint) = match error {
        ProcessError::Unconfined(_) => {
            (Fault::Unconfined, "Programs cannot run here; use the other tools.")
        }
        ProcessError::NotFound { .. } => {
            (Fault::NotFound, "Use an installed program, or a file in the workspace as `./name`.")
        }
        ProcessError::Failed(_) => {
            (Fault::Exec, "Check the program, its directory and its permissions.")
        }
        ProcessError::Watcher(_) | ProcessError::Lost => (Fault::Exec, "Try once more."),
    };
    ToolError::new(fault, error.to_string(), hint)
}
