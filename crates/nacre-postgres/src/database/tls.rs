//! TLS to the database, by rustls: the name and the chain of its certificate are always verified.

use std::io;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::error::DatabaseError;

/// What asks a PostgreSQL server for TLS: a length and a code.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Makes connections secure.
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
            let n_before = roots.len();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
            if roots.len() == n_before {
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

    pub(super) async fn secure(
        &self,
        mut stream: TcpStream,
        host: &str,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        stream.write_all(&SSL_REQUEST).await?;
        if stream.read_u8().await? != b'S' {
            return Err(io::Error::other("the server does not support TLS"));
        }
        self.connector.connect(name, stream).await
    }
}

fn unusable(why: &dyn std::fmt::Display) -> DatabaseError {
    DatabaseError::Certificates { what: why.to_string() }
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
