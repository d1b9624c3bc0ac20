//! Tells what one session was about.

use nacre_api::wire::{
    StrategyChoice, SummarizeFileReport, SummarizeFileRequest, SummarizeReport, SummarizeRequest,
};
use nacre_engine::flows::candidate::SessionSummary;
use nacre_engine::flows::strategy::{HowRead, SessionTrace, summarize_session};
use nacre_engine::model::Role;

use super::wire::{core_strategy, fallback, summarize_report};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, Reading, ResultFile, ask_rules, is_result, named_trace, warn_of_limit};

/// Reports the summary of a session.
pub fn summarize(
    host: &Host,
    request: &SummarizeRequest,
    events: &Events,
) -> Result<SummarizeReport, OpError> {
    let SummarizeRequest { trace, strategy } = request;
    let (summary, how) = read(host, trace, *strategy, events)?;
    Ok(summarize_report(summary, how))
}

/// The same, written to a file.
pub fn summarize_to_file(
    host: &Host,
    request: &SummarizeFileRequest,
    events: &Events,
) -> Result<SummarizeFileReport, OpError> {
    let SummarizeFileRequest { trace, strategy, out, force } = request;
    let out_file = ResultFile { file: out, force: *force, command: "summarize" };
    out_file.check(host, &|bytes| is_result(bytes, &["session", "title"]))?;
    let (summary, how) = read(host, trace, *strategy, events)?;
    out_file.put_json(host, &summary)?;
    let SessionSummary { session, title, .. } = summary;
    Ok(SummarizeFileReport { out: out.clone(), session, title, read: fallback(how) })
}

fn read(
    host: &Host,
    trace: &str,
    strategy: Option<StrategyChoice>,
    events: &Events,
) -> Result<(SessionSummary, HowRead), OpError> {
    let strategy = strategy.map(core_strategy);
    let reading = Reading::open(host, strategy, Role::Summarize, events.cancel())?;
    let trace = named_trace(host, trace)?;
    let project = host.project.as_ref().map(|project| project.path.as_path());
    let rules = ask_rules(&host.settings_of(project)?);
    let asker = reading.asker(host, &rules, &trace)?;
    let trace = SessionTrace { trace: &trace, words: &rules.words };
    let (summary, how) = summarize_session(trace, reading.reader(&rules), asker.as_ref())?;
    warn_of_limit(events, &how);
    Ok((summary, how))
}
