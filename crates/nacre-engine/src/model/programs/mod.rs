//! Agents that are installed on this machine as providers: one answer by one run of their command.
//!
//! The program runs with the person's environment and login, in an empty folder, without tools, hooks and servers of its own, and
//! leaves no session behind where it can be told so. It is bounded in time and output, and its process group ends with the attempt.

mod claude;
mod codex;
mod copilot;
mod faults;
#[cfg_attr(windows, expect(dead_code, reason = "no agent is started there"))]
mod find;
mod folder;
mod gemini;
#[cfg_attr(windows, expect(dead_code, reason = "no agent is started there"))]
mod launch;
mod opencode;
#[cfg_attr(windows, path = "refused.rs")]
mod piped;
mod question;
mod stream;
mod version;

use std::fmt;
use std::path::PathBuf;

use nacre_core::base::redact::redact;
use nacre_core::safefs::{Access, FsError, RelPath, ScratchFolder, WriteScope};

use super::collect::Collector;
use super::error::{Fault, ModelError, Said};
use super::hosted::shortened;
use super::provider::{Call, Generation, Provider, Sink};
use super::response::{Event, Response, StopReason};
use super::usage::Usage;

use self::claude::Claude;
use self::codex::Codex;
use self::copilot::Copilot;
pub use self::find::ProgramSettings;
pub(super) use self::folder::FolderReader;
pub use self::folder::{AgentListener, FolderReading};
use self::gemini::Gemini;
use self::launch::{Finished, Launch, ProgramCall};
use self::opencode::OpenCode;
use self::question::Question;
pub use self::stream::AgentStep;
pub use self::version::{InstalledProgram, installed_programs};

/// An agent whose command can answer a question.
pub struct KnownProgram {
    /// The provider in the name of a model: `claude-code` in `claude-code/haiku`.
    pub provider: &'static str,
    /// What people call it.
    pub label: &'static str,
    /// The command.
    pub command: &'static str,
    /// What logs a person in.
    pub login: &'static str,
    /// The model that reads sessions where a person did not choose one.
    pub reader: &'static str,
    agent: &'static dyn AgentProgram,
}

const CLAUDE: KnownProgram = KnownProgram {
    provider: "claude-code",
    label: "Claude Code",
    command: "claude",
    login: "claude, then /login",
    reader: "haiku",
    agent: &Claude,
};

/// The agents, in the call in which `auto` looks for them.
pub static KNOWN_PROGRAMS: &[KnownProgram] = &[
    CLAUDE,
    KnownProgram {
        provider: "codex",
        label: "Codex",
        command: "codex",
        login: "codex login",
        reader: DEFAULT_MODEL,
        agent: &Codex,
    },
    KnownProgram {
        provider: "opencode",
        label: "OpenCode",
        command: "opencode",
        login: "opencode auth login",
        reader: DEFAULT_MODEL,
        agent: &OpenCode,
    },
    KnownProgram {
        provider: "gemini",
        label: "Gemini CLI",
        command: "gemini",
        login: "gemini, then /auth",
        reader: DEFAULT_MODEL,
        agent: &Gemini,
    },
    KnownProgram {
        provider: "copilot",
        label: "Copilot CLI",
        command: "copilot",
        login: "copilot, then /login",
        reader: DEFAULT_MODEL,
        agent: &Copilot,
    },
];

/// The folder below Nacre's global data in which programs are started.
const SCRATCH_FOLDER: &str = "scratch";

/// The model that the agent itself is set to.
const DEFAULT_MODEL: &str = "default";

impl fmt::Debug for KnownProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KnownProgram").field(&self.provider).finish()
    }
}

impl KnownProgram {
    /// Claude Code, which can also look at files on its way to an answer.
    pub fn claude() -> &'static Self {
        const { &CLAUDE }
    }

    /// The agent with this name of a provider.
    pub fn of_provider(name: &str) -> Option<&'static Self> {
        KNOWN_PROGRAMS.iter().find(|program| program.provider == name)
    }

    /// Where its command lies, if it is installed.
    pub fn find(&self, settings: &ProgramSettings) -> Option<PathBuf> {
        settings.find(self.command)
    }

    /// The name of the model that reads sessions, as settings spell it.
    pub fn reader_name(&self) -> String {
        format!("{}/{}", self.provider, self.reader)
    }
}

/// How one agent is asked, and how its output reads.
trait AgentProgram: Send + Sync {
    /// The command line for a question. `model` is `None` where the agent chooses.
    fn launch(&self, asked: &Asked<'_>) -> Launch;

    /// What of its complaints makes it of no use to wait: some agents try again for ever.
    fn hopeless(&self) -> fn(&str) -> Option<Fault> {
        |_| None
    }

    /// The answer in what it printed, or why there is none.
    fn answer(&self, finished: &Finished) -> Result<Answer, Fault>;
}

/// What an agent is asked, and by whom.
struct Asked<'a> {
    question: &'a Question,
    model: Option<&'a str>,
    max_tokens: u32,
    effort: &'static str,
    settings: &'a ProgramSettings,
}

/// What an agent answered.
#[derive(Debug, PartialEq)]
struct Answer {
    text: String,
    stop: StopReason,
    /// All zero where the agent does not tell; it is estimated where it is counted.
    usage: Usage,
}

/// An installed agent that answers requests.
pub(super) struct ProgramProvider {
    known: &'static KnownProgram,
    program: PathBuf,
    settings: ProgramSettings,
}

impl ProgramProvider {
    pub(super) fn new(
        known: &'static KnownProgram,
        program: PathBuf,
        settings: ProgramSettings,
    ) -> Self {
        Self { known, program, settings }
    }

    async fn attempt(&self, call: &Call<'_>, sink: &mut Sink<'_>) -> Result<Response, Fault> {
        let question = Question::of(call.request);
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
        sink(Event::Started { model: call.model.clone() });
        let start = ProgramCall {
            program: &self.program,
            settings: &self.settings,
            folder: folder.path(),
            launch,
            // It says nothing until it has said all.
            time: call.limits.first_token + call.limits.next_token,
            output_bytes: call.limits.answer_bytes,
            hopeless: self.known.agent.hopeless(),
            on_output: None,
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
                said: fault.said.map(|said| Said::new(&redact(shortened(&said)))),
            })
        })
    }
}

/// An empty folder, but for the files that the agent is told to read.
fn scratch(
    settings: &ProgramSettings,
    files: &[(&'static str, String)],
) -> Result<ScratchFolder, Fault> {
    let data = settings.data.as_deref();
    let data = data.ok_or_else(|| Fault::protocol("there is no folder to start it in"))?;
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

/// Reading and judging what is in the question takes little thought.
fn effort(call: &Call<'_>) -> &'static str {
    use super::request::Effort;
    match call.request.effort {
        Effort::Unset | Effort::Off | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

fn collect(
    question: &Question,
    answer: Answer,
    call: &Call<'_>,
    sink: &mut Sink<'_>,
) -> Result<Response, Fault> {
    let mut collector = Collector::new(call.limits.answer_bytes);
    let usage = answer.usage;
    // What an answer cost is counted whether or not it can be used.
    collector.push(&Event::Usage(usage))?;
    sink(Event::Usage(usage));
    for event in question.events(&answer.text, call.request.messages.len()) {
        collector.push(&event)?;
        sink(event);
    }
    collector.push(&Event::Stop(answer.stop))?;
    let response = collector.finish(call.model, call.request);
    sink(Event::Stop(response.stop.clone()));
    Ok(response)
}

#[cfg(test)]
mod tests;
