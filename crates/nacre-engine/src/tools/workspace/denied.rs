//! Files that no agent touches, whatever its areas say.
//!
//! Matched by name, ignoring case, in every folder: a repository that is checked out on another system must not open a
//! door by spelling `.GIT` or `.Env`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use nacre_core::base::{SENSITIVE_NAMES, VARIABLES, holds_variables};
use nacre_core::safefs::RelPath;

use super::super::footprint::Area;

/// Never read, never written, never walked: the repository's own machinery.
const CLOSED: &[&str] = &[".git", ".hg", ".svn", "git~1"];

/// Read, but written only by who owns it.
const OWNED: &[&str] = &[".nacre"];

/// A text that is no glob.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is no glob: {why}")]
pub struct BadGlob {
    glob: String,
    why: String,
}

/// What is closed to an agent by name.
#[derive(Clone, Debug)]
pub struct Denied {
    globs: GlobSet,
    /// The globs as text, below the root.
    forms: Vec<String>,
}

impl Denied {
    /// What holds for everybody, and `globs` besides. One without a `/` holds in every folder.
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        let mut set = GlobSetBuilder::new();
        let mut all_forms = Vec::new();
        let everybody = SENSITIVE_NAMES.iter().map(|glob| (*glob).to_owned());
        for glob in everybody.chain(globs.iter().cloned()) {
            for form in forms(&glob) {
                let built = GlobBuilder::new(&form)
                    .case_insensitive(true)
                    .literal_separator(true)
                    .build()
                    .map_err(|error| bad(&glob, &error))?;
                set.add(built);
                all_forms.push(form);
            }
        }
        let globs = set.build().map_err(|error| bad("", &error))?;
        Ok(Self { globs, forms: all_forms })
    }

    /// Tells these denials from others.
    pub(super) fn identity(&self) -> String {
        self.forms.join("\0")
    }

    /// Patterns for `git`, by which it leaves out the files that the agent may not see.
    pub(crate) fn exclusions(&self) -> Vec<String> {
        let variables = format!("**/{VARIABLES}*");
        let forms = self.forms.iter().chain([&variables]);
        forms.map(|form| format!(":(exclude,icase,glob){form}")).collect()
    }

    pub(crate) fn forbids_reading(&self, area: &Area) -> bool {
        match area {
            Area::File(path) | Area::Tree(Some(path)) => {
                is_at(path, CLOSED) || self.is_sensitive(path)
            }
            Area::Tree(None) => false,
        }
    }

    pub(crate) fn forbids_writing(&self, area: &Area) -> bool {
        match area {
            Area::File(path) | Area::Tree(Some(path)) => {
                is_at(path, OWNED) || self.forbids_reading(area)
            }
            Area::Tree(None) => false,
        }
    }

    pub(crate) fn is_sensitive(&self, path: &RelPath) -> bool {
        self.globs.is_match(path.as_str()) || path.components().any(holds_variables)
    }
}

/// The glob itself and everything below what it names.
fn forms(glob: &str) -> Vec<String> {
    let anchored = match glob.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if glob.trim_end_matches('/').contains('/') => glob.to_owned(),
        None => format!("**/{glob}"),
    };
    let plain = anchored.trim_end_matches('/').trim_end_matches("/**").to_owned();
    vec![format!("{plain}/**"), plain]
}

fn is_at(path: &RelPath, names: &[&str]) -> bool {
    path.components().any(|part| is_one_of(part, names))
}

/// Whether a name is the repository's own machinery or Nacre's.
pub(crate) fn is_machinery(name: &str) -> bool {
    is_one_of(name, CLOSED) || is_one_of(name, OWNED)
}

fn is_one_of(part: &str, names: &[&str]) -> bool {
    names.iter().any(|name| part.eq_ignore_ascii_case(name))
}

fn bad(glob: &str, error: &globset::Error) -> BadGlob {
    BadGlob { glob: glob.to_owned(), why: error.kind().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_machinery_are_closed_by_name() {
        let denied = Denied::new(&["traces/".to_owned(), "/top.txt".to_owned()]).unwrap();
        let mut table = String::new();
        for path in [
            "src/main.rs",
            ".env",
            "app/.ENV.production",
            ".env.example",
            "environment.md",
            "certs/server.pem",
            "home/.ssh/config",
            "home/.ssh/.env.example",
            "id_ed25519.pub",
            "a/.Git/config",
            ".gitignore",
            ".nacre/memory/x.md",
            "traces/a/b.jsonl",
            "deep/traces/x",
            "top.txt",
            "deep/top.txt",
        ] {
            let area = Area::File(RelPath::new(path).unwrap());
            let reads = if denied.forbids_reading(&area) { "-" } else { "r" };
            let writes = if denied.forbids_writing(&area) { "-" } else { "w" };
            table += &format!("{reads}{writes} {path}\n");
        }
        insta::assert_snapshot!(table, @r"
        rw src/main.rs
        -- .env
        -- app/.ENV.production
        rw .env.example
        rw environment.md
        -- certs/server.pem
        -- home/.ssh/config
        -- home/.ssh/.env.example
        -- id_ed25519.pub
        -- a/.Git/config
        rw .gitignore
        r- .nacre/memory/x.md
        -- traces/a/b.jsonl
        -- deep/traces/x
        -- top.txt
        rw deep/top.txt
        ");
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = Denied::new(&["a[".to_owned()]).unwrap_err();
        assert!(error.to_string().starts_with("`a[` is no glob"), "{error}");
    }
}
