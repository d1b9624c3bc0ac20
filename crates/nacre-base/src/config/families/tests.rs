//! Tests for providers and roles: which files may set them, and how errors are reported.

use std::path::Path;

use insta::assert_snapshot;

use crate::config::error::render_message;
use crate::config::{
    ApiChoice, ConfigSource, EffortChoice, Resolved, StrategyChoice, edit, resolve,
};

const HOME: &str = "/home/ana/.nacre/config.toml";
const REPO: &str = "/home/ana/pearl/.nacre/config.toml";

fn home(text: &str) -> ConfigSource {
    ConfigSource::home(Path::new(HOME), text.to_owned())
}

fn mine(text: &str) -> Resolved {
    resolve(&[home(text)], &[], &[]).unwrap()
}

fn mistake(text: &str) -> String {
    let error = resolve(&[home(text)], &[], &[]).unwrap_err();
    render_message(&error, error.hint())
}

const MODELS: &str = r#"
[providers.own]
api = "openai"
base_url = "http://127.0.0.1:8081/v1"
key_variable = "OWN_KEY"

[roles.default]
model = "own/qwen"
temperature = 0.25

[roles.explorer]
model = "ollama/qwen3"
fallbacks = ["own/qwen"]
max_tokens = 2048
effort = "low"
"#;

#[test]
fn providers_and_roles_are_read_with_their_places() {
    let resolved = mine(MODELS);
    let own = &resolved.settings.providers["own"];
    assert_eq!((own.api, own.plain_http), (Some(ApiChoice::OpenAi), None));
    assert_eq!(own.base_url.as_deref(), Some("http://127.0.0.1:8081/v1"));
    assert_eq!(own.key_variable.as_deref(), Some("OWN_KEY"));
    let explorer = &resolved.settings.roles["explorer"];
    assert_eq!((explorer.max_tokens, explorer.effort), (Some(2048), Some(EffortChoice::Low)));
    assert_eq!(explorer.fallbacks, ["own/qwen"]);
    assert_eq!(resolved.settings.roles["default"].temperature, Some(250));
    let place = &resolved.tables["roles.explorer.model"].origins[0].place;
    assert_eq!(place.to_string(), format!("in `{HOME}`, line 12"));
}

#[test]
fn the_variable_wins_over_the_file() {
    let vars = vec![("NACRE_MODEL".to_owned(), "zai/glm".to_owned())];
    let resolved = resolve(&[home(MODELS)], &vars, &[]).unwrap();
    assert_eq!(resolved.settings.roles["default"].model.as_deref(), Some("zai/glm"));
    assert_eq!(resolved.settings.roles["explorer"].model.as_deref(), Some("ollama/qwen3"));
    assert!(resolved.warnings.is_empty());
}

#[test]
fn a_repository_can_neither_add_a_provider_nor_choose_a_model() {
    let theirs =
        "[providers.own]\nbase_url = \"http://evil.example\"\n[roles.default]\nmodel = \"own/x\"\n";
    let repo = ConfigSource::repo(Path::new(REPO), theirs.to_owned());
    let inside = ConfigSource::file(
        Path::new("/home/ana/pearl/extra.toml"),
        theirs.to_owned(),
        Some(Path::new("/home/ana/pearl")),
    );
    for stranger in [repo, inside] {
        let resolved = resolve(&[home(MODELS), stranger], &[], &[]).unwrap();
        assert_eq!(resolved.settings, mine(MODELS).settings);
        let told: Vec<String> = resolved
            .warnings
            .iter()
            .map(|warning| render_message(warning, warning.hint()))
            .collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|text| !text.contains("evil")), "{told:?}");
    }
    let warned =
        resolve(&[ConfigSource::repo(Path::new(REPO), theirs.to_owned())], &[], &[]).unwrap();
    assert_snapshot!(render_message(&warned.warnings[0], warned.warnings[0].hint()), @"
    Ignored `providers` in `/home/ana/pearl/.nacre/config.toml`, line 1: a repository may not set this key
    Hint: Set it in your own configuration file; run `nacre config --path` to find the file
    ");
}

