//! Decides which calls need approval, and remembers approvals for a session.
//!
//! The decision depends on the call's footprint, never on the tool's name. If the user cannot be
//! asked, the call is denied.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_base::ContentHash;
pub use nacre_types::ApprovalAnswer;
use nacre_types::ApprovalPolicy;

use crate::confine::Program;
use crate::tools::footprint::{Area, Exec, Footprint, MemoryUse};

/// Returns the kinds of approval that a call needs. Reading requires no approval, even if a helper
/// such as git does it.
pub(super) fn needs(policy: ApprovalPolicy, footprint: &Footprint) -> BTreeSet<ApprovalKind> {
    let mut kinds = BTreeSet::new();
    let (starts, connects) = (footprint.exec == Exec::Anything, footprint.host.is_some());
    // Helpers with side effects, such as a commit, require more than approval for edits.
    let records = footprint.exec == Exec::Helper && !footprint.writes.is_empty();
    if starts || records {
        kinds.insert(ApprovalKind::Program);
    }
    if connects {
        kinds.insert(ApprovalKind::Network);
    }
    if !footprint.writes.is_empty() && !starts && !records {
        kinds.insert(ApprovalKind::Edit);
    }
    if footprint.memory == MemoryUse::Changes {
        kinds.insert(ApprovalKind::Memory);
    }
    let is_plain_edit = !footprint.writes.iter().any(is_acted_on);
    kinds.retain(|kind| match (policy, kind) {
        (ApprovalPolicy::Ask, _) => true,
        (ApprovalPolicy::AutoEdit, ApprovalKind::Edit) => !is_plain_edit,
        (ApprovalPolicy::AutoEdit, kind) => *kind != ApprovalKind::Memory,
        (ApprovalPolicy::Full, _) => false,
    });
    kinds
}

