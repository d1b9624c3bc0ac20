//! People: who may ask a server for what, and what they asked for.
//!
//! A token belongs to a person and carries what they may do, in all projects or in some. Only its hash is kept. [`Permissions`] answers
//! every question about it; a [`Caller`] is a person with their permissions, handed to each operation as a value. [`PeopleStore`] has two
//! implementations: [`LocalPeople`], one SQLite file in the global folder, and the one of a database that a team shares.

mod audit;
mod caller;
mod db;
mod error;
mod local;
mod permissions;
mod store;
mod token;

pub use audit::{AuditEntry, AuditFilter, MAX_AUDIT, MAX_AUDIT_AGE};
pub use caller::Caller;
pub use db::{LocalPeople, PEOPLE_FILE};
pub use error::PeopleError;
pub use permissions::{AccessScope, Permissions, is_person_name};
pub use store::PeopleStore;
pub use token::{NewToken, TOKEN_PREFIX, TokenHash, TokenRecord, token_text};
