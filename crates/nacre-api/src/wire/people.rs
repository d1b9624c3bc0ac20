//! People who may ask a server: their tokens, and the audit list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;

/// How much somebody may do; each includes the ones before it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AccessScope {
    /// Read memories and code.
    Read,
    /// Change memories, too.
    Write,
    /// Everything; in all projects, also the server itself.
    Admin,
}

impl AccessScope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// A project, and what is allowed in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectScope {
    pub project: String,
    /// Where it differs from the token's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<AccessScope>,
}

/// Whom to give a token, and for what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenAddRequest {
    pub person: String,
    pub scope: AccessScope,
    /// Only these projects; without any, all of them.
    #[serde(default)]
    pub projects: Vec<ProjectScope>,
    /// A time such as `90d`, or a day such as `2027-01-31`. Without it, the token lasts until it is revoked.
    #[serde(default)]
    pub expires: Option<String>,
}

/// A token that was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenAddReport {
    /// What the person sends. It is shown here and never again.
    pub token: String,
    #[serde(flatten)]
    pub entry: TokenEntry,
}

impl Report for TokenAddReport {}

/// Whether a token lets its person in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenState {
    Valid,
    Expired,
    Revoked,
}

impl TokenState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// A token, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenEntry {
    pub id: String,
    pub person: String,
    /// What it allows in every project.
    pub everywhere: Option<AccessScope>,
    /// What it allows in single ones.
    pub projects: Vec<ProjectScope>,
    pub created: String,
    pub expires: Option<String>,
    pub state: TokenState,
}

/// Which tokens to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TokenListRequest {
    /// Only those of this person.
    pub person: Option<String>,
}

/// Tokens, by person and then by age.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenListReport {
    pub tokens: Vec<TokenEntry>,
}

impl Report for TokenListReport {}

/// Which token to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRevokeRequest {
    /// The start of its id.
    pub id: String,
}

/// A token that was ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenRevokeReport {
    #[serde(flatten)]
    pub entry: TokenEntry,
}

impl Report for TokenRevokeReport {}

/// Which entries of the audit list to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditRequest {
    pub person: Option<String>,
    pub project: Option<String>,
    /// A day or an age, such as 2026-01-31 or 7d.
    pub since: Option<String>,
    /// At most this many; 0 for all that are kept. Without it, 50.
    pub limit: Option<usize>,
}

/// What was asked of the server, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditReport {
    pub entries: Vec<AuditLine>,
}

impl Report for AuditReport {}

/// One request: who, when, what, where, with what outcome. No contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditLine {
    pub at: String,
    pub who: String,
    /// A route or a tool.
    pub what: String,
    pub project: Option<String>,
    /// `ok`, or the code of the error.
    pub outcome: String,
}
