//! Answers that were made for a state, kept beside it: the same question about the same state costs one read.

use std::io::Read as _;
use std::time::SystemTime;

use nacre_core::safefs::{Access, FsError, RelPath, WriteScope};
use xxhash_rust::xxh3::xxh3_64;

use super::cache::Cache;
use super::model::Project;

/// So many answers are kept of a project; the oldest go.
const MAX_SLICES: usize = 16;

/// A longer answer is made again each time.
const MAX_SLICE_BYTES: u64 = 4 << 20;

const PREFIX: &str = "slice-";

/// The survey that answers are made from, of which there is one.
const SURVEY: &str = "survey";

/// A larger survey is made again each time.
const MAX_SURVEY_BYTES: u64 = 256 << 20;

impl Cache {
    /// An answer that was kept under this key; `None` when there is none that is whole.
    pub fn slice(&self, project: &Project, key: u64) -> Option<Vec<u8>> {
        self.kept(project, &name(key), MAX_SLICE_BYTES)
    }

    /// The survey that was kept; `None` when there is none that is whole.
    pub fn survey(&self, project: &Project) -> Option<Vec<u8>> {
        self.kept(project, SURVEY, MAX_SURVEY_BYTES)
    }

    fn kept(&self, project: &Project, name: &str, max_bytes: u64) -> Option<Vec<u8>> {
        let path = self.folder().join(project.id.to_string()).join(name);
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        file.take(max_bytes + 8).read_to_end(&mut bytes).ok()?;
        // The check stands at the end, so that what it is of need not be moved.
        let (_, check) = bytes.split_last_chunk()?;
        let check = u64::from_le_bytes(*check);
        bytes.truncate(bytes.len() - 8);
        (check == xxh3_64(&bytes)).then_some(bytes)
    }

    /// Keeps the survey.
    pub fn keep_survey(&self, project: &Project, survey: Vec<u8>) -> Result<(), FsError> {
        if MAX_SURVEY_BYTES < survey.len() as u64 {
            return Ok(());
        }
        let scope = self.scope()?;
        let id = project.id.to_string();
        WriteScope::create_inside(self.folder(), &id, Access::Private)?;
        let writer = self.lock(&scope)?;
        writer.put_derived(&RelPath::new(&format!("{id}/{SURVEY}"))?, &checked(survey))
    }

    /// Keeps an answer.
    pub fn keep_slice(&self, project: &Project, key: u64, answer: &[u8]) -> Result<(), FsError> {
        if MAX_SLICE_BYTES < answer.len() as u64 {
            return Ok(());
        }
        let scope = self.scope()?;
        let id = project.id.to_string();
        let folder = WriteScope::create_inside(self.folder(), &id, Access::Private)?;
        let writer = self.lock(&scope)?;
        let bytes = checked(answer.to_vec());
        writer.put_derived(&RelPath::new(&format!("{id}/{}", name(key)))?, &bytes)?;
        let mut kept: Vec<(SystemTime, String)> = std::fs::read_dir(folder.path())
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                let is_slice = name.starts_with(PREFIX);
                let modified = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
                is_slice.then_some((modified, name))
            })
            .collect();
        kept.sort();
        let n_over = kept.len().saturating_sub(MAX_SLICES);
        for (_, name) in kept.into_iter().take(n_over) {
            writer.remove_derived(&RelPath::new(&format!("{id}/{name}"))?)?;
        }
        Ok(())
    }
}

fn checked(mut bytes: Vec<u8>) -> Vec<u8> {
    let check = xxh3_64(&bytes);
    bytes.extend(check.to_le_bytes());
    bytes
}

fn name(key: u64) -> String {
    format!("{PREFIX}{key:016x}")
}
