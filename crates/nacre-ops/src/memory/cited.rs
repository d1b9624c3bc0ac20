//! Verifies an agent's claim against the newest traces, because the catalog does not contain the
//! running session yet. The claim gets the user's trust level only if the user wrote both its title
//! and its body.

use std::cmp::Reverse;
use std::path::Path;

use nacre_base::redact::ExtraWords;
use nacre_engine::proof::{contradicts, has_invented};
use nacre_memory::{Basis, Claim, Quote, Speaker, Status, Trust};
use nacre_traces::agents::adapter_of;
use nacre_traces::catalog::Connection;
use nacre_traces::transcript::{
    Adapter, EventKind, Lane, Sink, TextOrigin, Trace, TraceSource, TranscriptEvent, WordSource,
};
use nacre_types::{DropReason, Signal};

use crate::sync::candidate::{Candidate, candidate_id, person_speaker};
use crate::sync::evidence::words_in;
use crate::sync::extract::{IsForgotten, fault_alone, is_about};
use crate::sync::strategy::claims::speaks_for_the_person;

/// Number of traces to search. The current session is one of the newest.
const MAX_SOURCES: usize = 12;

const MAX_SESSIONS: usize = 12;

/// Maximum amount of text to search, because the agent is blocked during the search.
const MAX_TRACE_BYTES: u64 = 128 << 20;
const MAX_ALL_BYTES: u64 = 256 << 20;

/// Maximum length of a quote that has been extended to whole sentences.
const MAX_QUOTE_BYTES: usize = 600;

/// Number of bytes of session text to search for names.
const MAX_SESSION_BYTES: usize = 4 << 20;

#[derive(Clone, Copy, Debug)]
pub struct CitedWords<'a> {
    pub text: &'a str,
    /// The session to search first, if known. Other sessions are searched too, because a server can
    /// outlive the session that started it.
    pub session: Option<&'a str>,
    pub root: Option<&'a Path>,
    pub kept_out: &'a ExtraWords,
}

#[derive(Clone, Debug)]
pub struct FoundWords {
    pub quote: Quote,
    pub message: String,
    /// The text of the session, or only its end if the session is long.
    pub session: String,
    /// The session, as `AGENT:SESSION`.
    pub source: String,
}

pub fn find_cited(connections: &[Connection], cited: &CitedWords<'_>) -> Option<FoundWords> {
    let mut sources: Vec<(&dyn Adapter, TraceSource)> = Vec::new();
    for connection in connections {
        let adapter = adapter_of(connection.agent);
        let found = adapter.discover(&connection.roots).sources;
        sources.extend(found.into_iter().map(|source| (adapter, source)));
    }
    sources.sort_by_key(|(_, source)| {
        let path = source.path.to_string_lossy();
        let is_named =
            cited.session.is_some_and(|session| !session.is_empty() && path.contains(session));
        Reverse((is_named, source.stamp.modified))
    });
    let mut n_bytes = 0;
    for (adapter, source) in sources.into_iter().take(MAX_SOURCES) {
        let traces = traces(adapter, &source, cited.session);
        // Databases are not read in full, so only the number of their sessions is limited.
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

fn traces(adapter: &dyn Adapter, source: &TraceSource, session: Option<&str>) -> Vec<Trace> {
    let mut traces = adapter.sessions(source).unwrap_or_default();
    traces.sort_by_key(|trace| {
        let is_named = session.is_some() && trace.session.as_deref() == session;
        // A revision string starts with the time of the last change, so it can be used for sorting.
        Reverse((is_named, trace.revision.clone()))
    });
    traces.truncate(MAX_SESSIONS);
    traces
}

/// Finds the cited words. User messages take precedence over agent messages, and agent messages
/// over tool output. If the agent repeats tool output, the speaker is the tool.
fn look_in(adapter: &dyn Adapter, trace: &Trace, cited: &CitedWords<'_>) -> Option<FoundWords> {
    let mut best: Option<(TranscriptEvent, Speaker, String)> = None;
    let mut is_tools_first = false;
    let mut session = String::new();
    let mut each = |event: TranscriptEvent| {
        let Some(speaker) = speaker_of(&event) else { return };
        let event = event.without_words(cited.kept_out);
        keep_text(&mut session, &event);
        let parts = [event.text.head(), event.text.tail()];
        let words = parts.into_iter().find_map(|part| Some((part, words_in(part, cited.text)?)));
        let Some((part, words)) = words else { return };
        // Pasted text is not attributed to the user.
        let speaker = if is_quotation(part, words) { Speaker::Tool } else { speaker };
        // Part of a sentence can mean the opposite of the whole sentence.
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

fn sentences_around<'t>(text: &'t str, words: &str) -> &'t str {
    let from = words.as_ptr() as usize - text.as_ptr() as usize;
    let to = from + words.len();
    let is_boundary = |at: usize| {
        let (before, after) = text.split_at(at);
        match before.strip_suffix('\n') {
            // A line break does not always end a sentence.
            Some(line) => is_item(after) || line.ends_with([':', '\n']) || ends_sentence(line),
            None => ends_sentence(before) && after.chars().next().is_none_or(char::is_whitespace),
        }
    };
    let ends = |at: &usize| text.is_char_boundary(*at) && is_boundary(*at);
    let start = (1..=from).rev().find(ends).unwrap_or(0);
    &text[start..(to..text.len()).find(ends).unwrap_or(text.len())]
}

fn is_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '+', '>', '#', '`', '|', '<'])
        || line.trim_start().starts_with(|first: char| first.is_ascii_digit())
}

