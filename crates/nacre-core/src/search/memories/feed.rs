//! The memories of a store as news for an index that many projects share.
//!
//! Everything that is unique in a store gets the project's name before it, so that two projects may have memories of one id.

use std::collections::HashMap;

use jiff::Timestamp;

use super::SearchError;
use super::look::{IndexBudget, Look};
use crate::memory::{Located, Store};
use crate::search::record::{Fingerprint, PROJECT, Unit};

/// Stands between the name of a project and what is its own. No name has it.
const BETWEEN: char = '\u{1f}';

/// What is taken in at once: one transaction of the shared index.
const PIECE: IndexBudget = IndexBudget { n_files: 200, n_bytes: 1 << 20 };

/// Units of a project that are different from what a shared index holds.
#[derive(Clone, Debug, Default)]
pub struct ProjectNews {
    pub units: Vec<Unit>,
    /// Keys of units that are no more.
    pub gone: Vec<String>,
    /// Whether there is more to come.
    pub is_partial: bool,
}

/// What a shared index knows, by project and path.
#[derive(Clone, Debug, Default)]
pub struct SharedUnits(HashMap<String, HashMap<String, Fingerprint>>);

impl SharedUnits {
    /// Sorts the units of a shared index by project.
    pub fn new(known: HashMap<String, Fingerprint>) -> Self {
        let mut units = Self::default();
        for (key, fingerprint) in known {
            if let Some((project, path)) = key.split_once(BETWEEN) {
                let of_project = units.0.entry(project.to_owned()).or_default();
                of_project.insert(path.to_owned(), fingerprint);
            }
        }
        units
    }

    /// What is different in `store`, which is that of `project`: as much as is taken in at once, and `None` when nothing is. What is
    /// returned counts as taken in.
    pub fn news_of(
        &mut self,
        project: &str,
        store: &Store,
        now: Timestamp,
    ) -> Result<Option<ProjectNews>, SearchError> {
        let survey = store.survey()?;
        let look = Look { store, survey: &survey, now, alarm: None };
        let known = self.0.entry(project.to_owned()).or_default();
        let (units, gone, n_left) = look.news(known, PIECE)?;
        if units.is_empty() && gone.is_empty() {
            return Ok(None);
        }
        for unit in &units {
            known.insert(unit.key.clone(), unit.fingerprint);
        }
        for path in &gone {
            known.remove(path);
        }
        let units = units.into_iter().map(|unit| shared(project, unit)).collect();
        let gone = gone.iter().map(|path| own(project, path)).collect();
        Ok(Some(ProjectNews { units, gone, is_partial: n_left > 0 }))
    }

    /// The news that make an index forget projects that are not among `projects`.
    pub fn forget_others(&mut self, projects: &[&str]) -> ProjectNews {
        let others = self.0.extract_if(|project, _| !projects.contains(&project.as_str()));
        let gone = others.flat_map(|(project, units)| {
            units.into_keys().map(|path| own(&project, &path)).collect::<Vec<_>>()
        });
        ProjectNews { gone: gone.collect(), ..ProjectNews::default() }
    }
}

/// The project and the place of a unit of a shared index.
pub fn place_of_shared_unit(key: &str) -> Option<(&str, Located)> {
    let (project, path) = key.split_once(BETWEEN)?;
    Some((project, Located::from_path(path)?))
}

fn own(project: &str, name: &str) -> String {
    format!("{project}{BETWEEN}{name}")
}

fn shared(project: &str, mut unit: Unit) -> Unit {
    unit.key = own(project, &unit.key);
    for record in &mut unit.records {
        record.key = own(project, &record.key);
        record.facets.push((PROJECT, project.to_owned()));
        for link in &mut record.links {
            link.to = own(project, &link.to);
        }
    }
    unit
}
