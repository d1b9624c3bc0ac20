//! `nacre completions`, which prints completion scripts for shells. The scripts call `nacre
//! complete` to complete ids.

use clap_complete::Shell;
use serde_json::json;

use super::help;
use super::prelude::*;

/// Print a completion script for a shell
///
/// Scripts for bash, zsh and fish also complete the ids of memories, changes and sessions.
///
/// For bash: `nacre completions bash > ~/.local/share/bash-completion/completions/nacre`
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Print the ids that start with a prefix, one per line
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct CompleteArgs {
    /// The prefix
    #[arg(default_value = "")]
    prefix: String,
}

pub(crate) fn cmd_completions(ui: &mut Ui, args: CompletionsArgs) -> CommandResult {
    let CompletionsArgs { shell } = args;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut help::command(), "nacre", &mut script);
    let script = with_ids(shell, &String::from_utf8_lossy(&script));
    if ui.is_json() {
        ui.json(&json!({ "shell": shell.to_string(), "script": script }));
    } else {
        ui.line(script.trim_end());
    }
    Ok(Exit::DONE)
}

pub(crate) fn cmd_complete(ui: &mut Ui, host: &Host, args: CompleteArgs) -> CommandResult {
    let CompleteArgs { prefix } = args;
    let ids = nacre_ops::complete(host, &prefix);
    if ui.is_json() {
        ui.json(&json!({ "ids": ids }));
    } else {
        ids.iter().for_each(|id| ui.line(ShownLine(id)));
    }
    Ok(Exit::DONE)
}

const WITH_IDS: &[&str] = &["memory", "feedback", "review", "undo", "runs", "trace"];

/// Completes ids in addition to the generated words. Bash uses only the last `complete` command.
const BASH: &str = r#"
_nacre_with_ids() {
    _nacre "$@"
    local word="${COMP_WORDS[COMP_CWORD]}"
    case "${COMP_WORDS[1]}" in
        COMMANDS)
            if [[ "$word" != -* ]]; then
                COMPREPLY+=($(compgen -W "$(nacre complete -- "$word" 2>/dev/null)" -- "$word"))
            fi
            ;;
    esac
}
complete -F _nacre_with_ids -o bashdefault -o default nacre
"#;

const ZSH: &str = r#"
_nacre_ids() {
    local -a ids
    ids=(${(f)"$(nacre complete -- "$PREFIX" 2>/dev/null)"})
    compadd -a ids
}
"#;

const FISH: &str = r#"
complete -c nacre -n "__fish_seen_subcommand_from COMMANDS" -f -a "(nacre complete -- (commandline -ct) 2>/dev/null)"
"#;

fn with_ids(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{}", BASH.replace("COMMANDS", &WITH_IDS.join("|"))),
        Shell::Fish => format!("{script}{}", FISH.replace("COMMANDS", &WITH_IDS.join(" "))),
        Shell::Zsh => zsh_with_ids(script),
        Shell::Elvish | Shell::PowerShell => script.to_owned(),
        _ => script.to_owned(),
    }
}

/// Adds id completion to the generated zsh script, which completes arguments as files by default.
fn zsh_with_ids(script: &str) -> String {
    let is_id = |line: &str| {
        let line = line.trim_start();
        ["':id -- ", "'*::ids -- ", "'::run -- "].iter().any(|start| line.starts_with(start))
    };
    let lines = script.lines().map(|line| match is_id(line) {
        true => line.replace(":_default'", ":_nacre_ids'"),
        false => line.to_owned(),
    });
    let script = lines.collect::<Vec<_>>().join("\n");
    match script.split_once('\n') {
        // zsh requires the line that names the command to come first.
        Some((first, rest)) => format!("{first}\n{ZSH}{rest}\n"),
        None => script,
    }
}
