//! The run folder: what a run found, decided and cost, as files that are staged with its memories.

use std::borrow::Cow;

use nacre_core::base::redact::ExtraWords;
use nacre_core::memory::{Batch, PlannedChange};
use serde::Serialize;
use serde_json::json;

use super::asked::Asked;
use super::metrics::{SyncDurations, SyncMetrics, TokenCounts};
use super::report::RunReport;
use super::{Session, SyncError};
use crate::flows::run::{LEAD_SESSION_FILE, METRICS_FILE, UndoPlan, pretty};
use crate::model::SpentTotals;

/// What the files of a run tell besides its report.
pub(super) struct RunNotes<'a> {
    pub(super) asked: &'a Asked,
    pub(super) durations: &'a SyncDurations,
    /// Words that none of the files contains.
    pub(super) words: &'a ExtraWords,
}

impl Session<'_> {
    pub(super) fn stage_artifacts(
        &self,
        batch: &mut Batch<'_>,
        report: &RunReport,
        plan: &[PlannedChange],
        RunNotes { asked, durations, words }: RunNotes<'_>,
    ) -> Result<(), SyncError> {
        let folder = report.run_id.folder()?;
        let extraction = &self.reading.extraction;
        let redactions = batch.redactions().clone();
        let (how, spent) = (&self.reading.how, self.spent());
        let input = spent.usage.total().saturating_sub(spent.usage.output);
        let metrics = SyncMetrics {
            run_id: report.run_id.clone(),
            strategy: extraction.strategy,
            gate: extraction.gate,
            windows: how.windows,
            unread_windows: how.unread_windows,
            unread_events: how.unread_events,
            steps: how.steps,
            fallback: how.fallback.clone(),
            candidates: extraction.candidates.len(),
            dropped: report.dropped.clone(),
            denied_writes: asked.denied_writes(),
            leads: asked.leads(),
            explorers: asked.explorers(),
            model_calls: spent.calls + u64::from(asked.model_calls()),
            tokens: TokenCounts {
                input: input.saturating_add(asked.input_tokens()),
                output: spent.usage.output.saturating_add(asked.output_tokens()),
            },
            cost_usd: report.cost_usd,
            unpriced_calls: spent.unpriced_calls,
            redactions: redactions.iter().map(|(kind, n)| ((*kind).to_owned(), *n)).collect(),
            events: self.reading.next_sequence,
            durations_ms: *durations,
        };
        let session = json!({
            "run_id": report.run_id, "session": report.session, "agent": report.agent,
            "trace_path": report.trace_path, "repo": self.reading.facts.cwd, "at": report.finished_at,
        });
        let summary =
            json!({ "summary_path": report.summary_path, "summary": self.reading.summary });
        let files: [(&str, Vec<u8>); 7] = [
            ("extract.json", without_words(extraction, words)),
            ("summary.json", without_words(&summary, words)),
            (report.run_id.actions_file(), pretty(report)),
            (METRICS_FILE, pretty(&metrics)),
            ("agent.log", agent_log(report, spent, (asked, words))),
            ("subagents.log", asked.explorer_log(words)),
            ("session.log", format!("{}\n", words.redact(&session.to_string())).into_bytes()),
        ];
        for (name, bytes) in files {
            batch.put_file(folder.join(name)?, bytes)?;
        }
        if let Some(session) = asked.session(words) {
            batch.put_file(folder.join(LEAD_SESSION_FILE)?, session)?;
        }
        let (path, bytes) = UndoPlan::of(plan).file(&report.run_id)?;
        Ok(batch.put_file(path, bytes)?)
    }
}

/// A file of a run. A model may know a word by itself that it was not told.
fn without_words(value: &impl Serialize, words: &ExtraWords) -> Vec<u8> {
    let bytes = pretty(value);
    match std::str::from_utf8(&bytes).map(|text| words.redact(text)) {
        Ok(Cow::Owned(clean)) if !words.is_empty() => clean.into_bytes(),
        Ok(_) | Err(_) => bytes,
    }
}

/// What a model had to do with a run: a sentence about reading, and what a lead told, an event a line.
fn agent_log(
    report: &RunReport,
    spent: SpentTotals,
    (asked, words): (&Asked, &ExtraWords),
) -> Vec<u8> {
    let fallback = report.fallback.as_ref().map(|why| format!(" Fell back: {why}."));
    let told = match spent.calls {
        0 => "No model was asked to read: candidates are by rule.".to_owned(),
        calls => format!(
            "A model was asked {calls} times to read: {} tokens, {}.",
            spent.usage.total(),
            spent.cost
        ),
    };
    let told = json!({ "event": "notice", "text": told + &fallback.unwrap_or_default() });
    let told = words.redact(&told.to_string()).into_owned();
    [format!("{told}\n").into_bytes(), asked.lead_log(words)].concat()
}
