//! The commands that begin with `/`: one table for what is typed, completed, shown as help and written into `docs/chat.md`.

use nacre_api::wire::ApprovalPolicy;

use super::theme::ThemeName;

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    New,
    Resume,
    Fork,
    Rename,
    Sessions,
    Search,
    Export,
    Model,
    Policy,
    Memory,
    Skills,
    Undo,
    Diff,
    Cost,
    Theme,
    Help,
    Quit,
}

/// One command.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// What may follow it.
    pub(crate) argument: &'static str,
    pub(crate) help: &'static str,
    pub(crate) verb: Verb,
}

const fn row(
    name: &'static str,
    argument: &'static str,
    verb: Verb,
    help: &'static str,
) -> Command {
    Command { name, argument, help, verb }
}

pub(crate) const COMMANDS: &[Command] = &[
    row("new", "", Verb::New, "Start a new session"),
    row(
        "resume",
        "[ID]",
        Verb::Resume,
        "Continue a session: the latest, or the one whose id begins so",
    ),
    row("fork", "", Verb::Fork, "Continue in a copy of this session"),
    row("rename", "TITLE", Verb::Rename, "Give this session another title"),
    row("sessions", "", Verb::Sessions, "List sessions and choose one"),
    row("search", "WORDS", Verb::Search, "Search what was said in all sessions"),
    row("export", "", Verb::Export, "Write this session to a file that `nacre sync` reads"),
    row("model", "[NAME]", Verb::Model, "Show or change the model of this session"),
    row(
        "policy",
        "[ask|auto-edit|full]",
        Verb::Policy,
        "Show or change what the agent asks you for",
    ),
    row("memory", "", Verb::Memory, "Show which memories the agent was given"),
    row("skills", "", Verb::Skills, "List skills; `/NAME` starts one"),
    row("undo", "", Verb::Undo, "Take back the file changes of the last turn"),
    row("diff", "[all]", Verb::Diff, "Show the file changes of the last turn, or of the session"),
    row("cost", "", Verb::Cost, "Show tokens and cost"),
    row("theme", "[dark|light|plain]", Verb::Theme, "Show or change the colors"),
    row("help", "", Verb::Help, "Show keys and commands"),
    row("quit", "", Verb::Quit, "Leave; the session stays"),
];

impl Command {
    /// The words that its argument may be.
    pub(crate) fn choices(&self) -> Vec<&'static str> {
        match self.verb {
            Verb::Policy => ApprovalPolicy::ALL.map(ApprovalPolicy::as_str).to_vec(),
            Verb::Theme => ThemeName::ALL.map(ThemeName::as_str).to_vec(),
            Verb::Diff => vec!["all"],
            Verb::New
            | Verb::Resume
            | Verb::Fork
            | Verb::Rename
            | Verb::Sessions
            | Verb::Search
            | Verb::Export
            | Verb::Model
            | Verb::Memory
            | Verb::Skills
            | Verb::Undo
            | Verb::Cost
            | Verb::Help
            | Verb::Quit => Vec::new(),
        }
    }

    /// How it is typed.
    pub(crate) fn usage(&self) -> String {
        format!("/{} {}", self.name, self.argument).trim_end().to_owned()
    }
}

pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The command whose name is nearest to a word that names none.
pub(crate) fn nearest(name: &str) -> Option<&'static Command> {
    // A word of that length is near to nothing.
    let name = &name[..name.floor_char_boundary(40)];
    let distance = |command: &&Command| strsim::osa_distance(name, command.name);
    let nearest = COMMANDS.iter().min_by_key(distance)?;
    let is_near = nearest.name.starts_with(name) || distance(&nearest) <= 2;
    is_near.then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_command_is_found() {
        let cases = [
            ("resum", Some("resume")),
            ("hlep", Some("help")),
            ("thme", Some("theme")),
            ("xyzzy", None),
            ("", Some("new")),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest(name).map(|command| command.name), expected, "{name}");
        }
    }
}
