//! Who shows that they may: the token of the run folder, or the cookie that the dashboard got for a one-time code.
//!
//! Codes and cookies live in memory alone. A code is good once and for two minutes, because it stands in an address that a browser
//! may keep; a server that starts anew has forgotten them all.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nacre_ops::OpError;
use nacre_ops::host::Environment;

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
    /// Cookies of one host are shared by all its ports, so each server has a name of its own.
    cookie_name: String,
    codes: Mutex<VecDeque<Timed>>,
    logins: Mutex<VecDeque<Timed>>,
    random: fn(&mut [u8]) -> std::io::Result<()>,
}

struct Timed {
    secret: String,
    until: Duration,
}

/// How a request proved itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    Token,
    /// A browser holds it, so that other pages may try to use it.
    Cookie,
}

impl Keys {
    pub(super) fn new(token: String, port: u16, environment: &Environment) -> Self {
        Self {
            token,
            cookie_name: format!("nacre_{port}"),
            codes: Mutex::default(),
            logins: Mutex::default(),
            random: environment.random,
        }
    }

    /// A code that lets one browser in. `now` is the age of the process.
    pub(super) fn new_code(&self, now: Duration) -> Result<String, OpError> {
        self.keep(&self.codes, now + CODE_LIFE)
    }

    /// The cookie for a code, which is then used up.
    pub(super) fn log_in(&self, code: &str, now: Duration) -> Result<Option<String>, OpError> {
        {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            let found = codes.iter().position(|kept| is_same(&kept.secret, code));
            let Some(found) = found.and_then(|number| codes.remove(number)) else {
                return Ok(None);
            };
            if found.until < now {
                return Ok(None);
            }
        }
        let secret = self.keep(&self.logins, now + LOGIN_LIFE)?;
        Ok(Some(format!("{}={secret}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name)))
    }

    /// What the headers prove.
    pub(super) fn proof(
        &self,
        authorization: Option<&str>,
        cookies: Option<&str>,
        now: Duration,
    ) -> Option<Proof> {
        if let Some(shown) = authorization {
            // A wrong token is wrong, whatever else is shown.
            let token = shown.strip_prefix("Bearer ")?;
            return is_same(&self.token, token.trim()).then_some(Proof::Token);
        }
        let named = |pair: &str| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.cookie_name).then(|| value.to_owned())
        };
        let shown = cookies?.split(';').find_map(named)?;
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let login = logins.iter_mut().find(|kept| is_same(&kept.secret, &shown))?;
        if login.until < now {
            return None;
        }
        login.until = now + LOGIN_LIFE;
        Some(Proof::Cookie)
    }

    fn keep(&self, kept: &Mutex<VecDeque<Timed>>, until: Duration) -> Result<String, OpError> {
        let secret = secret(self.random)?;
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back(Timed { secret: secret.clone(), until });
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
            cookie_name: "nacre_1".to_owned(),
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
        let proof = |shown| keys.proof(shown, None, Duration::ZERO);
        assert_eq!(proof(Some("Bearer secret")), Some(Proof::Token));
        for wrong in ["secret", "Bearer ", "Bearer secre", "Bearer secrets", "bearer secret"] {
            assert_eq!(proof(Some(wrong)), None, "{wrong}");
        }
        assert_eq!(proof(None), None);
    }

    #[test]
    fn a_code_is_good_once_and_for_a_while() {
        let keys = keys();
        let code = keys.new_code(Duration::ZERO).unwrap();
        assert!(keys.log_in("another", Duration::ZERO).unwrap().is_none());
        let cookie = keys.log_in(&code, Duration::from_secs(1)).unwrap().unwrap();
        assert!(keys.log_in(&code, Duration::from_secs(1)).unwrap().is_none());
        let shown = cookie.split(';').next().unwrap();
        let proof = |cookies: &str, now| keys.proof(None, Some(cookies), now);
        assert_eq!(proof(&format!("a=b; {shown}"), Duration::from_secs(2)), Some(Proof::Cookie));
        assert_eq!(proof(shown, LOGIN_LIFE + Duration::from_secs(3)), None);
        assert_eq!(proof("nacre_1=", Duration::ZERO), None);
        let late = keys.new_code(Duration::ZERO).unwrap();
        assert!(keys.log_in(&late, CODE_LIFE + Duration::from_secs(1)).unwrap().is_none());
    }

    #[test]
    fn a_wrong_token_is_not_made_good_by_a_cookie() {
        let keys = keys();
        let code = keys.new_code(Duration::ZERO).unwrap();
        let cookie = keys.log_in(&code, Duration::ZERO).unwrap().unwrap();
        let shown = cookie.split(';').next().unwrap();
        assert_eq!(keys.proof(Some("Bearer x"), Some(shown), Duration::ZERO), None);
    }
}
