//! One request over one connection: HTTP/1.1, as much of it as our own server speaks.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
#[cfg(unix)]
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::address::asked;
use super::error::ClientError;
use crate::wire::{CallLine, ErrorReport, Event, LINES_TYPE};

/// Bounds on what a server that is not ours may send.
const MAX_HEAD_BYTES: u64 = 64 << 10;
const MAX_BODY_BYTES: u64 = 256 << 20;

/// How often a request that is being answered looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// How long a server may take to be reached.
const REACH: Duration = Duration::from_secs(2);

/// A server that can be asked.
#[derive(Clone)]
pub struct Client {
    place: Place,
    token: String,
    project: Option<String>,
    patience: Option<Duration>,
}

#[derive(Clone)]
enum Place {
    Address(String),
    #[cfg(unix)]
    Socket(PathBuf),
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token is nobody's business.
        f.debug_struct("Client").field("project", &self.project).finish_non_exhaustive()
    }
}

/// What a route is asked with.
pub(super) struct Route {
    pub(super) verb: &'static str,
    pub(super) path: &'static str,
}

impl Route {
    fn has_body(&self) -> bool {
        matches!(self.verb, "POST" | "PUT" | "PATCH")
    }
}

impl Client {
    /// The server at `host:port`, with the token of its `run` folder.
    pub fn new(address: impl Into<String>, token: impl Into<String>) -> Self {
        Self {
            place: Place::Address(address.into()),
            token: token.into(),
            project: None,
            patience: None,
        }
    }

    /// The server behind a socket file of the same user, which needs no token.
    #[cfg(unix)]
    pub fn over_socket(path: impl Into<PathBuf>) -> Self {
        Self {
            place: Place::Socket(path.into()),
            token: String::new(),
            project: None,
            patience: None,
        }
    }

    /// Works on the registered project of this name.
    #[must_use]
    pub fn for_project(self, name: impl Into<String>) -> Self {
        Self { project: Some(name.into()), ..self }
    }

    /// Gives up when nothing comes for this long. Without it, it waits.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// Asks a route, and reads the report.
    pub(super) fn ask<Q: Serialize, R: DeserializeOwned>(
        &self,
        route: &Route,
        request: &Q,
        (extra, version): (&[(&str, &str)], Option<&str>),
    ) -> Result<R, ClientError> {
        let mut answer = self.open(route, request, (extra, version, None))?;
        let bytes = answer.whole()?;
        if (200..300).contains(&answer.status) {
            let bytes = if bytes.is_empty() { b"null" } else { bytes.as_slice() };
            return parsed(bytes);
        }
        let ErrorReport { error } = parsed(&bytes)?;
        Err(ClientError::Failed { status: answer.status, failure: error })
    }

