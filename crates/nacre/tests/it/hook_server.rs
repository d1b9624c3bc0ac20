//! Tests `nacre hook` with a running server: the answer is the same with or without it, and a
//! server that does not respond does not delay the hook.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::thread::JoinHandle;

use nacre_traces::agents::hook_contracts;
use serde_json::{Value, json};

use crate::home::TestHome;

const EVENTS: [&str; 7] =
    ["start", "prompt", "before-tool", "after-tool", "subagent", "turn-end", "session-end"];

const PROMPT: &str = "how do we deploy to production?";
const TITLE: &str = "Deploy with make ship from the release branch";

/// Creates a home with a memory and a guard. The settings are in files, because a hook with
/// settings in environment variables does not use the server.
fn home(deadline_ms: &str) -> TestHome {
    let home = TestHome::new().with_var("NACRE_HOOKS_DEADLINE_MS", deadline_ms);
    home.ok(&["config", "set", "hooks.guard", "true"]);
    home.ok(&["config", "set", "hooks.sync", "false"]);
    let body = "The pipeline of main cannot deploy to production. It fails late.";
    home.add(TITLE, &["--body", body]);
    home
}

fn hook(home: &TestHome, agent: &str, event: &str, stdin: &Value) -> Output {
    let mut command = home.command(&home.work(), &["hook", agent, event]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin.to_string().as_bytes());
    child.wait_with_output().unwrap()
}

/// Returns the output of a Claude Code hook, which must succeed.
#[track_caller]
fn said(home: &TestHome, event: &str, session: &str) -> String {
    let output = hook(home, "claude", event, &json!({"session_id": session, "prompt": PROMPT}));
    assert_eq!((output.stderr.as_slice(), output.status.code()), (&b""[..], Some(0)));
    String::from_utf8(output.stdout).unwrap()
}

/// A server that is stopped at the end of the test, even if it fails.
struct Up<'h>(&'h TestHome);

impl<'h> Up<'h> {
    fn start(home: &'h TestHome) -> Self {
        let up = Self(home);
        home.ok(&["up", "--no-unit", "--port", "0"]);
        up
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        let _ = self.0.command(&self.0.work(), &["down"]).output();
    }
}

/// A fake server that sends `answer` and returns what each caller sent.
struct Pretended(JoinHandle<Vec<String>>);

impl Pretended {
    fn listen(home: &TestHome, n_callers: usize, answer: impl Into<Vec<u8>>) -> Self {
        let (listener, answer) = (bind(home), answer.into());
        let talk = move || {
            let callers = (0..n_callers).map(|_| listener.accept().unwrap().0);
            callers.map(|caller| answer_one(caller, &answer)).collect()
        };
        Self(std::thread::spawn(talk))
    }

    fn heard(self) -> Vec<String> {
        self.0.join().unwrap()
    }
}

/// Reads one request and answers it.
fn answer_one(stream: UnixStream, answer: &[u8]) -> String {
    let (mut request, mut length) = (String::new(), 0);
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let is_end = line.trim_end().is_empty();
        let header = line.to_lowercase();
        length =
            header.strip_prefix("content-length: ").map_or(length, |n| n.trim().parse().unwrap());
        request.push_str(&line);
        if is_end {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    request.push_str(std::str::from_utf8(&body).unwrap());
    // A caller that rejects the answer may already have exited.
    let _ = reader.into_inner().write_all(answer);
    request
}

fn bind(home: &TestHome) -> UnixListener {
    let run = home.root().join(".nacre/run");
    fs::create_dir_all(&run).unwrap();
    let socket = run.join("socket");
    let _ = fs::remove_file(&socket);
    UnixListener::bind(socket).unwrap()
}

fn ok(report: &Value) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{report}")
}

#[test]
fn what_a_server_says_is_what_the_hook_says_itself() {
    let home = home("60000");
    let cwd = home.work().display().to_string();
    let every =
        || hook_contracts().flat_map(|(agent, _)| EVENTS.iter().map(move |event| (agent, *event)));
    let all = |by: &str| -> Vec<(String, String, Option<i32>)> {
        let one = |(agent, event): (&str, &str)| {
            let session = format!("{by}-{agent}-{event}");
            let stdin = json!({"session_id": session, "sessionId": session, "conversation_id": session,
                "cwd": cwd, "workspace_roots": [cwd], "prompt": PROMPT, "tool_name": "Write",
                "toolName": "create", "toolArgs": "{\"path\": \"../x\", \"file_text\": \"y\"}",
                "tool_input": {"file_path": "../x", "content": "y"}});
            let output = hook(&home, agent, event, &stdin);
            let text = |bytes| String::from_utf8(bytes).unwrap();
            (text(output.stdout), text(output.stderr), output.status.code())
        };
        every().map(one).collect()
    };
    let alone = all("alone");
    let n_notes = alone.iter().filter(|(stdout, ..)| stdout.contains("make ship")).count();
    assert!(n_notes > hook_contracts().count());
    let _up = Up::start(&home);
    for ((agent, event), (own, servers)) in every().zip(alone.iter().zip(&all("server"))) {
        assert_eq!(own, servers, "{agent} {event}");
    }
}

