//! Checks that the program knows the commands, flags, variables, ports and addresses used in
//! `deploy/`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::home::{TestHome, repository};

/// The default port of `nacre serve`.
const PORT: &str = "8765";

/// Returns the YAML documents in a file.
fn documents(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(repository().join("deploy").join(path)).unwrap();
    serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Calls `each` with every value in a document and its path.
fn walk<'v>(value: &'v Value, path: &str, each: &mut impl FnMut(&str, &'v Value)) {
    each(path, value);
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, inner)| walk(inner, &format!("{path}/{key}"), each));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, path, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Checks that the program has the subcommands and flags in a manifest's command line.
fn check_command(home: &TestHome, words: &[&str]) {
    let verbs: Vec<&str> =
        words.iter().take_while(|word| !word.starts_with('-')).copied().collect();
    let help = home.ok(&[verbs.as_slice(), &["--help"]].concat());
    for flag in words.iter().filter(|word| word.starts_with("--")) {
        assert!(help.contains(flag), "`nacre {}` has no {flag}", verbs.join(" "));
    }
}

/// Returns the `NACRE_` variables that the program reads.
fn variables() -> BTreeSet<String> {
    let reference = fs::read_to_string(repository().join("docs/config.md")).unwrap();
    let words = reference.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_');
    words.filter(|word| word.starts_with("NACRE_")).map(str::to_owned).collect()
}

/// Returns the routes that the server handles.
fn routes() -> BTreeSet<String> {
    let text = fs::read_to_string(repository().join("docs/openapi.json")).unwrap();
    let described: Value = serde_json::from_str(&text).unwrap();
    described["paths"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn compose_starts_two_servers_with_what_the_program_knows() {
    let (home, known) = (TestHome::new(), variables());
    let compose = &documents("compose.yaml")[0];
    let services = compose["services"].as_object().unwrap();
    let names: BTreeSet<&str> = services.keys().map(String::as_str).collect();
    let expected = ["database", "edge-1", "edge-2", "migrate", "proxy", "server-1", "server-2"];
    assert_eq!(names, BTreeSet::from(expected));
    for (name, service) in services.iter().filter(|(_, service)| service["image"] == "nacre") {
        let words = texts(&service["command"]);
        check_command(&home, &words);
        assert!(name == "migrate" || words.contains(&PORT), "{name}");
        for variable in service["environment"].as_object().unwrap().keys() {
            assert!(variable == "HOME" || known.contains(variable), "{name}: {variable}");
        }
    }
    for (number, edge) in ["edge-1", "edge-2"].iter().enumerate() {
        let beside = format!("service:server-{}", number + 1);
        assert_eq!(services[*edge]["network_mode"], beside.as_str());
    }
    assert_eq!(services["database"]["image"], "pgvector/pgvector:pg17");
    // The ports and routes in the proxy's files must exist.
    let read = |name: &str| fs::read_to_string(repository().join("deploy").join(name)).unwrap();
    assert!(read("edge.Caddyfile").contains(&format!("127.0.0.1:{PORT}")));
    let proxy = read("proxy.Caddyfile");
    assert!(proxy.contains("server-1:8080") && proxy.contains("server-2:8080"));
    let health = proxy.lines().find_map(|line| line.trim().strip_prefix("health_uri ")).unwrap();
    assert!(routes().contains(health), "{health}");
    for variable in ["NACRE_NAME", "DATABASE_PASSWORD"] {
        assert!(read("example.env").contains(&format!("{variable}=")));
    }
}

#[test]
fn kubernetes_asks_for_what_the_program_knows() {
    let (home, known, routes) = (TestHome::new(), variables(), routes());
    let mut n_checked = 0;
    for document in
        documents("kubernetes/nacre.yaml").iter().chain(&documents("kubernetes/database.yaml"))
    {
        assert!(document["apiVersion"].is_string() && document["kind"].is_string());
        walk(document, "", &mut |path, value| {
            if path.ends_with("/args") && value.is_array() {
                check_command(&home, &texts(value));
                n_checked += 1;
            }
            if path.ends_with("/httpGet/path") {
                assert!(routes.contains(value.as_str().unwrap()), "{value}");
                n_checked += 1;
            }
            let name = value["name"].as_str().filter(|_| path.ends_with("/env"));
            if let Some(name) = name.filter(|name| name.starts_with("NACRE_")) {
                assert!(name == "NACRE_NAME" || known.contains(name), "{name}");
                n_checked += 1;
            }
        });
    }
    let text = fs::read_to_string(repository().join("deploy/kubernetes/nacre.yaml")).unwrap();
    assert!(text.contains(&format!("reverse_proxy 127.0.0.1:{PORT}")));
    assert!(n_checked >= 8, "{n_checked}");
}
