//! `shell_run`: a program, or a text for the shell, within walls.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nacre_core::safefs::RelPath;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Exec, Footprint, MemoryUse, Network};
use super::super::super::tool::{
    Output, Preview, PreviewProgram, Tool, ToolContext, ToolError, ToolSpec,
};
use super::super::super::workspace::folder_below;
use crate::confine::ProgramEnding as Ending;
use crate::confine::Reach;
use crate::confine::{Captured, Finished, Program};
use crate::record::{Category, Fault};
use crate::tools::Programs;

const DEFAULT_SECONDS: u64 = 60;
const MAX_SECONDS: u64 = 600;

/// An order is not a file.
const MAX_SCRIPT_BYTES: usize = 100_000;

/// What is told of a program that was stopped.
const LAST_WORDS: usize = 8_000;

/// Runs programs.
#[derive(Clone, Debug)]
pub struct ShellRun {
    pub programs: Arc<Programs>,
}

/// Either `argv` or `script`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShellRunInput {
    /// A program and its arguments, passed on as they are; no shell reads them.
    argv: Option<Vec<String>>,
    /// A text for `/bin/sh`, for pipes, redirections and several commands.
    script: Option<String>,
    /// The folder to run in, relative to the workspace; its root if left out.
    folder: Option<String>,
    /// Seconds until it is stopped, 1 to 600; 60 if left out.
    time_limit: Option<u64>,
}

impl Tool for ShellRun {
    type Input = ShellRunInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "shell_run",
        toolkit: "shell",
        category: Category::Execute,
        description: "Runs a program in the workspace and returns its exit code and output. Give `argv` (program and \
            arguments, no shell) or `script` (text for /bin/sh). It can write only in the workspace and $TMPDIR, cannot \
            read keys, has no network unless that was allowed, gets no input, and whatever it leaves running is ended \
            with it.",
        // Beyond the longest that a call may ask for, so that the program's own limit is the one that counts.
        time_limit: Duration::from_secs(MAX_SECONDS + 30),
        shown_bytes: 16_000,
    };

    fn footprint(&self, input: &ShellRunInput) -> Result<Footprint, ToolError> {
        input.footprint(&self.programs)
    }

    fn preview(&self, input: &ShellRunInput) -> Result<Preview, ToolError> {
        input.preview()
    }

    async fn run(&self, input: ShellRunInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let program = input.program()?;
        let seconds = input.seconds()?;
        let folder = input.full_folder(ctx)?;
        let limit = Duration::from_secs(seconds);
        let finished = self.programs.run(program, &folder, limit, ctx).await?;
        match finished.ending {
            Ending::Exited(_) | Ending::Signalled(_) => Ok(output(&finished)),
            Ending::TimedOut => Err(ToolError::new(
                Fault::TimedOut,
                format!("The program was stopped after {seconds} seconds{}", last_words(&finished)),
                "Run less at once, or give a longer `time_limit` (at most 600).",
            )),
            Ending::Cancelled => Err(ToolError::new(
                Fault::Cancelled,
                "The program was cancelled",
                "The run is being stopped.",
            )),
        }
    }
}

impl ShellRunInput {
    /// An order without a time limit of its own.
    pub(super) fn new(
        argv: Option<Vec<String>>,
        script: Option<String>,
        folder: Option<String>,
    ) -> Self {
        Self { argv, script, folder, time_limit: None }
    }

    /// What a program may touch: all that the walls leave it.
    pub(super) fn footprint(&self, programs: &Programs) -> Result<Footprint, ToolError> {
        self.program()?;
        self.seconds()?;
        // An absolute one is looked at when it is known where the workspace lies: before anything is started.
        if !self.folder.as_deref().is_some_and(|folder| Path::new(folder).is_absolute()) {
            self.folder(Path::new(""))?;
        }
        let network = match programs.reach {
            Reach::Nothing => Network::Nothing,
            Reach::Internet => Network::Anything,
        };
        Ok(Footprint {
            reads: vec![Area::Tree(None)],
            writes: vec![Area::Tree(None)],
            exec: Exec::Anything,
            network,
            memory: MemoryUse::Nothing,
        })
    }

    pub(super) fn preview(&self) -> Result<Preview, ToolError> {
        let program = match self.program()? {
            Program::Argv { name, arguments } => {
                PreviewProgram::Argv(std::iter::once(name).chain(arguments).collect())
            }
            Program::Script(script) => PreviewProgram::Script(script),
        };
        Ok(Preview { program: Some(program), folder: self.folder.clone(), ..Preview::default() })
    }

