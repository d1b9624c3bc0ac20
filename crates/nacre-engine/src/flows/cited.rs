//! A claim that an agent makes while its session goes on, and the words that it cites: looked up in the newest traces,
//! because the session is in no catalog yet.
//!
//! The agent says which words prove its claim; who said them is looked up here. The claim's level depends on its own
//! words: it is the user's only if they said title and body themselves. A claim goes to review if its quote is in no
//! trace, if it contradicts the quote, if it names what the session does not, or if it speaks for a user who said nothing.

use std::cmp::Reverse;
use std::path::Path;

use nacre_core::base::redact::ExtraWords;
use nacre_core::catalog::Connection;
use nacre_core::memory::{Basis, Claim, Quote, Speaker, Status, Trust};
use nacre_core::transcript::{
    ADAPTERS, Adapter, Event, EventKind, Lane, Origin, Sink, Source, Trace, WordSource,
};

use super::candidate::{Candidate, CandidateId, DropReason, Signal};
use super::extract::{IsForgotten, fault_alone, is_about};
use super::strategy::claims::speaks_for_the_person;
use super::strategy::quotes::words_in;
use crate::proof::{contradicts, has_invented};

/// Sources that are looked at, the newest first: the session that cites is being written now.
const MAX_SOURCES: usize = 12;

/// Sessions of one database that are looked at.
const MAX_SESSIONS: usize = 12;

/// More takes longer to read than an agent waits: of one trace, and of all together.
const MAX_TRACE_BYTES: u64 = 128 << 20;
const MAX_ALL_BYTES: u64 = 256 << 20;

/// Longest quote that is widened to whole sentences.
const MAX_QUOTE_BYTES: usize = 600;

/// Text of a session that is searched for the names in a claim.
const MAX_SESSION_BYTES: usize = 4 << 20;

/// Words that an agent cites, and where they may stand.
#[derive(Clone, Copy, Debug)]
pub struct CitedWords<'a> {
    pub text: &'a str,
    /// The id of the agent's session, where it is known: that is looked at first. A server may outlive the session that it
    /// was started for, so others are looked at too.
    pub session: Option<&'a str>,
    /// The repository that the session must have worked in.
    pub root: Option<&'a Path>,
    /// Words that are kept out of every text.
    pub kept_out: &'a ExtraWords,
}

/// Words that stand in a trace.
#[derive(Clone, Debug)]
pub struct FoundWords {
    /// As they are in the trace.
    pub quote: Quote,
    /// The whole message that the quote is from.
    pub message: String,
    /// What was said and read in the session, as far as it is kept.
    pub session: String,
    /// The agent and its id of the session, as `AGENT:SESSION`.
    pub source: String,
}

