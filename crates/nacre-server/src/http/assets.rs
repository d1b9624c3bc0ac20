//! The dashboard, as it was built into the program. Nothing is read from a disk.

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Response};

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
        Some((_, bytes)) => *bytes,
        None if path == "/" => WITHOUT.as_bytes(),
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
    fn only_what_is_built_in_is_served() {
        assert!(asset("/").is_some());
        for path in ["/../Cargo.toml", "/assets/../index.html", "//index.html", "/etc/passwd", ""] {
            assert!(asset(path).is_none(), "{path}");
        }
    }
}
