//! Runs a program or a shell script in the sandbox.

mod jobs;

use std::path::{Path, PathBuf};

use crate::confine::{Captured, Finished, LiveOutput, Program, ProgramEnding as Ending};
use crate::tools::Programs;
use crate::tools::toolkits::prelude::*;
use crate::tools::workspace::folder_below;

pub use jobs::{ShellJobs, ShellPoll, ShellStart, ShellStop};

#[cfg(test)]
pub(crate) fn derive_schemas() -> Vec<(String, serde_json::Value)> {
    use crate::schemas::derive_schema;
    vec![
        derive_schema::<jobs::ShellPoll>(),
        derive_schema::<jobs::ShellStart>(),
        derive_schema::<jobs::ShellStop>(),
        derive_schema::<ShellRun>(),
    ]
}

const DEFAULT_SECONDS: u64 = 60;
const MAX_SECONDS: u64 = 600;

const MAX_SCRIPT_BYTES: usize = 100_000;

const LAST_WORDS: usize = 8_000;

/// Either `argv` or `script`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellRun {
    /// A program and its arguments, passed on as they are; no shell reads them.
    argv: Option<Vec<String>>,
    /// A text for `/bin/sh`, for pipes, redirections and several commands.
    script: Option<String>,
    /// The folder to run in, relative to the workspace; its root if left out.
    folder: Option<String>,
    /// Time limit in seconds, from 1 to 600; defaults to 60.
    time_limit: Option<u64>,
}

impl Tool for ShellRun {
    type With = Arc<Programs>;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_run",
        category: Category::Execute,
        description: "Runs a program in the workspace and returns its exit code and output. Give \
            `argv` (program and arguments, no shell) or `script` (text for /bin/sh). It can write \
            only in the workspace and $TMPDIR, cannot read keys, has no network, gets no input, and \
            whatever it leaves running is ended with it.",
        // Must be higher than any limit that a call can request, so that the requested limit takes
        // effect.
        time_limit: Duration::from_secs(MAX_SECONDS + 30),
        shown_bytes: 16_000,
    };

    fn footprint(&self, _: &Arc<Programs>) -> Result<Footprint> {
        self.program()?;
        self.seconds()?;
        // An absolute path is checked in `full_folder`, where the workspace is available.
        if !self.folder.as_deref().is_some_and(|folder| Path::new(folder).is_absolute()) {
            self.folder(Path::new(""))?;
        }
        Ok(Footprint {
            reads: vec![Area::Tree(None)],
            writes: vec![Area::Tree(None)],
            exec: Exec::Anything,
            ..Footprint::default()
        })
    }

    fn preview(&self, _: &Arc<Programs>) -> Result<Preview> {
        let (program, folder) = (Some(self.program()?), self.folder.clone());
        Ok(Preview { program, folder, ..Preview::default() })
    }

    async fn run(self, programs: &Arc<Programs>, ctx: &ToolContext) -> Result<Output> {
        let program = self.program()?;
        let seconds = self.seconds()?;
        let folder = self.full_folder(ctx)?;
        let limit = Duration::from_secs(seconds);
        let finished = programs.run(program, &folder, limit, ctx, &LiveOutput::default()).await?;
        match finished.ending {
            Ending::Exited(_) | Ending::Signalled(_) => Ok(output(&finished)),
            Ending::TimedOut => Err(ToolError::new(
                Fault::TimedOut,
                format!("The program was stopped after {seconds} seconds{}", last_words(&finished)),
                "Run less at once, or set a longer `time_limit` (at most 600).",
            )),
            Ending::Cancelled => Err(ToolError::new(
                Fault::Cancelled,
                "The program was cancelled",
                "The run is being stopped.",
            )),
        }
    }
}

impl ShellRun {
    fn full_folder(&self, ctx: &ToolContext) -> Result<PathBuf> {
        let Some(folder) = self.folder(&ctx.workspace)? else {
            return Ok(ctx.workspace.as_ref().clone());
        };
        let full = ctx.workspace.join(folder.as_str());
        // Without this check, the error would report that the program is missing.
        if !full.is_dir() {
            let what = format!("Directory `{folder}` not found in the workspace");
            let hint = "Omit `folder` to run in the workspace root.";
            return Err(ToolError::new(Fault::NotFound, what, hint));
        }
        Ok(full)
    }

