//! What tools gave back: the output, and whether it tells of a failure.
//!
//! Old shell results are a document inside a string, so their text is escaped twice. Where only the
//! outcome is wanted it is found without undoing either.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::super::emit::Emitter;
use super::super::event::{EventKind, front};
use super::super::injected::may_name_nacre;
use super::super::json::{Cursor, Ends, Next, Parsed, Text};
use super::texts::{Value, joined, texts_of};

/// How a shell's document begins inside its string.
const DOCUMENT: &str = "{\\\"output\\\":";
/// How far into a shell's result its outcome is told.
const OUTCOME_WITHIN: usize = 256;
const NEAR: usize = 96;
/// How results begin that tell their outcome.
const OUTCOME_OPENINGS: [&str; 5] =
    ["Exit code: ", "Chunk ID", "Wall time", "failed in sandbox", "execution error"];

/// What a tool gave back, whichever of its shapes it has.
enum OutputText<'a> {
    One(Text<'a>),
    /// From inside of a document that is known not to name Nacre.
    Skimmed(Text<'a>),
    Joined(Cow<'a, str>),
}

/// A tool's output and outcome.
pub(super) struct Output<'a> {
    text: OutputText<'a>,
    /// The document around the output tells of a failure.
    failed: bool,
}

impl<'a> Output<'a> {
    pub(super) fn read(output: Option<Value<'a>>) -> Self {
        let text = match output {
            Some(Value::Text(text)) => text,
            Some(Value::Other(written)) => {
                let failed = front(written, 64 * 1024).contains("\"success\":false");
                return Self { text: OutputText::Joined(joined(&texts_of(written))), failed };
            }
            None => Text::default(),
        };
        // Old shell results are a JSON document inside the string.
        if text.raw().starts_with(DOCUMENT)
            && let Ok((inner, failed)) = unwrap_shell(&text.decode())
        {
            return Self { text: OutputText::Joined(Cow::Owned(inner)), failed };
        }
        Self { text: OutputText::One(text), failed: false }
    }

    /// Reads an output of which only the outcome is wanted: what is inside a document of the shell
    /// is left as it is written there, except where it tells something.
    pub(super) fn skim(output: Option<Value<'a>>) -> Self {
        let skimmed = match output {
            Some(Value::Text(text)) => skim_shell(text.raw()),
            Some(Value::Other(_)) | None => None,
        };
        match skimmed {
            Some((inner, failed)) => Self { text: OutputText::Skimmed(inner), failed },
            None => Self::read(output),
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed || tells_failure(self.text())
    }

    /// The two ends of the output, as written where nobody wants them.
    pub(super) fn ends(&self, out: &Emitter<'_>) -> Ends<'_> {
        match &self.text {
            OutputText::Skimmed(text) => text.unread(),
            OutputText::One(_) | OutputText::Joined(_) => {
                out.ends(EventKind::ToolResult, self.text())
            }
        }
    }

    pub(super) fn text(&self) -> Text<'_> {
        match &self.text {
            OutputText::One(text) | OutputText::Skimmed(text) => *text,
            OutputText::Joined(text) => Text::plain(text),
        }
    }
}

/// The output and failure of `{"output":…,"metadata":{"exit_code":…}}`.
fn unwrap_shell(document: &str) -> Parsed<(String, bool)> {
    let (mut output, mut failed) = (String::new(), false);
    Cursor::new(document).object(|key, value| {
        match key {
            "output" => {
                output = value.maybe_string()?.map(Text::decode).unwrap_or_default().into_owned();
            }
            "metadata" if value.next()? == Next::Object => value.object(|key, value| {
                if key == "exit_code" {
                    failed = value.raw()? != "0";
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((output, failed))
}

/// The output, as written, and the failure of a shell's document; `None` where it must be decoded to
/// know them.
fn skim_shell(document: &str) -> Option<(Text<'_>, bool)> {
    let written = document.strip_prefix(DOCUMENT)?.strip_prefix("\\\"")?;
    // Where letters are written as escapes, so may be the quotes that end the output.
    if may_name_nacre(document) {
        return None;
    }
    let end = inner_string_end(written)?;
    let output = Text::written(&written[..end]);
    let rest = Text::written(&written[end + 2..]).decode();
    // The last of several outputs would count.
    if output.may_open_with(&OUTCOME_OPENINGS) || rest.contains("\"output\"") {
        return None;
    }
    let (_, failed) = unwrap_shell(&format!("{{\"output\":\"\"{rest}")).ok()?;
    Some((output, failed))
}

/// Where the string ends whose quotes are escaped because it is inside another: its own escaped
/// quotes have three more backslashes before them, or as many more as pairs of pairs.
fn inner_string_end(written: &str) -> Option<usize> {
    let bytes = written.as_bytes();
    memchr_iter(b'"', bytes).find_map(|at| {
        let n_escapes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        (n_escapes % 4 == 1).then(|| at - 1)
    })
}

/// Whether the beginning of a shell result tells of a failure.
fn tells_failure(text: Text<'_>) -> bool {
    if !text.may_open_with(&OUTCOME_OPENINGS) {
        return false;
    }
    // Nearly always it is told at once; a code of one letter may go on.
    let near = text.opening(NEAR);
    if let Some(code) = exit_code(front(&near, NEAR)).filter(|code| 1 < code.len()) {
        return !code.starts_with("0\n");
    }
    let text = text.opening(OUTCOME_WITHIN);
    let head = front(&text, OUTCOME_WITHIN);
    match exit_code(head) {
        Some(code) => !code.starts_with("0\n") && code != "0",
        None => head.starts_with("failed in sandbox") || head.starts_with("execution error"),
    }
}

/// What follows where the beginning of a result tells how a process ended.
fn exit_code(head: &str) -> Option<&str> {
    let mark = if head.starts_with("Exit code: ") {
        "Exit code: "
    } else if head.starts_with("Chunk ID") || head.starts_with("Wall time") {
        "Process exited with code "
    } else {
        return None;
    };
    head.split_once(mark).map(|(_, code)| code)
}
