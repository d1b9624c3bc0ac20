//! Tests that a revoked token gives no access, and neither do requests by path.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::chat_rpc::{Wire, playing};
use crate::home::TestHome;
use crate::people::{ask, token};
use crate::serve::Served;
use crate::websocket::WebSocket;

/// Revokes the user's only token with a given scope.
fn revoke(home: &TestHome, person: &str, scope: &str) {
    let (_, listed) = home.json(&["server", "token", person]);
    let tokens = listed["tokens"].as_array().unwrap();
    let found = tokens.iter().find(|token| token.to_string().contains(scope));
    let id = found.unwrap_or_else(|| panic!("{listed}"))["id"].as_str().unwrap();
    home.ok(&["server", "token", "revoke", id]);
}

fn log_in(served: &Served, token: &str) -> String {
    let (status, body) = ask(served, token, "POST", "/api/login-code", &json!({}));
    assert_eq!(status, 200, "{body}");
    let code: Value = serde_json::from_str(&body).unwrap();
    let (status, body) = ask(served, "", "POST", "/api/login", &json!({ "code": code["code"] }));
    assert_eq!(status, 200, "{body}");
    let report: Value = serde_json::from_str(&body).unwrap();
    report["secret"].as_str().unwrap().to_owned()
}

#[test]
fn a_page_ends_with_the_token_that_logged_it_in() {
    let home = TestHome::new();
    let admin = token(&home, &["boss", "--scope", "admin"]);
    let reader = token(&home, &["boss", "--scope", "read", "--in", "work"]);
    let served = Served::start(&home);
    let (page, other) = (log_in(&served, &admin), log_in(&served, &reader));
    let status = |secret: &str, target: &str| ask(&served, secret, "GET", target, &json!({})).0;
    assert_eq!((status(&page, "/api/config"), status(&other, "/api/config")), (200, 403));
    revoke(&home, "boss", "admin");
    // Boss has another token, but the page has only the permissions of its own.
    assert_eq!((status(&page, "/api/config"), status(&page, "/api/memories")), (401, 401));
    assert_eq!((status(&other, "/api/memories"), status(&reader, "/api/memories")), (200, 200));
}

#[test]
fn a_flood_of_logins_ends_no_page_of_another_person() {
    let home = TestHome::new();
    let reader = token(&home, &["ana", "--in", "work"]);
    let served = Served::start(&home);
    let page = log_in(&served, &served.token);
    for _ in 0..70 {
        log_in(&served, &reader);
    }
    assert_eq!(ask(&served, &page, "GET", "/api/config", &json!({})).0, 200);
}

#[test]
fn a_flood_of_streams_keeps_nobody_else_from_listening() {
    let home = TestHome::new();
    let (ana, bo) = (token(&home, &["ana", "--in", "work"]), token(&home, &["bo", "--in", "work"]));
    let served = Served::start(&home);
    let flood: Vec<TcpStream> = (0..64).map(|_| listen(&served, &ana)).collect();
    let (status, body) = ask(&served, &ana, "GET", "/api/events", &json!({}));
    assert_eq!(status, 503, "{body}");
    listen(&served, &bo);
    listen(&served, &served.token);
    drop(flood);
}

