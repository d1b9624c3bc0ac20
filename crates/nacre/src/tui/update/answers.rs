//! Answers to what the screen asked for.

use nacre_api::wire::{
    ChatStartReport, ChatUndoReport, HelloReport, RpcAnswer, RpcCall, SessionExportReport,
    SessionItemsReport, SessionListReport, SessionReport, SessionSearchReport, SkillListReport,
    SkillListRequest,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::messages::{adopt, failure};
use super::{panels, sessions};
use crate::tui::event::{Effect, Outside};
use crate::tui::state::State;
use crate::tui::state::cell::Tone;
use crate::tui::state::panel::{ListKind, ListPanel, ListRow};
use crate::tui::state::requests::Purpose;
use crate::tui::text::{clean_line, count};

pub(super) fn take(state: &mut State, answer: RpcAnswer) {
    let Some(id) = answer.id else {
        let text = answer.error.map(|error| failure(&error)).unwrap_or_default();
        return state.note(Tone::Bad, &format!("A request was not understood.\n{text}"));
    };
    let Some(purpose) = state.requests.take(id) else { return };
    match answer.error {
        Some(error) => refuse(state, id, purpose, &failure(&error)),
        None => {
            let result = answer.result.unwrap_or(Value::Null);
            if let Err(why) = apply(state, id, &purpose, result) {
                let text = format!("Error: An answer cannot be read\nCaused by: {why}");
                refuse(state, id, purpose, &text);
            }
        }
    }
}

/// Something could not be done.
fn refuse(state: &mut State, id: u64, purpose: Purpose, text: &str) {
    match purpose {
        Purpose::Start => {
            let refused = state.prompts.iter().position(|prompt| prompt.request == Some(id));
            if let Some(idx) = refused {
                let prompt = state.prompts.remove(idx);
                if state.editor.is_empty() {
                    state.editor.set(&prompt.text);
                }
            }
            state.note(Tone::Bad, text);
        }
        Purpose::Steer { text: words } => {
            if state.editor.is_empty() {
                state.editor.set(&words);
            }
            state.note(Tone::Bad, text);
        }
        Purpose::Abort => {
            if let Some(turn) = &mut state.turn {
                turn.is_stopping = false;
            }
            state.note(Tone::Bad, text);
        }
        // Nobody asked for them.
        Purpose::Skills { is_asked: false } => {}
        Purpose::Hello
        | Purpose::Open
        | Purpose::Items
        | Purpose::EarlierItems
        | Purpose::Rename
        | Purpose::Change
        | Purpose::List
        | Purpose::Search { .. }
        | Purpose::Export
        | Purpose::Undo
        | Purpose::Follow
        | Purpose::Skills { is_asked: true }
        | Purpose::Answer => state.note(Tone::Bad, text),
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn apply(state: &mut State, id: u64, purpose: &Purpose, result: Value) -> Result<(), String> {
    match purpose {
        Purpose::Hello => {
            let hello: HelloReport = read(result)?;
            if hello.methods.iter().any(|method| method == "skill.list") {
                let call = RpcCall::SkillList(SkillListRequest::default());
                state.send(call, Purpose::Skills { is_asked: false });
            }
            sessions::begin(state);
        }
        Purpose::Open => sessions::show(state, read::<SessionReport>(result)?.session),
        Purpose::Items => sessions::fill(state, read::<SessionItemsReport>(result)?),
        Purpose::EarlierItems => {
            sessions::fill_earlier(state, &read::<SessionItemsReport>(result)?);
        }
        Purpose::Rename => {
            let title = sessions::renew(state, read::<SessionReport>(result)?.session);
            state.flash(Tone::Good, &format!("Renamed: {title}"));
        }
        Purpose::Change => {
            sessions::renew(state, read::<SessionReport>(result)?.session);
            sessions::tell_settings(state);
        }
        Purpose::List => sessions::open_list(state, &read::<SessionListReport>(result)?),
        Purpose::Search { query } => {
            sessions::open_hits(state, query, &read::<SessionSearchReport>(result)?);
        }
        Purpose::Export => {
            let SessionExportReport { session, transcript } = read(result)?;
            let action = Outside::SaveExport { session, transcript };
            state.effects.push(Effect::Outside(action));
        }
        Purpose::Start => {
            let started: ChatStartReport = read(result)?;
            let sent = state.prompts.iter().position(|prompt| prompt.request == Some(id));
            if let Some(idx) = sent.filter(|idx| state.prompts[*idx].task.is_none()) {
                adopt(state, idx, &started.task);
            }
        }
        Purpose::Undo => tell_undo(state, &read::<ChatUndoReport>(result)?),
        Purpose::Skills { is_asked } => take_skills(state, read(result)?, *is_asked),
        Purpose::Steer { .. } | Purpose::Abort | Purpose::Follow | Purpose::Answer => {}
    }
    Ok(())
}

fn tell_undo(state: &mut State, report: &ChatUndoReport) {
    let mut text = match report.restored.len() {
        0 => "Nothing was taken back".to_owned(),
        n => format!("Taken back: {} ({})", count(n, "file"), report.restored.join(", ")),
    };
    for kept in &report.kept {
        text.push_str(&format!("\nLeft as it is: {}: {}", kept.path, kept.why));
    }
    let tone = if report.kept.is_empty() { Tone::Good } else { Tone::Warning };
    state.note(tone, &text);
}

fn take_skills(state: &mut State, report: SkillListReport, is_asked: bool) {
    state.skills = report.skills;
    if !is_asked {
        return;
    }
    let row = |skill: &nacre_api::wire::SkillEntry| ListRow {
        id: skill.name.clone(),
        text: clean_line(&skill.name),
        detail: clean_line(&skill.description),
    };
    let rows: Vec<ListRow> = state.skills.iter().map(row).collect();
    let title = format!("Skills: {}", rows.len());
    let empty = "There are no skills.";
    panels::open_list(state, ListPanel::new(ListKind::Skills, &title, rows, empty));
}
