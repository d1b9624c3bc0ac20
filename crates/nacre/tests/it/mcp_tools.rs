//! Tests the tools of `nacre mcp`: their results, what they write, and their errors.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::agents::{self, Talk};
use crate::home::TestHome;
use crate::mcp::{Client, SAID, busy_home};

fn decision(quote: &str) -> Value {
    json!({
        "title": "Jobs wait in a SQLite file",
        "body": "The person wants the job queue in one SQLite file, because one file is easy to back up.",
        "quote": quote,
    })
}

#[test]
fn every_tool_answers_on_a_store_with_memories() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    let found = client.ok("memory_search", json!({ "query": "sqlite queue" }));
    assert!(
        found.contains("- Use SQLite for the queue [20261115-use-sqlite-for-the-queue] (decision,"),
        "{found}"
    );
    let got = client.ok("memory_get", json!({ "id": "20261115-use-sqlite-for-the-queue" }));
    assert!(got.starts_with("# Use SQLite for the queue\n") && got.contains("Evidence:"), "{got}");
    let brief = client.ok("brief", json!({ "task": "the queue" }));
    assert!(brief.contains("[20261115-use]"), "{brief}");
    let asked = client.ok("ask", json!({ "question": "Where is the queue kept?" }));
    assert!(asked.contains("[20261115-use-sqlite-for-the-queue]"), "{asked}");
    let explored = client.ok("explore", json!({}));
    assert!(explored.contains("main.rs"), "{explored}");
    let context = client.ok("context", json!({ "task": "enqueue a job" }));
    assert!(context.contains("pub fn enqueue"), "{context}");
    let found = client.ok("code_search", json!({ "query": "enqueue" }));
    assert!(found.contains("src/queue.rs") && found.contains("pub fn enqueue"), "{found}");
    let found = client.ok("code_search", json!({ "query": r"fn \w+\(", "mode": "regex" }));
    assert!(found.contains("pub fn enqueue") && found.chars().count() <= 9_000, "{found}");
    let delta = client.ok("delta", json!({ "since": "0" }));
    assert!(delta.contains("+ src/queue.rs"), "{delta}");
    let status = client.ok("status", json!({}));
    assert!(status.contains("Memories (project): 1 decision, 1 learning, 0 summary"), "{status}");
    let said = client.ok("trace_search", json!({ "query": "job queue" }));
    assert!(said.contains("`nacre sync` reads new sessions"), "{said}");
    let removed = client.ok("memory_remove", json!({ "id": "20261115-tests-run-in-utc" }));
    assert!(removed.starts_with("Archived [20261115-tests-run-in-utc]"), "{removed}");
    assert_eq!(client.end(), (Some(0), String::new()));
    assert!(home.store("memory/archived/learnings/20261115-tests-run-in-utc.md").exists());
}

#[test]
fn what_was_said_in_earlier_sessions_is_found() {
    let home = busy_home().with_var("NACRE_NOW", "2099-01-01T00:00:00Z");
    home.ok(&["sync", "--no-extract"]);
    let mut client = Client::ready(&home);
    let said = client.ok("trace_search", json!({ "query": "job queue back up", "limit": 1 }));
    assert!(said.contains("one file is easy to back up"), "{said}");
}

