//! What a repository wants left out: the `.gitignore` files from the root down to a folder, below the rules of no folder.

use std::fs::File;
use std::io::Read as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nacre_core::platform;
use nacre_core::platform::fd::AsFd;
use nacre_core::platform::fs::{FileType, Mode};
use nacre_core::platform::io::Errno;

use super::look::READABLE_FILE;
use super::patterns::{MAX_COSTLY, is_costly};

/// The files with rules.
pub(super) const RULES_FILE: &str = ".gitignore";

/// A file with more rules than these is not read. A longer line is no rule.
const MAX_RULES_BYTES: u64 = 256 << 10;
const MAX_RULES: usize = 5_000;
const MAX_RULE_BYTES: usize = 1_000;

/// What all files with rules hold together that one look reads.
const MAX_LOOK_RULES: usize = 30_000;
const MAX_LOOK_BYTES: usize = 2 << 20;

/// So many folders from the root down have rules at most. Each file with rules has an automaton of its own, which grows with the
/// names that it is asked about.
const MAX_NESTED: usize = 24;

/// What is left of the rules that one look reads.
#[derive(Debug)]
pub(super) struct RuleBudget {
    /// Rules and bytes; `None` when a file did not fit.
    left: Mutex<Option<(usize, usize)>>,
}

impl Default for RuleBudget {
    fn default() -> Self {
        Self { left: Mutex::new(Some((MAX_LOOK_RULES, MAX_LOOK_BYTES))) }
    }
}

impl RuleBudget {
    /// Whether a file with rules did not fit: from then on none is read.
    pub(super) fn is_spent(&self) -> bool {
        self.left().is_none()
    }

    fn take(&self, n_rules: usize, n_bytes: usize) -> Result<(), UnreadRules> {
        let mut left = self.left();
        *left = left.and_then(|(rules, bytes)| {
            Some((rules.checked_sub(n_rules)?, bytes.checked_sub(n_bytes)?))
        });
        left.map(|_| ()).ok_or(UnreadRules)
    }

    fn left(&self) -> MutexGuard<'_, Option<(usize, usize)>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rules that are beyond what is read. What they leave out is not known, so the folder they stand in is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnreadRules;

/// The rules of one folder, and of those above it.
#[derive(Debug)]
pub(super) struct Rules {
    above: Option<Arc<Self>>,
    /// The folder, with a slash at its end; empty for the root.
    folder: String,
    /// The folder or file that the rules stand in; empty for the root.
    place: String,
    /// How many folders above have rules, too.
    n_above: usize,
    /// How many patterns cost time, here and above.
    n_costly: usize,
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
        let lines = text.lines().take(MAX_RULES);
        // Where the rules cannot be obeyed, everything is left out.
        let rules = Self::new(above.clone(), "", lines)
            .or_else(|| Self::new(above, "", std::iter::once("*")))?;
        Some(Arc::new(Self { place: place.to_owned(), ..rules }))
    }

    /// The rules below an open folder, whose listing has a file with some.
    pub(super) fn below(
        budget: &RuleBudget,
        above: Option<Arc<Self>>,
        folder: impl AsFd,
        path: &str,
    ) -> Result<Option<Arc<Self>>, UnreadRules> {
        let Some(file) = open_rules(folder)? else { return Ok(above) };
        if budget.is_spent() || above.as_ref().is_some_and(|above| MAX_NESTED <= above.n_above) {
            return Err(UnreadRules);
        }
        let text = read_rules(file)?;
        let rules = || text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let n_rules = rules().count();
        if n_rules == 0 {
            return Ok(above);
        }
        if MAX_RULES < n_rules {
            return Err(UnreadRules);
        }
        budget.take(n_rules, text.len())?;
        let rules = Self::new(above, path, rules()).ok_or(UnreadRules)?;
        Ok(Some(Arc::new(rules)))
    }

    /// `None` where there is more in the rules than can be matched.
    fn new<'t>(
        above: Option<Arc<Self>>,
        path: &str,
        rules: impl Iterator<Item = &'t str>,
    ) -> Option<Self> {
        let mut builder = GitignoreBuilder::new("");
        let mut n_costly = above.as_ref().map_or(0, |above| above.n_costly);
        for line in rules.filter(|line| line.len() <= MAX_RULE_BYTES) {
            // A rule that git does not understand says nothing.
            let _ = builder.add_line(None, line);
            n_costly += usize::from(is_costly(line));
        }
        if MAX_COSTLY < n_costly {
            return None;
        }
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        let n_above = above.as_ref().map_or(0, |above| above.n_above + 1);
        let ignore = builder.build().ok()?;
        Some(Self { above, folder, place: path.to_owned(), n_above, n_costly, ignore })
    }

    /// The rule that leaves a path out, by the innermost folder that speaks of it.
    pub(super) fn leaving_out(
        rules: Option<&Arc<Self>>,
        path: &str,
        is_folder: bool,
    ) -> Option<IgnoredBy> {
        let mut rules = rules.map(Arc::as_ref);
        while let Some(Self { above, folder, place, ignore, .. }) = rules {
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

/// The file with the rules of a folder; none where there is no plain file of that name.
fn open_rules(folder: impl AsFd) -> Result<Option<File>, UnreadRules> {
    match platform::fs::openat(folder, RULES_FILE, READABLE_FILE, Mode::empty()) {
        Ok(file) => {
            let stat = platform::fs::fstat(&file).map_err(|_| UnreadRules)?;
            let is_plain = FileType::from_raw_mode(stat.st_mode).is_file();
            Ok(is_plain.then(|| File::from(file)))
        }
        Err(Errno::ACCESS | Errno::PERM) => Err(UnreadRules),
        Err(_) => Ok(None),
    }
}

fn read_rules(file: File) -> Result<String, UnreadRules> {
    let mut bytes = Vec::new();
    let read = file.take(MAX_RULES_BYTES + 1).read_to_end(&mut bytes);
    if read.is_err() || MAX_RULES_BYTES < bytes.len() as u64 {
        return Err(UnreadRules);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
