//! The rules that a person keeps for all repositories: git's `core.excludesFile`.
//!
//! Where git's settings lie is told by who knows the environment. Includes are followed, but not those with a condition: what
//! decides about them can change without a trace in any file.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::git::{common_folder, git_folder};
use super::rules::Rules;

/// Settings and rules are texts that people write; what follows is not read.
const MAX_BYTES: u64 = 256 << 10;

/// Settings include others so deep at most.
const MAX_INCLUDES: usize = 4;

/// Where git's settings of a person lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitPlaces {
    /// Files with settings; a later one wins, and the repository's own wins over all.
    pub configs: Vec<PathBuf>,
    /// The rules, where no setting names them.
    pub default_excludes: Option<PathBuf>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
}

/// The rules of a person, as they are now.
#[derive(Clone, Debug, Default)]
pub struct Excludes {
    rules: Option<Arc<Rules>>,
    identity: u64,
}

impl Excludes {
    /// Reads the rules that hold in the repository at `root`; there may be none.
    pub fn find(root: &Path, places: &GitPlaces) -> Self {
        let own = git_folder(root).map(|git| common_folder(&git).join("config"));
        let mut named = None;
        for config in places.configs.iter().chain(&own) {
            named = named_by(config, places.home.as_deref(), MAX_INCLUDES).or(named);
        }
        let file = match named {
            Some(name) if name.is_empty() => None,
            Some(name) => Some(root.join(expanded(&name, places.home.as_deref()))),
            None => places.default_excludes.clone(),
        };
        let Some((file, text)) = file.and_then(|file| read(&file).map(|text| (file, text))) else {
            return Self::default();
        };
        let rules = Rules::private(None, &file.to_string_lossy(), &text);
        Self { identity: if rules.is_some() { xxh3_64(text.as_bytes()) } else { 0 }, rules }
    }

    pub(super) fn rules(&self) -> Option<Arc<Rules>> {
        self.rules.clone()
    }

    /// Tells these rules from others; 0 where there are none.
    pub(super) fn identity(&self) -> u64 {
        self.identity
    }
}

/// The text of a plain file. A link is followed: people keep their settings elsewhere.
fn read(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a file of settings, with those that it includes, says last of `core.excludesFile`.
fn named_by(config: &Path, home: Option<&Path>, n_left: usize) -> Option<String> {
    let text = read(config)?;
    let mut named = None;
    for (key, value) in settings(&text) {
        match key.as_str() {
            "core.excludesfile" => named = Some(value),
            "include.path" if 0 < n_left => {
                let beside = config.parent().unwrap_or(config).join(expanded(&value, home));
                named = named_by(&beside, home, n_left - 1).or(named);
            }
            _ => {}
        }
    }
    named
}

/// A path in which `~/` stands for the home of the person.
fn expanded(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// The settings of a text in their order: `section.key` in lower case, and the value. Sections with a second name are left out.
fn settings(text: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut section = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut rest = line.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((name, after)) = header.split_once(']') else { continue };
            section = (!name.contains('"')).then(|| name.trim().to_ascii_lowercase());
            rest = after.trim_start();
        }
        let Some((section, (key, value))) = section.as_ref().zip(rest.split_once('=')) else {
            continue;
        };
        let mut value = value.to_owned();
        while value.ends_with('\\') && !value.ends_with("\\\\") {
            value.pop();
            value.push_str(lines.next().unwrap_or_default());
        }
        settings.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), plain(&value)));
    }
    settings
}

/// A value without its quotes, escapes and comment.
fn plain(value: &str) -> String {
    let mut plain = String::new();
    let mut n_kept = 0;
    let mut is_quoted = false;
    let mut chars = value.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => plain.extend(chars.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            c => plain.push(c),
        }
        if is_quoted || !c.is_whitespace() {
            n_kept = plain.len();
        }
    }
    plain.truncate(n_kept);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "[core]\n\tbare = false ; no\n\texcludesFile = \"~/my ignores\" # mine\n[Core] ExcludesFile=a\\\\b\n\
                    [core \"other\"]\nexcludesfile = never\n[include]\npath = a\\\nb\n[broken\nexcludesfile = x\n[core]\nexcludesfile =\n";
        let shown: Vec<String> =
            settings(text).iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            shown,
            [
                "core.bare=false",
                "core.excludesfile=~/my ignores",
                "core.excludesfile=a\\b",
                "include.path=ab",
                "include.excludesfile=x",
                "core.excludesfile=",
            ]
        );
    }
}
