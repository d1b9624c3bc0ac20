//! `nacre extract`

use clap::Args;
use nacre_core::base::Shown;
use nacre_engine::flows::candidate::Extraction;
use nacre_engine::flows::extract::Rules;
use nacre_engine::flows::strategy::{SessionTrace, read_session};
use nacre_engine::model::Role as ModelRole;
use serde_json::json;

use super::exit::Exit;
use super::strategy::StrategyArgs;
use super::traces;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::ask_rules;
use nacre_ops::host::{Reading, warn_of_limit};

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
    #[command(flatten)]
    strategy: StrategyArgs,
}

pub(crate) fn cmd_extract(ui: &mut Ui, host: &Host, args: &ExtractArgs) -> Result<Exit, OpError> {
    let ExtractArgs { trace, out, explain, strategy } = args;
    let reading = Reading::open(host, strategy.choice(), ModelRole::Extract)?;
    let trace = traces::named_trace(host, trace)?;
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
    let exit = warn_of_limit(&ui.events(), &read.how).into();
    let extraction = read.extraction;
    super::artifact::put(ui, host, out, &extraction)?;
    match (out == "-", ui.is_json()) {
        (true, _) => {}
        (false, true) => ui.json(&report(out, &extraction, *explain))?,
        (false, false) => print(ui, out, &extraction, *explain)?,
    }
    Ok(exit)
}

fn report(out: &str, extraction: &Extraction, explain: bool) -> serde_json::Value {
    let mut report = json!({
        "out": out, "session": extraction.session, "gate": extraction.gate.as_str(),
        "strategy": extraction.strategy,
        "candidates": extraction.candidates.len(), "dropped": extraction.dropped_counts,
    });
    if explain {
        report["explained"] =
            json!({ "candidates": extraction.candidates, "dropped": extraction.dropped });
    }
    report
}

fn print(ui: &mut Ui, out: &str, extraction: &Extraction, explain: bool) -> Result<(), OpError> {
    let n_dropped: u64 = extraction.dropped_counts.values().sum();
    let gate = if extraction.gate.is_open() {
        String::new()
    } else {
        format!(", not looked at further: {}", extraction.gate.as_str())
    };
    let n_found = extraction.candidates.len();
    let candidates = if n_found == 1 { "candidate" } else { "candidates" };
    ui.status(format!(
        "{n_found} {candidates}, {n_dropped} dropped{gate}; written to {}",
        Shown(out).one_line()
    ))?;
    if !explain {
        return Ok(());
    }
    let kept = extraction.candidates.iter().map(|candidate| {
        vec![
            (Role::Id, candidate.id.to_string()),
            (Role::Good, format!("{:.2}", candidate.confidence)),
            (Role::Faint, candidate.signal.as_str().to_owned()),
            (Role::Title, Shown(&candidate.title).one_line()),
        ]
    });
    let dropped = extraction.dropped.iter().map(|dropped| {
        vec![
            (Role::Faint, "-".to_owned()),
            (Role::Warning, dropped.reason.as_str().to_owned()),
            (Role::Faint, dropped.signal.as_str().to_owned()),
            (Role::Faint, Shown(&dropped.title).one_line()),
        ]
    });
    ui.table(&kept.chain(dropped).collect::<Vec<_>>())
}
