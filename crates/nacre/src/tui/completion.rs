//! Completion: commands after `/`, files after `@`.

use std::ops::Range;

use super::commands::{self, COMMANDS};

/// Shown at once.
const MAX_SHOWN: usize = 8;

/// More files are not looked through on every key.
pub(super) const MAX_FILES: usize = 50_000;

/// What could stand in the place of what was begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// What is replaced.
    pub(crate) range: Range<usize>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) selected: usize,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What is put in.
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

    pub(crate) fn chosen(&self) -> Option<&Choice> {
        self.choices.get(self.selected)
    }
}

/// What fits the word before the cursor; `None` where nothing is to be completed.
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
    let begun = &word[1..];
    let fitting = COMMANDS.iter().filter(|command| command.name.starts_with(begun));
    let choice = |command: &commands::Command| Choice {
        text: format!("/{} ", command.name),
        help: command.help.to_owned(),
    };
    fitting.map(choice).collect()
}

/// The words that a command knows for its argument.
fn argument_choices(before: &str, begun: &str) -> Vec<Choice> {
    let name = before[1..].split(' ').next().unwrap_or_default();
    let Some(command) = commands::find(name) else { return Vec::new() };
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

/// How well a path fits: by its beginning, its name, a folder of it, anywhere, its letters in order.
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
    fn the_choice_goes_around() {
        let mut found = complete("/re", 3, &[]).unwrap();
        found.select_previous();
        assert_eq!(found.chosen().unwrap().text, "/rename ");
        found.select_next();
        assert_eq!(found.chosen().unwrap().text, "/resume ");
    }
}
