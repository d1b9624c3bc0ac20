//! One line of a brief: what a memory says, in as few words as it can be said, and its id.

use nacre_core::base::Shown;
use nacre_core::memory::{Memory, MemoryType, Speaker, Status, Store, StoreArea, Trust};

use crate::flows::extract::words::shortened;
use crate::flows::sync::decided::claimed;

/// What stands where a secret was; a text with it is not handed to anybody unasked.
const REDACTED: &str = "[redacted:";

/// The longest title and the longest detail behind it, in bytes.
const MAX_TITLE: usize = 200;
const MAX_DETAIL: usize = 180;

/// Sentences of a body that are looked at for a reason.
const MAX_SENTENCES: usize = 6;

/// Fewer words tell nothing of a session.
const MIN_WORDS: usize = 3;

/// What stands between what a session was to do and how it ended.
const ENDED_WITH: &str = "Ended with:";

/// The longest that is told of a session.
const MAX_SUMMARY: usize = 240;

/// What a brief tells of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub id: String,
    pub scope: &'static str,
    /// On one line, without secrets and control characters.
    pub text: String,
}

impl Item {
    /// The item as a line of Markdown.
    pub fn line(&self) -> String {
        format!("- {} [{}]", self.text, self.id)
    }
}

/// The longest form in which a memory can be told, and a shorter one; `None` where nothing of it can be.
pub(in crate::flows) fn forms(
    store: &Store,
    memory: &Memory,
    scope: &'static str,
) -> Option<(Item, Option<Item>)> {
    let item = |text: String| Item { id: memory.at.id.to_string(), scope, text };
    let title = safe(store, &memory.title, MAX_TITLE)?;
    if memory.at.memory_type == MemoryType::Summary {
        let day = memory.created.map(|at| at.strftime("%Y-%m-%d: ").to_string());
        let day = day.unwrap_or_default();
        let told = memory.document.text("description").ok().flatten();
        let told = told.as_deref().and_then(work_told);
        let told = told.and_then(|told| safe(store, &told, MAX_SUMMARY));
        let short = says_something(&title).then(|| item(format!("{day}{title}")));
        return match told {
            Some(told) => Some((item(format!("{day}{told}")), short)),
            None => short.map(|short| (short, None)),
        };
    }
    let (claim, reason) = claim_and_reason(&title, &claimed(memory.document.body()));
    let claim = safe(store, &claim, MAX_TITLE).or_else(|| safe(store, &title, MAX_TITLE))?;
    let reason = reason.and_then(|text| safe(store, &text, MAX_DETAIL));
    let said = users_quote(store, memory);
    let said = said.map(|said| format!("(An agent's words; the user said: \"{said}\")"));
    let more: Vec<String> = reason.into_iter().chain(said).collect();
    if more.is_empty() {
        return Some((item(claim), None));
    }
    let stop = if claim.ends_with(['.', '!', '?', ':', '…']) { "" } else { "." };
    Some((item(format!("{claim}{stop} {}", more.join(" "))), Some(item(claim))))
}

/// The user's words that an agent put into words of its own.
fn users_quote(store: &Store, memory: &Memory) -> Option<String> {
    if store.trust_of(memory) != Trust::Assistant {
        return None;
    }
    let quotes = store.proof_of(memory)?.quotes;
    let said = quotes.iter().find(|quote| quote.speaker == Speaker::User)?;
    safe(store, &said.text, MAX_DETAIL)
}

/// What a summary's description says that is worth a line: not how it ended where that is a word.
fn work_told(description: &str) -> Option<String> {
    let (began, ended) = description.split_once(ENDED_WITH).unwrap_or((description, ""));
    match (says_something(began), says_something(ended)) {
        (true, true) => Some(description.to_owned()),
        (true, false) => Some(began.trim().to_owned()),
        (false, true) => Some(ended.trim().to_owned()),
        (false, false) => None,
    }
}

/// Whether a text tells what was done: a word, a number or a question does not.
fn says_something(text: &str) -> bool {
    let n_words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).count();
    n_words >= MIN_WORDS && !text.trim_end().ends_with('?')
}

/// A memory's claim in full, and the first sentence of its body that says more. A body often begins with the sentence
/// that the title was cut from.
fn claim_and_reason(title: &str, body: &str) -> (String, Option<String>) {
    let mut claim = title.to_owned();
    for sentence in sentences(body).into_iter().take(MAX_SENTENCES) {
        if !says_the_same(&claim, &sentence) {
            return (claim, Some(sentence));
        }
        // A title that was cut, or that leaves out how its sentence goes on.
        if leaves_out(&claim, &sentence)
            && sentence.len() <= MAX_TITLE
            && says_the_same(&sentence, &claim)
        {
            claim = sentence.trim_end_matches('.').to_owned();
        }
    }
    (claim, None)
}

/// Whether a claim breaks off where its sentence goes on: in the middle of a clause, or three words before its end.
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

/// Whether a memory may be handed out unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::flows) enum Backing {
    /// It holds, and somebody stands behind it.
    Backed,
    /// It does not hold, or only a tool said it: a web page or a program.
    Withheld,
    /// It came from elsewhere, and nobody here has looked at it.
    Unproven,
}

/// Who stands behind a memory. The one place that decides what is told unasked, by its trust.
///
/// A person's own folder comes with no clone, so what lies there is theirs.
pub(in crate::flows) fn backing(store: &Store, memory: &Memory, scope: &str) -> Backing {
    let at = &memory.at;
    if at.area != StoreArea::Active || memory.status != Status::Active || memory.says_overturned() {
        return Backing::Withheld;
    }
    match store.trust_of(memory) {
        Trust::Human | Trust::User | Trust::Assistant => Backing::Backed,
        Trust::Foreign if scope == "global" => Backing::Backed,
        Trust::Foreign | Trust::Quarantined => Backing::Unproven,
        Trust::Derived => Backing::Withheld,
    }
}

/// A text on one line, cut and without secrets; `None` where a secret was in it, or nothing is.
pub(super) fn safe(store: &Store, text: &str, most: usize) -> Option<String> {
    let clean = store.redacted(text);
    if clean.contains(REDACTED) {
        return None;
    }
    let line = Shown(&shortened(&clean, most)).one_line();
    let is_visible = line.chars().any(|c| !c.is_whitespace());
    is_visible.then(|| line.trim().to_owned())
}

/// The sentences of a body's first paragraphs, headings, code and marks of lists aside.
fn sentences(body: &str) -> Vec<String> {
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

/// Whether two texts say the same: one holds the words of the other, whatever case and marks they have and wherever
/// one of them was cut.
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
            ("\nOne file. No server.\n", Some("One file.")),
            ("## Why\n\nIt is v1.2\nand small.\n\nMore.", Some("It is v1.2 and small.")),
            ("> said so\n- then", Some("said so")),
            ("use SQLite!\n\nOne file.", Some("One file.")),
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
        for (description, expected) in [
            ("Add a health endpoint. Ended with: Yes", Some("Add a health endpoint.")),
            ("8. Ended with: Yes", None),
            (
                "is the subagent stuck? Ended with: It waits for the lock",
                Some("It waits for the lock"),
            ),
            (
                "Mend the flaky test. Ended with: The clock is injected now",
                Some("Mend the flaky test. Ended with: The clock is injected now"),
            ),
            ("Moved the queue to SQLite", Some("Moved the queue to SQLite")),
        ] {
            assert_eq!(work_told(description).as_deref(), expected, "{description}");
        }
    }
}