    /// Asks a route, hands over each event as it comes, and returns the report. `path` is as [`super::ROUTES`] has it. The
    /// server stops what it does when `is_stopped` says so.
    pub fn ask_watched<Q: Serialize, R: DeserializeOwned>(
        &self,
        (verb, path): (&'static str, &'static str),
        request: &Q,
        (on_event, is_stopped): (&mut dyn FnMut(Event), &(dyn Fn() -> bool + Sync)),
    ) -> Result<R, ClientError> {
        let route = Route { verb, path };
        let answer = self.open(&route, request, (&[], None, Some(LINES_TYPE)))?;
        let is_over = AtomicBool::new(false);
        let hang_up = answer.hang_up.clone();
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) && !is_stopped() {
                    thread::sleep(LOOK);
                }
                // A connection that is over cannot be closed once more, and need not be.
                hang_up();
            });
            let result = watched(answer, on_event);
            is_over.store(true, Ordering::Relaxed);
            result
        })
    }

    /// Asks a route, and leaves the body to be read.
    pub(super) fn open<Q: Serialize>(
        &self,
        route: &Route,
        request: &Q,
        (extra, version, accept): (&[(&str, &str)], Option<&str>, Option<&str>),
    ) -> Result<Answer, ClientError> {
        let request = serde_json::to_value(request)
            .map_err(|error| ClientError::Broken(error.to_string()))?;
        let project = self.project.as_deref().map(|name| ("project", name));
        let server_fields: Vec<(&str, &str)> =
            project.into_iter().chain(extra.iter().copied()).collect();
        let asked = asked(route.path, route.has_body(), request, &server_fields);
        let mut stream = self.reach().map_err(ClientError::Unreachable)?;
        let text = self.head(route, &asked.target, asked.body.as_ref(), (version, accept));
        stream
            .io
            .write_all(text.as_bytes())
            .and_then(|()| stream.io.flush())
            .map_err(ClientError::Unreachable)?;
        Answer::read(stream)
    }

    /// The first lines of a request: the route, and who asks.
    fn greeting(&self, verb: &str, target: &str) -> String {
        let host = match &self.place {
            Place::Address(address) => address.as_str(),
            #[cfg(unix)]
            Place::Socket(_) => "localhost",
        };
        let mut text = format!("{verb} {target} HTTP/1.1\r\nHost: {host}\r\n");
        if !self.token.is_empty() {
            text.push_str(&format!("Authorization: Bearer {}\r\n", self.token));
        }
        text
    }

    /// Asks for another protocol on the connection, and returns it once the server agrees.
    pub(super) fn upgrade(
        &self,
        path: &'static str,
        protocol: &str,
    ) -> Result<Upgraded, ClientError> {
        let project = self.project.as_deref().map(|name| ("project", name));
        let fields: Vec<(&str, &str)> = project.into_iter().collect();
        let target = asked(path, false, Value::Null, &fields).target;
        let greeting = self.greeting("GET", &target);
        let text = format!("{greeting}Connection: Upgrade\r\nUpgrade: {protocol}\r\n\r\n");
        let stream = self.reach().map_err(ClientError::Unreachable)?;
        let mut writer = stream.io.second().map_err(ClientError::Unreachable)?;
        writer.write_all(text.as_bytes()).map_err(ClientError::Unreachable)?;
        let Stream { io, hang_up } = stream;
        let mut reader = BufReader::new(io);
        let head = Head::read(&mut reader)?;
        if head.status == Some(101) {
            return Ok(Upgraded { reader: Box::new(reader), writer, hang_up });
        }
        let mut answer = head.answer(reader, hang_up)?;
        let ErrorReport { error } = parsed(&answer.whole()?)?;
        Err(ClientError::Failed { status: answer.status, failure: error })
    }

    fn head(
        &self,
        route: &Route,
        target: &str,
        body: Option<&Value>,
        (version, accept): (Option<&str>, Option<&str>),
    ) -> String {
        let mut text = self.greeting(route.verb, target);
        let mut add = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\r\n"));
        add("Connection", "close");
        if let Some(version) = version {
            add("If-Match", &format!("\"{version}\""));
        }
        if let Some(accept) = accept {
            add("Accept", accept);
        }
        let body = body.map(Value::to_string);
        if let Some(body) = &body {
            add("Content-Type", "application/json");
            add("Content-Length", &body.len().to_string());
        }
        text.push_str("\r\n");
        text.push_str(&body.unwrap_or_default());
        text
    }

    fn reach(&self) -> io::Result<Stream> {
        match &self.place {
            Place::Address(address) => {
                let address: SocketAddr = address.parse().map_err(io::Error::other)?;
                // The token goes to this machine alone.
                if !address.ip().is_loopback() {
                    return Err(io::Error::other("the address is not of this machine"));
                }
                let reach = self.patience.map_or(REACH, |patience| patience.min(REACH));
                let stream = TcpStream::connect_timeout(&address, reach)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(self.patience)?;
                stream.set_write_timeout(self.patience)?;
                let other = stream.try_clone()?;
                let hang_up = Arc::new(move || drop(other.shutdown(Shutdown::Both)));
                Ok(Stream { io: Box::new(stream), hang_up })
            }
            #[cfg(unix)]
            Place::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(self.patience)?;
                stream.set_write_timeout(self.patience)?;
                let other = stream.try_clone()?;
                let hang_up = Arc::new(move || drop(other.shutdown(Shutdown::Both)));
                Ok(Stream { io: Box::new(stream), hang_up })
            }
        }
    }
}

/// Reads lines until the last one.
fn watched<R: DeserializeOwned>(
    mut answer: Answer,
    on_event: &mut dyn FnMut(Event),
) -> Result<R, ClientError> {
    if answer.status != 200 {
        let ErrorReport { error } = parsed(&answer.whole()?)?;
        return Err(ClientError::Failed { status: answer.status, failure: error });
    }
    loop {
        let mut line = String::new();
        let read = answer.body.by_ref().take(MAX_BODY_BYTES).read_line(&mut line);
        match read.map_err(|error| ClientError::Broken(error.to_string()))? {
            0 => return Err(ClientError::Broken("it ended without a report".to_owned())),
            _ => match parsed(line.as_bytes())? {
                CallLine::Event { event } => on_event(event),
                CallLine::Report { report } => {
                    return serde_json::from_value(report)
                        .map_err(|error| ClientError::Broken(error.to_string()));
                }
                CallLine::Error { error } => {
                    let status = error.code.http_status();
                    return Err(ClientError::Failed { status, failure: error });
                }
            },
        }
    }
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(bytes).map_err(|error| ClientError::Broken(error.to_string()))
}

/// A connection, of whichever kind.
trait ReadWrite: Read + Write + Send {
    /// The same connection once more, for a thread that writes while another one reads.
    fn second(&self) -> io::Result<Box<dyn Write + Send>>;
}

impl ReadWrite for TcpStream {
    fn second(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(self.try_clone()?))
    }
}

