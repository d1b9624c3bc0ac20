//! Answers that were made for a state, kept beside it: the same question about the same state costs one read.

use nacre_core::safefs::FsError;
use xxhash_rust::xxh3::xxh3_64;

use super::cache::Cache;
use super::limits::{MAX_SLICE_BYTES, MAX_SURVEY_BYTES};
use super::model::Project;

/// So many answers are kept of a project; the oldest go.
const MAX_SLICES: usize = 16;

const PREFIX: &str = "slice-";

/// So many overviews are kept to be brought up to date: one for each detail.
const MAX_OVERVIEWS: usize = 4;

const OVERVIEW_PREFIX: &str = "overview-";

/// The survey that answers are made from, of which there is one.
const SURVEY: &str = "survey";

impl Cache {
    /// An answer that was kept under this key; `None` when there is none that is whole.
    pub fn slice(&self, project: &Project, key: u64) -> Option<Vec<u8>> {
        self.kept(&self.name_in(&self.name_of(project.id), PREFIX, key))
    }

    /// The overview that was last made under this key, of whatever state; `None` when there is none that is whole.
    pub fn overview(&self, project: &Project, key: u64) -> Option<Vec<u8>> {
        self.kept(&self.name_in(&self.name_of(project.id), OVERVIEW_PREFIX, key))
    }

    /// The survey that was kept, with what the files were known by then; `None` when there is none that is whole.
    pub fn survey(&self, project: &Project) -> Option<(u64, Vec<u8>)> {
        let mut bytes = self.kept(&format!("{}/{SURVEY}", self.name_of(project.id)))?;
        let identity = u64::from_le_bytes(*bytes.last_chunk()?);
        bytes.truncate(bytes.len() - size_of::<u64>());
        Some((identity, bytes))
    }

    fn kept(&self, name: &str) -> Option<Vec<u8>> {
        let bytes = self.bytes(name)?;
        let (kept, check) = bytes.split_last_chunk()?;
        (u64::from_le_bytes(*check) == xxh3_64(kept)).then(|| kept.to_vec())
    }

    /// Keeps the survey of files that are known by `identity`.
    pub fn keep_survey(
        &self,
        project: &Project,
        identity: u64,
        mut survey: Vec<u8>,
    ) -> Result<(), FsError> {
        if MAX_SURVEY_BYTES < survey.len() as u64 {
            return Ok(());
        }
        survey.extend(identity.to_le_bytes());
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        self.put(&writer, &format!("{id}/{SURVEY}"), &checked(survey))
    }

    /// Keeps an answer.
    pub fn keep_slice(&self, project: &Project, key: u64, answer: &[u8]) -> Result<(), FsError> {
        self.keep_answer(project, (PREFIX, MAX_SLICES), key, answer)
    }

    /// Keeps an overview in place of the one before.
    pub fn keep_overview(&self, project: &Project, key: u64, told: &[u8]) -> Result<(), FsError> {
        self.keep_answer(project, (OVERVIEW_PREFIX, MAX_OVERVIEWS), key, told)
    }

    fn keep_answer(
        &self,
        project: &Project,
        (prefix, n_kept): (&str, usize),
        key: u64,
        answer: &[u8],
    ) -> Result<(), FsError> {
        if MAX_SLICE_BYTES < answer.len() as u64 {
            return Ok(());
        }
        let scope = self.scope()?;
        let id = self.name_of(project.id);
        let writer = self.writer(&scope, &id)?;
        self.put(&writer, &self.name_in(&id, prefix, key), &checked(answer.to_vec()))?;
        self.remove_oldest(&writer, &id, prefix, n_kept)
    }
}

fn checked(mut bytes: Vec<u8>) -> Vec<u8> {
    let check = xxh3_64(&bytes);
    bytes.extend(check.to_le_bytes());
    bytes
}
