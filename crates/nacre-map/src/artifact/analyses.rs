//! What was found in texts, by their content: worktrees, branches and clones of a repository share it.
//!
//! Nothing here is needed: what is missing is found again in the file.

use std::sync::{Arc, OnceLock};

use super::analysis_key::AnalysisKey;
use super::blob;
use super::cache::Cache;
use super::fresh::NewPack;
use super::mapped::Mapped;
use super::pack::Pack;
use super::packs::Packs;
use crate::languages::{Analysis, Depth, Language, Outline};

/// All analyses of this machine.
#[derive(Debug, Default)]
pub struct Analyses {
    /// Where the packs lie.
    cache: Option<Cache>,
    packs: OnceLock<Packs>,
    /// What could not be kept.
    loose: Vec<Arc<Pack>>,
}

impl Analyses {
    /// What is there below the folder of the artifacts.
    ///
    /// A pack that is mapped stays whole, whoever removes it, and costs next to nothing. What is encrypted is deciphered only
    /// when the first is looked into: an unchanged project needs none.
    fn open(cache: &Cache) -> Self {
        let packs = match cache.is_sealed() {
            true => OnceLock::new(),
            false => OnceLock::from(Packs::open(cache)),
        };
        Self { cache: Some(cache.clone()), packs, loose: Vec::new() }
    }

    /// What is known of a text, from the closest look that anybody took.
    pub fn get(&self, key: AnalysisKey) -> Option<Analysis> {
        self.blobs(key).max_by_key(|bytes| blob::depth_of(bytes)).and_then(blob::decode)
    }

    /// The names of what is known to be defined in a text.
    pub fn names(&self, key: AnalysisKey) -> Vec<&str> {
        let closest = self.blobs(key).max_by_key(|bytes| blob::depth_of(bytes));
        closest.and_then(blob::names).unwrap_or_default()
    }

    /// What is known of a text as a whole.
    pub fn outline(&self, key: AnalysisKey, language: Language) -> Option<Outline<'_>> {
        let closest = self.blobs(key).max_by_key(|bytes| blob::depth_of(bytes))?;
        blob::decode_outline(closest, language)
    }

    /// How closely a text was looked at; `None` when it never was.
    pub fn depth(&self, key: AnalysisKey) -> Option<Depth> {
        self.blobs(key).map(blob::depth_of).max()
    }

    fn blobs(&self, key: AnalysisKey) -> impl Iterator<Item = &[u8]> {
        let open = || self.cache.as_ref().map(Packs::open).unwrap_or_default();
        let packs = self.packs.get_or_init(open).iter().chain(&self.loose);
        packs.filter_map(move |pack| pack.get(key.number()))
    }

    /// Holds what could not be kept, for as long as this answer lives.
    pub fn hold(&mut self, new: impl IntoIterator<Item = NewPack>) {
        let packs = new.into_iter().filter_map(|NewPack(bytes)| Pack::open(Mapped::Memory(bytes)));
        self.loose.extend(packs.map(Arc::new));
    }
}

impl Cache {
    pub fn analyses(&self) -> Analyses {
        Analyses::open(self)
    }
}
