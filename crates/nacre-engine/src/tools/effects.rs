//! Runs formatters and linters on the files that a call changed.
//!
//! Only tools that do not execute code from the repository are used. They run in the same sandbox
//! as shell commands, with a time limit, and their failure never fails the call.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nacre_base::ContentHash;
use tokio::time::{Instant, timeout};

use crate::confine::{Finished, LiveOutput, Program, ProgramEnding as Ending};
use crate::record::{ChangeKind, EffectOutcome, Fault, FileChange};
use crate::tools::tool::{ToolContext, ToolError};
use crate::tools::{Permissions, Programs};

struct Command {
    name: &'static str,
    extensions: &'static [&'static str],
    /// The command runs in the nearest directory that contains one of these files.
    markers: &'static [&'static str],
    program: &'static str,
    arguments: &'static [&'static str],
}

const FILE: &str = "{file}";

const EDITION: &str = "{edition}";

const DEFAULT_EDITION: &str = "2021";

const RUSTFMT: &str =
    r#"rustfmt --edition "$2" < "$1" > "$TMPDIR/formatted" && cat "$TMPDIR/formatted" > "$1""#;

const MAX_MANIFEST_BYTES: u64 = 1 << 20;

const PYTHON: &[&str] = &["pyproject.toml", "ruff.toml", "setup.cfg", "setup.py"];

/// Formatters and linters. All matching commands run, in this order. `rustfmt` reads from standard
/// input, because it would also format submodules if it were given the file name.
#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    Command { name: "rustfmt", extensions: &["rs"], markers: &["Cargo.toml"], program: "/bin/sh",
        arguments: &["-c", RUSTFMT, "rustfmt", FILE, EDITION] },
    Command { name: "ruff", extensions: &["py", "pyi"], markers: PYTHON, program: "ruff",
        arguments: &["format", "--no-cache", "--quiet", FILE] },
    Command { name: "ruff", extensions: &["py", "pyi"], markers: PYTHON, program: "ruff",
        arguments: &["check", "--no-cache", "--quiet", "--output-format", "concise", FILE] },
    Command { name: "gofmt", extensions: &["go"], markers: &["go.mod"], program: "gofmt",
        arguments: &["-w", FILE] },
];

struct Planned {
    name: &'static str,
    /// Relative to the workspace; empty for the root.
    folder: String,
    program: &'static str,
    arguments: Vec<String>,
}

/// Returns the commands for a file. The result is not cached, because it may change when the user
/// switches branches.
fn plan(workspace: &Path, path: &str) -> impl Iterator<Item = Planned> {
    COMMANDS.iter().filter_map(move |command| command.plan(workspace, path))
}

impl Command {
    fn plan(&self, workspace: &Path, path: &str) -> Option<Planned> {
        let (_, extension) = path.rsplit_once('.')?;
        if !self.extensions.contains(&extension) {
            return None;
        }
        let folder = self.home(workspace, path)?;
        let file = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        let argument = |argument: &&str| match *argument {
            // A name that starts with a dash would be parsed as an option.
            FILE => format!("./{file}"),
            EDITION => edition(workspace, folder),
            other => other.to_owned(),
        };
        let arguments = self.arguments.iter().map(argument).collect();
        let (name, program) = (self.name, self.program);
        Some(Planned { name, folder: folder.to_owned(), program, arguments })
    }

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

const MAX_FAILURES: u32 = 3;

/// Combined time limit for the programs that run after one call.
const TIME_LIMIT: Duration = Duration::from_secs(20);

const TOOL_LIMIT: Duration = Duration::from_secs(10);

const MAX_REPORT_BYTES: usize = 2_000;

const MAX_HASHED_BYTES: u64 = 16 << 20;

const MAX_FILES: usize = 20;

pub struct ProjectEffects {
    programs: Arc<Programs>,
    failures: Mutex<BTreeMap<&'static str, u32>>,
}

impl ProjectEffects {
    /// Returns `None` if the agent cannot change files.
    pub fn new(programs: Arc<Programs>, permissions: &Permissions) -> Option<Self> {
        (!permissions.is_read_only()).then(|| Self { programs, failures: Mutex::default() })
    }

