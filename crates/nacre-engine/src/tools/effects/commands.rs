//! Which tool looks after which file, found from what lies in the project now.
//!
//! Nothing is remembered between two calls: a few looks at the disk cost less than being wrong after somebody added a
//! linter or switched branches.

use std::fs;
use std::path::Path;

use crate::tools::EffectKind;

/// Whether a person trusts what the repository brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryTrust {
    /// Somebody else's, as far as we know.
    Stranger,
    Trusted,
}

/// One tool for one kind of file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Its name, for people, models and the count of failures.
    pub(super) name: &'static str,
    pub(super) kind: EffectKind,
    extensions: &'static [&'static str],
    /// One of these lies in the folder of the file or in one above it.
    markers: &'static [&'static str],
    /// The tool itself lies there too, and is the repository's own program.
    program: Tool,
    arguments: &'static [&'static str],
    /// Whether running it runs code or configuration that is code of the repository.
    runs: Runs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    /// Found by its name.
    Installed(&'static str),
    /// A file below the folder of the marker.
    Own(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    NothingOfTheRepository,
    ItsCode,
}

/// Stands for the file, relative to the folder of the marker.
const FILE: &str = "{file}";

/// Stands for the edition of Rust that the project is written in.
const EDITION: &str = "{edition}";

/// The edition where no manifest names one that we know.
const DEFAULT_EDITION: &str = "2021";

const RUSTFMT: &str =
    r#"rustfmt --edition "$2" < "$1" > "$TMPDIR/formatted" && cat "$TMPDIR/formatted" > "$1""#;

/// A manifest is not longer than this.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

const JAVASCRIPT: &[&str] = &["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"];

/// In order: the first that fits a file, for each kind, is the one.
const COMMANDS: &[Command] = &[
    Command {
        name: "rustfmt",
        kind: EffectKind::Format,
        extensions: &["rs"],
        markers: &["Cargo.toml"],
        program: Tool::Installed("/bin/sh"),
        // From its input, because a file that it is named it follows into all modules below.
        arguments: &["-c", RUSTFMT, "rustfmt", FILE, EDITION],
        runs: Runs::NothingOfTheRepository,
    },
    Command {
        name: "cargo check",
        kind: EffectKind::Lint,
        extensions: &["rs"],
        markers: &["Cargo.toml"],
        program: Tool::Installed("cargo"),
        arguments: &["check", "--offline", "--quiet", "--message-format", "short"],
        runs: Runs::ItsCode,
    },
    Command {
        name: "biome",
        kind: EffectKind::Format,
        extensions: JAVASCRIPT,
        markers: &["biome.json", "biome.jsonc"],
        program: Tool::Own("node_modules/.bin/biome"),
        arguments: &["format", "--write", FILE],
        runs: Runs::ItsCode,
    },
    Command {
        name: "prettier",
        kind: EffectKind::Format,
        extensions: JAVASCRIPT,
        markers: &["package.json"],
        program: Tool::Own("node_modules/.bin/prettier"),
        arguments: &["--write", "--log-level", "warn", FILE],
        runs: Runs::ItsCode,
    },
    Command {
        name: "biome",
        kind: EffectKind::Lint,
        extensions: JAVASCRIPT,
        markers: &["biome.json", "biome.jsonc"],
        program: Tool::Own("node_modules/.bin/biome"),
        arguments: &["lint", FILE],
        runs: Runs::ItsCode,
    },
    Command {
        name: "eslint",
        kind: EffectKind::Lint,
        extensions: JAVASCRIPT,
        markers: &["package.json"],
        program: Tool::Own("node_modules/.bin/eslint"),
        arguments: &["--format", "unix", FILE],
        runs: Runs::ItsCode,
    },
    Command {
        name: "ruff",
        kind: EffectKind::Format,
        extensions: &["py", "pyi"],
        markers: &["pyproject.toml", "ruff.toml", "setup.cfg", "setup.py"],
        program: Tool::Installed("ruff"),
        arguments: &["format", "--no-cache", "--quiet", FILE],
        runs: Runs::NothingOfTheRepository,
    },
    Command {
        name: "ruff",
        kind: EffectKind::Lint,
        extensions: &["py", "pyi"],
        markers: &["pyproject.toml", "ruff.toml", "setup.cfg", "setup.py"],
        program: Tool::Installed("ruff"),
        arguments: &["check", "--no-cache", "--quiet", "--output-format", "concise", FILE],
        runs: Runs::NothingOfTheRepository,
    },
    Command {
        name: "gofmt",
        kind: EffectKind::Format,
        extensions: &["go"],
        markers: &["go.mod"],
        program: Tool::Installed("gofmt"),
        arguments: &["-w", FILE],
        runs: Runs::NothingOfTheRepository,
    },
    Command {
        name: "go vet",
        kind: EffectKind::Lint,
        extensions: &["go"],
        markers: &["go.mod"],
        program: Tool::Installed("go"),
        arguments: &["vet", "./..."],
        runs: Runs::ItsCode,
    },
];

/// A command for one file, ready to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) name: &'static str,
    pub(super) kind: EffectKind,
    /// Relative to the workspace; empty for its root.
    pub(super) folder: String,
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
}

