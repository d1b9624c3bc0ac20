//! Reads databases written by the earlier Go program named opencode. It stores a different schema
//! in a file of the same name in the project directory. Its source code claims that times are in
//! milliseconds, but they are in seconds.

use crate::transcript::toolkit::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

use super::talk::SessionParser;

const MAX_SESSIONS: usize = 200_000;
/// Sessions with this ID prefix are only used to generate a title.
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
    talk: &mut SessionParser,
    out: &mut Emitter,
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
    // Times in seconds are too coarse for ordering messages, so rows are ordered by row ID.
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
        match store::read_counted_text(row, 5, out) {
            Some(parts) => message.read(&parts, talk, out),
            None => talk.long_row(&id, out),
        }
        Wish::More
    });
    store.survive(found, out)
}

fn describe(session: &str, row: &rusqlite::Row<'_>, talk: &mut SessionParser, out: &mut Emitter) {
    let parent = store::text(row, 0).unwrap_or_default();
    out.note_title(&store::text(row, 1).unwrap_or_default());
    let count = |idx| store::number(row, idx).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    out.facts.tokens.input = count(2);
    out.facts.tokens.output = count(3);
    for idx in [4, 5] {
        out.note_time(store::time(row, idx));
    }
    let is_helper = session.starts_with(TITLE_PREFIX);
    if !parent.is_empty() || is_helper {
        out.facts.role = if is_helper { SessionRole::Helper } else { SessionRole::SubAgent };
        talk.lane = Lane::Sidechain;
        // A sub-agent's session ID is the ID of the call that started it.
        out.note_link(LinkKind::Parent, &parent, (!is_helper).then_some(session));
    }
}

struct Message<'a> {
    id: &'a str,
    role: &'a str,
    is_finished: bool,
}

impl Message<'_> {
    fn read(&self, parts: &str, talk: &mut SessionParser, out: &mut Emitter) {
        let place = voice::row(&format!("messages:{}", self.id));
        let spot = Spot { place: &place, key: self.id, time: talk.time, lane: talk.lane };
        talk.turn = match self.role {
            "assistant" if self.is_finished => TurnState::Closed,
            _ => TurnState::Open,
        };
        if !parts.trim_start().starts_with('[') {
            out.report.bad_lines += 1;
        }
        for raw in items(parts) {
            self.part(&spot, raw, talk, out);
        }
    }

    fn part(&self, spot: &Spot, raw: &str, talk: &mut SessionParser, out: &mut Emitter) {
        let part = Fields::of(raw);
        let (kind, data) = (part.word("type"), part.object("data"));
        match kind {
            "text" => self.text(spot, &data.string("text"), out),
            "reasoning" => {
                voice::agent(spot, EventKind::Reasoning, &data.string("thinking"), out);
            }
            "tool_call" => {
                let (id, name) = (data.string("id"), data.string("name"));
                voice::call(spot, &mut talk.calls, &id, &name, &data.string("input"), out);
            }
            "tool_result" => {
                let id = data.string("tool_call_id");
                let has_failed = data.truth("is_error");
                voice::result(spot, &mut talk.calls, &id, has_failed, data.raw("content"), out);
            }
            "finish" => match data.word("reason") {
                "error" => voice::failure(spot, raw, out),
                "canceled" | "permission_denied" => talk.calls.clear(),
                _ => {}
            },
            "binary" | "image_url" if self.role == "user" => {
                voice::emit_marked_user(spot, &format!("[{kind}]"), out);
            }
            "binary" | "image_url" => voice::note(spot, &format!("[{kind}]"), out),
            other => voice::emit_unknown(spot, other, raw, out),
        }
    }

    fn text(&self, spot: &Spot, text: &str, out: &mut Emitter) {
        match self.role {
            "user" => voice::user(spot, text, out),
            "assistant" => voice::agent(spot, EventKind::Assistant, text, out),
            "recap" => voice::recap(spot, text, out),
            "system" => {}
            other => voice::emit_unknown(spot, &format!("message {other}"), text, out),
        }
    }
}
