//! How deep folders are looked into.

/// Folders that lie deeper, or whose path is longer, are not opened.
pub(super) const MAX_DEPTH: usize = 128;
pub(super) const MAX_PATH_BYTES: usize = 3_800;

/// Whether a file lies in a folder that would not be opened.
pub(super) fn is_too_deep(path: &str) -> bool {
    let n_folder_bytes = path.rfind('/').unwrap_or(0);
    MAX_PATH_BYTES < n_folder_bytes
        || MAX_DEPTH < memchr::memchr_iter(b'/', path.as_bytes()).count()
}
