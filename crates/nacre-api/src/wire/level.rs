//! How far a memory is trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far a memory is trusted on this machine, lowest first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TrustLevel {
    /// An order with an address, a command or a secret in it, which the person did not say.
    Quarantined,
    /// It came from elsewhere, and nobody here has looked at it.
    Foreign,
    /// A tool or a page said it, or nobody is known to have said it.
    Derived,
    /// The agent said it, in a session on this machine.
    Assistant,
    /// The person said it, in a session on this machine.
    User,
    /// The person wrote it, or looked at it and agreed.
    Human,
}

impl TrustLevel {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quarantined => "quarantined",
            Self::Foreign => "foreign",
            Self::Derived => "derived",
            Self::Assistant => "assistant",
            Self::User => "user",
            Self::Human => "human",
        }
    }
}