#[test]
fn open_chat_connections_close_when_their_token_is_revoked() {
    let home = TestHome::new();
    let admin = token(&home, &["boss", "--scope", "admin"]);
    let served = Served::start(&home);
    let mut wire = Wire::open_as(&served, &admin);
    let idle = Wire::open_as(&served, &admin);
    let mut socket = WebSocket::open_as(&served, &admin);
    let mut owner = Wire::open(&served);
    wire.session(&home, "full");
    revoke(&home, "boss", "admin");
    let create = json!({ "id": 9, "method": "session.create", "params": { "policy": "full" } });
    assert_eq!(wire.read_to_end(&format!("{create}\n")), "", "nothing is answered");
    assert_eq!(idle.read_to_end(""), "", "also a silent one ends");
    assert_eq!(socket.receive().ok().flatten(), None);
    // Only the earlier session exists.
    let listed = owner.ask("session.list", &json!({}));
    assert_eq!(listed["result"]["sessions"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_turn_in_the_queue_is_cancelled_with_the_token_that_asked_for_it() {
    let home = TestHome::new();
    let admin = token(&home, &["boss", "--scope", "admin"]);
    // The first turn asks for approval, so it keeps running until the request is answered.
    let edit = json!({ "path": "new.txt", "content": "x" });
    let model = playing(vec![vec![("file_create", edit)]]);
    model.set_for(&home, "chat");
    let served = Served::start(&home);
    let (mut wire, mut owner) = (Wire::open_as(&served, &admin), Wire::open(&served));
    let session = owner.session(&home, "ask");
    let first = owner.start(&session, "Make the file");
    owner.until(&first, "approval.request");
    let second = wire.start(&session, "And another");
    wire.until(&second, "task.queued");
    revoke(&home, "boss", "admin");
    owner.ask("task.follow", &json!({ "task": second, "after": 0 }));
    owner.until(&second, "task.cancelled");
    owner.ask("chat.abort", &json!({ "task": first }));
    owner.until(&first, "task.cancelled");
}

fn listen(served: &Served, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let host = &served.address;
    let head = format!(
        "GET /api/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    hear(&mut stream, "listening");
    stream
}

/// Reads until a word is received or the stream ends.
fn hear(stream: &mut TcpStream, word: &str) -> String {
    let (mut heard, mut piece) = (String::new(), [0; 4096]);
    while !heard.contains(word) {
        match stream.read(&mut piece).unwrap() {
            0 => break,
            n_read => heard.push_str(&String::from_utf8_lossy(&piece[..n_read])),
        }
    }
    heard
}

#[test]
fn an_event_stream_ends_with_its_token_and_gets_no_event_after() {
    let home = TestHome::new();
    let (ana, bo) = (token(&home, &["ana", "--in", "work"]), token(&home, &["bo", "--in", "work"]));
    let served = Served::start(&home);
    let (mut revoked, mut valid) = (listen(&served, &ana), listen(&served, &bo));
    let change = |title: &str| {
        let body = json!({ "type": "learning", "title": title, "body": "So it was said." });
        let (status, body) =
            ask(&served, &served.token, "POST", "/api/memories?project=work", &body);
        assert_eq!(status, 200, "{body}");
    };
    change("Pin the linter");
    assert!(hear(&mut revoked, "changed").contains("changed"));
    assert!(hear(&mut valid, "changed").contains("changed"));
    revoke(&home, "ana", "ana");
    change("Ship on Tuesdays");
    assert!(hear(&mut valid, "changed").contains("changed"));
    let rest = hear(&mut revoked, "changed");
    assert!(!rest.contains("changed"), "{rest}");
}

#[test]
fn a_request_reads_no_file_because_it_names_one() {
    let home = TestHome::new();
    let admin = token(&home, &["boss", "--scope", "admin"]);
    let served = Served::start(&home);
    let file = home.root().join("notes.jsonl");
    let line =
        json!({ "type": "user", "text": "Pinned by the user", "time": "2026-11-01T10:00:00Z" });
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let (path, missing) = (file.display().to_string(), format!("{}.no", file.display()));
    // On the command line, a path is allowed.
    assert!(home.run(&["trace", "show", &path]).contains("Pinned by the user"));
    for token in [&served.token, &admin] {
        let told = |path: &str| {
            let target = format!("/api/sessions/{}", path.replace('/', "%2F"));
            let (status, body) = ask(&served, token, "GET", &target, &json!({}));
            (status, body.replace(path, "PATH"))
        };
        assert_eq!(told(&path).0, 404);
        assert_eq!(told(&path), told(&missing), "whether it exists is not told");
        // A hook may not run in a directory that another user chose.
        let hook = |folder: &str| {
            let body = json!({ "version": "0", "folder": folder,
                "question": { "event": "start" } });
            let (status, body) = ask(&served, token, "POST", "/api/hook", &body);
            (status, body.replace(folder, "PATH"))
        };
        if *token == admin {
            assert_eq!(hook(&home.work().display().to_string()), hook(&missing));
        }
    }
}

#[test]
fn a_chat_by_the_port_works_in_registered_projects_alone() {
    let home = TestHome::new();
    let served = Served::start(&home);
    let mut wire = Wire::open(&served);
    let mut create =
        |workspace: &str| wire.ask("session.create", &json!({ "workspace": workspace }));
    let inside = home.work().join("src");
    std::fs::create_dir_all(&inside).unwrap();
    let refused = create("/etc")["error"].clone();
    assert_eq!(refused["code"], "no_project", "{refused}");
    for other in ["/nowhere/at/all", "", ".", "/", "..", &*inside.display().to_string()] {
        assert_eq!(create(other)["error"], refused, "{other}");
    }
    for project in ["work", &*home.work().display().to_string()] {
        let made = create(project);
        assert_eq!(
            made["result"]["session"]["workspace"],
            home.work().display().to_string(),
            "{made}"
        );
    }
    // Only the owner can use the socket file.
    #[cfg(unix)]
    {
        let folder = home.root().join("elsewhere");
        std::fs::create_dir_all(&folder).unwrap();
        let socket = crate::serve::run_folder(&home).join("socket");
        let mut stream = std::os::unix::net::UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let head = "GET /rpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: nacre-rpc\r\n\r\n";
        let hello = json!({ "id": 1, "method": "hello", "params": { "version": 1 } });
        let create =
            json!({ "id": 2, "method": "session.create", "params": { "workspace": folder } });
        write!(stream, "{head}{hello}\n{create}\n").unwrap();
        let mut said = String::new();
        let mut byte = [0];
        while !said.contains("\"id\":2") || !said.ends_with('\n') {
            assert_eq!(stream.read(&mut byte).unwrap(), 1, "{said}");
            said.push(char::from(byte[0]));
        }
        assert!(said.contains("elsewhere"), "{said}");
    }
}
