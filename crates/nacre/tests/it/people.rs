//! Tests users with tokens: which requests each user may send, and that no response contains
//! anything from a project that the user may not access.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::TestHome;
use crate::serve::Served;

/// How many requests are generated, unless `NACRE_TEST_REQUESTS` is set.
const REQUESTS: usize = 10_000;

/// The projects' names. Each project has a word that occurs only in its own memories.
const PROJECTS: [&str; 5] = ["vault0", "vault1", "vault2", "vault3", "vault4"];
const WORDS: [&str; 5] = ["zqamber", "zqbasil", "zqcedar", "zqdelta", "zqember"];

/// A word that occurs only in the owner's global memories.
const OWNERS: &str = "zqowner";

/// Used for names that do not exist.
const NO_PROJECT: &str = "vaultx";
const NO_WORD: &str = "zqnever";

/// A user, the access that the user was granted, and the resulting permissions.
struct Caller {
    token: String,
    /// Whether the user may do everything.
    is_admin: bool,
    readable: BTreeSet<usize>,
}

pub(crate) fn token(home: &TestHome, args: &[&str]) -> String {
    let args: Vec<&str> = ["server", "token", "add"].iter().chain(args).copied().collect();
    let (code, report) = home.json(&args);
    assert_eq!(code, 0, "{report}");
    report["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_token_is_given_listed_and_ended() {
    let home = TestHome::new();
    assert_snapshot!(home.run(&["server", "token"]), @r"
    Nobody has a token.
    Hint: Create one: nacre server token add NAME --scope read --in PROJECT
    ");
    let shown = home.run(&["server", "token", "add", "ana", "--scope", "write", "--in", "work"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].ends_with(" of ana: write in work"), "{shown}");
    assert!(lines[1].starts_with("nacre_") && lines[1].len() == 70, "{shown}");
    let (_, listed) = home.json(&["server", "token"]);
    let id = listed["tokens"][0]["id"].as_str().unwrap().to_owned();
    assert!(!listed.to_string().contains(lines[1]), "it is not shown again");
    let file = home.root().join(".nacre/people.sqlite3");
    for name in ["", "-wal"] {
        let bytes = fs::read(format!("{}{name}", file.display())).unwrap_or_default();
        let has = bytes.windows(lines[1].len()).any(|piece| piece == lines[1].as_bytes());
        assert!(!has, "only its hash is kept");
    }
    assert_snapshot!(home.run(&["server", "token", "add", "ana", "--in", "wrok"]), @"
    Error: Project `wrok` not found
    Hint: Did you mean `work`?
    [exit 1]
    ");
    assert_snapshot!(home.run(&["server", "token", "add", "an/a"]), @"
    Error: `an/a` is not a valid person name
    Hint: Use letters, digits and `.@_-+`, starting with a letter or digit
    [exit 2]
    ");
    let ended = home.run(&["server", "token", "revoke", &id[..6]]);
    assert_eq!(ended, format!("Revoked token {id} of ana.\n"));
    let (_, listed) = home.json(&["server", "token"]);
    assert_eq!(listed["tokens"][0]["state"], "revoked");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_file_of_people() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = TestHome::new();
    token(&home, &["ana"]);
    let mode = fs::metadata(home.root().join(".nacre/people.sqlite3")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
}

/// Sends a request and returns the status and body of the response.
pub(crate) fn ask(
    served: &Served,
    token: &str,
    verb: &str,
    target: &str,
    body: &Value,
) -> (u16, String) {
    ask_with(served, &[("Authorization", &format!("Bearer {token}"))], verb, target, body)
}

fn ask_with(
    served: &Served,
    headers: &[(&str, &str)],
    verb: &str,
    target: &str,
    body: &Value,
) -> (u16, String) {
    let body = if verb == "GET" { String::new() } else { body.to_string() };
    let mut text = format!("{verb} {target} HTTP/1.1\r\nHost: {}\r\n", served.address);
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = body.len();
    text.push_str("Connection: close\r\nContent-Type: application/json\r\n");
    text.push_str("Accept: application/json, text/event-stream\r\n");
    text.push_str(&format!("If-Match: \"0\"\r\nContent-Length: {length}\r\n\r\n{body}"));
    let (status, answer) = served.raw(&text);
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    (status, body.unwrap_or_default())
}

#[test]
fn each_scope_allows_what_it_says_and_an_end_holds_at_once() {
    let home = TestHome::new();
    home.add("Use tabs in Makefiles", &["--body", "Spaces break make."]);
    let reader = token(&home, &["ana", "--in", "work"]);
    let writer = token(&home, &["bo", "--scope", "write", "--in", "work"]);
    let admin = token(&home, &["cy", "--scope", "admin"]);
    let old = token(&home, &["di", "--expires", "1h"]);
    let served = Served::start(&home);
    let status = |token: &str, verb: &str, target: &str| {
        let title = if token == admin { "Ship on Tuesdays" } else { "Pin the linter" };
        let body = json!({"type": "learning", "title": title, "body": "So it was said."});
        ask(&served, token, verb, target, &body).0
    };
    let table = [
        ("GET", "/api/memories"),
        ("POST", "/api/memories"),
        ("GET", "/api/runs"),
        ("GET", "/api/config"),
        ("GET", "/rpc"),
    ];
    let all = |token: &str| table.map(|(verb, target)| status(token, verb, target));
    assert_eq!(all(&reader), [200, 403, 403, 403, 403]);
    assert_eq!(all(&writer), [200, 200, 403, 403, 403]);
    assert_eq!(all(&admin), [200, 200, 200, 200, 426], "no upgrade was asked for");
    assert_eq!(all(&old)[0], 200);
    for wrong in ["", "nacre_", "nacre_0000", &reader[1..], &format!("{reader}0")] {
        assert_eq!(status(wrong, "GET", "/api/memories"), 401, "{wrong}");
    }
    // A revoked token is rejected without a restart.
    let (_, listed) = home.json(&["server", "token", "ana"]);
    home.ok(&["server", "token", "revoke", listed["tokens"][0]["id"].as_str().unwrap()]);
    assert_eq!(all(&reader), [401; 5]);

    // The log says who did what, but contains no contents.
    served.stop();
    let (_, changes) = home.json(&["undo", "--list"]);
    assert!(changes.to_string().contains("memory add by bo"), "{changes}");
    let (_, audit) = home.json(&["server", "audit", "bo", "--limit", "0"]);
    let entries = audit["entries"].as_array().unwrap();
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} {}", entry["what"].as_str().unwrap(), entry["outcome"]))
        .collect();
    assert_eq!(lines[0], "GET /rpc \"403\"");
    assert!(lines.contains(&"POST /api/memories \"ok\"".to_owned()), "{lines:?}");
    let all = home.run(&["server", "audit", "--limit", "0", "--json"]);
    assert!(!all.contains("linter") && !all.contains("nacre_"), "{all}");
}

#[test]
fn the_audit_list_is_written_while_the_server_runs() {
    let home = TestHome::new();
    home.add("Use tabs in Makefiles", &["--body", "Spaces break make."]);
    let served = Served::start(&home);
    // This route needs no token, even if there is no log yet.
    for _ in 0..3 {
        assert_eq!(ask_with(&served, &[], "GET", "/api/health", &json!({})).0, 200);
    }
    let reader = token(&home, &["ana", "--in", "work"]);
    assert_eq!(ask(&served, &reader, "GET", "/api/memories", &json!({})).0, 200);
    let is_listed = || {
        let (_, audit) = home.json(&["server", "audit", "ana"]);
        audit["entries"].as_array().is_some_and(|entries| !entries.is_empty())
    };
    assert!((0..100).any(|_| is_listed()), "it is written within a moment");
    served.stop();
}

#[test]
fn a_header_names_a_person_only_from_the_proxy_of_the_settings() {
    let home = TestHome::new();
    home.add("Use tabs in Makefiles", &["--body", "Spaces break make."]);
    token(&home, &["ana", "--in", "work"]);
    let named = |served: &Served, name: &str, verb: &str| {
        let headers = [("X-Forwarded-User", name)];
        ask_with(served, &headers, verb, "/api/memories", &json!({})).0
    };
    // Without the setting, the header is ignored.
    let served = Served::start(&home);
    assert_eq!(named(&served, "ana", "GET"), 401);
    served.stop();
    home.ok(&["config", "set", "server.trusted_proxy_header", "x-forwarded-user"]);
    home.ok(&["config", "set", "server.trusted_proxy", "10.0.0.7"]);
    let served = Served::start(&home);
    assert_eq!(named(&served, "ana", "GET"), 401, "this is another address");
    served.stop();
    home.ok(&["config", "set", "server.trusted_proxy", "127.0.0.1"]);
    let served = Served::start(&home);
    assert_eq!(named(&served, "ana", "GET"), 200);
    assert_eq!(named(&served, "bo", "GET"), 401, "nobody has that name");
    assert_eq!(named(&served, "ana", "POST"), 401, "a change names its page");
    served.stop();
    // The server reports an invalid setting when it starts.
    home.ok(&["config", "set", "server.trusted_proxy", "proxy"]);
    let told = home.run(&["serve", "--port", "0", "--no-loops"]);
    assert!(told.contains("`server.trusted_proxy` is not a valid proxy address"), "{told}");
}

#[test]
fn a_repository_cannot_name_a_proxy() {
    let home = TestHome::new();
    home.write("config.toml", "[server]\ntrusted_proxy_header = \"x-user\"\n");
    let shown = home.run(&["config", "get", "server.trusted_proxy_header"]);
    assert!(!shown.lines().any(|line| line == "x-user"), "{shown}");
}

/// A deterministic random number generator.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next()).unwrap() % most
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }
}

/// Starts a server with five projects and the owner's global memories, and creates a user for every
/// combination of scopes.
fn world() -> (TestHome, Vec<Caller>, Vec<String>) {
    let home = TestHome::empty();
    let mut ids = Vec::new();
    let add = |folder: &std::path::Path, word: &str, more: &[&str]| {
        let title = format!("Keep the {word} queue in one file");
        let body = format!("The {word} worker reads it whole.");
        let mut args = vec!["--json", "memory", "add", &title, "--body", &body];
        args.extend(more);
        let output = home.command(folder, &args).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["id"].as_str().unwrap_or_else(|| panic!("{report}")).to_owned()
    };
    for (project, word) in PROJECTS.iter().zip(WORDS) {
        let folder = home.root().join(project);
        fs::create_dir_all(folder.join(".git")).unwrap();
        fs::write(folder.join("main.py"), format!("def {word}_main():\n    return 1\n")).unwrap();
        home.ok(&["project", "add", folder.to_str().unwrap()]);
        ids.push(add(&folder, word, &[]));
        ids.push(add(&folder, &format!("{word} backup"), &[]));
    }
    let first = home.root().join(PROJECTS[0]);
    ids.push(add(&first, OWNERS, &["--scope", "global_only"]));
    let mut callers = Vec::new();
    let scopes = ["read", "write", "admin"];
    for (number, scope) in scopes.iter().enumerate() {
        let name = format!("all-{scope}");
        let token = token(&home, &[&name, "--scope", scope]);
        let readable = (0..PROJECTS.len()).collect();
        callers.push(Caller { token, is_admin: number == 2, readable });
    }
    // Every subset of the projects, with varying scopes.
    for set in 1_usize..(1 << PROJECTS.len()) - 1 {
        let readable: BTreeSet<usize> = (0..PROJECTS.len()).filter(|n| set >> n & 1 == 1).collect();
        let given = readable.iter().map(|n| format!("{}={}", PROJECTS[*n], scopes[(n + set) % 3]));
        let given: Vec<String> = given.collect();
        let name = format!("person-{set}");
        let mut args = vec![name.as_str()];
        args.extend(given.iter().flat_map(|project| ["--in", project.as_str()]));
        let token = token(&home, &args);
        callers.push(Caller { token, is_admin: false, readable });
    }
    (home, callers, ids)
}

/// Returns the API description's routes, with placeholders in their paths.
fn routes(served: &Served) -> Vec<(String, String, String)> {
    let (status, answer) = ask_with(served, &[], "GET", "/api/openapi.json", &json!({}));
    assert_eq!(status, 200);
    let document: Value = serde_json::from_str(&answer).unwrap();
    let mut routes = Vec::new();
    for (path, verbs) in document["paths"].as_object().unwrap() {
        for (verb, operation) in verbs.as_object().unwrap() {
            let scope = operation["x-scope"].as_str().unwrap();
            routes.push((verb.to_uppercase(), path.clone(), scope.to_owned()));
        }
    }
    assert!(routes.len() > 50);
    routes
}

/// A generated request.
#[derive(Clone, Debug)]
struct Asked {
    verb: String,
    target: String,
    body: Value,
}

impl Asked {
    fn text(&self) -> String {
        format!("{} {} {}", self.verb, self.target, self.body)
    }

    /// Returns the request with one word in place of another.
    fn replaced(&self, from: &str, to: &str) -> Self {
        let body = self.body.to_string().replace(from, to);
        Self {
            verb: self.verb.clone(),
            target: self.target.replace(from, to),
            body: serde_json::from_str(&body).unwrap(),
        }
    }
}

const TOOLS: [&str; 10] = [
    "memory_search",
    "memory_get",
    "memory_add",
    "memory_remove",
    "brief",
    "trace_search",
    "context",
    "code_search",
    "explore",
    "status",
];

fn generate(chance: &mut Chance, route: &(String, String, String), ids: &[String]) -> Asked {
    let (verb, path, _) = route;
    let project = match chance.below(8) {
        0 | 1 => None,
        2 => Some(NO_PROJECT),
        _ => Some(chance.of(&PROJECTS)),
    };
    let word = match chance.below(6) {
        0 => NO_WORD,
        1 => OWNERS,
        _ => chance.of(&WORDS),
    };
    let id = &ids[chance.below(ids.len())];
    let id = if chance.below(4) == 0 { &id[..chance.below(9) + 4] } else { id.as_str() };
    let path = path.replace("{id}", id).replace("{task}", id).replace("{agent}", "claude");
    let mut query = Vec::new();
    query.extend(project.map(|project| format!("project={project}")));
    let scope = ["project_only", "global_only", "project_fallback_global"][chance.below(3)];
    // Writing to a project returns only that project.
    let own = PROJECTS.iter().position(|name| Some(*name) == project).map_or("plain", |n| WORDS[n]);
    let title = format!("Remember the {own} rule number {}", chance.below(1000));
    let mut body = json!({});
    match path.as_str() {
        "/api/search" => query.push(format!("query={word}&scope={scope}")),
        "/api/memories" if verb == "GET" => query.push(format!("all=true&scope={scope}")),
        "/api/memories" => body = json!({"type": "learning", "title": title, "body": own}),
        "/api/review" if verb == "POST" => body = json!({"ids": [id], "decision": "accept"}),
        "/api/brief" => query.push(format!("task={word}")),
        "/api/graph" | "/api/review" | "/api/trust" => query.push(format!("scope={scope}")),
        "/api/ask" => {
            query.push("wait=true".to_owned());
            body = json!({"question": format!("What about {word}?"), "no_model": true});
        }
        "/api/maintain" => {
            query.push("wait=true".to_owned());
            body = json!({"dry_run": true, "all": chance.below(2) == 0});
        }
        "/v1/explore" | "/v1/delta" | "/v1/refresh" => body = json!({"project": project}),
        "/v1/context" => body = json!({"project": project, "task": word}),
        "/v1/search-code" => body = json!({"project": project, "query": word}),
        "/mcp" => {
            let arguments = match chance.below(3) {
                0 => json!({"query": word}),
                1 => json!({"id": id}),
                _ => json!({"task": word}),
            };
            let tool = chance.of(&TOOLS);
            body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments}});
        }
        _ if path.ends_with("/feedback") => body = json!({"verdict": "useful"}),
        _ => {}
    }
    if path.starts_with("/v1") {
        query.clear();
    }
    let target = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
    Asked { verb: verb.clone(), target, body }
}

