//! How far a memory is trusted, computed from who wrote it and never from what its file claims.
//!
//! The levels are ordered. A memory that combines several sources has the lowest of their levels, so
//! that merging, rewriting, or repeating it never raises it. Only the owner raises a level.

use super::sidecar::{Quote, Speaker};

/// Who causes a change to a store. The actor limits the level that the change can give a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The owner of this machine, at a terminal or with the server's own token.
    #[default]
    Owner,
    /// Nacre itself, from quotes that it found in a transcript: `sync`, `maintain`, the end of a chat turn.
    Reader,
    /// A coding agent: through MCP, in Nacre's chat, or with a `nacre` command in its shell.
    Agent,
    /// Somebody else, with a token for this server.
    Person,
}

impl Actor {
    pub const ALL: [Self; 4] = [Self::Owner, Self::Reader, Self::Agent, Self::Person];

    /// The highest level that a change by this actor can give.
    pub fn limit(self) -> Trust {
        match self {
            Self::Owner => Trust::Human,
            Self::Reader | Self::Agent => Trust::User,
            Self::Person => Trust::Foreign,
        }
    }

    /// The level of words that this actor wrote without a quote.
    pub(super) fn own_words(self) -> Trust {
        self.limit().min(if self == Self::Owner { Trust::Human } else { Trust::Assistant })
    }
}

/// The levels, lowest first, so that `a.min(b)` is the level of two things combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// An order with an address, a command or a secret in it, which the person did not say.
    Quarantined,
    /// It came from elsewhere: by a clone, a pull, or a program that is not Nacre.
    Foreign,
    /// A tool's output, a page, or text that nobody is known to have said.
    Derived,
    /// The agent said it, in a session on this machine.
    Assistant,
    /// The person said it, in a session on this machine.
    User,
    /// The person wrote it with Nacre, or looked at it and agreed.
    Human,
}

impl Trust {
    /// Lowest first.
    pub const ALL: [Self; 6] =
        [Self::Quarantined, Self::Foreign, Self::Derived, Self::Assistant, Self::User, Self::Human];

    /// A stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quarantined => "quarantined",
            Self::Foreign => "foreign",
            Self::Derived => "derived",
            Self::Assistant => "assistant",
            Self::User => "user",
            Self::Human => "human",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trust| trust.as_str() == name)
    }

    /// Whether it is given to agents automatically.
    pub fn is_told_unasked(self) -> bool {
        self >= Self::Assistant
    }

    /// Whether a memory of this level can replace one of the level `older`. The user's later words replace
    /// their earlier ones, whichever way they were recorded; an agent's words never replace the user's.
    pub fn can_replace(self, older: Self) -> bool {
        self >= older || self >= Self::User
    }

    /// Whether it waits for `nacre trust`.
    pub fn waits(self) -> bool {
        self <= Self::Foreign
    }

    fn of_speaker(speaker: Speaker) -> Self {
        match speaker {
            Speaker::Human => Self::Human,
            Speaker::User => Self::User,
            Speaker::Assistant => Self::Assistant,
            Speaker::Tool => Self::Derived,
        }
    }

    /// What verified quotes are worth: the lowest of those who speak. A tool's output beside somebody's words shows what
    /// they speak of, and counts only where nobody else is quoted.
    pub fn of_evidence(quotes: &[Quote]) -> Self {
        let spoken = quotes.iter().filter(|quote| quote.speaker != Speaker::Tool);
        spoken.map(|quote| Self::of_speaker(quote.speaker)).min().unwrap_or(Self::Derived)
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
        Trust::of_evidence(&quotes)
    }

    #[test]
    fn the_order_is_the_one_that_is_promised() {
        let names: Vec<&str> = Trust::ALL.iter().rev().map(|trust| trust.as_str()).collect();
        assert_eq!(names, ["human", "user", "assistant", "derived", "foreign", "quarantined"]);
        assert!(Trust::ALL.is_sorted());
        let told: Vec<Trust> = Trust::ALL.into_iter().filter(|of| of.is_told_unasked()).collect();
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
                prop_assert!(trust <= Trust::of_speaker(*speaker));
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
