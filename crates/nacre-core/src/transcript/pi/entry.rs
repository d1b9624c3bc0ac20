//! The entries of a session, by their type, and its messages, by their role.

use super::super::blocks;
use super::super::emit::Emitter;
use super::super::event::{EventKind, InjectedReason, Lane, Origin, WordSource};
use super::super::facts::Tokens;
use super::super::view::{Fields, texts};
use super::super::voice::{self, Ended, Spot};
use super::Reader;

impl Reader {
    pub(super) fn entry(
        &mut self,
        kind: &str,
        spot: &Spot<'_>,
        entry: &Fields<'_>,
        raw: &str,
        out: &mut Emitter<'_>,
    ) {
        match kind {
            "compaction" => {
                let kept = entry.string("firstKeptEntryId");
                out.push(spot.draft(EventKind::Compaction, Origin::Host, &kept));
                voice::recap(spot, &entry.string("summary"), out);
            }
            "branch_summary" => voice::recap(spot, &entry.string("summary"), out),
            "custom_message" => added(spot, entry.raw("content"), out),
            "model_change" => out.note_model(&entry.string("modelId")),
            "session_info" => out.note_title(&entry.string("name")),
            // Settings, and marks that only the program reads.
            "thinking_level_change" | "custom" | "label" | "leaf" => {}
            other => voice::unknown(spot, other, raw, out),
        }
    }

    pub(super) fn message(
        &mut self,
        spot: &Spot<'_>,
        parent: &str,
        message: &Fields<'_>,
        raw: &str,
        out: &mut Emitter<'_>,
    ) {
        let content = message.raw("content");
        match message.word("role") {
            "user" => blocks::user(&mut self.thread, spot, parent, content, out),
            "assistant" => self.assistant(spot, message, out),
            "toolResult" => {
                let is_error = message.truth("isError");
                let ended = if is_error { Ended::Badly } else { Ended::Well };
                let id = message.string("toolCallId");
                self.thread.result(spot, &id, (ended, content), out);
            }
            "bashExecution" => shell(spot, message, out),
            "custom" | "hookMessage" => added(spot, content, out),
            "branchSummary" | "compactionSummary" => {
                voice::recap(spot, &message.string("summary"), out);
            }
            other => voice::unknown(spot, &format!("message {other}"), raw, out),
        }
    }

    fn assistant(&mut self, spot: &Spot<'_>, message: &Fields<'_>, out: &mut Emitter<'_>) {
        if spot.lane != Lane::Inherited {
            out.note_model(&message.string("model"));
            let usage = message.object("usage");
            out.facts.tokens.add(Tokens {
                input: usage.count("input"),
                output: usage.count("output"),
                cached: usage.count("cacheRead"),
                cache_write: usage.count("cacheWrite"),
                reasoning: usage.count("reasoning"),
            });
        }
        blocks::agent(&mut self.thread, spot, message.raw("content"), out);
        let reason = message.word("stopReason");
        if matches!(reason, "aborted" | "error") {
            self.thread.close();
            let text = message.string("errorMessage");
            voice::failure(spot, if text.is_empty() { reason } else { &text }, out);
        }
    }
}

/// What an extension put into the talk.
fn added(spot: &Spot<'_>, content: &str, out: &mut Emitter<'_>) {
    for text in texts(content) {
        voice::marked_user(spot, &text, out);
    }
}

/// A command that the person ran inside the agent.
fn shell(spot: &Spot<'_>, message: &Fields<'_>, out: &mut Emitter<'_>) {
    voice::words(spot, WordSource::Shell, &message.string("command"), out);
    voice::injected(spot, InjectedReason::CommandOutput, &message.string("output"), out);
}
