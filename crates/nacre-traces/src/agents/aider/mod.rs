//! Reads aider's history: one Markdown file per project, to which each session is appended. A
//! session starts with a heading that contains the time. Lines that start with `####` were written
//! by the user, lines that start with `>` by aider, and all others by the model. Sessions and
//! messages have no IDs. Times have no time zone and are read as UTC.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs::File;
use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::{AgentSpec, Copies, Mark};
use crate::transcript::toolkit::*;

pub(crate) struct Aider;

const HISTORY: &str = ".aider.chat.history.md";
const HEADING: &[u8] = b"# aider chat started at ";
const MAX_SESSIONS: usize = 100_000;
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", ".venv"];

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Aider),
    trace_names: &[".aider.chat.history.md"],
    marks: &[
        (4, Mark::NameEnd("aider.chat.history.md")),
        (5, Mark::LineStart("# aider chat started at ")),
    ],
    copies: Copies::Never,
    variables: &["AIDER_CHAT_HISTORY_FILE"],
    ..AgentSpec::new("aider", "aider")
};

impl Adapter for Aider {
    fn agent(&self) -> Agent {
        Agent::Aider
    }

    fn version(&self) -> u32 {
        2
    }

    /// By default, only the file named by an environment variable is read. A history inside a
    /// project may be part of the repository, so the user must pass its path explicitly.
    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let history = homes.var("AIDER_CHAT_HISTORY_FILE");
        history.into_iter().filter(|path| path.is_absolute()).collect()
    }

    fn is_trace(&self, name: &str) -> bool {
        name == HISTORY || name == &HISTORY[1..]
    }

    fn is_searched(&self, directory: &str) -> bool {
        !SKIPPED.contains(&directory)
    }

    fn sessions(&self, source: &TraceSource) -> Result<Vec<Trace>> {
        let file = open_regular(&source.path)?;
        let trace = |(start, size): (Start, u64)| Trace {
            source: source.clone(),
            session: Some(start.name()),
            revision: Some(size.to_string()),
        };
        Ok(starts(&file, &source.path)?.into_iter().map(trace).collect())
    }

    fn read(&self, trace: &Trace, _: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let start = match &trace.session {
            Some(name) => Start::parse(name).ok_or_else(|| trace.missing())?,
            None => Start { offset: 0, line: 0 },
        };
        let file = open_regular(path)?;
        let mut out = Emitter::new(SessionFacts::new(Agent::Aider, ""), 0, sink);
        if !read_session(&file, path, start, &mut out)? && trace.session.is_some() {
            return Err(trace.missing());
        }
        out.facts.id = id_of(out.facts.started);
        if let Some(folder) = path.parent().and_then(Path::to_str) {
            out.note_cwd(folder);
        }
        Ok(out.finish())
    }
}

/// Where a session starts in its file. Histories are append-only, so the position identifies the
/// session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    offset: u64,
    line: u64,
}

impl Start {
    fn name(self) -> String {
        format!("{}-{}", self.offset, self.line)
    }

    fn parse(name: &str) -> Option<Self> {
        let (offset, line) = name.split_once('-')?;
        Some(Self { offset: offset.parse().ok()?, line: line.parse().ok()? })
    }
}

fn starts(file: &File, path: &Path) -> Result<Vec<(Start, u64)>> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let mut reader = LineReader::new(file, 0, 0);
    let mut starts: Vec<(Start, u64)> = Vec::new();
    while let Some(line) = reader.next_line().map_err(read_error)? {
        if line.bytes.starts_with(HEADING) && starts.len() < MAX_SESSIONS {
            starts.push((Start { offset: line.offset, line: line.number - 1 }, 0));
        }
        if let Some((start, size)) = starts.last_mut() {
            *size = line.next_offset - start.offset;
        }
    }
    Ok(starts)
}

