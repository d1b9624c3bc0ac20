//! `nacre memory reset`

use std::io::Write as _;

use clap::Args;
use nacre_core::base::ShownLine;
use nacre_core::safefs::RelPath;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ScopeArg;
use super::output::counted;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Set all memories of a store aside and start empty
///
/// Nothing is deleted: memories and their sidecars are moved below `.nacre/reset/`, which git does
/// not share, and can be moved back by hand.
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
    let scoped = host.store_to_write(scope.mode())?;
    let path = scoped.store.path().display().to_string();
    if !yes && !confirm(ui, &path)? {
        return Err(OpError::usage("Nothing was changed").hint("nacre memory reset --yes"));
    }
    let mut batch = scoped.store.begin(&host.owner("memory reset"), host.settings().lock.wait)?;
    let stamp = host.now().strftime("%Y%m%d-%H%M%S").to_string();
    let aside = RelPath::new(&format!("reset/{stamp}"))?;
    let (n_memories, left) = batch.set_aside(&aside)?;
    batch.commit()?;
    let aside = scoped.store.path().join(aside.as_str()).display().to_string();
    if ui.is_json() {
        ui.json(&json!({ "set_aside": n_memories, "path": aside, "left": left }))?;
    }
    ui.status(format!("Set {} aside in {}", counted(n_memories), ShownLine(&aside)))?;
    for path in &left {
        ui.warning(format!("Left where it is: {path}"), None);
    }
    Ok(if left.is_empty() { Exit::Done } else { Exit::Partial })
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
