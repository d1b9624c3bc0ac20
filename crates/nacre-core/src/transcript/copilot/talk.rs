//! The events of a session, by their type.

use super::super::emit::Emitter;
use super::super::event::{EventKind, InjectedReason, Lane, Origin};
use super::super::facts::Tokens;
use super::super::injected::reason_of;
use super::super::json::Text;
use super::super::names::short_name;
use super::super::thread::Turn;
use super::super::view::{Fields, text_of};
use super::super::voice::{self, Ended, Spot};
use super::Reader;

impl Reader {
    pub(super) fn event(
        &mut self,
        kind: &str,
        spot: &Spot<'_>,
        data: &Fields<'_>,
        raw: &str,
        out: &mut Emitter<'_>,
    ) {
        match kind {
            "session.start" | "session.resume" | "session.context_changed" => {
                self.session(data, out);
            }
            "user.message" => self.user(spot, data, out),
            "assistant.message" => self.assistant(spot, data, out),
            "assistant.reasoning" => {
                self.0.agent(spot, EventKind::Reasoning, &data.string("content"), out);
            }
            "tool.user_requested" | "tool.execution_start" => {
                self.call(spot, data, "toolName", out);
            }
            "tool.execution_complete" => self.result(spot, data, out),
            "system.notification" => {
                voice::injected(spot, InjectedReason::TaskNotice, &data.string("content"), out);
            }
            "session.model_change" => out.note_model(&data.string("newModel")),
            "session.title_changed" => out.note_title(&data.string("title")),
            "session.error" => voice::failure(spot, &data.string("message"), out),
            "session.truncation" | "session.compaction_complete" => compaction(spot, data, out),
            "session.shutdown" => self.shutdown(data, out),
            "assistant.turn_start" if spot.lane == Lane::Main => self.0.turn = Turn::Open,
            "abort" => {
                self.0.close();
                voice::note(spot, &data.string("reason"), out);
            }
            // Marks around a turn, settings of the program, and what other events say as well.
            _ if is_silent(kind) => {}
            other => voice::unknown(spot, other, raw, out),
        }
    }

    fn session(&mut self, data: &Fields<'_>, out: &mut Emitter<'_>) {
        let id = data.string("sessionId");
        if !self.0.is_named && !id.is_empty() {
            self.0.is_named = true;
            out.facts.id = short_name(&id);
        }
        out.note_version(&data.string("copilotVersion"));
        out.note_model(&data.string("selectedModel"));
        let inner = data.object("context");
        let context = if inner.is_empty() { data } else { &inner };
        out.note_cwd(&context.string("cwd"));
        out.note_branch(&context.string("branch"));
        let (host, name) = (context.string("repositoryHost"), context.string("repository"));
        if !host.is_empty() && !name.is_empty() {
            out.note_repository(&format!("https://{host}/{name}"));
        }
    }

    fn user(&mut self, spot: &Spot<'_>, data: &Fields<'_>, out: &mut Emitter<'_>) {
        let (typed, sent) = (data.string("content"), data.string("transformedContent"));
        let source = data.word("source");
        if !matches!(source, "" | "user") {
            return voice::marked_user(spot, &typed, out);
        }
        let added = sent.replacen(&*typed, "", 1);
        if !typed.is_empty() && added.len() < sent.len() && !added.trim().is_empty() {
            let reason = reason_of(&added).or_if_unknown(InjectedReason::Environment);
            voice::injected(spot, reason, &added, out);
        }
        // The chain of events has no branches: what is taken back is removed from the file.
        self.0.user(spot, "", &typed, out);
    }

    fn assistant(&mut self, spot: &Spot<'_>, data: &Fields<'_>, out: &mut Emitter<'_>) {
        out.note_model(&data.string("model"));
        let output = data.count("outputTokens");
        out.facts.tokens.add(Tokens { output, ..Tokens::default() });
        self.0.agent(spot, EventKind::Reasoning, &data.string("reasoningText"), out);
        self.0.agent(spot, EventKind::Assistant, &data.string("content"), out);
        for request in data.items("toolRequests") {
            self.call(spot, &Fields::of(request), "name", out);
        }
    }

    /// A call: asked for in a message and told again when it starts, or only one of these.
    fn call(&mut self, spot: &Spot<'_>, call: &Fields<'_>, name: &str, out: &mut Emitter<'_>) {
        let id = call.string("toolCallId");
        if !id.is_empty() && self.0.calls.is_open(&id) {
            return;
        }
        let raw = call.raw("arguments");
        let text = text_of(raw).map(Text::decode);
        self.0.call(spot, (&id, &call.string(name)), text.as_deref().unwrap_or(raw), out);
    }

    fn result(&mut self, spot: &Spot<'_>, data: &Fields<'_>, out: &mut Emitter<'_>) {
        let (result, error) = (data.object("result"), data.object("error"));
        let raw = match (result.raw("content"), error.raw("message")) {
            ("", "") => data.raw("result"),
            ("", message) => message,
            (content, _) => content,
        };
        let ended = if data.raw("success") == "false" { Ended::Badly } else { Ended::Well };
        self.0.result(spot, &data.string("toolCallId"), (ended, raw), out);
    }

    /// The end of a program that was left in order; its counts are those of the whole session.
    fn shutdown(&mut self, data: &Fields<'_>, out: &mut Emitter<'_>) {
        self.0.close();
        let inner = data.object("accountingSnapshot");
        let data = if data.raw("modelMetrics").is_empty() { &inner } else { data };
        let mut total = Tokens::default();
        for (_, model) in data.object("modelMetrics").members() {
            let usage = Fields::of(model).object("usage");
            let cached = usage.count("cacheReadTokens");
            total.add(Tokens {
                input: usage.count("inputTokens").saturating_sub(cached),
                output: usage.count("outputTokens"),
                cached,
                cache_write: usage.count("cacheWriteTokens"),
                reasoning: usage.count("reasoningTokens"),
            });
        }
        if total != Tokens::default() {
            out.facts.tokens = total;
        }
    }
}

fn compaction(spot: &Spot<'_>, data: &Fields<'_>, out: &mut Emitter<'_>) {
    let summary = data.string("summaryContent");
    let reason = data.string("reason");
    out.push(spot.draft(EventKind::Compaction, Origin::Host, &reason));
    voice::recap(spot, &summary, out);
}

/// Whether events of this type say nothing that others do not.
fn is_silent(kind: &str) -> bool {
    let family = kind.split('.').next().unwrap_or_default();
    matches!(family, "hook" | "permission" | "subagent" | "skill" | "user_input" | "elicitation")
        || matches!(
            kind,
            "system.message"
                | "assistant.turn_start"
                | "assistant.turn_end"
                | "assistant.intent"
                | "assistant.usage"
                | "tool.execution_progress"
                | "tool.execution_partial_result"
                | "session.info"
                | "session.warning"
                | "session.idle"
                | "session.mode_changed"
                | "session.plan_changed"
                | "session.workspace_file_changed"
                | "session.snapshot_rewind"
                | "session.handoff"
                | "session.usage_info"
                | "session.usage_record"
                | "session.usage_checkpoint"
                | "session.auto_mode_resolved"
                | "session.permissions_changed"
                | "session.compaction_start"
                | "session.task_complete"
        )
}
