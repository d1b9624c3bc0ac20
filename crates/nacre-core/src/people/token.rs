//! Tokens: random, shown once, kept as a hash.

use std::fmt;

use jiff::Timestamp;

use super::permissions::Permissions;
use crate::base::ContentHash;

/// What every token begins with, so that people and scanners recognise one.
pub const TOKEN_PREFIX: &str = "nacre_";

/// How much of the hash names a token in lists.
const ID_CHARS: usize = 10;

/// A token's text, from 32 random bytes.
pub fn token_text(random: &[u8; 32]) -> String {
    let digits = random.iter().map(|byte| format!("{byte:02x}"));
    digits.fold(TOKEN_PREFIX.to_owned(), |text, digits| text + &digits)
}

/// The hash of a token. Tokens are random, so a plain hash does not help anybody to find one.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenHash(String);

impl TokenHash {
    pub fn of(token: &str) -> Self {
        Self(ContentHash::of(token.as_bytes()).to_string())
    }

    /// One that was stored.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What names it in lists.
    pub fn id(&self) -> String {
        self.0.chars().take(ID_CHARS).collect()
    }

    /// Compares in a time that does not tell where they differ.
    pub fn is(&self, other: &Self) -> bool {
        let pairs = self.0.bytes().zip(other.0.bytes());
        let differ = pairs.fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == other.0.len() && differ == 0
    }
}

/// A hash is not a secret, but no log needs it.
impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHash({})", self.id())
    }
}

/// A token that is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// Whose it is.
    pub person: String,
    pub hash: TokenHash,
    pub permissions: Permissions,
    pub created: Timestamp,
    pub expires: Option<Timestamp>,
}

/// A token as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    pub id: String,
    pub person: String,
    pub hash: TokenHash,
    pub permissions: Permissions,
    pub created: Timestamp,
    pub expires: Option<Timestamp>,
    pub revoked: Option<Timestamp>,
}

impl TokenRecord {
    /// Whether it lets anybody in at that time.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_kept_as_a_hash_and_compared_whole() {
        let text = token_text(&[7; 32]);
        assert_eq!(text.len(), TOKEN_PREFIX.len() + 64);
        let hash = TokenHash::of(&text);
        assert!(!hash.as_str().contains(&text[TOKEN_PREFIX.len()..]));
        assert!(hash.is(&TokenHash::of(&text)) && !hash.is(&TokenHash::of(&text[1..])));
        assert_eq!(hash.id().len(), ID_CHARS);
        assert!(!format!("{hash:?}").contains(hash.as_str()));
    }

    #[test]
    fn a_token_ends_when_it_expires_or_is_revoked() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let record = TokenRecord {
            id: "1".to_owned(),
            person: "ana".to_owned(),
            hash: TokenHash::of("x"),
            permissions: Permissions::default(),
            created: at(0),
            expires: Some(at(10)),
            revoked: None,
        };
        assert!(record.is_valid(at(9)) && !record.is_valid(at(10)));
        assert!(!TokenRecord { revoked: Some(at(5)), ..record }.is_valid(at(6)));
    }
}
