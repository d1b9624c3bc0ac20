//! How far a look at a project is, for whoever watches.

use std::fmt;
use std::sync::Arc;

/// Is told how many files of how many were read; from any thread, and not always in order.
#[derive(Clone, Default)]
pub struct ReadProgress(Option<Arc<dyn Fn(usize, usize) + Send + Sync>>);

impl ReadProgress {
    pub fn new(watch: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(watch)))
    }

    pub(super) fn report(&self, done: usize, total: usize) {
        if let Some(watch) = &self.0 {
            watch(done, total);
        }
    }
}

impl fmt::Debug for ReadProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadProgress").finish_non_exhaustive()
    }
}
