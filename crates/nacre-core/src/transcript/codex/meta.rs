//! Takes over what a rollout says about its session: headers, turn settings, compactions, tokens.

use super::super::emit::{Draft, Emitter};
use super::super::event::{EventKind, Origin, Place};
use super::super::facts::{LinkKind, SessionRole};
use super::super::json::{Cursor, Text};
use super::super::names::short_name;
use super::header::{Header, TokenInfo, Turn};
use super::record::Record;
use super::state::{Reader, stamped};
use super::texts::word;

impl Reader {
    pub(super) fn session_meta(
        &mut self,
        header: &Header<'_>,
        record: &Record<'_>,
        out: &mut Emitter<'_>,
    ) {
        if self.saved.has_meta {
            // Only a copied history brings the header of another session with it.
            if header.id != out.facts.id && !header.id.is_empty() {
                self.saved.copying_since = record.timestamp;
                if out.facts.links.is_empty() {
                    out.note_link(LinkKind::ForkOf, header.id, None);
                }
            }
            return;
        }
        self.saved.has_meta = true;
        self.saved.own_from_ordinal = header.own_from_ordinal;
        if !header.id.is_empty() {
            out.facts.id = short_name(header.id);
        }
        out.facts.role = header.role();
        out.note_link(LinkKind::ForkOf, header.forked_from, None);
        if header.parent != header.id {
            out.note_link(LinkKind::Parent, header.parent, None);
        }
        if out.facts.role == SessionRole::SubAgent {
            out.note_link(LinkKind::Parent, spawning_thread(header.source), None);
        }
        out.note_link(LinkKind::Continues, header.history_base, None);
        if let Some(cwd) = header.cwd {
            out.note_cwd(&cwd.decode());
        }
        if let Some(branch) = header.branch {
            out.note_branch(&branch.decode());
        }
        if let Some(repository) = header.repository {
            out.note_repository(&repository.decode());
        }
        out.note_version(header.version);
    }

    pub(super) fn turn_context(&mut self, turn: &Turn<'_>, out: &mut Emitter<'_>) {
        if self.saved.copying_since.is_some() {
            return;
        }
        if let Some(cwd) = turn.cwd {
            out.note_cwd(&cwd.decode());
        }
        if let Some(model) = turn.model {
            out.note_model(&model.decode());
        }
    }

    /// The history that a compaction keeps is a repeat; only that it happened is told.
    pub(super) fn compacted(
        &mut self,
        message: Option<Text<'_>>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        let text = out.decode(EventKind::Compaction, message.unwrap_or_default());
        let draft = Draft::new(EventKind::Compaction, Origin::Host, text, place.clone());
        let lane = self.lane(record, out);
        out.push(stamped(draft, record, lane));
    }

    /// Adds the tokens of one model call; a repeat with the same total is no call.
    pub(super) fn token_count(
        &mut self,
        info: TokenInfo,
        record: &Record<'_>,
        out: &mut Emitter<'_>,
    ) {
        let TokenInfo { last, total } = info;
        let is_repeat = total.is_some() && total == self.saved.last_total;
        self.saved.last_total = total.or(self.saved.last_total);
        let Some(last) = last else { return };
        if is_repeat || self.is_inherited(record) {
            return;
        }
        let tokens = &mut out.facts.tokens;
        tokens.input = tokens.input.saturating_add(last.input.saturating_sub(last.cached));
        tokens.cached = tokens.cached.saturating_add(last.cached);
        tokens.output = tokens.output.saturating_add(last.output);
        tokens.reasoning = tokens.reasoning.saturating_add(last.reasoning);
    }
}

/// The thread named in `{"subagent":{"thread_spawn":{"parent_thread_id":…}}}`.
fn spawning_thread(source: &str) -> &str {
    let key = "\"parent_thread_id\"";
    let Some(at) = source.find(key) else { return "" };
    let value = source[at + key.len()..].trim_start().trim_start_matches(':');
    word(&mut Cursor::new(value)).unwrap_or_default()
}
