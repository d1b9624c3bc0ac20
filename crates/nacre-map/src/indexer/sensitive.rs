//! Files that no map shows, by name: never read, never listed.

use super::patterns::{MAX_COSTLY, is_costly};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use nacre_core::base::{SECRETS, secret_places, secret_rule, with_folders};
use xxhash_rust::xxh3::xxh3_64;

/// A text that cannot be used as a glob.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` cannot be used as a glob: {why}")]
pub struct BadGlob {
    glob: String,
    why: String,
}

/// Places with secrets, and what a person's own globs add to them. Case does not matter.
#[derive(Clone, Debug)]
pub struct Sensitive {
    globs: GlobSet,
    /// The globs as they were given, in the order of the set.
    texts: Vec<String>,
}

impl Sensitive {
    /// Adds `globs` to the list of secrets. One without a `/` holds in every folder.
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let built = GlobBuilder::new(&anchored(glob))
                .case_insensitive(true)
                .literal_separator(true)
                .build()
                .map_err(|error| bad(glob, &error))?;
            set.add(built);
        }
        if let Some(glob) = globs.iter().filter(|glob| is_costly(glob)).nth(MAX_COSTLY) {
            let why = format!("it is one of more than {MAX_COSTLY} globs with several wildcards");
            return Err(BadGlob { glob: glob.clone(), why });
        }
        let globs_built = set.build().map_err(|error| bad("", &error))?;
        Ok(Self { globs: globs_built, texts: globs.to_vec() })
    }

    /// The rule that keeps a file or folder out, where one does. What lies in it is never looked at.
    pub fn rule_for(&self, path: &str) -> Option<&str> {
        let own = || self.globs.matches(path).into_iter().next();
        secret_rule(path).or_else(|| own().and_then(|idx| self.texts.get(idx)).map(String::as_str))
    }

    /// The rule that keeps a path out, by its own name or that of a folder that it lies in.
    pub fn rule_above(&self, path: &str) -> Option<&str> {
        with_folders(path).find_map(|above| self.rule_for(above))
    }

    /// Every rule as a glob below the root.
    pub fn globs(&self) -> impl Iterator<Item = String> {
        let listed = secret_places().map(|place| format!("**/{place}"));
        listed.chain(self.texts.iter().map(|glob| anchored(glob)))
    }

    /// Tells these rules from others.
    pub(super) fn identity(&self) -> u64 {
        xxh3_64(format!("{SECRETS}{}", self.texts.join("\0")).as_bytes())
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
