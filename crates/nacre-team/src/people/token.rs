//! Access tokens, and the callers they identify. Tokens are random, are shown only once, and are
//! stored as hashes.

use std::fmt;

use jiff::Timestamp;
use nacre_base::ContentHash;

use super::permissions::Permissions;

/// Prefix of every token, so that people and secret scanners can recognize it.
pub const TOKEN_PREFIX: &str = "nacre_";

/// The id is this many characters of the hash.
const ID_CHARS: usize = 10;

pub fn token_text(random: &[u8; 32]) -> String {
    let digits = random.iter().map(|byte| format!("{byte:02x}"));
    digits.fold(TOKEN_PREFIX.to_owned(), |text, digits| text + &digits)
}

/// A token's hash. Tokens are random, so a fast hash function is sufficient.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenHash(String);

impl TokenHash {
    pub fn of(token: &str) -> Self {
        Self(ContentHash::of(token.as_bytes()).to_string())
    }

    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn id(&self) -> String {
        self.0.chars().take(ID_CHARS).collect()
    }

    /// Compares the hashes in constant time.
    pub fn is(&self, other: &Self) -> bool {
        let pairs = self.0.bytes().zip(other.0.bytes());
        let differ = pairs.fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == other.0.len() && differ == 0
    }
}

/// Omits the hash, which logs do not need.
impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHash({})", self.id())
    }
}

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
    /// Returns whether the token is neither revoked nor expired.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

/// A caller's identity, without permissions. Permissions are looked up for each request, message
/// and event, because the token may have been revoked in the meantime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    Owner,
    Token { id: String, person: String },
}

impl Identity {
    /// Returns the person's name, or `None` for the owner.
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::Owner => None,
            Self::Token { person, .. } => Some(person),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub identity: Identity,
    pub permissions: Permissions,
}

impl Caller {
    pub fn owner() -> Self {
        Self { identity: Identity::Owner, permissions: Permissions::owner() }
    }

    /// Returns the caller for requests without credentials. No token has its id.
    pub fn nobody() -> Self {
        Self::with_token("", "nobody", Permissions::default())
    }

    pub fn with_token(id: &str, person: &str, permissions: Permissions) -> Self {
        let identity = Identity::Token { id: id.to_owned(), person: person.to_owned() };
        Self { identity, permissions }
    }

    pub fn is_owner(&self) -> bool {
        self.identity == Identity::Owner
    }

    pub fn person(&self) -> Option<&str> {
        self.identity.person()
    }

    pub fn name(&self) -> &str {
        self.person().unwrap_or("owner")
    }
}

impl From<TokenRecord> for Caller {
    fn from(token: TokenRecord) -> Self {
        Self::with_token(&token.id, &token.person, token.permissions)
    }
}

impl Default for Caller {
    fn default() -> Self {
        Self::owner()
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
