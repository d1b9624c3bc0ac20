//! The user's global ignore rules: the file named by git's `core.excludesFile`.
//!
//! The caller passes the locations of git's configuration files. Conditional includes are not
//! followed, because their conditions can change even if no file does.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_base::git::{GitFolder, parse_settings};
use xxhash_rust::xxh3::xxh3_64;

use super::rules::Rules;

const MAX_BYTES: u64 = 256 << 10;

const MAX_INCLUDES: usize = 4;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitPlaces {
    /// Git configuration files. Later files override earlier ones.
    pub configs: Vec<PathBuf>,
    /// The ignore file to use if the configuration does not name one.
    pub default_excludes: Option<PathBuf>,
    pub home: Option<PathBuf>,
}

#[derive(Clone, Debug, Default)]
pub struct Excludes {
    pub(super) rules: Option<Arc<Rules>>,
    /// A hash of the rules; 0 if there are none.
    pub(super) identity: u64,
}

impl Excludes {
    pub fn find(root: &Path, places: &GitPlaces) -> Self {
        let mut named = None;
        for config in &places.configs {
            named = read_excludes_setting(config, places.home.as_deref(), MAX_INCLUDES).or(named);
        }
        let file = match named {
            // A repository may disable the user's rules but not replace them, because the setting
            // could name any file on the machine.
            _ if wants_none(root) => None,
            Some(name) if name.is_empty() => None,
            Some(name) => Some(root.join(expand_home(&name, places.home.as_deref()))),
            None => places.default_excludes.clone(),
        };
        let Some((file, text)) = file.and_then(|file| read(&file).map(|text| (file, text))) else {
            return Self::default();
        };
        let rules = Rules::private(None, &file.to_string_lossy(), &text);
        Self { identity: if rules.is_some() { xxh3_64(text.as_bytes()) } else { 0 }, rules }
    }
}

fn wants_none(root: &Path) -> bool {
    let config = GitFolder::of(root).and_then(|git| git.read_shared("config")).unwrap_or_default();
    let settings = parse_settings(&config);
    let own = settings.iter().rfind(|(key, _)| key == "core.excludesfile");
    own.is_some_and(|(_, value)| value.is_empty())
}

/// Reads a plain file. Symbolic links are followed, because configuration files are often links.
fn read(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the last `core.excludesFile` setting in a configuration file or the files it includes.
fn read_excludes_setting(config: &Path, home: Option<&Path>, n_left: usize) -> Option<String> {
    let text = read(config)?;
    let mut named = None;
    for (key, value) in parse_settings(&text) {
        match key.as_str() {
            "core.excludesfile" => named = Some(value),
            "include.path" if 0 < n_left => {
                let beside = config.parent().unwrap_or(config).join(expand_home(&value, home));
                named = read_excludes_setting(&beside, home, n_left - 1).or(named);
            }
            _ => {}
        }
    }
    named
}

fn expand_home(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
