//! How large the files of the cache can be, by their names.

use super::seal::Seal;

/// No log is longer; what is, was not written here.
pub(super) const MAX_LOG_BYTES: u64 = 64 << 20;

/// A longer answer is made again each time.
pub(super) const MAX_SLICE_BYTES: u64 = 4 << 20;

/// A larger survey is made again each time.
pub(super) const MAX_SURVEY_BYTES: u64 = 256 << 20;

/// How the names of the files begin that say what a client has seen.
pub(super) const CLIENT_PREFIX: &str = "client-";

/// How large a file of each kind can be, by how its name begins. A larger one was not written here, and is not read.
const LIMITS: &[(&str, u64)] = &[
    ("base-", 1 << 30),
    ("graph-", 256 << 20),
    ("slice-", MAX_SLICE_BYTES),
    ("overview-", MAX_SLICE_BYTES),
    ("survey", MAX_SURVEY_BYTES),
    ("words-", 256 << 20),
    (CLIENT_PREFIX, 64),
];

/// All others are packs of analyses.
const MAX_PACK_BYTES: u64 = 256 << 20;

/// What is around what is kept: checksums and the seal.
const MAX_WRAPPING_BYTES: u64 = 16 + Seal::MORE_BYTES as u64;

/// How large a file of that name can be.
pub(super) fn limit_of(name: &str) -> u64 {
    let file = name.rsplit('/').next().unwrap_or_default();
    let kind = LIMITS.iter().find(|(start, _)| file.starts_with(start));
    kind.map_or(MAX_PACK_BYTES, |(_, limit)| *limit) + MAX_WRAPPING_BYTES
}
