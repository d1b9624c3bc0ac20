//! The interface for stores of people and their audit log.

use std::error::Error;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use nacre_base::fs::FsError;

use super::permissions::is_person_name;
use super::token::TokenRecord;

/// Maximum number of audit entries per person. The limit is per person, so that nobody can push out
/// other people's entries.
pub const MAX_AUDIT: usize = 20_000;

pub const MAX_AUDIT_AGE: SignedDuration = SignedDuration::from_hours(24 * 90);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Timestamp,
    /// The person's name, or `owner`.
    pub who: String,
    /// The name of the route or tool, without arguments.
    pub what: String,
    pub project: Option<String>,
    /// `ok`, or the error code.
    pub outcome: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub who: Option<String>,
    pub project: Option<String>,
    pub since: Option<Timestamp>,
    /// Maximum number of entries to return, newest first.
    pub limit: usize,
}

pub(super) type Result<T, E = PeopleError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error("`{name}` is not a valid person name")]
    BadName { name: String },
    #[error("`{name}` already has {most} tokens")]
    TooMany { name: String, most: usize },
    #[error("Token `{id}` not found")]
    UnknownToken { id: String },
    #[error("`{id}` matches several tokens")]
    Ambiguous { id: String },
    #[error(transparent)]
    Files(#[from] FsError),
    #[error("Cannot use `{}`", path.display())]
    File { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` was written by a newer version (format {found})", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("The people database contains an invalid row")]
    Damaged,
    #[error("Cannot use the database")]
    Shared { is_passing: bool, source: Box<dyn Error + Send + Sync> },
}

pub trait PeopleStore {
    /// Adds a token. Fails if the person has too many tokens.
    fn add_token(&mut self, token: &TokenRecord) -> Result<TokenRecord> {
        let is_kept =
            |known: &&TokenRecord| known.person == token.person && known.revoked.is_none();
        token.check(self.tokens()?.iter().filter(is_kept).count())?;
        self.insert_token(token)?;
        self.token(&token.id)?.ok_or(PeopleError::Damaged)
    }

    /// Returns all tokens, including invalid ones, sorted by person, then by age.
    fn tokens(&self) -> Result<Vec<TokenRecord>>;

    /// Revokes the token with this id or id prefix. A token that is already revoked keeps its
    /// revocation time.
    fn revoke(&mut self, id: &str, now: Timestamp) -> Result<TokenRecord> {
        let token = TokenRecord::find_by_start(self.tokens()?, id)?;
        self.set_revoked(&token.id, now)?;
        self.token(&token.id)?.ok_or(PeopleError::Damaged)
    }

    fn insert_token(&mut self, token: &TokenRecord) -> Result<()>;

    /// Marks a token as revoked, unless it already is.
    fn set_revoked(&mut self, id: &str, now: Timestamp) -> Result<()>;

    fn token(&self, id: &str) -> Result<Option<TokenRecord>>;

    fn token_of(&self, person: &str, now: Timestamp) -> Result<Option<TokenRecord>>;

    fn record(&mut self, entries: &[AuditEntry]) -> Result<()>;

    /// Returns the newest entries first.
    fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>>;

    /// Removes entries older than `before`, and each person's entries beyond the newest `keep`.
    /// Returns the number of entries removed.
    fn prune_audit(&mut self, before: Timestamp, keep: usize) -> Result<usize>;
}

const MAX_TOKENS: usize = 64;

impl TokenRecord {
    /// Checks the limits for a person who already has `n_kept` tokens.
    pub fn check(&self, n_kept: usize) -> Result<()> {
        let name = &self.person;
        if !is_person_name(name) {
            return Err(PeopleError::BadName { name: name.clone() });
        }
        if MAX_TOKENS <= n_kept {
            return Err(PeopleError::TooMany { name: name.clone(), most: MAX_TOKENS });
        }
        Ok(())
    }

    /// Returns the token whose id starts with `start`, which must match exactly one token.
    pub fn find_by_start(mut all: Vec<Self>, start: &str) -> Result<Self> {
        all.retain(|token| !start.is_empty() && token.id.starts_with(start));
        let id = start.to_owned();
        match (all.pop(), all.is_empty()) {
            (None, _) => Err(PeopleError::UnknownToken { id }),
            (Some(_), false) => Err(PeopleError::Ambiguous { id }),
            (Some(token), true) => Ok(token),
        }
    }
}
