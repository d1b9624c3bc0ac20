//! One session as `opencode export` prints it: its description, and its messages with their parts.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use super::super::adapter::ReadOutcome;
use super::super::emit::Emitter;
use super::super::error::Result;
use super::super::facts::{Agent, SessionFacts};
use super::super::lines::open_regular;
use super::super::names::short_name;
use super::super::sink::Sink;
use super::super::view::Fields;
use super::super::whole::{self, Part};
use super::talk::Talk;

/// What is looked at of a file to tell an export from a database.
const SEEN_BYTES: u64 = 64;

/// Whether a file is an export: all others are databases.
pub(super) fn is_export(path: &Path) -> bool {
    let mut seen = Vec::new();
    let read = open_regular(path).map(|file| file.take(SEEN_BYTES).read_to_end(&mut seen));
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(byte);
    let first = seen.iter().find(|byte| !is_blank(byte));
    read.is_ok() && first == Some(&b'{')
}

pub(super) fn read(path: &Path, sink: Sink<'_>) -> Result<ReadOutcome> {
    let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
    let facts = SessionFacts::new(Agent::OpenCode, &stem);
    whole::read_document(path, facts, sink, |text, out| {
        let mut talk = Talk::new();
        let parsed = whole::parts(text, &["messages"], |part| match part {
            Part::Field("info", raw) => describe(&Fields::of(raw), &mut talk, out),
            Part::Field(_, _) => {}
            Part::Item(raw) => message(raw, &mut talk, out),
        });
        talk.finish(out);
        parsed
    })
}

fn describe(info: &Fields<'_>, talk: &mut Talk, out: &mut Emitter<'_>) {
    let id = info.string("id");
    if !id.is_empty() {
        out.facts.id = short_name(&id);
    }
    talk.describe(info, out);
}

fn message(raw: &str, talk: &mut Talk, out: &mut Emitter<'_>) {
    let message = Fields::of(raw);
    let info = message.object("info");
    if info.is_empty() {
        out.report.lines += 1;
        out.report.bad_lines += 1;
        return;
    }
    talk.message(&info.string("id"), &info, out);
    for part in message.items("parts") {
        talk.part(&Fields::of(part).string("id"), part, out);
    }
}
