//! Tests search with vectors from an embedding service (`search.embedding = "endpoint"`).

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::TestHome;

/// Starts an embedding service for which two words are synonyms.
fn start() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || listener.incoming().flatten().for_each(serve));
    address
}

fn serve(mut stream: TcpStream) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    let body = loop {
        let n = stream.read(&mut buffer).unwrap_or(0);
        request.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&request);
        let body =
            text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        if n == 0 || body.is_some() {
            break body.unwrap_or(Value::Null);
        }
    };
    let vector = |text: &Value| {
        let text = text.as_str().unwrap_or_default().to_lowercase();
        let is_about_food = text.contains("lunch") || text.contains("noodles");
        if is_about_food { [1.0, 0.0] } else { [0.0, 1.0] }
    };
    let texts = body["input"].as_array().cloned().unwrap_or_default();
    let data: Vec<Value> = texts.iter().map(|text| json!({ "embedding": vector(text) })).collect();
    let answer = json!({ "data": data }).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let _ = write!(stream, "{head}content-length: {}\r\n\r\n{answer}", answer.len());
}

#[test]
fn what_the_service_takes_for_the_same_is_found() {
    let home = TestHome::new();
    home.add("Noodles on Fridays", &["--body", "From the place at the corner."]);
    home.add("Name branches by topic", &["--body", "It keeps the list short."]);
    let home = home
        .with_var("NACRE_SEARCH_EMBEDDING", "endpoint")
        .with_var("NACRE_SEARCH_ENDPOINT_URL", &start())
        .with_var("NACRE_SEARCH_ENDPOINT_MODEL", "small");
    assert_snapshot!(home.run(&["memory", "search", "--mode", "semantic", "lunch"]), @"
    20261115-noodles-on-fridays  decision  2026-11-15  Noodles on Fridays
        From the place at the corner.
    ");
}

#[test]
fn a_service_that_is_not_set_or_not_there_is_told() {
    let home = TestHome::new().with_var("NACRE_SEARCH_EMBEDDING", "endpoint");
    assert_snapshot!(home.run(&["memory", "search", "lunch"]), @"
    Error: `search.endpoint_url` is not set
    Hint: nacre config set search.endpoint_url http://localhost:11434/v1
    [exit 1]
    ");
    let home = home
        .with_var("NACRE_SEARCH_ENDPOINT_URL", "https://user:secret@example.invalid/v1")
        .with_var("NACRE_SEARCH_ENDPOINT_MODEL", "small");
    let said = home.run(&["memory", "search", "lunch"]);
    assert!(said.contains("Cannot search with the embedding service"), "{said}");
    assert!(!said.contains("secret"), "{said}");
}

#[test]
fn a_repository_cannot_choose_the_service() {
    let home = TestHome::new();
    home.write("config.toml", "[search]\nendpoint_url = \"http://evil.invalid/v1\"\n");
    let said = home.run(&["memory", "search", "lunch"]);
    assert!(said.contains("search.endpoint_url"), "{said}");
    assert!(!said.contains("[exit 0]"), "{said}");
}
