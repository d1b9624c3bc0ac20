// Written by `npm run settings` from docs/config.md. Do not edit.

export interface SettingDoc {
  values: string;
  variable: string;
  /** Whether the repository's file may set it: `yes`, `no` or a restriction. */
  fromRepo: string;
  meaning: string;
  choices?: string[];
}

/** Returns a setting's documentation. A role's or provider's name is the middle part of its key. */
export function settingDoc(key: string): SettingDoc | undefined {
  return SETTING_DOCS[key] ?? SETTING_DOCS[key.replace(/^(roles|providers)\.[^.]+\./, '$1.*.')];
}

export const SETTING_DOCS: Record<string, SettingDoc> = {
  "memory.scope": {"values":"`project_fallback_global`, `project_only`, `global_only`","variable":"NACRE_MEMORY_SCOPE","fromRepo":"yes","meaning":"Which memories are searched: the project's, then your global ones (`project_fallback_global`), only the project's (`project_only`), or only the global ones (`global_only`). New memories are added to the project unless a flag, a variable or your own settings file selects `global_only`; a repository cannot select it for them.","choices":["project_fallback_global","project_only","global_only"]},
  "memory.max_results": {"values":"1 to 10000","variable":"NACRE_MEMORY_MAX_RESULTS","fromRepo":"yes","meaning":"The number of results that `nacre memory list` and `nacre memory search` show by default."},
  "memory.max_file_bytes": {"values":"1024 to 1048576","variable":"NACRE_MEMORY_MAX_FILE_BYTES","fromRepo":"only lower","meaning":"The maximum size of a memory file, in bytes. Larger files are neither read nor written."},
  "memory.format": {"values":"1 to 1","variable":"NACRE_MEMORY_FORMAT","fromRepo":"yes","meaning":"The format of the store. A version of Nacre that does not know the format refuses the store."},
  "ui.color": {"values":"`auto`, `always`, `never`","variable":"NACRE_UI_COLOR","fromRepo":"yes","meaning":"When to color the output: if the terminal supports it (`auto`), `always` or `never`.","choices":["auto","always","never"]},
  "ui.editor": {"values":"text","variable":"NACRE_UI_EDITOR","fromRepo":"no","meaning":"The command that opens a file in your editor, with its arguments. If empty, `$VISUAL` or `$EDITOR` is used."},
  "ui.theme": {"values":"`dark`, `light`, `plain`","variable":"NACRE_UI_THEME","fromRepo":"no","meaning":"The colors of `nacre chat`: for a dark background (`dark`), for a light background (`light`), or no colors (`plain`).","choices":["dark","light","plain"]},
  "lock.wait_ms": {"values":"0 to 600000","variable":"NACRE_LOCK_WAIT_MS","fromRepo":"no","meaning":"How long a command waits while another process is writing, in milliseconds. With 0, it fails immediately."},
  "safe.folders": {"values":"strings of at least 1 characters","variable":"NACRE_SAFE_FOLDERS","fromRepo":"no","meaning":"Absolute paths of directories whose `.nacre` and `.git` are used even if they belong to another user or are in a world-writable directory; `*` allows all."},
  "safe.memories": {"values":"strings of at least 1 characters","variable":"NACRE_SAFE_MEMORIES","fromRepo":"no","meaning":"Absolute paths of repositories whose memories are included in the brief if they have evidence, no matter who wrote them; `*` allows all. From other repositories, the brief includes only memories that were written or accepted on this machine."},
  "redact.extra": {"values":"strings of at least 4 characters","variable":"NACRE_REDACT_EXTRA","fromRepo":"yes","meaning":"Words that are always redacted, exactly as written, in addition to the secrets that Nacre recognizes. Every layer can add words to the list; none can remove them. A project's list applies to its memories, its sessions and everything sent about them; your own list applies to all projects. Sessions are read again after a change to the list."},
  "share.summaries": {"values":"`true`, `false`","variable":"NACRE_SHARE_SUMMARIES","fromRepo":"yes","meaning":"Whether git shares session summaries in addition to the project's other memories. Summaries describe what users asked and did. After you change this setting, run `nacre init` to update `.nacre/.gitignore`.","choices":["true","false"]},
  "map.deny": {"values":"strings of at least 1 characters","variable":"NACRE_MAP_DENY","fromRepo":"yes","meaning":"Globs of files that are never read for the code map or shown in it, in addition to files that usually contain secrets. Every layer can add globs to the list; none can remove them."},
  "map.at_rest": {"values":"`plain`, `encrypted`","variable":"NACRE_MAP_AT_REST","fromRepo":"no","meaning":"How the code map is stored on disk: unencrypted (`plain`), or encrypted with a key that is created on first use in the global data directory (`encrypted`). When you turn on encryption, the unencrypted files are removed.","choices":["plain","encrypted"]},
  "server.database": {"values":"text","variable":"NACRE_SERVER_DATABASE","fromRepo":"no","meaning":"The PostgreSQL database shared by several servers, as `postgres://USER@HOST/NAME`, without a password. If empty, all data is stored on this machine. Run `nacre server migrate` to prepare the database; docs/scale.md lists the data that is stored there."},
  "server.database_password_file": {"values":"text","variable":"NACRE_SERVER_DATABASE_PASSWORD_FILE","fromRepo":"no","meaning":"The absolute path of a file that contains the database password. Only you may have access to it (mode 600). `NACRE_DATABASE_PASSWORD` takes precedence."},
  "server.database_certificates": {"values":"text","variable":"NACRE_SERVER_DATABASE_CERTIFICATES","fromRepo":"no","meaning":"The absolute path of a PEM file with certificates to trust for the database connection, in addition to the system's."},
  "server.database_connections": {"values":"2 to 200","variable":"NACRE_SERVER_DATABASE_CONNECTIONS","fromRepo":"no","meaning":"The maximum number of database connections that one server opens."},
  "server.trusted_proxy": {"values":"text","variable":"NACRE_SERVER_TRUSTED_PROXY","fromRepo":"no","meaning":"The address that your proxy connects from, such as `127.0.0.1`. `server.trusted_proxy_header` is read only in requests from this address. Anyone who can connect from this address can impersonate any user."},
  "server.trusted_proxy_header": {"values":"text","variable":"NACRE_SERVER_TRUSTED_PROXY_HEADER","fromRepo":"no","meaning":"The header in which your proxy sends the name of the logged-in user, such as `x-forwarded-user`. If empty, no header is read. Each user still needs a token, which determines their permissions."},
  "push.to": {"values":"text","variable":"NACRE_PUSH_TO","fromRepo":"no","meaning":"The server that `nacre push` and `nacre pull` use, such as `https://nacre.example.org`."},
  "push.transcripts": {"values":"`true`, `false`","variable":"NACRE_PUSH_TRANSCRIPTS","fromRepo":"no","meaning":"Whether `nacre push` also sends session transcripts, with secrets removed. Until you share them, only you and the server's administrators can read them.","choices":["true","false"]},
  "telemetry.otlp_endpoint": {"values":"text","variable":"NACRE_TELEMETRY_OTLP_ENDPOINT","fromRepo":"no","meaning":"The address of an OpenTelemetry collector, such as `http://127.0.0.1:4318`. Nacre sends it the durations and token counts of tasks and calls. If empty, nothing is sent."},
  "reading.agent": {"values":"text","variable":"NACRE_READING_AGENT","fromRepo":"no","meaning":"The installed agent that is used if `roles.default.model` is `auto`: `claude-code`, `codex`, `opencode`, `gemini` or `copilot`; `none` disables this. If empty, `nacre init` and `nacre sync` ask once, in a terminal."},
  "reading.sessions_per_day": {"values":"0 to 100000","variable":"NACRE_READING_SESSIONS_PER_DAY","fromRepo":"only lower","meaning":"The maximum number of sessions that installed agents read per day (UTC). Other sessions stay queued until the next day."},
  "hooks.start_tokens": {"values":"0 to 4000","variable":"NACRE_HOOKS_START_TOKENS","fromRepo":"no","meaning":"The maximum size of the brief that the start hook gives to an agent, in tokens. 0 turns it off."},
  "hooks.prompt_tokens": {"values":"0 to 4000","variable":"NACRE_HOOKS_PROMPT_TOKENS","fromRepo":"no","meaning":"The maximum size of the memories that a hook adds to one prompt or failed command, in tokens. 0 turns this off."},
  "hooks.pitfalls": {"values":"`true`, `false`","variable":"NACRE_HOOKS_PITFALLS","fromRepo":"no","meaning":"Whether a hook shows the agent a decision or pitfall that names a file, before a tool changes it.","choices":["true","false"]},
  "hooks.guard": {"values":"`true`, `false`","variable":"NACRE_HOOKS_GUARD","fromRepo":"no","meaning":"Whether a hook refuses tool calls that would write outside the project or into `.nacre` or `.git`, or access files that usually contain secrets. Shell commands are checked only word by word, so this is not a sandbox.","choices":["true","false"]},
  "hooks.guard_folders": {"values":"strings of at least 1 characters","variable":"NACRE_HOOKS_GUARD_FOLDERS","fromRepo":"no","meaning":"Absolute paths of directories outside the project that `hooks.guard` allows tools to write to."},
  "hooks.sync": {"values":"`true`, `false`","variable":"NACRE_HOOKS_SYNC","fromRepo":"no","meaning":"Whether `nacre sync` starts in the background at the end of a turn or session.","choices":["true","false"]},
  "hooks.deadline_ms": {"values":"20 to 60000","variable":"NACRE_HOOKS_DEADLINE_MS","fromRepo":"no","meaning":"The time limit for a hook, in milliseconds. A hook that exceeds it prints nothing."},
  "runs.keep": {"values":"1 to 100000","variable":"NACRE_RUNS_KEEP","fromRepo":"no","meaning":"The number of run directories of each mode to keep in `workspace/`. `nacre undo` can revert only runs whose directory still exists."},
  "limits.session_tokens": {"values":"0 to 1000000000000","variable":"NACRE_LIMITS_SESSION_TOKENS","fromRepo":"only lower","meaning":"The maximum number of tokens that models may use for one session, including all its runs. 0 turns models off."},
  "limits.session_usd": {"values":"0 to 1000000","variable":"NACRE_LIMITS_SESSION_USD","fromRepo":"only lower","meaning":"The maximum cost of models for one session, in dollars. If a model's price is unknown, only its tokens count."},
  "limits.day_tokens": {"values":"0 to 1000000000000","variable":"NACRE_LIMITS_DAY_TOKENS","fromRepo":"only lower","meaning":"The maximum number of tokens that models may use per day (UTC) for all of Nacre's work."},
  "limits.day_usd": {"values":"0 to 1000000","variable":"NACRE_LIMITS_DAY_USD","fromRepo":"only lower","meaning":"The maximum cost of models per day (UTC), in dollars."},
  "limits.project_tokens": {"values":"0 to 1000000000000","variable":"NACRE_LIMITS_PROJECT_TOKENS","fromRepo":"only lower","meaning":"The maximum number of tokens that models may use for one project per month (UTC)."},
  "limits.project_usd": {"values":"0 to 1000000","variable":"NACRE_LIMITS_PROJECT_USD","fromRepo":"only lower","meaning":"The maximum cost of models for one project per month (UTC), in dollars."},
  "limits.model_seconds": {"values":"1 to 86400","variable":"NACRE_LIMITS_MODEL_SECONDS","fromRepo":"only lower","meaning":"The time limit for one request to a model, in seconds, including connecting, retries and fallbacks."},
  "limits.map_seconds": {"values":"1 to 86400","variable":"NACRE_LIMITS_MAP_SECONDS","fromRepo":"only lower","meaning":"The time limit for one scan of a project's files, in seconds. Remaining files are counted in the output and read by the next scan."},
  "providers.*.api": {"values":"`anthropic`, `openai`","variable":"","fromRepo":"no","meaning":"The API that the provider supports. Required unless the provider is built in."},
  "providers.*.base_url": {"values":"text","variable":"","fromRepo":"no","meaning":"The provider's address, such as `http://127.0.0.1:8080/v1`. Required unless the provider is built in."},
  "providers.*.key_variable": {"values":"text","variable":"","fromRepo":"no","meaning":"The environment variable that contains the API key. The key itself is not stored in any file."},
  "providers.*.plain_http": {"values":"`this_machine`, `anywhere`","variable":"","fromRepo":"no","meaning":"The addresses to which the key may be sent unencrypted. The default is `this_machine`."},
  "roles.*.model": {"values":"text","variable":"","fromRepo":"no","meaning":"The model, as `provider/model`, such as `ollama/qwen3` or `claude-code/haiku`. `auto` uses the first installed agent, if you allowed agents to answer (`reading.agent`)."},
  "roles.*.fallbacks": {"values":"strings of at least 3 characters","variable":"","fromRepo":"no","meaning":"Models to try in this order if the first one does not respond."},
  "roles.*.max_tokens": {"values":"16 to 1000000","variable":"","fromRepo":"no","meaning":"Maximum length of a response, in tokens."},
  "roles.*.context_tokens": {"values":"1024 to 10000000","variable":"","fromRepo":"no","meaning":"Maximum size of one request in tokens, including the response. It cannot exceed the model's context window."},
  "roles.*.temperature": {"values":"0 to 2","variable":"","fromRepo":"no","meaning":"Sampling temperature. 0 makes the output as deterministic as possible."},
  "roles.*.effort": {"values":"`off`, `low`, `medium`, `high`","variable":"","fromRepo":"no","meaning":"How long the model may think before it responds."},
  "roles.*.strategy": {"values":"`auto`, `offline`, `windows`","variable":"","fromRepo":"no","meaning":"How sessions are read: by rules alone (`offline`), by a model in `windows`, or by whatever is available (`auto`, the default). Only in `[roles.extract]`."},
};
