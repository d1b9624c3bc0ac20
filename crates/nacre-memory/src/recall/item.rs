//! Formats a memory as one line, and decides whether it may be shown without a request.

use nacre_base::Shown;
use nacre_base::text::shorten;
use nacre_types::{BriefItem, StoreScope};

use super::Source;
use crate::{Memory, MemoryType, ShortIds, Speaker, Status, Store, StoreArea, Trust};

/// Maximum length of a claim in bytes. The next constants limit details and summaries.
const MAX_CLAIM: usize = 300;
const MAX_DETAIL: usize = 240;
const MAX_SUMMARY: usize = 240;

/// Maximum number of sentences in a body to search for a reason.
const MAX_SENTENCES: usize = 6;

/// Minimum number of words. Shorter text does not describe any work and makes no claim.
const MIN_WORDS: usize = 3;

/// Phrases that begin a request to the agent. The claim is the text before such a phrase.
const REQUESTS: [&str; 4] = [" can you ", " could you ", " would you ", " and let me know"];

/// Words that begin a sentence for the conversation, which is not a reason for the claim.
const SMALL_TALK: [&str; 4] = ["please ", "say ", "then ", "thanks"];

/// Separates the task from the outcome in a summary's description.
const ENDED_WITH: &str = "Ended with:";

/// Begins a paragraph that only says when a statement was made.
const CONTEXT: &str = "The person said this ";

/// Returns a memory's body without paragraphs that only say when a statement was made.
pub fn claim_text(body: &str) -> String {
    let paragraphs = body.trim().split("\n\n");
    paragraphs.filter(|part| !part.starts_with(CONTEXT)).collect::<Vec<_>>().join("\n\n")
}

/// Returns the section of a summary that describes how the session ended.
pub(super) fn outcome_of(memory: &Memory) -> Option<&str> {
    let (_, outcome) = memory.document.body().split_once("## Outcome")?;
    outcome.split("\n## ").next()
}

pub fn line(item: &BriefItem, ids: &ShortIds) -> String {
    format!("- {} [{}]", item.text, ids.of(&item.id))
}

/// Formats a memory as one item. Returns `None` if the memory has no visible text or must not be
/// shown without a request.
pub fn item_of(source: &Source<'_>, memory: &Memory) -> Option<BriefItem> {
    let backing = backing(source.index.store(), memory, source.scope);
    let is_backed = backing == Backing::Backed;
    is_backed.then(|| forms(source, memory))?.map(|(long, _)| long)
}

/// Creates an item. `text` must be a result of [`safe`].
pub(super) fn item(source: &Source<'_>, memory: &Memory, text: String) -> BriefItem {
    BriefItem { id: memory.at.id.to_string(), scope: source.scope, text }
}

/// Returns a memory's long form and, if there is one, its short form. Returns `None` if the memory
/// has no visible text.
pub(super) fn forms(
    source: &Source<'_>,
    memory: &Memory,
) -> Option<(BriefItem, Option<BriefItem>)> {
    let store = source.index.store();
    let item = |text: String| item(source, memory, text);
    let title = safe(store, &memory.title, MAX_CLAIM)?;
    if memory.at.memory_type == MemoryType::Summary {
        let day =
            memory.created.map_or_else(String::new, |at| at.strftime("%Y-%m-%d: ").to_string());
        let work = memory.document.text("description").ok().flatten();
        let work = work.as_deref().and_then(|work| describe_work(&title, work));
        let work = work.and_then(|work| safe(store, &work, MAX_SUMMARY));
        let short = says_something(&title).then(|| item(format!("{day}{title}")));
        return match work {
            Some(work) => Some((item(format!("{day}{work}")), short)),
            None => short.map(|short| (short, None)),
        };
    }
    let (claim, reason) = claim_and_reason(&title, &claim_text(memory.document.body()));
    let claim = safe(store, without_request(&claim)?, MAX_CLAIM)?;
    let reason = reason.and_then(|text| safe(store, &text, MAX_DETAIL));
    let quote = users_quote(store, memory);
    let quote = quote.map(|quote| format!("(An agent's words; the user said: \"{quote}\")"));
    let more: Vec<String> = reason.into_iter().chain(quote).collect();
    if more.is_empty() {
        return Some((item(claim), None));
    }
    let stop = full_stop(&claim);
    Some((item(format!("{claim}{stop} {}", more.join(" "))), Some(item(claim))))
}

/// Returns the full stop that a text needs, if any.
fn full_stop(text: &str) -> &'static str {
    if text.ends_with(['.', '!', '?', ':', '…']) { "" } else { "." }
}

/// Returns the user's own words for a memory that was phrased by an agent.
fn users_quote(store: &Store, memory: &Memory) -> Option<String> {
    if store.trust_of(memory) != Trust::Assistant {
        return None;
    }
    let quotes = store.proof_of(memory)?.quotes;
    let quote = quotes.iter().find(|quote| quote.speaker == Speaker::User)?;
    safe(store, &quote.text, MAX_DETAIL)
}

