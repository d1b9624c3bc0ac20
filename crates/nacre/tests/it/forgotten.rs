//! Checks that no copy of a forgotten memory remains in files, run directories, indexes, notes, the
//! shared database, or on servers that received the memory.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::{TestHome, walk};
use crate::memory_edit::set_editor;
use crate::push_pull::{Team, push_first};
use crate::serve::Served;
use crate::sync_run::{reading, talk};
use crate::team::server::Server;

/// A word that occurs nowhere else.
const WORD: &str = "qwyjibo";

fn holders(home: &TestHome) -> Vec<String> {
    holders_of(home, WORD)
}

/// Returns the files in a home whose name or content includes the word, in upper or lower case.
pub(crate) fn holders_of(home: &TestHome, word: &str) -> Vec<String> {
    let mut files = Vec::new();
    walk(&home.root(), &mut files);
    let root = home.root();
    let below = |file: &Path| file.strip_prefix(&root).unwrap().display().to_string();
    let mut holders: Vec<String> = files
        .iter()
        .filter(|file| {
            // Sockets cannot be read and have no content.
            let bytes = fs::read(file).unwrap_or_default().to_ascii_lowercase();
            let is_held = bytes.windows(word.len()).any(|part| part == word.as_bytes());
            is_held || below(file).contains(word)
        })
        .map(|file| below(file))
        .collect();
    holders.sort();
    holders
}

/// Returns the content of all database tables as text.
fn dump(server: &Server) -> String {
    let url = server.url();
    let output = server.command("pg_dump").args(["--inserts", "--dbname", &url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).to_lowercase()
}

/// Adds other memories, one of which mentions `id`, so that most records in the index segment stay
/// in use.
fn surround(home: &TestHome, id: &str) {
    home.add("Use tabs in Makefiles", &["--body", "Spaces break make.", "--related", id]);
    home.add("Pin the linter", &["--body", "Its rules change with each release."]);
    home.add("Log to standard error", &["--body", "Output is for programs."]);
}

/// Uses every feature that reads memories.
fn use_it(home: &TestHome) {
    let about = format!("which {WORD} do we use");
    let prompt = json!({"session_id": "s", "prompt": about, "cwd": home.work()}).to_string();
    for args in [&["memory", "search", WORD][..], &["ask", &about], &["brief"], &["status"]] {
        home.run(args);
    }
    let mut hook = home.command(&home.work(), &["hook", "claude", "prompt"]);
    let mut child = hook
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), prompt.as_bytes()).unwrap();
    child.wait_with_output().unwrap();
}

