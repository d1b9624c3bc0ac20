//! One session that is to be synced.

use std::path::{Path, PathBuf};

use nacre_api::wire::{ErrorCode, SyncMode};
use nacre_core::catalog::key_of;
use nacre_core::transcript::Trace;
use nacre_engine::flows::run::RunMode;
use nacre_engine::flows::sync::SessionRequest;

use crate::error::OpError;
use crate::host::{Host, named_trace, short};

/// A session, and the project that its memories belong to.
pub(super) struct SessionToSync {
    pub(super) key: String,
    pub(super) trace: Trace,
    pub(super) project: PathBuf,
}

/// How each session is read.
#[derive(Clone, Copy)]
pub(super) struct RunOptions {
    mode: RunMode,
    /// Read also what was read before.
    force: bool,
}

impl RunOptions {
    pub(super) fn new(mode: SyncMode, force: bool) -> Self {
        let mode = match mode {
            SyncMode::Sync => RunMode::Sync,
            SyncMode::Hot => RunMode::Hot,
            SyncMode::Cold => RunMode::Cold,
        };
        Self { mode, force }
    }
}

impl SessionToSync {
    /// The session that a person named, for the project around.
    pub(super) fn named(host: &Host, name: &str) -> Result<Self, OpError> {
        if host.environment.absolute(Path::new(name)).exists() {
            host.check_user("name a file as a session")?;
        }
        let trace = named_trace(host, name)?;
        let Some(project) = &host.project else {
            let error = OpError::failed("There is no project to keep memories in");
            return Err(OpError { code: ErrorCode::NoProject, ..error }
                .hint("Go to a repository and run `nacre init`"));
        };
        Ok(Self { key: key_of(&trace), trace, project: project.path.clone() })
    }

    /// What a run over it is to do.
    pub(super) fn order<'s>(
        &'s self,
        host: &Host,
        options: RunOptions,
        change: Option<&'s str>,
    ) -> SessionRequest<'s> {
        let Self { key, trace, project } = self;
        let registered = host.projects.iter().find(|known| known.path == *project);
        let folder = project.file_name().map(|name| name.to_string_lossy().into_owned());
        SessionRequest {
            trace,
            key,
            trace_name: short(host, &trace.source.path),
            repo_name: registered.map(|known| known.name.clone()).or(folder).unwrap_or_default(),
            mode: options.mode,
            force: options.force,
            change,
        }
    }
}
