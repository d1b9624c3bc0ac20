//! One session of a history: its lines, joined to what one side said.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::Path;

use super::super::emit::Emitter;
use super::super::error::{Error, Result};
use super::super::event::{EventKind, InjectedReason, Lane, Place, WordSource};
use super::super::facts::{Ending, Tokens};
use super::super::lines::{Line, LineReader};
use super::super::voice::{self, Spot};
use super::{HEADING, Start, heading_time};

/// What one side said at a time is not longer; beyond it, it is given in pieces.
const MAX_SAID: usize = 1024 * 1024;
/// How every line ends that aider writes for the person or itself.
const LINE_END: &str = "  ";
/// A fence has at least so many signs.
const MIN_FENCE: usize = 3;
/// Commands of which the rest is a question or a request.
const TALK_COMMANDS: [&str; 5] = ["/ask", "/code", "/architect", "/context", "/help"];
const SHELL_COMMANDS: [&str; 3] = ["/run", "/test", "/git"];

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Person,
    Program,
    Model,
}

/// What one side says until another one speaks.
struct Said {
    side: Side,
    text: String,
    place: Place,
}

/// Reads the session that starts there; `false` where none does.
pub(super) fn read_session(
    file: &File,
    path: &Path,
    start: Start,
    out: &mut Emitter<'_>,
) -> Result<bool> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let mut file = file;
    file.seek(SeekFrom::Start(start.offset)).map_err(read_error)?;
    let mut lines = LineReader::new(file, start.offset, start.line);
    let mut reader = Reader::default();
    let mut has_heading = false;
    while let Some(line) = lines.next_line().map_err(read_error)? {
        let is_heading = line.bytes.starts_with(HEADING);
        if is_heading && has_heading {
            break;
        }
        if start.offset == line.offset && start.offset > 0 && !is_heading {
            return Ok(false);
        }
        has_heading |= is_heading;
        out.report.lines += 1;
        reader.line(&line, out);
    }
    reader.say(out);
    out.facts.ending = match reader.last {
        Some(Side::Person) => Ending::Active,
        Some(Side::Model | Side::Program) | None => Ending::Unknown,
    };
    Ok(has_heading)
}

#[derive(Default)]
struct Reader {
    said: Option<Said>,
    /// Who said something last, other than the program.
    last: Option<Side>,
    /// The program's line goes on: the one before did not end as its lines do.
    is_unfinished: bool,
    /// The mark of the fence that the model has not closed.
    fence: Option<String>,
    /// What the last line was that is not blank.
    before: Before,
}

/// What stands before a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    /// The heading, or a line of the program or the person: the person may speak.
    #[default]
    Open,
    /// Words of the model. Aider ends its answer with a line of its own.
    Model,
}

impl Reader {
    fn line(&mut self, line: &Line<'_>, out: &mut Emitter<'_>) {
        let text = String::from_utf8_lossy(line.bytes);
        out.report.invalid_utf8 += u64::from(matches!(text, Cow::Owned(_)));
        let text = text.trim_end_matches('\r');
        if let Some(time) = heading_time(text) {
            self.say(out);
            self.is_unfinished = false;
            (self.fence, self.before) = (None, Before::Open);
            return out.note_time(time);
        }
        let (side, content) = self.side_of(text);
        if side == Side::Model {
            self.note_fence(text);
        }
        if !text.trim().is_empty() {
            let is_own = side == Side::Program && text.starts_with('>') && text.ends_with(LINE_END);
            let is_open = side == Side::Person || is_own;
            self.before = if is_open { Before::Open } else { Before::Model };
        }
        let place = Place::Line { line: line.number, offset: line.offset };
        self.take(side, content.trim_end(), place, out);
        // Lines of the program end with two blanks; one that does not goes on.
        self.is_unfinished = side == Side::Program && !text.ends_with(LINE_END);
    }

    /// Joins a line to what the same side said before it.
    fn take(&mut self, side: Side, content: &str, place: Place, out: &mut Emitter<'_>) {
        let is_blank = content.trim().is_empty();
        if let Some(said) = &mut self.said
            && (said.side == side || is_blank)
            && said.text.len() < MAX_SAID
        {
            said.text.push('\n');
            said.text.push_str(content);
            // A blank line without a mark ends what the person and the program say.
            if is_blank && side == Side::Model && said.side != Side::Model {
                self.say(out);
            }
            return;
        }
        self.say(out);
        if !is_blank {
            self.said = Some(Said { side, text: content.to_owned(), place });
        }
    }

