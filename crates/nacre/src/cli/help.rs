//! The first page of help: commands by what they are for.
//!
//! Names and groups stand here; the words beside them are each command's own.

use std::fmt::Write as _;

use clap::CommandFactory as _;

use super::Cli;

const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["init", "status", "doctor"]),
    ("Remember and recall", &["sync", "ask", "brief", "memory", "trace", "run"]),
    ("Know the code", &["explore", "context", "delta"]),
    ("Keep going", &["maintain", "report", "undo"]),
    ("Set up", &["connect", "project", "model", "config"]),
];

/// Commands for special days, line by line: named on the first page, and told in their own help.
const OTHERS: &[&[&str]] = &[
    &["feedback", "queue", "retry", "skip", "events", "skill", "index", "completions"],
    &["extract", "summarize", "refresh", "watch", "explain", "eval", "bench"],
];

/// The whole command line.
pub(super) fn command() -> clap::Command {
    let command = Cli::command();
    let template = template(&command);
    command.help_template(template)
}

fn template(command: &clap::Command) -> String {
    let mut page = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (heading, names) in GROUPS {
        // Writing to a `String` cannot fail.
        let _ = write!(page, "\n{heading}:\n");
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(page, "  {name:<12} {about}");
        }
    }
    let others: Vec<String> = OTHERS.iter().map(|names| names.join(", ")).collect();
    let _ = write!(page, "\nAlso:\n  {}\n", others.join(",\n  "));
    page.push_str(
        "\nOptions:\n{options}\n\nSee `nacre COMMAND --help` for what a command takes.\n",
    );
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_command_is_in_one_group() {
        let others = OTHERS.iter().copied().flatten();
        let listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| *names).chain(others).copied().collect();
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
