//! Who calls.

use super::permissions::Permissions;

/// Whoever an operation is done for, and what they may do. Without a name it is the person whose machine it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub person: Option<String>,
    pub permissions: Permissions,
}

impl Caller {
    /// The person whose machine it is: everything is theirs.
    pub fn owner() -> Self {
        Self { person: None, permissions: Permissions::owner() }
    }

    pub fn person(name: &str, permissions: Permissions) -> Self {
        Self { person: Some(name.to_owned()), permissions }
    }

    /// How lists name them.
    pub fn name(&self) -> &str {
        self.person.as_deref().unwrap_or("owner")
    }
}

impl Default for Caller {
    fn default() -> Self {
        Self::owner()
    }
}
