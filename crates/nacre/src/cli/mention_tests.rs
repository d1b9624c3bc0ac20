//! Checks that every command that a message, a help page or a document names exists, with its
//! flags.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Command;

use super::help;

/// Files and directories with texts for users and agents, relative to the repository.
const SOURCES: [&str; 7] =
    ["crates", "docs", "plugin", "README.md", "CONTRIBUTING.md", "sdk/node", "sdk/python"];

/// Directories whose texts nobody is shown.
const SKIPPED: [&str; 6] = ["tests", "nacre-lab", "generated", "node_modules", "dist", "target"];

/// A page that shows mistyped commands on purpose, which another test runs, and a list of words.
const SKIPPED_FILES: [&str; 2] = ["docs/errors.md", "src/local_names.rs"];

/// At least this many mentions are found; fewer mean that the search is broken.
const MIN_MENTIONS: usize = 700;

#[test]
fn every_command_that_a_text_names_exists() {
    let mut root = help::command();
    root.build();
    let (mut n_mentions, mut faults) = (0, Vec::new());
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in text_files(&repository) {
        let name = file.strip_prefix(&repository).unwrap().display().to_string();
        let is_document = name.ends_with(".md");
        let text = plain_text(&fs::read_to_string(&file).unwrap());
        for mention in find_mentions(&text, is_document) {
            n_mentions += 1;
            if let Some(fault) = find_fault(&root, &mention) {
                faults.push(format!("{name}: nacre {}: {fault}", mention.join(" ")));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(n_mentions >= MIN_MENTIONS, "only {n_mentions} mentions were found");
}

#[test]
fn mentions_are_found_and_checked() {
    let mut root = help::command();
    root.build();
    for (text, expected) in [
        ("Run `nacre memory add \"x\" --tag T`", None),
        ("For details: nacre events TASK", None),
        ("For details: nacre connect {} --remove, or not", None),
        ("$ nacre --json memory list | jq .", None),
        ("Run `nacre memroy list`", Some("no command `memroy`")),
        ("Run `nacre memory bogus`", Some("no command `bogus`")),
        ("Run `nacre sync --wach`.", Some("no flag `--wach`")),
        ("Run `nacre sync \\\n    --wach`.", Some("no flag `--wach`")),
    ] {
        let plain = plain_text(text);
        let mentions = find_mentions(&plain, false);
        let [mention] = mentions.as_slice() else { panic!("{text}: {mentions:?}") };
        assert_eq!(find_fault(&root, mention).as_deref(), expected, "{text}");
    }
    let prose = "See the nacre server, /bin/nacre hook, and pinacre ask";
    assert!(find_mentions(prose, true).is_empty());
}

fn text_files(repository: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = SOURCES.iter().map(|name| repository.join(name)).collect();
    let mut files = Vec::new();
    while let Some(path) = folders.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                folders.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        } else if is_text(&name) && !SKIPPED_FILES.iter().any(|skipped| path.ends_with(skipped)) {
            files.push(path);
        }
    }
    files
}

fn is_text(name: &str) -> bool {
    let is_test = name.ends_with("_tests.rs") || name == "tests.rs" || name == "test.rs";
    let ends = [".rs", ".md", ".toml", ".ts", ".js", ".json"];
    !is_test && name != "package-lock.json" && ends.iter().any(|end| name.ends_with(end))
}

/// Joins the continued lines of strings and shell commands, and cuts off a module of tests.
fn plain_text(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut plain = String::new();
    let mut is_continued = false;
    for line in text.lines() {
        let line = if is_continued { line.trim_start() } else { line };
        is_continued = line.ends_with('\\');
        plain.push_str(line.strip_suffix('\\').unwrap_or(line));
        if !is_continued {
            plain.push('\n');
        }
    }
    plain.replace("\\n", "\n").replace("\\\"", "\"")
}

/// Finds the words after each `nacre` that begins a command. In documents, only code counts:
/// commands after a backtick, or at the start of a line.
fn find_mentions(text: &str, is_document: bool) -> Vec<Vec<&str>> {
    let mut mentions = Vec::new();
    for (at, _) in text.match_indices("nacre ") {
        let (before, rest) = (&text[..at], &text[at + "nacre ".len()..]);
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let is_start = ["", "$ ", "<!-- $ "].contains(&line);
        let is_code = before.ends_with('`') || is_start;
        let is_text = before.ends_with(['"', '(', ' ']) && !is_argument(line);
        let words = command_words(rest);
        let is_command = words.first().is_some_and(|word| is_plain(word.trim_start_matches('-')));
        if is_command && (is_code || (is_text && !is_document)) {
            mentions.push(words);
        }
    }
    mentions
}

/// Whether the next word on this line is an argument of another program: `cargo build -p nacre`.
fn is_argument(line: &str) -> bool {
    line.split_whitespace().next_back().is_some_and(|word| word.starts_with('-'))
}

/// Returns the words of a command up to the end of the code, the sentence or the pipeline.
fn command_words(text: &str) -> Vec<&str> {
    let end = text.find(['\n', '`', '"']).unwrap_or(text.len());
    let mut words = Vec::new();
    for word in text[..end].split(' ') {
        let bare = word.trim_end_matches(['.', ',', ';', ':', ')', '!', '?', '\'']);
        if bare.is_empty() || bare.starts_with(['|', '>', '&', '(', '#', '=', '·']) {
            break;
        }
        words.push(bare);
        if bare != word {
            break;
        }
    }
    words
}

/// Whether a word is typed as it is, unlike the placeholders `{name}`, `ID` and `<id>`.
fn is_plain(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(is_letter)
}

/// Says which command or flag does not exist. Values are not checked, because most are examples.
fn find_fault(root: &Command, words: &[&str]) -> Option<String> {
    let mut command = root;
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        if word == "--" || word == "-->" {
            return None;
        }
        if word.starts_with('-') {
            let name = word.split('=').next().unwrap_or(word);
            if !is_plain(name.trim_start_matches('-')) {
                continue;
            }
            let mut flags = command.get_arguments().chain(root.get_arguments());
            let Some(flag) = flags.find(|flag| is_flag(flag, name)) else {
                return Some(format!("no flag `{name}`"));
            };
            let takes_next = flag.get_action().takes_values() && name == word;
            if takes_next && words.peek().is_some_and(|next| !next.starts_with('-')) {
                words.next();
            }
        } else if let Some(below) = command.find_subcommand(word) {
            command = below;
        } else if command.has_subcommands() && command.get_positionals().next().is_none() {
            return is_plain(word).then(|| format!("no command `{word}`"));
        }
    }
    None
}

fn is_flag(flag: &clap::Arg, name: &str) -> bool {
    match name.strip_prefix("--") {
        Some(long) => {
            let mut aliases = flag.get_all_aliases().unwrap_or_default().into_iter();
            flag.get_long() == Some(long) || aliases.any(|alias| alias == long)
        }
        None => flag.get_short().is_some_and(|short| name == format!("-{short}")),
    }
}
