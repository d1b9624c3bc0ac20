//! The rules that a person keeps for all repositories: git's `core.excludesFile`.
//!
//! Where git's settings lie is told by who knows the environment. Includes are followed, but not those with a condition: what
//! decides about them can change without a trace in any file.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_core::base::git::{GitFolder, parse_settings};
use xxhash_rust::xxh3::xxh3_64;

use super::rules::Rules;

/// Settings and rules are texts that people write; what follows is not read.
const MAX_BYTES: u64 = 256 << 10;

/// Settings include others so deep at most.
const MAX_INCLUDES: usize = 4;

/// Where git's settings of a person lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitPlaces {
    /// Files with settings; a later one wins.
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
        let mut named = None;
        for config in &places.configs {
            named = named_by(config, places.home.as_deref(), MAX_INCLUDES).or(named);
        }
        let file = match named {
            // A repository may want none of a person's rules. It names no other file: that could be any file of the machine.
            _ if wants_none(root) => None,
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

/// Whether the repository's own settings turn the rules of a person off.
fn wants_none(root: &Path) -> bool {
    let config = GitFolder::of(root).and_then(|git| git.read_shared("config")).unwrap_or_default();
    let settings = parse_settings(&config);
    let own = settings.iter().rfind(|(key, _)| key == "core.excludesfile");
    own.is_some_and(|(_, value)| value.is_empty())
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
    for (key, value) in parse_settings(&text) {
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