/// The tools that look after a file: a formatter, then a linter, where there are any.
pub(super) fn plan(
    workspace: &Path,
    path: &str,
    kinds: &[EffectKind],
    trust: RepositoryTrust,
) -> Vec<Planned> {
    let wanted = [EffectKind::Format, EffectKind::Lint];
    let wanted = wanted.into_iter().filter(|kind| kinds.contains(kind));
    let first = |kind: EffectKind| {
        let of_kind = COMMANDS.iter().filter(move |command| command.kind == kind);
        of_kind.filter_map(|command| command.plan(workspace, path, trust)).next()
    };
    wanted.filter_map(first).collect()
}

impl Command {
    fn plan(&self, workspace: &Path, path: &str, trust: RepositoryTrust) -> Option<Planned> {
        let (_, extension) = path.rsplit_once('.')?;
        let is_allowed =
            self.runs == Runs::NothingOfTheRepository || trust == RepositoryTrust::Trusted;
        if !is_allowed || !self.extensions.contains(&extension) {
            return None;
        }
        let folder = self.home(workspace, path)?;
        let program = match self.program {
            Tool::Installed(name) => name.to_owned(),
            Tool::Own(below) => {
                workspace.join(folder).join(below).is_file().then(|| format!("./{below}"))?
            }
        };
        let file = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        // A name that starts with a dash would be read as an option.
        let file = format!("./{file}");
        let argument = |argument: &&str| match *argument {
            FILE => file.clone(),
            EDITION => edition(workspace, folder),
            other => other.to_owned(),
        };
        let arguments = self.arguments.iter().map(argument).collect();
        Some(Planned {
            name: self.name,
            kind: self.kind,
            folder: folder.to_owned(),
            program,
            arguments,
        })
    }

    /// The nearest folder with a marker, from the file's own up to the workspace.
    fn home<'p>(&self, workspace: &Path, path: &'p str) -> Option<&'p str> {
        let mut folder = path;
        while !folder.is_empty() {
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
            let at = workspace.join(folder);
            if self.markers.iter().any(|marker| at.join(marker).is_file()) {
                return Some(folder);
            }
        }
        None
    }
}

/// The edition that the nearest manifest names, or the workspace's, which it may inherit.
fn edition(workspace: &Path, folder: &str) -> String {
    let named = |manifest: &Path| {
        let is_short =
            manifest.metadata().is_ok_and(|metadata| metadata.len() <= MAX_MANIFEST_BYTES);
        let text = is_short.then(|| fs::read_to_string(manifest).ok())??;
        let values = text.lines().filter_map(|line| line.trim().strip_prefix("edition"));
        let mut values = values.filter_map(|rest| rest.trim_start().strip_prefix('='));
        let value = values.next()?.trim().trim_matches('"').to_owned();
        matches!(value.as_str(), "2015" | "2018" | "2021" | "2024").then_some(value)
    };
    let own = named(&workspace.join(folder).join("Cargo.toml"));
    let inherited = || named(&workspace.join("Cargo.toml"));
    own.or_else(inherited).unwrap_or_else(|| DEFAULT_EDITION.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &[EffectKind] = &[EffectKind::Format, EffectKind::Lint];

    #[expect(clippy::disallowed_methods, reason = "a test lays out a project")]
    fn project(files: &[&str]) -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        for file in files {
            let path = temp.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        temp
    }

    fn names(files: &[&str], path: &str, trust: RepositoryTrust) -> Vec<&'static str> {
        let temp = project(files);
        plan(temp.path(), path, BOTH, trust).iter().map(|planned| planned.name).collect()
    }

    // Acolyte defect 12.
    #[test]
    fn a_strangers_repository_brings_no_program_along() {
        let web = [
            "package.json",
            "node_modules/.bin/prettier",
            "node_modules/.bin/eslint",
            "Cargo.toml",
            "go.mod",
            "pyproject.toml",
        ];
        for (path, stranger, trusted) in [
            ("src/a.ts", vec![], vec!["prettier", "eslint"]),
            ("src/a.rs", vec!["rustfmt"], vec!["rustfmt", "cargo check"]),
            ("a.go", vec!["gofmt"], vec!["gofmt", "go vet"]),
            ("a.py", vec!["ruff", "ruff"], vec!["ruff", "ruff"]),
            ("a.md", vec![], vec![]),
            ("Makefile", vec![], vec![]),
        ] {
            assert_eq!(names(&web, path, RepositoryTrust::Stranger), stranger, "{path}");
            assert_eq!(names(&web, path, RepositoryTrust::Trusted), trusted, "{path}");
        }
    }

    // Acolyte defect 22.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test plays the person")]
    fn a_linter_that_was_just_added_is_found_at_the_next_change() {
        let temp = project(&["package.json"]);
        let found = || plan(temp.path(), "a.ts", BOTH, RepositoryTrust::Trusted).len();
        assert_eq!(found(), 0);
        fs::create_dir_all(temp.path().join("node_modules/.bin")).unwrap();
        fs::write(temp.path().join("node_modules/.bin/eslint"), "").unwrap();
        assert_eq!(found(), 1);
        fs::remove_file(temp.path().join("package.json")).unwrap();
        assert_eq!(found(), 0);
    }

    #[test]
    fn the_nearest_project_is_the_one() {
        let temp = project(&["Cargo.toml", "crates/a/Cargo.toml", "crates/a/src/-x.rs"]);
        let planned = plan(
            temp.path(),
            "crates/a/src/-x.rs",
            &[EffectKind::Format],
            RepositoryTrust::Stranger,
        );
        assert_eq!(planned[0].folder, "crates/a");
        assert_eq!(planned[0].arguments[3..], ["./src/-x.rs", DEFAULT_EDITION]);
    }
}
