//! The table of all configuration keys: their types, and whether a repository may set them.
//!
//! Repositories are untrusted. `from_repo` has no default, so that a new key cannot be allowed by
//! omission. Default values and descriptions are only in `defaults.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::error::{FORMAT_KEY, nearest};
use super::settings::{AtRest, ColorChoice, ScopeMode, ThemeChoice};
use FromRepo::{Allowed, OnlyLower, Refused};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySpec {
    /// For example, `memory.scope`.
    pub name: &'static str,
    pub kind: ValueKind,
    pub from_repo: FromRepo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Choice(&'static [&'static str]),
    /// A whole number between two inclusive bounds.
    Int {
        min: i64,
        max: i64,
    },
    /// A number from 0 to `max` with up to three decimals.
    Decimal {
        max: i64,
    },
    Flag,
    Text,
    /// A list of strings. Each layer adds to the lists of lower layers instead of replacing them.
    Texts {
        min_chars: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromRepo {
    Allowed,
    /// A repository may lower the value but not raise it.
    OnlyLower,
    /// A repository may not set the key. Its value is ignored with a warning.
    Refused,
}

const fn key(name: &'static str, kind: ValueKind, from_repo: FromRepo) -> KeySpec {
    KeySpec { name, kind, from_repo }
}

pub const KEYS: &[KeySpec] = &[
    key("memory.scope", ValueKind::Choice(ScopeMode::NAMES), Allowed),
    key("memory.max_results", ValueKind::Int { min: 1, max: 10_000 }, Allowed),
    key("memory.max_file_bytes", ValueKind::Int { min: 1024, max: 1_048_576 }, OnlyLower),
    key(FORMAT_KEY, ValueKind::Int { min: 1, max: 1 }, Allowed),
    key("ui.color", ValueKind::Choice(ColorChoice::NAMES), Allowed),
    key("ui.editor", ValueKind::Text, Refused),
    key("ui.theme", ValueKind::Choice(ThemeChoice::NAMES), Refused),
    key("lock.wait_ms", ValueKind::Int { min: 0, max: 600_000 }, Refused),
    key("safe.folders", ValueKind::Texts { min_chars: 1 }, Refused),
    key("safe.memories", ValueKind::Texts { min_chars: 1 }, Refused),
    // Shorter strings occur in almost every line and would redact whole transcripts.
    key("redact.extra", ValueKind::Texts { min_chars: 4 }, Allowed),
    key("share.summaries", ValueKind::Flag, Allowed),
    key("map.deny", ValueKind::Texts { min_chars: 1 }, Allowed),
    key("map.at_rest", ValueKind::Choice(AtRest::NAMES), Refused),
    key("server.database", ValueKind::Text, Refused),
    key("server.database_password_file", ValueKind::Text, Refused),
    key("server.database_certificates", ValueKind::Text, Refused),
    key("server.database_connections", ValueKind::Int { min: 2, max: 200 }, Refused),
    key("server.trusted_proxy", ValueKind::Text, Refused),
    key("server.trusted_proxy_header", ValueKind::Text, Refused),
    key("push.to", ValueKind::Text, Refused),
    key("push.transcripts", ValueKind::Flag, Refused),
    key("telemetry.otlp_endpoint", ValueKind::Text, Refused),
    key("reading.agent", ValueKind::Text, Refused),
    key("reading.sessions_per_day", ValueKind::Int { min: 0, max: 100_000 }, OnlyLower),
    key("hooks.start_tokens", ValueKind::Int { min: 0, max: 4_000 }, Refused),
    key("hooks.prompt_tokens", ValueKind::Int { min: 0, max: 4_000 }, Refused),
    key("hooks.pitfalls", ValueKind::Flag, Refused),
    key("hooks.guard", ValueKind::Flag, Refused),
    key("hooks.guard_folders", ValueKind::Texts { min_chars: 1 }, Refused),
    key("hooks.sync", ValueKind::Flag, Refused),
    key("hooks.deadline_ms", ValueKind::Int { min: 20, max: 60_000 }, Refused),
    key("runs.keep", ValueKind::Int { min: 1, max: 100_000 }, Refused),
    key("limits.session_tokens", ValueKind::Int { min: 0, max: 1_000_000_000_000 }, OnlyLower),
    key("limits.session_usd", ValueKind::Decimal { max: 1_000_000 }, OnlyLower),
    key("limits.day_tokens", ValueKind::Int { min: 0, max: 1_000_000_000_000 }, OnlyLower),
    key("limits.day_usd", ValueKind::Decimal { max: 1_000_000 }, OnlyLower),
    key("limits.project_tokens", ValueKind::Int { min: 0, max: 1_000_000_000_000 }, OnlyLower),
    key("limits.project_usd", ValueKind::Decimal { max: 1_000_000 }, OnlyLower),
    key("limits.model_seconds", ValueKind::Int { min: 1, max: 86_400 }, OnlyLower),
    key("limits.map_seconds", ValueKind::Int { min: 1, max: 86_400 }, OnlyLower),
];

pub(super) const PREFIX: &str = "NACRE_";

static DOCS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| parse_docs(super::DEFAULTS));

/// Returns the comments directly above tables and keys, keyed by name.
pub(super) fn parse_docs(text: &'static str) -> BTreeMap<String, String> {
    let (mut section, mut doc, mut docs) = ("", Vec::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            doc.push(comment);
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            if !doc.is_empty() {
                docs.insert(section.to_owned(), doc.join(" "));
            }
        } else if let Some((leaf, _)) = line.split_once(" = ") {
            docs.insert(format!("{section}.{leaf}"), doc.join(" "));
        }
        doc.clear();
    }
    docs
}

