//! Which calls need a person's yes, how that is asked, and what was allowed for the rest of a session.
//!
//! The footprint of a call decides, never its name. What a policy lets pass is not asked; whatever else is asked needs
//! a yes, and where nobody can be asked it is denied.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use super::footprint::{Exec, Footprint, MemoryUse, Network};
use super::tool::PreviewProgram;

/// What a person is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApprovalPolicy {
    /// Every change, program and connection.
    #[default]
    Ask,
    /// Programs and connections; edits of files in the workspace and of memories pass.
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
        kinds.retain(|kind| match self {
            Self::Ask => true,
            Self::AutoEdit => matches!(kind, ApprovalKind::Program | ApprovalKind::Network),
            Self::Full => false,
        });
        kinds
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

impl ApprovalKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Edit => "edit",
            Self::Program => "program",
            Self::Network => "network",
            Self::Memory => "memory",
        }
    }
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
    /// This call, and those like it until the session ends.
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

/// Calls that are alike: of the same tool, for the same kinds of things, to the same host, with the same program and
/// first argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grant {
    tool: String,
    kinds: BTreeSet<ApprovalKind>,
    host: Option<String>,
    /// The words that have to be the same.
    program: Vec<String>,
}

impl Grant {
    /// What a yes for the session would allow.
    pub(super) fn of(request: &ApprovalRequest) -> Self {
        let program = request.program.as_ref().map_or_else(Vec::new, program_words);
        Self {
            tool: request.tool.clone(),
            kinds: request.kinds.clone(),
            host: request.host.clone(),
            program,
        }
    }
}

/// The words by which a program is the same again. A script, and a program whose first argument is an option such as
/// `-c`, may do anything with the rest: there every word counts.
fn program_words(program: &PreviewProgram) -> Vec<String> {
    match program {
        PreviewProgram::Script(script) => vec!["script".to_owned(), script.clone()],
        PreviewProgram::Argv(argv) => {
            let is_option = argv.get(1).is_some_and(|first| first.starts_with('-'));
            let n_words = if is_option { argv.len() } else { 2 };
            std::iter::once("argv".to_owned()).chain(argv.iter().take(n_words).cloned()).collect()
        }
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
    use crate::tools::Area;

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
        let remember = Footprint { memory: MemoryUse::Changes, ..Footprint::default() };
        let recall = Footprint { memory: MemoryUse::Reads, ..Footprint::default() };
        let words = |policy: ApprovalPolicy, footprint: &Footprint| {
            let kinds: Vec<&str> =
                policy.needs(footprint).into_iter().map(ApprovalKind::as_str).collect();
            kinds.join(" ")
        };
        for (footprint, ask, auto_edit) in [
            (&read, "", ""),
            (&helper, "", ""),
            (&recall, "", ""),
            (&edit, "edit", ""),
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
    fn a_yes_for_the_session_is_for_the_same_program_and_first_argument() {
        let argv = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            program_words(&PreviewProgram::Argv(words))
        };
        let script = |text: &str| program_words(&PreviewProgram::Script(text.to_owned()));
        assert_eq!(argv(&["cargo", "test", "-p", "a"]), argv(&["cargo", "test"]));
        assert_ne!(argv(&["cargo", "test"]), argv(&["cargo", "publish"]));
        assert_ne!(argv(&["cargo"]), argv(&["cargo", "test"]));
        assert_ne!(argv(&["bash", "-c", "ls"]), argv(&["bash", "-c", "rm -r ."]));
        assert_eq!(script("make"), script("make"));
        assert_ne!(script("make"), script("make; curl x"));
        assert_ne!(script("make"), argv(&["make"]));
    }
}
