//! `nacre extract`

use clap::Args;
use nacre_api::wire::{
    Candidate, DroppedCandidate, ExtractFileReport, ExtractFileRequest, ExtractRequest, Gate,
    Report as _,
};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, extract as ops};

use super::exit::Exit;
use super::strategy::StrategyArgs;
use super::ui::{Role, Ui};

/// Find what is worth keeping in one session, and write it to a file
///
/// Works without a model: explicit signals only, each with the words that prove it. With one, the model reads the session
/// and every claim is held against it. Nothing is the normal result, and no memory is written.
#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    /// A trace of any agent, or the id of a session that was seen
    #[arg(long, value_name = "TRACE")]
    trace: String,
    /// The file to write; `-` prints it
    #[arg(long, value_name = "FILE")]
    out: String,
    /// Show each candidate, and each proposal that was dropped with its reason
    #[arg(long)]
    explain: bool,
    /// Write over a file that is not the result of an earlier extract
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    strategy: StrategyArgs,
}

pub(crate) fn cmd_extract(ui: &mut Ui, host: &Host, args: &ExtractArgs) -> Result<Exit, OpError> {
    let ExtractArgs { trace, out, explain, force, strategy } = args;
    let (trace, strategy) = (trace.clone(), strategy.choice());
    if out == "-" {
        let report = ops::extract(host, &ExtractRequest { trace, strategy }, &ui.events())?;
        ui.json(&report)?;
        return Ok(report.outcome().into());
    }
    let (out, explain, force) = (out.clone(), *explain, *force);
    let request = ExtractFileRequest { trace, strategy, out, explain, force };
    let report = ops::extract_to_file(host, &request, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ExtractFileReport) -> Result<(), OpError> {
    let n_dropped: u64 = report.dropped.values().sum();
    let gate = match report.gate {
        Gate::Open => String::new(),
        gate @ (Gate::NotAPersons | Gate::NoWords | Gate::Abandoned | Gate::Mechanical) => {
            format!(", not looked at further: {}", gate.as_str())
        }
    };
    let n_found = report.candidates;
    let candidates = if n_found == 1 { "candidate" } else { "candidates" };
    ui.status(format!(
        "{n_found} {candidates}, {n_dropped} dropped{gate}; written to {}",
        Shown(&report.out).one_line()
    ))?;
    let Some(explained) = &report.explained else { return Ok(()) };
    let kept = explained.candidates.iter().map(kept_row);
    let dropped = explained.dropped.iter().map(dropped_row);
    ui.table(&kept.chain(dropped).collect::<Vec<_>>())
}

fn kept_row(candidate: &Candidate) -> Vec<(Role, String)> {
    vec![
        (Role::Id, candidate.id.clone()),
        (Role::Good, format!("{:.2}", candidate.confidence)),
        (Role::Faint, candidate.signal.as_str().to_owned()),
        (Role::Title, Shown(&candidate.title).one_line()),
    ]
}

fn dropped_row(dropped: &DroppedCandidate) -> Vec<(Role, String)> {
    vec![
        (Role::Faint, "-".to_owned()),
        (Role::Warning, dropped.reason.as_str().to_owned()),
        (Role::Faint, dropped.signal.as_str().to_owned()),
        (Role::Faint, Shown(&dropped.title).one_line()),
    ]
}