fn heading_time(line: &str) -> Option<Timestamp> {
    let text = line.strip_prefix(std::str::from_utf8(HEADING).ok()?)?.trim();
    let local: DateTime = text.parse().ok()?;
    Some(local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// Derives the ID from the start time, so that moving the project does not change it.
fn id_of(started: Option<Timestamp>) -> String {
    let time = started.map_or_else(|| "start".to_owned(), |time| time.to_string());
    time.trim_end_matches('Z').replace([':', '.'], "-")
}

/// Longer messages are split.
const MAX_SAID: usize = 1024 * 1024;
/// Every line that aider writes, including echoed user input, ends with this string.
const LINE_END: &str = "  ";
const MIN_FENCE: usize = 3;
const TALK_COMMANDS: [&str; 5] = ["/ask", "/code", "/architect", "/context", "/help"];
const SHELL_COMMANDS: [&str; 3] = ["/run", "/test", "/git"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Person,
    Program,
    Model,
}

struct Utterance {
    side: Side,
    text: String,
    place: Position,
}

fn read_session(file: &File, path: &Path, start: Start, out: &mut Emitter) -> Result<bool> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let mut file = file;
    file.seek(SeekFrom::Start(start.offset)).map_err(read_error)?;
    let mut lines = LineReader::new(file, start.offset, start.line);
    let mut reader = HistoryParser::default();
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
struct HistoryParser {
    said: Option<Utterance>,
    last: Option<Side>,
    /// Whether aider's last line lacked `LINE_END`, so that its text continues on the next line.
    is_unfinished: bool,
    fence: Option<String>,
    /// Whether the model wrote the last non-blank line. After each response, aider prints a line
    /// before the user can type again.
    is_in_answer: bool,
}

impl HistoryParser {
    fn line(&mut self, line: &TraceLine, out: &mut Emitter) {
        let text = String::from_utf8_lossy(line.bytes);
        out.report.invalid_utf8 += u64::from(matches!(text, Cow::Owned(_)));
        let text = text.trim_end_matches('\r');
        if let Some(time) = heading_time(text) {
            self.say(out);
            self.is_unfinished = false;
            (self.fence, self.is_in_answer) = (None, false);
            return out.note_time(time);
        }
        let (side, content) = self.side_of(text);
        if side == Side::Model {
            self.note_fence(text);
        }
        if !text.trim().is_empty() {
            let is_own = side == Side::Program && text.starts_with('>') && text.ends_with(LINE_END);
            let is_open = side == Side::Person || is_own;
            self.is_in_answer = !is_open;
        }
        let place = Position::Line { line: line.number, offset: line.offset };
        self.take(side, content.trim_end(), place, out);
        self.is_unfinished = side == Side::Program && !text.ends_with(LINE_END);
    }

    fn take(&mut self, side: Side, content: &str, place: Position, out: &mut Emitter) {
        let is_blank = content.trim().is_empty();
        if let Some(said) = &mut self.said
            && (said.side == side || is_blank)
            && said.text.len() < MAX_SAID
        {
            said.text.push('\n');
            said.text.push_str(content);
            // A blank line without a marker ends text by the user or by aider.
            if is_blank && side == Side::Model && said.side != Side::Model {
                self.say(out);
            }
            return;
        }
        self.say(out);
        if !is_blank {
            self.said = Some(Utterance { side, text: content.to_owned(), place });
        }
    }

    fn side_of<'a>(&self, text: &'a str) -> (Side, &'a str) {
        if self.fence.is_some() {
            return (Side::Model, text);
        }
        // Models also write level-four headings and quote files that contain such headings.
        if !self.is_in_answer
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

    fn say(&mut self, out: &mut Emitter) {
        let Some(said) = self.said.take() else { return };
        let key = match &said.place {
            Position::Line { line, .. } => line.to_string(),
            Position::Row { key } => key.clone(),
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

fn person(spot: &Spot, text: &str, out: &mut Emitter) {
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
        voice::emit_injected(spot, InjectedReason::Command, text, out);
    }
}

fn note_line(line: &str, out: &mut Emitter) {
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

/// Parses `1.2k sent, 300 cache hit, 45 received. Cost: …`.
fn note_tokens(text: &str, out: &mut Emitter) {
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

/// Parses a number in aider's format, such as `45`, `1.2k` or `3.4M`.
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
