//! Names of sensitive files, which are never read or listed.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use nacre_base::{SECRETS, secret_places, secret_rule, with_folders};
use xxhash_rust::xxh3::xxh3_64;

use super::rules::{MAX_COSTLY, is_costly};

#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is not a valid glob: {why}")]
pub struct BadGlob {
    glob: String,
    why: String,
}

/// The built-in names of sensitive files and the user's own globs. Matching ignores case.
#[derive(Clone, Debug)]
pub struct Sensitive {
    globs: GlobSet,
    texts: Vec<String>,
}

impl Sensitive {
    /// Adds `globs` to the built-in names. A glob without `/` applies in every directory.
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let built = GlobBuilder::new(&anchor_glob(glob))
                .case_insensitive(true)
                .literal_separator(true)
                .build()
                .map_err(|error| bad(glob, &error))?;
            set.add(built);
        }
        if let Some(glob) = globs.iter().filter(|glob| is_costly(glob)).nth(MAX_COSTLY) {
            let why = format!("more than {MAX_COSTLY} globs have several wildcards");
            return Err(BadGlob { glob: glob.clone(), why });
        }
        let globs_built = set.build().map_err(|error| bad("", &error))?;
        Ok(Self { globs: globs_built, texts: globs.to_vec() })
    }

    pub fn rule_for(&self, path: &str) -> Option<&str> {
        let own = || self.globs.matches(path).into_iter().next();
        secret_rule(path).or_else(|| own().and_then(|idx| self.texts.get(idx)).map(String::as_str))
    }

    pub fn rule_above(&self, path: &str) -> Option<&str> {
        with_folders(path).find_map(|above| self.rule_for(above))
    }

    /// Returns each rule as a glob relative to the root.
    pub fn globs(&self) -> impl Iterator<Item = String> {
        let listed = secret_places().map(|place| format!("**/{place}"));
        listed.chain(self.texts.iter().map(|glob| anchor_glob(glob)))
    }

    pub(super) fn identity(&self) -> u64 {
        xxh3_64(format!("{SECRETS}{}", self.texts.join("\0")).as_bytes())
    }
}

fn anchor_glob(glob: &str) -> String {
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