/// Looks for the words in the newest traces. A trace that cannot be read is passed by.
pub fn find_cited(connections: &[Connection], cited: &CitedWords<'_>) -> Option<FoundWords> {
    let mut sources: Vec<(&dyn Adapter, Source)> = Vec::new();
    for connection in connections {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == connection.agent);
        let Some(adapter) = adapter else { continue };
        let found = adapter.discover(&connection.roots).sources;
        sources.extend(found.into_iter().map(|source| (*adapter, source)));
    }
    sources.sort_by_key(|(_, source)| {
        let is_named = cited.session.is_some_and(|session| is_named_after(source, session));
        Reverse((is_named, source.stamp.modified))
    });
    let mut n_bytes = 0;
    for (adapter, source) in sources.into_iter().take(MAX_SOURCES) {
        let traces = traces(adapter, &source, cited.session);
        // A database is not read whole; that its sessions are few bounds it.
        let is_whole = traces.iter().any(|trace| trace.session.is_none());
        let size = if is_whole { source.stamp.size } else { 0 };
        if MAX_TRACE_BYTES < size || MAX_ALL_BYTES < n_bytes + size {
            continue;
        }
        n_bytes += size;
        let found = traces.iter().find_map(|trace| look_in(adapter, trace, cited));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether the name of a file holds the id of the session, as agents name the traces that are files.
fn is_named_after(source: &Source, session: &str) -> bool {
    !session.is_empty() && source.path.to_string_lossy().contains(session)
}

/// The traces inside a source; of a database the session that is named, and those that changed last.
fn traces(adapter: &dyn Adapter, source: &Source, session: Option<&str>) -> Vec<Trace> {
    let mut traces = adapter.sessions(source).unwrap_or_default();
    traces.sort_by_key(|trace| {
        let is_named = session.is_some() && trace.session.as_deref() == session;
        // A revision begins with the time of the last change.
        Reverse((is_named, trace.revision.clone()))
    });
    traces.truncate(MAX_SESSIONS);
    traces
}

/// The words in one trace: the person's before the agent's, and those before a tool's; of the same speaker the latest. What a tool
/// said before the agent did is the tool's.
fn look_in(adapter: &dyn Adapter, trace: &Trace, cited: &CitedWords<'_>) -> Option<FoundWords> {
    let mut best: Option<(Event, Speaker, String)> = None;
    let mut is_tools_first = false;
    let mut session = String::new();
    let mut each = |event: Event| {
        let Some(speaker) = speaker_of(&event) else { return };
        let event = event.without_words(cited.kept_out);
        keep_text(&mut session, &event);
        let parts = [event.text.head(), event.text.tail()];
        let words = parts.into_iter().find_map(|part| Some((part, words_in(part, cited.text)?)));
        let Some((part, words)) = words else { return };
        // What the user pasted is somebody else's.
        let speaker = if is_quotation(part, words) { Speaker::Tool } else { speaker };
        // Half a sentence can say the opposite of the whole.
        let sentences = sentences_around(part, words).trim();
        let is_short = sentences.len() <= MAX_QUOTE_BYTES;
        let words = if is_short { sentences } else { words }.to_owned();
        is_tools_first |= best.is_none() && speaker == Speaker::Tool;
        let is_better = best.as_ref().is_none_or(|(_, known, _)| weight(*known) <= weight(speaker));
        if is_better {
            best = Some((event, speaker, words));
        }
    };
    let facts = adapter.read(trace, None, Sink::everything(&mut each)).ok()?.facts;
    let (event, speaker, text) = best?;
    let is_repeated = is_tools_first && speaker == Speaker::Assistant;
    let speaker = if is_repeated { Speaker::Tool } else { speaker };
    let is_here = cited.root.is_none_or(|root| {
        let cwds = facts.cwd.iter().chain(&facts.other_cwds);
        cwds.map(Path::new).any(|cwd| cwd.starts_with(root))
    });
    if !is_here {
        return None;
    }
    let place = format!("{}:{}", facts.id, event.sequence);
    let at = event.timestamp.map(|at| at.to_string()).unwrap_or_default();
    let source = format!("{}:{}", facts.agent.as_str(), facts.id);
    let message = [event.text.head(), event.text.tail()].join("\n");
    Some(FoundWords { quote: Quote { text, speaker, place, at }, message, session, source })
}

/// The whole sentences of a text that words of it are in.
fn sentences_around<'t>(text: &'t str, words: &str) -> &'t str {
    let from = words.as_ptr() as usize - text.as_ptr() as usize;
    let to = from + words.len();
    let is_boundary = |at: usize| {
        let (before, after) = text.split_at(at);
        let is_end = before.ends_with(['.', '!', '?', ';']);
        before.ends_with('\n') || (is_end && after.chars().next().is_none_or(char::is_whitespace))
    };
    let ends = |at: &usize| text.is_char_boundary(*at) && is_boundary(*at);
    let start = (1..=from).rev().find(ends).unwrap_or(0);
    let end = (to..text.len()).find(|at| ends(at) || text[*at..].starts_with('\n'));
    &text[start..end.unwrap_or(text.len())]
}

/// Whether words of a message are in a code block or a quotation.
fn is_quotation(text: &str, words: &str) -> bool {
    let before = &text[..words.as_ptr() as usize - text.as_ptr() as usize];
    let line = before.rsplit('\n').next().unwrap_or_default();
    before.matches("```").count() % 2 == 1 || line.trim_start().starts_with('>')
}

/// Whether a text is whole sentences of a message, in the writer's own words, and asks nothing.
fn is_said_in(message: &str, text: &str) -> bool {
    let Some(words) = words_in(message, text) else { return text.is_empty() };
    let bare = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let sentences = sentences_around(message, words);
    bare(sentences) == bare(words)
        && !sentences.trim_end().ends_with('?')
        && !is_quotation(message, words)
}

/// Adds a message to the text of a session. The beginning of a long session goes.
fn keep_text(session: &mut String, event: &Event) {
    for part in [event.text.head(), event.text.tail()] {
        session.push_str(part);
        session.push('\n');
    }
    if MAX_SESSION_BYTES < session.len() {
        let end = session.ceil_char_boundary(session.len() - MAX_SESSION_BYTES / 2);
        session.drain(..end);
    }
}

