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
/// In bash, zsh and fish it also completes the ids of memories, changes and sessions.
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
    let script = with_ids(*shell, &String::from_utf8_lossy(&script));
    if ui.is_json() {
        ui.json(&ScriptOutput { shell: shell.to_string(), script })?;
    } else {
        ui.line(script.trim_end())?;
    }
    Ok(Exit::Done)
}

/// Commands whose arguments are ids.
const WITH_IDS: &[&str] = &["memory", "open", "feedback", "review", "undo", "runs", "trace"];

/// Bash asks for ids after its own words; the last `complete` wins.
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

/// The script of a shell, which also asks for ids.
fn with_ids(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{}", BASH.replace("COMMANDS", &WITH_IDS.join("|"))),
        Shell::Fish => format!("{script}{}", FISH.replace("COMMANDS", &WITH_IDS.join(" "))),
        Shell::Zsh => zsh_with_ids(script),
        Shell::Elvish | Shell::PowerShell => script.to_owned(),
        _ => script.to_owned(),
    }
}

/// Zsh names what completes each argument: files, unless it is told otherwise.
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
        // The first line says which command it is for.
        Some((first, rest)) => format!("{first}\n{ZSH}{rest}\n"),
        None => script,
    }
}
