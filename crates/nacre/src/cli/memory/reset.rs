//! `nacre memory reset`

use std::io::Write as _;

use clap::Args;
use nacre_api::wire::MemoryResetRequest;
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ScopeArg;
use super::output::{counted, print_undo};

/// Set all memories of a store aside and start empty
///
/// Nothing is deleted: memories and their sidecars are moved below `.nacre/reset/`, which git does
/// not share; `nacre undo` moves them back.
#[derive(Debug, Args)]
pub(crate) struct ResetArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_reset(ui: &mut Ui, host: &Host, args: &ResetArgs) -> Result<Exit, OpError> {
    let ResetArgs { yes, scope } = args;
    let request = MemoryResetRequest { scope: scope.mode() };
    if !yes && !confirm(ui, &ops::store_to_reset(host, &request)?)? {
        return Err(OpError::usage("Nothing was changed").hint("nacre memory reset --yes"));
    }
    let report = ops::reset(host, &request, &ui.events())?;
    ui.report(&report, |ui, report| {
        let path = ShownLine(&report.path);
        ui.status(format!("Set {} aside in {path}", counted(report.set_aside)))?;
        print_undo(ui, report.change.as_deref())
    })
}

/// Asks on a terminal; elsewhere only `--yes` will do.
fn confirm(ui: &Ui, path: &str) -> Result<bool, OpError> {
    if !ui.can_ask() {
        return Ok(false);
    }
    let mut terminal = std::io::stderr();
    write!(terminal, "Set all memories of {path} aside? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
