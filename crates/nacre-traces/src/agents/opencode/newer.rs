//! Reads the database tables introduced in mid-2026, in which a message and its content share one
//! row. A session may have rows in these tables and in the older ones. The older rows are read
//! first; then later messages that are not duplicates are read from the newer rows.

use crate::transcript::toolkit::*;
use std::borrow::Cow;
use std::collections::HashSet;

use super::talk::{Role, SessionParser, file_label, note_tokens};

pub(super) fn read(
    store: &Store,
    session: &str,
    seen: &HashSet<String>,
    talk: &mut SessionParser,
    out: &mut Emitter,
) -> Result<()> {
    let order = match store.has_columns("session_message", &["seq"])? {
        true => "seq, id",
        false => "time_created, id",
    };
    let sql = format!(
        "SELECT id, type, time_created, CASE WHEN octet_length(data) <= ?2 THEN data END \
            FROM session_message WHERE session_id = ?1 ORDER BY {order}"
    );
    let after = talk.last_time;
    let found = store.rows(&sql, (session, MAX_VALUE.cast_signed()), |row| {
        let id = store::text(row, 0).map(Cow::into_owned).unwrap_or_default();
        let time = store::time(row, 2);
        if seen.contains(&id) || (after.is_some() && time <= after) {
            return Wish::More;
        }
        let kind = store::text(row, 1).map(Cow::into_owned).unwrap_or_default();
        talk.time = time;
        match store::read_counted_text(row, 3, out) {
            Some(data) => message(&id, &kind, &data, talk, out),
            None => talk.long_row(&id, out),
        }
        Wish::More
    });
    store.survive(found, out)
}

fn message(id: &str, kind: &str, raw: &str, talk: &mut SessionParser, out: &mut Emitter) {
    let Some(data) = out.open_record(raw) else { return };
    let place = voice::row(&format!("session_message:{id}"));
    let created = data.object("time").time("created").or(talk.time);
    let spot = Spot { place: &place, key: id, time: created, lane: talk.lane };
    match kind {
        "user" => user(&spot, &data, talk, out),
        "synthetic" => voice::emit_marked_user(&spot, &data.string("text"), out),
        "shell" => shell(&spot, &data, talk, out),
        "assistant" => assistant(&spot, &data, talk, out),
        "compaction" => {
            out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, data.word("reason")));
            voice::recap(&spot, &data.string("summary"), out);
        }
        "model-switched" => out.note_model(&data.object("model").string("id")),
        "system" | "agent-switched" | "idle" => {}
        other => voice::emit_unknown(&spot, other, raw, out),
    }
}

fn user(spot: &Spot, data: &Fields, talk: &mut SessionParser, out: &mut Emitter) {
    talk.turn = TurnState::Open;
    talk.role = Role::User;
    voice::user(spot, &data.string("text"), out);
    for raw in data.items("files") {
        let label = file_label(&Fields::of(raw));
        voice::emit_injected(spot, InjectedReason::EditorContext, &label, out);
    }
}

fn shell(spot: &Spot, data: &Fields, talk: &mut SessionParser, out: &mut Emitter) {
    voice::words(spot, WordSource::Shell, &data.string("command"), out);
    voice::emit_injected(spot, InjectedReason::CommandOutput, &data.string("output"), out);
    talk.turn = TurnState::Closed;
}

fn assistant(spot: &Spot, data: &Fields, talk: &mut SessionParser, out: &mut Emitter) {
    talk.role = Role::Assistant;
    let model = data.object("model");
    out.note_model(&model.string("id"));
    out.note_model(&model.string("modelID"));
    note_tokens(&data.object("tokens"), out);
    let is_done = !data.object("time").raw("completed").is_empty()
        || !data.raw("finish").is_empty()
        || !data.raw("error").is_empty();
    talk.turn = if is_done { TurnState::Closed } else { TurnState::Open };
    for raw in data.items("content") {
        let block = Fields::of(raw);
        match block.word("type") {
            "text" => voice::agent(spot, EventKind::Assistant, &block.string("text"), out),
            "reasoning" => voice::agent(spot, EventKind::Reasoning, &block.string("text"), out),
            "tool" => tool(spot, &block, talk, out),
            other => voice::emit_unknown(spot, other, raw, out),
        }
    }
    if !data.raw("error").is_empty() {
        voice::failure(spot, data.raw("error"), out);
    }
}

fn tool(spot: &Spot, block: &Fields, talk: &mut SessionParser, out: &mut Emitter) {
    let state = block.object("state");
    let id = block.first_string(&["id", "callID"]);
    let name = block.first_string(&["name", "tool"]);
    voice::call(spot, &mut talk.calls, &id, &name, state.raw("input"), out);
    let content = match state.raw("content") {
        "" | "[]" => state.first_raw(&["output", "structured", "error"]),
        content => content,
    };
    match state.word("status") {
        "pending" | "running" | "streaming" => talk.turn = TurnState::Open,
        "error" => {
            let raw = if state.raw("error").is_empty() { content } else { state.raw("error") };
            voice::result(spot, &mut talk.calls, &id, true, raw, out);
        }
        _ => voice::result(spot, &mut talk.calls, &id, false, content, out),
    }
}