#[test]
fn words_of_the_person_make_a_memory_that_holds() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    // The quote's spaces and quotation marks differ slightly, so the exact words from the session
    // are stored instead.
    let mut arguments = decision("let us keep the job queue in  SQLite");
    arguments["session"] = json!("0d1b7a52-4c1e-4c8e-9b61-6f1f5f0c0a01");
    let added = client.ok("memory_add", arguments.clone());
    assert!(
        added.contains("Added [20261115-jobs-wait-in-a-sqlite-file]. The quote is the user's"),
        "{added}"
    );
    let file = home.read("memory/decisions/20261115-jobs-wait-in-a-sqlite-file.md");
    assert!(file.contains("status: active") && file.contains("source: claude:0d1b7a52"), "{file}");
    let evidence = home.read("meta/evidence/20261115-jobs-wait-in-a-sqlite-file.json");
    let evidence: Value = serde_json::from_str(&evidence).unwrap();
    assert_eq!(evidence["quotes"][0]["speaker"], "user");
    // The quote is extended to the full sentence.
    let said = "let us keep the job queue in SQLite, one file is easy to back up";
    assert_eq!(evidence["quotes"][0]["text"], said);
    let brief = client.ok("brief", json!({}));
    assert!(brief.contains("[20261115-jobs]"), "{brief}");
    // Adding the same memory again has no effect.
    let again = client.ok("memory_add", arguments);
    assert!(again.starts_with("Nothing added: [20261115-jobs-wait-in-a-sqlite-file]"), "{again}");
}

#[test]
fn words_that_are_not_the_persons_wait_for_a_person() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    let invented = client.ok("memory_add", decision("the person said: the queue is in SQLite"));
    assert!(invented.contains("as a candidate"), "{invented}");
    let brief = client.ok("brief", json!({}));
    assert!(!brief.contains("20261115-jobs"), "{brief}");
    let evidence = home.read("meta/evidence/20261115-jobs-wait-in-a-sqlite-file.json");
    assert!(evidence.contains("\"speaker\": \"assistant\""), "{evidence}");
    // A memory with evidence from the agent may become active, unless it claims to come from the
    // user.
    let words = "The linker needs clang here, plain cc fails with undefined symbols";
    let body = "Link with clang: plain cc fails with undefined symbols on this machine.";
    let learned = json!({ "title": "The linker needs clang", "body": body, "quote": words, "kind": "pitfall" });
    let learned = client.ok("memory_add", learned);
    assert!(learned.contains("]. The quote is an agent's"), "{learned}");
    let ours = "Every release is linked by clang, with the flags of the Makefile.";
    let chosen = json!({ "title": "Releases are linked with clang from now on", "body": ours, "quote": words });
    let chosen = client.ok("memory_add", chosen);
    assert!(chosen.contains("as a candidate. The quote is an agent's"), "{chosen}");
    let (_, waiting) = home.json(&["review"]);
    assert_eq!(waiting["candidates"].as_array().unwrap().len(), 2, "{waiting}");
}

#[test]
fn an_agent_without_mcp_records_with_a_quote() {
    let home = busy_home().with_var("CLAUDECODE", "1");
    let body = "One file is easy to back up, and the queue survives a restart.";
    let add = ["memory", "add", "Jobs wait in a SQLite file", "--body", body, "--quote"];
    let said = home.run(&[&add[..], &[SAID]].concat());
    assert!(said.starts_with("Added 20261115-jobs-wait-in-a-sqlite-file"), "{said}");
    let file = home.read("memory/decisions/20261115-jobs-wait-in-a-sqlite-file.md");
    assert!(file.contains("status: active"), "{file}");
    let add = ["memory", "add", "Jobs wait in a Redis list", "--body", body, "--quote"];
    let said = home.run(&[&add[..], &["nobody said that jobs wait in a Redis list"]].concat());
    assert!(said.contains("Pending review until the user accepts it."), "{said}");
}

#[test]
fn an_agents_words_do_not_supersede_the_persons() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    let old = "20261115-use-sqlite-for-the-queue";
    let mut arguments = decision("nobody ever said this about the job queue");
    arguments["supersedes"] = json!(old);
    let waits = client.ok("memory_add", arguments.clone());
    assert!(waits.contains("remains valid until the user accepts the new memory"), "{waits}");
    assert!(home.read(&format!("memory/decisions/{old}.md")).contains("status: active"));
    // Quoting the user does not make the agent's words the user's.
    arguments["quote"] = json!(SAID);
    let waits = client.ok("memory_add", arguments);
    assert!(waits.contains("remains valid until the user accepts the new memory"), "{waits}");
    assert!(home.read(&format!("memory/decisions/{old}.md")).contains("status: active"));
}

