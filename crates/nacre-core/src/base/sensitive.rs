//! Names under which keys and passwords usually lie: the one list, for everything that reads a stranger's tree.
//!
//! Only names: who matches them, and what becomes of a match, is up to the room that asks.

/// Globs of names, to be matched in every folder and in any case. A name that only speaks of secrets, such as
/// `secret_redaction.py`, is code.
pub const SENSITIVE_NAMES: &[&str] = &[
    ".env",
    ".envrc",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".pgpass",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    "service-account*.json",
];

/// Names that start so are sensitive, too, but for those that [`holds_variables`] knows to be harmless.
pub const VARIABLES: &str = ".env.";

const HARMLESS: &[&str] = &["example", "sample", "template", "dist"];

/// Whether a file of this name holds the variables of some machine: `.env.local` does, `.env.example` does not.
pub fn holds_variables(name: &str) -> bool {
    let parts = name.split_at_checked(VARIABLES.len());
    parts.is_some_and(|(start, ending)| {
        let is_harmless = HARMLESS.iter().any(|known| known.eq_ignore_ascii_case(ending));
        start.eq_ignore_ascii_case(VARIABLES) && !is_harmless
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_variables_are_told_from_their_examples() {
        let told = |name| (name, holds_variables(name));
        assert_eq!(
            [".env.local", ".ENV.Production", ".env.", ".env.Example", ".env", ".envoy"].map(told),
            [
                (".env.local", true),
                (".ENV.Production", true),
                (".env.", true),
                (".env.Example", false),
                (".env", false),
                (".envoy", false),
            ]
        );
    }
}
