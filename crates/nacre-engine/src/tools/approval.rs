//! Which calls need a person's yes, how that is asked, and what was allowed for the rest of a session.
//!
//! The footprint of a call decides, never its name. What a policy lets pass is not asked; whatever else is asked needs
//! a yes, and where nobody can be asked it is denied.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_core::base;

use super::footprint::{Area, Exec, Footprint, MemoryUse, Network};
use super::tool::PreviewProgram;

/// What a person is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalPolicy {
    /// Every change, program and connection.
    #[default]
    Ask,
    /// Programs and connections; edits of files in the workspace and of memories pass, but for files that other programs act on.
    AutoEdit,
    /// Nothing. Programs stay confined.
    Full,
}

impl ApprovalPolicy {
    pub const ALL: &[Self] = &[Self::Ask, Self::AutoEdit, Self::Full];

    /// The word that stands in settings and databases.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoEdit => "auto_edit",
            Self::Full => "full",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|policy| policy.as_str() == word)
    }

    /// What of a call needs a yes; nothing if it may run as it is. Reading never needs one.
    pub fn needs(self, footprint: &Footprint) -> BTreeSet<ApprovalKind> {
        let mut kinds = BTreeSet::new();
        let (starts, connects) =
            (footprint.exec == Exec::Anything, footprint.network != Network::Nothing);
        // Our own programs change what a plain edit does not: a commit, the index of git.
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
        kinds.retain(|kind| match (self, kind) {
            (Self::Ask, _) => true,
            (Self::AutoEdit, ApprovalKind::Edit) => !is_plain_edit,
            (Self::AutoEdit, kind) => *kind != ApprovalKind::Memory,
            (Self::Full, _) => false,
        });
        kinds
    }
}

/// Whether other programs act on a file of an area.
fn is_acted_on(area: &Area) -> bool {
    match area {
        Area::File(path) | Area::Tree(Some(path)) => base::is_acted_on(path.as_str()),
        Area::Tree(None) => true,
    }
}

/// What a yes is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApprovalKind {
    /// Files of the workspace change.
    Edit,
    /// A program is started.
    Program,
    /// A connection is made.
    Network,
    /// Memories change.
    Memory,
}

/// What a person is shown before they answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The id of the call.
    pub call: String,
    pub tool: String,
    /// What it would do, in a line without control characters.
    pub summary: String,
    pub kinds: BTreeSet<ApprovalKind>,
    /// What it would touch, a sentence each.
    pub footprint: Vec<String>,
    /// The program that it would start.
    pub program: Option<PreviewProgram>,
    /// The host that it would reach, where that is one.
    pub host: Option<String>,
    /// What would change in files, as a unified diff without secrets.
    pub diff: Option<String>,
    /// Whether the diff is only the beginning of it.
    pub is_diff_cut: bool,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// This call.
    Once,
    /// This call, and the same again until the session ends.
    Session,
    /// The reason is told to the model.
    Denied { reason: String },
}

/// Somebody who can be asked.
pub trait Approver: Send + Sync {
    /// Asks. Dropping the future withdraws the question.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> AskingPerson<'a>;
}

/// A question that waits for its answer.
pub type AskingPerson<'a> = Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + 'a>>;

/// How the calls of an agent get their yes.
#[derive(Clone)]
pub struct Approval {
    pub policy: ApprovalPolicy,
    /// `None`: whatever needs a yes is denied.
    pub approver: Option<Arc<dyn Approver>>,
    /// What was allowed for the rest of the session; whoever keeps the session keeps this.
    pub grants: Arc<Grants>,
}

impl Approval {
    /// For agents whose permissions say all that there is to say.
    pub fn not_needed() -> Self {
        Self { policy: ApprovalPolicy::Full, approver: None, grants: Arc::default() }
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("policy", &self.policy)
            .field("has_approver", &self.approver.is_some())
            .finish_non_exhaustive()
    }
}

/// What was allowed for the rest of a session.
#[derive(Debug, Default)]
pub struct Grants(Mutex<BTreeSet<Grant>>);

/// More grants than this are a person who answers without reading.
const MAX_GRANTS: usize = 1000;

/// What a yes for the session allows: exactly what was shown. The same tool on the same places and hosts, and, of programs, the
/// same words in the same folder: what a program does with other arguments nobody can say (`timeout 5 sh -c …`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    tool: String,
    kinds: BTreeSet<ApprovalKind>,
    footprint: Vec<String>,
    program: Option<PreviewProgram>,
}

impl Grant {
    pub(super) fn of(request: &ApprovalRequest) -> Self {
        let ApprovalRequest { tool, kinds, footprint, program, .. } = request.clone();
        Self { tool, kinds, footprint, program }
    }
}

impl Grants {
    pub(super) fn has(&self, grant: &Grant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(grant)
    }

    pub(super) fn add(&self, grant: Grant) {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if grants.len() < MAX_GRANTS {
            grants.insert(grant);
        }
    }
}

#[cfg(test)]
mod tests {
    use nacre_core::safefs::RelPath;

    use super::*;

    #[test]
    fn policies_ask_for_what_they_say() {
        let file = || Area::File(RelPath::new("a.rs").unwrap());
        let host = || Network::Host("example.org".to_owned());
        let read = Footprint::reading([file()]);
        let helper = Footprint { exec: Exec::Helper, ..read.clone() };
        let edit = Footprint::changing([file()]);
        let commit = Footprint { exec: Exec::Helper, ..edit.clone() };
        let shell = Footprint { exec: Exec::Anything, ..edit.clone() };
        let online = Footprint { network: Network::Anything, ..shell.clone() };
        let fetch = Footprint { network: host(), ..Footprint::default() };
        let hooks = |path| Footprint::changing([Area::File(RelPath::new(path).unwrap())]);
        let remember = Footprint { memory: MemoryUse::Changes, ..Footprint::default() };
        let recall = Footprint { memory: MemoryUse::Reads, ..Footprint::default() };
        let words = |policy: ApprovalPolicy, footprint: &Footprint| {
            let kinds = policy.needs(footprint).into_iter();
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
        for policy in ApprovalPolicy::ALL {
            assert_eq!(ApprovalPolicy::parse(policy.as_str()), Some(*policy));
        }
    }

    #[test]
    fn a_yes_for_the_session_is_for_the_same_words_and_places() {
        let grant = |tool: &str, place: &str, program: PreviewProgram| Grant {
            tool: tool.to_owned(),
            kinds: BTreeSet::from([ApprovalKind::Program]),
            footprint: vec![place.to_owned()],
            program: Some(program),
        };
        let argv = |words: &str| {
            PreviewProgram::Argv(words.split(' ').map(str::to_owned).collect::<Vec<_>>())
        };
        let grants = Grants::default();
        grants.add(grant("shell_run", "a/", argv("timeout 5 ls")));
        assert!(grants.has(&grant("shell_run", "a/", argv("timeout 5 ls"))));
        for other in [
            grant("shell_run", "a/", argv("timeout 5 sh -c touch")),
            grant("shell_run", "a/", argv("timeout 5 ls -l")),
            grant("shell_run", "a/", PreviewProgram::Script("timeout 5 ls".to_owned())),
            grant("shell_run", "b/", argv("timeout 5 ls")),
            grant("shell_start", "a/", argv("timeout 5 ls")),
        ] {
            assert!(!grants.has(&other), "{other:?}");
        }
    }
}
