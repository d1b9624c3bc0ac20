//! What a session says, whichever layout it was stored in: its description, its messages and
//! their parts become events here and nowhere else, so both layouts give the same transcript.

use jiff::Timestamp;

use super::super::calls::OpenCalls;
use super::super::emit::Emitter;
use super::super::event::Lane;
use super::super::facts::{Ending, LinkKind, SessionRole, Undone};
use super::super::view::Fields;
use super::super::voice::{self, Spot};

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    /// The assistant, asked to sum up what went before.
    Recap,
}

/// How the talk stands after the last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Turn {
    #[default]
    Nothing,
    Open,
    Closed,
}

/// From where on the person took the talk back.
#[derive(Clone, Debug, Default)]
struct Revert {
    message: String,
    part: String,
    /// The sequence at which it was met.
    from: Option<u64>,
}

/// Reads one session.
pub(super) struct Talk {
    pub(super) calls: OpenCalls,
    pub(super) lane: Lane,
    pub(super) turn: Turn,
    revert: Option<Revert>,
    /// The message whose parts are being read.
    pub(super) role: Role,
    pub(super) time: Option<Timestamp>,
    pub(super) last_time: Option<Timestamp>,
}

impl Talk {
    pub(super) fn new() -> Self {
        Self {
            calls: OpenCalls::new(),
            lane: Lane::Main,
            turn: Turn::Nothing,
            revert: None,
            role: Role::User,
            time: None,
            last_time: None,
        }
    }

    /// Takes over the description of a session, as the tree stores it.
    pub(super) fn describe(&mut self, session: &Fields<'_>, out: &mut Emitter<'_>) {
        out.note_title(&session.string("title"));
        out.note_version(&session.string("version"));
        out.note_cwd(&session.string("directory"));
        let time = session.object("time");
        for key in ["created", "updated"] {
            if let Some(time) = time.time(key) {
                out.note_time(time);
            }
        }
        let parent = session.string("parentID");
        if !parent.is_empty() {
            out.facts.role = SessionRole::SubAgent;
            out.note_link(LinkKind::Parent, &parent, None);
            self.lane = Lane::Sidechain;
        }
        let revert = session.object("revert");
        let message = revert.string("messageID").into_owned();
        if !message.is_empty() {
            let part = revert.string("partID").into_owned();
            self.revert = Some(Revert { message, part, from: None });
        }
    }

    /// Starts a message; its parts follow.
    pub(super) fn message(&mut self, id: &str, message: &Fields<'_>, out: &mut Emitter<'_>) {
        out.report.lines += 1;
        let time = message.object("time");
        self.time = time.time("created");
        self.last_time = self.last_time.max(self.time);
        if let Some(time) = self.time {
            out.note_time(time);
        }
        if let Some(revert) = &mut self.revert
            && revert.from.is_none()
            && revert.part.is_empty()
            && revert.message == id
        {
            revert.from = Some(out.next_sequence());
        }
        match message.word("role") {
            "assistant" => self.assistant(id, message, &time, out),
            "user" => {
                self.role = Role::User;
                self.turn = Turn::Open;
                out.note_model(&message.object("model").string("modelID"));
            }
            other => {
                let place = voice::row(&format!("message:{id}"));
                let spot = Spot { place: &place, key: id, time: self.time, lane: self.lane };
                voice::unknown(&spot, &format!("message {other}"), "", out);
            }
        }
    }

    fn assistant(
        &mut self,
        id: &str,
        message: &Fields<'_>,
        time: &Fields<'_>,
        out: &mut Emitter<'_>,
    ) {
        self.role = if message.truth("summary") { Role::Recap } else { Role::Assistant };
        out.note_model(&message.string("modelID"));
        out.note_cwd(&message.object("path").string("cwd"));
        note_tokens(&message.object("tokens"), out);
        let error = message.object("error");
        let is_done = !time.raw("completed").is_empty() || !error.is_empty();
        self.turn = if is_done { Turn::Closed } else { Turn::Open };
        if let Some(completed) = time.time("completed") {
            out.note_time(completed);
        }
        if !error.is_empty() {
            let place = voice::row(&format!("message:{id}"));
            let spot = Spot { place: &place, key: id, time: self.time, lane: self.lane };
            voice::failure(&spot, message.raw("error"), out);
        }
    }

    /// Notes that the part comes next from which on the talk may have been taken back.
    pub(super) fn meet_part(&mut self, id: &str, sequence: u64) {
        if let Some(revert) = &mut self.revert
            && revert.from.is_none()
            && revert.part == id
            && !id.is_empty()
        {
            revert.from = Some(sequence);
        }
    }

    /// Settles what only the end of the session can tell.
    pub(super) fn finish(&self, out: &mut Emitter<'_>) {
        let end = out.next_sequence();
        if let Some(from) = self.revert.as_ref().and_then(|revert| revert.from)
            && from < end
        {
            out.facts.undone.push(Undone { from, to: end - 1 });
        }
        out.facts.ending = match self.turn {
            Turn::Closed if self.calls.is_empty() => Ending::Finished,
            Turn::Closed | Turn::Open => Ending::Active,
            Turn::Nothing => Ending::Unknown,
        };
    }
}

/// Adds what a model call took.
pub(super) fn note_tokens(tokens: &Fields<'_>, out: &mut Emitter<'_>) {
    let cache = tokens.object("cache");
    let (input, output) = (tokens.count("input"), tokens.count("output"));
    let (cached, written) = (cache.count("read"), cache.count("write"));
    let reasoning = tokens.count("reasoning");
    let facts = &mut out.facts.tokens;
    facts.input = facts.input.saturating_add(input);
    facts.output = facts.output.saturating_add(output);
    facts.cached = facts.cached.saturating_add(cached);
    facts.cache_write = facts.cache_write.saturating_add(written);
    facts.reasoning = facts.reasoning.saturating_add(reasoning);
    // Where a total tells that reasoning is not in the output, it is added: it is output here.
    let parts = [input, output, cached, written, reasoning];
    let sum = parts.into_iter().fold(0_u64, u64::saturating_add);
    if 0 < reasoning && tokens.count("total") == sum {
        facts.output = facts.output.saturating_add(reasoning);
    }
}

/// A name for a file that was handed over: never its content.
pub(super) fn file_label(part: &Fields<'_>) -> String {
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
