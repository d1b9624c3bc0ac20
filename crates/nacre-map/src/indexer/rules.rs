//! The ignore rules that apply in a directory: the user's own rules, then every `.gitignore` from
//! the root down to that directory.

use std::fs::File;
use std::io::Read as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nacre_base::platform;
use nacre_base::platform::fd::AsFd;
use nacre_base::platform::fs::{FileType, Mode};
use nacre_base::platform::io::Errno;

use super::look::READABLE_FILE;

pub const RULES_FILE: &str = ".gitignore";

pub const MAX_RULES_BYTES: u64 = 256 << 10;
const MAX_RULES: usize = 5_000;
const MAX_RULE_BYTES: usize = 1_000;

const MAX_LOOK_RULES: usize = 30_000;
const MAX_LOOK_BYTES: usize = 2 << 20;

/// Maximum number of nested directories with rules. Each such directory has an automaton whose size
/// grows with the number of names it matches.
const MAX_NESTED: usize = 24;

/// Maximum number of costly patterns that apply in one directory. In a malicious rules file, every
/// pattern may still be a possible match when the last character of a name is reached. Real
/// repositories have a few dozen costly patterns.
pub(super) const MAX_COSTLY: usize = 400;

/// Returns whether a pattern contains wildcards other than a leading `*` or `**/` or a trailing
/// `/**`. Such patterns become part of an automaton that runs on each path.
pub(super) fn is_costly(pattern: &str) -> bool {
    let name = pattern.trim_start_matches('!').trim_start_matches("**/").trim_start_matches('/');
    let name = name.trim_end_matches('/').trim_end_matches("/**");
    name.strip_prefix('*').unwrap_or(name).contains(['*', '?', '[', '{'])
}

#[derive(Debug)]
pub struct RuleBudget {
    /// How many more rules and bytes may be read; `None` once a file has exceeded the budget.
    left: Mutex<Option<(usize, usize)>>,
}

impl Default for RuleBudget {
    fn default() -> Self {
        Self { left: Mutex::new(Some((MAX_LOOK_RULES, MAX_LOOK_BYTES))) }
    }
}

impl RuleBudget {
    /// Returns whether a file has exceeded the budget. After that, no more rules files are read.
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

/// Returned for rules that exceed the limits. The directory is left out of the map, because it is
/// unknown which of its files these rules ignore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadRules;

#[derive(Debug)]
pub struct Rules {
    above: Option<Arc<Self>>,
    /// Path of the directory with a trailing slash; empty for the root.
    folder: String,
    place: String,
    n_above: usize,
    /// Number of costly patterns, including those inherited from parent directories.
    n_costly: usize,
    ignore: Gitignore,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredBy {
    pub(super) place: String,
    pub(super) rule: String,
}

impl Rules {
    /// Creates rules that do not come from a `.gitignore`: the user's own or a repository's private
    /// rules.
    pub(super) fn private(above: Option<Arc<Self>>, place: &str, text: &str) -> Option<Arc<Self>> {
        let is_empty = text.lines().all(|line| line.is_empty() || line.starts_with('#'));
        if is_empty {
            return above;
        }
        let lines = text.lines().take(MAX_RULES);
        // If the rules cannot be applied, ignore everything.
        let rules = Self::new(above.clone(), "", lines)
            .or_else(|| Self::new(above, "", std::iter::once("*")))?;
        Some(Arc::new(Self { place: place.to_owned(), ..rules }))
    }

    pub(super) fn below(
        budget: &RuleBudget,
        above: Option<Arc<Self>>,
        folder: impl AsFd,
        path: &str,
    ) -> Result<Option<Arc<Self>>, UnreadRules> {
        let Some(file) = open_rules(folder)? else { return Ok(above) };
        if budget.is_spent() {
            return Err(UnreadRules);
        }
        Self::add(budget, above, &read_rules(file)?, path)
    }

    /// Adds the text of a directory's rules file to the rules of the directories above it.
    pub fn add(
        budget: &RuleBudget,
        above: Option<Arc<Self>>,
        text: &str,
        path: &str,
    ) -> Result<Option<Arc<Self>>, UnreadRules> {
        let rules = || text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let n_rules = rules().count();
        if n_rules == 0 {
            return Ok(above);
        }
        let is_nested = above.as_ref().is_some_and(|above| MAX_NESTED <= above.n_above);
        if MAX_RULES < n_rules || is_nested {
            return Err(UnreadRules);
        }
        budget.take(n_rules, text.len())?;
        let rules = Self::new(above, path, rules()).ok_or(UnreadRules)?;
        Ok(Some(Arc::new(rules)))
    }

    /// Compiles rules. Returns `None` if the rules are too costly.
    fn new<'t>(
        above: Option<Arc<Self>>,
        path: &str,
        rules: impl Iterator<Item = &'t str>,
    ) -> Option<Self> {
        let mut builder = GitignoreBuilder::new("");
        let mut n_costly = above.as_ref().map_or(0, |above| above.n_costly);
        for line in rules.filter(|line| line.len() <= MAX_RULE_BYTES) {
            // Git also skips invalid rules.
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

    /// Returns the rule that ignores a path. If several directories have a matching rule, the
    /// innermost one takes precedence.
    pub fn leaving_out(
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

/// Opens a rules file. Returns `None` if the directory has no plain file with that name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_endings_cost_nothing() {
        for cheap in ["target", "/target/", "*.log", "!*.rs", "**/dist/**", "docs/*.md", "a b"] {
            assert_eq!(is_costly(cheap), cheap == "docs/*.md", "{cheap}");
        }
        for costly in ["a*b", "foo*", "*a*b", "[Dd]ebug", "?", "*.{js,ts}"] {
            assert!(is_costly(costly), "{costly}");
        }
    }
}
