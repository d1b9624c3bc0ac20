//! What was asked of a server: who, when, what, where, with what outcome. No contents.

use jiff::{SignedDuration, Timestamp};

/// Entries kept of one person, so that nobody can push the entries of others out.
pub const MAX_AUDIT: usize = 20_000;

/// How long an entry is kept.
pub const MAX_AUDIT_AGE: SignedDuration = SignedDuration::from_hours(24 * 90);

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// The person's name, or that of the owner.
    pub who: String,
    /// What was asked for: a route or a tool, never its arguments.
    pub what: String,
    pub project: Option<String>,
    /// `ok`, or the code of the error.
    pub outcome: String,
}

/// Which entries to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub who: Option<String>,
    pub project: Option<String>,
    pub since: Option<Timestamp>,
    /// At most this many, the newest first.
    pub limit: usize,
}
