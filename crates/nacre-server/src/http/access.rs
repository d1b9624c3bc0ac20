//! Who shows that they may: the token of the run folder, or the secret that a page of the dashboard got for a one-time code.
//!
//! Both come in `Authorization` and never in a cookie: a browser sends cookies to every port of a host, so that whoever listens on
//! another one would get them. A page keeps its secret where only pages of its own origin, port included, can read it.
//!
//! A page may do what whoever asked for its code may. Tokens of people are looked up in `people.rs`.
//!
//! Codes and secrets live in memory alone. A code is good once and for two minutes, because it stands in an address that a browser
//! may keep; a server that starts anew has forgotten them all.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nacre_ops::OpError;
use nacre_ops::host::Environment;
use nacre_ops::people::Caller;

/// How long a one-time code is good.
const CODE_LIFE: Duration = Duration::from_secs(120);
/// How long a dashboard stays logged in after its last request.
const LOGIN_LIFE: Duration = Duration::from_secs(12 * 60 * 60);
/// Codes and logins that are kept; the oldest go first.
const MAX_KEPT: usize = 64;
const SECRET_BYTES: usize = 32;

/// What proves that a request is the person's.
pub(super) struct Keys {
    token: String,
    codes: Mutex<VecDeque<Timed>>,
    logins: Mutex<VecDeque<Timed>>,
    random: fn(&mut [u8]) -> std::io::Result<()>,
}

struct Timed {
    secret: String,
    until: Duration,
    /// Whoever asked for the code.
    caller: Caller,
}

/// How a request proved itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The server's own token, or that of a person.
    Token(Caller),
    /// The secret of a page in a browser, or a proxy that a browser logged in at.
    Page(Caller),
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

    /// A code that lets one browser in, as the caller. `now` is the age of the process.
    pub(super) fn new_code(&self, caller: Caller, now: Duration) -> Result<String, OpError> {
        self.keep(&self.codes, caller, now + CODE_LIFE)
    }

    /// The secret of a page for its code, which is then used up.
    pub(super) fn log_in(&self, code: &str, now: Duration) -> Result<Option<String>, OpError> {
        let caller = {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            let found = codes.iter().position(|kept| is_same(&kept.secret, code));
            let Some(found) = found.and_then(|number| codes.remove(number)) else {
                return Ok(None);
            };
            if found.until < now {
                return Ok(None);
            }
            found.caller
        };
        self.keep(&self.logins, caller, now + LOGIN_LIFE).map(Some)
    }

    /// What the header `Authorization` proves.
    pub(super) fn proof(&self, authorization: &str, now: Duration) -> Option<Proof> {
        let shown = authorization.strip_prefix("Bearer ")?.trim();
        if is_same(&self.token, shown) {
            return Some(Proof::Token(Caller::owner()));
        }
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let login = logins.iter_mut().find(|kept| is_same(&kept.secret, shown))?;
        if login.until < now {
            return None;
        }
        login.until = now + LOGIN_LIFE;
        Some(Proof::Page(login.caller.clone()))
    }

    fn keep(
        &self,
        kept: &Mutex<VecDeque<Timed>>,
        caller: Caller,
        until: Duration,
    ) -> Result<String, OpError> {
        let secret = secret(self.random)?;
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back(Timed { secret: secret.clone(), until, caller });
        Ok(secret)
    }
}

/// Bytes that nobody can guess, as text.
pub(super) fn secret(random: fn(&mut [u8]) -> std::io::Result<()>) -> Result<String, OpError> {
    let mut bytes = [0; SECRET_BYTES];
    random(&mut bytes)
        .map_err(|error| OpError::failed(format!("The system gives no random bytes: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that does not tell where they differ.
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
                use std::sync::atomic::{AtomicU8, Ordering};
                static NEXT: AtomicU8 = AtomicU8::new(1);
                bytes.fill(NEXT.fetch_add(1, Ordering::Relaxed));
                Ok(())
            },
        }
    }

    #[test]
    fn only_the_token_itself_is_a_proof() {
        let keys = keys();
        let proof = |shown| keys.proof(shown, Duration::ZERO);
        assert_eq!(proof("Bearer secret"), Some(Proof::Token(Caller::owner())));
        for wrong in ["", "secret", "Bearer ", "Bearer secre", "Bearer secrets", "bearer secret"] {
            assert_eq!(proof(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_code_is_good_once_and_for_a_while() {
        let keys = keys();
        let code = keys.new_code(Caller::owner(), Duration::ZERO).unwrap();
        assert!(keys.log_in("another", Duration::ZERO).unwrap().is_none());
        let secret = keys.log_in(&code, Duration::from_secs(1)).unwrap().unwrap();
        assert!(keys.log_in(&code, Duration::from_secs(1)).unwrap().is_none());
        let proof = |shown: &str, now| keys.proof(&format!("Bearer {shown}"), now);
        let used = Duration::from_secs(2);
        let page = || Some(Proof::Page(Caller::owner()));
        assert_eq!(proof(&secret, used), page());
        // Each request lets it live on.
        let used = used + LOGIN_LIFE;
        assert_eq!(proof(&secret, used), page());
        assert_eq!(proof(&secret, used + LOGIN_LIFE + Duration::from_secs(1)), None);
        // A code is no secret, used or not.
        let late = keys.new_code(Caller::owner(), Duration::ZERO).unwrap();
        assert_eq!([&code, &late].map(|code| proof(code, Duration::ZERO)), [None, None]);
        assert!(keys.log_in(&late, CODE_LIFE + Duration::from_secs(1)).unwrap().is_none());
    }
}
