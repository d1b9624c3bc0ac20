//! The table of every key: its kind, its variable, and whether a repository may set it.
//!
//! A repository is a stranger's: a key that runs, sends or outlasts something is refused from there, and the table has
//! no default for that column, so a new key cannot be let through by forgetting it. Default values stand in
//! `defaults.toml` alone.

use super::choices::{AtRest, ColorChoice, EmbeddingChoice, LeadRuntime, ScopeMode, ThemeChoice};
use super::nearest;
use super::vars;

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeySpec {
    /// The section and the key below it: `memory.scope`.
    pub name: &'static str,
    pub kind: Kind,
    pub from_repo: FromRepo,
    /// The environment variable that sets it.
    pub var: &'static str,
    /// What it means; the same words as its comment in `defaults.toml`.
    pub doc: &'static str,
}

/// What a key can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number, both ends included.
    Int { min: i64, max: i64 },
    /// A number from 0 to `max` with up to three decimals.
    Decimal { max: i64 },
    /// `true` or `false`.
    Flag,
    /// One line of text, which may be empty.
    Text,
    /// A list of texts. Each layer adds to those below instead of replacing them.
    Texts { min_chars: usize },
}

/// What a key's value in a repository's own configuration is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FromRepo {
    Allowed,
    /// Taken when it does not exceed the value it would replace.
    OnlyLower,
    /// Ignored with a warning.
    Refused,
}

