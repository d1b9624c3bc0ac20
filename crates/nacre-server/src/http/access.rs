//! The keys that the server itself knows: the token of the run folder, and the secret that a page of the dashboard got for a one-time code.
//!
//! Both come in `Authorization` and never in a cookie: a browser sends cookies to every port of a host, so that a listener on
//! another one would get them. A page keeps its secret where only pages of its own origin, port included, can read it.
//!
//! A page belongs to the token that asked for its code, and may do what that token may at the moment. Tokens are looked up in
//! `people.rs`.
//!
//! Codes and secrets are in memory alone. A code is good once and for two minutes, because it is part of an address that a browser
//! may keep; a restart forgets them all.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nacre_ops::OpError;
use nacre_ops::host::Environment;
use nacre_ops::people::Identity;

/// How long a one-time code is good.
const CODE_LIFE: Duration = Duration::from_secs(120);
/// How long a dashboard stays logged in after its last request.
const LOGIN_LIFE: Duration = Duration::from_secs(12 * 60 * 60);
/// Codes, and logins, of one person; the oldest go first, and never those of others.
const MAX_PER_PERSON: usize = 16;
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
    /// Who asked for the code.
    identity: Identity,
}

/// What a text is the key of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The server's own token.
    Owner,
    Page(Identity),
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

    /// A code that lets one browser in. `now` is the age of the process.
    pub(super) fn new_code(&self, identity: Identity, now: Duration) -> Result<String, OpError> {
        self.keep(&self.codes, identity, (now, CODE_LIFE))
    }

    /// The secret of a page for its code, which is then used up.
    pub(super) fn log_in(&self, code: &str, now: Duration) -> Result<Option<String>, OpError> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let found = codes.iter().position(|kept| is_same(&kept.secret, code));
        let found = found.and_then(|number| codes.remove(number)).filter(|kept| now <= kept.until);
        let Some(Timed { identity, .. }) = found else { return Ok(None) };
        self.keep(&self.logins, identity, (now, LOGIN_LIFE)).map(Some)
    }

    /// What the text is the key of.
    pub(super) fn find(&self, shown: &str, now: Duration) -> Option<Key> {
        if is_same(&self.token, shown) {
            return Some(Key::Owner);
        }
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        let is_meant = |kept: &&mut Timed| is_same(&kept.secret, shown) && now <= kept.until;
        let login = logins.iter_mut().find(is_meant)?;
        login.until = now + LOGIN_LIFE;
        Some(Key::Page(login.identity.clone()))
    }

    fn keep(
        &self,
        kept: &Mutex<VecDeque<Timed>>,
        identity: Identity,
        (now, life): (Duration, Duration),
    ) -> Result<String, OpError> {
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
        assert_eq!(keys.find("secret", Duration::ZERO), Some(Key::Owner));
        for wrong in ["", "secre", "secrets", "Secret", "Bearer secret"] {
            assert_eq!(keys.find(wrong, Duration::ZERO), None, "{wrong}");
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
        assert_eq!(keys.find(&secret, used), Some(Key::Page(ana())));
        // Each request extends it.
        let used = used + LOGIN_LIFE;
        assert_eq!(keys.find(&secret, used), Some(Key::Page(ana())));
        assert_eq!(keys.find(&secret, used + LOGIN_LIFE + Duration::from_secs(1)), None);
        // A code is not a secret, used or not.
        let late = keys.new_code(ana(), Duration::ZERO).unwrap();
        assert_eq!([&code, &late].map(|code| keys.find(code, Duration::ZERO)), [None, None]);
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
        assert_eq!(keys.find(&first, now), None, "ana's own oldest page ends");
        assert_eq!(keys.find(&page, now), Some(Key::Page(Identity::Owner)));
        assert!(keys.log_in(&code, now).unwrap().is_some());
        assert!(keys.logins.lock().unwrap().len() <= MAX_PER_PERSON + 2);
    }
}
