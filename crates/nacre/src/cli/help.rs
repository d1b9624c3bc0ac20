//! The help overview, with commands in groups.

use std::fmt::Write as _;

use clap::CommandFactory as _;
use serde_json::json;

use super::Cli;
use super::prelude::*;

const EXIT_CODES: &str = "Exit codes: 0 success, 1 failure, 2 usage error, 3 partial success, 4 \
 busy: another process is writing.";

const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "status", "doctor"]),
    ("Remember and recall", &["sync", "ask", "brief", "review", "memory", "trace"]),
    ("Know the code", &["explore", "context", "search-code", "delta", "chat"]),
    ("Keep going", &["up", "dashboard", "maintain", "report", "undo"]),
    ("Set up", &["connect", "project", "model", "config"]),
];

/// Keeps the overview short.
#[cfg(test)]
const MAX_COMMANDS: usize = 24;

pub(super) fn command() -> clap::Command {
    let command = Cli::command();
    let template = template(&command);
    command.help_template(template)
}

pub(super) fn cmd_commands(ui: &mut Ui) -> CommandResult {
    if ui.is_json() {
        let commands = all_commands().into_iter();
        let commands = commands.map(|(name, about)| json!({ "name": name, "about": about }));
        ui.json(&json!({ "commands": commands.collect::<Vec<_>>() }));
        return Ok(Exit::DONE);
    }
    ui.table(all_commands().into_iter().map(|(name, about)| [title(name), faint(about)]));
    ui.status(format!("\n{EXIT_CODES}"));
    Ok(Exit::DONE)
}

/// Returns every visible command and its description, starting with those on the overview page.
fn all_commands() -> Vec<(String, String)> {
    let command = Cli::command();
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    let mut names: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    let n_grouped = names.len();
    for name in visible.map(clap::Command::get_name) {
        if !names[..n_grouped].contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| (name.to_owned(), about(&command, name))).collect()
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
         `nacre COMMAND --help` describes a command; `nacre commands` lists all commands.\n",
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_listed_once_and_the_first_page_is_short() {
        assert!(GROUPS.iter().map(|(_, names)| names.len()).sum::<usize>() <= MAX_COMMANDS);
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut names: Vec<&str> = visible.map(clap::Command::get_name).collect();
        let all = all_commands();
        let mut listed: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, names);
    }

    #[test]
    fn the_arguments_are_sound() {
        command().debug_assert();
    }
}
