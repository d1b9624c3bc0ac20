//! Every environment variable that Nacre reads, as a documented constant.
//!
//! One list makes both the constants and the table that the reference is written from, so neither can forget one.

/// One variable and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VarSpec {
    pub name: &'static str,
    pub doc: &'static str,
}

/// What every variable of Nacre's own begins with.
pub(super) const PREFIX: &str = "NACRE_";

macro_rules! vars {
    ($($(#[doc = $doc:literal])+ $name:ident)+) => {
        $($(#[doc = $doc])+ pub const $name: &str = stringify!($name);)+

        /// All of them, in the order of the reference.
        pub const VARS: &[VarSpec] =
            &[$(VarSpec { name: $name, doc: concat!($($doc),+).trim_ascii() }),+];
    };
}

vars! {
    /// The folder of the global memory, settings and catalog, instead of `~/.nacre`.
    NACRE_HOME
    /// One more configuration file, read after the repository's.
    NACRE_CONFIG
    /// The time to use instead of the clock, such as `2026-11-15T08:30:00Z`; for tests and reproducible runs.
    NACRE_NOW
    /// Set for the agents that Nacre asks as models: a Nacre that one of them starts asks no agent again.
    NACRE_CHILD
    /// The key of the service that `search.endpoint_url` names; keys stand in no file.
    NACRE_EMBEDDING_KEY
    /// The token for the server that `push.to` names; otherwise `~/.nacre/push.token` has it.
    NACRE_PUSH_TOKEN
    /// The password of the database that `server.database` names; it stands in no setting.
    NACRE_DATABASE_PASSWORD
    /// Sets `memory.scope`.
    NACRE_MEMORY_SCOPE
    /// Sets `memory.max_results`.
    NACRE_MEMORY_MAX_RESULTS
    /// Sets `memory.max_file_bytes`.
    NACRE_MEMORY_MAX_FILE_BYTES
    /// Sets `ui.color`.
    NACRE_UI_COLOR
    /// Sets `ui.editor`.
    NACRE_UI_EDITOR
    /// Sets `ui.theme`.
    NACRE_UI_THEME
    /// Sets `lock.wait_ms`.
    NACRE_LOCK_WAIT_MS
    /// Adds to `safe.folders`, comma separated or as a TOML array.
    NACRE_SAFE_FOLDERS
    /// Adds to `safe.memories`, comma separated or as a TOML array.
    NACRE_SAFE_MEMORIES
    /// Adds to `redact.extra`, comma separated or as a TOML array.
    NACRE_REDACT_EXTRA
    /// Sets `share.summaries`.
    NACRE_SHARE_SUMMARIES
    /// Adds to `map.deny`, comma separated or as a TOML array.
    NACRE_MAP_DENY
    /// Sets `map.at_rest`.
    NACRE_MAP_AT_REST
    /// Sets `search.embedding`.
    NACRE_SEARCH_EMBEDDING
    /// Sets `search.endpoint_url`.
    NACRE_SEARCH_ENDPOINT_URL
    /// Sets `search.endpoint_model`.
    NACRE_SEARCH_ENDPOINT_MODEL
    /// Sets `server.database`.
    NACRE_SERVER_DATABASE
    /// Sets `server.database_password_file`.
    NACRE_SERVER_DATABASE_PASSWORD_FILE
    /// Sets `server.database_certificates`.
    NACRE_SERVER_DATABASE_CERTIFICATES
    /// Sets `server.database_connections`.
    NACRE_SERVER_DATABASE_CONNECTIONS
    /// Sets `server.trusted_proxy`.
    NACRE_SERVER_TRUSTED_PROXY
    /// Sets `server.trusted_proxy_header`.
    NACRE_SERVER_TRUSTED_PROXY_HEADER
    /// Sets `push.to`.
    NACRE_PUSH_TO
    /// Sets `push.transcripts`.
    NACRE_PUSH_TRANSCRIPTS
    /// Sets `telemetry.otlp_endpoint`.
    NACRE_TELEMETRY_OTLP_ENDPOINT
    /// Sets `roles.default.model`: the model for every role that has none of its own.
    NACRE_MODEL
    /// Sets `reading.agent`.
    NACRE_READING_AGENT
    /// Sets `reading.sessions_per_day`.
    NACRE_READING_SESSIONS_PER_DAY
    /// Sets `lead.runtime`.
    NACRE_LEAD_RUNTIME
    /// Sets `lead.persist_sessions_in_workspace`.
    NACRE_LEAD_PERSIST_SESSIONS_IN_WORKSPACE
    /// Sets `hooks.start_tokens`.
    NACRE_HOOKS_START_TOKENS
    /// Sets `hooks.prompt_tokens`.
    NACRE_HOOKS_PROMPT_TOKENS
    /// Sets `hooks.pitfalls`.
    NACRE_HOOKS_PITFALLS
    /// Sets `hooks.guard`.
    NACRE_HOOKS_GUARD
    /// Adds to `hooks.guard_folders`, comma separated or as a TOML array.
    NACRE_HOOKS_GUARD_FOLDERS
    /// Sets `hooks.sync`.
    NACRE_HOOKS_SYNC
    /// Sets `hooks.ask_to_record`.
    NACRE_HOOKS_ASK_TO_RECORD
    /// Sets `hooks.deadline_ms`.
    NACRE_HOOKS_DEADLINE_MS
    /// Sets `runs.keep`.
    NACRE_RUNS_KEEP
    /// Sets `limits.session_tokens`.
    NACRE_LIMITS_SESSION_TOKENS
    /// Sets `limits.session_usd`.
    NACRE_LIMITS_SESSION_USD
    /// Sets `limits.day_tokens`.
    NACRE_LIMITS_DAY_TOKENS
    /// Sets `limits.day_usd`.
    NACRE_LIMITS_DAY_USD
    /// Sets `limits.project_tokens`.
    NACRE_LIMITS_PROJECT_TOKENS
    /// Sets `limits.project_usd`.
    NACRE_LIMITS_PROJECT_USD
    /// Sets `limits.model_seconds`.
    NACRE_LIMITS_MODEL_SECONDS
    /// Sets `limits.map_seconds`.
    NACRE_LIMITS_MAP_SECONDS
    /// Set and not empty: no color while `ui.color` is `auto`.
    NO_COLOR
    /// The program that long output goes through on a terminal, with its arguments, instead of `less -FRX`; empty: none.
    NACRE_PAGER
    /// The same while `NACRE_PAGER` is not set.
    PAGER
    /// The editor to open a file with while `ui.editor` is empty.
    VISUAL
    /// The editor to open a file with while `ui.editor` and `VISUAL` are empty.
    EDITOR
}