/// Returns the words that must not occur in responses to the user: those from projects that the
/// user may not read, and from the owner's global memories.
fn hidden(caller: &Caller) -> Vec<(&'static str, &'static str)> {
    if caller.is_admin {
        return Vec::new();
    }
    let unreadable = (0..PROJECTS.len()).filter(|number| !caller.readable.contains(number));
    let words = unreadable.flat_map(|n| [(PROJECTS[n], NO_PROJECT), (WORDS[n], NO_WORD)]);
    words.chain([(OWNERS, NO_WORD)]).collect()
}

/// Records every line of the event stream from its start.
fn listen(served: &Served, token: &str) -> Arc<Mutex<String>> {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        served.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let heard = Arc::new(Mutex::new(String::new()));
    let (all, mut lines) = (Arc::clone(&heard), BufReader::new(stream));
    let mut line = String::new();
    while !line.contains("listening") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).unwrap(), 0);
    }
    std::thread::spawn(move || {
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|n_read| n_read > 0) {
            all.lock().unwrap().push_str(&line);
            line.clear();
        }
    });
    heard
}

/// Removes times, and hints because they suggest similar names that the caller may read.
fn without_times(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap_or(Value::Null);
    let text = match value["error"].as_object_mut() {
        Some(error) => {
            error.remove("hints");
            value.to_string()
        }
        None => text.to_owned(),
    };
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Checks that requesting something hidden gets the same response as requesting something that does
/// not exist.
fn compare_twin(
    served: &Served,
    caller: &Caller,
    (asked, status, answer): (&Asked, u16, &str),
    mentioned: &[&(&'static str, &'static str)],
) {
    let mut twin = asked.clone();
    for (word, other) in mentioned {
        twin = twin.replaced(word, other);
    }
    let (twin_status, twin_answer) =
        ask(served, &caller.token, &twin.verb, &twin.target, &twin.body);
    let mut expected = answer.to_owned();
    for (word, other) in mentioned {
        expected = expected.replace(word, other);
    }
    assert_eq!(twin_status, status, "{asked:?}: {answer} / {twin_answer}");
    if status == 200 {
        // The suggestions for an unknown word may differ, but the word itself must occur equally
        // often.
        for (word, other) in mentioned {
            let (n_said, n_twin) = (answer.matches(word), twin_answer.matches(other));
            assert_eq!(n_said.count(), n_twin.count(), "{asked:?}: {answer}");
        }
    } else {
        assert_eq!(without_times(&twin_answer), without_times(&expected), "{asked:?}");
    }
}

/// Returns the events received so far. With a word, waits until it has been received.
fn heard_until(heard: &Mutex<String>, word: Option<&str>) -> String {
    for _ in 0..1_000 {
        let text = heard.lock().unwrap().clone();
        if word.is_none_or(|word| text.contains(word)) {
            return text;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    heard.lock().unwrap().clone()
}

#[test]
fn no_answer_tells_of_a_project_without_permission() {
    let (home, callers, ids) = world();
    let served = Served::start(&home);
    let routes = routes(&served);
    let heard: Vec<_> =
        callers.iter().step_by(3).map(|caller| (caller, listen(&served, &caller.token))).collect();
    let mut chance = Chance(7);
    let (mut n_ok, mut n_asked, mut n_twins) = (0, 0, 0);
    let mut ok_routes = BTreeSet::new();
    let named = std::env::var("NACRE_TEST_REQUESTS").ok().and_then(|text| text.parse().ok());
    let n_requests = named.unwrap_or(REQUESTS);
    while n_asked < n_requests {
        let caller = &callers[chance.below(callers.len())];
        let route = &routes[chance.below(routes.len())];
        let (verb, path, scope) = (&route.0, route.1.as_str(), route.2.as_str());
        let is_machine = scope == "admin of all projects";
        // Skips requests that never end, or that would stop or change the server.
        if path == "/api/events"
            || path == "/api/login"
            || (caller.is_admin && is_machine && verb != "GET")
        {
            continue;
        }
        let asked = generate(&mut chance, route, &ids);
        let (status, answer) = ask(&served, &caller.token, &asked.verb, &asked.target, &asked.body);
        n_asked += 1;
        assert_ne!(status, 0, "{asked:?}");
        // The owner's global memories are hidden from other users.
        let is_without = answer.contains("There are no global memories yet");
        assert!(status < 500 || is_without, "{asked:?}: {answer}");
        if status == 200 {
            n_ok += 1;
            ok_routes.insert(path.to_owned());
        }
        let said = asked.text();
        let hidden = hidden(caller);
        let mentioned: Vec<_> = hidden.iter().filter(|(word, _)| said.contains(word)).collect();
        for (word, _) in hidden.iter().filter(|(word, _)| !said.contains(word)) {
            assert!(!answer.contains(word), "{word} in the answer to {asked:?}: {answer}");
        }
        let is_written = path == "/api/memories" && verb == "POST" && status == 200;
        if !mentioned.is_empty() && !is_written {
            compare_twin(&served, caller, (&asked, status, &answer), &mentioned);
            n_twins += 1;
        }
    }
    assert!(n_ok > n_requests / 10, "too few were answered: {n_ok}");
    assert!(n_twins > n_requests / 10, "too few were compared: {n_twins}");
    for path in ["/api/memories", "/api/search", "/api/graph", "/api/brief", "/mcp", "/v1/explore"]
    {
        assert!(ok_routes.contains(path), "{path} was never answered: {ok_routes:?}");
    }
    // Every reader receives this change, which shows that the streams work.
    let last = json!({ "title": "Say the last word", "body": WORDS[1] });
    let client = served.client().for_project(PROJECTS[1]);
    client.post::<Value>("/api/memories", &last).unwrap();
    for (caller, heard) in heard {
        let is_told = caller.readable.contains(&1);
        let heard = heard_until(&heard, is_told.then_some(PROJECTS[1]));
        assert_eq!(heard.contains(PROJECTS[1]), is_told, "{heard}");
        for (word, _) in hidden(caller) {
            assert!(!heard.contains(word), "{word} was heard: {heard}");
        }
    }
    served.stop();
}
