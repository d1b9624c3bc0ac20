//! Answers that were made for a state, kept beside it: the same question about the same state costs one read.

use nacre_core::safefs::{Access, FsError, WriteScope};
use xxhash_rust::xxh3::xxh3_64;

use super::cache::Cache;
use super::model::Project;

/// So many answers are kept of a project; the oldest go.
const MAX_SLICES: usize = 16;

/// A longer answer is made again each time.
const MAX_SLICE_BYTES: u64 = 4 << 20;

const PREFIX: &str = "slice-";

impl Cache {
    /// An answer that was kept under this key; `None` when there is none that is whole.
    pub fn slice(&self, project: &Project, key: u64) -> Option<Vec<u8>> {
        let bytes = self.bytes(&format!("{}/{}", project.id, name(key)))?;
        let (check, answer) = bytes.split_first_chunk()?;
        (u64::from_le_bytes(*check) == xxh3_64(answer)).then(|| answer.to_vec())
    }

    /// Keeps an answer.
    pub fn keep_slice(&self, project: &Project, key: u64, answer: &[u8]) -> Result<(), FsError> {
        if MAX_SLICE_BYTES < answer.len() as u64 {
            return Ok(());
        }
        let scope = self.scope()?;
        let id = project.id.to_string();
        WriteScope::create_inside(self.folder(), &id, Access::Private)?;
        let writer = self.lock(&scope)?;
        let mut bytes = xxh3_64(answer).to_le_bytes().to_vec();
        bytes.extend(answer);
        self.put(&writer, &format!("{id}/{}", name(key)), &bytes)?;
        self.remove_oldest(&writer, &id, PREFIX, MAX_SLICES)
    }
}

fn name(key: u64) -> String {
    format!("{PREFIX}{key:016x}")
}
