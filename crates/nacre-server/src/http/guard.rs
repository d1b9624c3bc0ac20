//! Checks every request's host name, origin, content type and credentials, because web pages and
//! other users on this machine can send requests to a local port.
//!
//! Secrets are sent in the `Authorization` header and never in a cookie, because browsers send
//! cookies to every port of a host, including those of other programs.

use std::collections::VecDeque;
use std::net::IpAddr;

use axum::http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use axum::http::{Method, Uri};
use nacre_ops::people::Identity;

use super::answer::Refusal;
use crate::prelude::*;

const MAX_URI_BYTES: usize = 8 << 10;

pub(super) struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    /// `stated` contains the configured proxy names in the form `host:port`.
    pub(super) fn new(port: u16, stated: &[String]) -> Self {
        let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        let origins = own.iter().map(|host| format!("http://{host}"));
        // Proxies terminate TLS, so their names are accepted only with https.
        let origins = origins.chain(stated.iter().map(|host| format!("https://{host}"))).collect();
        Self { hosts: own.into_iter().chain(stated.iter().cloned()).collect(), origins }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryPoint {
    /// The TCP port, which browsers and other users can also reach. The value is the client's
    /// address.
    Port(IpAddr),
    /// The socket, which only processes of the same user can open.
    Socket,
}

pub(super) fn check_origin(
    names: &Names,
    entry: EntryPoint,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    let too_long = uri.path_and_query().is_some_and(|text| MAX_URI_BYTES < text.as_str().len());
    if too_long {
        let message = "The URL is too long";
        return Err(Refusal::new(StatusCode::URI_TOO_LONG, ErrorCode::TooLarge, message));
    }
    if uri.authority().is_some() {
        let message = "This server does not act as a proxy";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::Usage, message));
    }
    if entry == EntryPoint::Socket {
        return Ok(());
    }
    let host = only(headers, &HOST).filter(|host| names.hosts.iter().any(|name| name == host));
    if host.is_none() {
        let message = "Unknown host name";
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST, ErrorCode::Refused, message));
    }
    let foreign = |message: &str| Refusal::new(StatusCode::FORBIDDEN, ErrorCode::Refused, message);
    if headers.contains_key(ORIGIN) {
        let is_own = |origin: &str| names.origins.iter().any(|name| name == origin);
        if !only(headers, &ORIGIN).is_some_and(is_own) {
            return Err(foreign("The request is from a different origin"));
        }
    }
    let site = HeaderName::from_static("sec-fetch-site");
    if headers.contains_key(&site) {
        let is_own = |site: &str| matches!(site, "same-origin" | "none");
        if !only(headers, &site).is_some_and(is_own) {
            return Err(foreign("The request is from a different site"));
        }
    }
    Ok(())
}

/// Requires changes to have a JSON body, which pages from other origins cannot send without a
/// preflight request.
pub(super) fn check_form(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    if [Method::POST, Method::PUT, Method::PATCH].contains(method) {
        let is_json = |kind: &str| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind.eq_ignore_ascii_case("application/json")
        };
        if !only(headers, &CONTENT_TYPE).is_some_and(is_json) {
            let (status, message) = (StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body must be JSON");
            return Err(Refusal::new(status, ErrorCode::Usage, message)
                .hint("Send the header `Content-Type: application/json`"));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Accepts tokens and dashboard logins.
    Read,
    /// Like `Read`, for routes that change something. These never use GET.
    Change,
    /// Accepts tokens and the socket, but not dashboard logins.
    Program,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    Token(Caller),
    /// A dashboard login, or a browser authenticated by a proxy.
    Page(Caller),
}

/// Authenticates the caller. Cookies are ignored, because browsers send them automatically.
pub(super) fn caller(
    proof: Option<Proof>,
    access: Access,
    headers: &HeaderMap,
) -> Result<Caller, Refusal> {
    match proof {
        Some(Proof::Token(caller)) => Ok(caller),
        // Browsers always send the page's origin with requests that change something.
        Some(Proof::Page(caller)) if access == Access::Read => Ok(caller),
        Some(Proof::Page(caller)) if access == Access::Change && headers.contains_key(ORIGIN) => {
            Ok(caller)
        }
        Some(Proof::Page(_)) | None => {
            let message = "The token is missing or invalid";
            Err(Refusal::new(StatusCode::UNAUTHORIZED, ErrorCode::Refused, message).hint(
                "Programs send `Authorization: Bearer` with the token in ~/.nacre/run/token; `nacre \
                 dashboard` logs in a browser",
            ))
        }
    }
}

/// Returns the header's value, or `None` if the header occurs more than once or is not valid text.
pub(super) fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

const CODE_LIFE: Duration = Duration::from_secs(120);
/// How long a login remains valid after the dashboard's last request.
const LOGIN_LIFE: Duration = Duration::from_secs(12 * 60 * 60);
/// Maximum number of login codes, and of logins, per person. When a limit is exceeded, the oldest
/// entry is dropped.
const MAX_PER_PERSON: usize = 16;
const SECRET_BYTES: usize = 32;

pub(super) struct Keys {
    token: String,
    codes: Mutex<VecDeque<Timed>>,
    logins: Mutex<VecDeque<Timed>>,
    random: fn(&mut [u8]) -> std::io::Result<()>,
}

struct Timed {
    secret: String,
    until: Duration,
    identity: Identity,
}

impl Keys {
    pub(super) fn new(token: String, environment: &Environment) -> Self {
        Self {
            token,
            codes: Mutex::default(),
            logins: Mutex::default(),
            random: environment.random,
        }
    }

    /// Returns a single-use login code. `now` is the process uptime.
    pub(super) fn new_code(&self, identity: Identity, now: Duration) -> Result<String> {
        self.keep(&self.codes, identity, now, CODE_LIFE)
    }

    pub(super) fn log_in(&self, code: &str, now: Duration) -> Result<Option<String>> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let found = codes.iter().position(|kept| is_same(&kept.secret, code));
        let found = found.and_then(|number| codes.remove(number)).filter(|kept| now <= kept.until);
        let Some(Timed { identity, .. }) = found else { return Ok(None) };
        self.keep(&self.logins, identity, now, LOGIN_LIFE).map(Some)
    }

    pub(super) fn is_own_token(&self, shown: &str) -> bool {
        is_same(&self.token, shown)
    }

    /// Returns the identity behind a dashboard login secret.
    pub(super) fn find_login(&self, shown: &str, now: Duration) -> Option<Identity> {
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |kept: &&mut Timed| is_same(&kept.secret, shown) && now <= kept.until;
        let login = logins.iter_mut().find(is_meant)?;
        login.until = now + LOGIN_LIFE;
        Some(login.identity.clone())
    }

    fn keep(
        &self,
        kept: &Mutex<VecDeque<Timed>>,
        identity: Identity,
        now: Duration,
        life: Duration,
    ) -> Result<String> {
        let secret = secret(self.random)?;
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|one| now <= one.until);
        let is_theirs = |one: &Timed| one.identity.person() == identity.person();
        if MAX_PER_PERSON <= kept.iter().filter(|one| is_theirs(one)).count() {
            let oldest = kept.iter().position(is_theirs);
            oldest.map(|number| kept.remove(number));
        }
        kept.push_back(Timed { secret: secret.clone(), until: now + life, identity });
        Ok(secret)
    }
}

