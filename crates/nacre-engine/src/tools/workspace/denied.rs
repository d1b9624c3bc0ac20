//! Files that no agent touches, whatever its areas say.
//!
//! Matched by name, ignoring case, in every folder: a repository that is checked out on another system must not open a
//! door by spelling `.GIT` or `.Env`.

use nacre_core::safefs::RelPath;
pub use nacre_map::indexer::BadGlob;
use nacre_map::indexer::Sensitive;

use super::super::footprint::Area;

/// Never read, never written, never walked: the repository's own machinery.
const CLOSED: &[&str] = &[".git", ".hg", ".svn", "git~1"];

/// Read, but written only by who owns it.
const OWNED: &[&str] = &[".nacre"];

/// What is closed to an agent by name.
#[derive(Clone, Debug)]
pub struct Denied(Sensitive);

impl Denied {
    /// Closes the places with secrets, and `globs` besides. One without a `/` holds in every folder.
    pub fn new(globs: &[String]) -> Result<Self, BadGlob> {
        Sensitive::new(globs).map(Self)
    }

    /// Tells these denials from others.
    pub(super) fn identity(&self) -> String {
        self.0.globs().collect::<Vec<_>>().join("\0")
    }

    /// Patterns for `git`, by which it leaves out the files that the agent may not see.
    pub(crate) fn exclusions(&self) -> Vec<String> {
        let forms = self.0.globs().flat_map(|glob| [format!("{glob}/**"), glob]);
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
        self.0.rule_above(path.as_str()).is_some()
    }
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
        assert!(error.to_string().starts_with("`a[` cannot be used as a glob"), "{error}");
    }
}
