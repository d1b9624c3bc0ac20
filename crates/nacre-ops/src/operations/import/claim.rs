//! What kind of memory a statement would be.

use nacre_core::instructions::Statement;
use nacre_core::memory::{Claim, LearningKind, slug};

/// Tags of one memory.
const MAX_TAGS: usize = 2;

/// Words of a heading, and what stands below such a heading.
const HEADINGS: &[(&[&str], Claim)] = &[
    (&["decision", "decided", "adr"], Claim::Decision),
    (
        &["pitfall", "gotcha", "caveat", "known issue", "troubleshoot", "watch out", "mistake"],
        Claim::Learning(LearningKind::Pitfall),
    ),
    (
        &[
            "command", "build", "setup", "install", "deploy", "releas", "workflow", "how to",
            "running",
        ],
        Claim::Learning(LearningKind::Procedure),
    ),
    (
        &["overview", "architecture", "structure", "about", "layout", "background", "stack"],
        Claim::Learning(LearningKind::Context),
    ),
    (&["preference"], Claim::Learning(LearningKind::Preference)),
];

/// Words of the statement itself, which come before its heading.
const WORDS: &[(&[&str], Claim)] = &[
    (&["we decided", "we chose", "decided to", "decided against"], Claim::Decision),
    (&["the user prefers", "i prefer", "the user wants", "i like "], PREFERENCE),
    (
        &["always ", "never ", "must ", "do not ", "don't ", "prefer ", "avoid ", "use "],
        Claim::Learning(LearningKind::Convention),
    ),
];

const PREFERENCE: Claim = Claim::Learning(LearningKind::Preference);

pub(super) fn claim(statement: &Statement) -> Claim {
    if statement.is_commands {
        return Claim::Learning(LearningKind::Procedure);
    }
    let title = statement.title.to_lowercase();
    let by_words = WORDS.iter().find(|(words, _)| words.iter().any(|word| title.contains(word)));
    let by_heading = || {
        statement.topics.iter().rev().find_map(|topic| {
            let topic = topic.to_lowercase();
            HEADINGS.iter().find(|(words, _)| words.iter().any(|word| topic.contains(word)))
        })
    };
    let found = by_words.or_else(by_heading);
    found.map_or(Claim::Learning(LearningKind::Convention), |(_, claim)| *claim)
}

/// The headings above a statement, the nearest last.
pub(super) fn tags(statement: &Statement) -> Vec<String> {
    let topics = &statement.topics;
    let last = topics.iter().skip(topics.len().saturating_sub(MAX_TAGS));
    last.map(|topic| slug(topic)).filter(|tag| !tag.is_empty()).collect()
}
