//! Everything that listens to a run and outlives it: the state, the log, and the collector where one is named.
//!
//! One thing to open before a run and to close after it. Nothing here can fail a task: what goes wrong is in the
//! report.

use std::sync::Arc;
use std::time::Duration;

use nacre_core::base::redact::ExtraWords;
use nacre_core::safefs::{Access, Owner, WriteScope};

use super::event::Listener;
use super::state::{LOG_FOLDER, LogFile, Recorder, RecorderReport, Retention, State, StateError};
use super::telemetry::{Collector, CollectorError, SpanLog};

/// The longest that the end of a run waits for a collector.
const TELEMETRY_LIMIT: Duration = Duration::from_secs(5);

/// What hears a run.
#[derive(Debug)]
pub struct Recording {
    recorder: Arc<Recorder>,
    telemetry: Option<(Arc<SpanLog>, Collector)>,
    /// Why there is no telemetry although an address was given.
    refusal: Option<CollectorError>,
}

/// What of a run is kept, and who is told besides.
#[derive(Clone, Debug, Default)]
pub struct RecordingRules<'a> {
    /// The address of a collector; empty is none.
    pub otlp: &'a str,
    /// Words of the run's project that are not kept.
    pub words: ExtraWords,
}

/// How it went.
#[derive(Debug)]
pub struct RecordingReport {
    pub recorder: RecorderReport,
    /// The spans that were sent, where a collector is named.
    pub telemetry: Option<Result<usize, CollectorError>>,
}

impl Recording {
    /// Opens the state and the log in the global folder.
    pub fn start(
        home: &WriteScope,
        owner: &Owner,
        patience: Duration,
        rules: RecordingRules<'_>,
    ) -> Result<Self, StateError> {
        let RecordingRules { otlp, words } = rules;
        let state = State::open(home, owner, patience)?.without_words(words);
        // A run without a log is better than no run.
        let log = WriteScope::create_inside(home.path(), LOG_FOLDER, Access::Private)
            .and_then(|folder| LogFile::new(folder, owner.clone()))
            .ok();
        let recorder = Arc::new(Recorder::start(state, log, Retention::default()));
        let (telemetry, refusal) = match (otlp, Collector::new(otlp)) {
            ("", _) => (None, None),
            (_, Ok(collector)) => (Some((Arc::new(SpanLog::default()), collector)), None),
            (_, Err(refusal)) => (None, Some(refusal)),
        };
        Ok(Self { recorder, telemetry, refusal })
    }

    /// What `Events` is made with.
    pub fn listeners(&self) -> Vec<Arc<dyn Listener>> {
        let mut listeners: Vec<Arc<dyn Listener>> =
            vec![Arc::clone(&self.recorder) as Arc<dyn Listener>];
        if let Some((spans, _)) = &self.telemetry {
            listeners.push(Arc::clone(spans) as Arc<dyn Listener>);
        }
        listeners
    }

    /// Waits until what was told is written, and sends the spans.
    pub async fn close(self) -> RecordingReport {
        let recorder = self.recorder.close();
        let telemetry = match (self.telemetry, self.refusal) {
            (Some((spans, collector)), _) => Some(collector.send(&spans, TELEMETRY_LIMIT).await),
            (None, Some(refusal)) => Some(Err(refusal)),
            (None, None) => None,
        };
        RecordingReport { recorder, telemetry }
    }
}