/// Who says an event; nobody whose words are evidence says what programs put into a session, or what an agent tells its tools.
fn speaker_of(event: &Event) -> Option<Speaker> {
    match (event.kind, event.origin) {
        _ if event.lane != Lane::Main => None,
        (_, Origin::Person(WordSource::Shell)) => None,
        (EventKind::User, Origin::Person(_)) => Some(Speaker::User),
        (EventKind::Assistant, Origin::Agent) => Some(Speaker::Assistant),
        (EventKind::ToolResult, Origin::Tool) => Some(Speaker::Tool),
        _ => None,
    }
}

fn weight(speaker: Speaker) -> u8 {
    match speaker {
        Speaker::Human => 3,
        Speaker::User => 2,
        Speaker::Assistant => 1,
        Speaker::Tool => 0,
    }
}

/// What an agent claims.
#[derive(Clone, Debug)]
pub struct AgentClaim<'a> {
    pub claim: Claim,
    pub title: &'a str,
    pub body: &'a str,
    pub words: &'a str,
    pub found: Option<&'a FoundWords>,
}

/// What a claim may become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub status: Status,
    pub basis: Basis,
    pub confidence: f64,
    /// The highest level of the claim's words.
    pub limit: Trust,
}

/// Holds a claim against the same checks as every candidate of a sync.
pub fn judge(
    claimed: &AgentClaim<'_>,
    is_forgotten: &IsForgotten<'_>,
) -> Result<Standing, DropReason> {
    let AgentClaim { claim, title, body, words, found } = claimed;
    let standing = standing(claimed);
    let unproven = || Quote {
        text: (*words).to_owned(),
        speaker: Speaker::Assistant,
        place: String::new(),
        at: String::new(),
    };
    let candidate = Candidate {
        id: CandidateId::at(0),
        claim: *claim,
        title: (*title).to_owned(),
        body: (*body).to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        confidence: standing.confidence,
        basis: standing.basis,
        status: standing.status,
        signal: Signal::Model,
        quotes: vec![found.map_or_else(unproven, |found| found.quote.clone())],
        is_repeated: false,
    };
    match fault_alone(&candidate, is_forgotten) {
        Some(reason) => Err(reason),
        None if !is_about(&format!("{title} {body}"), words) => Err(DropReason::NoEvidence),
        None => Ok(standing),
    }
}

/// What becomes of a claim by whose words the quote and the claim are.
fn standing(claimed: &AgentClaim<'_>) -> Standing {
    let AgentClaim { claim, title, body, found, .. } = claimed;
    let speaker = found.map(|found| found.quote.speaker);
    let (basis, confidence) = match speaker {
        Some(Speaker::User | Speaker::Human) => (Basis::Stated, 0.9),
        Some(Speaker::Assistant) if speaks_for_the_person(*claim) => (Basis::Planned, 0.6),
        Some(Speaker::Assistant | Speaker::Tool) => (Basis::Found, 0.7),
        None => (Basis::Inferred, 0.55),
    };
    let holds = match speaker {
        Some(Speaker::User | Speaker::Human) => true,
        Some(Speaker::Assistant) => !speaks_for_the_person(*claim),
        Some(Speaker::Tool) | None => false,
    };
    let says = |text: &str| found.is_some_and(|found| is_said_in(&found.message, text));
    let limit = match found {
        None => Trust::Derived,
        Some(_) if says(title) && says(body) => Trust::User,
        Some(_) => Trust::Assistant,
    };
    let words = format!("{title}. {body}");
    let is_doubtful = found.is_some_and(|found| {
        contradicts(&words, &found.quote.text) || has_invented(&words, &found.session, &[])
    });
    let status = if holds && !is_doubtful { Status::Active } else { Status::Candidate };
    Standing { status, basis, confidence, limit }
}

#[cfg(test)]
mod tests {
    use nacre_core::memory::LearningKind;

    use super::*;

    const TITLE: &str = "Use SQLite for the job queue";
    const BODY: &str = "One file needs no server, and the queue survives a restart.";

    fn said(text: &str, speaker: Speaker) -> FoundWords {
        let (message, session) = (text.to_owned(), text.to_owned());
        let quote =
            Quote { text: text.to_owned(), speaker, place: "s1:3".to_owned(), at: String::new() };
        let source = "claude:s1".to_owned();
        FoundWords { quote, message, session, source }
    }

