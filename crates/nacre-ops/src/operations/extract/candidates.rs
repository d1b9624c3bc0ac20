//! Finds what is worth keeping in one session.

use nacre_api::wire::{
    ExplainedCandidates, ExtractFileReport, ExtractFileRequest, ExtractReport, ExtractRequest,
    StrategyChoice,
};
use nacre_engine::flows::extract::Rules;
use nacre_engine::flows::strategy::{SessionRead, SessionTrace, read_session};
use nacre_engine::model::Role;

use super::wire::{core_strategy, extract_report};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, Reading, ResultFile, ask_rules, is_result, named_trace, warn_of_limit};

/// Reports the candidates of a session.
pub fn extract(
    host: &Host,
    request: &ExtractRequest,
    events: &Events,
) -> Result<ExtractReport, OpError> {
    let ExtractRequest { trace, strategy } = request;
    Ok(extract_report(read(host, trace, *strategy, events)?))
}

/// The same, written to a file.
pub fn extract_to_file(
    host: &Host,
    request: &ExtractFileRequest,
    events: &Events,
) -> Result<ExtractFileReport, OpError> {
    let ExtractFileRequest { trace, strategy, out, explain, force } = request;
    let out_file = ResultFile { file: out, force: *force, command: "extract" };
    out_file.check(host, &|bytes| is_result(bytes, &["session", "candidates"]))?;
    let read = read(host, trace, *strategy, events)?;
    out_file.put_json(host, &read.extraction)?;
    let report = extract_report(read);
    Ok(ExtractFileReport {
        out: out.clone(),
        session: report.session,
        gate: report.gate,
        strategy: report.strategy,
        candidates: report.candidates.len(),
        dropped: report.dropped_counts,
        explained: explain.then_some(ExplainedCandidates {
            candidates: report.candidates,
            dropped: report.dropped,
        }),
        read: report.read,
    })
}

fn read(
    host: &Host,
    trace: &str,
    strategy: Option<StrategyChoice>,
    events: &Events,
) -> Result<SessionRead, OpError> {
    let strategy = strategy.map(core_strategy);
    let reading = Reading::open(host, strategy, Role::Extract, events.cancel())?;
    let trace = named_trace(host, trace)?;
    let store = host.project_store()?.map(|scoped| scoped.store);
    let is_forgotten = |title: &str, body: &str| {
        store.as_ref().is_some_and(|store| store.is_forgotten(title, body).unwrap_or(false))
    };
    let rules = Rules { is_forgotten: &is_forgotten, ..Rules::default() };
    let project = host.project.as_ref().map(|project| project.path.as_path());
    let ask_rules = ask_rules(&host.settings_of(project)?);
    let asker = reading.asker(host, &ask_rules, &trace)?;
    let trace = SessionTrace { trace: &trace, words: &ask_rules.words };
    let read = read_session(trace, rules, reading.reader(&ask_rules), asker.as_ref())?;
    warn_of_limit(events, &read.how);
    Ok(read)
}
