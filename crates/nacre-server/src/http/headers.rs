//! What every answer says to a browser: nothing of it may be framed, sniffed, kept or shared with another page.

use http::HeaderValue;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};

/// Scripts and styles come from the program alone; nothing reaches out.
pub(super) const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Adds them to `headers`. There is no header that lets another origin read the answer.
pub(super) fn protect(headers: &mut HeaderMap) {
    let fixed = |name: &'static str| HeaderName::from_static(name);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(fixed("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(fixed("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