    fn program(&self) -> Result<Program> {
        let refuse = |what: &str| {
            let hint =
                "Give `argv`, such as [\"ls\", \"-l\"], or `script`, such as \"ls | wc -l\".";
            ToolError::new(Fault::Arguments, what, hint)
        };
        let n_bytes = self.script.as_deref().map_or(0, str::len)
            + self.argv.iter().flatten().map(String::len).sum::<usize>();
        if n_bytes > MAX_SCRIPT_BYTES {
            return Err(refuse("The command is too long"));
        }
        let texts = self.argv.iter().flatten().chain(&self.script);
        if texts.into_iter().any(|text| text.contains('\0')) {
            return Err(refuse(
                "An argument contains a NUL character, which cannot be passed to a program",
            ));
        }
        match (self.argv.as_deref(), &self.script) {
            (Some([name, arguments @ ..]), None) if !name.is_empty() => {
                Ok(Program::Argv { name: name.clone(), arguments: arguments.to_vec() })
            }
            (None, Some(script)) if !script.trim().is_empty() => {
                Ok(Program::Script(script.clone()))
            }
            (Some(_), Some(_)) => Err(refuse("`argv` and `script` cannot be used together")),
            (_, _) => Err(refuse("The command is empty")),
        }
    }

    fn seconds(&self) -> Result<u64> {
        match self.time_limit.unwrap_or(DEFAULT_SECONDS) {
            seconds @ 1..=MAX_SECONDS => Ok(seconds),
            seconds => Err(ToolError::new(
                Fault::Arguments,
                format!("`time_limit` is {seconds}"),
                "Give a number of seconds from 1 to 600.",
            )),
        }
    }

    fn folder(&self, root: &Path) -> Result<Option<RelPath>> {
        self.folder.as_deref().map_or(Ok(None), |folder| folder_below(root, folder))
    }
}

fn ending(finished: &Finished) -> String {
    match finished.ending {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => format!("killed by signal {signal}"),
        Ending::TimedOut => "stopped: time limit reached".to_owned(),
        Ending::Cancelled => "stopped".to_owned(),
    }
}

fn output(finished: &Finished) -> Output {
    let mut text = ending(finished);
    if finished.left_behind != 0 {
        text.push_str(&format!(
            "\n{} processes that it left running were killed",
            finished.left_behind
        ));
    }
    for note in &finished.notes {
        text.push_str(&format!("\n{note}"));
    }
    for (name, captured) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
        if captured.total != 0 {
            text.push_str(&format!("\n--- {name}\n{}", captured.text().trim_end_matches('\n')));
        }
    }
    Output::text(text)
}

fn last_words(finished: &Finished) -> String {
    let said = |captured: &Captured| captured.text().trim_end().to_owned();
    let (stdout, stderr) = (said(&finished.stdout), said(&finished.stderr));
    let text = if stderr.is_empty() { stdout } else { stderr };
    let notes: String = finished.notes.iter().map(|note| format!("; {note}")).collect();
    if text.is_empty() {
        return notes;
    }
    let from = text.ceil_char_boundary(text.len().saturating_sub(LAST_WORDS));
    format!("{notes}; last output:\n{}\n", &text[from..])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(json: serde_json::Value) -> Result<Program, ToolError> {
        let input: ShellRun = serde_json::from_value(json).expect("fits the schema");
        let folder = input.folder(Path::new("/work/space")).map(|_| ());
        input.seconds().and(folder).and_then(|()| input.program())
    }

    #[test]
    fn an_order_is_one_program_or_one_script() {
        for (json, is_ok) in [
            (json!({"argv": ["ls"]}), true),
            (json!({"script": "ls | wc"}), true),
            (json!({"argv": ["ls"], "folder": "src/", "time_limit": 600}), true),
            (json!({"argv": ["ls"], "folder": "."}), true),
            (json!({"argv": ["ls"], "folder": "/work/space/src"}), true),
            (json!({"argv": ["ls"], "folder": "/work/space/../x"}), false),
            (json!({}), false),
            (json!({"argv": []}), false),
            (json!({"argv": [""]}), false),
            (json!({"script": "  "}), false),
            (json!({"argv": ["ls"], "script": "ls"}), false),
            (json!({"argv": ["ls\0"]}), false),
            (json!({"argv": ["ls"], "folder": "../.."}), false),
            (json!({"argv": ["ls"], "folder": "/etc"}), false),
            (json!({"argv": ["ls"], "time_limit": 0}), false),
            (json!({"argv": ["ls"], "time_limit": 601}), false),
            (json!({"script": "x".repeat(200_000)}), false),
        ] {
            assert_eq!(input(json.clone()).is_ok(), is_ok, "{json}");
        }
    }
}
