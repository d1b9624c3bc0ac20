//! Tests `nacre push` and `nacre pull`, which share memories between machines through a server.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::home::TestHome;
use crate::serve::Served;

/// A server, a token with write access, and a machine that has not used it yet. The server and the
/// machine have a project of the same name.
pub(crate) struct Team {
    pub(crate) server: TestHome,
    pub(crate) token: String,
}

impl Team {
    pub(crate) fn new(scope: &str) -> Self {
        let server = TestHome::new();
        let args = ["server", "token", "add", "ana", "--scope", scope, "--in", "work"];
        let (_, report) = server.json(&args);
        let token = report["token"].as_str().unwrap().to_owned();
        Self { server, token }
    }
}

/// Pushes with the token on standard input.
pub(crate) fn push_first(home: &TestHome, address: &str, token: &str) -> String {
    let url = format!("http://{address}");
    let mut command = home.command(&home.work(), &["push", "--to", &url, "--token-stdin"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(token.as_bytes()).unwrap();
    let shown = home.render(&child.wait_with_output().unwrap());
    shown.replace(address, "[address]")
}

fn run(home: &TestHome, address: &str, args: &[&str]) -> String {
    home.run(args).replace(address, "[address]")
}

#[test]
fn memories_go_to_a_server_and_come_back_as_foreign() {
    let team = Team::new("write");
    let laptop = TestHome::new();
    let id = laptop.add("Use tabs in Makefiles", &["--body", "Spaces break make."]);
    let served = Served::start(&team.server);
    let address = served.address.clone();
    assert_snapshot!(push_first(&laptop, &address, &team.token), @"
    Sent 1 memory of `work` to http://[address]; 0 already there.
    ");
    // The server's address is saved, and no memory is sent twice.
    assert_snapshot!(run(&laptop, &address, &["push"]), @"
    Sent 0 memories of `work` to http://[address]; 1 already there.
    ");
    let path = format!("memory/decisions/{id}.md");
    assert_eq!(laptop.read(&path), team.server.read(&path), "under its own id");
    let (_, changes) = team.server.json(&["undo", "--list"]);
    assert!(changes.to_string().contains("push by ana"), "{changes}");

    // Another machine pulls the memory but does not trust it yet.
    let other = TestHome::new();
    other.ok(&["config", "set", "push.to", &format!("http://{address}")]);
    let other = other.with_var("NACRE_PUSH_TOKEN", &team.token);
    let brought = run(&other, &address, &["pull"]);
    assert!(brought.starts_with(&format!("+ {id}\nPulled 1 new and 0 changed")), "{brought}");
    let (_, trust) = other.json(&["trust"]);
    assert!(trust.to_string().contains(&id), "{trust}");
    let (_, brief) = other.json(&["brief"]);
    assert!(!brief.to_string().contains("Makefiles"), "{brief}");
    assert!(run(&other, &address, &["pull"]).contains("Pulled 0 new and 0 changed"));

    // The user's local changes are kept, whichever version the server has.
    let theirs = other.read(&path).replace("Spaces break make.", "My own words.");
    other.write(&path, &theirs);
    laptop.write(&path, laptop.read(&path).replace("Spaces break make.", "Spaces break it."));
    laptop.ok(&["trust", &id, "--yes"]);
    assert!(run(&laptop, &address, &["push"]).starts_with("Sent 1"), "an edit is sent");
    let differs = run(&other, &address, &["pull"]);
    assert!(differs.contains("1 memory unlike yours; yours are kept"), "{differs}");
    assert_eq!(other.read(&path), theirs);
    served.stop();
}

#[test]
fn without_a_server_nothing_is_lost_and_without_permission_nothing_is_taken() {
    let team = Team::new("read");
    let laptop = TestHome::new();
    laptop.add("Use tabs in Makefiles", &["--body", "Spaces break make."]);
    assert_snapshot!(laptop.run(&["push"]), @"
    Error: No server is configured
    Hint: nacre push --to https://nacre.example.org --token-stdin
    [exit 2]
    ");
    assert_snapshot!(laptop.run(&["push", "--to", "http://nacre.example.org"]), @"
    Error: No token is stored for the server
    Hint: Ask the server's administrator for a token that starts with `nacre_`
    Hint: nacre push --to URL --token-stdin < FILE
    [exit 1]
    ");
    let served = Served::start(&team.server);
    let address = served.address.clone();
    let refused = push_first(&laptop, &address, &team.token);
    assert!(
        refused.contains("Message from the server: This requires the scope `write` in `work`"),
        "{refused}"
    );
    let wrong = push_first(&laptop, &address, "nacre_0000");
    assert!(wrong.contains("Message from the server: The token is missing or invalid"), "{wrong}");
    served.stop();
    // The server is unreachable.
    let away = push_first(&laptop, &address, &team.token);
    assert!(away.contains("Could not send everything (1 left): Cannot reach the server"), "{away}");
    assert!(
        away.contains("No data was lost. Continue: nacre push") && away.contains("[exit 3]"),
        "{away}"
    );
    let laptop = laptop.with_var("NACRE_PUSH_TOKEN", &team.token);
    let plain = laptop.run(&["push", "--to", "http://nacre.example.org"]);
    assert!(plain.contains("The token would be sent unencrypted: use https://"), "{plain}");
}

#[cfg(unix)]
#[test]
fn the_token_is_kept_for_its_owner_and_a_secret_is_not_sent() {
    use std::os::unix::fs::PermissionsExt as _;
    let team = Team::new("write");
    let laptop = TestHome::new();
    let id = laptop.add("Use the deploy account", &["--body", "It is in the vault."]);
    let path = format!("memory/decisions/{id}.md");
    // The user puts a key into the file by hand, and trusts the file as it is.
    let key =
        format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).chars().take(36).collect::<String>());
    laptop.write(&path, laptop.read(&path).replace("It is in the vault.", &format!("Token {key}")));
    laptop.ok(&["trust", &id, "--yes"]);
    let served = Served::start(&team.server);
    push_first(&laptop, &served.address, &team.token);
    let there = team.server.read(&path);
    assert!(!there.contains(&key) && there.contains("[redacted:"), "{there}");
    let file = laptop.root().join(".nacre/push.token");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    served.stop();
}

#[test]
fn a_kept_token_goes_only_to_the_address_that_it_was_given_for() {
    let team = Team::new("write");
    let laptop = TestHome::new();
    laptop.add("Use tabs in Makefiles", &[]);
    let served = Served::start(&team.server);
    push_first(&laptop, &served.address, &team.token);
    assert_snapshot!(run(&laptop, &served.address, &["push", "--to", "http://127.0.0.1:9"]), @"
    Error: The token is only valid for http://[address]
    Hint: nacre push --to URL --token-stdin < FILE
    [exit 1]
    ");
    laptop.ok(&["push"]);
    served.stop();
}
