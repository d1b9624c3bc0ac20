//! `nacre chat`: a conversation with Nacre's own agent.

mod carry;
mod choices;
mod editor;
mod files;
mod line;
mod link;
mod listed;
mod once;
mod outside;
mod screen;
mod served;

use clap::Args;
use nacre_api::wire::SessionRequest;
use nacre_ops::{Host, OpError};

use self::choices::{Policy, Theme};
use self::link::Conversations;
use super::exit::Exit;
use super::remote;
use super::ui::Ui;

/// Talk to Nacre's own agent in this repository
///
/// It reads and changes files, runs programs within walls, and remembers: its memory is that of the project. What it may
/// do without asking is the policy: `ask` asks before every change, program and connection, `auto-edit` changes files of
/// the repository without asking, `full` asks for nothing. Whatever it says, programs stay confined, and `/undo` takes the
/// changes of a turn back.
///
/// A conversation is kept, also where the process is killed: `nacre chat --resume` goes on with the last one of this
/// folder. Where a server runs (`nacre up`), the agent works there, and goes on when the terminal is closed; `--local` keeps it in
/// this process. What you say goes to the model that is set for `chat`: `nacre model list`.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// What to begin with
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Do what the words say, print the answer, and end; what needs a yes is denied
    #[arg(long, short, requires = "words")]
    print: bool,
    /// Print every message of the protocol as it comes, one JSON object a line
    #[arg(long, requires = "print")]
    stream_json: bool,
    /// Go on with a session, by the start of its id; without one with the last of this folder
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// What the agent may do without asking
    #[arg(long, value_name = "POLICY")]
    policy: Option<Policy>,
    /// A model for this session, as PROVIDER/MODEL
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Serve an editor on standard input and output, by the Agent Client Protocol
    #[arg(long, conflicts_with_all = ["words", "print", "resume"])]
    acp: bool,
    /// List the sessions of this folder
    #[arg(long, conflicts_with_all = ["words", "resume", "print", "acp"])]
    list: bool,
    /// Look for words in all sessions
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    search: Option<String>,
    /// Print a session in the form that `nacre trace import` reads
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    export: Option<String>,
    /// Remove a session with everything that was said
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    remove: Option<String>,
    /// Take back what the last turn of a session changed; without an id of the last session of this folder
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["words", "resume", "print", "list", "acp"])]
    undo: Option<String>,
    /// The colors of the screen; else `ui.theme`
    #[arg(long, value_name = "THEME")]
    theme: Option<Theme>,
    /// Take the model's answers from this file, for tests
    #[arg(long, value_name = "FILE")]
    scripted: Option<String>,
}

impl ChatArgs {
    fn session(&self, folder: String) -> Option<SessionRequest> {
        let session = self.resume.clone()?;
        Some(SessionRequest {
            session: Some(session).filter(|id| !id.is_empty()),
            workspace: Some(folder),
        })
    }
}

pub(crate) fn cmd_chat(ui: &mut Ui, host: &Host, args: &ChatArgs) -> Result<Exit, OpError> {
    // An editor has an agent of its own, and a script is a file that only this process reads.
    let is_here = args.acp || args.scripted.is_some();
    let server = if is_here { None } else { remote::server(ui, host) };
    let conversations = Conversations::open(host, server, args.scripted.as_deref())?;
    if args.acp {
        return editor::serve(ui, host, conversations, args);
    }
    if args.list {
        return listed::list(ui, &conversations);
    }
    if let Some(words) = &args.search {
        return listed::search(ui, &conversations, words);
    }
    if let Some(session) = &args.export {
        return listed::export(ui, &conversations, session);
    }
    if let Some(session) = &args.remove {
        return listed::remove(ui, &conversations, session);
    }
    if let Some(session) = &args.undo {
        return listed::undo(ui, &conversations, session);
    }
    if args.print || ui.is_json() || !ui.can_ask() {
        return once::print(ui, &conversations, args);
    }
    screen::show(ui, host, conversations, args)
}
