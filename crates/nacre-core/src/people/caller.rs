//! Who calls.

use super::permissions::Permissions;
use super::token::TokenRecord;

/// Who a request, a connection or a page belongs to. It is all that an open connection or a page
/// stores: what its owner may do is looked up for each request, message and event, because a token
/// can be revoked meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The person whose machine it is.
    Owner,
    /// A person, by one of their tokens.
    Token { id: String, person: String },
}

impl Identity {
    /// The person's name; the owner has none.
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::Owner => None,
            Self::Token { person, .. } => Some(person),
        }
    }
}

/// An identity, with what it may do at the moment of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub identity: Identity,
    pub permissions: Permissions,
}

impl Caller {
    pub fn owner() -> Self {
        Self { identity: Identity::Owner, permissions: Permissions::owner() }
    }

    /// Anybody who shows nothing: no token has this id.
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

    /// The person's name; the owner has none.
    pub fn person(&self) -> Option<&str> {
        self.identity.person()
    }

    /// The name in lists.
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
