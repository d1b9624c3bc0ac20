//! What whoever runs servers for others does: the database that they share, people and their tokens, and what they asked for.

mod audit;
mod migrate;
mod status;
mod token;

pub use audit::audit;
pub use migrate::migrate;
pub use status::status;
pub use token::{add as token_add, list as token_list, revoke as token_revoke};