    fn is_given_up(&self, name: &'static str) -> bool {
        self.failures().get(name).is_some_and(|n| MAX_FAILURES <= *n)
    }

    fn failures(&self) -> MutexGuard<'_, BTreeMap<&'static str, u32>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look_after(&self, changed: &[FileChange], ctx: &ToolContext) -> EffectReport {
        let deadline = Instant::now() + TIME_LIMIT;
        let mut report = EffectReport::default();
        let mut paths: Vec<&str> = changed
            .iter()
            .filter(|change| change.kind != ChangeKind::Deleted)
            .map(|change| change.path.as_str())
            .collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths.into_iter().take(MAX_FILES) {
            for planned in plan(&ctx.workspace, path) {
                let left = deadline.saturating_duration_since(Instant::now()).min(TOOL_LIMIT);
                if self.is_given_up(planned.name) || ctx.cancel.is_cancelled() || left.is_zero() {
                    continue;
                }
                let (before, begin) = (hash(&ctx.workspace, path), Instant::now());
                let (name, arguments) = (planned.program.to_owned(), planned.arguments.clone());
                let program = Program::Argv { name, arguments };
                let (folder, stdout) = (ctx.workspace.join(&planned.folder), LiveOutput::default());
                // The sandbox enforces the limit. This timeout is only a backstop.
                let running = self.programs.run(program, &folder, left, ctx, &stdout);
                let result = timeout(left + Duration::from_secs(2), running)
                    .await
                    .unwrap_or_else(|_| Err(ToolError::new(Fault::TimedOut, "it did not end", "")));
                let is_changed = hash(&ctx.workspace, path) != before;
                if is_changed {
                    let name = planned.name;
                    let line =
                        format!("{path} was formatted by {name}; read it again before editing.");
                    add_line(&mut report, &line);
                    let (path, kind) = (path.to_owned(), ChangeKind::Edited);
                    report.changed.push(FileChange { path, kind });
                }
                let outcome = match result {
                    Ok(finished) => {
                        finished.notes.iter().for_each(|note| add_line(&mut report, note));
                        self.judge(&planned, path, &finished, &mut report)
                    }
                    // A command that is not installed is not reported.
                    Err(error) if error.fault == Fault::NotFound => continue,
                    Err(error) => self.count_failure(&planned, &error.what, &mut report),
                };
                let is_quiet = outcome == EffectOutcome::Clean;
                let outcome = if is_quiet && is_changed { EffectOutcome::Changed } else { outcome };
                let (effect, took) = (planned.name, begin.elapsed());
                report.done.push(EffectDone { effect, outcome, took });
            }
        }
        report.text = cut(&report.text);
        report
    }

    fn judge(
        &self,
        planned: &Planned,
        path: &str,
        finished: &Finished,
        report: &mut EffectReport,
    ) -> EffectOutcome {
        match finished.ending {
            // The shell exits with 127 if a command is not installed, and with 126 if it is not
            // executable.
            Ending::Exited(0 | 126 | 127) | Ending::Cancelled => {
                self.failures().remove(planned.name);
                EffectOutcome::Clean
            }
            Ending::Exited(_) => {
                // A linter that reports findings has not failed.
                self.failures().remove(planned.name);
                let said = [finished.stdout.text(), finished.stderr.text()].join("\n");
                add_line(report, &format!("{} about {path}:\n{}", planned.name, said.trim()));
                EffectOutcome::Complained
            }
            Ending::TimedOut => {
                self.count_failure(planned, "it timed out", report);
                EffectOutcome::TimedOut
            }
            Ending::Signalled(signal) => {
                self.count_failure(planned, &format!("it was killed by signal {signal}"), report)
            }
        }
    }

