// Written by `npm run settings` from docs/config.md. Do not edit.

export interface SettingDoc {
  values: string;
  variable: string;
  /** Whether the repository's file may set it: `yes`, `no`, or how. */
  fromRepo: string;
  meaning: string;
  choices?: string[];
}

/** What a setting means; the name of a role or provider stands in the middle of its key. */
export function settingDoc(key: string): SettingDoc | undefined {
  return SETTING_DOCS[key] ?? SETTING_DOCS[key.replace(/^(roles|providers)\.[^.]+\./, '$1.*.')];
}

export const SETTING_DOCS: Record<string, SettingDoc> = {
  "memory.scope": {"values":"`project_fallback_global`, `project_only`, `global_only`","variable":"NACRE_MEMORY_SCOPE","fromRepo":"yes","meaning":"Where recall looks: in the project and, for what it does not know, in the global memory (`project_fallback_global`), or in one of the two alone (`project_only`, `global_only`). New memories go to the project unless you say `global_only` by a flag, a variable or your own file: a repository cannot.","choices":["project_fallback_global","project_only","global_only"]},
  "memory.max_results": {"values":"1 to 10000","variable":"NACRE_MEMORY_MAX_RESULTS","fromRepo":"yes","meaning":"How many memories `nacre memory list` and `nacre memory search` show when no limit is given."},
  "memory.max_file_bytes": {"values":"1024 to 1048576","variable":"NACRE_MEMORY_MAX_FILE_BYTES","fromRepo":"only lower","meaning":"The largest memory file that is read or written, in bytes."},
  "ui.color": {"values":"`auto`, `always`, `never`","variable":"NACRE_UI_COLOR","fromRepo":"yes","meaning":"When output is colored: on a terminal that wants color (`auto`), `always` or `never`.","choices":["auto","always","never"]},
  "ui.editor": {"values":"text","variable":"NACRE_UI_EDITOR","fromRepo":"no","meaning":"The command that opens a file for editing, with its arguments. Empty: `$VISUAL`, then `$EDITOR`."},
  "ui.theme": {"values":"`dark`, `light`, `plain`","variable":"NACRE_UI_THEME","fromRepo":"no","meaning":"The colors of `nacre chat`: for a dark background (`dark`), for a light one (`light`), or none (`plain`).","choices":["dark","light","plain"]},
  "lock.wait_ms": {"values":"0 to 600000","variable":"NACRE_LOCK_WAIT_MS","fromRepo":"no","meaning":"How long a command waits while another one is writing, in milliseconds. 0: not at all."},
  "safe.folders": {"values":"texts of at least 1 characters","variable":"NACRE_SAFE_FOLDERS","fromRepo":"no","meaning":"Folders whose `.nacre` and `.git` are used although they belong to another user or lie where anybody may write, by their full paths; `*` for all."},
  "safe.memories": {"values":"texts of at least 1 characters","variable":"NACRE_SAFE_MEMORIES","fromRepo":"no","meaning":"Repositories whose memories are in the brief where evidence stands behind them, whoever wrote them, by their full paths; `*` for all. In any other one only what was written or taken over on this machine is."},
  "redact.extra": {"values":"texts of at least 4 characters","variable":"NACRE_REDACT_EXTRA","fromRepo":"yes","meaning":"Texts that are always redacted, letter for letter, beside the secrets that Nacre recognizes. Each layer adds to the list; none can take from it. A project's list holds for its memories, its sessions and everything that is sent about them; yours for all projects. When a list changes, sessions are read again."},
  "share.summaries": {"values":"`true`, `false`","variable":"NACRE_SHARE_SUMMARIES","fromRepo":"yes","meaning":"Whether git shares the summaries of sessions with the other memories of a project. They tell what people did and asked. `nacre init` takes a change over into `.nacre/.gitignore`.","choices":["true","false"]},
  "map.deny": {"values":"texts of at least 1 characters","variable":"NACRE_MAP_DENY","fromRepo":"yes","meaning":"Globs of files that no map of code shows and that are never read for one, beside those where keys and passwords usually lie. Each layer adds to the list; none can take from it."},
  "map.at_rest": {"values":"`plain`, `encrypted`","variable":"NACRE_MAP_AT_REST","fromRepo":"no","meaning":"How the map of code is kept on the disk: as it is (`plain`), or with a key that is made at first use and lies in the folder of global data (`encrypted`). What was kept in the clear is then removed.","choices":["plain","encrypted"]},
  "search.embedding": {"values":"`builtin`, `endpoint`","variable":"NACRE_SEARCH_EMBEDDING","fromRepo":"no","meaning":"What search by meaning goes by: the model inside the program (`builtin`), or a service that texts are sent to (`endpoint`).","choices":["builtin","endpoint"]},
  "search.endpoint_url": {"values":"text","variable":"NACRE_SEARCH_ENDPOINT_URL","fromRepo":"no","meaning":"The base address of an OpenAI-compatible service for `endpoint`, such as `http://127.0.0.1:11434/v1`. Its key, if it wants one, is in `NACRE_EMBEDDING_KEY`."},
  "search.endpoint_model": {"values":"text","variable":"NACRE_SEARCH_ENDPOINT_MODEL","fromRepo":"no","meaning":"The model that the service for `endpoint` is asked for."},
  "server.database": {"values":"text","variable":"NACRE_SERVER_DATABASE","fromRepo":"no","meaning":"The PostgreSQL that several servers share, as `postgres://USER@HOST/NAME`, without a password. Empty: everything is kept on this machine. `nacre server migrate` prepares it; docs/scale.md says what moves there."},
  "server.database_password_file": {"values":"text","variable":"NACRE_SERVER_DATABASE_PASSWORD_FILE","fromRepo":"no","meaning":"The file with the password of the database, by its full path, which only you may read (mode 600). `NACRE_DATABASE_PASSWORD` comes before it."},
  "server.database_certificates": {"values":"text","variable":"NACRE_SERVER_DATABASE_CERTIFICATES","fromRepo":"no","meaning":"A file with certificates (PEM) to trust for the database besides those of the system, by its full path."},
  "server.database_connections": {"values":"2 to 200","variable":"NACRE_SERVER_DATABASE_CONNECTIONS","fromRepo":"no","meaning":"How many connections to the database one server opens at most."},
  "server.trusted_proxy": {"values":"text","variable":"NACRE_SERVER_TRUSTED_PROXY","fromRepo":"no","meaning":"The address that a proxy of yours connects from, such as `127.0.0.1`. Only from there `server.trusted_proxy_header` is read. Whoever else can connect from that address can pretend to be anybody."},
  "server.trusted_proxy_header": {"values":"text","variable":"NACRE_SERVER_TRUSTED_PROXY_HEADER","fromRepo":"no","meaning":"The header in which your proxy names the person it has logged in, such as `x-forwarded-user`. Empty: none is read. The person needs a token all the same, which says what they may do."},
  "push.to": {"values":"text","variable":"NACRE_PUSH_TO","fromRepo":"no","meaning":"The server that `nacre push` and `nacre pull` talk to, such as `https://nacre.example.org`."},
  "push.transcripts": {"values":"`true`, `false`","variable":"NACRE_PUSH_TRANSCRIPTS","fromRepo":"no","meaning":"Whether `nacre push` also sends the transcripts of sessions, without secrets. Only you and whoever runs the server can read them there, until you share them.","choices":["true","false"]},
  "telemetry.otlp_endpoint": {"values":"text","variable":"NACRE_TELEMETRY_OTLP_ENDPOINT","fromRepo":"no","meaning":"The address of an OpenTelemetry collector, such as `http://127.0.0.1:4318`, to which the durations and token counts of tasks and calls are sent. Empty: the export is off."},
  "reading.agent": {"values":"text","variable":"NACRE_READING_AGENT","fromRepo":"no","meaning":"The installed agent that may answer where `roles.default.model` is `auto`: `claude-code`, `codex`, `opencode`, `gemini` or `copilot`; `none` for none of them. Empty: `nacre init` and `nacre sync` ask once, on a terminal."},
  "reading.sessions_per_day": {"values":"0 to 100000","variable":"NACRE_READING_SESSIONS_PER_DAY","fromRepo":"only lower","meaning":"The most sessions that installed agents read in a day (UTC). The others wait for the next day."},
  "hooks.start_tokens": {"values":"0 to 4000","variable":"NACRE_HOOKS_START_TOKENS","fromRepo":"no","meaning":"The most tokens of the brief that an agent is given by its hook when a session starts. 0: no brief."},
  "hooks.prompt_tokens": {"values":"0 to 4000","variable":"NACRE_HOOKS_PROMPT_TOKENS","fromRepo":"no","meaning":"The most tokens of memories that a hook adds to one prompt. 0: none."},
  "hooks.pitfalls": {"values":"`true`, `false`","variable":"NACRE_HOOKS_PITFALLS","fromRepo":"no","meaning":"Whether a hook gives, before a tool changes a file, a decision or pitfall about that file.","choices":["true","false"]},
  "hooks.guard": {"values":"`true`, `false`","variable":"NACRE_HOOKS_GUARD","fromRepo":"no","meaning":"Whether a hook refuses tools that would write outside the project, into `.nacre` or `.git`, or that touch files where keys and passwords usually lie. Commands of a shell are looked at word by word, which is not a wall.","choices":["true","false"]},
  "hooks.guard_folders": {"values":"texts of at least 1 characters","variable":"NACRE_HOOKS_GUARD_FOLDERS","fromRepo":"no","meaning":"Folders outside a project that `hooks.guard` lets tools write to, by their full paths."},
  "hooks.sync": {"values":"`true`, `false`","variable":"NACRE_HOOKS_SYNC","fromRepo":"no","meaning":"Whether the end of a turn or session starts `nacre sync` in the background.","choices":["true","false"]},
  "hooks.ask_to_record": {"values":"`true`, `false`","variable":"NACRE_HOOKS_ASK_TO_RECORD","fromRepo":"no","meaning":"Whether an agent is asked, at most once a session, to record with `memory_add` what should last. It costs the agent one more answer.","choices":["true","false"]},
  "hooks.deadline_ms": {"values":"20 to 60000","variable":"NACRE_HOOKS_DEADLINE_MS","fromRepo":"no","meaning":"The longest that a hook may take, in milliseconds. One that takes longer says nothing."},
  "runs.keep": {"values":"1 to 100000","variable":"NACRE_RUNS_KEEP","fromRepo":"no","meaning":"How many run folders of each mode are kept below `workspace/`; `nacre undo` needs a run's folder."},
  "limits.session_tokens": {"values":"0 to 1000000000000","variable":"NACRE_LIMITS_SESSION_TOKENS","fromRepo":"only lower","meaning":"The most tokens that models may use for one session, all its runs together. 0: no model is asked."},
  "limits.session_usd": {"values":"0 to 1000000","variable":"NACRE_LIMITS_SESSION_USD","fromRepo":"only lower","meaning":"The most that models may cost for one session, in dollars. A model whose price is not known counts by its tokens alone."},
  "limits.day_tokens": {"values":"0 to 1000000000000","variable":"NACRE_LIMITS_DAY_TOKENS","fromRepo":"only lower","meaning":"The most tokens that models may use in a day (UTC) for everything that Nacre does by itself."},
  "limits.day_usd": {"values":"0 to 1000000","variable":"NACRE_LIMITS_DAY_USD","fromRepo":"only lower","meaning":"The most that models may cost in a day (UTC), in dollars."},
  "limits.project_tokens": {"values":"0 to 1000000000000","variable":"NACRE_LIMITS_PROJECT_TOKENS","fromRepo":"only lower","meaning":"The most tokens that models may use for one project in a month (UTC)."},
  "limits.project_usd": {"values":"0 to 1000000","variable":"NACRE_LIMITS_PROJECT_USD","fromRepo":"only lower","meaning":"The most that models may cost for one project in a month (UTC), in dollars."},
  "limits.model_seconds": {"values":"1 to 86400","variable":"NACRE_LIMITS_MODEL_SECONDS","fromRepo":"only lower","meaning":"The longest that one question to a model, or to the service for `endpoint`, may take, in seconds: connecting, retries and fallbacks included."},
  "limits.map_seconds": {"values":"1 to 86400","variable":"NACRE_LIMITS_MAP_SECONDS","fromRepo":"only lower","meaning":"The longest that one look at the files of a project may take, in seconds. Files that it did not come to are counted in the answer and read by the next look."},
  "providers.*.api": {"values":"`anthropic`, `openai`","variable":"","fromRepo":"no","meaning":"Which API it speaks; needed where the provider is not a known one."},
  "providers.*.base_url": {"values":"text","variable":"","fromRepo":"no","meaning":"Its address, such as `http://127.0.0.1:8080/v1`; needed where the provider is not a known one."},
  "providers.*.key_variable": {"values":"text","variable":"","fromRepo":"no","meaning":"The environment variable that holds its key. The key itself stands in no file."},
  "providers.*.plain_http": {"values":"`this_machine`, `anywhere`","variable":"","fromRepo":"no","meaning":"How far a key may travel unencrypted; `this_machine` unless set."},
  "roles.*.model": {"values":"text","variable":"","fromRepo":"no","meaning":"The model, as `provider/model`, such as `ollama/qwen3` or `claude-code/haiku`; `auto` is the first installed agent, once you allowed it to answer (`reading.agent`)."},
  "roles.*.fallbacks": {"values":"texts of at least 3 characters","variable":"","fromRepo":"no","meaning":"Models to ask, in this order, when the first one does not answer."},
  "roles.*.max_tokens": {"values":"16 to 1000000","variable":"","fromRepo":"no","meaning":"The longest answer, in tokens."},
  "roles.*.context_tokens": {"values":"1024 to 10000000","variable":"","fromRepo":"no","meaning":"The most that the model is sent at once, in tokens, its answer included: at most its window."},
  "roles.*.temperature": {"values":"0 to 2","variable":"","fromRepo":"no","meaning":"How freely the model chooses its words; 0 is not at all."},
  "roles.*.effort": {"values":"`off`, `low`, `medium`, `high`","variable":"","fromRepo":"no","meaning":"How long the model may think before it answers."},
  "roles.*.strategy": {"values":"`auto`, `offline`, `windows`","variable":"","fromRepo":"no","meaning":"How sessions are read: by rules alone (`offline`), by a model in `windows`, or by what there is (`auto`, unless set). Only in `[roles.extract]`."},
};