/// Every key, in the order of `defaults.toml`.
pub const KEYS: &[KeySpec] = &[
    KeySpec {
        name: "memory.scope",
        kind: Kind::Choice(ScopeMode::NAMES),
        from_repo: FromRepo::Allowed,
        var: vars::NACRE_MEMORY_SCOPE,
        doc: "Where recall looks: in the project and, for what it does not know, in the global memory \
              (`project_fallback_global`), or in one of the two alone (`project_only`, `global_only`). New memories go to \
              the project unless you say `global_only` by a flag, a variable or your own file: a repository cannot.",
    },
    KeySpec {
        name: "memory.max_results",
        kind: Kind::Int { min: 1, max: 10_000 },
        from_repo: FromRepo::Allowed,
        var: vars::NACRE_MEMORY_MAX_RESULTS,
        doc: "How many memories `nacre memory list` and `nacre memory search` show when no limit is given.",
    },
    KeySpec {
        name: "memory.max_file_bytes",
        kind: Kind::Int { min: 1024, max: 1_048_576 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_MEMORY_MAX_FILE_BYTES,
        doc: "The largest memory file that is read or written, in bytes.",
    },
    KeySpec {
        name: "ui.color",
        kind: Kind::Choice(ColorChoice::NAMES),
        from_repo: FromRepo::Allowed,
        var: vars::NACRE_UI_COLOR,
        doc: "When output is colored: on a terminal that wants color (`auto`), `always` or `never`.",
    },
    KeySpec {
        name: "ui.editor",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_UI_EDITOR,
        doc: "The command that opens a file for editing, with its arguments. Empty: `$VISUAL`, then `$EDITOR`.",
    },
    KeySpec {
        name: "ui.theme",
        kind: Kind::Choice(ThemeChoice::NAMES),
        from_repo: FromRepo::Refused,
        var: vars::NACRE_UI_THEME,
        doc: "The colors of `nacre chat`: for a dark background (`dark`), for a light one (`light`), or none (`plain`).",
    },
    KeySpec {
        name: "lock.wait_ms",
        kind: Kind::Int { min: 0, max: 600_000 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_LOCK_WAIT_MS,
        doc: "How long a command waits while another one is writing, in milliseconds. 0: not at all.",
    },
    KeySpec {
        name: "safe.folders",
        kind: Kind::Texts { min_chars: 1 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SAFE_FOLDERS,
        doc: "Folders whose `.nacre` and `.git` are used although they belong to another user or lie where anybody may write, by \
              their full paths; `*` for all.",
    },
    KeySpec {
        name: "safe.memories",
        kind: Kind::Texts { min_chars: 1 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SAFE_MEMORIES,
        doc: "Repositories whose memories are in the brief where evidence stands behind them, whoever wrote them, by their full \
              paths; `*` for all. In any other one only what was written or taken over on this machine is.",
    },
    KeySpec {
        name: "redact.extra",
        // Shorter texts, and blanks, occur in every line and would redact whole transcripts.
        kind: Kind::Texts { min_chars: 4 },
        from_repo: FromRepo::Allowed,
        var: vars::NACRE_REDACT_EXTRA,
        doc: "Texts that are always redacted, letter for letter, beside the secrets that Nacre recognizes. \
              Each layer adds to the list; none can take from it. A project's list holds for its memories, its sessions \
              and everything that is sent about them; yours for all projects. When a list changes, sessions are read again.",
    },
    KeySpec {
        name: "share.summaries",
        kind: Kind::Flag,
        from_repo: FromRepo::Allowed,
        var: vars::NACRE_SHARE_SUMMARIES,
        doc: "Whether git shares the summaries of sessions with the other memories of a project. They tell what people did and \
              asked. `nacre init` takes a change over into `.nacre/.gitignore`.",
    },
    KeySpec {
        name: "map.deny",
        kind: Kind::Texts { min_chars: 1 },
        from_repo: FromRepo::Allowed,
        var: vars::NACRE_MAP_DENY,
        doc: "Globs of files that no map of code shows and that are never read for one, beside those where keys and \
              passwords usually lie. Each layer adds to the list; none can take from it.",
    },
    KeySpec {
        name: "map.at_rest",
        kind: Kind::Choice(AtRest::NAMES),
        from_repo: FromRepo::Refused,
        var: vars::NACRE_MAP_AT_REST,
        doc: "How the map of code is kept on the disk: as it is (`plain`), or with a key that is made at first use and lies \
              in the folder of global data (`encrypted`). What was kept in the clear is then removed.",
    },
    KeySpec {
        name: "search.embedding",
        kind: Kind::Choice(EmbeddingChoice::NAMES),
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SEARCH_EMBEDDING,
        doc: "What search by meaning goes by: the model inside the program (`builtin`), or a service that texts are \
              sent to (`endpoint`).",
    },
    KeySpec {
        name: "search.endpoint_url",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SEARCH_ENDPOINT_URL,
        doc: "The base address of an OpenAI-compatible service for `endpoint`, such as \
              `http://127.0.0.1:11434/v1`. Its key, if it wants one, is in `NACRE_EMBEDDING_KEY`.",
    },
    KeySpec {
        name: "search.endpoint_model",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SEARCH_ENDPOINT_MODEL,
        doc: "The model that the service for `endpoint` is asked for.",
    },
    KeySpec {
        name: "server.database",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SERVER_DATABASE,
        doc: "The PostgreSQL that several servers share, as `postgres://USER@HOST/NAME`, without a password. Empty: everything is \
              kept on this machine. `nacre server migrate` prepares it; docs/scale.md says what moves there.",
    },
    KeySpec {
        name: "server.database_password_file",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SERVER_DATABASE_PASSWORD_FILE,
        doc: "The file with the password of the database, by its full path, which only you may read (mode 600). \
              `NACRE_DATABASE_PASSWORD` comes before it.",
    },
    KeySpec {
        name: "server.database_certificates",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SERVER_DATABASE_CERTIFICATES,
        doc: "A file with certificates (PEM) to trust for the database besides those of the system, by its full path.",
    },
    KeySpec {
        name: "server.database_connections",
        kind: Kind::Int { min: 2, max: 200 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SERVER_DATABASE_CONNECTIONS,
        doc: "How many connections to the database one server opens at most.",
    },
    KeySpec {
        name: "server.trusted_proxy",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SERVER_TRUSTED_PROXY,
        doc: "The address that a proxy of yours connects from, such as `127.0.0.1`. Only from there \
              `server.trusted_proxy_header` is read. Whoever else can connect from that address can pretend to be anybody.",
    },
    KeySpec {
        name: "server.trusted_proxy_header",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_SERVER_TRUSTED_PROXY_HEADER,
        doc: "The header in which your proxy names the person it has logged in, such as `x-forwarded-user`. Empty: none is \
              read. The person needs a token all the same, which says what they may do.",
    },
    KeySpec {
        name: "push.to",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_PUSH_TO,
        doc: "The server that `nacre push` and `nacre pull` talk to, such as `https://nacre.example.org`.",
    },
    KeySpec {
        name: "push.transcripts",
        kind: Kind::Flag,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_PUSH_TRANSCRIPTS,
        doc: "Whether `nacre push` also sends the transcripts of sessions, without secrets. Only you and whoever runs the server can \
              read them there, until you share them.",
    },
    KeySpec {
        name: "telemetry.otlp_endpoint",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_TELEMETRY_OTLP_ENDPOINT,
        doc: "The address of an OpenTelemetry collector, such as `http://127.0.0.1:4318`, that is told how long tasks and \
              calls took and what tokens they used. Empty: nobody is.",
    },
    KeySpec {
        name: "reading.agent",
        kind: Kind::Text,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_READING_AGENT,
        doc: "The installed agent that may answer where `roles.default.model` is `auto`: `claude-code`, `codex`, `opencode`, \
              `gemini` or `copilot`; `none` for none of them. Empty: `nacre init` and `nacre sync` ask once, on a terminal.",
    },
    KeySpec {
        name: "reading.sessions_per_day",
        kind: Kind::Int { min: 0, max: 100_000 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_READING_SESSIONS_PER_DAY,
        doc: "The most sessions that installed agents read in a day (UTC). The others wait for the next day.",
    },
    KeySpec {
        name: "lead.runtime",
        kind: Kind::Choice(LeadRuntime::NAMES),
        from_repo: FromRepo::Refused,
        var: vars::NACRE_LEAD_RUNTIME,
        doc: "What the lead of a sync is run with: Nacre's own engine (`nacre`), or the installed Claude Code (`claude`), once you \
              allowed it to answer (`reading.agent`).",
    },
    KeySpec {
        name: "lead.persist_sessions_in_workspace",
        kind: Kind::Flag,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_LEAD_PERSIST_SESSIONS_IN_WORKSPACE,
        doc: "Whether the session of a lead that Claude Code runs is kept, without secrets, as `lead-session.jsonl` in the folder \
              of the run. Otherwise nothing of it is.",
    },
    KeySpec {
        name: "hooks.start_tokens",
        kind: Kind::Int { min: 0, max: 4_000 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_START_TOKENS,
        doc: "The most tokens of the brief that an agent is given by its hook when a session starts. 0: no brief.",
    },
    KeySpec {
        name: "hooks.prompt_tokens",
        kind: Kind::Int { min: 0, max: 4_000 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_PROMPT_TOKENS,
        doc: "The most tokens of memories that a hook adds to one prompt. 0: none.",
    },
    KeySpec {
        name: "hooks.pitfalls",
        kind: Kind::Flag,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_PITFALLS,
        doc: "Whether a hook says, before a tool changes a file, what pitfall is known about that file.",
    },
    KeySpec {
        name: "hooks.guard",
        kind: Kind::Flag,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_GUARD,
        doc: "Whether a hook refuses tools that would write outside the project, into `.nacre` or `.git`, or that touch files \
              where keys and passwords usually lie. Commands of a shell are looked at word by word, which is not a wall.",
    },
    KeySpec {
        name: "hooks.guard_folders",
        kind: Kind::Texts { min_chars: 1 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_GUARD_FOLDERS,
        doc: "Folders outside a project that `hooks.guard` lets tools write to, by their full paths.",
    },
    KeySpec {
        name: "hooks.sync",
        kind: Kind::Flag,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_SYNC,
        doc: "Whether the end of a turn or session starts `nacre sync` in the background.",
    },
    KeySpec {
        name: "hooks.ask_to_record",
        kind: Kind::Flag,
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_ASK_TO_RECORD,
        doc: "Whether an agent is asked, at most once a session, to record with `memory_add` what should last. It costs the agent \
              one more answer.",
    },
    KeySpec {
        name: "hooks.deadline_ms",
        kind: Kind::Int { min: 20, max: 60_000 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_HOOKS_DEADLINE_MS,
        doc: "The longest that a hook may take, in milliseconds. One that takes longer says nothing.",
    },
    KeySpec {
        name: "runs.keep",
        kind: Kind::Int { min: 1, max: 100_000 },
        from_repo: FromRepo::Refused,
        var: vars::NACRE_RUNS_KEEP,
        doc: "How many run folders of each mode are kept below `workspace/`; `nacre undo` needs a run's folder.",
    },
    KeySpec {
        name: "limits.session_tokens",
        kind: Kind::Int { min: 0, max: 1_000_000_000_000 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_SESSION_TOKENS,
        doc: "The most tokens that models may use for one session, all its runs together. 0: no model is asked.",
    },
    KeySpec {
        name: "limits.session_usd",
        kind: Kind::Decimal { max: 1_000_000 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_SESSION_USD,
        doc: "The most that models may cost for one session, in dollars. A model whose price is not known counts by its tokens alone.",
    },
    KeySpec {
        name: "limits.day_tokens",
        kind: Kind::Int { min: 0, max: 1_000_000_000_000 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_DAY_TOKENS,
        doc: "The most tokens that models may use in a day (UTC) for everything that Nacre does by itself.",
    },
    KeySpec {
        name: "limits.day_usd",
        kind: Kind::Decimal { max: 1_000_000 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_DAY_USD,
        doc: "The most that models may cost in a day (UTC), in dollars.",
    },
    KeySpec {
        name: "limits.project_tokens",
        kind: Kind::Int { min: 0, max: 1_000_000_000_000 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_PROJECT_TOKENS,
        doc: "The most tokens that models may use for one project in a month (UTC).",
    },
    KeySpec {
        name: "limits.project_usd",
        kind: Kind::Decimal { max: 1_000_000 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_PROJECT_USD,
        doc: "The most that models may cost for one project in a month (UTC), in dollars.",
    },
    KeySpec {
        name: "limits.model_seconds",
        kind: Kind::Int { min: 1, max: 86_400 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_MODEL_SECONDS,
        doc: "The longest that one question to a model, or to the service for `endpoint`, may take, in seconds: connecting, \
              retries and fallbacks included.",
    },
    KeySpec {
        name: "limits.map_seconds",
        kind: Kind::Int { min: 1, max: 86_400 },
        from_repo: FromRepo::OnlyLower,
        var: vars::NACRE_LIMITS_MAP_SECONDS,
        doc: "The longest that one look at the files of a project may take, in seconds. Files that it did not come to are \
              counted in the answer and read by the next look.",
    },
];

impl KeySpec {
    /// Returns the table that the key stands in: `memory`.
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// Returns the key's name inside its table: `scope`.
    pub fn leaf(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, leaf)| leaf)
    }
}

/// Returns the key of that exact name.
pub(super) fn find(name: &str) -> Option<&'static KeySpec> {
    KEYS.iter().find(|spec| spec.name == name)
}

/// Returns whether some key stands in that table.
pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter().any(|spec| spec.section() == name)
}

/// Returns the key, or else the table, that somebody may have meant by `name`.
///
/// The last word decides: a wrong or forgotten table still finds its key, while two keys of one table do not look alike
/// only because they share its name.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
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

#[cfg(test)]
mod tests {
    use super::super::DEFAULTS;
    use super::super::vars::{PREFIX, VARS};
    use super::*;

    /// Reads `defaults.toml` as a person does: keys under their table, each below its comment.
    fn documented_keys() -> Vec<(String, String)> {
        let (mut section, mut doc, mut keys) = (String::new(), Vec::new(), Vec::new());
        for line in DEFAULTS.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                doc.push(comment);
            } else if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']').to_owned();
            } else if let Some((leaf, _)) = line.split_once(" = ") {
                keys.push((format!("{section}.{leaf}"), doc.join(" ")));
                doc.clear();
            } else {
                doc.clear();
            }
        }
        keys
    }

    #[test]
    fn the_table_and_the_defaults_have_the_same_keys_and_words() {
        let table: Vec<(String, String)> =
            KEYS.iter().map(|spec| (spec.name.to_owned(), spec.doc.to_owned())).collect();
        assert_eq!(documented_keys(), table);
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
            let is_number = matches!(spec.kind, Kind::Int { .. } | Kind::Decimal { .. });
            assert!(is_number, "{}", spec.name);
        }
    }

    #[test]
    fn a_variable_is_named_after_its_key_and_listed() {
        for spec in KEYS {
            assert_eq!(spec.var, format!("{PREFIX}{}", spec.name.replace('.', "_").to_uppercase()));
            let listed = VARS.iter().find(|var| var.name == spec.var);
            assert!(listed.is_some_and(|var| var.doc.contains(&format!("`{}`", spec.name))));
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
            assert_eq!(nearest(name), meant, "{name}");
        }
    }
}
