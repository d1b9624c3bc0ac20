//! How a project is looked at: what is believed, what is written, and how long it may take.

use nacre_core::base::git::GitProgram;

use super::deadline::Deadline;
use super::excludes::Excludes;
use super::progress::ReadProgress;
use super::sensitive::Sensitive;

/// How a project is looked at.
#[derive(Clone, Debug)]
pub struct RefreshOptions {
    /// What time it is.
    pub now_ns: i64,
    /// What time it is by the clock that the file system stamps files with.
    pub looked_ns: i64,
    pub trust: Verify,
    pub keeping: CacheWrites,
    /// When the words of new texts are counted.
    pub words: WordCounting,
    pub sensitive: Sensitive,
    pub excludes: Excludes,
    /// Asked for what cannot be read without it.
    pub git: GitProgram,
    pub n_threads: usize,
    /// Until when it may take.
    pub deadline: Deadline,
    /// Is told how far it is.
    pub progress: ReadProgress,
}

/// Whether stamps are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    Stamps,
    /// Every byte is read again.
    Contents,
}

/// Whether what a look finds is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheWrites {
    On,
    /// The answer is right, and the disk stays as it is.
    Off,
}

/// When the words of texts are counted that a look finds new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordCounting {
    /// By the look, from the bytes that it reads: for who asks for words next.
    Now,
    /// When somebody asks for words.
    Later,
}
