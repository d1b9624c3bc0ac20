//! What a repository wants left out: the `.gitignore` files from the root down to a folder, below the rules of no folder.

use std::io::Read as _;
use std::os::fd::AsFd;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode};

use super::look::READABLE_FILE;

/// The files with rules.
pub(super) const RULES_FILE: &str = ".gitignore";

/// A file with more rules than these is not obeyed further.
const MAX_RULES_BYTES: u64 = 256 << 10;
const MAX_RULES: usize = 5_000;
const MAX_RULE_BYTES: usize = 1_000;

/// The rules of one folder, and of those above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Self>>,
    /// The folder, with a slash at its end; empty for the root.
    folder: String,
    /// The folder or file that the rules stand in; empty for the root.
    place: String,
    ignore: Gitignore,
}

/// A rule that leaves a path out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IgnoredBy {
    /// The folder or file that the rule stands in; empty for the root.
    pub(super) place: String,
    pub(super) rule: String,
}

impl Rules {
    /// The rules of no folder: what the settings of a repository, or of a person, leave out.
    pub(super) fn private(above: Option<Arc<Self>>, place: &str, text: &str) -> Option<Arc<Self>> {
        let is_empty = text.lines().all(|line| line.is_empty() || line.starts_with('#'));
        if is_empty {
            return above;
        }
        let rules = Self::new(above, "", text);
        Some(Arc::new(Self { place: place.to_owned(), ..rules }))
    }

    /// The rules below an open folder, whose listing has a file with some.
    pub(super) fn below(
        above: Option<Arc<Self>>,
        folder: impl AsFd,
        path: &str,
    ) -> Option<Arc<Self>> {
        match read_rules(folder) {
            Some(text) => Some(Arc::new(Self::new(above, path, &text))),
            None => above,
        }
    }

    fn new(above: Option<Arc<Self>>, path: &str, text: &str) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for line in text.lines().filter(|line| line.len() <= MAX_RULE_BYTES).take(MAX_RULES) {
            // A rule that git does not understand says nothing.
            let _ = builder.add_line(None, line);
        }
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        let ignore = builder.build().unwrap_or_else(|_| Gitignore::empty());
        Self { above, folder, place: path.to_owned(), ignore }
    }

    /// The rule that leaves a path out, by the innermost folder that speaks of it.
    pub(super) fn leaving_out(
        rules: Option<&Arc<Self>>,
        path: &str,
        is_folder: bool,
    ) -> Option<IgnoredBy> {
        let mut rules = rules.map(Arc::as_ref);
        while let Some(Self { above, folder, place, ignore }) = rules {
            match ignore.matched(path.strip_prefix(folder.as_str()).unwrap_or(path), is_folder) {
                Match::Ignore(glob) => {
                    let rule = glob.original().to_owned();
                    return Some(IgnoredBy { place: place.clone(), rule });
                }
                Match::Whitelist(_) => return None,
                Match::None => rules = above.as_deref(),
            }
        }
        None
    }
}

fn read_rules(folder: impl AsFd) -> Option<String> {
    let file = rustix::fs::openat(folder, RULES_FILE, READABLE_FILE, Mode::empty()).ok()?;
    if !FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode).is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(MAX_RULES_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