impl KeySpec {
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    pub fn leaf(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, leaf)| leaf)
    }

    pub fn doc(&self) -> &'static str {
        DOCS.get(self.name).map_or("", String::as_str)
    }

    /// Returns the environment variable that sets the key, such as `NACRE_MEMORY_SCOPE`.
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.replace('.', "_").to_uppercase())
    }
}

pub(super) fn find(name: &str) -> Option<&'static KeySpec> {
    KEYS.iter().find(|spec| spec.name == name)
}

pub(super) fn find_by_variable(name: &str) -> Option<&'static KeySpec> {
    name.starts_with(PREFIX).then(|| KEYS.iter().find(|spec| spec.variable() == name))?
}

pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter().any(|spec| spec.section() == name)
}

/// Returns the key or table whose name is most similar to `name`.
///
/// Only the last component is compared. A key is therefore found even if the table name is wrong or
/// missing, and two keys are not similar just because they share a table.
pub(super) fn nearest_key(name: &str) -> Option<&'static str> {
    let (section, leaf) = name.rsplit_once('.').unwrap_or(("", name));
    let likeness = |spec: &&KeySpec| {
        nearest::likeness(leaf, spec.leaf()) + 0.1 * nearest::likeness(section, spec.section())
    };
    let sections = KEYS.iter().map(KeySpec::section);
    KEYS.iter()
        .filter(|spec| nearest::is_like(leaf, spec.leaf()))
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .map(|spec| spec.name)
        .or_else(|| nearest::among(name, sections.filter(|section| *section != name)))
}

/// An environment variable that does not set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VarSpec {
    pub name: &'static str,
    pub doc: &'static str,
}

macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $name:ident)+) => {
        $($(#[doc = $doc])+ pub const $name: &str = stringify!($name);)+

        pub const VARS: &[VarSpec] =
            &[$(VarSpec { name: $name, doc: concat!($($doc),+).trim_ascii() }),+];
    };
}

variables! {
    /// The directory for global memories, settings and the catalog, instead of `~/.nacre`.
    NACRE_HOME
    /// An additional configuration file, read after the repository's.
    NACRE_CONFIG
    /// The time to use instead of the current time, such as `2026-11-15T08:30:00Z`, for tests and
    /// reproducible runs.
    NACRE_NOW
    /// Set when Nacre runs an agent as a model, so that a Nacre process started by that agent does
    /// not itself run agents.
    NACRE_CHILD
    /// The token for the server at `push.to`. If not set, the token is read from
    /// `~/.nacre/push.token`.
    NACRE_PUSH_TOKEN
    /// The password for the database at `server.database`. Passwords are not stored in settings.
    NACRE_DATABASE_PASSWORD
    /// Sets `roles.default.model`, the model for roles that do not set one.
    NACRE_MODEL
    /// If set and not empty, disables color while `ui.color` is `auto`.
    NO_COLOR
    /// The pager command for long output on a terminal, instead of `less -FRX`. If empty, no pager
    /// is used.
    NACRE_PAGER
    /// The pager command to use if `NACRE_PAGER` is not set.
    PAGER
    /// The editor to use if `ui.editor` is empty.
    VISUAL
    /// The editor to use if `ui.editor` and `VISUAL` are empty.
    EDITOR
}

/// Sets the key `hooks.deadline_ms`. Hooks read this variable directly, because loading the
/// settings takes too long.
pub const NACRE_HOOKS_DEADLINE_MS: &str = "NACRE_HOOKS_DEADLINE_MS";
/// Sets the key `ui.theme`. Nacre passes this variable to processes that it starts in another
/// terminal.
pub const NACRE_UI_THEME: &str = "NACRE_UI_THEME";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_default_and_a_description() {
        let documented: Vec<&str> = DOCS.keys().map(String::as_str).collect();
        let mut names: Vec<&str> = KEYS.iter().map(|spec| spec.name).collect();
        names.sort_unstable();
        assert_eq!(documented, names);
        assert!(KEYS.iter().all(|spec| !spec.doc().is_empty()));
    }

    #[test]
    fn a_key_is_one_table_and_one_word() {
        for spec in KEYS {
            assert_eq!(spec.name.matches('.').count(), 1, "{}", spec.name);
            assert_eq!(format!("{}.{}", spec.section(), spec.leaf()), spec.name);
        }
    }

    #[test]
    fn only_a_number_can_be_lowered() {
        for spec in KEYS.iter().filter(|spec| spec.from_repo == FromRepo::OnlyLower) {
            let is_number = matches!(spec.kind, ValueKind::Int { .. } | ValueKind::Decimal { .. });
            assert!(is_number, "{}", spec.name);
        }
    }

    #[test]
    fn a_variable_is_named_after_its_key() {
        for spec in KEYS {
            assert_eq!(find_by_variable(&spec.variable()), Some(spec));
        }
        for name in [NACRE_HOOKS_DEADLINE_MS, NACRE_UI_THEME] {
            assert!(find_by_variable(name).is_some());
        }
    }

    #[test]
    fn a_wrong_name_finds_the_key_that_was_meant() {
        let cases = [
            ("memory.scop", Some("memory.scope")),
            ("scope", Some("memory.scope")),
            ("memroy.scope", Some("memory.scope")),
            ("Memory.Scope", Some("memory.scope")),
            ("memory.max-results", Some("memory.max_results")),
            ("ui.max_result", Some("memory.max_results")),
            ("memory.max_file_byte", Some("memory.max_file_bytes")),
            ("ui.colour", Some("ui.color")),
            ("a.b.editor", Some("ui.editor")),
            ("memroy", Some("memory")),
            ("memory", None),
            ("memory.type", None),
            ("provider.url", None),
            ("", None),
        ];
        for (name, meant) in cases {
            assert_eq!(nearest_key(name), meant, "{name}");
        }
    }
}
