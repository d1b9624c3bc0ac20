//! The Go program that was called opencode first: another schema in a file of the same name, in
//! the project's own directory.
//!
//! Its comments promise milliseconds; the values are seconds.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::emit::Emitter;
use super::super::error::{Error, Result};
use super::super::event::{EventKind, Lane};
use super::super::facts::{LinkKind, SessionRole};
use super::super::store::{self, MAX_VALUE, Store, Wish};
use super::super::view::{Fields, items};
use super::super::voice::{self, Ended, Spot};
use super::rows::{column, too_long};
use super::talk::{Talk, Turn};

const MAX_SESSIONS: usize = 200_000;
/// Sessions that only find a title for another one.
const TITLE_PREFIX: &str = "title-";

pub(super) fn sessions(store: &Store) -> Result<BTreeMap<String, String>> {
    let mut sessions = BTreeMap::new();
    let sql = "SELECT s.id, s.updated_at, count(m.id), max(m.updated_at) \
        FROM sessions s LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id";
    store.rows(sql, [], |row| {
        let column = |idx| store::number(row, idx).unwrap_or_default();
        if let Some(id) = store::text(row, 0).filter(|_| 0 < column(2)) {
            let revision = format!("{}-{}.{}", column(1), column(2), column(3));
            sessions.insert(id.into_owned(), revision);
        }
        if sessions.len() < MAX_SESSIONS { Wish::More } else { Wish::Enough }
    })?;
    Ok(sessions)
}

pub(super) fn read(
    store: &Store,
    missing: impl FnOnce() -> Error,
    session: &str,
    talk: &mut Talk,
    out: &mut Emitter<'_>,
) -> Result<()> {
    let has_recap = store.has_columns("sessions", &["summary_message_id"])?;
    let recap_column = if has_recap { "summary_message_id" } else { "NULL" };
    let sql = format!(
        "SELECT parent_session_id, title, prompt_tokens, completion_tokens, created_at, \
            updated_at, {recap_column} FROM sessions WHERE id = ?1"
    );
    let recap = store.first(&sql, [session], |row| {
        describe(session, row, talk, out);
        store::text(row, 6).map(Cow::into_owned).unwrap_or_default()
    })?;
    let recap = recap.ok_or_else(missing)?;
    // Seconds are too coarse for the order of a turn; rows are numbered as they were written.
    let sql = "SELECT id, role, model, created_at, finished_at, \
        CASE WHEN octet_length(parts) <= ?2 THEN parts END \
        FROM messages WHERE session_id = ?1 ORDER BY created_at, rowid";
    let found = store.rows(sql, (session, MAX_VALUE.cast_signed()), |row| {
        out.report.lines += 1;
        let id = store::text(row, 0).unwrap_or_default();
        let role = store::text(row, 1).unwrap_or_default();
        out.note_model(&store::text(row, 2).unwrap_or_default());
        let message = Message {
            id: &id,
            role: if !recap.is_empty() && *id == *recap { "recap" } else { &role },
            is_finished: store::number(row, 4).is_some_and(|time| 0 < time),
        };
        talk.time = store::time(row, 3);
        match column(row, 5, out) {
            Some(parts) => message.read(&parts, talk, out),
            None => too_long(&id, talk, out),
        }
        Wish::More
    });
    store.survive(found, out)
}

fn describe(session: &str, row: &rusqlite::Row<'_>, talk: &mut Talk, out: &mut Emitter<'_>) {
    let parent = store::text(row, 0).unwrap_or_default();
    out.note_title(&store::text(row, 1).unwrap_or_default());
    let count = |idx| store::number(row, idx).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    out.facts.tokens.input = count(2);
    out.facts.tokens.output = count(3);
    for idx in [4, 5] {
        if let Some(time) = store::time(row, idx) {
            out.note_time(time);
        }
    }
    let is_helper = session.starts_with(TITLE_PREFIX);
    if !parent.is_empty() || is_helper {
        out.facts.role = if is_helper { SessionRole::Helper } else { SessionRole::SubAgent };
        talk.lane = Lane::Sidechain;
        // A sub-agent's session has the id of the call that made it.
        out.note_link(LinkKind::Parent, &parent, (!is_helper).then_some(session));
    }
}

/// A message, without its parts.
struct Message<'a> {
    id: &'a str,
    role: &'a str,
    is_finished: bool,
}

impl Message<'_> {
    fn read(&self, parts: &str, talk: &mut Talk, out: &mut Emitter<'_>) {
        let place = voice::row(&format!("messages:{}", self.id));
        let spot = Spot { place: &place, key: self.id, time: talk.time, lane: talk.lane };
        talk.turn = match self.role {
            "assistant" if self.is_finished => Turn::Closed,
            _ => Turn::Open,
        };
        if !parts.trim_start().starts_with('[') {
            out.report.bad_lines += 1;
        }
        for raw in items(parts) {
            let part = Fields::of(raw);
            self.part(&spot, (part.word("type"), raw), &part.object("data"), talk, out);
        }
    }

    fn part(
        &self,
        spot: &Spot<'_>,
        (kind, raw): (&str, &str),
        data: &Fields<'_>,
        talk: &mut Talk,
        out: &mut Emitter<'_>,
    ) {
        match kind {
            "text" => self.text(spot, &data.string("text"), out),
            "reasoning" => {
                voice::agent(spot, EventKind::Reasoning, &data.string("thinking"), out);
            }
            "tool_call" => {
                let (id, name) = (data.string("id"), data.string("name"));
                voice::call(spot, &mut talk.calls, (&id, &name), &data.string("input"), out);
            }
            "tool_result" => {
                let id = data.string("tool_call_id");
                let ended = if data.truth("is_error") { Ended::Badly } else { Ended::Well };
                voice::result(spot, &mut talk.calls, &id, (ended, data.raw("content")), out);
            }
            "finish" => match data.word("reason") {
                "error" => voice::failure(spot, raw, out),
                "canceled" | "permission_denied" => talk.calls.clear(),
                _ => {}
            },
            "binary" | "image_url" if self.role == "user" => {
                voice::marked_user(spot, &format!("[{kind}]"), out);
            }
            "binary" | "image_url" => voice::note(spot, &format!("[{kind}]"), out),
            other => voice::unknown(spot, other, raw, out),
        }
    }

    fn text(&self, spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
        match self.role {
            "user" => voice::user(spot, text, out),
            "assistant" => voice::agent(spot, EventKind::Assistant, text, out),
            "recap" => voice::recap(spot, text, out),
            // The agent's own instructions.
            "system" => {}
            other => voice::unknown(spot, &format!("message {other}"), text, out),
        }
    }
}
