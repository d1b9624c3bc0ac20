//! Reads Codex events: the messages shown to the user, and the start and end of turns.

use super::items::content_texts;
use super::state::{Held, RolloutParser, Speaker, Stream};
use crate::transcript::toolkit::*;

/// Codex does not report tokens that are written to a cache.
const TOKENS: [&str; 5] =
    ["input_tokens", "output_tokens", "cached_input_tokens", "", "reasoning_output_tokens"];

const ECHOES: &str = "\
    exec_command_begin exec_command_end exec_command_output_delta patch_apply_begin \
    patch_apply_end mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end \
    dynamic_tool_call_request dynamic_tool_call_response image_generation_end \
    view_image_tool_call collab_agent_spawn_end collab_agent_interaction_end collab_waiting_end \
    collab_close_end collab_resume_end sub_agent_activity guardian_assessment \
    thread_settings_applied thread_goal_updated context_compacted item_started \
    agent_message_delta agent_reasoning_delta agent_reasoning_section_break session_configured \
    turn_diff plan_update background_event undo_completed shutdown_complete";

impl RolloutParser {
    pub(super) fn event(&mut self, event: &Fields, raw: &str, spot: &Spot, out: &mut Emitter) {
        let text = || event.first_string(&["message", "text"]);
        match event.word("type") {
            "user_message" => self.user_message(&text(), Stream::Shown, spot, out),
            "agent_message" => self.assistant_text(Stream::Shown, &text(), "", spot, out),
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.flush_held(out);
                self.reasoning_text(Stream::Shown, &text(), spot, out);
            }
            "token_count" => self.token_count(&event.object("info"), spot, out),
            "task_started" | "turn_started" => self.turn_started(spot),
            "task_complete" | "turn_complete" => self.turn_ended(spot),
            "turn_aborted" => {
                self.turn_ended(spot);
                self.flush_held(out);
                let origin = TextOrigin::Injected(InjectedReason::Interruption);
                out.push(spot.draft(EventKind::Meta, origin, event.word("reason")));
            }
            "thread_rolled_back" => self.roll_back(event.count("num_turns"), out),
            "item_completed" => self.item_completed(&event.object("item"), spot, out),
            "thread_name_updated" => out.note_title(&event.string("thread_name")),
            "error" | "stream_error" | "warning" => {
                self.flush_held(out);
                voice::failure(spot, raw, out);
            }
            "entered_review_mode" | "exited_review_mode" => {
                self.flush_held(out);
                voice::note(spot, raw, out);
            }
            echo if contains_word(ECHOES, echo) => {}
            other => voice::emit_unknown(spot, other, raw, out),
        }
    }

    /// Emits a user message and drops a held item with the same text as a duplicate.
    fn user_message(&mut self, text: &str, stream: Stream, spot: &Spot, out: &mut Emitter) {
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
            // Record the message in both streams, so that a duplicate in either stream is
            // recognized.
            self.is_first(Stream::Items, Speaker::User, text, out);
            self.is_first(stream, Speaker::User, text, out);
        } else {
            self.flush_held(out);
            if !self.is_first(stream, Speaker::User, text, out) {
                return;
            }
        }
        let text = if wanted.is_empty() { "[image]" } else { text };
        let prompt = TextOrigin::Person(self.verify_source(WordSource::Prompt));
        self.user_pieces(text, prompt, spot, out);
    }

    /// The paginated stream includes neither tool calls nor their results.
    fn item_completed(&mut self, item: &Fields, spot: &Spot, out: &mut Emitter) {
        let stream = Stream::Completed;
        let content = || content_texts(item.raw("content")).join("\n");
        let id = item.string("id");
        match item.word("type") {
            "UserMessage" => self.user_message(&content(), stream, spot, out),
            "AgentMessage" => self.assistant_text(stream, &content(), &id, spot, out),
            "Plan" => self.assistant_text(stream, &item.string("text"), &id, spot, out),
            "Reasoning" => {
                for text in content_texts(item.first_raw(&["summary", "summary_text"])) {
                    self.reasoning_text(stream, &text, spot, out);
                }
            }
            _ => {}
        }
    }

    fn turn_started(&mut self, spot: &Spot) {
        if spot.lane != Lane::Inherited {
            self.saved.has_turns = true;
            self.saved.open_turns += 1;
        }
    }

    fn turn_ended(&mut self, spot: &Spot) {
        if spot.lane != Lane::Inherited {
            self.saved.has_turns = true;
            // A damaged transcript can contain the end of a turn without its start.
            self.saved.open_turns = self.saved.open_turns.saturating_sub(1);
            self.calls.clear();
        }
    }

    /// Adds one model call's token usage. An event that repeats the previous total is a duplicate.
    fn token_count(&mut self, info: &Fields, spot: &Spot, out: &mut Emitter) {
        let total = info.object("total_token_usage");
        let total = (!total.is_empty()).then(|| total.count("total_tokens"));
        let is_repeat = total.is_some() && total == self.saved.last_total;
        self.saved.last_total = total.or(self.saved.last_total);
        if is_repeat || spot.lane == Lane::Inherited {
            return;
        }
        let mut used = info.object("last_token_usage").tokens(TOKENS);
        used.input = used.input.saturating_sub(used.cached);
        out.facts.tokens.add(used);
    }
}
