//! What an overview took from the texts of files: kept with it, so that an edit which changes none of that is seen to.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::areas::Area;
use super::text_facts::TextMarks;

/// What an overview took from the texts of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverviewBasis {
    /// All parts of the project with their lines, largest first.
    pub(super) areas: Vec<(String, u64)>,
    /// Files that were read for what they say.
    pub(super) read: BTreeSet<String>,
    /// Files whose first lines were looked at, and what those told; `None` where they could not be read.
    pub(super) looked_at: BTreeMap<String, Option<TextMarks>>,
    /// The files whose public symbols are shown, as far as they have any.
    pub(super) offering: Vec<String>,
}

impl OverviewBasis {
    pub(super) fn new(
        areas: &[Area],
        read: BTreeSet<String>,
        looked_at: BTreeMap<String, Option<TextMarks>>,
        offering: Vec<String>,
    ) -> Self {
        let areas = areas.iter().map(|area| (area.path.clone(), area.lines)).collect();
        Self { areas, read, looked_at, offering }
    }
}
