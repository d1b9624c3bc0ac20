//! TLS to the database, by rustls: the name and the chain of its certificate are always verified.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use super::error::DatabaseError;

/// Makes connections secure.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
}

impl Tls {
    /// Trusts the system's certificates and those in `extra`, which is PEM.
    pub(super) fn new(extra: Option<&[u8]>) -> Result<Self, DatabaseError> {
        let mut roots = RootCertStore::empty();
        // A system without any is told when the first certificate cannot be verified.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(pem) = extra {
            let mut n_added = 0;
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                roots.add(certificate).map_err(|error| unusable(&error))?;
                n_added += 1;
            }
            if n_added == 0 {
                return Err(unusable(&"there is none in the file"));
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { connector: TlsConnector::from(Arc::new(config)) })
    }
}

fn unusable(why: &dyn std::fmt::Display) -> DatabaseError {
    DatabaseError::Certificates { what: why.to_string() }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = SecureStream;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        // It is asked for a socket as well, which has no name and needs no handshake.
        let name = ServerName::try_from(host.to_owned()).ok();
        Ok(Handshake { connector: self.connector.clone(), name })
    }
}

/// A handshake that is about to begin.
pub(super) struct Handshake {
    connector: TlsConnector,
    /// `None` where there is nothing that a certificate could be verified for.
    name: Option<ServerName<'static>>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = SecureStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<SecureStream>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move {
            let nameless = || io::Error::other("no certificate can be verified for this host");
            let name = self.name.ok_or_else(nameless)?;
            self.connector.connect(name, stream).await.map(SecureStream)
        })
    }
}

/// A connection whose bytes nobody else reads.
pub(super) struct SecureStream(tokio_rustls::client::TlsStream<Socket>);

impl TlsStream for SecureStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for SecureStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for SecureStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_an_error() {
        assert!(Tls::new(None).is_ok());
        for bytes in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let error = Tls::new(Some(bytes.as_bytes())).err().map(|error| error.to_string());
            assert!(error.is_some_and(|text| text.contains("cannot be used")), "{bytes}");
        }
    }
}
