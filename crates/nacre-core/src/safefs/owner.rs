//! Who holds the lock of a scope.

use serde::{Deserialize, Serialize};

/// Who holds a lock, as told to people who wait for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    pub pid: u32,
    /// What the process is doing, such as `nacre sync`.
    pub command: String,
    /// Since when, as a timestamp.
    pub since: String,
}
