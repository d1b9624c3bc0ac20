//! Installed agents as providers: the agent's command is run once for each response.
//!
//! The program runs with the user's environment and login, in an empty directory, and without its
//! tools, hooks and servers. If possible, it runs without saving a session. Its time and output are
//! limited, and its process group is killed at the end of the attempt.

mod agents;
mod codex;
#[cfg_attr(windows, expect(dead_code, reason = "agents are never started on this system"))]
mod launch;
mod opencode;
#[cfg(not(windows))]
mod piped;
mod question;

use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_base::config::EffortChoice;
use nacre_base::fs::{Access, FsError, RelPath, ScratchFolder, WriteScope};
use nacre_base::redact::redact;

use crate::model::collect::Collector;
use crate::model::conversation::{ModelEvent, Response, StopReason};
use crate::model::error::{Fault, ModelError, Result, Said};
use crate::model::hosted::truncate_error;
use crate::model::price::Usage;
use crate::model::programs::agents::{Claude, Copilot, Gemini};
use crate::model::programs::codex::Codex;
use crate::model::programs::launch::{Finished, Launch, ProgramCall};
use crate::model::programs::opencode::OpenCode;
use crate::model::programs::question::ProgramQuestion;
use crate::model::provider::{Call, Generation, Provider, Sink};

pub use self::launch::ProgramSettings;

/// On Windows, the agent's process group could not be killed when the call ends.
#[cfg(windows)]
mod piped {
    use super::launch::cannot_start;
    use super::{Finished, ProgramCall, Result};

    #[expect(clippy::unused_async, reason = "same signature as on other systems")]
    pub(super) async fn run(_: ProgramCall<'_>) -> Result<Finished> {
        let why = std::io::Error::other("Nacre does not start agents on Windows");
        Err(cannot_start(&why))
    }
}

pub struct KnownProgram {
    /// The provider part of a model name: `claude-code` in `claude-code/haiku`.
    pub provider: &'static str,
    pub label: &'static str,
    pub command: &'static str,
    pub login: &'static str,
    /// The model used to read sessions, unless the user has chosen one.
    pub reader: &'static str,
    agent: &'static dyn AgentProgram,
}

/// The known agents, in the order in which `auto` tries them.
pub static KNOWN_PROGRAMS: &[KnownProgram] = &[
    KnownProgram {
        reader: "haiku",
        ..KnownProgram::new("claude-code", "Claude Code", "claude", "claude, then /login", &Claude)
    },
    KnownProgram::new("codex", "Codex", "codex", "codex login", &Codex),
    KnownProgram::new("opencode", "OpenCode", "opencode", "opencode auth login", &OpenCode),
    KnownProgram::new("gemini", "Gemini CLI", "gemini", "gemini, then /auth", &Gemini),
    KnownProgram::new("copilot", "Copilot CLI", "copilot", "copilot, then /login", &Copilot),
];

/// Subdirectory of Nacre's global data directory that contains the programs' working directories.
const SCRATCH_FOLDER: &str = "scratch";

/// Model name that selects the model configured in the agent.
const DEFAULT_MODEL: &str = "default";

nacre_base::debug_only!(KnownProgram { provider });

impl KnownProgram {
    const fn new(
        provider: &'static str,
        label: &'static str,
        command: &'static str,
        login: &'static str,
        agent: &'static dyn AgentProgram,
    ) -> Self {
        Self { provider, label, command, login, reader: DEFAULT_MODEL, agent }
    }

    pub fn of_provider(name: &str) -> Option<&'static Self> {
        KNOWN_PROGRAMS.iter().find(|program| program.provider == name)
    }

    pub fn find(&self, settings: &ProgramSettings) -> Option<PathBuf> {
        settings.find(self.command)
    }

    pub fn reader_name(&self) -> String {
        format!("{}/{}", self.provider, self.reader)
    }
}

trait AgentProgram: Send + Sync {
    /// Builds the command line for a question. If `model` is `None`, the agent chooses the model.
    fn launch(&self, asked: &Asked<'_>) -> Launch;

    /// Returns a function that recognizes unrecoverable errors in the error output. Some agents
    /// would retry after them forever.
    fn hopeless(&self) -> fn(&str) -> Option<Fault> {
        |_| None
    }

    fn answer(&self, finished: &Finished) -> Result<Answer>;
}

struct Asked<'a> {
    question: &'a ProgramQuestion,
    model: Option<&'a str>,
    max_tokens: u32,
    effort: &'static str,
    settings: &'a ProgramSettings,
}

#[derive(Debug, PartialEq)]
struct Answer {
    text: String,
    stop: StopReason,
    usage: Usage,
}

pub(super) struct ProgramProvider {
    pub(super) known: &'static KnownProgram,
    pub(super) program: PathBuf,
    pub(super) settings: ProgramSettings,
}

