//! Opens connections, and checks what a server sends before the protocol's own code reads it.
//!
//! Another program may have the server's port. Without a verified certificate it gets no password: the server has to
//! prove by SCRAM that it knows it, which `tokio-postgres` cannot be told to insist on. No answer is read that does not fit
//! into memory.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection, NoTls};

use super::error::{DatabaseError, Distrust};
use super::tls::Tls;

const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const DEFAULT_PORT: u16 = 5432;

/// What a server may send until it is ready for the first request, and in answer to one.
const MAX_GREETING_BYTES: usize = 1 << 20;
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// A connection before it is driven.
pub(super) type RawConnection = Connection<CheckedStream, NoTlsStream>;

/// Connects to the first host that answers.
pub(super) async fn connect(
    config: &Config,
    tls: &Tls,
) -> Result<(Client, RawConnection), DatabaseError> {
    let mut failure = DatabaseError::Url("it names no host".into());
    let ports = config.get_ports();
    for (idx, host) in config.get_hosts().iter().enumerate() {
        let port = ports.get(idx).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
        let connected = match open(config, tls, host, port).await {
            Ok(stream) => {
                let mut config = config.clone();
                // The stream is as secure already as it is going to be.
                let config = config.ssl_mode(SslMode::Disable);
                config.connect_raw(stream, NoTls).await.map_err(DatabaseError::from)
            }
            Err(error) => Err(DatabaseError::Away(Box::new(error))),
        };
        match connected {
            Ok(connected) => return Ok(connected),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

async fn open(config: &Config, tls: &Tls, host: &Host, port: u16) -> io::Result<CheckedStream> {
    let needs_proof = config.get_password().is_some();
    match host {
        Host::Tcp(name) => {
            let stream = TcpStream::connect((name.as_str(), port)).await?;
            stream.set_nodelay(true)?;
            let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE);
            SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
            if config.get_ssl_mode() == SslMode::Disable {
                return Ok(CheckedStream::new(stream, needs_proof));
            }
            // The certificate is the proof.
            Ok(CheckedStream::new(tls.secure(stream, name).await?, false))
        }
        #[cfg(unix)]
        Host::Unix(folder) => {
            let path = folder.join(format!(".s.PGSQL.{port}"));
            let stream = tokio::net::UnixStream::connect(path).await?;
            Ok(CheckedStream::new(stream, needs_proof))
        }
    }
}

/// Bytes to and from a server.
trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

/// A connection whose messages are checked as they arrive.
pub(super) struct CheckedStream {
    inner: Box<dyn Duplex>,
    check: MessageCheck,
}

impl CheckedStream {
    fn new(inner: impl Duplex + 'static, needs_proof: bool) -> Self {
        let check = MessageCheck {
            needs_proof,
            bytes_left: MAX_GREETING_BYTES,
            head: Vec::new(),
            n_to_skip: 0,
        };
        Self { inner: Box::new(inner), check }
    }
}

impl AsyncRead for CheckedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        Poll::Ready(self.check.read(&buffer.filled()[n_before..]).map_err(io::Error::other))
    }
}

impl AsyncWrite for CheckedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// Follows the messages of a server: a letter, a length that counts itself, and the content.
struct MessageCheck {
    /// Whether the server has still to prove that it knows the password.
    needs_proof: bool,
    /// Bytes that may come until the server is ready for the next request.
    bytes_left: usize,
    /// The beginning of the current message: 5 bytes, or 9 of one about authentication.
    head: Vec<u8>,
    n_to_skip: usize,
}

