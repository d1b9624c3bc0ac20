//! Tests `nacre push --transcripts`: a session on a server stays private until its sender shares
//! it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::forgotten::holders_of;
use crate::home::TestHome;
use crate::people::{ask, token};
use crate::push_pull::push_first;
use crate::serve::Served;
use crate::sync_run::{reading, talk};

/// A word that occurs nowhere else.
const WORD: &str = "qwyjibo";

/// Creates a laptop with one session that contains the word, a secret, and paths of the user's
/// files.
fn laptop() -> TestHome {
    let home = reading();
    let key =
        format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).chars().take(36).collect::<String>());
    let said = format!("Deploy {WORD} from {} with {key}", home.work().display());
    talk(&home, "one", 1, &[&said, "Deployed."]);
    home.ok(&["sync"]);
    home
}

fn run(home: &TestHome, address: &str, args: &[&str]) -> String {
    home.run(args).replace(address, "[address]")
}

fn list_transcripts(served: &Served, token: &str) -> Vec<Value> {
    let (status, body) = ask(served, token, "GET", "/api/transcripts?project=work", &Value::Null);
    assert_eq!(status, 200, "{body}");
    let report: Value = serde_json::from_str(&body).unwrap();
    report["transcripts"].as_array().unwrap().clone()
}

#[test]
fn a_session_goes_when_its_person_says_so_and_nobody_else_knows_of_it() {
    let server = TestHome::new();
    let ana = token(&server, &["ana", "--scope", "write", "--in", "work"]);
    let bo = token(&server, &["bo", "--scope", "admin", "--in", "work"]);
    let cy = token(&server, &["cy", "--scope", "admin"]);
    let laptop = laptop();
    let served = Served::start(&server);
    let address = served.address.clone();
    push_first(&laptop, &address, &ana);
    assert_eq!(holders_of(&server, WORD), Vec::<String>::new(), "nobody asked for it");
    assert_snapshot!(run(&laptop, &address, &["push", "--transcripts", "--dry-run"]), @"
    Would send 0 memories of `work` to http://[address]; 0 already there.
    Would send 1 transcript; 0 already there.
    Hint: Send them: nacre push
    ");
    assert_snapshot!(run(&laptop, &address, &["push", "--transcripts"]), @"
    Sent 0 memories of `work` to http://[address]; 0 already there.
    Sent 1 transcript; 0 already there.
    ");
    assert_snapshot!(run(&laptop, &address, &["push", "--transcripts"]), @"
    Sent 0 memories of `work` to http://[address]; 0 already there.
    Sent 0 transcripts; 1 already there.
    ");
    // Neither secrets nor names from the sender's machine left it.
    let files = holders_of(&server, WORD);
    assert_eq!(files.len(), 1, "{files:?}");
    let kept = std::fs::read_to_string(server.root().join(&files[0])).unwrap();
    assert!(kept.contains("[redacted:") && !kept.contains("ghp_"), "{kept}");
    assert!(!kept.contains(&*laptop.root().to_string_lossy()), "{kept}");

    // Only its owner, and callers with all permissions, can see the transcript.
    let mine = list_transcripts(&served, &ana);
    assert_eq!((mine.len(), &mine[0]["person"]), (1, &json!("ana")), "{mine:?}");
    assert_eq!(
        (list_transcripts(&served, &cy).len(), list_transcripts(&served, &bo).len()),
        (1, 0)
    );
    let id = mine[0]["id"].as_str().unwrap();
    for (path, verb) in [("", "GET"), ("/share", "POST"), ("/forget", "POST")] {
        let target = |id: &str| format!("/api/transcripts/{id}{path}?project=work");
        let told = ask(&served, &bo, verb, &target(id), &json!({}));
        assert_eq!(told, ask(&served, &bo, verb, &target("0123456789abcdef"), &json!({})));
        assert_eq!(told.0, 404, "{told:?}");
    }
    for target in ["search?query=deploy&", "memories?", "graph?", "brief?", "overview?"] {
        let (_, body) = ask(&served, &bo, "GET", &format!("/api/{target}project=work"), &json!({}));
        assert!(!body.contains(WORD), "{target}: {body}");
    }

    // Once it is shared, other users can see the transcript.
    assert_snapshot!(run(&laptop, &address, &["push", "--share"]), @"
    Sent 0 memories of `work` to http://[address]; 0 already there.
    Sent 0 transcripts; 1 already there.
    ");
    assert_eq!(list_transcripts(&served, &bo).len(), 1);
    let target = format!("/api/transcripts/{id}?project=work");
    let (_, shown) = ask(&served, &bo, "GET", &target, &json!({}));
    assert!(shown.contains(WORD), "{shown}");
    let forget = format!("/api/transcripts/{id}/forget?project=work");
    assert_eq!(ask(&served, &bo, "POST", &forget, &json!({})).0, 404, "to read is not to remove");
    assert!(run(&laptop, &address, &["push", "--list"]).contains(&format!("{id}  generic:")));
    let gone = run(&laptop, &address, &["push", "--withdraw", id]).replace(id, "[id]");
    assert_snapshot!(gone, @"Deleted transcript [id] from the server.");
    assert_eq!(list_transcripts(&served, &cy), Vec::<Value>::new());
    // A deleted transcript is not sent again.
    assert!(run(&laptop, &address, &["push", "--share"]).contains("Sent 0 transcripts; 0 already"));
    served.stop();
    assert_eq!(holders_of(&server, WORD), Vec::<String>::new());
    // While the server is unreachable, transcripts stay pending.
    talk(&laptop, "two", 2, &["Rename the server", "Renamed."]);
    laptop.ok(&["sync"]);
    let away = run(&laptop, &address, &["push", "--transcripts"]);
    assert!(away.contains(" left): Cannot reach the server"), "{away}");
    assert!(away.contains("Continue: nacre push") && away.contains("[exit 3]"), "{away}");
}

#[test]
fn pieces_are_put_together_and_only_what_its_hash_names_is_kept() {
    let home = TestHome::new();
    let ana = token(&home, &["ana", "--scope", "write", "--in", "work"]);
    let served = Served::start(&home);
    let text = format!("{}\n", json!({"type": "user", "text": "Use tabs"})).repeat(3);
    let hash = nacre_hash(&text);
    let put = |offset: usize, piece: &str, hash: &str, bytes: usize| {
        let body = json!({
            "agent": "claude", "session": "s", "hash": hash, "bytes": bytes, "offset": offset, "text": piece,
        });
        let (status, body) = ask(&served, &ana, "POST", "/api/transcripts?project=work", &body);
        assert_eq!(status, 200, "{body}");
        let report: Value = serde_json::from_str(&body).unwrap();
        format!("{} {}", report["state"].as_str().unwrap(), report["received"])
    };
    let (first, rest) = text.split_at(10);
    let n_bytes = text.len();
    assert_eq!(put(0, first, &hash, n_bytes), "partial 10");
    // The upload was interrupted. The next push starts again and learns where to continue.
    assert_eq!(put(0, first, &hash, n_bytes), "partial 10");
    assert_eq!(put(10, rest, &hash, n_bytes), format!("taken {n_bytes}"));
    assert_eq!(put(0, first, &hash, n_bytes), format!("known {n_bytes}"));
    let other = nacre_hash("another");
    assert_eq!(put(0, "more than it said", &other, 3), "invalid 0");
    assert_eq!(put(0, &text, &other, n_bytes), "invalid 0");
    assert_eq!(put(0, "another", &other, 7), "invalid 0", "no line of it is JSON");
    assert_eq!(put(0, "", &hash.replace('a', "x"), 0), "invalid 0");
    assert_eq!(put(0, "", &other, 5 << 20), "too_large 0");
    assert_eq!(list_transcripts(&served, &ana)[0]["bytes"], json!(n_bytes));
    served.stop();
}

fn nacre_hash(text: &str) -> String {
    nacre_base::ContentHash::of(text.as_bytes()).to_string()
}

#[test]
fn a_repository_cannot_have_sessions_sent() {
    let home = TestHome::new();
    home.write("config.toml", "[push]\ntranscripts = true\n");
    let shown = home.run(&["config", "get", "push.transcripts"]);
    assert!(shown.starts_with("false\n") && shown.contains("may not set this key"), "{shown}");
}
