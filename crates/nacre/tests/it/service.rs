//! Tests `nacre up`, `down` and `logs`, and the server's background work, with real processes but
//! no service manager.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

/// A server that is stopped at the end of the test, even if it fails.
struct Up<'h>(&'h TestHome);

impl<'h> Up<'h> {
    fn start(home: &'h TestHome, more: &[&str]) -> (Self, Value) {
        let up = Self(home);
        let args = [&["up", "--no-unit", "--port", "0"], more].concat();
        let (code, report) = home.json(&args);
        assert_eq!(code, 0, "{report}");
        (up, report)
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        let _ = self.0.command(&self.0.work(), &["down"]).output();
    }
}

/// Sends a request to the server's socket file. Returns the status and the body.
fn ask(home: &TestHome, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if method == "GET" { String::new() } else { body.to_string() };
    let mut stream = UnixStream::connect(home.root().join(".nacre/run/socket")).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// The server's event stream.
struct Stream(BufReader<UnixStream>);

impl Stream {
    /// Opens the stream, and returns once the server has started to send events.
    fn open(home: &TestHome) -> Self {
        let mut stream = UnixStream::connect(home.root().join(".nacre/run/socket")).unwrap();
        stream.write_all(b"GET /api/events HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut stream = Self(BufReader::new(stream));
        while stream.line() != ": listening" {}
        stream
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
        line.trim_end().to_owned()
    }

    /// Returns the next event that matches.
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = self.line();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).unwrap();
            if is_it(&event) {
                return event;
            }
        }
    }

    fn until_state(&mut self, agent: &str, state: &str) -> Value {
        self.until(|event| {
            event["event"] == "task" && event["agent"] == agent && event["state"] == state
        })
    }
}

fn loop_of<'r>(report: &'r Value, name: &str) -> &'r Value {
    let loops = report["loops"].as_array().unwrap();
    loops.iter().find(|entry| entry["name"] == name).unwrap()
}

