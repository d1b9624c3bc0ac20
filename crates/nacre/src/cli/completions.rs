//! `nacre completions`: a script that teaches a shell our words.

use clap::Args;
use clap_complete::Shell;

use super::exit::Exit;
use super::help;
use super::ui::Ui;
use nacre_ops::OpError;
use serde::Serialize;

/// Print a completion script for a shell
///
/// For bash: `nacre completions bash > ~/.local/share/bash-completion/completions/nacre`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// A script in JSON.
#[derive(Serialize)]
struct ScriptOutput {
    shell: String,
    script: String,
}

pub(crate) fn cmd_completions(ui: &mut Ui, args: &CompletionsArgs) -> Result<Exit, OpError> {
    let CompletionsArgs { shell } = args;
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut help::command(), "nacre", &mut script);
    let script = String::from_utf8_lossy(&script);
    if ui.is_json() {
        ui.json(&ScriptOutput { shell: shell.to_string(), script: script.into_owned() })?;
    } else {
        ui.line(script.trim_end())?;
    }
    Ok(Exit::Done)
}