/// Returns whether a text ends with a complete sentence. Abbreviations such as `e.g.` do not count.
fn ends_sentence(text: &str) -> bool {
    let text = text.trim_end();
    let last = text.split_whitespace().next_back().unwrap_or_default();
    text.ends_with(['!', '?', ';'])
        || last.strip_suffix('.').is_some_and(|word| !word.contains('.') && word != "etc")
}

fn is_quotation(text: &str, words: &str) -> bool {
    let before = &text[..words.as_ptr() as usize - text.as_ptr() as usize];
    let line = before.rsplit('\n').next().unwrap_or_default();
    // OpenCode adds quotation marks to messages from the command line.
    let is_wrapped = text.starts_with('"') && text.trim_end().ends_with('"');
    let is_open = |mark: &str, n_around: usize| before.matches(mark).count() % 2 != n_around;
    is_open("```", 0)
        || is_open("\"", usize::from(is_wrapped && !before.is_empty()))
        || before.rfind('“') > before.rfind('”')
        || line.trim_start().starts_with('>')
}

/// Returns whether a message consists only of the claim. In a longer message, the remaining text
/// could negate the claim.
fn is_message(message: &str, title: &str, body: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let (message, title, body) = (words(message), words(title), words(body));
    let said = message.trim_end_matches(['.', '!', ' ']);
    let claims = [" ", ". ", "! "].map(|end| format!("{title}{end}{body}"));
    let is_claim = |claim: &String| claim.trim_end_matches(['.', '!', ' ']) == said;
    !message.contains(['?', '？']) && claims.iter().any(is_claim)
}

fn keep_text(session: &mut String, event: &TranscriptEvent) {
    for part in [event.text.head(), event.text.tail()] {
        session.push_str(part);
        session.push('\n');
    }
    if MAX_SESSION_BYTES < session.len() {
        let end = session.ceil_char_boundary(session.len() - MAX_SESSION_BYTES / 2);
        session.drain(..end);
    }
}