#[cfg(unix)]
impl ReadWrite for UnixStream {
    fn second(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(self.try_clone()?))
    }
}

/// Ends a connection, from another thread.
pub(super) type HangUp = Arc<dyn Fn() + Send + Sync>;

struct Stream {
    io: Box<dyn ReadWrite>,
    hang_up: HangUp,
}

/// A connection that speaks another protocol from here on.
pub(super) struct Upgraded {
    pub(super) reader: Box<dyn BufRead + Send>,
    pub(super) writer: Box<dyn Write + Send>,
    pub(super) hang_up: HangUp,
}

/// An answer whose head was read.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Box<dyn BufRead + Send>,
    hang_up: HangUp,
}

impl Answer {
    fn read(stream: Stream) -> Result<Self, ClientError> {
        let Stream { io, hang_up } = stream;
        let mut reader = BufReader::new(io);
        Head::read(&mut reader)?.answer(reader, hang_up)
    }

    fn whole(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut bytes = Vec::new();
        let read = self.body.by_ref().take(MAX_BODY_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| ClientError::Broken(error.to_string()))?;
        Ok(bytes)
    }
}

/// What the head of an answer says, as far as it matters.
#[derive(Default)]
struct Head {
    status: Option<u16>,
    length: Option<u64>,
    is_chunked: bool,
}

impl Head {
    fn read(reader: &mut impl BufRead) -> Result<Self, ClientError> {
        let mut head = Self::default();
        let mut left = MAX_HEAD_BYTES;
        loop {
            let mut line = String::new();
            let read = reader.by_ref().take(left).read_line(&mut line);
            let n_read = read.map_err(ClientError::Unreachable)? as u64;
            left = left.saturating_sub(n_read);
            if n_read == 0 || left == 0 {
                return Err(ClientError::Broken("its head does not end".to_owned()));
            }
            if line.trim_end().is_empty() {
                return Ok(head);
            }
            head.take(line.trim_end());
        }
    }

    /// What stands behind the head.
    fn answer(
        self,
        reader: impl BufRead + Send + 'static,
        hang_up: HangUp,
    ) -> Result<Answer, ClientError> {
        let status = self.status.ok_or_else(|| ClientError::Broken("it is not HTTP".to_owned()))?;
        let body: Box<dyn BufRead + Send> = match (self.is_chunked, self.length) {
            (true, _) => Box::new(BufReader::new(Chunks { reader, left: 0, is_over: false })),
            (false, Some(length)) => Box::new(reader.take(length.min(MAX_BODY_BYTES))),
            (false, None) if status == 204 => Box::new(io::empty()),
            (false, None) => Box::new(reader.take(MAX_BODY_BYTES)),
        };
        Ok(Answer { status, body, hang_up })
    }

    fn take(&mut self, line: &str) {
        if self.status.is_none() {
            let is_http = line.starts_with("HTTP/1.1 ");
            self.status = line.split(' ').nth(1).filter(|_| is_http).and_then(|t| t.parse().ok());
            return;
        }
        let Some((name, value)) = line.split_once(':') else { return };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            self.length = value.parse().ok();
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.is_chunked = value.eq_ignore_ascii_case("chunked");
        }
    }
}

/// A body that comes in pieces, each behind its length.
struct Chunks<R> {
    reader: R,
    left: u64,
    is_over: bool,
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.is_over {
            self.next_chunk()?;
        }
        if self.is_over {
            return Ok(0);
        }
        let n_read = self.reader.by_ref().take(self.left).read(buffer)?;
        if n_read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= n_read as u64;
        if self.left == 0 {
            self.line()?;
        }
        Ok(n_read)
    }
}

impl<R: BufRead> Chunks<R> {
    fn next_chunk(&mut self) -> io::Result<()> {
        let line = self.line()?;
        let size = line.split(';').next().unwrap_or_default().trim();
        self.left = u64::from_str_radix(size, 16)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a chunk without a size"))?;
        self.is_over = self.left == 0;
        Ok(())
    }

    fn line(&mut self) -> io::Result<String> {
        const MAX_LINE: u64 = 256;
        let mut line = String::new();
        self.reader.by_ref().take(MAX_LINE).read_line(&mut line)?;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together() {
        let text = "5\r\nhello\r\n7;x=1\r\n, world\r\n0\r\n\r\n";
        let mut whole = String::new();
        let reader = BufReader::new(text.as_bytes());
        Chunks { reader, left: 0, is_over: false }.read_to_string(&mut whole).unwrap();
        assert_eq!(whole, "hello, world");
    }

    #[test]
    fn a_body_that_breaks_off_is_an_error() {
        for text in ["5\r\nhel", "zz\r\n", ""] {
            let reader = BufReader::new(text.as_bytes());
            let mut whole = Vec::new();
            let read = Chunks { reader, left: 0, is_over: false }.read_to_end(&mut whole);
            assert!(read.is_err(), "{text:?}");
        }
    }
}
