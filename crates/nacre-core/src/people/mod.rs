//! People: who may ask a server for what, and what they asked for.
//!
//! A token belongs to a person and carries what they may do, in all projects or in some. Only its hash is kept. [`Permissions`] answers
//! every question about it. An [`Identity`] names a token or the owner; a [`Caller`] is an identity with the permissions that were looked up for one request. [`PeopleStore`] has two
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
pub use caller::{Caller, Identity};
pub use db::{LocalPeople, PEOPLE_FILE};
pub use error::PeopleError;
pub use permissions::{AccessScope, Permissions, is_person_name};
pub use store::PeopleStore;
pub use token::{NewToken, TOKEN_PREFIX, TokenHash, TokenRecord, token_text};
