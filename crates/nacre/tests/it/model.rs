//! `nacre model`

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn the_models_are_listed_before_any_is_set() {
    // Agents may be installed on the machine that runs the tests.
    let home = TestHome::empty().with_var("PATH", "/usr/bin/none");
    assert_snapshot!(home.run(&["model"]), @r"
    Models by role:
      no model is set (optional); nacre config set roles.default.model ollama/qwen3

    Search by meaning:
      builtin  ready  built into Nacre
    ");
    let (code, listed) = home.json(&["model"]);
    assert_eq!(code, 0);
    assert_eq!(listed["models"][0]["dims"], 256);
    assert!(listed["models"][0]["id"].as_str().unwrap().starts_with("builtin-"));
    assert!(!home.root().join(".nacre").exists(), "a list writes nothing");
}

/// Starts a server that answers every request with a one-word chat completion.
fn one_word_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !String::from_utf8_lossy(&request).contains("pearl") {
                let n_read = stream.read(&mut buffer).unwrap();
                request.extend_from_slice(&buffer[..n_read]);
            }
            let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"pearl\"}}]}\n\n\
                        data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                        data: {\"choices\":[],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":2}}\n\n\
                        data: [DONE]\n\n";
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
            write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    address
}

#[test]
fn what_is_set_is_listed_with_its_place_and_its_key_is_not_shown() {
    let home = TestHome::empty()
        .with_var("PATH", "/usr/bin/none")
        .with_var("OWN_KEY", "sk-very-secret-0123456789");
    home.ok(&["config", "set", "providers.own.base_url", "http://127.0.0.1:1/v1"]);
    home.ok(&["config", "set", "providers.own.api", "openai"]);
    home.ok(&["config", "set", "providers.own.key_variable", "OWN_KEY"]);
    home.ok(&["config", "set", "roles.default.model", "own/qwen"]);
    home.ok(&["config", "set", "roles.lead.model", "anthropic/claude-sonnet-4-6"]);
    home.ok(&["config", "set", "roles.lead.fallbacks", "own/qwen"]);
    let listed = home.run(&["model"]);
    assert!(!listed.contains("very-secret"), "{listed}");
    assert_snapshot!(listed, @r"
    Models by role:
      default  own/qwen                                    in `$HOME/.nacre/config.toml`, line 7
      lead     anthropic/claude-sonnet-4-6, then own/qwen  Provider `anthropic` needs a key, but none is set

    Providers:
      anthropic  https://api.anthropic.com  no key in ANTHROPIC_API_KEY; built in
      own        http://127.0.0.1:1/v1      key in OWN_KEY; in `$HOME/.nacre/config.toml`, line 2

    Search by meaning:
      builtin  ready  built into Nacre
    ");
    let (_, output) = home.json(&["model"]);
    assert_eq!(output["roles"][0]["models"][0], "own/qwen");
    assert!(!output.to_string().contains("very-secret"));
}

#[test]
fn a_repository_cannot_choose_who_is_asked() {
    let home = TestHome::new();
    home.write("config.toml", "[providers.own]\nbase_url = 'http://evil.example/v1'\napi = 'openai'\n[roles.default]\nmodel = 'own/x'\n");
    assert_snapshot!(home.run(&["model", "test"]), @"
    Warning: Ignored `providers` in `$HOME/work/.nacre/config.toml`, line 1: a repository may not set this key
    Hint: Set it in your own configuration file; run `nacre config --path` to find the file
    Warning: Ignored `roles` in `$HOME/work/.nacre/config.toml`, line 4: a repository may not set this key
    Hint: Set it in your own configuration file; run `nacre config --path` to find the file
    Error: No model is set for `ask`
    Hint: nacre config set roles.default.model ollama/qwen3
    [exit 1]
    ");
    assert_snapshot!(home.run(&["config", "set", "--repo", "roles.default.model", "own/x"]), @"
    Warning: Ignored `providers` in `$HOME/work/.nacre/config.toml`, line 1: a repository may not set this key
    Hint: Set it in your own configuration file; run `nacre config --path` to find the file
    Warning: Ignored `roles` in `$HOME/work/.nacre/config.toml`, line 4: a repository may not set this key
    Hint: Set it in your own configuration file; run `nacre config --path` to find the file
    Error: A repository cannot set `roles.default.model`
    Hint: Set it for yourself: nacre config set roles.default.model VALUE
    [exit 2]
    ");
}

#[test]
fn a_test_asks_once_and_says_what_it_took() {
    let home = TestHome::empty().with_var("NACRE_MODEL", "llamacpp/qwen");
    home.ok(&["config", "set", "providers.llamacpp.base_url", &one_word_server()]);
    let (code, output) = home.json(&["model", "test", "--role", "explorer"]);
    assert_eq!((code, &output["text"]), (0, &serde_json::json!("pearl")));
    assert_eq!(output["tokens"], serde_json::json!({ "input": 20, "output": 2 }));
    assert_eq!(output["cost_usd"], 0.0, "a model on this machine costs nothing");
    assert!(output["total_ms"].is_u64());
    let shown = home.run(&["model", "test"]);
    assert!(shown.starts_with("model       llamacpp/qwen\nanswer      pearl\n"), "{shown}");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.ok(&["config", "set", "providers.llamacpp.base_url", &format!("http://{closed}/v1")]);
    let failed = home.run(&["model", "test"]);
    assert!(failed.contains("Error: Cannot get an answer from `llamacpp/qwen`"), "{failed}");
    assert!(failed.ends_with("[exit 1]\n"), "{failed}");
}

/// Starts a server that accepts requests but never answers them.
fn silent_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let held: Vec<_> = listener.incoming().flatten().collect();
        drop(held);
    });
    address
}

#[test]
fn every_command_that_asks_a_model_ends_with_the_limit_for_it() {
    let address = silent_server();
    let home = TestHome::new()
        .with_var("NACRE_MODEL", "llamacpp/qwen")
        .with_var("NACRE_LIMITS_MODEL_SECONDS", "1");
    home.ok(&["config", "set", "providers.llamacpp.base_url", &address]);
    home.add("Noodles on Fridays", &["--body", "From the place at the corner."]);
    let commands =
        [&["model", "test"][..], &["ask", "What is for lunch?"], &["run", "What is for lunch?"]];
    for command in commands {
        let shown = home.run(command);
        assert!(shown.contains("took too long"), "{command:?}: {shown}");
    }
}