impl ProgramProvider {
    async fn attempt(&self, call: &Call<'_>, sink: &mut Sink<'_>) -> Result<Response> {
        let question = ProgramQuestion::of(call.request);
        let name = call.model.model();
        let asked = Asked {
            question: &question,
            model: Some(name).filter(|name| *name != DEFAULT_MODEL),
            max_tokens: call.request.max_tokens,
            effort: effort(call),
            settings: &self.settings,
        };
        let launch = self.known.agent.launch(&asked);
        let folder = scratch(&self.settings, &launch.files)?;
        sink(ModelEvent::Started { model: call.model.clone() });
        let start = ProgramCall {
            program: &self.program,
            settings: &self.settings,
            folder: folder.path(),
            launch,
            // The program prints nothing until its answer is complete.
            time: call.limits.first_token + call.limits.next_token,
            output_bytes: call.limits.answer_bytes,
            hopeless: self.known.agent.hopeless(),
        };
        let finished = piped::run(start).await?;
        let answer = self.known.agent.answer(&finished)?;
        collect(&question, answer, call, sink)
    }
}

impl Provider for ProgramProvider {
    fn generate<'a>(&'a self, call: Call<'a>, sink: &'a mut Sink<'_>) -> Generation<'a> {
        Box::pin(async move {
            let result = self.attempt(&call, sink).await;
            result.map_err(|fault| ModelError {
                model: call.model.clone(),
                kind: fault.kind,
                said: fault.said.map(|said| Said::new(&redact(truncate_error(&said)))),
            })
        })
    }
}

fn scratch(settings: &ProgramSettings, files: &[(&'static str, String)]) -> Result<ScratchFolder> {
    let data = settings.data.as_deref();
    let data = data.ok_or_else(|| Fault::protocol("no directory to start the program in"))?;
    let made = || -> Result<ScratchFolder, FsError> {
        WriteScope::create(data, Access::Private)?;
        let folder = ScratchFolder::create(&data.join(SCRATCH_FOLDER))?;
        for (name, text) in files {
            folder.write(&RelPath::new(name)?, text.as_bytes())?;
        }
        Ok(folder)
    };
    made().map_err(|error| launch::cannot_start(&error))
}

/// Returns the effort level. Questions only require the model to read and assess the text in the
/// prompt, which needs little reasoning.
fn effort(call: &Call<'_>) -> &'static str {
    match call.request.effort {
        None | Some(EffortChoice::Off | EffortChoice::Low) => "low",
        Some(EffortChoice::Medium) => "medium",
        Some(EffortChoice::High) => "high",
    }
}

fn collect(
    question: &ProgramQuestion,
    answer: Answer,
    call: &Call<'_>,
    sink: &mut Sink<'_>,
) -> Result<Response> {
    let mut collector = Collector::new(call.limits.answer_bytes);
    let usage = answer.usage;
    // Record the cost even if the answer is unusable.
    collector.push(&ModelEvent::Usage(usage))?;
    sink(ModelEvent::Usage(usage));
    for event in question.events(&answer.text, call.request.messages.len()) {
        collector.push(&event)?;
        sink(event);
    }
    collector.push(&ModelEvent::Stop(answer.stop))?;
    let response = collector.finish(call.model, call.request);
    sink(ModelEvent::Stop(response.stop.clone()));
    Ok(response)
}

const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_VERSION_BYTES: usize = 4 << 10;

#[derive(Clone, Debug)]
pub struct InstalledProgram {
    pub known: &'static KnownProgram,
    pub path: PathBuf,
    pub version: Option<String>,
}

/// Returns the installed agents in the order of `KNOWN_PROGRAMS`. Their versions are queried
/// concurrently.
pub async fn find_installed_programs(settings: &ProgramSettings) -> Vec<InstalledProgram> {
    let found = KNOWN_PROGRAMS.iter().filter_map(|known| Some((known, known.find(settings)?)));
    let ask = |(known, path): (&'static KnownProgram, PathBuf)| {
        let (program, settings) = (path.clone(), settings.clone());
        (known, path, tokio::spawn(async move { version(&program, &settings).await }))
    };
    let asked: Vec<_> = found.map(ask).collect();
    let mut installed = Vec::new();
    for (known, path, version) in asked {
        installed.push(InstalledProgram { known, path, version: version.await.ok().flatten() });
    }
    installed
}

async fn version(program: &Path, settings: &ProgramSettings) -> Option<String> {
    let launch = Launch { arguments: vec!["--version".into()], ..Launch::default() };
    let start = ProgramCall {
        program,
        settings,
        folder: Path::new("/"),
        launch,
        time: VERSION_TIMEOUT,
        output_bytes: MAX_VERSION_BYTES,
        hopeless: |_| None,
    };
    let finished = piped::run(start).await.ok().filter(|finished| finished.code == Some(0))?;
    number(&finished.stdout)
}

fn number(text: &str) -> Option<String> {
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches(['v', '.', ',', '(', ')']));
    let is_version = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && word.len() <= 40
    };
    words.find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod version_tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_what_agents_print() {
        for (text, version) in [
            ("2.1.197 (Claude Code)\n", Some("2.1.197")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check.", Some("1.0.102")),
            ("v1.2\n", Some("1.2")),
            ("usage: claude", None),
            ("", None),
        ] {
            assert_eq!(number(text).as_deref(), version, "{text}");
        }
    }
}