/// Returns who wrote the text, or `None` for injected text and tool arguments.
fn speaker_of(event: &TranscriptEvent) -> Option<Speaker> {
    match (event.kind, event.origin) {
        _ if event.lane != Lane::Main => None,
        (_, TextOrigin::Person(WordSource::Shell)) => None,
        (EventKind::User, TextOrigin::Person(source)) => Some(person_speaker(source)),
        (EventKind::Assistant, TextOrigin::Agent) => Some(Speaker::Assistant),
        (EventKind::ToolResult, TextOrigin::Tool) => Some(Speaker::Tool),
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub status: Status,
    pub basis: Basis,
    pub confidence: f64,
    /// The highest trust level that the memory can have.
    pub limit: Trust,
}

pub fn judge(
    claim: Claim,
    title: &str,
    body: &str,
    words: &str,
    found: Option<&FoundWords>,
    is_forgotten: &IsForgotten<'_>,
) -> Result<Standing, DropReason> {
    let standing = standing(claim, title, body, found);
    let unproven = || Quote {
        text: words.to_owned(),
        speaker: Speaker::Assistant,
        place: String::new(),
        at: String::new(),
    };
    let candidate = Candidate {
        id: candidate_id(0),
        claim,
        title: title.to_owned(),
        body: body.to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        confidence: standing.confidence,
        basis: standing.basis,
        status: standing.status,
        signal: Signal::Model,
        quotes: vec![found.map_or_else(unproven, |found| found.quote.clone())],
        is_repeated: false,
        importance: None,
        link: None,
    };
    match fault_alone(&candidate, is_forgotten) {
        Some(reason) => Err(reason),
        None if !is_about(&format!("{title} {body}"), words) => Err(DropReason::NoEvidence),
        None => Ok(standing),
    }
}

fn standing(claim: Claim, title: &str, body: &str, found: Option<&FoundWords>) -> Standing {
    let speaker = found.map(|found| found.quote.speaker);
    let (basis, confidence) = match speaker {
        Some(Speaker::User | Speaker::Human) => (Basis::Stated, 0.9),
        Some(Speaker::Assistant) if speaks_for_the_person(claim) => (Basis::Planned, 0.6),
        Some(Speaker::Assistant | Speaker::Tool) => (Basis::Found, 0.7),
        None => (Basis::Inferred, 0.55),
    };
    let holds = match speaker {
        Some(Speaker::User | Speaker::Human) => true,
        Some(Speaker::Assistant) => !speaks_for_the_person(claim),
        Some(Speaker::Tool) | None => false,
    };
    let limit = match found {
        None => Trust::Derived,
        Some(found) if is_message(&found.message, title, body) => Trust::User,
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
    use nacre_memory::LearningKind;

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

    fn find_said(speaker: Speaker) -> FoundWords {
        said("let us use sqlite for the queue", speaker)
    }

    fn status(claim: Claim, speaker: Option<Speaker>) -> Status {
        let found = speaker.map(find_said);
        let words = "let us use sqlite for the queue";
        judge(claim, TITLE, BODY, words, found.as_ref(), &|_, _| false).unwrap().status
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
            let Standing { status, limit, .. } = super::standing(claim, title, body, Some(&found));
            (status, limit)
        };
        let (active, review) = (Status::Active, Status::Candidate);
        for (title, body, expected) in [
            (tabs, "", (active, Trust::User)),
            // Part of a sentence is not sufficient evidence.
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
        let line = "Hi. Never run v1.2 of it; that is how we got hacked!";
        let text = &format!("{line}\n> run it first\n```\nrun it\n```");
        let around = |words: &str| sentences_around(text, words_in(text, words).unwrap()).trim();
        assert_eq!(around("run v1.2 of"), "Never run v1.2 of it;");
        assert_eq!(around("is how we"), "that is how we got hacked!");
        let is_pasted = |words: &str| is_quotation(text, words_in(text, words).unwrap());
        assert!(is_pasted("run it first") && !is_pasted("run v1.2"));
        let text = "\"Never run it. Bob says \"run it first\" to me.\"";
        let is_pasted = |words: &str| is_quotation(text, words_in(text, words).unwrap());
        assert!(is_pasted("run it first") && !is_pasted("Never run it."));
    }

    #[test]
    fn only_a_whole_message_is_the_users_claim() {
        let (title, body) = ("Use Redis for the queue", "It is faster.");
        for (message, expected) in [
            ("Use Redis for the queue. It is faster.", true),
            ("use redis for the queue\nit is faster!", true),
            ("Bob says: use Redis for the queue. It is faster.", false),
            ("Use Redis for the queue. It is faster. That is what you must not do.", false),
            ("Use Redis for the queue. It is faster. Just kidding.", false),
            ("Use Redis for the queue?\nIt is faster.", false),
            ("The wiki says ‘Use Redis for the queue. It is faster.’", false),
            ("Im Wiki steht „Use Redis for the queue. It is faster.“", false),
            ("« Use Redis for the queue. It is faster. »", false),
            ("「Use Redis for the queue. It is faster.」", false),
            ("`Use Redis for the queue. It is faster.`", false),
            ("&quot;Use Redis for the queue. It is faster.&quot;", false),
            ("<pasted>Use Redis for the queue. It is faster.</pasted>", false),
            ("> Use Redis for the queue. It is faster.", false),
        ] {
            assert_eq!(is_message(message, title, body), expected, "{message}");
        }
        assert!(is_message("Use tabs.", "Use tabs", ""));
    }

    #[test]
    fn the_checks_of_every_candidate_hold_here_too() {
        let found = find_said(Speaker::User);
        let judged = |title: &str, body: &str, words: &str, forgotten: bool| {
            let is_forgotten = move |_: &str, _: &str| forgotten;
            judge(Claim::Decision, title, body, words, Some(&found), &is_forgotten).err()
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
