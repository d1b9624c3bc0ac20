//! Options for a refresh: whether to trust stamps, whether to write to the cache, and the deadline.

use std::sync::Arc;

use nacre_base::git::GitProgram;

use super::excludes::Excludes;
use super::sensitive::Sensitive;

#[derive(Clone, Debug)]
pub struct RefreshOptions {
    pub now_ns: i64,
    /// The current time on the file system's clock, in nanoseconds since 1970.
    pub looked_ns: i64,
    pub trust: Verify,
    pub keeping: CacheWrites,
    pub words: WordCounting,
    pub sensitive: Sensitive,
    pub excludes: Excludes,
    pub git: GitProgram,
    pub n_threads: usize,
    pub deadline: Deadline,
    pub progress: ReadProgress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    Stamps,
    Contents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheWrites {
    On,
    /// Writes nothing to disk. Results are not affected.
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordCounting {
    Now,
    Later,
}

/// Reports whether the deadline has passed. The deadline is checked before each directory and each
/// file.
///
/// File size limits bound the cost of one file, but a tree can be arbitrarily large and a disk
/// arbitrarily slow, so every refresh has a deadline. The caller provides the clock so that tests
/// can count calls instead of measuring time.
#[derive(Clone)]
pub struct Deadline(Arc<dyn Fn() -> bool + Send + Sync>);

impl Deadline {
    pub fn new(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_over))
    }

    pub fn never() -> Self {
        Self::new(|| false)
    }

    pub fn is_over(&self) -> bool {
        (self.0)()
    }
}

nacre_base::debug_only!(Deadline {});

/// Receives the number of files read so far and the total number of files. May be called on any
/// thread.
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

nacre_base::debug_only!(ReadProgress {});
