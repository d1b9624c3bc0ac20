//! People and what they asked for, as their users see them: a file of one machine, or a database that a team shares.

use jiff::Timestamp;

use super::audit::{AuditEntry, AuditFilter};
use super::error::PeopleError;
use super::permissions::is_person_name;
use super::token::{NewToken, TokenRecord};

/// The tokens of people, and the audit list.
pub trait PeopleStore {
    /// Keeps a token. A person has a bounded number of them.
    fn add_token(&mut self, token: &NewToken) -> Result<TokenRecord, PeopleError>;

    /// Every token, by person and then by age; those that ended, too.
    fn tokens(&self) -> Result<Vec<TokenRecord>, PeopleError>;

    /// Ends a token by the start of its id. One that was revoked stays as it was.
    fn revoke(&mut self, id: &str, now: Timestamp) -> Result<TokenRecord, PeopleError>;

    /// The token with that id, valid or not.
    fn token(&self, id: &str) -> Result<Option<TokenRecord>, PeopleError>;

    /// The newest valid token of a person.
    fn token_of(&self, person: &str, now: Timestamp) -> Result<Option<TokenRecord>, PeopleError>;

    /// Adds to the audit list.
    fn record(&mut self, entries: &[AuditEntry]) -> Result<(), PeopleError>;

    /// The audit list, the newest first.
    fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>, PeopleError>;

    /// Removes entries from before a time, and each person's oldest beyond `keep`; returns how many.
    fn prune_audit(&mut self, before: Timestamp, keep: usize) -> Result<usize, PeopleError>;
}

/// Tokens that one person may have.
const MAX_TOKENS: usize = 64;

impl NewToken {
    /// What is checked before a token is kept; `n_kept` its person has already.
    pub fn check(&self, n_kept: usize) -> Result<(), PeopleError> {
        let name = &self.person;
        if !is_person_name(name) {
            return Err(PeopleError::BadName { name: name.clone() });
        }
        if MAX_TOKENS <= n_kept {
            return Err(PeopleError::TooMany { name: name.clone(), most: MAX_TOKENS });
        }
        Ok(())
    }
}

impl TokenRecord {
    /// The one token whose id begins so.
    pub fn named(mut all: Vec<Self>, start: &str) -> Result<Self, PeopleError> {
        all.retain(|token| !start.is_empty() && token.id.starts_with(start));
        let id = start.to_owned();
        match (all.pop(), all.is_empty()) {
            (None, _) => Err(PeopleError::UnknownToken { id }),
            (Some(_), false) => Err(PeopleError::Ambiguous { id }),
            (Some(token), true) => Ok(token),
        }
    }
}
