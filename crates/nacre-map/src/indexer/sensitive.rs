//! Files that no map shows, by name: never read, never listed.
//!
//! Matched in every folder and in any case.

use super::patterns::{MAX_COSTLY, is_costly};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use nacre_core::base::{SENSITIVE_NAMES, holds_variables};
use xxhash_rust::xxh3::xxh3_64;

/// A text that cannot be used as a glob.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` cannot be used as a glob: {why}")]
pub struct BadGlob {
    glob: String,
    why: String,
}

/// What no map shows.
#[derive(Clone, Debug)]
pub struct Sensitive {
    globs: GlobSet,
    /// The globs as they were given, in the order of the set.
    texts: Vec<String>,
}

impl Sensitive {
    /// What holds for everybody, and `globs` besides. One without a `/` holds in every folder.
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        let mut set = GlobSetBuilder::new();
        let mut texts = Vec::new();
        let everybody = SENSITIVE_NAMES.iter().map(|glob| (*glob).to_owned());
        for glob in everybody.chain(globs.iter().cloned()) {
            let built = GlobBuilder::new(&anchored(&glob))
                .case_insensitive(true)
                .literal_separator(true)
                .build()
                .map_err(|error| bad(&glob, &error))?;
            set.add(built);
            texts.push(glob);
        }
        if let Some(glob) = texts.iter().filter(|glob| is_costly(glob)).nth(MAX_COSTLY) {
            let why = format!("it is one of more than {MAX_COSTLY} globs with several wildcards");
            return Err(BadGlob { glob: glob.clone(), why });
        }
        Ok(Self { globs: set.build().map_err(|error| bad("", &error))?, texts })
    }

    /// The rule that keeps a file or folder out, where one does. What lies in it is never looked at.
    pub fn rule_for(&self, path: &str) -> Option<&str> {
        let name = path.rsplit('/').next().unwrap_or_default();
        if holds_variables(name) {
            return Some(".env.*");
        }
        // Nearly every path ends here, without a list being made.
        if !self.globs.is_match(path) {
            return None;
        }
        let rule = self.globs.matches(path).into_iter().next();
        rule.and_then(|idx| self.texts.get(idx)).map(String::as_str)
    }

    /// The rule that keeps a path out, by its own name or that of a folder that it lies in.
    pub fn rule_above(&self, path: &str) -> Option<&str> {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.get(..end)).find_map(|above| self.rule_for(above))
    }

    /// Tells these rules from others.
    pub(super) fn identity(&self) -> u64 {
        xxh3_64(self.texts.join("\0").as_bytes())
    }
}

fn anchored(glob: &str) -> String {
    let glob = glob.trim_end_matches('/').trim_end_matches("/**");
    match glob.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if glob.contains('/') => glob.to_owned(),
        None => format!("**/{glob}"),
    }
}

fn bad(glob: &str, error: &globset::Error) -> BadGlob {
    BadGlob { glob: glob.to_owned(), why: error.kind().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_out_and_code_about_secrets_is_in() {
        let sensitive = Sensitive::new(&["vault/".to_owned(), "/top.txt".to_owned()]).unwrap();
        let mut table = String::new();
        for path in [
            "src/main.rs",
            "src/secret_redaction.py",
            "credentials.rs",
            ".env",
            "app/.ENV.production",
            ".env.example",
            "environment.md",
            "certs/server.pem",
            "keys.rs",
            "home/.ssh/config",
            "id_ed25519.pub",
            "deep/vault/x",
            "top.txt",
            "deep/top.txt",
        ] {
            table += &format!("{path} {}\n", sensitive.rule_above(path).unwrap_or("-"));
        }
        insta::assert_snapshot!(table, @r"
        src/main.rs -
        src/secret_redaction.py -
        credentials.rs -
        .env .env
        app/.ENV.production .env.*
        .env.example -
        environment.md -
        certs/server.pem *.pem
        keys.rs -
        home/.ssh/config .ssh
        id_ed25519.pub id_ed25519*
        deep/vault/x vault/
        top.txt /top.txt
        deep/top.txt -
        ");
    }
}