#[test]
fn the_server_of_this_home_is_asked_once_and_believed() {
    let home = home("60000");
    let report = json!({"text": "<nacre-memory>\nfrom afar\n</nacre-memory>", "denied": null,
        "ask": "", "work": null});
    let server = Pretended::listen(&home, 1, ok(&report));
    assert!(said(&home, "prompt", "s").contains("from afar"));
    let heard = server.heard();
    assert!(heard[0].starts_with("POST /api/hook HTTP/1.1\r\n"), "{heard:?}");
    let body: Value = serde_json::from_str(heard[0].split_once("\r\n\r\n").unwrap().1).unwrap();
    let session = json!({"agent": "claude", "id": "s"});
    let question = json!({"event": "prompt", "session": session, "prompt": PROMPT, "trace": null,
        "is_failure": false});
    let folder = home.work().display().to_string();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(body, json!({"version": version, "folder": folder, "question": question}));
}

#[test]
fn no_memory_is_told_twice_whoever_tells_it() {
    let home = home("60000");
    assert!(said(&home, "prompt", "before").contains("make ship"));
    {
        let _up = Up::start(&home);
        assert_eq!(said(&home, "prompt", "before"), "");
        assert!(said(&home, "prompt", "after").contains("make ship"));
    }
    assert_eq!(said(&home, "prompt", "after"), "");
}

#[test]
fn a_server_that_makes_no_sense_is_done_without() {
    let home = home("60000");
    let conflict = json!({"error": {"code": "conflict", "message": "another version"}});
    for (number, answer) in [
        String::new(),
        "garbage".to_owned(),
        "HTTP/1.1 200 OK\r\n\r\n{}".to_owned(),
        "HTTP/1.1 200 OK\r\n\r\n{\"text\": 7}".to_owned(),
        "HTTP/1.1 404 Not Found\r\n\r\n".to_owned(),
        format!("HTTP/1.1 409 Conflict\r\n\r\n{conflict}"),
        "HTTP/1.1 500 Internal Server Error\r\n\r\n\u{0}".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let server = Pretended::listen(&home, 1, answer.clone());
        let told = said(&home, "prompt", &format!("s{number}"));
        assert!(told.contains("make ship"), "{answer:?}: {told:?}");
        server.heard();
    }
    // The socket file of a server that was killed.
    drop(bind(&home));
    assert!(said(&home, "prompt", "left").contains("make ship"));
}

#[test]
fn a_server_that_hangs_is_not_waited_for() {
    let home = home("10000");
    let listener = bind(&home);
    let told = said(&home, "prompt", "s");
    assert!(told.contains("make ship"), "{told:?}");
    drop(listener);
}

#[test]
fn a_hook_with_settings_of_its_own_answers_itself() {
    let home = home("60000").with_var("NACRE_HOOKS_PROMPT_TOKENS", "0");
    let listener = bind(&home);
    listener.set_nonblocking(true).unwrap();
    assert_eq!(said(&home, "prompt", "s"), "");
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn work_that_is_left_goes_to_the_server_that_answered() {
    let home = home("60000");
    let report = json!({"text": "", "denied": null, "ask": "", "work": "sync"});
    let server = Pretended::listen(&home, 2, ok(&report));
    assert_eq!(said(&home, "turn-end", "s"), "");
    let heard = server.heard();
    assert!(heard[1].starts_with("POST /api/service/wake HTTP/1.1\r\n"), "{heard:?}");
    assert!(heard[1].ends_with(r#"{"loops":["index","sync"]}"#), "{heard:?}");
}

#[test]
fn a_folder_that_is_none_and_another_version_are_refused() {
    let home = home("60000");
    let _up = Up::start(&home);
    let ask = |version: &str, folder: PathBuf| {
        let question = json!({"event": "start", "session": {"agent": "claude"}});
        let body = json!({"version": version, "folder": folder, "question": question}).to_string();
        let mut stream = UnixStream::connect(home.root().join(".nacre/run/socket")).unwrap();
        let head = format!(
            "POST /api/hook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse::<u16>().unwrap()
    };
    let own = env!("CARGO_PKG_VERSION");
    assert_eq!(ask(own, home.work()), 200);
    assert_eq!(ask("0.0.0", home.work()), 409);
    assert_eq!(ask(own, PathBuf::from("work")), 400);
    assert_eq!(ask(own, home.root().join("nowhere")), 400);
}