/// Returns whether other programs execute or interpret files in this area.
fn is_acted_on(area: &Area) -> bool {
    match area {
        Area::File(path) | Area::Tree(Some(path)) => nacre_base::is_acted_on(path.as_str()),
        Area::Tree(None) => true,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApprovalKind {
    Edit,
    Program,
    Network,
    Memory,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    pub call: String,
    pub tool: String,
    /// A one-line description of the effect, without control characters.
    pub summary: String,
    pub kinds: BTreeSet<ApprovalKind>,
    pub footprint: Vec<String>,
    pub program: Option<Program>,
    pub memory: Option<String>,
    pub host: Option<String>,
    /// The file changes as a redacted unified diff.
    pub diff: Option<String>,
    pub is_diff_cut: bool,
}

pub trait Approver: Send + Sync {
    /// Asks the user for approval. Dropping the future withdraws the request.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> AskingPerson<'a>;
}

pub type AskingPerson<'a> = Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + 'a>>;

#[derive(Clone)]
pub struct Approval {
    pub policy: ApprovalPolicy,
    /// If `None`, everything that needs approval is denied.
    pub approver: Option<Arc<dyn Approver>>,
    pub grants: Arc<Grants>,
}

impl Approval {
    /// Returns the settings for agents that are limited only by their permissions.
    pub fn not_needed() -> Self {
        Self { policy: ApprovalPolicy::Full, approver: None, grants: Arc::default() }
    }
}

#[derive(Debug, Default)]
pub struct Grants(Mutex<BTreeSet<ContentHash>>);

/// Maximum number of remembered approvals. A user who approves more than this is probably not
/// reading the requests.
const MAX_GRANTS: usize = 1000;

/// Returns a hash of what a session approval covers: calls to the same tool with the same paths,
/// hosts, memory text, program arguments and directory. Only file contents may differ. If the
/// arguments could differ, the call could run anything, as in `timeout 5 sh -c …`.
pub(super) fn grant_of(request: &ApprovalRequest) -> ContentHash {
    let ApprovalRequest { tool, kinds, footprint, program, memory, .. } = request;
    ContentHash::of(format!("{:?}", (tool, kinds, footprint, program, memory)).as_bytes())
}

impl Grants {
    pub(super) fn has(&self, grant: &ContentHash) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(grant)
    }

    pub(super) fn add(&self, grant: ContentHash) {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if grants.len() < MAX_GRANTS {
            grants.insert(grant);
        }
    }
}

#[cfg(test)]
mod tests {
    use nacre_base::fs::RelPath;

    use super::*;

    #[test]
    fn policies_ask_for_what_they_say() {
        let file = || Area::File(RelPath::new("a.rs").unwrap());
        let host = || Some("example.org".to_owned());
        let read = Footprint::reading([file()]);
        let helper = Footprint { exec: Exec::Helper, ..read.clone() };
        let edit = Footprint::changing([file()]);
        let commit = Footprint { exec: Exec::Helper, ..edit.clone() };
        let shell = Footprint { exec: Exec::Anything, ..edit.clone() };
        let online = Footprint { host: host(), ..shell.clone() };
        let fetch = Footprint { host: host(), ..Footprint::default() };
        let hooks = |path| Footprint::changing([Area::File(RelPath::new(path).unwrap())]);
        let remember = Footprint { memory: MemoryUse::Changes, ..Footprint::default() };
        let recall = Footprint { memory: MemoryUse::Reads, ..Footprint::default() };
        let words = |policy: ApprovalPolicy, footprint: &Footprint| {
            let kinds = needs(policy, footprint).into_iter();
            kinds.map(|kind| format!("{kind:?}").to_lowercase()).collect::<Vec<_>>().join(" ")
        };
        for (footprint, ask, auto_edit) in [
            (&read, "", ""),
            (&helper, "", ""),
            (&recall, "", ""),
            (&edit, "edit", ""),
            (&hooks(".claude/settings.json"), "edit", "edit"),
            (&hooks(".mcp.json"), "edit", "edit"),
            (&hooks(".vscode/tasks.json"), "edit", "edit"),
            (&hooks(".husky/pre-commit"), "edit", "edit"),
            (&hooks(".github/workflows/x.yml"), "edit", "edit"),
            (&hooks(".devcontainer/devcontainer.json"), "edit", "edit"),
            (&hooks(".cargo/config.toml"), "edit", "edit"),
            (&hooks("CLAUDE.md"), "edit", "edit"),
            (&remember, "memory", ""),
            (&commit, "program", "program"),
            (&shell, "program", "program"),
            (&online, "program network", "program network"),
            (&fetch, "network", "network"),
        ] {
            assert_eq!(words(ApprovalPolicy::Ask, footprint), ask, "{footprint:?}");
            assert_eq!(words(ApprovalPolicy::AutoEdit, footprint), auto_edit, "{footprint:?}");
            assert_eq!(words(ApprovalPolicy::Full, footprint), "", "{footprint:?}");
        }
    }

    #[test]
    fn a_yes_for_the_session_is_for_the_same_words_and_places() {
        let grant = |tool: &str, place: &str, program: Program| {
            grant_of(&ApprovalRequest {
                call: "c1".to_owned(),
                tool: tool.to_owned(),
                summary: String::new(),
                kinds: BTreeSet::from([ApprovalKind::Program]),
                footprint: vec![place.to_owned()],
                program: Some(program),
                memory: None,
                host: None,
                diff: None,
                is_diff_cut: false,
            })
        };
        let argv = |words: &str| {
            let mut words = words.split(' ').map(str::to_owned);
            Program::Argv { name: words.next().unwrap(), arguments: words.collect() }
        };
        let grants = Grants::default();
        grants.add(grant("shell_run", "a/", argv("timeout 5 ls")));
        assert!(grants.has(&grant("shell_run", "a/", argv("timeout 5 ls"))));
        for other in [
            grant("shell_run", "a/", argv("timeout 5 sh -c touch")),
            grant("shell_run", "a/", argv("timeout 5 ls -l")),
            grant("shell_run", "a/", Program::Script("timeout 5 ls".to_owned())),
            grant("shell_run", "b/", argv("timeout 5 ls")),
            grant("shell_start", "a/", argv("timeout 5 ls")),
        ] {
            assert!(!grants.has(&other), "{other:?}");
        }
    }
}