    fn count_failure(
        &self,
        planned: &Planned,
        why: &str,
        report: &mut EffectReport,
    ) -> EffectOutcome {
        let name = planned.name;
        let n_failed = {
            let mut failures = self.failures();
            let n_failed = failures.entry(name).or_default();
            *n_failed += 1;
            *n_failed
        };
        let line = match n_failed < MAX_FAILURES {
            true => format!("{name} failed: {why}"),
            false => format!("{name} failed three times ({why}) and will not run again."),
        };
        add_line(report, &line);
        EffectOutcome::Failed
    }
}

impl EffectRunner for ProjectEffects {
    fn starts_programs(&self, changed: &[FileChange], ctx: &ToolContext) -> bool {
        let present = changed.iter().filter(|change| change.kind != ChangeKind::Deleted);
        let mut plans =
            present.take(MAX_FILES).flat_map(|change| plan(&ctx.workspace, &change.path));
        plans.any(|planned| !self.is_given_up(planned.name))
    }

    fn after<'a>(&'a self, changed: &'a [FileChange], ctx: &'a ToolContext) -> EffectRun<'a> {
        Box::pin(self.look_after(changed, ctx))
    }
}

fn add_line(report: &mut EffectReport, line: &str) {
    if !report.text.is_empty() {
        report.text.push('\n');
    }
    report.text.push_str(line);
}

fn hash(workspace: &Path, path: &str) -> Option<ContentHash> {
    let path = workspace.join(path);
    let is_plain = fs::symlink_metadata(&path)
        .is_ok_and(|found| found.is_file() && found.len() <= MAX_HASHED_BYTES);
    is_plain.then(|| fs::read(&path).ok().map(|bytes| ContentHash::of(&bytes)))?
}

fn cut(text: &str) -> String {
    const NOTE: &str = "\n[… output truncated …]";
    if text.len() <= MAX_REPORT_BYTES {
        return text.to_owned();
    }
    let most = MAX_REPORT_BYTES - NOTE.len();
    format!("{}{NOTE}", &text[..text.floor_char_boundary(most)])
}

pub trait EffectRunner: Send + Sync {
    /// Returns whether a program would run for these files. If so, the workspace's other files must
    /// be compared before and after the run.
    fn starts_programs(&self, changed: &[FileChange], ctx: &ToolContext) -> bool;

    /// Processes the changed files. Implementations must limit their own running time and never
    /// fail the call.
    fn after<'a>(&'a self, changed: &'a [FileChange], ctx: &'a ToolContext) -> EffectRun<'a>;
}

pub type EffectRun<'a> = Pin<Box<dyn Future<Output = EffectReport> + Send + 'a>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectReport {
    pub text: String,
    pub changed: Vec<FileChange>,
    pub done: Vec<EffectDone>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectDone {
    pub effect: &'static str,
    pub outcome: EffectOutcome,
    pub took: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_repository_brings_no_program_along() {
        let temp = project(&[
            "package.json",
            "node_modules/.bin/eslint",
            "Cargo.toml",
            "go.mod",
            "pyproject.toml",
        ]);
        for (path, expected) in [
            ("src/a.ts", vec![]),
            ("src/a.rs", vec!["rustfmt"]),
            ("a.go", vec!["gofmt"]),
            ("a.py", vec!["ruff", "ruff"]),
            ("a.md", vec![]),
            ("Makefile", vec![]),
        ] {
            let names: Vec<&str> = plan(temp.path(), path).map(|planned| planned.name).collect();
            assert_eq!(names, expected, "{path}");
        }
    }

    #[test]
    fn the_nearest_project_is_the_one() {
        let temp = project(&["Cargo.toml", "crates/a/Cargo.toml", "crates/a/src/-x.rs"]);
        let planned = plan(temp.path(), "crates/a/src/-x.rs").next().unwrap();
        assert_eq!(planned.folder, "crates/a");
        assert_eq!(planned.arguments[3..], ["./src/-x.rs", DEFAULT_EDITION]);
    }
}