    /// The folder to run in.
    pub(super) fn full_folder(&self, ctx: &ToolContext) -> Result<PathBuf, ToolError> {
        let Some(folder) = self.folder(&ctx.workspace)? else {
            return Ok(ctx.workspace.as_ref().clone());
        };
        let full = ctx.workspace.join(folder.as_str());
        // Else the program would be said to be missing.
        if !full.is_dir() {
            return Err(ToolError::new(
                Fault::NotFound,
                format!("There is no folder `{folder}` in the workspace"),
                "Leave `folder` out to run in the workspace's root.",
            ));
        }
        Ok(full)
    }

    pub(super) fn program(&self) -> Result<Program, ToolError> {
        let refuse = |what: &str| {
            let hint =
                "Give `argv`, such as [\"ls\", \"-l\"], or `script`, such as \"ls | wc -l\".";
            ToolError::new(Fault::Arguments, what, hint)
        };
        let n_bytes = self.script.as_deref().map_or(0, str::len)
            + self.argv.iter().flatten().map(String::len).sum::<usize>();
        if n_bytes > MAX_SCRIPT_BYTES {
            return Err(refuse("The order is too long"));
        }
        let texts = self.argv.iter().flatten().chain(&self.script);
        if texts.into_iter().any(|text| text.contains('\0')) {
            return Err(refuse("An argument holds a NUL, which no program can be given"));
        }
        match (self.argv.as_deref(), &self.script) {
            (Some([name, arguments @ ..]), None) if !name.is_empty() => {
                Ok(Program::Argv { name: name.clone(), arguments: arguments.to_vec() })
            }
            (None, Some(script)) if !script.trim().is_empty() => {
                Ok(Program::Script(script.clone()))
            }
            (Some(_), Some(_)) => Err(refuse("Both `argv` and `script` were given")),
            (_, _) => Err(refuse("There is nothing to run")),
        }
    }

    fn seconds(&self) -> Result<u64, ToolError> {
        match self.time_limit.unwrap_or(DEFAULT_SECONDS) {
            seconds @ 1..=MAX_SECONDS => Ok(seconds),
            seconds => Err(ToolError::new(
                Fault::Arguments,
                format!("`time_limit` is {seconds}"),
                "Give seconds from 1 to 600.",
            )),
        }
    }

    fn folder(&self, root: &Path) -> Result<Option<RelPath>, ToolError> {
        self.folder.as_deref().map_or(Ok(None), |folder| folder_below(root, folder))
    }
}

/// How a program ended.
pub(super) fn ending(finished: &Finished) -> String {
    match finished.ending {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signalled(signal) => format!("ended by signal {signal}"),
        Ending::TimedOut => "stopped: its time was over".to_owned(),
        Ending::Cancelled => "stopped".to_owned(),
    }
}

fn output(finished: &Finished) -> Output {
    let mut text = ending(finished);
    if finished.left_behind != 0 {
        text.push_str(&format!("\n{} processes it left running were ended", finished.left_behind));
    }
    for note in &finished.notes {
        text.push_str(&format!("\n{note}"));
    }
    for (name, captured) in [("stdout", &finished.stdout), ("stderr", &finished.stderr)] {
        if captured.total != 0 {
            text.push_str(&format!("\n--- {name}\n{}", captured.text().trim_end_matches('\n')));
        }
    }
    let value = json!({
        "exit_code": if let Ending::Exited(code) = finished.ending { Some(code) } else { None },
        "stdout_bytes": finished.stdout.total,
        "stderr_bytes": finished.stderr.total,
        "left_behind": finished.left_behind,
        "notes": finished.notes,
    });
    Output { text, value, changed: Vec::new() }
}

/// The end of what a stopped program said.
fn last_words(finished: &Finished) -> String {
    let said = |captured: &Captured| captured.text().trim_end().to_owned();
    let (stdout, stderr) = (said(&finished.stdout), said(&finished.stderr));
    let text = if stderr.is_empty() { stdout } else { stderr };
    let notes: String = finished.notes.iter().map(|note| format!("; {note}")).collect();
    if text.is_empty() {
        return notes;
    }
    let from = text.len().saturating_sub(LAST_WORDS);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    format!("{notes}; its last words:\n{}\n", &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(json: serde_json::Value) -> Result<Program, ToolError> {
        let input: ShellRunInput = serde_json::from_value(json).expect("fits the schema");
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
