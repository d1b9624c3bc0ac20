//! The survey of a project: the one that was kept, brought up to date, or else a new one.

use nacre_map::artifact::State;
use std::panic::resume_unwind;

use nacre_map::indexer::Keeping;
use nacre_map::slices::{Churn, Survey, SurveyState, churn_of_log};

use super::map::Map;
use super::payload;

/// So many changed files are looked at again each time before the survey is written anew.
const MAX_CHANGED: usize = 64;

/// A survey of the map as it is now.
#[derive(Debug)]
pub(crate) struct KnownSurvey {
    pub(crate) survey: Survey,
    /// Whether what is kept says less.
    is_news: bool,
}

impl KnownSurvey {
    pub(crate) fn of(map: &Map) -> Self {
        let current = &map.current;
        let state = SurveyState {
            revision: current.revision(),
            verified_ns: current.artifact.head().verified_ns,
            commit: current.commit(),
        };
        let kept = map.cache.survey(&current.project).and_then(|(identity, bytes)| {
            let survey = Survey::of_bytes(&bytes)?;
            let state = State { revision: survey.state().revision, identity };
            current.artifact.knows(state).then_some(survey)
        });
        kept.and_then(|kept| Self::updated(map, kept, state))
            .unwrap_or_else(|| Self { survey: made(map, state), is_news: true })
    }

    /// Takes over what changed since; `None` when that may have changed anything.
    fn updated(map: &Map, kept: Survey, state: SurveyState) -> Option<Self> {
        let current = &map.current;
        let of = kept.state();
        if of.verified_ns != state.verified_ns || kept.n_files() != current.stats.file_count {
            return None;
        }
        let changed = current.changed_since(of.revision)?;
        let mut survey = kept.with_changes(state.revision, &changed)?;
        let is_retold = of.commit != state.commit;
        if is_retold {
            let paths = current.artifact.files();
            survey = survey.retold(state.commit, &churn(map), paths.iter().map(|(path, _)| *path));
        }
        Some(Self { survey, is_news: is_retold || MAX_CHANGED < changed.len() })
    }

    /// Looks at files by their grammars that were only glanced at.
    pub(crate) fn refine(&mut self, map: &mut Map, paths: &[String]) {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        if !payload::deepened(map, &paths) {
            return;
        }
        for (idx, path, outline) in map.current.outlines_at(&paths) {
            self.survey.refine(idx, path, &outline);
        }
        self.is_news = true;
    }

    /// Keeps the survey for the next answer; nobody needs it, so a failure is none.
    pub(crate) fn keep(&self, map: &Map) {
        if self.is_news && map.keeping() == Keeping::Kept {
            let identity = map.current.artifact.head().identity;
            let _ = map.cache.keep_survey(&map.current.project, identity, self.survey.to_bytes());
        }
    }
}

fn made(map: &Map, state: SurveyState) -> Survey {
    let current = &map.current;
    let n_threads = map.options.n_threads;
    std::thread::scope(|scope| {
        // Git takes its time to tell, and needs nothing from here.
        let telling = scope.spawn(|| churn(map));
        let outlines = current.outlines(n_threads);
        let manifests = current.manifests(outlines.iter().map(|file| file.path));
        let churn = || telling.join().unwrap_or_else(|panic| resume_unwind(panic));
        Survey::new(state, &outlines, &manifests, churn, n_threads)
    })
}

fn churn(map: &Map) -> Churn {
    churn_of_log(&map.current.recent_log(&map.options.git))
}