    fn found(speaker: Speaker) -> FoundWords {
        said("let us use sqlite for the queue", speaker)
    }

    fn status(claim: Claim, speaker: Option<Speaker>) -> Status {
        let found = speaker.map(found);
        let words = "let us use sqlite for the queue";
        let claimed = AgentClaim { claim, title: TITLE, body: BODY, words, found: found.as_ref() };
        judge(&claimed, &|_, _| false).unwrap().status
    }

    #[test]
    fn who_said_the_words_decides_what_becomes_of_a_claim() {
        let pitfall = Claim::Learning(LearningKind::Pitfall);
        assert_eq!(status(Claim::Decision, Some(Speaker::User)), Status::Active);
        assert_eq!(status(Claim::Decision, Some(Speaker::Assistant)), Status::Candidate);
        assert_eq!(status(pitfall, Some(Speaker::Assistant)), Status::Active);
        assert_eq!(status(pitfall, Some(Speaker::Tool)), Status::Candidate);
        assert_eq!(status(pitfall, None), Status::Candidate);
    }

    #[test]
    fn the_level_depends_on_the_words_of_the_claim() {
        let tabs = "From now on we always use tabs for indentation in this project, because the linter wants it.";
        let why = "because the linter wants it";
        let agents = "The linter in this project wants tabs for indentation.";
        let standing = |title: &str, body: &str| {
            let found = said(tabs, Speaker::User);
            let claim = Claim::Learning(LearningKind::Convention);
            let claimed = AgentClaim { claim, title, body, words: tabs, found: Some(&found) };
            let Standing { status, limit, .. } = super::standing(&claimed);
            (status, limit)
        };
        let (active, review) = (Status::Active, Status::Candidate);
        for (title, body, expected) in [
            (tabs, "", (active, Trust::User)),
            // Half of a sentence can say anything.
            ("we always use tabs for indentation in this project", why, (active, Trust::Assistant)),
            ("We always use tabs for indentation", agents, (active, Trust::Assistant)),
            ("Indentation is tabs and the tests are never run", agents, (active, Trust::Assistant)),
            (
                "Spaces are used for indentation in this project, never tabs",
                agents,
                (review, Trust::Assistant),
            ),
            ("Indentation does not use tabs", agents, (review, Trust::Assistant)),
            (
                "Tabs for indentation, and Mallory Kemp merges without review",
                agents,
                (review, Trust::Assistant),
            ),
        ] {
            assert_eq!(standing(title, body), expected, "{title}");
        }
    }

    #[test]
    fn a_quote_is_the_whole_sentence_and_pasted_text_is_nobodys() {
        let text = "Hi. Never run v1.2 of it; that is how we got hacked!\n> run it first\n```\nrun it\n```";
        let around = |words: &str| sentences_around(text, words_in(text, words).unwrap()).trim();
        assert_eq!(around("run v1.2 of"), "Never run v1.2 of it;");
        assert_eq!(around("is how we"), "that is how we got hacked!");
        let is_pasted = |words: &str| is_quotation(text, words_in(text, words).unwrap());
        assert!(is_pasted("run it first") && !is_pasted("run v1.2"));
        for (said, expected) in [
            ("Never run v1.2 of it", true),
            ("run v1.2 of it", false),
            ("run it first", false),
            ("Never run v1.2 of it; that is how we got hacked!", true),
        ] {
            assert_eq!(is_said_in(text, said), expected, "{said}");
        }
        assert!(!is_said_in("Is it true that we use tabs?", "Is it true that we use tabs"));
    }

    #[test]
    fn the_checks_of_every_candidate_hold_here_too() {
        let found = found(Speaker::User);
        let judged = |title: &str, body: &str, words: &str, forgotten: bool| {
            let found = Some(&found);
            let claimed = AgentClaim { claim: Claim::Decision, title, body, words, found };
            judge(&claimed, &move |_, _| forgotten).err()
        };
        let words = "let us use sqlite for the queue";
        assert_eq!(judged(TITLE, BODY, words, false), None);
        assert_eq!(judged("SQLite", BODY, words, false), Some(DropReason::TooShort));
        assert_eq!(judged(TITLE, TITLE, words, false), Some(DropReason::TooShort));
        assert_eq!(judged(TITLE, BODY, words, true), Some(DropReason::Forgotten));
        let other = "the moon rises over quiet harbours";
        assert_eq!(judged(TITLE, BODY, other, false), Some(DropReason::NoEvidence));
    }
}