/// Returns what a session was about and how it ended, or `None` if neither is about work. `title`
/// is the beginning of the request, unless the agent chose another title.
fn describe_work(title: &str, description: &str) -> Option<String> {
    let (began, ended) = description.split_once(ENDED_WITH).unwrap_or((description, ""));
    let (began, ended) = (began.trim(), ended.trim());
    let is_named = !ended.is_empty() && !began.starts_with(title.trim_end_matches('…'));
    let began = if is_named { title } else { began };
    match (says_something(began), says_something(ended)) {
        (true, true) => Some(format!("{began}{} {ENDED_WITH} {ended}", full_stop(began))),
        (true, false) => Some(began.to_owned()),
        (false, true) if has_words(began) => Some(ended.to_owned()),
        (false, _) => None,
    }
}

/// Returns whether the text is long enough to describe work and is not a question.
fn says_something(text: &str) -> bool {
    has_words(text) && !text.trim_end().ends_with('?')
}

fn has_words(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.len() > 1).count() >= MIN_WORDS
}

/// Returns a claim without any request that follows it, or `None` if the text is itself a question
/// or a request.
fn without_request(claim: &str) -> Option<&str> {
    let request = REQUESTS.iter().filter_map(|request| claim.find(request)).min();
    let Some(end) = request else { return (!claim.ends_with('?')).then_some(claim) };
    let statement = claim[..end].trim_end_matches([',', ';', ' ', '-']);
    let statement = statement.strip_suffix(" and").unwrap_or(statement);
    has_words(statement).then_some(statement)
}

/// Returns a memory's full claim, and the first sentence of its body that adds something to the
/// claim. An ellipsis indicates that more sentences follow. The body often begins with the sentence
/// from which a truncated title was taken.
fn claim_and_reason(title: &str, body: &str) -> (String, Option<String>) {
    let mut claim = title.to_owned();
    let is_talk = |sentence: &str| SMALL_TALK.iter().any(|words| sentence.starts_with(words));
    let sentences = sentences(body).into_iter().take(MAX_SENTENCES);
    let mut sentences = sentences.filter(|sentence| !is_talk(&sentence.to_lowercase()));
    while let Some(sentence) = sentences.next() {
        if !says_the_same(&claim, &sentence) {
            let more = if sentences.next().is_some() { " …" } else { "" };
            return (claim, Some(sentence + more));
        }
        // The title is only part of this sentence, so use the whole sentence.
        if leaves_out(&claim, &sentence) {
            claim = match sentence.len() <= MAX_CLAIM {
                true => sentence.trim_end_matches('.').to_owned(),
                false => format!("{}…", claim.trim_end_matches('…')),
            };
        }
    }
    (claim, None)
}

/// Returns whether a claim is truncated: it ends in the middle of a clause or at least three words
/// before the end of the sentence.
fn leaves_out(claim: &str, sentence: &str) -> bool {
    if claim.ends_with('…') {
        return true;
    }
    let sentence = sentence.to_lowercase();
    let Some(rest) = sentence.strip_prefix(&claim.to_lowercase()) else { return false };
    let is_mid_clause =
        rest.starts_with(' ') && !rest.trim_start().starts_with(['(', '-', '–', '—']);
    is_mid_clause || rest.split_whitespace().count() >= 3
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// The memory is active and comes from the user or an agent on this machine.
    Backed,
    /// The memory is inactive, or based only on tool output, such as a web page.
    Withheld,
    /// The memory is foreign or quarantined, and not yet reviewed.
    Unproven,
}

/// Decides, based on status and trust, whether a memory may be shown without a request. All recall
/// code must use this function.
///
/// Clones never write to the global store, so foreign memories in it belong to the user.
pub(super) fn backing(store: &Store, memory: &Memory, scope: StoreScope) -> Backing {
    let at = &memory.at;
    if at.area != StoreArea::Active || memory.status != Status::Active || memory.says_overturned() {
        return Backing::Withheld;
    }
    match store.trust_of(memory) {
        Trust::Human | Trust::User | Trust::Assistant => Backing::Backed,
        Trust::Foreign if scope == StoreScope::Global => Backing::Backed,
        Trust::Foreign | Trust::Quarantined => Backing::Unproven,
        Trust::Derived => Backing::Withheld,
    }
}

/// Redacts, shortens and joins text into one line. Returns `None` if the result has no visible
/// characters.
pub(super) fn safe(store: &Store, text: &str, most: usize) -> Option<String> {
    let clean = store.redact_text(text);
    let line = Shown(&shorten(&clean, most)).one_line();
    let is_visible = line.chars().any(|c| !c.is_whitespace());
    is_visible.then(|| line.trim().to_owned())
}

