//! Trust levels. A level depends on who wrote a memory, never on what its file contains.
//!
//! A memory with several sources has the lowest of their levels, so merging, rewriting or repeating
//! it never raises its level. Only the owner can raise a level.

use nacre_base::ContentHash;
use serde::{Deserialize, Serialize};

use super::sidecar::{Quote, Speaker};
pub use nacre_types::TrustLevel as Trust;

/// Who made a change to a store, which limits how far the changed memory is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// This machine's owner, using a terminal or the server's own token.
    #[default]
    Owner,
    /// Nacre itself, quoting a transcript: `sync`, `maintain`, or the end of a chat turn.
    Reader,
    /// A coding agent, using MCP, Nacre's chat, or a `nacre` command in its shell.
    Agent,
    /// Another person, with a token for this server.
    Person,
}

impl Actor {
    pub const ALL: [Self; 4] = [Self::Owner, Self::Reader, Self::Agent, Self::Person];

    pub fn limit(self) -> Trust {
        match self {
            Self::Owner => Trust::Human,
            Self::Reader | Self::Agent => Trust::User,
            Self::Person => Trust::Foreign,
        }
    }
}

pub(super) fn trust_of_speaker(speaker: Speaker) -> Trust {
    Trust::from_name(speaker.as_str()).unwrap_or(Trust::Derived)
}

/// Returns the trust level of verified quotes, which is the lowest of their speakers' levels. Tool
/// output counts only if all quotes are tool output, because other quotes usually refer to it.
pub(crate) fn trust_of_evidence(quotes: &[Quote]) -> Trust {
    let spoken = quotes.iter().filter(|quote| quote.speaker != Speaker::Tool);
    spoken.map(|quote| trust_of_speaker(quote.speaker)).min().unwrap_or(Trust::Derived)
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FileLevel {
    pub(super) trust: Trust,
    /// The file's hash if the batch leaves the file unchanged.
    pub(super) unchanged: Option<ContentHash>,
    pub(super) is_unseen_edit: bool,
}

impl FileLevel {
    pub(super) fn of(trust: Trust) -> Self {
        Self { trust, unchanged: None, is_unseen_edit: false }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quote(speaker: Speaker) -> Quote {
        Quote { text: "q".to_owned(), speaker, place: "s:1".to_owned(), at: String::new() }
    }

    fn speakers() -> impl Strategy<Value = Vec<Speaker>> {
        let any = prop_oneof![
            Just(Speaker::Human),
            Just(Speaker::User),
            Just(Speaker::Assistant),
            Just(Speaker::Tool)
        ];
        proptest::collection::vec(any, 0..8)
    }

    fn of(speakers: &[Speaker]) -> Trust {
        let quotes: Vec<Quote> = speakers.iter().map(|speaker| quote(*speaker)).collect();
        trust_of_evidence(&quotes)
    }

    #[test]
    fn the_order_is_the_one_that_is_promised() {
        let names: Vec<&str> = Trust::ALL.iter().rev().map(|trust| trust.as_str()).collect();
        assert_eq!(names, ["human", "user", "assistant", "derived", "foreign", "quarantined"]);
        assert!(Trust::ALL.is_sorted());
        let told: Vec<Trust> = Trust::ALL.into_iter().filter(|of| of.is_offered()).collect();
        assert_eq!(told, [Trust::Assistant, Trust::User, Trust::Human]);
        for trust in Trust::ALL {
            assert_eq!(Trust::from_name(trust.as_str()), Some(trust));
        }
    }

    proptest! {
        #[test]
        fn evidence_is_worth_no_more_than_its_weakest_speaker(speakers in speakers()) {
            let trust = of(&speakers);
            for speaker in speakers.iter().filter(|speaker| **speaker != Speaker::Tool) {
                prop_assert!(trust <= trust_of_speaker(*speaker));
            }
            let only_tools = speakers.iter().all(|speaker| *speaker == Speaker::Tool);
            prop_assert_eq!(only_tools, trust == Trust::Derived);
            prop_assert!(!trust.waits());
        }

        #[test]
        fn more_evidence_of_a_speaker_never_raises_it(speakers in speakers(), more in speakers()) {
            let before = of(&speakers);
            let all: Vec<Speaker> = speakers.iter().chain(&more).copied().collect();
            let spoken = speakers.iter().any(|speaker| *speaker != Speaker::Tool);
            prop_assert!(!spoken || of(&all) <= before);
        }
    }
}
