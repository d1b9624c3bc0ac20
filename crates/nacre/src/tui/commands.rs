//! The table of `/` commands, and completion of commands and of file names after `@`. The help and
//! the list in `docs/chat.md` are generated from the table.

use std::ops::Range;

use nacre_ops::config::is_like;
use nacre_ops::terminal::ThemeChoice;
use nacre_types::ApprovalPolicy;

#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) argument: &'static str,
    pub(crate) help: &'static str,
}

const fn row(name: &'static str, argument: &'static str, help: &'static str) -> Command {
    Command { name, argument, help }
}

pub(crate) const COMMANDS: &[Command] = &[
    row("new", "", "Start a new session"),
    row("resume", "[ID]", "Resume a session: the latest, or the one with this id prefix"),
    row("fork", "", "Continue in a copy of this session"),
    row("rename", "TITLE", "Rename this session"),
    row("sessions", "", "List sessions and choose one"),
    row("search", "WORDS", "Search the messages of all sessions"),
    row("export", "", "Export this session to a file that `nacre sync` can read"),
    row("model", "[NAME]", "Show or change the model of this session"),
    row("policy", "[ask|auto-edit|full]", "Show or change the approval policy"),
    row("memory", "", "Show the memories that the agent received"),
    row("skills", "", "List skills; `/NAME` runs one"),
    row("undo", "", "Undo the file changes of the last turn"),
    row("diff", "[all]", "Show the file changes of the last turn or the session"),
    row("cost", "", "Show tokens and cost"),
    row("theme", "[dark|light|plain]", "Show or change the theme"),
    row("help", "", "Show keys and commands"),
    row("quit", "", "Quit; the session is kept"),
];

impl Command {
    pub(crate) fn choices(&self) -> Vec<&'static str> {
        match self.name {
            "policy" => ApprovalPolicy::ALL.map(ApprovalPolicy::label).to_vec(),
            "theme" => ThemeChoice::NAMES.to_vec(),
            "diff" => vec!["all"],
            _ => Vec::new(),
        }
    }

    pub(crate) fn usage(&self) -> String {
        format!("/{} {}", self.name, self.argument).trim_end().to_owned()
    }
}

pub(crate) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

pub(crate) fn nearest(name: &str) -> Option<&'static Command> {
    // Comparing long words is slow, so cut them.
    let name = &name[..name.floor_char_boundary(40)];
    let distance = |command: &&Command| strsim::osa_distance(name, command.name);
    let nearest = COMMANDS.iter().min_by_key(distance)?;
    let is_near = nearest.name.starts_with(name) || is_like(name, nearest.name);
    is_near.then_some(nearest)
}

const MAX_SHOWN: usize = 8;

/// Limits the number of files searched per key press.
pub(super) const MAX_FILES: usize = 50_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    pub(crate) range: Range<usize>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) selected: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) text: String,
    pub(crate) help: String,
}

impl Completion {
    pub(crate) fn select_next(&mut self) {
        self.selected = (self.selected + 1) % self.choices.len().max(1);
    }

    pub(crate) fn select_previous(&mut self) {
        let n_choices = self.choices.len().max(1);
        self.selected = (self.selected + n_choices - 1) % n_choices;
    }

    pub(crate) fn selection(&self) -> Option<&Choice> {
        self.choices.get(self.selected)
    }
}

pub(crate) fn complete(text: &str, cursor: usize, files: &[String]) -> Option<Completion> {
    let before = &text[..cursor];
    let start = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[start..];
    let choices = if let Some(begun) = word.strip_prefix('@') {
        file_choices(begun, files)
    } else if text.starts_with('/') && !text.contains('\n') {
        if start == 0 { command_choices(word) } else { argument_choices(before, word) }
    } else {
        return None;
    };
    let is_done = choices.first().is_some_and(|choice| choice.text.trim_end() == word);
    (!choices.is_empty() && !is_done).then_some(Completion {
        range: start..cursor,
        choices,
        selected: 0,
    })
}

fn command_choices(word: &str) -> Vec<Choice> {
    // The cursor is before the `/`, so there is nothing to complete.
    let Some(begun) = word.strip_prefix('/') else { return Vec::new() };
    let fitting = COMMANDS.iter().filter(|command| command.name.starts_with(begun));
    let choice = |command: &Command| Choice {
        text: format!("/{} ", command.name),
        help: command.help.to_owned(),
    };
    fitting.map(choice).collect()
}

fn argument_choices(before: &str, begun: &str) -> Vec<Choice> {
    let name = before[1..].split(' ').next().unwrap_or_default();
    let Some(command) = find(name) else { return Vec::new() };
    let fitting = command.choices().into_iter().filter(|choice| choice.starts_with(begun));
    fitting.map(|text| Choice { text: text.to_owned(), help: String::new() }).collect()
}

fn file_choices(begun: &str, files: &[String]) -> Vec<Choice> {
    let wanted = begun.to_lowercase();
    let mut ranked: Vec<(u8, usize, &String)> = Vec::new();
    for path in files {
        if let Some(rank) = rank(path, &wanted) {
            ranked.push((rank, path.len(), path));
        }
    }
    ranked.sort_unstable();
    let choice = |(_, _, path): (u8, usize, &String)| Choice {
        text: format!("@{path} "),
        help: String::new(),
    };
    ranked.into_iter().take(MAX_SHOWN).map(choice).collect()
}

/// Ranks how well a path matches; lower is better. Matches at the start of the path rank first,
/// then those at the start of the file name, at the start of a directory name, and anywhere else.
/// Paths that merely contain the typed letters in order rank last.
fn rank(path: &str, wanted: &str) -> Option<u8> {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    if lower.starts_with(wanted) {
        return Some(0);
    }
    if name.starts_with(wanted) {
        return Some(1);
    }
    match lower.find(wanted) {
        Some(at) if lower[..at].ends_with('/') => return Some(2),
        Some(_) => return Some(3),
        None => {}
    }
    let mut letters = lower.chars();
    wanted.chars().all(|c| letters.any(|letter| letter == c)).then_some(4)
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

    fn check(text: &str, expected: &[&str]) {
        let files = ["src/main.rs", "src/tui/mod.rs", "docs/map.md", "Makefile"].map(str::to_owned);
        let choices = complete(text, text.len(), &files).map(|found| found.choices);
        let texts: Vec<String> = choices.into_iter().flatten().map(|choice| choice.text).collect();
        assert_eq!(texts, expected, "{text}");
    }

    #[test]
    fn commands_and_files_are_completed() {
        check("/re", &["/resume ", "/rename "]);
        check("/theme l", &["light"]);
        check("/policy ", &["ask", "auto-edit", "full"]);
        check("/theme light", &[]);
        check("look at @ma", &["@Makefile ", "@docs/map.md ", "@src/main.rs "]);
        check("@tui", &["@src/tui/mod.rs "]);
        check("@smrs", &["@src/main.rs ", "@src/tui/mod.rs "]);
        check("a@b", &[]);
        check("plain /re", &[]);
        check("/nothing", &[]);
    }

    #[test]
    fn before_the_slash_there_is_nothing() {
        assert_eq!(complete("/new", 0, &[]), None);
    }

    #[test]
    fn the_choice_goes_around() {
        let mut found = complete("/re", 3, &[]).unwrap();
        found.select_previous();
        assert_eq!(found.selection().unwrap().text, "/rename ");
        found.select_next();
        assert_eq!(found.selection().unwrap().text, "/resume ");
    }
}