#[test]
fn it_runs_by_itself_until_it_is_told_to_stop() {
    let home = TestHome::new();
    let (up, report) = Up::start(&home, &[]);
    assert_eq!((&report["state"], &report["manager"]), (&json!("started"), &json!("process")));
    let address = report["address"].as_str().unwrap().to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let (code, again) = home.json(&["up", "--no-unit"]);
    assert_eq!((code, &again["state"], &again["address"]), (0, &json!("running"), &json!(address)));
    assert!(home.ok(&["up", "--no-unit"]).starts_with("Already running on http://127.0.0.1:"));
    assert!(home.ok(&["serve", "--check"]).starts_with("The server is responding"));
    let second = home.run(&["serve", "--port", "0"]);
    assert!(second.contains("nacre down") && second.ends_with("[exit 4]\n"), "{second}");
    assert!(home.ok(&["status"]).contains(&format!("Server http://{address}\n")));
    let (code, down) = home.json(&["down"]);
    assert_eq!((code, &down["stopped"], &down["address"]), (0, &json!(true), &json!(address)));
    assert!(!home.root().join(".nacre/run/address").exists());
    assert!(!home.root().join(".nacre/run/socket").exists());
    let (code, down) = home.json(&["down"]);
    assert_eq!((code, &down["stopped"]), (0, &json!(false)));
    assert!(!home.ok(&["status"]).contains("Server"));
    let checked = home.run(&["serve", "--check"]);
    assert!(checked.contains("nacre up") && checked.ends_with("[exit 1]\n"), "{checked}");
    drop(up);
    let (_, logs) = home.json(&["logs"]);
    let lines: Vec<&str> =
        logs["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let has = |part: &str| lines.iter().any(|line| line.contains(part));
    assert!(has("event=start") && has(&format!("address={address}")) && has("event=stop"));
    let (_, last) = home.json(&["logs", "-n", "1"]);
    assert_eq!(last["lines"].as_array().map(Vec::len), Some(1));
    assert_eq!(last["lines"][0].as_str(), lines.last().copied());
}

#[test]
fn logs_follow_what_is_written_until_ctrl_c() {
    let home = TestHome::new();
    let (_up, _) = Up::start(&home, &["--pause"]);
    let mut command = home.command(&home.work(), &["logs", "-f", "-n", "1"]);
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().contains("event=start"));
    assert_eq!(ask(&home, "POST", "/api/service/resume", &json!({})).0, 200);
    assert!(lines.next().unwrap().contains("event=resumed"));
    crate::home::interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_log_that_is_not_there_says_what_to_type() {
    let home = TestHome::new();
    assert_eq!(home.run(&["logs"]), "$HOME/.nacre/logs/service.log is empty\nNext: nacre up\n");
}

#[test]
fn why_it_cannot_start_is_told() {
    let home = TestHome::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let told = home.run(&["up", "--no-unit", "--port", &port]);
    assert!(told.starts_with(&format!("Error: Cannot listen on port {port}")), "{told}");
    assert!(told.contains("Hint: ") && told.ends_with("[exit 1]\n"), "{told}");
}

#[test]
fn a_pause_is_kept_over_a_restart() {
    let home = TestHome::new();
    let (up, report) = Up::start(&home, &["--pause"]);
    assert_eq!(report["paused"], true);
    let (_, service) = ask(&home, "GET", "/api/service", &Value::Null);
    assert_eq!(loop_of(&service, "sync")["state"], "paused");
    assert_eq!(loop_of(&service, "sync")["next"], Value::Null);
    drop(up);
    let (_up, report) = Up::start(&home, &[]);
    assert_eq!(report["paused"], true, "nobody resumed it");
    assert!(home.ok(&["status"]).contains(", paused\n"));
    let (_, report) = home.json(&["up", "--no-unit", "--resume"]);
    assert_eq!((&report["state"], &report["paused"]), (&json!("running"), &json!(false)));
    let (_, service) = ask(&home, "GET", "/api/service", &Value::Null);
    assert_eq!(loop_of(&service, "sync")["state"], "idle");
}

#[test]
fn a_hook_wakes_the_server() {
    let home = reading().with_var("NACRE_HOOKS_SYNC", "true");
    talk(&home, "one", 1, PNPM);
    let (_up, _) = Up::start(&home, &[]);
    let mut events = Stream::open(&home);
    let mut command = home.command(&home.work(), &["hook", "claude", "turn-end"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = command.spawn().unwrap();
    let input = json!({ "session_id": "s", "cwd": home.work(), "reason": "other" });
    hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    assert_eq!(home.render(&hook.wait_with_output().unwrap()), "");
    events.until_state("sync", "completed");
    events.until(|event| event["event"] == "changed" && event["what"] == "memories");
    let (_, listed) = home.json(&["memory", "list"]);
    assert_eq!(listed["memories"].as_array().map(Vec::len), Some(1), "{listed}");
    let (_, service) = ask(&home, "GET", "/api/service", &Value::Null);
    let result = loop_of(&service, "sync")["last_result"].as_str().unwrap().to_owned();
    assert!(result.starts_with("1 sessions read, 1 processed"), "{result}");
}

#[test]
fn a_server_without_loops_begins_nothing() {
    let home = TestHome::new();
    let mut server = Server::start(&home, &["--no-loops"]);
    let (_, service) = ask(&home, "GET", "/api/service", &Value::Null);
    assert_eq!(service["loops"], json!([]));
    for path in ["wake", "pause", "resume"] {
        let (status, error) = ask(&home, "POST", &format!("/api/service/{path}"), &json!({}));
        assert_eq!((status, &error["error"]["code"]), (409, &json!("conflict")), "{path}");
    }
    let (status, _) = ask(&home, "POST", "/api/service/wake", &json!({ "loops": ["everything"] }));
    assert_eq!(status, 400);
    server.kill();
    assert!(!home.ok(&["status"]).contains("Server"), "its address is still there");
    assert!(home.ok(&["down"]).starts_with("No server was running"));
}

#[test]
fn the_compose_file_is_the_persons_alone_and_lets_it_write_into_stores_only() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = TestHome::new();
    let shown = home.ok(&["up", "--docker"]);
    assert!(shown.contains("Next: docker compose -f $HOME/.nacre/docker/compose.yaml up -d"));
    let file = home.root().join(".nacre/docker/compose.yaml");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(file).unwrap();
    let writable: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("read_only: false"))
        .map(|line| line.split('"').nth(1).unwrap())
        .collect();
    let (root, store) = (home.root().join(".nacre"), home.store(""));
    let wanted = [root.to_str().unwrap(), store.to_str().unwrap().trim_end_matches('/')];
    assert_eq!(writable, wanted);
    assert!(!home.root().join(".nacre/run/address").exists(), "nothing was started");
}

/// A server that runs in the foreground and can be killed.
struct Server(Child);

impl Server {
    fn start(home: &TestHome, more: &[&str]) -> Self {
        let args = [&["serve", "--port", "0"], more].concat();
        let mut command = home.command(&home.work(), &args);
        command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.starts_with("Serving on "), "{first}");
        Self(child)
    }

    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Wakes a loop, and kills the server while the loop's task is running.
fn kill_within(home: &TestHome, name: &str) {
    let mut server = Server::start(home, &[]);
    let mut events = Stream::open(home);
    assert_eq!(ask(home, "POST", "/api/service/wake", &json!({ "loops": [name] })).0, 200);
    events.until_state(name, "running");
    server.kill();
}

/// Returns the states of a workflow's tasks, latest first.
fn states(home: &TestHome, agent: &str) -> Vec<String> {
    let (_, tasks) = ask(home, "GET", "/api/tasks?limit=0", &Value::Null);
    let tasks = tasks["tasks"].as_array().unwrap().iter();
    let of_agent = tasks.filter(|task| task["agent"] == agent);
    of_agent.map(|task| task["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_that_was_killed_in_a_sync_leaves_no_lie() {
    let home = reading();
    for number in 1..=9 {
        talk(&home, &format!("talk-{number}"), number, PNPM);
    }
    kill_within(&home, "sync");
    let _server = Server::start(&home, &[]);
    let after = states(&home, "sync");
    assert!(after == ["failed"] || after == ["completed"], "{after:?}");
    let mut events = Stream::open(&home);
    assert_eq!(ask(&home, "POST", "/api/service/wake", &json!({})).0, 200);
    events.until_state("sync", "completed");
    let (_, queue) = ask(&home, "GET", "/api/queue?limit=0", &Value::Null);
    let jobs = queue["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 9);
    assert!(jobs.iter().all(|job| job["state"] == "done"), "{queue}");
    let (_, listed) = home.json(&["memory", "list", "--limit", "0"]);
    assert_eq!(listed["memories"].as_array().map(Vec::len), Some(1), "one claim, once: {listed}");
    assert_eq!(home.json(&["doctor"]).1["errors"], 0);
}

#[test]
fn a_server_that_was_killed_in_a_maintenance_leaves_no_lie() {
    let home = reading();
    for number in 1..=9 {
        home.add(&format!("Use tool number {number} for the build"), &[]);
    }
    let before = home.json(&["memory", "list", "--limit", "0"]).1;
    kill_within(&home, "maintain");
    let _server = Server::start(&home, &[]);
    let after = states(&home, "maintain");
    assert!(after == ["failed"] || after == ["completed"], "{after:?}");
    let mut events = Stream::open(&home);
    let wake = json!({ "loops": ["maintain"] });
    assert_eq!(ask(&home, "POST", "/api/service/wake", &wake).0, 200);
    events.until_state("maintain", "completed");
    let after = home.json(&["memory", "list", "--limit", "0"]).1;
    assert_eq!(
        after["memories"].as_array().map(Vec::len),
        before["memories"].as_array().map(Vec::len)
    );
    assert_eq!(home.json(&["doctor"]).1["errors"], 0);
}
