//! The dashboard, as it was built into the program. Nothing is read from a disk.
//!
//! The build compresses it, which saves a third of a megabyte; each file is unpacked when a page asks for it.

use std::io::Read as _;

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response};
use ruzstd::decoding::StreamingDecoder;

use super::body::Body;

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// What is shown where the dashboard was not built.
const WITHOUT: &str = include_str!("without_dashboard.html");

/// A file of the dashboard: `/` is its page.
pub(super) fn asset(path: &str) -> Option<Response<Body>> {
    let name = match path {
        "/" => "index.html",
        path => path.strip_prefix('/')?,
    };
    let found = ASSETS.iter().find(|(asset, _)| *asset == name);
    let bytes = match found {
        Some((_, packed)) => unpacked(packed),
        None if path == "/" => WITHOUT.into(),
        None => return None,
    };
    let mut response = Response::new(Body::whole(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    // Files below `assets/` have their content's hash in their name.
    let is_hashed = name.starts_with("assets/");
    let kept = if is_hashed { "public, max-age=31536000, immutable" } else { "no-cache" };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    Some(response)
}

/// What the build compressed. It cannot fail: a test unpacks all of it.
pub(super) fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let whole = StreamingDecoder::new(packed)
        .map_err(std::io::Error::other)
        .and_then(|mut decoder| decoder.read_to_end(&mut bytes));
    if whole.is_err() {
        bytes.clear();
    }
    bytes
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_built_in_can_be_unpacked() {
        for (name, packed) in ASSETS {
            assert!(!unpacked(packed).is_empty(), "{name}");
        }
        assert_eq!(unpacked(b"no frame"), b"");
    }

    #[test]
    fn only_what_is_built_in_is_served() {
        assert!(asset("/").is_some());
        for path in ["/../Cargo.toml", "/assets/../index.html", "//index.html", "/etc/passwd", ""] {
            assert!(asset(path).is_none(), "{path}");
        }
    }
}
