//! Sends spans to a collector. It may be slow, broken or gone; whoever runs a task only hears of it.

use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{Certificate, Client, Url, redirect, retry};
use tokio::time::timeout;

use super::encode;
use super::spans::SpanLog;

/// Spans in one request.
const MAX_PER_REQUEST: usize = 512;

/// A collector that does not pick up within this time is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Where a collector takes spans below its address.
const PATH: &str = "/v1/traces";

/// A collector.
#[derive(Debug)]
pub struct Collector {
    url: Url,
    client: Client,
}

/// Why spans were not sent. No variant shows the address: it may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    #[error("The address of the collector is not an http or https address")]
    NotHttp,
    #[error("The address of the collector holds a user name, password, query or fragment")]
    NotPlain,
    #[error("Cannot prepare connections to the collector")]
    Client(#[source] reqwest::Error),
    #[error("Cannot reach the collector")]
    Unreachable(#[source] reqwest::Error),
    #[error("The collector answered with status {0}")]
    Status(u16),
    #[error("The collector took too long")]
    TimedOut,
}

impl Collector {
    /// A collector at an address such as `http://127.0.0.1:4318`.
    pub fn new(address: &str) -> Result<Self, CollectorError> {
        let mut url = Url::parse(address).map_err(|_| CollectorError::NotHttp)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(CollectorError::NotHttp);
        }
        let has_credentials = !url.username().is_empty() || url.password().is_some();
        if has_credentials || url.query().is_some() || url.fragment().is_some() {
            return Err(CollectorError::NotPlain);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        if !path.ends_with(PATH) {
            url.set_path(&format!("{path}{PATH}"));
        }
        // The process may have chosen another provider of cryptography; any one will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            .user_agent(concat!("nacre/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT);
        // A machine without certificates can still talk to itself.
        let builder = match url.scheme() {
            "http" => builder.tls_certs_only(std::iter::empty::<Certificate>()),
            _ => builder,
        };
        Ok(Self { client: builder.build().map_err(CollectorError::Client)?, url })
    }

    /// Sends what is complete, within `limit`; returns how many spans there were. What could not be sent is forgotten.
    pub async fn send(&self, log: &SpanLog, limit: Duration) -> Result<usize, CollectorError> {
        let spans = log.take();
        let all = async {
            for part in spans.chunks(MAX_PER_REQUEST) {
                self.post(encode::request(part).to_string()).await?;
            }
            Ok(spans.len())
        };
        timeout(limit, all).await.map_err(|_| CollectorError::TimedOut)?
    }

    async fn post(&self, body: String) -> Result<(), CollectorError> {
        let request =
            self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let response = request
            .send()
            .await
            .map_err(|error| CollectorError::Unreachable(error.without_url()))?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(CollectorError::Status(status.as_u16())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_checked_and_completed() {
        for (address, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://otel.example/x/v1/traces", "https://otel.example/x/v1/traces"),
            ("file:///etc/passwd", "http"),
            ("nothing", "http"),
            ("http://u:hunter2@h/", "plain"),
            ("http://h/?key=hunter2", "plain"),
        ] {
            let got = match Collector::new(address) {
                Ok(collector) => collector.url.to_string(),
                Err(CollectorError::NotHttp) => "http".to_owned(),
                Err(CollectorError::NotPlain) => "plain".to_owned(),
                Err(other) => panic!("{other}"),
            };
            assert_eq!(got, expected);
        }
    }
}
