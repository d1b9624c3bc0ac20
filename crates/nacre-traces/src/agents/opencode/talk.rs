//! Converts a session's description, messages and parts into events. All storage layouts share this
//! code and therefore produce the same transcript.

use crate::transcript::toolkit::*;
use jiff::Timestamp;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    User,
    Assistant,
    Recap,
}

/// The message, or the part of one, at which the user's undo begins.
#[derive(Clone, Debug, Default)]
struct Revert {
    id: String,
    /// The first undone event's sequence number.
    from: Option<u64>,
}

#[derive(Default)]
pub(super) struct SessionParser {
    pub(super) calls: OpenCalls,
    pub(super) lane: Lane,
    pub(super) turn: TurnState,
    revert: Option<Revert>,
    pub(super) role: Role,
    pub(super) time: Option<Timestamp>,
    pub(super) last_time: Option<Timestamp>,
}

impl SessionParser {
    pub(super) fn describe(&mut self, session: &Fields, out: &mut Emitter) {
        out.note_title(&session.string("title"));
        out.note_version(&session.string("version"));
        out.note_cwd(&session.string("directory"));
        let time = session.object("time");
        for key in ["created", "updated"] {
            out.note_time(time.time(key));
        }
        let parent = session.string("parentID");
        if !parent.is_empty() {
            out.facts.role = SessionRole::SubAgent;
            out.note_link(LinkKind::Parent, &parent, None);
            self.lane = Lane::Sidechain;
        }
        let id = session.object("revert").first_string(&["partID", "messageID"]).into_owned();
        if !id.is_empty() {
            self.revert = Some(Revert { id, from: None });
        }
    }

    pub(super) fn message(&mut self, id: &str, message: &Fields, out: &mut Emitter) {
        out.report.lines += 1;
        let time = message.object("time");
        self.time = time.time("created");
        self.last_time = self.last_time.max(self.time);
        out.note_time(self.time);
        self.note_revert(id, out);
        let place = voice::row(&format!("message:{id}"));
        let spot = Spot { place: &place, key: id, time: self.time, lane: self.lane };
        match message.word("role") {
            "assistant" => self.assistant(&spot, message, &time, out),
            "user" => {
                self.role = Role::User;
                self.turn = TurnState::Open;
                out.note_model(&message.object("model").string("modelID"));
            }
            other => voice::emit_unknown(&spot, &format!("message {other}"), "", out),
        }
    }

    fn assistant(&mut self, spot: &Spot, message: &Fields, time: &Fields, out: &mut Emitter) {
        self.role = if message.truth("summary") { Role::Recap } else { Role::Assistant };
        out.note_model(&message.string("modelID"));
        out.note_cwd(&message.object("path").string("cwd"));
        note_tokens(&message.object("tokens"), out);
        let error = message.object("error");
        let is_done = !time.raw("completed").is_empty() || !error.is_empty();
        self.turn = if is_done { TurnState::Closed } else { TurnState::Open };
        out.note_time(time.time("completed"));
        if !error.is_empty() {
            voice::failure(spot, message.raw("error"), out);
        }
    }

    /// The first undone message or part determines where the undone events begin.
    fn note_revert(&mut self, id: &str, out: &Emitter) {
        if let Some(revert) = &mut self.revert
            && revert.from.is_none()
            && revert.id == id
        {
            revert.from = Some(out.next_sequence());
        }
    }

    pub(super) fn long_row(&self, part: &str, out: &mut Emitter) {
        let place = voice::row(&format!("part:{part}"));
        let spot = Spot { place: &place, key: part, time: self.time, lane: self.lane };
        voice::long_row(&spot, out);
    }

    pub(super) fn finish(&self, out: &mut Emitter) {
        if let Some(from) = self.revert.as_ref().and_then(|revert| revert.from) {
            note_undone(from, out);
        }
        out.facts.ending = self.turn.ending(!self.calls.is_empty());
    }
}

pub(super) fn note_tokens(tokens: &Fields, out: &mut Emitter) {
    let cache = tokens.object("cache");
    let (input, output) = (tokens.count("input"), tokens.count("output"));
    let (cached, written) = (cache.count("read"), cache.count("write"));
    let reasoning = tokens.count("reasoning");
    // If the total shows that reasoning tokens are counted separately from output tokens, add them
    // together.
    let parts = [input, output, cached, written, reasoning];
    let sum = parts.into_iter().fold(0_u64, u64::saturating_add);
    let is_apart = 0 < reasoning && tokens.count("total") == sum;
    let output = if is_apart { output.saturating_add(reasoning) } else { output };
    out.facts.tokens.add(Tokens { input, output, cached, cache_write: written, reasoning });
}

