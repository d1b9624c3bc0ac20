//! The survey of a project: the stored one, brought up to date, or else a new one.

use std::panic::resume_unwind;

use nacre_map::artifact::State;
use nacre_map::indexer::CacheWrites;
use nacre_map::slices::{Churn, MadePaths, Survey, SurveyState, churn_of_log};

use super::code_map::CodeMap;

/// Up to that many changed files are read again each time; with more, the survey is stored again.
const MAX_CHANGED: usize = 64;

/// A survey of the map as it is now.
#[derive(Debug)]
pub(super) struct KnownSurvey {
    pub(super) survey: Survey,
    /// Whether the stored survey says less.
    is_newer: bool,
    pub(super) made: MadePaths,
}

impl KnownSurvey {
    pub(super) fn of(map: &CodeMap) -> Self {
        let current = &map.current;
        let made = map.made_paths();
        let state = SurveyState {
            revision: current.revision(),
            verified_ns: current.artifact.head().verified_ns,
            commit: current.commit(),
        };
        let stored = map.cache.survey(&current.project).and_then(|(identity, bytes)| {
            let state = State { revision: Survey::state_of_bytes(&bytes)?.revision, identity };
            let is_known = current.artifact.knows(state);
            let imports = if is_known { current.known_imports(&map.cache) } else { None };
            Survey::of_bytes(&bytes, imports?)
        });
        let updated = stored.and_then(|stored| updated(map, stored, state, &made));
        let (survey, is_newer) = updated.unwrap_or_else(|| (make(map, state, &made), true));
        Self { survey, is_newer, made }
    }

    /// Analyses files by their grammars that were only glanced at.
    pub(super) fn refine(&mut self, map: &mut CodeMap, paths: &[String]) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        if !map.deepen(&paths) {
            return;
        }
        for (idx, path, outline) in map.current.outlines_at(&paths) {
            self.survey.refine(idx, path, &outline, &self.made);
        }
        self.is_newer = true;
    }

    /// Stores the survey for the next overview. Best effort: errors are ignored.
    pub(super) fn store(&self, map: &CodeMap) {
        if self.is_newer && map.keeping() == CacheWrites::On {
            let identity = map.current.artifact.head().identity;
            let _ = map.cache.keep_survey(&map.current.project, identity, self.survey.to_bytes());
        }
    }
}

/// Applies what changed since to a stored survey, and says whether that is worth storing; `None` when it may have changed anything.
fn updated(
    map: &CodeMap,
    stored: Survey,
    state: SurveyState,
    made: &MadePaths,
) -> Option<(Survey, bool)> {
    let current = &map.current;
    let of = stored.state();
    if of.verified_ns != state.verified_ns || stored.n_files() != current.stats.file_count {
        return None;
    }
    let changed = current.changed_since(of.revision)?;
    let mut survey = stored.with_changes(state.revision, &changed, made)?;
    let is_other_commit = of.commit != state.commit;
    if is_other_commit {
        let paths = current.artifact.files();
        survey = survey.retold(state.commit, &churn(map), paths.iter().map(|(path, _)| *path));
    }
    Some((survey, is_other_commit || MAX_CHANGED < changed.len()))
}

fn make(map: &CodeMap, state: SurveyState, made: &MadePaths) -> Survey {
    let current = &map.current;
    let n_threads = map.options.n_threads;
    std::thread::scope(|scope| {
        // Git takes its time, and needs nothing from here.
        let log = scope.spawn(|| churn(map));
        let outlines = current.outlines(n_threads);
        let imports = current.imports(&map.cache, map.keeping(), || &outlines);
        let churn = || log.join().unwrap_or_else(|panic| resume_unwind(panic));
        Survey::new(state, &outlines, imports, made, churn)
    })
}

fn churn(map: &CodeMap) -> Churn {
    churn_of_log(&map.current.recent_log(&map.options.git))
}
