//! `nacre chat`: a conversation with Nacre's own agent.

mod conversations;
mod once;
mod screen;
mod stored;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use nacre_ops::chat::check_model;
use nacre_ops::model;
use nacre_ops::terminal::ThemeChoice;
use nacre_types::{ApprovalPolicy, EmptyRequest, SessionRequest};

use self::conversations::Conversations;
use super::args::value_with_help;
use super::prelude::*;
use super::remote;
use crate::acp::{self, SessionDefaults};

/// Talk to Nacre's own agent in this repository
///
/// The agent reads and changes files, runs programs in a sandbox, and uses the project's memory.
/// The policy decides what it may do without asking: `ask` asks before every change, program and
/// connection, `auto-edit` changes the repository's files without asking, and `full` never asks.
/// Programs are sandboxed under every policy, and `/undo` undoes a turn's changes.
///
/// Sessions survive if the process is killed: `nacre chat --resume` continues the last one in this
/// directory. If a server is running (`nacre up`), the agent runs there and keeps working after the
/// terminal is closed; `--local` runs it in this process. Messages are sent to the model set for
/// `chat`; see `nacre model`.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// The first message
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Run one turn, print the answer, and exit; anything that needs approval is denied
    #[arg(long, short, requires = "words")]
    print: bool,
    /// Print every protocol message as it arrives, one JSON object per line
    #[arg(long, requires = "print")]
    stream_json: bool,
    /// Continue a session by its id or a prefix of it [default: the last one in this directory]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// The actions the agent may take without asking
    #[arg(long, value_name = "POLICY", value_parser = policy_parser())]
    policy: Option<ApprovalPolicy>,
    /// The model for this session, as PROVIDER/MODEL
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Serve an editor on standard input and output (Agent Client Protocol)
    #[arg(long, conflicts_with_all = ["words", "print", "resume"])]
    acp: bool,
    /// List this directory's sessions
    #[arg(long, conflicts_with_all = ["words", "resume", "print", "acp"])]
    list: bool,
    /// Search all sessions
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    search: Option<String>,
    /// Print a session in the format that `nacre trace import` reads
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    export: Option<String>,
    /// Delete a session and its messages
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    remove: Option<String>,
    /// Undo the changes that a session's last turn made [default: the last session in this
    /// directory]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    undo: Option<String>,
    /// The color theme of the screen [default: the setting ui.theme]
    #[arg(long, value_name = "THEME", value_parser = theme_parser())]
    theme: Option<ThemeChoice>,
    /// Read the model's responses from this file, for tests
    #[arg(long, value_name = "FILE")]
    scripted: Option<String>,
}

fn policy_parser() -> impl TypedValueParser<Value = ApprovalPolicy> {
    one_of([
        value_with_help("ask", "Only read; everything else requires approval"),
        value_with_help("auto-edit", "Read and change files; everything else requires approval"),
        value_with_help("full", "Everything inside the sandbox"),
    ])
}

fn theme_parser() -> impl TypedValueParser<Value = ThemeChoice> {
    let values = [
        value_with_help("dark", "For a dark background"),
        value_with_help("light", "For a light background"),
        value_with_help("plain", "No colors"),
    ];
    PossibleValuesParser::new(values).try_map(|name| name.parse::<ThemeChoice>())
}

impl ChatArgs {
    fn session(&self, folder: String) -> Option<SessionRequest> {
        let session = self.resume.clone()?;
        let session = Some(session).filter(|id| !id.is_empty());
        Some(SessionRequest { session, workspace: Some(folder) })
    }
}

pub(crate) fn cmd_chat(ui: &mut Ui, host: &Host, args: ChatArgs) -> CommandResult {
    // Chat messages count as the user's own words, so agents may not run this command.
    host.check_user("chat")?;
    // Editors start their own agent process, and only this process can read the script file by its
    // path.
    let is_here = args.acp || args.scripted.is_some();
    let server = if is_here { None } else { remote::server(ui, host) };
    let conversations = Conversations::open(host, server, args.scripted.as_deref())?;
    if let Some(chats) = conversations.chats().filter(|_| args.acp) {
        let cancel = ui.cancellable_events().cancel().clone();
        let defaults = SessionDefaults {
            folder: PathBuf::from(conversations.folder()),
            policy: args.policy,
            model: args.model,
            models: models(host),
        };
        let served = conversations.runtime.block_on(acp::serve(chats, defaults, &cancel));
        conversations.close();
        served.map_err(|error| OpError::failed("Could not serve the editor").because(error))?;
        Ok(Exit::DONE)
    } else if args.list {
        stored::list(ui, &conversations)
    } else if let Some(words) = args.search {
        stored::search(ui, &conversations, words)
    } else if let Some(session) = args.export {
        stored::export(ui, &conversations, session)
    } else if let Some(session) = args.remove {
        stored::remove(ui, &conversations, session)
    } else if let Some(session) = args.undo {
        stored::undo(ui, &conversations, session)
    } else {
        let is_new = args.resume.is_none() && args.model.is_none() && args.scripted.is_none();
        let is_once = args.print || ui.is_json() || !ui.can_ask();
        // Without a model, every turn fails and would leave an empty session.
        if is_new && !(is_once && args.words.is_empty()) {
            check_model(host)?;
        }
        if is_once {
            once::print(ui, &conversations, &args)
        } else {
            screen::show(ui, host, conversations, &args)
        }
    }
}

/// Returns the models of all roles, or nothing if the settings cannot be read.
fn models(host: &Host) -> Vec<String> {
    let listed = model::list(host, &EmptyRequest {});
    let roles = listed.map(|report| report.roles).unwrap_or_default();
    let mut models: Vec<String> = roles.into_iter().flat_map(|role| role.models).collect();
    // Values such as `auto` are not model names.
    models.retain(|model| model.contains('/'));
    models.sort_unstable();
    models.dedup();
    models
}
