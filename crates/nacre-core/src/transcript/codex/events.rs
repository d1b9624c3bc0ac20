//! Events: what was shown to the person, and how turns began and ended.

use super::super::emit::{Draft, Emitter};
use super::super::event::{EventKind, InjectedReason, Origin, Place};
use super::super::json::Text;
use super::items::Answer;
use super::record::{ECHOES, Item, Record, Shown};
use super::state::{Held, Reader, Said, Stream, stamped};
use super::texts::joined;

impl Reader {
    pub(super) fn shown(
        &mut self,
        shown: &Shown<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        let text = || shown.text.map(Text::decode).unwrap_or_default();
        match shown.kind {
            "user_message" => self.user_message(&text(), Stream::Shown, record, place, out),
            "agent_message" => {
                let texts = shown.text.as_slice();
                let answer = Answer { stream: Stream::Shown, texts, id: None };
                self.assistant_text(&answer, record, place, out);
            }
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.flush_held(out);
                self.reasoning_text(Stream::Shown, &text(), record, place, out);
            }
            "token_count" => self.token_count(shown.tokens, record, out),
            "task_started" | "turn_started" => self.turn_started(record),
            "task_complete" | "turn_complete" => self.turn_ended(record),
            "turn_aborted" => {
                self.turn_ended(record);
                let origin = Origin::Injected(InjectedReason::Interruption);
                self.note(origin, shown.reason, record, place, out);
            }
            "thread_rolled_back" => self.roll_back(shown.num_turns, out),
            "item_completed" => {
                if let Some(item) = &shown.item {
                    self.item_completed(item, record, place, out);
                }
            }
            "thread_name_updated" => {
                out.note_title(&shown.thread_name.map(Text::decode).unwrap_or_default());
            }
            "error" | "stream_error" | "warning" => {
                self.flush_held(out);
                let draft = Draft {
                    is_error: true,
                    ..Draft::new(EventKind::Meta, Origin::Host, shown.raw, place.clone())
                };
                let lane = self.lane(record, out);
                out.push(stamped(draft, record, lane));
            }
            "entered_review_mode" | "exited_review_mode" => {
                self.note(Origin::Host, shown.raw, record, place, out);
            }
            echo if ECHOES.contains(&echo) => {}
            other => {
                let draft = Draft::new(EventKind::Meta, Origin::Host, shown.raw, place.clone());
                let lane = self.lane(record, out);
                out.unknown(other, stamped(draft, record, lane));
            }
        }
    }

    fn note(
        &mut self,
        origin: Origin,
        text: &str,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.flush_held(out);
        let lane = self.lane(record, out);
        let draft = Draft::new(EventKind::Meta, origin, text, place.clone());
        out.push(stamped(draft, record, lane));
    }

    /// A message that the person really sent: it claims the item that waits, if that is its echo.
    fn user_message(
        &mut self,
        text: &str,
        stream: Stream,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        self.saved.has_shown_users = true;
        let wanted = text.trim();
        let claims = |held: &Held| {
            let whole = held.texts.join("\n");
            whole.trim() == wanted
                || held.texts.iter().any(|part| part.trim() == wanted)
                || (wanted.is_empty() && whole == "[image]")
        };
        if self.held.as_ref().is_some_and(claims) {
            self.held = None;
            // Told in both streams, so that neither is taken for new when it comes again.
            self.is_first(Stream::Items, Said::User(text), out);
            self.is_first(stream, Said::User(text), out);
        } else {
            self.flush_held(out);
            if !self.is_first(stream, Said::User(text), out) {
                return;
            }
        }
        let text = if wanted.is_empty() { "[image]" } else { text };
        let lane = self.lane(record, out);
        let held = Held {
            texts: Vec::new(),
            place: place.clone(),
            timestamp: record.timestamp,
            key: None,
            lane,
        };
        self.user_pieces(text, Origin::prompt(), &held, out);
    }

    fn item_completed(
        &mut self,
        item: &Item<'_>,
        record: &Record<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) {
        match item.kind {
            "UserMessage" => {
                let text = joined(&item.content);
                self.user_message(&text, Stream::Completed, record, place, out);
            }
            "AgentMessage" => {
                let texts = &item.content;
                let answer = Answer { stream: Stream::Completed, texts, id: item.id };
                self.assistant_text(&answer, record, place, out);
            }
            "Plan" => {
                let texts = item.text.as_slice();
                let answer = Answer { stream: Stream::Completed, texts, id: item.id };
                self.assistant_text(&answer, record, place, out);
            }
            "Reasoning" => {
                for text in &item.summary {
                    self.reasoning_text(Stream::Completed, &text.decode(), record, place, out);
                }
            }
            // Calls and their results come as response items.
            _ => {}
        }
    }

    fn turn_started(&mut self, record: &Record<'_>) {
        if !self.is_inherited(record) {
            self.saved.has_turns = true;
            self.saved.open_turns += 1;
        }
    }

    /// A turn that never began may end twice in a damaged trace.
    fn turn_ended(&mut self, record: &Record<'_>) {
        if !self.is_inherited(record) {
            self.saved.has_turns = true;
            self.saved.open_turns = self.saved.open_turns.saturating_sub(1);
            self.calls.clear();
        }
    }
}
