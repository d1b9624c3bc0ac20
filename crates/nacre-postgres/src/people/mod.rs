//! People and the audit list that several servers share.
//!
//! The rules are those of the file of one machine: a token that is revoked on one server lets nobody in on any.

mod audit;
mod tokens;

use jiff::Timestamp;
use nacre_core::people::{
    AuditEntry, AuditFilter, NewToken, PeopleError, PeopleStore, TokenRecord,
};

use crate::database::{Database, DatabaseError};

/// People in PostgreSQL.
#[derive(Clone, Debug)]
pub struct SharedPeople {
    database: Database,
}

impl SharedPeople {
    /// The people of a database whose schema is up to date.
    pub fn open(database: &Database) -> Result<Self, DatabaseError> {
        database.check_schema()?;
        Ok(Self { database: database.clone() })
    }
}

impl PeopleStore for SharedPeople {
    fn add_token(&mut self, token: &NewToken) -> Result<TokenRecord, PeopleError> {
        token.check(tokens::count(&self.database, &token.person)?)?;
        tokens::add(&self.database, token)?;
        self.token(&token.hash.id())?.ok_or(PeopleError::Damaged)
    }

    fn tokens(&self) -> Result<Vec<TokenRecord>, PeopleError> {
        tokens::all(&self.database)
    }

    fn revoke(&mut self, id: &str, now: Timestamp) -> Result<TokenRecord, PeopleError> {
        let token = TokenRecord::named(self.tokens()?, id)?;
        tokens::revoke(&self.database, &token.id, now)?;
        self.token(&token.id)?.ok_or(PeopleError::Damaged)
    }

    fn token(&self, id: &str) -> Result<Option<TokenRecord>, PeopleError> {
        tokens::with_id(&self.database, id)
    }

    fn token_of(&self, person: &str, now: Timestamp) -> Result<Option<TokenRecord>, PeopleError> {
        tokens::newest_of(&self.database, person, now)
    }

    fn record(&mut self, entries: &[AuditEntry]) -> Result<(), PeopleError> {
        Ok(audit::record(&self.database, entries)?)
    }

    fn audit(&self, filter: &AuditFilter) -> Result<Vec<AuditEntry>, PeopleError> {
        Ok(audit::list(&self.database, filter)?)
    }

    fn prune_audit(&mut self, before: Timestamp, keep: usize) -> Result<usize, PeopleError> {
        Ok(audit::prune(&self.database, before, keep)?)
    }
}
