//! The place where this process finds its own open files; barriers are such files.

use std::path::Path;

/// Where the open files of this process are found by their numbers.
pub(super) const OPEN_FILES: &str = "/proc/self/fd";

/// Whether a path is that of a barrier: nothing else that is watched lies there.
pub(super) fn is_barrier(path: &Path) -> bool {
    path.starts_with(OPEN_FILES)
}
