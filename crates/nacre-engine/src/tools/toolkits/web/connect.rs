//! Makes one HTTP request to checked addresses and limits the size of the response body.

use std::net::{IpAddr, SocketAddr};

use nacre_base::with_causes;
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};

use crate::model::{client_builder, read_up_to, text_header};
use crate::tools::toolkits::prelude::*;
use crate::tools::toolkits::web::address::AddressGuard;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);

const MAX_ADDRESSES: usize = 16;

const WELCOME: &str =
    "text/html, text/plain, text/markdown, application/json, application/xml;q=0.9, */*;q=0.1";

pub(super) fn web_url(text: &str) -> Result<Url> {
    let refuse = |what: &str| {
        let hint = "Use a complete URL, such as https://example.com/page.";
        Err(ToolError::new(Fault::Arguments, what, hint))
    };
    if text.len() > 4_000 || text.chars().any(char::is_control) {
        return refuse("The URL is too long or contains control characters");
    }
    let Ok(mut url) = Url::parse(text.trim()) else { return refuse("Invalid URL") };
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return refuse("Only http and https URLs can be fetched");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("The URL contains a user name or a password");
    }
    url.set_fragment(None);
    Ok(url)
}

/// Returns the host of a URL, without the brackets of an IPv6 address.
pub(super) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches(']').to_owned()
}

/// Requests a page. The connection uses only addresses that have been checked.
pub(super) async fn get(url: &Url, guard: &AddressGuard) -> Result<Response> {
    let addresses = resolve_allowed(url, guard).await?;
    let client = client_builder(url, CONNECT_TIMEOUT)
        .no_proxy()
        .resolve_to_addrs(&host_of(url), &addresses)
        .build()
        .map_err(|error| network(&error.to_string()))?;
    let request = client.get(url.clone()).header(ACCEPT, WELCOME);
    request.send().await.map_err(|error| network(&causes(error)))
}

/// Resolves a host. Fails unless all of its addresses are allowed.
async fn resolve_allowed(url: &Url, guard: &AddressGuard) -> Result<Vec<SocketAddr>> {
    let host = host_of(url);
    let port = url.port_or_known_default().unwrap_or(80);
    let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => {
            let found = tokio::net::lookup_host((host.as_str(), port)).await;
            found.map_err(|error| network(&error.to_string()))?.take(MAX_ADDRESSES).collect()
        }
    };
    if addresses.is_empty() {
        return Err(network("the host has no address"));
    }
    // A mix of public and private addresses is typical of DNS rebinding attacks.
    if addresses.iter().any(|address| !guard.allows(*address)) {
        return Err(ToolError::new(
            Fault::Blocked,
            format!("`{host}` is not on the public internet"),
            "Only public addresses can be fetched. For a server on this machine, ask the user.",
        ));
    }
    Ok(addresses)
}

pub(super) fn redirect_of(response: &Response, from: &Url) -> Option<Result<Url>> {
    if !response.status().is_redirection() {
        return None;
    }
    let target = text_header(response.headers(), LOCATION.as_str())?;
    Some(match from.join(&target) {
        Ok(url) => web_url(url.as_str()),
        Err(_) => Err(network("the page redirects to an invalid URL")),
    })
}

/// Reads at most `limit` bytes of the body, and returns whether the body was longer.
pub(super) async fn body(response: Response, limit: usize) -> Result<(Vec<u8>, bool)> {
    let encoding = text_header(response.headers(), CONTENT_ENCODING.as_str()).unwrap_or_default();
    if !matches!(encoding.as_str(), "" | "identity") {
        return Err(network(
            "the server compressed its response although compression was not requested",
        ));
    }
    read_up_to(response, limit).await.map_err(|error| network(&causes(error)))
}

/// Returns the lowercase media type without parameters, and the character set.
pub(super) fn kind_of(response: &Response) -> (String, String) {
    let text = text_header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
    let lower = text.to_lowercase();
    let (kind, parameters) = lower.split_once(';').unwrap_or((&lower, ""));
    let charset = parameters.split(';').find_map(|part| part.trim().strip_prefix("charset="));
    let charset = charset.unwrap_or_default().trim_matches('"').to_owned();
    (kind.trim().to_owned(), charset)
}

pub(super) fn network(what: &str) -> ToolError {
    let what = format!("Cannot fetch the page: {what}");
    ToolError::new(Fault::Network, what, "Try another URL, or try again later.")
}

fn causes(error: reqwest::Error) -> String {
    with_causes(&error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_address_becomes_its_numbers() {
        for (text, expected) in [
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://127.1/", "127.0.0.1"),
            ("http://①②⑦.0.0.1/", "127.0.0.1"),
            ("http://[::ffff:7f00:1]/", "::ffff:7f00:1"),
            ("http://0xa9fea9fe/", "169.254.169.254"),
            ("https://Example.COM./a#b", "example.com."),
        ] {
            assert_eq!(host_of(&web_url(text).expect(text)), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_plain_web_address_is_refused() {
        for text in [
            "file:///etc/passwd",
            "ftp://example.com/",
            "gopher://127.0.0.1:25/",
            "https://user:word@example.com/",
            "https://user@example.com/",
            "http://exa\0mple.com/",
            "http:///nowhere\n",
            "example.com",
            "javascript:alert(1)",
            "",
        ] {
            assert!(web_url(text).is_err(), "{text:?}");
        }
    }
}
