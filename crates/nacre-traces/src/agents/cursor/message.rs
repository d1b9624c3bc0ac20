//! Reads messages with a role and content blocks, as Cursor's agent writes them in transcripts and
//! content-addressed stores.

use crate::transcript::toolkit::*;
use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::uri::{TouchedFiles, path_of};

const FOLDER_LABELS: [&str; 2] = ["Workspace Path:", "Workspace Folder:"];

#[derive(Default)]
pub(super) struct Messages {
    pub(super) calls: OpenCalls,
    pub(super) files: TouchedFiles,
    pub(super) folder: Option<String>,
    pub(super) last: TurnState,
    pub(super) lane: Lane,
    pub(super) time: Option<Timestamp>,
}

impl Messages {
    pub(super) fn read(
        &mut self,
        place: &Position,
        key: &str,
        message: &Fields,
        out: &mut Emitter,
    ) -> bool {
        let role = message.word("role");
        let inner = message.object("message");
        let content = match inner.raw("content") {
            "" => message.raw("content"),
            content => content,
        };
        if role.is_empty() || content.is_empty() {
            return false;
        }
        out.note_model(&message.string("model"));
        let time = message.time("timestamp").or_else(|| message.time("createdAt"));
        self.time = time.or(self.time);
        let spot = Spot { place, key, time, lane: self.lane };
        if let Some(text) = text_of(content) {
            self.text(role, &spot, &text, out);
        }
        for raw in items(content) {
            self.block(role, &spot, raw, out);
        }
        true
    }

    fn block(&mut self, role: &str, spot: &Spot, raw: &str, out: &mut Emitter) {
        if let Some(text) = text_of(raw) {
            return self.text(role, spot, &text, out);
        }
        let block = Fields::of(raw);
        let kind = block.word("type").replace('_', "-");
        match kind.as_str() {
            "text" => self.text(role, spot, &block.string("text"), out),
            "thinking" | "reasoning" => {
                let text = block.first_string(&["thinking", "text"]);
                self.last = TurnState::Closed;
                voice::agent(spot, EventKind::Reasoning, &text, out);
            }
            "redacted-reasoning" | "redacted-thinking" => self.last = TurnState::Closed,
            "tool-use" | "tool-call" => self.call(spot, &block, out),
            "tool-result" => self.result(spot, &block, out),
            "image" | "file" | "document" if role == "user" => {
                voice::emit_marked_user(spot, &format!("[{kind}]"), out);
            }
            _ => voice::emit_unknown(spot, block.word("type"), raw, out),
        }
    }

    fn text(&mut self, role: &str, spot: &Spot, text: &str, out: &mut Emitter) {
        match role {
            "user" => {
                let time = time_tag(text);
                self.time = time.or(self.time);
                self.last = TurnState::Open;
                self.folder = self.folder.take().or_else(|| find_directory(text));
                voice::user(&Spot { time: spot.time.or(time), ..*spot }, text, out);
            }
            "assistant" => {
                self.last = TurnState::Closed;
                voice::agent(spot, EventKind::Assistant, text, out);
            }
            // System messages contain the agent's own instructions, which are identical in every
            // session.
            "system" | "developer" => {}
            "tool" => voice::plain_result(spot, &mut self.calls, "", false, text, out),
            other => voice::emit_unknown(spot, other, text, out),
        }
    }

    fn call(&mut self, spot: &Spot, block: &Fields, out: &mut Emitter) {
        self.last = TurnState::Closed;
        let id = block.first_string(&["toolCallId", "id", "tool_use_id"]);
        let name = block.first_string(&["toolName", "name"]);
        let raw = block.first_raw(&["args", "input", "arguments"]);
        // The arguments may be a string that contains JSON.
        let arguments = text_of(raw).unwrap_or(Cow::Borrowed(raw));
        self.files.note_arguments(&arguments);
        voice::call(spot, &mut self.calls, &id, &name, &arguments, out);
    }

    fn result(&mut self, spot: &Spot, block: &Fields, out: &mut Emitter) {
        let id = block.first_string(&["toolCallId", "tool_use_id", "id"]);
        let raw = block.first_raw(&["result", "content", "output"]);
        let is_error = block.truth("is_error") || block.truth("isError");
        voice::result(spot, &mut self.calls, &id, is_error, raw, out);
    }
}

/// Reads the workspace directory from the environment block at the start of the text. A later block
/// may be part of a file.
fn find_directory(text: &str) -> Option<String> {
    let after = text.trim_start().strip_prefix("<user_info>")?;
    let mut lines = after.split("</user_info>").next().unwrap_or_default().lines();
    lines.find_map(|line| {
        let line = line.trim();
        let label = FOLDER_LABELS.iter().find(|label| line.starts_with(**label))?;
        path_of(line[label.len()..].trim())
    })
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

pub(super) fn time_tag(text: &str) -> Option<Timestamp> {
    let (_, after) = text.split_once("<timestamp>")?;
    let (inside, _) = after.split_once("</timestamp>")?;
    let inside = inside.trim();
    inside.parse().ok().or_else(|| parse_words(inside))
}

/// Parses a time such as `Tuesday, Sep 16, 2025, 10:01 AM (UTC+2)`. The default zone is UTC.
fn parse_words(text: &str) -> Option<Timestamp> {
    let (date, zone) = text.split_once('(').unwrap_or((text, ""));
    let words: Vec<&str> =
        date.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|word| month_of(word).is_some())?;
    let month = month_of(words[at])?;
    let day: i8 = words.get(at + 1)?.parse().ok()?;
    let year: i16 = words.get(at + 2)?.parse().ok()?;
    let mut clock = words.get(at + 3)?.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (clock.next()??, clock.next()??);
    let second = clock.next().flatten().unwrap_or(0);
    let hour = match words.get(at + 4).map(|word| word.to_ascii_lowercase()).as_deref() {
        Some("pm") if hour < 12 => hour + 12,
        Some("am") if hour == 12 => 0,
        _ => hour,
    };
    let local = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    let utc = local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let offset = jiff::SignedDuration::from_mins(zone_minutes(zone));
    utc.checked_sub(offset).ok()
}

fn month_of(word: &str) -> Option<i8> {
    let word = word.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| *month == word)?;
    i8::try_from(at + 1).ok()
}

/// Parses an offset such as `UTC+5:30)` and returns it in minutes east of Greenwich.
fn zone_minutes(zone: &str) -> i64 {
    let zone = zone.trim_end_matches(')').trim_start_matches("UTC").trim_start_matches("GMT");
    let (sign, digits) = match zone.split_at_checked(1) {
        Some(("+", digits)) => (1, digits),
        Some(("-" | "\u{2212}", digits)) => (-1, digits),
        _ => return 0,
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let part = |text: &str| text.trim().parse::<i64>().unwrap_or(0).clamp(0, 59);
    sign * (part(hours) * 60 + part(minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read() {
        let cases = [
            ("Tuesday, Sep 16, 2025, 10:01 AM (UTC+2)", Some("2025-09-16T08:01:00Z")),
            ("Friday, January 2, 2026, 12:30 AM (UTC-5:30)", Some("2026-01-02T06:00:00Z")),
            ("Monday, Mar 3, 2025, 11:59 PM", Some("2025-03-03T23:59:00Z")),
            ("2026-01-31T12:34:56.789Z", Some("2026-01-31T12:34:56.789Z")),
            ("Tuesday, Feb 31, 2025, 10:01 AM", None),
            ("yesterday", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let message = format!("<timestamp>{text}</timestamp>\nhello");
            assert_eq!(time_tag(&message).map(|time| time.to_string()).as_deref(), expected);
        }
    }
}
