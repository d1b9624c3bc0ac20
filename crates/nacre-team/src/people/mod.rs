//! People, their tokens and permissions, and the audit log. Tokens are stored only as hashes.

mod local;
mod permissions;
mod store;
mod token;

pub(crate) use local::moment;
pub use local::{LocalPeople, PEOPLE_FILE};
pub use permissions::{AccessScope, Permissions, is_person_name};
pub use store::{AuditEntry, AuditFilter, MAX_AUDIT, MAX_AUDIT_AGE, PeopleError, PeopleStore};
pub use token::{Caller, Identity, TOKEN_PREFIX, TokenHash, TokenRecord, token_text};
