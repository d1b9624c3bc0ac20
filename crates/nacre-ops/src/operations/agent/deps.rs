//! What an agent of an operation works with: the repository around the current folder, to be read.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use nacre_api::wire::ErrorCode;
use nacre_core::safefs::WriteScope;
use nacre_engine::agents::AgentDeps;
use nacre_engine::model::Models;
use nacre_engine::tools::{
    AnyTool, Cache, Permissions, SkillPlaces, SkillRegistry, Workspace, toolkits,
};

use crate::error::OpError;
use crate::host::{Host, clock, git_root, patience, seed, spill};

pub(crate) fn agent_deps(
    host: &Host,
    home: &WriteScope,
    models: Arc<Models>,
) -> Result<AgentDeps, OpError> {
    let folder = &host.environment.folder;
    let root = host.project.as_ref().map(|project| project.path.clone());
    let root = root.or_else(|| git_root(&host.person, folder)).unwrap_or_else(|| folder.clone());
    let permissions = Permissions::read_only();
    let workspace = Workspace::open(&root, &permissions.denied)
        .map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    let workspace = Arc::new(workspace);
    let (policy, limits) = patience(host);
    Ok(AgentDeps {
        models,
        policy,
        limits,
        clock: clock(host),
        tools: tools(host, &workspace),
        skills: Arc::new(SkillRegistry::new(SkillPlaces {
            workspace: Some(root),
            home: Some(home.path().to_owned()),
        })),
        spill: spill(home)?.path().to_owned(),
        cache: Arc::new(Cache::default()),
        permissions,
        seed: seed(host),
        started: AtomicU32::new(0),
        workspace,
    })
}

/// Every tool that reads the repository.
fn tools(host: &Host, workspace: &Arc<Workspace>) -> Vec<Arc<dyn AnyTool>> {
    let git = match &host.environment.home {
        Some(home) => host.git().with_home(home),
        None => host.git(),
    };
    let mut tools = toolkits::file::tools(workspace);
    tools.extend(toolkits::code::tools(workspace));
    tools.extend(toolkits::git::tools(workspace, git));
    tools
}
