//! When a look at a project has taken long enough.
//!
//! What one text costs is bounded by its size; a tree has no size that would bound what it costs, and a disk may be slow. So the
//! bound of a whole look is time. The clock is with the caller: a test can count instead.

use std::fmt;
use std::sync::Arc;

/// Tells when time is over; it is asked before each folder and each file.
#[derive(Clone)]
pub struct Deadline(Arc<dyn Fn() -> bool + Send + Sync>);

impl Deadline {
    /// Time is over from when `is_over` says so.
    pub fn new(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_over))
    }

    /// A look that takes as long as it takes.
    pub fn never() -> Self {
        Self::new(|| false)
    }

    pub fn is_over(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").finish_non_exhaustive()
    }
}
