//! `nacre eval hook`

use std::path::PathBuf;

use clap::Args;
use nacre_api::wire::{EvalHookReport, EvalHookRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, eval as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Longer prompts are cut where they are listed.
const MAX_SHOWN: usize = 100;

/// Ask labelled prompts, and count when the prompt hook is right to speak and to be silent
///
/// The data set is a folder with `.nacre/memory/` and `prompts.jsonl`, or a folder of such folders; each line is
/// {"prompt": "…", "want": ["ID"]}, with an empty list where nothing should be told. Nothing is written.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The folder of the data set
    #[arg(long, value_name = "FOLDER")]
    dataset: PathBuf,
    /// At most this many tokens a prompt [default: hooks.prompt_tokens]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// List the prompts that were answered wrongly
    #[arg(long)]
    missed: bool,
}

pub(crate) fn cmd_hook(ui: &mut Ui, host: &Host, args: &HookArgs) -> Result<Exit, OpError> {
    let HookArgs { dataset, budget, missed } = args;
    let dataset = dataset.display().to_string();
    let request = EvalHookRequest { dataset, budget: *budget, missed: *missed };
    let report = ops::hook(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &EvalHookReport) -> Result<(), OpError> {
    let share = |part: usize, of: usize| {
        format!("{part} of {of} ({:.1} %)", 100.0 * part as f64 / of.max(1) as f64)
    };
    let row =
        |name: &str, value: String| vec![(Role::Faint, name.to_owned()), (Role::Title, value)];
    ui.table(&[
        row("fitting prompts that got a wanted memory", share(report.helped, report.fitting)),
        row("fitting prompts that got only others", share(report.misled, report.fitting)),
        row("other prompts that got nothing", share(report.silent, report.other)),
        row("told memories that were wanted", share(report.told_wanted, report.told)),
        row("tokens where something was told", format!("{:.0}", report.mean_tokens)),
        row(
            "p50, p99",
            format!("{:.1} ms, {:.1} ms", report.latency_ms.p50, report.latency_ms.p99),
        ),
    ])?;
    for missed in &report.missed {
        let prompt = Shown(&missed.prompt).one_line().to_string();
        let prompt = &prompt[..prompt.floor_char_boundary(MAX_SHOWN)];
        ui.line(format!(
            "want [{}] told [{}]  {prompt}",
            missed.want.join(", "),
            missed.told.join(", ")
        ))?;
    }
    Ok(())
}
