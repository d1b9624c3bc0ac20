//! Prepares a store's memories for an index shared by several projects.
//!
//! Keys are prefixed with the project name, because two projects may use the same ID.

use std::collections::HashMap;

use jiff::Timestamp;

use super::Result;
use super::look::{IndexBudget, Look};
use crate::search::index::News;
use crate::search::record::{Fingerprint, PROJECT, Unit};
use crate::{Located, Store};

/// Separates the project name from the ID. Project names cannot contain this character.
const SEPARATOR: char = '\u{1f}';

/// Limits for one transaction on the shared index.
const PIECE: IndexBudget = IndexBudget { n_files: 200, n_bytes: 1 << 20 };

#[derive(Clone, Debug, Default)]
pub struct SharedUnits(HashMap<String, HashMap<String, Fingerprint>>);

impl SharedUnits {
    pub fn new(known: HashMap<String, Fingerprint>) -> Self {
        let mut units = Self::default();
        for (key, fingerprint) in known {
            if let Some((project, path)) = key.split_once(SEPARATOR) {
                let of_project = units.0.entry(project.to_owned()).or_default();
                of_project.insert(path.to_owned(), fingerprint);
            }
        }
        units
    }

    /// Returns the next batch of changes for `project`, or `None` if the index is up to date. After
    /// this call, the returned changes count as indexed.
    pub fn news_of(
        &mut self,
        project: &str,
        store: &Store,
        now: Timestamp,
    ) -> Result<Option<News>> {
        let survey = store.survey()?;
        let look = Look { store, survey: &survey, now, alarm: None };
        let known = self.0.entry(project.to_owned()).or_default();
        let mut news = look.news(known, PIECE)?;
        if news.units.is_empty() && news.gone.is_empty() {
            return Ok(None);
        }
        for unit in &mut news.units {
            known.insert(unit.key.clone(), unit.fingerprint);
            qualify(project, unit);
        }
        for path in &mut news.gone {
            known.remove(path);
            *path = qualify_name(project, path);
        }
        Ok(Some(news))
    }

    pub fn forget_others(&mut self, projects: &[&str]) -> News {
        let others = self.0.extract_if(|project, _| !projects.contains(&project.as_str()));
        let gone = others.flat_map(|(project, units)| {
            units.into_keys().map(|path| qualify_name(&project, &path)).collect::<Vec<_>>()
        });
        News { gone: gone.collect(), ..News::default() }
    }
}

pub fn place_of_shared_unit(key: &str) -> Option<(&str, Located)> {
    let (project, path) = key.split_once(SEPARATOR)?;
    Some((project, Located::from_path(path)?))
}

fn qualify_name(project: &str, name: &str) -> String {
    format!("{project}{SEPARATOR}{name}")
}

fn qualify(project: &str, unit: &mut Unit) {
    unit.key = qualify_name(project, &unit.key);
    for record in &mut unit.records {
        record.key = qualify_name(project, &record.key);
        record.facets.push((PROJECT, project.to_owned()));
        for link in &mut record.links {
            link.to = qualify_name(project, &link.to);
        }
    }
}