/// Returns the sentences in a body's first paragraphs, without headings, code and list markers.
pub(super) fn sentences(body: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in body.lines().map(str::trim) {
        let is_text = !line.is_empty() && !line.starts_with(['#', '`', '<']);
        let begins = line.starts_with(['-', '*', '>']);
        match paragraphs.last_mut().filter(|_| is_open && is_text && !begins) {
            Some(paragraph) => *paragraph = format!("{paragraph} {line}"),
            None if is_text => {
                paragraphs.push(line.trim_start_matches(['>', '-', '*', ' ']).to_owned());
            }
            None => {}
        }
        is_open = is_text;
        if paragraphs.len() > MAX_SENTENCES {
            break;
        }
    }
    let mut found = Vec::new();
    for paragraph in &paragraphs {
        let mut rest = paragraph.as_str();
        while let Some(end) = rest.find(". ") {
            found.push(rest[..=end].trim().to_owned());
            rest = &rest[end + 2..];
        }
        found.push(rest.trim().to_owned());
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Returns whether one text contains the words of the other, ignoring case, punctuation and a final
/// ellipsis.
fn says_the_same(one: &str, other: &str) -> bool {
    let folded = |text: &str| {
        let text = text.trim_end_matches('…').to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    };
    let (one, other) = (folded(one), folded(other));
    one.contains(&other) || other.contains(&one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_the_first_sentence_that_says_more_than_the_claim() {
        for (body, expected) in [
            ("\nOne file. No server.\n", Some("One file. …")),
            ("## Why\n\nIt is v1.2\nand small.\n\nMore.", Some("It is v1.2 and small. …")),
            ("> said so\n- then", Some("said so …")),
            ("use SQLite!\n\nOne file.", Some("One file.")),
            ("Use SQLite. Please say hi now.", None),
            ("\n\n# Only\n", None),
            ("- ", None),
        ] {
            let (claim, reason) = claim_and_reason("Use SQLite", body);
            assert_eq!((claim.as_str(), reason.as_deref()), ("Use SQLite", expected), "{body:?}");
        }
    }

    #[test]
    fn a_title_that_leaves_out_how_its_sentence_goes_on_is_told_whole() {
        let title = "10k gets an internal error, 5k works again";
        let body = "10k gets an internal error, 5k works again, so we stick to 5k batches. More.";
        let whole = "10k gets an internal error, 5k works again, so we stick to 5k batches";
        assert_eq!(claim_and_reason(title, body), (whole.to_owned(), Some("More.".to_owned())));
    }

    #[test]
    fn a_title_that_breaks_off_in_a_clause_is_told_whole() {
        let body = "We use SQLite, it is one file to back up and needs no server.";
        let (claim, _) =
            claim_and_reason("We use SQLite, it is one file to back up and needs no", body);
        assert_eq!(claim, body.trim_end_matches('.'));
    }

    #[test]
    fn a_title_that_was_cut_is_told_whole_and_once() {
        let body = "Always use pnpm here, never npm: npm writes a second lock file. CI fails then.";
        let (claim, reason) = claim_and_reason("Always use pnpm here, never npm: npm wri…", body);
        assert_eq!(claim, "Always use pnpm here, never npm: npm writes a second lock file");
        assert_eq!(reason.as_deref(), Some("CI fails then."));
    }

    #[test]
    fn work_is_told_where_it_says_something() {
        for (title, description, expected) in [
            ("Add a…", "Add a health endpoint. Ended with: Yes", Some("Add a health endpoint.")),
            ("8", "8. Ended with: Yes", None),
            ("say hello", "say hello. Ended with: Hello, the queue is a table", None),
            (
                "is the…",
                "is the subagent stuck? Ended with: It waits for the lock",
                Some("It waits for the lock"),
            ),
            (
                "Mend the flaky test",
                "Mend the flaky test. Ended with: The clock is injected now",
                Some("Mend the flaky test. Ended with: The clock is injected now"),
            ),
            (
                "Inject the clock into tests",
                "ok, go on then. Ended with: The clock is injected now",
                Some("Inject the clock into tests. Ended with: The clock is injected now"),
            ),
            ("Queue in SQLite", "Moved the queue to SQLite", Some("Moved the queue to SQLite")),
        ] {
            assert_eq!(describe_work(title, description).as_deref(), expected, "{description}");
        }
    }

    #[test]
    fn a_claim_is_shown_without_the_request_that_follows_it() {
        for (claim, expected) in [
            ("I switched to go-git v6, can you review again", Some("I switched to go-git v6")),
            ("We use tabs here and could you fix the file?", Some("We use tabs here")),
            ("Now could you fix the file?", None),
            ("Is the queue a table?", None),
            ("Use `just`, if you can", Some("Use `just`, if you can")),
        ] {
            assert_eq!(without_request(claim), expected, "{claim}");
        }
    }
}
