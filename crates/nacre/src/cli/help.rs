//! The first page of help: commands by what they are for.
//!
//! Names and groups stand here; the words beside them are each command's own.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::Cli;

const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "status", "doctor"]),
    ("Remember and recall", &["sync", "ask", "brief", "review", "memory", "trace"]),
    ("Know the code", &["explore", "context", "search-code", "delta", "chat"]),
    ("Keep going", &["up", "dashboard", "maintain", "report", "undo"]),
    ("Set up", &["connect", "project", "model", "config"]),
];

/// A page with more commands than this is not read.
#[cfg(test)]
const MAX_COMMANDS: usize = 24;

/// Commands for scripts and rare days: `nacre commands` lists them.
const RARE: &[&str] = &[
    "run",
    "open",
    "events",
    "feedback",
    "runs",
    "trust",
    "import",
    "export",
    "refresh",
    "watch",
    "explain",
    "queue",
    "retry",
    "skip",
    "extract",
    "summarize",
    "index",
    "skill",
    "down",
    "logs",
    "push",
    "pull",
    "serve",
    "server",
    "mcp",
    "hook",
    "eval",
    "bench",
    "completions",
];

/// The whole command line.
pub(super) fn command() -> clap::Command {
    let command = Cli::command();
    let template = template(&command);
    command.help_template(template)
}

/// Every command that a person may type, with what it does.
pub(super) fn all_commands() -> Vec<(String, String)> {
    let command = Cli::command();
    let names = GROUPS.iter().flat_map(|(_, names)| *names).chain(RARE);
    names.map(|name| ((*name).to_owned(), about(&command, name))).collect()
}

fn about(command: &clap::Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(clap::Command::get_about);
    about.map(ToString::to_string).unwrap_or_default()
}

fn template(command: &clap::Command) -> String {
    let mut page = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (heading, names) in GROUPS {
        // Writing to a `String` cannot fail.
        let _ = write!(page, "\n{heading}:\n");
        for name in *names {
            let _ = writeln!(page, "  {name:<12} {}", about(command, name));
        }
    }
    page.push_str(
        "\nOptions:\n{options}\n\n\
         `nacre COMMAND --help` says what a command takes, `nacre commands` lists all of them.\n",
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_listed_once_and_the_first_page_is_short() {
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| *names).chain(RARE).copied().collect();
        assert!(listed.len() - RARE.len() <= MAX_COMMANDS);
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut names: Vec<&str> = visible.map(clap::Command::get_name).collect();
        let mut listed_sorted = listed.clone();
        names.sort_unstable();
        listed_sorted.sort_unstable();
        assert_eq!(listed_sorted, names);
    }

    #[test]
    fn the_arguments_are_sound() {
        command().debug_assert();
    }
}
