//! Reads sessions written by `opencode export`: a description, and messages with their parts.

use crate::transcript::toolkit::*;
use std::io::Read;
use std::path::Path;

use super::talk::SessionParser;

/// Number of leading bytes to check when distinguishing an export from a database.
const SEEN_BYTES: u64 = 64;

pub(super) fn is_export(path: &Path) -> bool {
    let mut seen = Vec::new();
    let read = open_regular(path).map(|file| file.take(SEEN_BYTES).read_to_end(&mut seen));
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xEF\xBB\xBF".contains(byte);
    let first = seen.iter().find(|byte| !is_blank(byte));
    read.is_ok() && first == Some(&b'{')
}

pub(super) fn read(source: &TraceSource, sink: Sink) -> Result<ReadOutcome> {
    let facts = SessionFacts::new(Agent::OpenCode, &source.stem());
    whole::read_document(&source.path, facts, sink, |text, out| {
        let mut talk = SessionParser::default();
        let parsed = whole::parts(text, &["messages"], |part| match part {
            DocumentPart::Field("info", raw) => describe(&Fields::of(raw), &mut talk, out),
            DocumentPart::Field(_, _) => {}
            DocumentPart::Item(raw) => message(raw, &mut talk, out),
        });
        talk.finish(out);
        parsed
    })
}

fn describe(info: &Fields, talk: &mut SessionParser, out: &mut Emitter) {
    let id = info.string("id");
    if !id.is_empty() {
        out.facts.id = short_name(&id);
    }
    talk.describe(info, out);
}

fn message(raw: &str, talk: &mut SessionParser, out: &mut Emitter) {
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