impl MessageCheck {
    fn read(&mut self, mut bytes: &[u8]) -> Result<(), Distrust> {
        while let [byte, rest @ ..] = bytes {
            if self.n_to_skip > 0 {
                let (_, left) = bytes.split_at(self.n_to_skip.min(bytes.len()));
                self.n_to_skip -= bytes.len() - left.len();
                bytes = left;
                continue;
            }
            bytes = rest;
            self.head.push(*byte);
            let (kind, length, code) = match self.head[..] {
                [kind, a, b, c, d] => (kind, [a, b, c, d], None),
                [kind, a, b, c, d, w, x, y, z] => (kind, [a, b, c, d], Some([w, x, y, z])),
                _ => continue,
            };
            let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
            match code {
                None => self.count(kind, length)?,
                Some(code) => self.authenticate(u32::from_be_bytes(code))?,
            }
            if kind != b'R' || length < 8 || code.is_some() {
                self.n_to_skip = (length + 1).saturating_sub(self.head.len());
                self.head.clear();
            }
        }
        Ok(())
    }

    fn count(&mut self, kind: u8, length: usize) -> Result<(), Distrust> {
        let left = self.bytes_left.checked_sub(length).ok_or(Distrust::Flood)?;
        match kind {
            b'Z' => self.bytes_left = MAX_ANSWER_BYTES,
            // A notification is not part of an answer: a connection that only listens gets any number.
            b'A' => {}
            _ => self.bytes_left = left,
        }
        Ok(())
    }

    fn authenticate(&mut self, code: u32) -> Result<(), Distrust> {
        match code {
            _ if !self.needs_proof => Ok(()),
            // The exchange of SCRAM; the client checks the proof in its last message.
            10 | 11 => Ok(()),
            12 => {
                self.needs_proof = false;
                Ok(())
            }
            0 => Err(Distrust::NoProof),
            _ => Err(Distrust::PasswordRequest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], content].concat()
    }

    /// Reads what a server sends, in pieces of every size.
    fn read(needs_proof: bool, sent: &[Vec<u8>]) -> Result<(), String> {
        let sent = sent.concat();
        let outcomes: Vec<_> = (1..=12)
            .map(|n_bytes| {
                let mut stream = CheckedStream::new(tokio::io::empty(), needs_proof);
                sent.chunks(n_bytes).try_for_each(|piece| stream.check.read(piece))
            })
            .map(|outcome| outcome.map_err(|error| format!("{error:?}")))
            .collect();
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:?}");
        outcomes[0].clone()
    }

    #[test]
    fn a_server_proves_that_it_knows_the_password_before_anything_else() {
        let [ok, clear, md5, gss, first, next, last] =
            [0_u32, 3, 5, 7, 10, 11, 12].map(|code| message(b'R', &code.to_be_bytes()));
        let notice = message(b'N', b"SNOTICE\0\0");
        for (sent, expected) in [
            (vec![clear.clone()], Err("PasswordRequest")),
            (vec![notice.clone(), md5.clone()], Err("PasswordRequest")),
            (vec![gss], Err("PasswordRequest")),
            (vec![first.clone(), md5.clone()], Err("PasswordRequest")),
            (vec![ok.clone()], Err("NoProof")),
            (vec![first.clone(), next.clone(), ok.clone()], Err("NoProof")),
            (vec![notice, first, next, last, ok.clone()], Ok(())),
        ] {
            assert_eq!(read(true, &sent), expected.map_err(str::to_owned));
        }
        for sent in [ok, clear, md5] {
            assert_eq!(read(false, &[sent]), Ok(()), "there is a certificate, or no password");
        }
    }

    #[test]
    fn an_answer_is_bounded_and_notifications_are_not() {
        let (row, ready) = (message(b'D', &[0; 1 << 16]), message(b'Z', b"I"));
        let flood = Err("Flood".to_owned());
        assert_eq!(read(false, &vec![row.clone(); 17]), flood, "while connecting");
        assert_eq!(read(false, &[ready.clone(), vec![b'D', 127, 255, 255, 255]]), flood);
        let told = vec![message(b'A', &[0; 1 << 16]); 40];
        assert_eq!(read(false, &[vec![ready], vec![row; 40], told].concat()), Ok(()));
    }
}
