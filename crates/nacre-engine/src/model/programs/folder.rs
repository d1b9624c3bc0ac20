//! Claude Code as an agent that looks at the files of one folder before it answers: three tools that read, and a guard before each.
//!
//! It runs in that folder, with the person's login and nothing else of theirs: no settings, hooks, servers, plugins, skills or
//! CLAUDE.md. Safe mode would leave out our guard as well, so each of these is left out by name. It keeps no session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nacre_core::base::redact::redact;
use serde_json::{Value, json};

use super::super::cost::Cost;
use super::super::error::{ErrorKind, Fault, ModelError, Said};
use super::super::hosted::shortened;
use super::super::provider::{Call, Generation, Provider, Sink};
use super::super::response::{Event, Response};
use super::claude::{self, Claude};
use super::find::ProgramSettings;
use super::launch::{Finished, Launch, ProgramCall};
use super::piped;
use super::question::Question;
use super::stream::{AgentStep, StreamReader};
use super::{AgentProgram as _, DEFAULT_MODEL, collect, effort, faults, scratch};

/// The tools that it is given.
const TOOLS: &str = "Read,Grep,Glob";

/// What the guard may take, in seconds. One that takes longer is not waited for.
const GUARD_SECONDS: u32 = 30;

/// No session of an agent is longer, in bytes.
const MAX_OUTPUT_BYTES: usize = 2 << 20;

/// The file that holds our instructions.
const SYSTEM_FILE: &str = "system.md";

/// Hears what an agent does, as it does it.
pub type AgentListener = Arc<dyn Fn(&AgentStep<'_>) + Send + Sync>;

/// What an agent may look at, and within which bounds.
#[derive(Clone)]
pub struct FolderReading {
    /// Where it starts; it reads nothing outside.
    pub folder: PathBuf,
    /// Files and folders below that it does not read, by their paths from there.
    pub denied: Vec<String>,
    /// The command that is asked before each tool, for a shell.
    pub guard: String,
    pub wall: Duration,
    pub turns: u32,
    /// What one call may cost.
    pub cost: Option<Cost>,
    pub listener: AgentListener,
}

/// Claude Code in a folder.
pub(in super::super) struct FolderReader {
    program: PathBuf,
    settings: ProgramSettings,
    reading: FolderReading,
}

impl FolderReader {
    pub(in super::super) fn new(
        program: PathBuf,
        settings: ProgramSettings,
        reading: FolderReading,
    ) -> Self {
        Self { program, settings, reading }
    }

    async fn attempt(&self, call: &Call<'_>, sink: &mut Sink<'_>) -> Result<Response, Fault> {
        let question = Question::of(call.request);
        let files = [(SYSTEM_FILE, question.system.clone())];
        let folder = scratch(&self.settings, &files)?;
        let launch = launch(&self.reading, call, &question, &folder.path().join(SYSTEM_FILE));
        sink(Event::Started { model: call.model.clone() });
        let hear = &*self.reading.listener;
        let mut stream = StreamReader::default();
        let mut on_output = |bytes: &[u8]| {
            let before = stream.usage();
            stream.push(bytes, hear);
            // What a run has used counts, also when it is ended before it says so.
            if before != stream.usage() {
                sink(Event::Usage(stream.usage()));
            }
        };
        let start = ProgramCall {
            program: &self.program,
            settings: &self.settings,
            folder: &self.reading.folder,
            launch,
            time: self.reading.wall,
            output_bytes: MAX_OUTPUT_BYTES.min(call.limits.answer_bytes),
            hopeless: |_| None,
            on_output: Some(&mut on_output),
        };
        let finished = piped::run(start).await?;
        stream.finish(hear);
        let Some(result) = stream.result() else { return Err(faults::no_answer(&finished)) };
        let usage = claude::usage(result);
        if stream.usage().total() < usage.total() {
            sink(Event::Usage(usage));
        }
        answered(result, &finished).and_then(|answer| collect(&question, answer, call, sink))
    }
}

impl Provider for FolderReader {
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a> {
        Box::pin(async move {
            let result = self.attempt(&call, sink).await;
            result.map_err(|fault| ModelError {
                model: call.model.clone(),
                kind: fault.kind,
                said: fault.said.map(|said| Said::new(&redact(shortened(&said)))),
            })
        })
    }
}

/// The answer in the last line.
fn answered(result: &Value, finished: &Finished) -> Result<super::Answer, Fault> {
    if result.get("subtype").and_then(Value::as_str) == Some("error_max_budget_usd") {
        let said = "it had used up what the limits leave".to_owned();
        return Err(Fault { kind: ErrorKind::OverLimit, said: Some(said) });
    }
    Claude.answer(&Finished { stdout: result.to_string(), ..finished.clone() })
}

fn launch(reading: &FolderReading, call: &Call<'_>, question: &Question, system: &Path) -> Launch {
    let mut arguments: Vec<OsString> = [
        "-p",
        // No settings of anybody, and with them no hooks and no CLAUDE.md.
        "--setting-sources",
        "",
        "--strict-mcp-config",
        // Skills are commands as well.
        "--disable-slash-commands",
        "--tools",
        TOOLS,
        "--permission-mode",
        "default",
        "--no-session-persistence",
        "--output-format",
        "stream-json",
        "--verbose",
    ]
    .map(OsString::from)
    .to_vec();
    let mut add = |flag: &str, value: OsString| arguments.extend([flag.into(), value]);
    add("--settings", settings(reading).to_string().into());
    add("--max-turns", reading.turns.to_string().into());
    if let Some(cost) = reading.cost {
        add("--max-budget-usd", format!("{:.4}", cost.dollars()).into());
    }
    add("--effort", effort(call).into());
    add("--system-prompt-file", system.into());
    if call.model.model() != DEFAULT_MODEL {
        add("--model", call.model.model().into());
    }
    if let Some(schema) = &question.schema {
        add("--json-schema", schema.to_string().into());
    }
    let mut variables = claude::variables(call.request.max_tokens);
    variables.push(("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1".to_owned()));
    Launch { arguments, variables, files: Vec::new(), stdin: question.prompt.clone() }
}

/// The settings of the run. Its own permissions hold beside the guard, so that each stands where the other fails.
fn settings(reading: &FolderReading) -> Value {
    let read = reading
        .denied
        .iter()
        .flat_map(|name| [format!("Read(./{name})"), format!("Read(./{name}/**)")]);
    let others = ["Bash", "Edit", "NotebookEdit", "Task", "WebFetch", "WebSearch", "Write"];
    let deny: Vec<String> = others.map(str::to_owned).into_iter().chain(read).collect();
    let guard = json!({ "type": "command", "command": reading.guard, "timeout": GUARD_SECONDS });
    json!({
        "permissions": { "defaultMode": "default", "disableBypassPermissionsMode": "disable", "deny": deny },
        "hooks": { "PreToolUse": [{ "matcher": "*", "hooks": [guard] }] },
    })
}