#[test]
fn what_a_person_wrote_is_in_no_file_afterwards() {
    let home = TestHome::new();
    let title = format!("Use {WORD} for caches");
    let body = format!("The \"{WORD}\" cache is faster.");
    let id = home.add(&title, &["--body", &body, "--tag", WORD]);
    surround(&home, &id);
    use_it(&home);
    home.ok(&["memory", "archive", &id]);
    home.ok(&["memory", "restore", &id]);
    // An invalid memory from the editor stays behind as a draft.
    let home = set_editor(home, "sed -i 's/^title:.*/title: [oops/' \"$1\"");
    home.run(&["memory", "edit", &id]);
    let before = holders(&home);
    assert!(before.iter().any(|file| file.ends_with(".seg")), "it was indexed: {before:#?}");
    for place in ["workspace/", "drafts/"] {
        assert!(before.iter().any(|file| file.contains(place)), "{place}: {before:#?}");
    }
    assert_snapshot!(home.run(&["memory", "forget", &id, "--yes"]), @"
    Forgot 20261115-use-qwyjibo-for-caches
    Gone from: files, runs, search index, notes
    ");
    assert_eq!(holders(&home), Vec::<String>::new());
    // The other memories can still be found.
    let (_, found) = home.json(&["memory", "search", "linter"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(home.json(&["memory", "search", WORD]).1["hits"], json!([]));
}

#[test]
fn of_a_session_only_what_was_said_in_it_stays() {
    let home = reading();
    let order =
        format!("no, remember: always use {WORD} here, never npm: npm writes a second file");
    talk(&home, "one", 1, &["Add a health endpoint", "I ran npm install.", &order, "Done."]);
    home.ok(&["sync"]);
    let (_, list) = home.json(&["memory", "list", "--type", "learning"]);
    let id = list["memories"][0]["id"].as_str().unwrap().to_owned();
    surround(&home, &id);
    use_it(&home);
    let (_, report) = home.json(&["memory", "forget", &id, "--yes"]);
    assert_eq!(report["copies"].as_array().unwrap().len(), 4, "{report}");
    assert!(report["copies"].as_array().unwrap().iter().all(|copy| copy["state"] == "gone"));
    // The session and its summary also contain the word.
    let (_, list) = home.json(&["memory", "list", "--type", "summary"]);
    home.ok(&["memory", "forget", list["memories"][0]["id"].as_str().unwrap(), "--yes"]);
    let of_session = [
        "traces/",
        ".nacre/catalog.sqlite3",
        ".nacre/index/traces.",
        "work/.nacre/meta/sessions/",
        "work/.nacre/meta/traces/sessions/",
    ];
    let mut left = holders(&home);
    left.retain(|file| !of_session.iter().any(|place| file.starts_with(place)));
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn the_shared_index_forgets_at_once_and_says_when_it_cannot() {
    let Some(server) = Server::start() else { return };
    let home = TestHome::new().with_var("NACRE_SERVER_DATABASE", &server.url());
    let id = home.add(&format!("Use {WORD} for caches"), &["--body", "It is faster."]);
    let other = home.add(&format!("Never cache by {WORD}"), &["--body", "It is slower."]);
    surround(&home, &id);
    home.ok(&["server", "migrate", "--from-embedded"]);
    let search = ["memory", "search", "--all-projects", WORD];
    assert_eq!(home.json(&search).1["hits"].as_array().unwrap().len(), 2);
    assert!(dump(&server).contains(WORD), "the dump shows what is there");
    home.ok(&["memory", "forget", &other, "--yes"]);
    assert_snapshot!(home.run(&["memory", "forget", &id, "--yes"]), @"
    Forgot 20261115-use-qwyjibo-for-caches
    Gone from: files, runs, search index, notes, shared index
    ");
    let dump = dump(&server);
    assert!(!dump.contains(WORD) && dump.contains("makefiles"), "{dump}");
    assert_eq!(home.json(&search).1["hits"], json!([]));
    assert_eq!(holders(&home), Vec::<String>::new());
    // The database is unreachable.
    let id = home.add(&format!("Use {WORD} again"), &["--body", "It is better now."]);
    let home = home.with_var("NACRE_SERVER_DATABASE", "postgres://nacre@127.0.0.1:1/nacre");
    let (code, report) = home.json(&["memory", "forget", &id, "--yes"]);
    let copies = report["copies"].as_array().unwrap();
    let shared = copies.iter().find(|copy| copy["place"] == "shared_index").unwrap();
    assert_eq!((code, &shared["state"]), (0, &Value::from("waits")), "{report}");
}

#[test]
fn a_server_forgets_with_the_next_push_if_the_token_may() {
    let team = Team::new("write");
    let laptop = TestHome::new();
    let id = laptop.add(&format!("Use {WORD} for caches"), &["--body", "It is faster."]);
    let served = Served::start(&team.server);
    let address = served.address.clone();
    push_first(&laptop, &address, &team.token);
    assert!(!holders(&team.server).is_empty());
    let forgotten = laptop.run(&["memory", "forget", &id, "--yes"]).replace(&address, "[address]");
    assert_snapshot!(forgotten, @"
    Forgot 20261115-use-qwyjibo-for-caches
    Gone from: files, runs, search index, notes
    Warning: Still in the server: http://[address]
    Hint: Delete it there, too: nacre push
    ");
    // A token with write access does not allow permanent deletion.
    let kept = laptop.run(&["push"]).replace(&address, "[address]");
    assert_snapshot!(kept, @r"
    Sent 0 memories of `work` to http://[address]; 0 already there.
    Warning: The server still has 20261115-use-qwyjibo-for-caches: Message from the server: This requires the scope `admin` in `work`
    Hint: Someone with the `admin` scope on the server can delete it: nacre memory forget
    [exit 3]
    ");
    let (_, token) = team.server.json(&["server", "token", "add", "ana", "--scope", "admin"]);
    let done = push_first(&laptop, &address, token["token"].as_str().unwrap());
    assert_snapshot!(done, @r"
    Sent 0 memories of `work` to http://[address]; 0 already there.
    Deleted 1 memory there that you deleted here.
    ");
    served.stop();
    assert_eq!(holders(&team.server), Vec::<String>::new());
    assert_eq!(holders(&laptop), Vec::<String>::new());
}
