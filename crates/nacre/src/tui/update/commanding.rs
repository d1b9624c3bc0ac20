//! Runs `/` commands.

use nacre_types::{
    ApprovalPolicy, ChatUndoRequest, EmptyRequest, RpcCall, SessionChangeRequest,
    SessionForkRequest, SessionRequest, SessionSearchRequest,
};

use super::{panels, sessions};
use crate::tui::commands::{self, Command};
use crate::tui::event::Effect;
use crate::tui::state::ScreenState;
use crate::tui::state::panel::PageBody;
use crate::tui::state::turn::Purpose;
use crate::tui::theme::Role;
use nacre_ops::terminal::ThemeChoice;

/// Runs a line that starts with `/`. Returns `false` if the line should stay in the input.
pub(super) fn run(state: &mut ScreenState, line: &str) -> bool {
    let (name, argument) = line[1..].split_once(char::is_whitespace).unwrap_or((&line[1..], ""));
    let argument = argument.trim();
    if let Some(command) = commands::find(name) {
        return run_command(state, command, argument);
    }
    if panels::start_skill(state, name, argument) {
        return true;
    }
    let text = match commands::nearest(name) {
        Some(command) => format!("`/{name}` is not a command. Did you mean `/{}`?", command.name),
        None => format!("`/{name}` is not a command. `/help` lists all commands"),
    };
    state.flash(Role::Warning, &text);
    false
}

fn run_command(state: &mut ScreenState, command: &Command, argument: &str) -> bool {
    match command.name {
        "rename" | "search" if argument.is_empty() => {
            state.flash(Role::Warning, &format!("Usage: {}", command.usage()));
            return false;
        }
        "new" => sessions::create(state),
        "resume" => sessions::resume(state, some(argument)),
        "sessions" => sessions::list(state),
        "search" => {
            let query = argument.to_owned();
            let request = SessionSearchRequest { query: query.clone(), ..Default::default() };
            state.send(RpcCall::SessionSearch(request), Purpose::Search { query });
        }
        "model" | "policy" => return change(state, command, argument),
        "memory" => panels::open_memories(state),
        "skills" => {
            let call = RpcCall::SkillList(EmptyRequest::default());
            state.send(call, Purpose::Skills { is_asked: true });
        }
        "diff" => panels::open_diff(state, argument == "all"),
        "cost" => {
            let report = state.usage.report();
            panels::open_page(state, "Cost", PageBody::Text(report));
        }
        "theme" => return change_theme(state, command, argument),
        "help" => panels::open_help(state),
        "quit" => state.effects.push(Effect::Quit),
        name => return for_session(state, name, argument),
    }
    true
}

fn some(argument: &str) -> Option<String> {
    (!argument.is_empty()).then(|| argument.to_owned())
}

fn for_session(state: &mut ScreenState, name: &str, argument: &str) -> bool {
    let Some(session) = state.session_id() else {
        state.flash(Role::Warning, "The session is still being opened");
        return false;
    };
    let (call, purpose) = match name {
        "fork" => {
            (RpcCall::SessionFork(SessionForkRequest { session, until: None }), Purpose::Open)
        }
        "rename" => {
            let title = some(argument);
            let request = SessionChangeRequest { session, title, ..Default::default() };
            (RpcCall::SessionChange(request), Purpose::Rename)
        }
        "export" => {
            let request = SessionRequest { session: Some(session), workspace: None };
            (RpcCall::SessionExport(request), Purpose::Export)
        }
        _ => (RpcCall::ChatUndo(ChatUndoRequest { session, task: None }), Purpose::Undo),
    };
    state.send(call, purpose);
    true
}

fn change(state: &mut ScreenState, command: &Command, argument: &str) -> bool {
    let Some(session) = state.session_id() else {
        state.flash(Role::Warning, "The session is still being opened");
        return false;
    };
    if argument.is_empty() {
        sessions::tell_settings(state);
        return true;
    }
    let mut request = SessionChangeRequest { session, ..Default::default() };
    if command.name == "model" {
        request.model = some(argument);
    } else {
        let policy = ApprovalPolicy::ALL.into_iter().find(|it| it.label() == argument);
        if policy.is_none() {
            state.flash(Role::Warning, &format!("Usage: {}", command.usage()));
            return false;
        }
        request.policy = policy;
    }
    state.send(RpcCall::SessionChange(request), Purpose::Change);
    true
}

fn change_theme(state: &mut ScreenState, command: &Command, argument: &str) -> bool {
    match argument.parse::<ThemeChoice>().ok() {
        Some(name) => state.theme.name = name,
        None if argument.is_empty() => {
            state.flash(Role::Faint, &format!("Theme: {}", state.theme.name.as_str()));
        }
        None => {
            state.flash(Role::Warning, &format!("Usage: {}", command.usage()));
            return false;
        }
    }
    true
}
