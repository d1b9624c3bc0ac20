//! Tests for pages fetched from a real server, and for servers that must not be contacted.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use nacre_engine::model::Cancel;
use nacre_engine::record::Fault;
use nacre_engine::tools::{
    AddressGuard, AnyTool, Footprint, Output, ToolContext, ToolError, WebFetch, tool,
};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A server that returns the test's response for each path and stores the request headers.
#[derive(Clone)]
struct Site {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Site {
    async fn start(pages: impl Fn(SocketAddr) -> BTreeMap<&'static str, Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (pages, heads) = (Arc::new(pages(address)), Arc::<Mutex<Vec<String>>>::default());
        let kept = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&pages), Arc::clone(&kept)));
            }
        });
        Self { address, heads }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn requests(&self) -> usize {
        self.heads.lock().unwrap().len()
    }

    fn fetch_tool(&self) -> Arc<dyn AnyTool> {
        tool::<WebFetch>(AddressGuard { exceptions: vec![self.address] })
    }
}

async fn serve(
    mut stream: TcpStream,
    pages: Arc<BTreeMap<&'static str, Vec<u8>>>,
    kept: Arc<Mutex<Vec<String>>>,
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let path = head.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
    kept.lock().unwrap().push(head);
    let missing = page("404 Not Found", "text/plain", "nothing here");
    let _ = stream.write_all(pages.get(path.as_str()).unwrap_or(&missing)).await;
}

fn page(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

fn leads_to(target: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
    .into_bytes()
}

fn ctx() -> ToolContext {
    let nowhere = Arc::new(std::path::PathBuf::from("/nonexistent"));
    let now = "2026-03-01T12:00:00Z".parse().unwrap();
    ToolContext { workspace: Arc::clone(&nowhere), cancel: Cancel::new(), now, spill: nowhere }
}

async fn fetch(tool: &Arc<dyn AnyTool>, url: &str) -> Result<Output, ToolError> {
    tool.run(json!({ "url": url }), &ctx()).await
}

#[tokio::test]
async fn a_page_is_read_as_text() {
    let site = Site::start(|_| {
        BTreeMap::from([
            ("/html", page("200 OK", "text/html; charset=utf-8", "<title>T</title><h1>Hi</h1><script>x</script><a href='/json'>more</a>")),
            ("/json", page("200 OK", "application/json", "{\"a\": \"<b>\"}")),
            ("/latin", page("200 OK", "text/plain; charset=ISO-8859-1", "")),
            ("/pdf", page("200 OK", "application/pdf", "%PDF")),
            ("/none", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi".to_vec()),
            ("/zip", b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nhi".to_vec()),
            ("/cut", b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 99\r\n\r\nhi".to_vec()),
        ])
    })
    .await;
    let tool = site.fetch_tool();
    let html = fetch(&tool, &site.url("/html")).await.unwrap();
    let expected = format!(
        "{} (200, text/html)\nT\n\n# Hi\n\nmore <{}>",
        site.url("/html"),
        site.url("/json")
    );
    assert_eq!(html.text, expected);
    assert!(fetch(&tool, &site.url("/json")).await.unwrap().text.ends_with("{\"a\": \"<b>\"}"));
    for (path, fault) in [
        ("/pdf", Fault::WrongKind),
        ("/none", Fault::WrongKind),
        ("/zip", Fault::Network),
        ("/cut", Fault::Network),
        ("/missing", Fault::NotFound),
    ] {
        assert_eq!(fetch(&tool, &site.url(path)).await.unwrap_err().fault, fault, "{path}");
    }
    let head = site.heads.lock().unwrap()[0].clone();
    assert!(
        !head.contains("cookie") && !head.contains("authorization") && !head.contains("referer")
    );
}

// Acolyte defect 13.
#[tokio::test]
async fn no_spelling_of_this_machine_is_reached() {
    let site =
        Site::start(|_| BTreeMap::from([("/", page("200 OK", "text/plain", "inside"))])).await;
    let port = site.address.port();
    let tool = tool::<WebFetch>(AddressGuard::default());
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "10.0.0.1",
        "192.168.0.1",
    ] {
        let error = fetch(&tool, &format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(matches!(error.fault, Fault::Blocked), "{host}: {error:?}");
    }
    assert_eq!(site.requests(), 0);
}

#[tokio::test]
async fn redirects_stay_on_their_host_and_come_to_an_end() {
    let site = Site::start(|address| {
        BTreeMap::from([
            ("/a", leads_to("/b")),
            ("/b", leads_to("page")),
            ("/page", page("200 OK", "text/plain", "there")),
            ("/loop", leads_to("/loop")),
            ("/metadata", leads_to("http://169.254.169.254/latest/meta-data/")),
            ("/port", leads_to("http://127.0.0.1:1/")),
            ("/spelled", leads_to(&format!("http://2130706433:{}/page", address.port()))),
            ("/file", leads_to("file:///etc/passwd")),
            ("/user", leads_to("http://user:word@127.0.0.1/")),
        ])
    })
    .await;
    let tool = site.fetch_tool();
    assert!(fetch(&tool, &site.url("/a")).await.unwrap().text.ends_with("there"));
    for (path, target) in [
        ("/metadata", "http://169.254.169.254/latest/meta-data/"),
        ("/port", "http://127.0.0.1:1/"),
    ] {
        let output = fetch(&tool, &site.url(path)).await.unwrap();
        assert!(
            output.text.contains(&format!("redirects to another origin: {target}\n")),
            "{path}"
        );
        assert!(fetch(&tool, target).await.is_err(), "{path}");
    }
    for path in ["/file", "/user"] {
        assert_eq!(
            fetch(&tool, &site.url(path)).await.unwrap_err().fault,
            Fault::Arguments,
            "{path}"
        );
    }
    assert!(fetch(&tool, &site.url("/spelled")).await.unwrap().text.ends_with("there"));
    let before = site.requests();
    assert_eq!(fetch(&tool, &site.url("/loop")).await.unwrap_err().fault, Fault::Network);
    assert_eq!(site.requests() - before, 4, "the first, and three redirects");
}

#[tokio::test]
async fn a_page_without_end_is_cut() {
    let body = "x".repeat(6 << 20);
    let site = Site::start(|_| BTreeMap::from([("/", page("200 OK", "text/plain", &body))])).await;
    let output = fetch(&site.fetch_tool(), &site.url("/")).await.unwrap();
    let (head, text) = output
        .text
        .split_once(
            "

",
        )
        .unwrap();
    assert!(head.ends_with("[only the first 5242880 bytes]"), "{head}");
    assert_eq!(text.len(), 5 << 20);
}

#[test]
fn a_fetch_declares_its_host() {
    let tool = tool::<WebFetch>(AddressGuard::default());
    let footprint = |url: &str| tool.footprint(&json!({ "url": url }));
    let host = |host: &str| Footprint { host: Some(host.to_owned()), ..Footprint::default() };
    assert_eq!(footprint("https://Docs.RS/serde"), Ok(host("docs.rs")));
    assert_eq!(footprint("http://0x7f.1/"), Ok(host("127.0.0.1")));
    assert!(footprint("ftp://x/").is_err());
}
