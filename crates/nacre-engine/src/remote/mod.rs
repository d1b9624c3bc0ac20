//! HTTP requests to a Nacre server on another machine.
//!
//! The token is sent only to the configured address: redirects are not followed, and plain HTTP is
//! accepted only for addresses on this machine. Responses are limited in size and time.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder, Url};
use tokio::time::timeout;

use crate::model::{client_builder, http_url, is_plain, read_up_to};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

const MAX_ANSWER_BYTES: usize = 8 << 20;

#[derive(Debug)]
pub struct RemoteServer {
    client: Client,
    base: Url,
    token: HeaderValue,
}

type Result<T, E = RemoteError> = std::result::Result<T, E>;

/// A failed request. No variant contains the token.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("The server's address is not a URL such as https://nacre.example.org")]
    NotUrl,
    #[error("The token would be sent unencrypted: use https://")]
    NotEncrypted,
    #[error("The token contains invalid characters")]
    BadToken,
    #[error("Cannot prepare connections to the server")]
    Client(#[source] reqwest::Error),
    #[error("Cannot reach the server")]
    Unreachable(#[source] reqwest::Error),
    #[error("The server took too long")]
    TimedOut,
    #[error("The server's response is too large")]
    TooLarge,
    #[error("The server responded with status {status}")]
    Refused { status: u16, body: Vec<u8> },
}

impl RemoteServer {
    pub fn new(url: &str, token: &str) -> Result<Self> {
        let base = http_url(url).filter(is_plain).ok_or(RemoteError::NotUrl)?;
        let host = base.host_str().unwrap_or_default();
        let is_here = ["127.0.0.1", "localhost", "[::1]"].contains(&host);
        if base.scheme() == "http" && !is_here {
            return Err(RemoteError::NotEncrypted);
        }
        let mut token =
            HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| RemoteError::BadToken)?;
        token.set_sensitive(true);
        let builder = client_builder(&base, CONNECT_TIMEOUT);
        let builder = if base.scheme() == "http" { builder.no_proxy() } else { builder };
        Ok(Self { client: builder.build().map_err(RemoteError::Client)?, base, token })
    }

    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<u8>> {
        self.send(self.client.get(self.url(path, query))).await
    }

    pub async fn post(&self, path: &str, query: &[(&str, &str)], body: String) -> Result<Vec<u8>> {
        let request = self.client.post(self.url(path, query));
        self.send(request.header(CONTENT_TYPE, "application/json").body(body)).await
    }

    fn url(&self, path: &str, query: &[(&str, &str)]) -> Url {
        let mut url = self.base.clone();
        let below = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{below}{path}"));
        url.query_pairs_mut().extend_pairs(query);
        url
    }

    async fn send(&self, request: RequestBuilder) -> Result<Vec<u8>> {
        let asked = async {
            let sent = request.header(AUTHORIZATION, self.token.clone()).send().await;
            let away = |error: reqwest::Error| RemoteError::Unreachable(error.without_url());
            let response = sent.map_err(away)?;
            let status = response.status();
            match read_up_to(response, MAX_ANSWER_BYTES).await.map_err(away)? {
                (_, true) => Err(RemoteError::TooLarge),
                (body, _) if status.is_success() => Ok(body),
                (body, _) => Err(RemoteError::Refused { status: status.as_u16(), body }),
            }
        };
        timeout(ANSWER_TIMEOUT, asked).await.map_err(|_| RemoteError::TimedOut)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_sent_in_the_clear() {
        let told = |url: &str| RemoteServer::new(url, "nacre_0").map(drop).err();
        assert!(told("https://nacre.example.org/team").is_none());
        assert!(told("http://127.0.0.1:8765").is_none());
        assert!(matches!(told("http://nacre.example.org"), Some(RemoteError::NotEncrypted)));
        for wrong in ["", "nacre.example.org", "file:///etc", "https://u:p@h", "https://h/?a=b"] {
            assert!(matches!(told(wrong), Some(RemoteError::NotUrl)), "{wrong}");
        }
        assert!(matches!(
            RemoteServer::new("https://h", "a\nb").map(drop),
            Err(RemoteError::BadToken)
        ));
        let server = RemoteServer::new("https://h", "nacre_secret").unwrap();
        assert!(!format!("{server:?}").contains("secret"));
        let url = server.url("/api/pull", &[("project", "a&b")]);
        assert_eq!(url.as_str(), "https://h/api/pull?project=a%26b");
    }
}
