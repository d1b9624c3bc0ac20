//! Facts about a whole session, and a report on its transcript's quality. Facts are stored in the
//! watermark, so an incremental read still describes the complete session.

use nacre_base::redact::ExtraWords;
pub use nacre_types::{Agent, SessionFacts};
pub(crate) use nacre_types::{
    ReadReport, SessionEnding as Ending, SessionLink, SessionLinkKind as LinkKind, SessionRole,
    SessionTokens as Tokens, UndoneEvents as Undone,
};

/// Directories are not redacted, because they identify the project.
pub fn without_words(mut facts: SessionFacts, words: &ExtraWords) -> SessionFacts {
    if words.is_empty() {
        return facts;
    }
    let texts = [&mut facts.title, &mut facts.git_branch, &mut facts.repository];
    for text in texts.into_iter().flatten().chain(&mut facts.other_branches) {
        *text = words.redact(text).into_owned();
    }
    facts
}

pub(crate) fn parent_link(session: &str) -> SessionLink {
    SessionLink { kind: LinkKind::Parent, session: super::names::short_name(session), call: None }
}

const MAX_UNKNOWN_TYPES: usize = 32;
const MAX_TYPE_NAME: usize = 64;

pub(crate) fn note_unknown(report: &mut ReadReport, record_type: &str) {
    report.unknown_records += 1;
    let name = super::names::short_name(record_type);
    let name = super::event::front(&name, MAX_TYPE_NAME);
    if let Some(count) = report.unknown_types.get_mut(name) {
        *count += 1;
    } else if report.unknown_types.len() < MAX_UNKNOWN_TYPES {
        report.unknown_types.insert(name.to_owned(), 1);
    }
}
