//! Converts transcripts into a stream of canonical events with redacted, bounded text. This module
//! does not depend on any agent. Input is untrusted: sizes, depths and counts are bounded, and a
//! malformed line does not affect other lines.

mod adapter;
pub(crate) mod blocks;
mod budget;
mod calls;
mod emit;
mod error;
mod event;
mod facts;
pub(crate) mod genai;
pub mod injected;
mod json;
mod lines;
mod names;
pub(crate) mod store;
mod stream;
#[cfg(test)]
pub(crate) mod tests;
mod thread;
mod view;
pub(crate) mod voice;
pub(crate) mod walk;
pub(crate) mod whole;

pub use self::adapter::{
    Adapter, Began, Discovery, Homes, Problem, ReadOutcome, Stamp, Trace, TraceSource, Watermark,
};
pub use self::budget::SyncBudget;
pub use self::emit::{Detail, Sink};
pub use self::error::{Error, Fault, Retryability};
pub use self::event::{
    BoundedText, CallLink, EventKind, InjectedReason, Lane, Position, TextBounds, TextOrigin,
    TranscriptEvent, WordSource,
};
pub use self::facts::without_words;
pub use self::facts::{Agent, SessionFacts};
pub(crate) use self::names::repository_address;
pub use nacre_types::{ReadReport, SessionRole};

pub(crate) mod toolkit {
    pub(crate) use super::adapter::{
        Adapter, Began, Discovery, Homes, Problem, ReadOutcome, Stamp, Trace, TraceSource,
        Watermark, file_name, file_stem,
    };
    pub(crate) use super::blocks::{self, MessageBlock};
    pub(crate) use super::budget::{DatabaseBudget, SyncBudget, SyncIsSpent};
    pub(crate) use super::calls::{
        Chain, OpenCall, OpenCalls, RecentMap, note_undone, result_origin, text_hash,
    };
    pub(crate) use super::emit::{Draft, Emitter, Sink};
    pub(crate) use super::error::{Error, Fault, Result};
    pub(crate) use super::event::{
        BoundedText, CallLink, EventKind, InjectedReason, Lane, Position, TextBounds, TextOrigin,
        TranscriptEvent, WordSource, front,
    };
    pub(crate) use super::facts::{
        Agent, Ending, LinkKind, ReadReport, SessionFacts, SessionLink, SessionRole, Tokens,
        Undone, note_unknown, parent_link,
    };
    pub(crate) use super::genai;
    pub(crate) use super::injected::{
        QUESTION_MARK, holds_own_text, is_nacre_command, is_nacre_tool, reason_of, split_user,
    };
    pub(crate) use super::json::{JsonCursor, Malformed, Parsed, decode};
    pub(crate) use super::lines::{LineReader, TraceLine, open_regular, open_with_holes};
    pub(crate) use super::names::{is_session_id, repository_address, short_name};
    pub(crate) use super::store::{self, MAX_VALUE, Store, Wish};
    pub(crate) use super::stream::{LineFormat, Record, from_carry, read_lines, to_carry};
    pub(crate) use super::thread::{
        Thread, ThreadCarry, ThreadFormat, ThreadReader, TurnState, own_lane,
    };
    pub(crate) use super::view::{Fields, contains_word, items, text_of, texts, time_of};
    pub(crate) use super::voice::{self, Spot};
    pub(crate) use super::walk::{size_on_disk, stamp, walk, walk_with};
    pub(crate) use super::whole::{self, DocumentPart};
    #[cfg(test)]
    pub(crate) use super::{emit::Detail, injected::list_known_tags};
}
