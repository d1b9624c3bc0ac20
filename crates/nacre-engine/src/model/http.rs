//! The only module that opens connections to models.
//!
//! A key is sent only to the host for which it is configured. Redirects are refused, and keys are
//! sent unencrypted to another machine only if the user has allowed it. Proxies and keys are not
//! read from the environment.

use std::net::IpAddr;
use std::time::Duration;

use nacre_base::config::PlainHttpChoice;
use nacre_base::with_causes;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder, Response, Url, redirect, retry};
use tokio::time::timeout;

use crate::model::classify::{Complaint, retry_after};
use crate::model::error::{ErrorKind, Fault, Result, Wait};
use crate::model::secret::Secret;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for the response headers of a remote server. Local servers have no such limit, because
/// they may have to load a model first.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

const MAX_COMPLAINT: usize = 64 << 10;

/// An invalid address. No variant contains the address, because it may include a password.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("The address for provider `{0}` is not an HTTP or HTTPS URL")]
    NotHttp(String),
    #[error("The address for provider `{0}` contains a user name, password, query or fragment")]
    NotPlain(String),
    #[error("The key for provider `{0}` would be sent unencrypted to another machine")]
    KeyInTheClear(String),
    #[error("The key for provider `{0}` contains invalid characters")]
    BadKey(String),
    #[error("Cannot prepare connections to provider `{0}`")]
    Client(String, #[source] reqwest::Error),
}

#[derive(Debug)]
pub(super) struct Endpoint {
    base: String,
    pub(super) key: Option<Secret>,
    client: Client,
    /// Timeout for the response headers; `None` means no limit.
    answer_timeout: Option<Duration>,
}

impl Endpoint {
    pub(super) fn new(
        provider: &str,
        base_url: &str,
        key: Option<&Secret>,
        plain_http: Option<PlainHttpChoice>,
    ) -> Result<Self, EndpointError> {
        let name = || provider.to_owned();
        let url = http_url(base_url).ok_or_else(|| EndpointError::NotHttp(name()))?;
        if !is_plain(&url) {
            return Err(EndpointError::NotPlain(name()));
        }
        let is_clear = url.scheme() == "http" && !is_this_machine(&url);
        let may_be_clear = plain_http == Some(PlainHttpChoice::Anywhere);
        if key.is_some() && is_clear && !may_be_clear {
            return Err(EndpointError::KeyInTheClear(name()));
        }
        if key.is_some_and(|key| HeaderValue::from_str(key.expose()).is_err()) {
            return Err(EndpointError::BadKey(name()));
        }
        let client = client_builder(&url, CONNECT_TIMEOUT).no_proxy().build();
        let client = client.map_err(|error| EndpointError::Client(name(), error))?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        let answer_timeout = (!is_this_machine(&url)).then_some(ANSWER_TIMEOUT);
        Ok(Self { base, key: key.cloned(), client, answer_timeout })
    }

    /// Sends a request. Returns a fault for redirects, error statuses, web pages and compressed
    /// responses.
    pub(super) async fn post(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> Result<Response> {
        let request = self
            .client
            .post(format!("{}{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .headers(sensitive(headers)?)
            .body(body);
        let sent = request.send();
        let response = match self.answer_timeout {
            Some(time) => timeout(time, sent).await.map_err(|_| silent_fault(time))?,
            None => sent.await,
        };
        check(response.map_err(unreachable_fault)?).await
    }

    pub(super) fn scrub(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.scrub(text))
    }
}

/// Parses an address. Returns `None` if it is not an http or https address with a host.
pub(crate) fn http_url(text: &str) -> Option<Url> {
    let is_http = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    Url::parse(text).ok().filter(is_http)
}

/// Returns whether an address has no user name, password, query or fragment.
pub(crate) fn is_plain(url: &Url) -> bool {
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    !has_credentials && url.query().is_none() && url.fragment().is_none()
}

/// Returns a client builder that does not follow redirects, retry or send a referrer.
pub(crate) fn client_builder(url: &Url, connect_timeout: Duration) -> ClientBuilder {
    // Installing a crypto provider fails if the process already has one. Any provider is
    // acceptable, so ignore the error.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("nacre/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .connect_timeout(connect_timeout);
    // Loading the root certificates is slow, and plain HTTP does not need them.
    match url.scheme() {
        "http" => builder.tls_certs_only(std::iter::empty::<Certificate>()),
        _ => builder,
    }
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let is_named = host == "localhost" || host.ends_with(".localhost");
    address.map_or(is_named, |address| address.is_loopback())
}

fn sensitive(headers: &[(&'static str, String)]) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| Fault::protocol("a header contains invalid characters"))?;
        value.set_sensitive(true);
        map.insert(HeaderName::from_static(name), value);
    }
    Ok(map)
}

async fn check(response: Response) -> Result<Response> {
    let status = response.status();
    if status.is_redirection() {
        return Err(Fault::new(ErrorKind::Redirected));
    }
    if !status.is_success() {
        return Err(complaint(response).await);
    }
    let header = |name: &str| text_header(response.headers(), name).unwrap_or_default();
    if header("content-type").to_lowercase().starts_with("text/html") {
        return Err(Fault::protocol("the server returned a web page"));
    }
    if !matches!(header("content-encoding").as_str(), "" | "identity") {
        return Err(Fault::protocol(
            "the server sent a response in an unsupported compression format",
        ));
    }
    Ok(response)
}

/// Returns whether the response is a single JSON document. Servers without streaming support send
/// such a response.
pub(super) fn is_json(response: &Response) -> bool {
    let content_type = text_header(response.headers(), "content-type").unwrap_or_default();
    content_type.to_lowercase().starts_with("application/json")
}

async fn complaint(mut response: Response) -> Fault {
    let status = response.status().as_u16();
    let wait = retry_after(|name| text_header(response.headers(), name));
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if MAX_COMPLAINT <= body.len() {
            break;
        }
    }
    Complaint::read(&String::from_utf8_lossy(&body)).into_fault(Some(status), wait)
}

pub(crate) fn text_header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Reads at most `limit` bytes of the body, and returns whether the body was longer.
pub(crate) async fn read_up_to(
    mut response: Response,
    limit: usize,
) -> reqwest::Result<(Vec<u8>, bool)> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if limit < body.len() {
            body.truncate(limit);
            return Ok((body, true));
        }
    }
    Ok((body, false))
}

