//! What the host does by itself after a call changed files: the project's formatter and linter.
//!
//! Programs run within the same walls as the shell, in bounded time, and never fail a call. What a stranger's
//! repository brings along is not run: there, only tools that execute nothing of the repository's are.

mod breaker;
mod commands;
mod project;

pub use commands::RepositoryTrust;
pub use project::ProjectEffects;