    /// Who says a line, and what of it is said.
    fn side_of<'a>(&self, text: &'a str) -> (Side, &'a str) {
        if self.fence.is_some() {
            return (Side::Model, text);
        }
        // Models write headings of this level, too, and quote files that hold them.
        if self.before == Before::Open
            && text.ends_with(LINE_END)
            && let Some(words) = text.strip_prefix("#### ")
        {
            return (Side::Person, words);
        }
        if let Some(note) = text.strip_prefix('>') {
            return (Side::Program, note.strip_prefix(' ').unwrap_or(note));
        }
        let goes_on = self.is_unfinished && !text.is_empty();
        (if goes_on { Side::Program } else { Side::Model }, text)
    }

    /// Notes where the model opens and closes a fence.
    fn note_fence(&mut self, text: &str) {
        let line = text.trim();
        let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'));
        let Some(sign) = sign else { return };
        let rest = line.trim_start_matches(sign);
        let mark = &line[..line.len() - rest.len()];
        if mark.len() < MIN_FENCE {
            return;
        }
        match &self.fence {
            Some(open) if rest.is_empty() && mark.starts_with(open.as_str()) => self.fence = None,
            Some(_) => {}
            None => self.fence = Some(mark.to_owned()),
        }
    }

    /// Gives what was said.
    fn say(&mut self, out: &mut Emitter<'_>) {
        let Some(said) = self.said.take() else { return };
        let key = match &said.place {
            Place::Line { line, .. } => line.to_string(),
            Place::Row { key } => key.clone(),
        };
        let spot = Spot { place: &said.place, key: &key, time: None, lane: Lane::Main };
        let text = said.text.trim();
        if text.is_empty() {
            return;
        }
        match said.side {
            Side::Person => person(&spot, text, out),
            Side::Model => voice::agent(&spot, EventKind::Assistant, text, out),
            Side::Program => {
                text.lines().for_each(|line| note_line(line, out));
                voice::note(&spot, text, out);
            }
        }
        if said.side != Side::Program {
            self.last = Some(said.side);
        }
    }
}

/// The person's words, which may be a command.
fn person(spot: &Spot<'_>, text: &str, out: &mut Emitter<'_>) {
    let (command, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let is_path = command.get(1..).is_some_and(|rest| rest.contains('/'));
    if let Some(shell) = text.strip_prefix('!') {
        voice::words(spot, WordSource::Shell, shell, out);
    } else if !text.starts_with('/') || is_path {
        voice::user(spot, text, out);
    } else if SHELL_COMMANDS.contains(&command) {
        voice::words(spot, WordSource::Shell, rest, out);
    } else if TALK_COMMANDS.contains(&command) && !rest.trim().is_empty() {
        voice::words(spot, WordSource::CommandArgs, rest, out);
    } else {
        voice::injected(spot, InjectedReason::Command, text, out);
    }
}

/// Takes over what a line of the program says about the session.
fn note_line(line: &str, out: &mut Emitter<'_>) {
    if let Some(version) = line.strip_prefix("Aider v") {
        return out.note_version(version.trim());
    }
    for heading in ["Main model: ", "Model: "] {
        if let Some(model) = line.strip_prefix(heading) {
            return out.note_model(model.split(" with ").next().unwrap_or_default().trim());
        }
    }
    if let Some(tokens) = line.strip_prefix("Tokens: ") {
        note_tokens(tokens, out);
    }
}

/// Reads `1.2k sent, 300 cache hit, 45 received. Cost: …`.
fn note_tokens(text: &str, out: &mut Emitter<'_>) {
    let mut tokens = Tokens::default();
    let counts = text.split(". ").next().unwrap_or_default();
    for part in counts.trim_end_matches('.').split(", ") {
        let Some((number, what)) = part.trim().split_once(' ') else { continue };
        let number = count(number);
        match what.trim_end_matches('.') {
            "sent" => tokens.input = number,
            "received" => tokens.output = number,
            "cache hit" => tokens.cached = number,
            "cache write" => tokens.cache_write = number,
            _ => {}
        }
    }
    out.facts.tokens.add(tokens);
}

/// A number as aider writes it: `45`, `1.2k`, `3.4M`.
fn count(text: &str) -> u64 {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    let number: f64 = digits.replace(',', "").parse().unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rounded count of tokens"
    )]
    let whole = (number * factor).round().clamp(0.0, 1e15) as u64;
    whole
}