pub(super) fn file_label(part: &Fields) -> String {
    let url = part.string("url");
    let name = part.string("filename");
    if !name.is_empty() {
        format!("[{name}]")
    } else if url.starts_with("data:") {
        "[file]".to_owned()
    } else {
        format!("[{url}]")
    }
}

impl SessionParser {
    pub(super) fn part(&mut self, id: &str, raw: &str, out: &mut Emitter) {
        let Some(part) = out.open_record(raw) else { return };
        self.note_revert(id, out);
        let place = voice::row(&format!("part:{id}"));
        let time = part.object("time").time("start").or(self.time);
        let spot = &Spot { place: &place, key: id, time, lane: self.lane };
        match part.word("type") {
            "text" => text(self, spot, &part, out),
            "reasoning" => voice::agent(spot, EventKind::Reasoning, &part.string("text"), out),
            "tool" => tool(self, spot, &part, out),
            "file" => file(self, spot, &part, out),
            // Starts a sub-agent. The prompt is the expanded template of the command.
            "subtask" => {
                let origin = TextOrigin::Injected(InjectedReason::Command);
                out.push(spot.draft(EventKind::User, origin, &part.string("prompt")));
            }
            "compaction" => out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, raw)),
            "retry" => voice::failure(spot, part.raw("error"), out),
            // Skip step markers, and also changes, which Git records more reliably.
            "step-start" | "step-finish" | "patch" | "snapshot" | "agent" => {}
            other => voice::emit_unknown(spot, other, raw, out),
        }
    }
}

fn text(talk: &SessionParser, spot: &Spot, part: &Fields, out: &mut Emitter) {
    let text = part.string("text");
    let is_synthetic = part.truth("synthetic") || part.truth("ignored");
    match talk.role {
        Role::User if is_synthetic => voice::emit_marked_user(spot, &text, out),
        Role::User => voice::user(spot, &text, out),
        Role::Recap => voice::recap(spot, &text, out),
        Role::Assistant if is_synthetic && !text.trim().is_empty() => {
            out.push(spot.draft(EventKind::Assistant, TextOrigin::Host, &text));
        }
        Role::Assistant => voice::agent(spot, EventKind::Assistant, &text, out),
    }
}

fn file(talk: &SessionParser, spot: &Spot, part: &Fields, out: &mut Emitter) {
    let label = file_label(part);
    match talk.role {
        Role::User => voice::emit_injected(spot, InjectedReason::EditorContext, &label, out),
        Role::Assistant | Role::Recap => voice::note(spot, &label, out),
    }
}

fn tool(talk: &mut SessionParser, spot: &Spot, part: &Fields, out: &mut Emitter) {
    let state = part.object("state");
    let (id, name) = (part.string("callID"), part.string("tool"));
    voice::call(spot, &mut talk.calls, &id, &name, state.raw("input"), out);
    let time = state.object("time").time("end").or(spot.time);
    let spot = Spot { time, ..*spot };
    let exit = state.object("metadata").number("exit").unwrap_or(0);
    let (has_failed, raw) = match (state.word("status"), exit) {
        ("pending" | "running", _) => {
            talk.turn = TurnState::Open;
            return;
        }
        ("error", _) => (true, state.raw("error")),
        (_, 0) => (false, state.raw("output")),
        (_, _) => (true, state.raw("output")),
    };
    voice::result(&spot, &mut talk.calls, &id, has_failed, raw, out);
    if name == "question" {
        for answer in answers(state.object("metadata").raw("answers")) {
            voice::words(&spot, WordSource::Answer, &answer, out);
        }
    }
}

fn answers(raw: &str) -> Vec<String> {
    let joined = |question: &str| {
        let chosen: Vec<String> = items(question)
            .into_iter()
            .filter_map(|answer| Some(text_of(answer)?.into_owned()))
            .collect();
        chosen.join(", ")
    };
    items(raw).into_iter().map(joined).filter(|answer| !answer.is_empty()).collect()
}
