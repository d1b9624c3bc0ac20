//! Tests `nacre serve` as programs and browsers use it: real HTTP on the loopback interface.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use nacre_ops::service::{FoundService, ServerAddress};
use nacre_server::client::{Client, ClientError};
use nacre_types::ErrorCode;
use serde_json::{Value, json};

use crate::agents::{self, Talk};
use crate::home::{TestHome, interrupt};

/// A running server that is stopped at the end of the test.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Served {
    pub(crate) fn start(home: &TestHome) -> Self {
        Self::start_telling(home, Stdio::inherit())
    }

    /// Starts a server whose standard error is redirected.
    pub(crate) fn start_telling(home: &TestHome, stderr: impl Into<Stdio>) -> Self {
        let mut command =
            home.command(&home.work(), &["serve", "--port", "0", "--no-loops", "--json"]);
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        let report: Value = loop {
            assert_ne!(output.read_line(&mut text).unwrap(), 0, "the server exited: {text}");
            if let Ok(report) = serde_json::from_str(&text) {
                break report;
            }
        };
        let token = fs::read_to_string(run_folder(home).join("token")).unwrap();
        Self { child, address: report["address"].as_str().unwrap().to_owned(), token }
    }

    pub(crate) fn client(&self) -> Client {
        Self::client_with(&self.address, &self.token)
    }

    fn client_with(address: &str, token: &str) -> Client {
        let door = ServerAddress::Port { token: token.to_owned() };
        Client::new(FoundService { address: address.to_owned(), door })
    }

    fn get(&self, path: &str) -> Value {
        self.client().get(path, &()).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.client().post(path, body).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Opens the event stream, starting with the next event.
    fn events(&self, headers: &[(String, String)]) -> impl Iterator<Item = String> + use<> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request("GET", "/api/events", headers).as_bytes()).unwrap();
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        assert!(lines.by_ref().any(|line| line == ": listening"));
        lines
    }

    /// Sends `text` as it is. Returns the status and body of the response.
    pub(crate) fn raw(&self, text: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // A server that rejects the request may close the connection before reading all of it.
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|text| text.parse().ok());
        (status.unwrap_or(0), answer)
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops the server gracefully, as Ctrl-C does. Returns the exit code.
    pub(crate) fn stop(mut self) -> i32 {
        interrupt(&self.child);
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn run_folder(home: &TestHome) -> PathBuf {
    home.root().join(".nacre/run")
}

fn with_memory() -> (TestHome, String) {
    let home = TestHome::new();
    let id = home.add("Use tabs in Makefiles", &["--body", "Spaces break make."]);
    (home, id)
}

/// Returns the headers of a request that the guard accepts.
fn head(served: &Served, verb: &str) -> Vec<(String, String)> {
    let mut headers = vec![
        ("Host".to_owned(), served.address.clone()),
        ("Authorization".to_owned(), format!("Bearer {}", served.token)),
        ("Connection".to_owned(), "close".to_owned()),
    ];
    if ["POST", "PUT", "PATCH"].contains(&verb) {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        headers.push(("Content-Length".to_owned(), "2".to_owned()));
    }
    headers
}

fn request(verb: &str, target: &str, headers: &[(String, String)]) -> String {
    let mut text = format!("{verb} {target} HTTP/1.1\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    if ["POST", "PUT", "PATCH"].contains(&verb) {
        text.push_str("{}");
    }
    text
}

/// Returns the API description's routes: verb, path, and whether the route is public.
fn routes(served: &Served) -> Vec<(String, String, bool)> {
    let (status, answer) = served.raw(&request(
        "GET",
        "/api/openapi.json",
        &[
            ("Host".to_owned(), served.address.clone()),
            ("Connection".to_owned(), "close".to_owned()),
        ],
    ));
    assert_eq!(status, 200);
    let document: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let mut routes = Vec::new();
    for (path, operations) in paths {
        for (verb, operation) in operations.as_object().unwrap() {
            let is_open = operation["security"].as_array().unwrap().is_empty();
            routes.push((verb.to_uppercase(), path.clone(), is_open));
        }
    }
    routes
}

#[test]
fn a_program_reads_writes_and_archives_memories() {
    let (home, id) = with_memory();
    let served = Served::start(&home);
    assert_eq!(served.get("/api/health")["status"], "ok");
    assert_eq!(served.get("/api/project/list")["projects"].as_array().unwrap().len(), 1);
    let query = json!({ "query": "makefile tabs" });
    let found: Value = served.client().get("/api/search", &query).unwrap();
    assert_eq!(found["hits"][0]["id"], id);
    let added = served.post("/api/memories", &json!({ "title": "Deploy with make ship" }));
    assert_eq!(served.get("/api/memories")["total"], 2);
    let path = format!("/api/memories/{}", added["id"].as_str().unwrap());
    served.client().ask::<Value>("DELETE", &path, &()).unwrap();
    assert_eq!(served.get("/api/memories")["total"], 1);
    assert_eq!(served.get(&path)["archived"], true);
    assert_eq!(served.get("/api/status")["projects"], 1);
}

#[test]
fn what_the_command_says_the_server_says() {
    let (home, id) = with_memory();
    let served = Served::start(&home);
    for (args, target) in [
        (vec!["memory", "list"], "/api/memories".to_owned()),
        (vec!["memory", "show", &id], format!("/api/memories/{id}")),
        (vec!["memory", "search", "tabs"], "/api/search?query=tabs".to_owned()),
        (vec!["project"], "/api/project/list".to_owned()),
        (vec!["queue"], "/api/queue".to_owned()),
        (vec!["review"], "/api/review".to_owned()),
        (vec!["undo", "--list"], "/api/changes".to_owned()),
    ] {
        let (status, answer) = served.raw(&request("GET", &target, &head(&served, "GET")));
        assert_eq!(status, 200, "{answer}");
        let told: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let told = told.to_string().replace(&*home.root().to_string_lossy(), "$HOME");
        assert_eq!(told, home.json(&args).1.to_string(), "{target}");
    }
}

#[test]
fn a_sync_is_a_task_that_is_followed_and_whose_report_is_kept() {
    let home = TestHome::new();
    let talk = Talk {
        id: "4b1f0c52-8a65-4a64-9f4e-0a5b4a1c9d01".to_owned(),
        cwd: home.work().display().to_string(),
        user: vec!["no, remember: always use pnpm here, never npm".to_owned()],
        assistant: vec!["Done, used pnpm.".to_owned()],
        ..Talk::default()
    };
    let path = home.root().join(".claude/projects/p").join(format!("{}.jsonl", talk.id));
    agents::write(&path, &agents::claude(&talk));
    // The modification time is long enough ago that the session counts as ended.
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
    home.ok(&["connect", "claude", "--yes"]);
    let served = Served::start(&home);
    let events = served.events(&head(&served, "GET"));
    let task = served.post("/api/sync", &json!({}))["task"].as_str().unwrap().to_owned();
    let mut states = Vec::new();
    for line in events {
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let event: Value = serde_json::from_str(data).unwrap();
        if event["event"] == "task" {
            assert_eq!((&event["task"], &event["agent"]), (&json!(task), &json!("sync")));
            states.push(event["state"].as_str().unwrap().to_owned());
            if states.len() == 2 {
                break;
            }
        }
    }
    assert_eq!(states, ["running", "completed"]);
    assert!(served.get(&format!("/api/tasks/{task}/report"))["sessions"].is_array());
    assert_eq!(served.get(&format!("/api/tasks/{task}"))["task"]["state"], "completed");
    let question = json!({ "question": "do we use pnpm or npm?" });
    let answer = served.post("/api/ask?wait=true", &question);
    assert!(!answer["memories"].as_array().unwrap().is_empty(), "{answer}");
}

#[test]
fn a_stream_goes_on_where_it_stopped() {
    let (home, id) = with_memory();
    let served = Served::start(&home);
    let usual = head(&served, "GET");
    let mut events = served.events(&usual);
    let path = format!("/api/memories/{id}");
    served.client().ask::<Value>("DELETE", &path, &()).unwrap();
    served.post(&format!("{path}/restore"), &json!({}));
    let mut next_id = move || events.find_map(|line| line.strip_prefix("id: ").map(str::to_owned));
    let last = next_id().unwrap();
    let after = |last: &str| {
        let header = ("Last-Event-ID".to_owned(), last.to_owned());
        served.events(&[usual.as_slice(), &[header]].concat())
    };
    let next = after(&last).find_map(|line| line.strip_prefix("id: ").map(str::to_owned)).unwrap();
    let number = |id: &str| id.rsplit('-').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(number(&next), number(&last) + 1);
    // A client with an event id from another server learns that it missed events.
    let mut lines = after("00000000-7");
    assert!(lines.find(|line| line.starts_with("data: ")).unwrap().contains("\"missed\""));
}

/// Returns headers that contain the token or a page's secret without authenticating a request.
fn without_proof(served: &Served, secret: &str) -> Vec<Vec<(String, String)>> {
    let header = |name: &str, value: String| (name.to_owned(), value);
    let token = served.token.as_str();
    let wrong = ["Bearer x", "Bearer ", "Basic YTpi", "bearer", token];
    let mut forged = vec![Vec::new()];
    forged.extend(wrong.map(|text| vec![header("Authorization", text.to_owned())]));
    for twice in [["x", token], [token, token], ["x", secret]] {
        forged.push(twice.map(|text| header("Authorization", format!("Bearer {text}"))).to_vec());
    }
    // Browsers send cookies to every port of this machine. A program that receives one this way can
    // also forge the origin.
    let port = served.address.rsplit(':').next().unwrap();
    for name in [format!("nacre_{port}"), "Authorization".to_owned(), "token".to_owned()] {
        forged.extend([token, secret].map(|proof| {
            let origin = header("Origin", format!("http://{}", served.address));
            vec![header("Cookie", format!("{name}={proof}")), origin]
        }));
    }
    forged
}

#[test]
fn no_page_and_no_stranger_gets_past_the_guard() {
    let (home, _) = with_memory();
    let served = Served::start(&home);
    let secret = page_secret(&served, &login_code(&served));
    let before = home.snapshot();
    let port = served.address.rsplit(':').next().unwrap().to_owned();
    let mut n_tried = 0;
    for (verb, path, is_open) in routes(&served) {
        let path = path.replace(['{', '}'], "");
        let usual = head(&served, &verb);
        let without =
            |name: &str| usual.iter().filter(|(key, _)| key != name).cloned().collect::<Vec<_>>();
        let with = |name: &str, value: &str| {
            let mut headers = without(name);
            headers.push((name.to_owned(), value.to_owned()));
            headers
        };
        let mut attacks: Vec<(u16, Vec<(String, String)>)> = Vec::new();
        for host in [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            format!("127.0.0.1.evil.example:{port}"),
            "127.0.0.1".to_owned(),
            "localhost:1".to_owned(),
            format!("0.0.0.0:{port}"),
            format!("127.1:{port}"),
            format!("localhost:{port}."),
        ] {
            attacks.push((421, with("Host", &host)));
        }
        for origin in [
            "null".to_owned(),
            "http://evil.example".to_owned(),
            "http://localhost:3000".to_owned(),
            format!("https://127.0.0.1:{port}"),
            format!("http://127.0.0.1:{port}.evil.example"),
        ] {
            attacks.push((403, with("Origin", &origin)));
        }
        for site in ["cross-site", "same-site", "x"] {
            attacks.push((403, with("Sec-Fetch-Site", site)));
        }
        if !is_open {
            let rest = without("Authorization");
            let forged = without_proof(&served, &secret);
            attacks.extend(forged.into_iter().map(|proof| (401, [rest.clone(), proof].concat())));
        }
        if ["POST", "PUT", "PATCH"].contains(&verb.as_str()) {
            for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
                attacks.push((415, with("Content-Type", kind)));
            }
            attacks.push((415, without("Content-Type")));
        }
        n_tried += attacks.len();
        for (expected, headers) in attacks {
            let (status, answer) = served.raw(&request(&verb, &path, &headers));
            assert_eq!(status, expected, "{verb} {path} {headers:?}\n{answer}");
            let lower = answer.to_lowercase();
            assert!(!lower.contains("access-control-allow"), "{answer}");
            assert!(
                ![&served.token, &secret].iter().any(|text| answer.contains(*text)),
                "{answer}"
            );
        }
    }
    assert!(n_tried >= 500, "{n_tried}");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn requests_that_are_no_requests_are_refused_and_the_next_one_is_answered() {
    let (home, _) = with_memory();
    let served = Served::start(&home);
    let host = &served.address;
    let token = &served.token;
    let auth = format!("Host: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n");
    let large = "x".repeat(2 << 20);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let posted = |body: &str| {
        let kind = "Content-Type: application/json\r\nContent-Length:";
        format!("POST /api/memories HTTP/1.1\r\n{auth}{kind} {}\r\n\r\n{body}", body.len())
    };
    for (text, expected) in [
        (format!("GET http://evil.example/api/status HTTP/1.1\r\n{auth}\r\n"), &[400][..]),
        (format!("GET /api/status HTTP/1.1\r\nHost: {host}\r\n{auth}\r\n"), &[400, 421]),
        (format!("GET /api/../api/status HTTP/1.1\r\n{auth}\r\n"), &[404]),
        (format!("GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n{auth}\r\n"), &[404]),
        (format!("GET /api/memories/%00%0d%0a HTTP/1.1\r\n{auth}\r\n"), &[400, 404]),
        (format!("GET /api/memories/..%2f..%2fx HTTP/1.1\r\n{auth}\r\n"), &[400, 404]),
        (format!("TRACE /api/status HTTP/1.1\r\n{auth}\r\n"), &[405]),
        (format!("DELETE /api/status HTTP/1.1\r\n{auth}\r\n"), &[405]),
        (format!("GET /api/memories?limit=x HTTP/1.1\r\n{auth}\r\n"), &[400]),
        (format!("GET /api/memories?nothing=1 HTTP/1.1\r\n{auth}\r\n"), &[400]),
        (format!("GET /api/memories?project=/etc HTTP/1.1\r\n{auth}\r\n"), &[404]),
        (format!("GET /api/memories?project=../x HTTP/1.1\r\n{auth}\r\n"), &[404]),
        (format!("GET /{} HTTP/1.1\r\n{auth}\r\n", "a".repeat(9000)), &[414]),
        (format!("GET / HTTP/1.1\r\n{auth}X: {}\r\n\r\n", "y".repeat(60_000)), &[431, 0]),
        (posted("{"), &[400]),
        (posted("[1]"), &[400]),
        (posted("{\"title\": 1}"), &[400]),
        (posted(&deep), &[400]),
        (posted(&large), &[413]),
        ("nonsense\r\n\r\n".to_owned(), &[400, 0]),
    ] {
        let (status, answer) = served.raw(&text);
        let shown: String = text.chars().take(120).collect();
        assert!(expected.contains(&status), "{status} {shown}\n{answer}");
    }
    assert_eq!(served.get("/api/health")["status"], "ok");
    assert_eq!(home.json(&["memory", "list"]).1["total"], 1);
}

#[test]
fn no_request_reads_a_file_or_a_folder_that_it_names() {
    let (home, _) = with_memory();
    let served = Served::start(&home);
    let refused = |verb: &str, path: &str, body: &Value| {
        let asked = served.client().ask::<Value>(verb, path, body);
        asked.unwrap_err().or_hint("").code
    };
    let explore = json!({ "project": home.root() });
    assert_eq!(refused("POST", "/v1/explore", &explore), ErrorCode::NoProject);
    let ask = json!({ "question": "x", "scripted": "/etc/passwd" });
    assert_eq!(refused("POST", "/api/ask?wait=true", &ask), ErrorCode::Refused);
    let set = json!({ "key": "providers.openai.base_url", "value": "http://evil.example" });
    assert_eq!(refused("PATCH", "/api/config", &set), ErrorCode::Refused);
}

fn login_code(served: &Served) -> String {
    served.post("/api/login-code", &json!({}))["code"].as_str().unwrap().to_owned()
}

/// Sends a login code as one of the server's pages would. Returns the response.
fn log_in(served: &Served, code: &str) -> (u16, String) {
    let body = json!({ "code": code }).to_string();
    let host = &served.address;
    served.raw(&format!(
        "POST /api/login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    ))
}

/// Logs in and returns the page's secret.
fn page_secret(served: &Served, code: &str) -> String {
    let (status, answer) = log_in(served, code);
    assert_eq!(status, 200, "{answer}");
    // Browsers send cookies to programs on every other port of this machine.
    assert!(!answer.to_lowercase().contains("set-cookie"), "{answer}");
    assert!(answer.contains("cache-control: no-store"), "{answer}");
    let body = answer.split("\r\n\r\n").nth(1).unwrap();
    serde_json::from_str::<Value>(body).unwrap()["secret"].as_str().unwrap().to_owned()
}

#[test]
fn a_browser_is_let_in_once_by_a_link() {
    let (home, _) = with_memory();
    let served = Served::start(&home);
    let link = home.json(&["dashboard", "--print"]).1["link"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&format!("http://{}/#code=", served.address)), "{link}");
    let code = link.split("#code=").nth(1).unwrap();
    let (code, project) = code.split_once('&').unwrap();
    assert_eq!(project, "project=work");
    assert_eq!(log_in(&served, "wrong").0, 401);
    let secret = page_secret(&served, code);
    assert_eq!(log_in(&served, code).0, 401);
    let with = |verb: &str, path: &str, more: &str| {
        served.raw(&format!(
            "{verb} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {secret}\r\nConnection: close\r\n{more}\r\n",
            served.address
        ))
    };
    let origin = format!("http://{}", served.address);
    assert_eq!(with("GET", "/api/memories", "").0, 200);
    // A request that changes something must include the origin of its page.
    assert_eq!(with("DELETE", "/api/memories/x", "").0, 401);
    assert_eq!(with("DELETE", "/api/memories/x", &format!("Origin: {origin}\r\n")).0, 404);
    assert_eq!(with("DELETE", "/api/memories/x", "Origin: http://evil.example\r\n").0, 403);
    // A second login does not log out the first page.
    let other = page_secret(&served, &login_code(&served));
    assert_ne!(other, secret);
    assert_eq!(with("GET", "/api/memories", "").0, 200);
}

#[test]
fn a_page_is_served_under_a_strict_policy() {
    let (home, _) = with_memory();
    let served = Served::start(&home);
    let (status, page) = served
        .raw(&format!("GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address));
    assert_eq!(status, 200);
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cross-origin-opener-policy: same-origin",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(page.contains(header), "{header}\n{page}");
    }
}

#[cfg(unix)]
#[test]
fn there_is_one_server_a_home_and_it_ends_in_order() {
    use std::os::unix::fs::PermissionsExt as _;
    let (home, _) = with_memory();
    let served = Served::start(&home);
    let second = home.run(&["serve", "--port", "0"]);
    assert!(second.contains("nacre serve") && second.ends_with("[exit 4]\n"), "{second}");
    let run = run_folder(&home);
    for name in ["token", "address"] {
        let mode = std::fs::metadata(run.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    let door = ServerAddress::Socket(run.join("socket"));
    let by_socket = Client::new(FoundService { address: String::new(), door });
    assert_eq!(by_socket.get::<Value>("/api/memories", &()).unwrap()["total"], 1);
    let token = served.token.clone();
    assert_eq!(served.stop(), 0);
    assert!(!run.join("address").exists() && !run.join("socket").exists());
    assert!(home.run(&["dashboard", "--print"]).contains("nacre serve"));
    // A server rejects an earlier server's token, so clients read the token file again.
    let again = Served::start(&home);
    let old = Served::client_with(&again.address, &token).get::<Value>("/api/status", &());
    assert_eq!(old.unwrap_err().or_hint("").code, ErrorCode::Refused);
    again.get("/api/status");
}

#[cfg(unix)]
#[test]
fn nobody_who_took_the_port_of_a_killed_server_is_told_anything() {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    let (home, _) = with_memory();
    let mut served = Served::start(&home);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let (address, socket) = (run_folder(&home).join("address"), run_folder(&home).join("socket"));
    assert_eq!(fs::read_to_string(&address).unwrap(), served.address, "it was killed");
    let stranger = TcpListener::bind(&served.address).unwrap();
    stranger.set_nonblocking(true).unwrap();
    let ask_all = || {
        let shown = home.run(&["dashboard", "--print"]);
        assert!(shown.contains("nacre serve") && !shown.contains("#code="), "{shown}");
        for arguments in
            [&["status"][..], &["memory", "search", "x"], &["serve", "--check"], &["down"]]
        {
            home.run(arguments);
        }
        let reached = stranger.accept().map(drop).unwrap_err();
        assert_eq!(reached.kind(), std::io::ErrorKind::WouldBlock);
    };
    ask_all();
    // Even without a socket file, the free lock shows that no server is running.
    fs::remove_file(&socket).unwrap();
    ask_all();
    // Without its socket file, a running server is reached through its port.
    drop(stranger);
    let again = Served::start(&home);
    fs::remove_file(&socket).unwrap();
    let link = home.json(&["dashboard", "--print"]).1["link"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&format!("http://{}/#code=", again.address)), "{link}");
    // A server that does not respond must not block the command forever.
    let _silent = UnixListener::bind(&socket).unwrap();
    let shown = home.run(&["dashboard", "--print"]);
    assert!(shown.contains("is not responding") && !shown.contains("#code="), "{shown}");
}

#[test]
fn a_client_tells_what_is_no_server_of_ours() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answers = ["", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n{", "HTTP/1.1 500 x\r\n\r\n"];
    let server = std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
            while !head.next().unwrap().unwrap().is_empty() {}
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let client = Served::client_with(&address, "x");
    for answer in answers {
        let error = client.get::<Value>("/api/health", &()).unwrap_err();
        assert!(matches!(error, ClientError::Broken(_)), "{answer:?}: {error:?}");
    }
    server.join().unwrap();
    let error = client.get::<Value>("/api/health", &()).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
    let far = Served::client_with("192.0.2.1:80", "x").get::<Value>("/api/health", &());
    assert!(
        matches!(far, Err(ClientError::Unreachable(_))),
        "the token goes to this machine alone"
    );
}