fn silent_fault(time: Duration) -> Fault {
    let said = format!("no data from the server for {} seconds", time.as_secs());
    Fault { kind: ErrorKind::Timeout(Wait::FirstToken), said: Some(said) }
}

fn unreachable_fault(error: reqwest::Error) -> Fault {
    Fault {
        kind: ErrorKind::Unavailable { status: None },
        said: Some(with_causes(&error.without_url())),
    }
}

pub(super) fn cut_fault(error: reqwest::Error) -> Fault {
    Fault { kind: ErrorKind::CutStream, said: Some(with_causes(&error.without_url())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(base_url: &str, key: Option<&str>) -> Result<Endpoint, EndpointError> {
        let key = key.and_then(Secret::new);
        Endpoint::new("p", base_url, key.as_ref(), None)
    }

    #[tokio::test]
    async fn a_server_elsewhere_that_says_nothing_is_left() {
        let elsewhere = open("http://192.0.2.1/v1", None).unwrap();
        assert_eq!(elsewhere.answer_timeout, Some(ANSWER_TIMEOUT));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut endpoint = open(&format!("http://{address}/v1"), None).unwrap();
        assert_eq!(endpoint.answer_timeout, None, "the server may still be loading a model");
        endpoint.answer_timeout = Some(Duration::from_millis(1));
        let fault = endpoint.post("/chat", &[], Vec::new()).await.unwrap_err();
        assert_eq!(fault.kind, ErrorKind::Timeout(Wait::FirstToken));
        assert!(fault.said.unwrap().starts_with("no data from the server"));
    }

    #[test]
    fn addresses_are_checked_before_a_key_goes_there() {
        for (url, key, expected) in [
            ("http://127.0.0.1:8080/v1/", Some("k"), "ok"),
            ("http://[::1]:8080/v1", Some("k"), "ok"),
            ("http://localhost/v1", Some("k"), "ok"),
            ("http://10.0.0.5/v1", None, "ok"),
            ("http://10.0.0.5/v1", Some("k"), "clear"),
            ("http://localhost.example.com/v1", Some("k"), "clear"),
            ("http://u:hunter2@localhost/v1", None, "plain"),
            ("http://localhost/v1?key=hunter2", None, "plain"),
            ("file:///etc/passwd", None, "http"),
            ("hunter2", None, "http"),
            ("http://localhost/v1", Some("a\nb"), "key"),
        ] {
            let result = open(url, key);
            let shown = format!("{result:?}");
            assert!(!shown.contains("hunter2"), "{shown}");
            let got = match result {
                Ok(_) => "ok",
                Err(EndpointError::KeyInTheClear(_)) => "clear",
                Err(EndpointError::NotPlain(_)) => "plain",
                Err(EndpointError::NotHttp(_)) => "http",
                Err(EndpointError::BadKey(_)) => "key",
                Err(EndpointError::Client(..)) => "other",
            };
            assert_eq!(got, expected, "{url}");
        }
    }
}