#[test]
fn a_session_of_another_project_proves_nothing() {
    let home = TestHome::new();
    let talk = Talk {
        id: "0d1b7a52-4c1e-4c8e-9b61-6f1f5f0c0a02".to_owned(),
        cwd: home.root().join("elsewhere").display().to_string(),
        title: "Another project".to_owned(),
        user: vec![SAID.to_owned()],
        assistant: vec!["done".to_owned()],
        calls: Vec::new(),
    };
    let path = home.root().join(format!(".claude/projects/-else/{}.jsonl", talk.id));
    agents::write(&path, &agents::claude(&talk));
    let mut client = Client::ready(&home);
    assert!(client.ok("memory_add", decision(SAID)).contains("as a candidate"));
}

#[test]
fn errors_say_what_to_do_and_the_server_goes_on() {
    let home = busy_home();
    let mut client = Client::ready(&home);
    let unknown = client.error("memory_get", json!({ "id": "20200101-nothing" }));
    assert!(
        unknown.starts_with("Error (not_found): ") && unknown.contains("\nHint: "),
        "{unknown}"
    );
    let empty = client.error("memory_search", json!({ "query": "" }));
    assert!(empty.contains("The search is empty"), "{empty}");
    let missing = client.error("memory_add", json!({ "title": "No proof" }));
    assert!(missing.contains("missing field `body`"), "{missing}");
    let extra = client.error("memory_search", json!({ "query": "a", "project": "other" }));
    assert!(extra.contains("unknown field `project`"), "{extra}");
    let long = client.error("memory_search", json!({ "query": "x".repeat(20_000) }));
    assert!(long.contains("`query` is too long"), "{long}");
    let many = client.error("memory_search", json!({ "query": "sqlite", "limit": 100_000 }));
    assert!(many.contains("`limit` must be at most 30"), "{many}");
    let short =
        client.error("memory_add", json!({ "title": "SQLite", "body": "x", "quote": SAID }));
    assert!(short.starts_with("Error (refused): The memory is too short"), "{short}");
    let secret = json!({
        "title": "The token is ghp_0123456789abcdefghijklmnopqrstuvwxyzAB",
        "body": "Use it to publish: ghp_0123456789abcdefghijklmnopqrstuvwxyzAB works.",
        "quote": "let us keep the job queue in SQLite",
    });
    let (secret, _) = client.call("memory_add", secret);
    assert!(!secret.contains("ghp_0123456789"), "{secret}");
    let part = client.error("memory_remove", json!({ "id": "20261115-use" }));
    assert!(part.contains("is not a full id"), "{part}");
    let since = client.error("delta", json!({ "since": "last:week" }));
    assert!(since.starts_with("Error (usage): `since`"), "{since}");
    let pattern = client.error("code_search", json!({ "query": "(", "mode": "regex" }));
    assert!(
        pattern.starts_with("Error (usage): `(` is not a valid regular expression"),
        "{pattern}"
    );
    let outside = client.error("context", json!({ "files": ["../../etc/passwd"] }));
    assert!(outside.contains("not in the map"), "{outside}");
    let beyond =
        client.error("memory_get", json!({ "id": "20261115-use-sqlite", "offset": 99_999 }));
    assert!(beyond.contains("but the text has"), "{beyond}");
    let answer = client.request("tools/call", json!({ "name": "rm_rf", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client.request("tools/call", json!({ "name": "status", "arguments": "text" }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(client.ok("status", json!({})).contains("Memories"));
    assert_eq!(client.end().0, Some(0));
    assert!(!home.tree("").contains("ghp"), "a secret in a name");
}

#[test]
fn where_there_is_no_store_every_tool_says_what_to_do() {
    let home = TestHome::empty();
    let mut client = Client::ready(&home);
    for (tool, arguments) in [
        ("memory_search", json!({ "query": "sqlite" })),
        ("memory_get", json!({ "id": "20261115-a" })),
        ("memory_add", decision(SAID)),
        ("memory_remove", json!({ "id": "20261115-a" })),
        ("brief", json!({})),
        ("ask", json!({ "question": "why?" })),
        ("trace_search", json!({ "query": "sqlite" })),
    ] {
        let text = client.error(tool, arguments);
        assert!(text.contains("no_project") && text.contains("nacre init"), "{tool}: {text}");
    }
    assert!(client.ok("status", json!({})).contains("No project in this directory"));
    let listed = client.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"], json!([]));
    assert_eq!(client.end().0, Some(0));
    assert!(!home.store("").exists());
}

#[test]
fn what_is_broken_is_told_and_the_rest_is_found() {
    let home = busy_home();
    home.write("memory/decisions/20261114-broken.md", "---\ntitle: [\n---\n");
    home.ok(&["index", "--rebuild"]);
    std::fs::write(home.index().join("memories.manifest"), "garbage").unwrap();
    let mut client = Client::ready(&home);
    let found = client.ok("memory_search", json!({ "query": "sqlite" }));
    assert!(
        found.contains("Use SQLite for the queue") && found.contains("nacre doctor"),
        "{found}"
    );
    assert!(client.ok("status", json!({})).contains("1 cannot be read"));
    // Settings may be broken and fixed again while the server is running.
    let config = home.read("config.toml");
    home.write("config.toml", "nonsense = [");
    let wrong = client.error("memory_search", json!({ "query": "sqlite" }));
    assert!(wrong.contains("config.toml"), "{wrong}");
    assert!(client.ok("status", json!({})).contains("The repository's settings are invalid"));
    home.write("config.toml", config);
    assert!(client.ok("memory_search", json!({ "query": "sqlite" })).contains("Use SQLite"));
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn a_long_memory_is_read_in_parts() {
    let home = TestHome::new();
    let body: String = (0..2_000).map(|n| format!("line {n} of a long memory\n")).collect();
    let id = home.add("A long memory", &["--body", &body]);
    let mut client = Client::ready(&home);
    let (mut whole, mut offset) = (String::new(), 0_u64);
    loop {
        let part = client.ok("memory_get", json!({ "id": id, "offset": offset }));
        let Some((text, footer)) = part.rsplit_once("\n\n[Characters ") else {
            whole.push_str(&part);
            break;
        };
        whole.push_str(text);
        whole.push('\n');
        let next = footer.rsplit_once("offset=").unwrap().1.trim_end_matches(']');
        offset = next.parse().unwrap();
    }
    for n in [0, 999, 1_999] {
        assert_eq!(whole.matches(&format!("line {n} of a long memory\n")).count(), 1, "{n}");
    }
}

#[test]
fn a_long_list_is_read_in_parts() {
    let home = TestHome::new();
    for n in 0..40 {
        let title = format!("Queue rule {n} {}", "about queues and their many jobs ".repeat(5));
        home.add(title.trim(), &["--body", &"The queue has rules. ".repeat(30)]);
    }
    let mut client = Client::ready(&home);
    let (mut ids, mut offset) = (BTreeSet::new(), 0_u64);
    let mut n_pages = 0;
    loop {
        let page = client
            .ok("memory_search", json!({ "query": "queue rule", "limit": 30, "offset": offset }));
        let before = ids.len();
        ids.extend(page.split('[').filter(|part| part.starts_with("20261115-")).map(str::to_owned));
        assert!(before < ids.len(), "{page}");
        n_pages += 1;
        let Some((_, next)) = page.rsplit_once("more: offset=") else { break };
        offset = next.trim_end_matches(']').parse().unwrap();
    }
    assert!(n_pages > 1 && ids.len() == 40, "{n_pages} pages, {} ids", ids.len());
}