pub(super) fn secret(random: fn(&mut [u8]) -> std::io::Result<()>) -> Result<String> {
    let mut bytes = [0; SECRET_BYTES];
    random(&mut bytes).map_err(|error| {
        OpError::failed(format!("The system random number generator failed: {error}"))
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares the strings in constant time.
fn is_same(expected: &str, shown: &str) -> bool {
    let differ = expected.bytes().zip(shown.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    expected.len() == shown.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys {
            token: "secret".to_owned(),
            codes: Mutex::default(),
            logins: Mutex::default(),
            random: |bytes| {
                use std::sync::atomic::{AtomicU16, Ordering};
                static NEXT: AtomicU16 = AtomicU16::new(1);
                let number = NEXT.fetch_add(1, Ordering::Relaxed).to_le_bytes();
                bytes[..2].copy_from_slice(&number);
                Ok(())
            },
        }
    }

    fn ana() -> Identity {
        Identity::Token { id: "0123456789".to_owned(), person: "ana".to_owned() }
    }

    #[test]
    fn only_the_token_itself_is_a_key() {
        let keys = keys();
        assert!(keys.is_own_token("secret"));
        for wrong in ["", "secre", "secrets", "Secret", "Bearer secret"] {
            assert!(!keys.is_own_token(wrong), "{wrong}");
            assert_eq!(keys.find_login(wrong, Duration::ZERO), None, "{wrong}");
        }
    }

    #[test]
    fn a_code_is_good_once_and_for_a_while() {
        let keys = keys();
        let code = keys.new_code(ana(), Duration::ZERO).unwrap();
        assert!(keys.log_in("another", Duration::ZERO).unwrap().is_none());
        let secret = keys.log_in(&code, Duration::from_secs(1)).unwrap().unwrap();
        assert!(keys.log_in(&code, Duration::from_secs(1)).unwrap().is_none());
        let used = Duration::from_secs(2);
        assert_eq!(keys.find_login(&secret, used), Some(ana()));
        // Each request extends the login.
        let used = used + LOGIN_LIFE;
        assert_eq!(keys.find_login(&secret, used), Some(ana()));
        assert_eq!(keys.find_login(&secret, used + LOGIN_LIFE + Duration::from_secs(1)), None);
        // A login code must not work as a login secret.
        let late = keys.new_code(ana(), Duration::ZERO).unwrap();
        assert_eq!([&code, &late].map(|code| keys.find_login(code, Duration::ZERO)), [None, None]);
        assert!(keys.log_in(&late, CODE_LIFE + Duration::from_secs(1)).unwrap().is_none());
    }

    #[test]
    fn a_flood_of_one_person_ends_no_page_and_no_code_of_another() {
        let keys = keys();
        let now = Duration::ZERO;
        let log_in = |identity| {
            let code = keys.new_code(identity, now).unwrap();
            keys.log_in(&code, now).unwrap().unwrap()
        };
        let (page, code) = (log_in(Identity::Owner), keys.new_code(Identity::Owner, now).unwrap());
        let first = log_in(ana());
        for _ in 0..MAX_PER_PERSON * 4 {
            keys.new_code(ana(), now).unwrap();
            log_in(ana());
        }
        assert_eq!(keys.find_login(&first, now), None, "ana's own oldest page ends");
        assert_eq!(keys.find_login(&page, now), Some(Identity::Owner));
        assert!(keys.log_in(&code, now).unwrap().is_some());
        assert!(keys.logins.lock().unwrap().len() <= MAX_PER_PERSON + 2);
    }
}