#[test]
fn mistakes_name_file_line_and_key() {
    assert_snapshot!(mistake("[providers.own]\nkey = \"sk-1\""), @"
    Unknown key `providers.own.key` in `/home/ana/.nacre/config.toml`, line 2
    Hint: Run `nacre config` to see every key
    ");
    assert_snapshot!(mistake("[roles.explorers]\nmodel = \"x/y\""), @"
    Unknown key `roles.explorers` in `/home/ana/.nacre/config.toml`, line 1
    Hint: Did you mean `roles.explorer`?
    ");
    assert_snapshot!(mistake("[roles.lead]\nmodle = \"x/y\""), @"
    Unknown key `roles.lead.modle` in `/home/ana/.nacre/config.toml`, line 2
    Hint: Did you mean `roles.lead.model`?
    ");
    assert_snapshot!(mistake("[roles.lead]\ntemperature = 3"), @"Invalid value for `roles.lead.temperature` in `/home/ana/.nacre/config.toml`, line 2: expected a number from 0 to 2, found 3.0");
    assert_snapshot!(mistake("[roles.lead]\neffort = \"hihg\""), @"
    Invalid value for `roles.lead.effort` in `/home/ana/.nacre/config.toml`, line 2: expected one of `off`, `low`, `medium`, `high`, found `hihg`
    Hint: Did you mean `high`?
    ");
    assert_snapshot!(mistake("[providers.own]\napi = \"gemini\""), @"Invalid value for `providers.own.api` in `/home/ana/.nacre/config.toml`, line 2: expected one of `anthropic`, `openai`, found `gemini`");
    assert_snapshot!(mistake("[providers.own]\nplain_http = true"), @"Invalid value for `providers.own.plain_http` in `/home/ana/.nacre/config.toml`, line 2: expected one of `this_machine`, `anywhere`, found `true`");
    assert_snapshot!(mistake("roles = 1"), @"Invalid value for `roles` in `/home/ana/.nacre/config.toml`, line 1: expected a table `[roles]`, found the number 1");
    assert_snapshot!(mistake("[roles]\nlead = \"x/y\""), @"Invalid value for `roles.lead` in `/home/ana/.nacre/config.toml`, line 2: expected a table `[roles.lead]`, found the text `x/y`");
}

#[test]
fn one_key_of_a_table_is_set_and_the_rest_stays() {
    let path = Path::new(HOME);
    let set = |text: &str, key: &str, value: &str| edit::set(text, path, key, value).unwrap();
    let text = set("# mine\n", "roles.default.model", "ollama/qwen3");
    assert_eq!(text, "# mine\n\n[roles.default]\nmodel = \"ollama/qwen3\"\n");
    let text = set(&text, "roles.default.temperature", "0");
    let text = set(&text, "roles.default.model", "own/x");
    let text = set(&text, "providers.own.base_url", "http://127.0.0.1:1/v1");
    assert_eq!(
        text,
        "# mine\n\n[roles.default]\nmodel = \"own/x\"\ntemperature = 0.0\n\n\
         [providers.own]\nbase_url = \"http://127.0.0.1:1/v1\"\n"
    );
    mine(&text);
    let without = edit::unset(&text, path, "providers.own.base_url").unwrap();
    assert!(!without.contains("base_url"));
    assert_eq!(edit::unset(&without, path, "providers.own.base_url").unwrap(), without);
    let error = edit::set(&text, path, "roles.boss.model", "x/y").unwrap_err();
    assert!(error.to_string().contains("roles.boss.model"));
    let error =
        edit::set("roles = { default = { model = 'a/b' } }", path, "roles.default.model", "x/y");
    assert!(error.is_err(), "a table in one line is left to a person");
}

#[test]
fn how_sessions_are_read_is_set_where_the_model_that_reads_them_is() {
    let resolved = mine("[roles.extract]\nstrategy = \"windows\"\n");
    let extract = &resolved.settings.roles["extract"];
    assert_eq!(extract.strategy, Some(StrategyChoice::Windows));
    assert_snapshot!(mistake("[roles.lead]\nstrategy = \"windows\""), @"
    Unknown key `roles.lead.strategy` in `/home/ana/.nacre/config.toml`, line 2
    Hint: Run `nacre config` to see every key
    ");
    assert_snapshot!(mistake("[roles.extract]\nstrategy = \"window\""), @"
    Invalid value for `roles.extract.strategy` in `/home/ana/.nacre/config.toml`, line 2: expected one of `auto`, `offline`, `windows`, found `window`
    Hint: Did you mean `windows`?
    ");
}

#[test]
fn a_repository_may_lower_what_models_cost_and_not_raise_it() {
    let theirs = "[limits]\nday_usd = 2.5\nday_tokens = 99000000\n";
    let repo = ConfigSource::repo(Path::new(REPO), theirs.to_owned());
    let resolved = resolve(&[home("[limits]\nday_usd = 5"), repo], &[], &[]).unwrap();
    assert_eq!(resolved.settings.limits.day_usd, 2500);
    assert_eq!(resolved.settings.limits.day_tokens, 20_000_000);
    assert_eq!(resolved.warnings.len(), 1);
}
