//! Commands that begin with `/`.

use nacre_api::wire::{
    ApprovalPolicy, ChatUndoRequest, RpcCall, SessionChangeRequest, SessionForkRequest,
    SessionRequest, SessionSearchRequest, SkillListRequest,
};

use super::{panels, sessions};
use crate::tui::commands::{self, Command, Verb};
use crate::tui::event::Effect;
use crate::tui::state::State;
use crate::tui::state::cell::Tone;
use crate::tui::state::panel::PageBody;
use crate::tui::state::requests::Purpose;
use crate::tui::theme::ThemeName;

/// Runs a line that begins with `/`. Whether it was a command; what is none stays in the input.
pub(super) fn run(state: &mut State, line: &str) -> bool {
    let (name, argument) = line[1..].split_once(char::is_whitespace).unwrap_or((&line[1..], ""));
    let argument = argument.trim();
    if let Some(command) = commands::find(name) {
        return carry_out(state, command, argument);
    }
    if panels::start_skill(state, name, argument) {
        return true;
    }
    let text = match commands::nearest(name) {
        Some(command) => format!("`/{name}` is not a command. Did you mean `/{}`?", command.name),
        None => format!("`/{name}` is not a command. `/help` lists them"),
    };
    state.flash(Tone::Warning, &text);
    false
}

/// Whether it could be done with this argument.
fn carry_out(state: &mut State, command: &Command, argument: &str) -> bool {
    let is_missing = argument.is_empty() && matches!(command.verb, Verb::Rename | Verb::Search);
    if is_missing {
        state.flash(Tone::Warning, &format!("Usage: {}", command.usage()));
        return false;
    }
    match command.verb {
        Verb::New => sessions::create(state),
        Verb::Resume => sessions::resume(state, some(argument)),
        Verb::Sessions => sessions::list(state),
        Verb::Search => search(state, argument),
        Verb::Fork | Verb::Rename | Verb::Export | Verb::Undo => {
            return for_session(state, command.verb, argument);
        }
        Verb::Model | Verb::Policy => return change(state, command, argument),
        Verb::Memory => panels::open_memories(state),
        Verb::Skills => {
            let call = RpcCall::SkillList(SkillListRequest::default());
            state.send(call, Purpose::Skills { is_asked: true });
        }
        Verb::Diff => panels::open_diff(state, argument == "all"),
        Verb::Cost => {
            let report = state.usage.report();
            panels::open_page(state, "Cost", PageBody::Text(report));
        }
        Verb::Theme => return change_theme(state, command, argument),
        Verb::Help => panels::open_help(state),
        Verb::Quit => state.effects.push(Effect::Quit),
    }
    true
}

fn some(argument: &str) -> Option<String> {
    (!argument.is_empty()).then(|| argument.to_owned())
}

fn search(state: &mut State, query: &str) {
    let request =
        SessionSearchRequest { query: query.to_owned(), ..SessionSearchRequest::default() };
    state.send(RpcCall::SessionSearch(request), Purpose::Search { query: query.to_owned() });
}

/// Commands that need a session.
fn for_session(state: &mut State, verb: Verb, argument: &str) -> bool {
    let Some(session) = state.session_id() else {
        state.flash(Tone::Warning, "The session is being opened");
        return false;
    };
    let (call, purpose) = match verb {
        Verb::Fork => {
            (RpcCall::SessionFork(SessionForkRequest { session, until: None }), Purpose::Open)
        }
        Verb::Rename => {
            let title = Some(argument.to_owned());
            let request = SessionChangeRequest { session, title, ..Default::default() };
            (RpcCall::SessionChange(request), Purpose::Rename)
        }
        Verb::Export => {
            let request = SessionRequest { session: Some(session), workspace: None };
            (RpcCall::SessionExport(request), Purpose::Export)
        }
        Verb::Undo
        | Verb::New
        | Verb::Resume
        | Verb::Sessions
        | Verb::Search
        | Verb::Model
        | Verb::Policy
        | Verb::Memory
        | Verb::Skills
        | Verb::Diff
        | Verb::Cost
        | Verb::Theme
        | Verb::Help
        | Verb::Quit => (RpcCall::ChatUndo(ChatUndoRequest { session, task: None }), Purpose::Undo),
    };
    state.send(call, purpose);
    true
}

/// Shows or changes what a session goes by.
fn change(state: &mut State, command: &Command, argument: &str) -> bool {
    let Some(session) = state.session_id() else {
        state.flash(Tone::Warning, "The session is being opened");
        return false;
    };
    if argument.is_empty() {
        sessions::tell_settings(state);
        return true;
    }
    let mut request = SessionChangeRequest { session, ..Default::default() };
    if command.verb == Verb::Model {
        request.model = some(argument);
    } else {
        let policy = ApprovalPolicy::ALL.into_iter().find(|it| it.as_str() == argument);
        if policy.is_none() {
            state.flash(Tone::Warning, &format!("Usage: {}", command.usage()));
            return false;
        }
        request.policy = policy;
    }
    state.send(RpcCall::SessionChange(request), Purpose::Change);
    true
}

fn change_theme(state: &mut State, command: &Command, argument: &str) -> bool {
    match ThemeName::from_name(argument) {
        Some(name) => state.theme.name = name,
        None if argument.is_empty() => {
            state.flash(Tone::Faint, &format!("Theme: {}", state.theme.name.as_str()));
        }
        None => {
            state.flash(Tone::Warning, &format!("Usage: {}", command.usage()));
            return false;
        }
    }
    true
}
