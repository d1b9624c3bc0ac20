//! `nacre summarize`

use clap::Args;
use nacre_core::base::Shown;
use nacre_engine::flows::strategy::{SessionTrace, summarize_session};
use nacre_engine::model::Role;
use serde_json::json;

use super::exit::Exit;
use super::strategy::StrategyArgs;
use super::traces;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::ask_rules;
use nacre_ops::host::{Reading, warn_of_limit};

/// Tell what one session was about, and write it to a file
///
/// Works without a model: intent, requests, outcome, files and commands, in the words that were said. With one, the model
/// tells what happened; files and commands stay what was counted. No memory is written.
#[derive(Debug, Args)]
pub(crate) struct SummarizeArgs {
    /// A trace of any agent, or the id of a session that was seen
    #[arg(long, value_name = "TRACE")]
    trace: String,
    /// The file to write; `-` prints it
    #[arg(long, value_name = "FILE")]
    out: String,
    #[command(flatten)]
    strategy: StrategyArgs,
}

pub(crate) fn cmd_summarize(
    ui: &mut Ui,
    host: &Host,
    args: &SummarizeArgs,
) -> Result<Exit, OpError> {
    let SummarizeArgs { trace, out, strategy } = args;
    let reading = Reading::open(host, strategy.choice(), Role::Summarize)?;
    let trace = traces::named_trace(host, trace)?;
    let project = host.project.as_ref().map(|project| project.path.as_path());
    let rules = ask_rules(&host.settings_of(project)?);
    let asker = reading.asker(host, &rules, &trace)?;
    let trace = SessionTrace { trace: &trace, words: &rules.words };
    let (summary, how) = summarize_session(trace, reading.reader(&rules), asker.as_ref())?;
    let exit = warn_of_limit(&ui.events(), &how).into();
    super::artifact::put(ui, host, out, &summary)?;
    match (out == "-", ui.is_json()) {
        (true, _) => {}
        (false, true) => {
            ui.json(&json!({ "out": out, "session": summary.session, "title": summary.title }))?;
        }
        (false, false) => {
            let (title, out) = (Shown(&summary.title), Shown(out));
            ui.status(format!("{}; written to {}", title.one_line(), out.one_line()))?;
        }
    }
    Ok(exit)
}
