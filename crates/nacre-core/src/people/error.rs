//! Why people and their tokens could not be read or changed.

use std::error::Error;
use std::path::PathBuf;

use crate::safefs::FsError;

#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error("`{name}` cannot be the name of a person")]
    BadName { name: String },
    #[error("`{name}` has {most} tokens already")]
    TooMany { name: String, most: usize },
    #[error("There is no token `{id}`")]
    UnknownToken { id: String },
    #[error("`{id}` is the start of several tokens")]
    Ambiguous { id: String },
    #[error(transparent)]
    Files(#[from] FsError),
    #[error("Cannot use `{}`", path.display())]
    File { path: PathBuf, source: rusqlite::Error },
    #[error("`{}` was written by a newer version (format {found})", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("A row about people makes no sense")]
    Damaged,
    #[error("Cannot use the database")]
    Shared { is_passing: bool, source: Box<dyn Error + Send + Sync> },
}
