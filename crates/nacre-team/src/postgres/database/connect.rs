//! Opens connections and validates the server's messages. Another program could be listening on the
//! port, so a server without a verified certificate must prove through SCRAM that it knows the
//! password. `tokio-postgres` cannot enforce this.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection, NoTls};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::error::{DatabaseError, Distrust, Result};

const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const DEFAULT_PORT: u16 = 5432;

/// How many bytes the server may send before the first request, and in each response.
const MAX_GREETING_BYTES: usize = 1 << 20;
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// Minimum SCRAM iteration count, as specified in RFC 7677.
const MIN_ITERATIONS: u32 = 4096;

/// Code of the authentication message that contains the salt and the iteration count.
const SASL_CONTINUE: u8 = 11;

/// A connection that has not been polled yet.
pub(super) type RawConnection = Connection<CheckedStream, NoTlsStream>;

pub(super) async fn connect(
    config: &Config,
    tls: &TlsConnector,
) -> Result<(Client, RawConnection)> {
    let mut failure = DatabaseError::Url("it contains no host".into());
    let ports = config.get_ports();
    for (idx, host) in config.get_hosts().iter().enumerate() {
        let port = ports.get(idx).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
        let connected = match open(config, tls, host, port).await {
            Ok(stream) => {
                let mut config = config.clone();
                // The stream already uses TLS if it is enabled.
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

async fn open(
    config: &Config,
    tls: &TlsConnector,
    host: &Host,
    port: u16,
) -> io::Result<CheckedStream> {
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
            // The server has proved its identity with a verified certificate.
            Ok(CheckedStream::new(secure(tls, stream, name).await?, false))
        }
        #[cfg(unix)]
        Host::Unix(folder) => {
            let path = folder.join(format!(".s.PGSQL.{port}"));
            let stream = tokio::net::UnixStream::connect(path).await?;
            Ok(CheckedStream::new(stream, needs_proof))
        }
    }
}

trait Duplex: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Duplex for T {}

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

/// Checks the server's messages. Each message consists of a letter, a length that includes its own
/// bytes, and the content.
struct MessageCheck {
    needs_proof: bool,
    /// How many bytes the server may still send before it is ready for the next request.
    bytes_left: usize,
    /// A message's first 5 bytes, or an authentication message's first 9.
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
            if let [b'R', a, b, c, d, 0, 0, 0, SASL_CONTINUE, challenge @ ..] = &self.head[..]
                && !challenge.is_empty()
            {
                let length = u32::from_be_bytes([*a, *b, *c, *d]);
                if u32::try_from(challenge.len() + 8) == Ok(length) {
                    check_iterations(challenge)?;
                    self.head.clear();
                }
                continue;
            }
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
            let is_challenge = code == Some([0, 0, 0, SASL_CONTINUE]) && length > 8;
            if kind != b'R' || length < 8 || (code.is_some() && !is_challenge) {
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
            // Notifications are not part of a response, and a listening connection can receive any
            // number of them.
            b'A' => {}
            _ => self.bytes_left = left,
        }
        Ok(())
    }

    fn authenticate(&mut self, code: u32) -> Result<(), Distrust> {
        match code {
            _ if !self.needs_proof => Ok(()),
            // These messages are part of the SCRAM exchange. The client verifies the proof in the
            // final message.
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

/// Rejects challenges with a low iteration count, such as `r=...,s=...,i=1`, because they let an
/// impostor guess the password cheaply.
fn check_iterations(challenge: &[u8]) -> Result<(), Distrust> {
    let mut attributes = challenge.split(|byte| *byte == b',');
    let n_iterations = attributes.find_map(|attribute| attribute.strip_prefix(b"i="));
    let n_iterations = n_iterations.and_then(|number| str::from_utf8(number).ok()?.parse().ok());
    match n_iterations {
        Some(MIN_ITERATIONS..=u32::MAX) => Ok(()),
        Some(_) | None => Err(Distrust::WeakProof),
    }
}

/// The TLS request: the message length and the request code.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Creates a TLS connector. `extra` contains PEM certificates to trust in addition to the system's.
pub(super) fn tls_connector(extra: Option<&[u8]>) -> Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    // If the system has no certificates, verification fails later.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(pem) = extra {
        let n_before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| unusable(&error))?;
            roots.add(certificate).map_err(|error| unusable(&error))?;
        }
        if roots.len() == n_before {
            return Err(unusable(&"the file contains no certificates"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

async fn secure(
    tls: &TlsConnector,
    mut stream: TcpStream,
    host: &str,
) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    stream.write_all(&SSL_REQUEST).await?;
    if stream.read_u8().await? != b'S' {
        return Err(io::Error::other("the server does not support TLS"));
    }
    tls.connect(name, stream).await
}

fn unusable(why: &dyn std::fmt::Display) -> DatabaseError {
    DatabaseError::Certificates { what: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], content].concat()
    }

    /// Feeds the messages to the check in chunks, once for each chunk size.
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
        let [ok, clear, md5, gss, first, last] =
            [0_u32, 3, 5, 7, 10, 12].map(|code| message(b'R', &code.to_be_bytes()));
        let next = challenge("r=nonce,s=c2FsdA==,i=4096");
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

    fn challenge(text: &str) -> Vec<u8> {
        message(b'R', &[&[0, 0, 0, SASL_CONTINUE], text.as_bytes()].concat())
    }

    #[test]
    fn a_password_is_proven_by_no_fewer_rounds_than_the_standard_has() {
        for (text, expected) in [
            ("r=n,s=c2FsdA==,i=4096", Ok(())),
            ("r=n,s=c2FsdA==,i=600000", Ok(())),
            ("r=n,s=c2FsdA==,i=4095", Err("WeakProof")),
            ("r=n,s=c2FsdA==,i=1", Err("WeakProof")),
            ("r=n,s=c2FsdA==,i=", Err("WeakProof")),
            ("r=n,s=c2FsdA==,i=-5", Err("WeakProof")),
            ("r=n,s=c2FsdA==", Err("WeakProof")),
        ] {
            for needs_proof in [true, false] {
                let read = read(needs_proof, &[challenge(text)]);
                assert_eq!(read, expected.map_err(str::to_owned), "{text}");
            }
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

    #[test]
    fn a_file_without_certificates_is_an_error() {
        assert!(tls_connector(None).is_ok());
        for bytes in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let error = tls_connector(Some(bytes.as_bytes())).err().map(|error| error.to_string());
            assert!(
                error.is_some_and(|text| text.contains("Cannot use the database certificates")),
                "{bytes}"
            );
        }
    }
}
