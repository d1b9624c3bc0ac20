//! A sentence with all that the rules ask about it: its words, where it really begins, what it gives as a reason.

use std::collections::HashSet;

use super::cues::{Cue, Cues};

/// What is known around a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stance<'a> {
    /// The agent had said or done something before.
    pub(super) is_reply: bool,
    /// The person stopped the agent to say this.
    pub(super) is_refusal: bool,
    /// The message begins with it.
    pub(super) is_first: bool,
    /// The sentence before it is a bare "no".
    pub(super) follows_no: bool,
    /// What the agent offered to choose from, folded.
    pub(super) offer: Option<&'a str>,
    /// The sentence that follows in the same paragraph, folded.
    pub(super) next: Option<&'a str>,
}

/// A word, and whether a clause begins with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) opens: bool,
}

/// A folded sentence.
pub(super) struct Reading<'a> {
    pub(super) folded: &'a str,
    pub(super) words: Vec<Word<'a>>,
    /// Where the sentence begins after its "ok, so please".
    pub(super) lead: usize,
    pub(super) opens_with_no: bool,
    /// "No emojis in release notes", which is not "no, it is".
    pub(super) forbids: bool,
    pub(super) stance: Stance<'a>,
    cues: Cues,
}

/// Words before the sentence proper.
const FILLERS: &[&str] = &[
    "ok", "okay", "no", "nope", "nein", "yes", "yeah", "yep", "well", "so", "and", "but", "also",
    "please", "pls", "hmm", "hm", "ah", "oh", "right", "actually", "sorry", "hey", "again", "wait",
    "bitte", "just", "then", "man", "uh", "thanks",
];

/// Words that say nothing by themselves.
const EMPTY: &[&str] = &[
    "the", "a", "an", "it", "that", "this", "these", "those", "them", "they", "there", "is", "are",
    "was", "be", "been", "to", "of", "in", "on", "at", "for", "with", "and", "or", "but", "so",
    "not", "no", "do", "does", "did", "don't", "doesn't", "can", "could", "will", "would",
    "should", "must", "have", "has", "had", "just", "please", "now", "then", "here", "i", "i'd",
    "i'm", "we", "you", "he", "she", "my", "me", "our", "us", "your", "its", "it's", "all", "any",
    "some", "what", "which", "when", "if", "as", "by", "from", "up", "out", "about", "too", "very",
    "also", "ok", "yes", "like", "want", "need", "make", "get", "go", "let's", "lets", "thing",
    "things", "one", "always", "never", "stop", "use", "more", "again", "only", "because", "since",
    "instead", "rather", "than", "prefer", "keep", "remember", "next", "time", "mind", "idea",
    "much",
];

/// Verbs with which people tell an agent what to do.
const IMPERATIVES: &[&str] = &[
    "use", "run", "ask", "start", "put", "keep", "write", "make", "ensure", "be", "do", "stop",
    "avoid", "prefer", "commit", "update", "add", "test", "check", "install", "build", "push",
    "pull", "call", "name", "document", "always", "never", "only", "don't", "verify", "review",
    "read", "tell", "show", "include", "leave", "follow", "go", "rebase", "format", "lint",
    "squash", "remember", "wait", "bump", "sign", "tag", "return", "store", "pin",
];

/// The words that carry a text's meaning, folded.
pub(super) fn content_words(folded: &str) -> impl Iterator<Item = &str> {
    words(folded).map(|word| word.text).filter(|word| carries(word))
}

fn carries(word: &str) -> bool {
    word.len() > 2 && !EMPTY.contains(&word)
}

/// How many of the words that carry a text's meaning another text has too.
pub(super) fn n_shared(text: &str, other: &str) -> usize {
    let known: HashSet<&str> = content_words(other).collect();
    content_words(text).filter(|word| known.contains(word)).count()
}

pub(super) fn words(folded: &str) -> impl Iterator<Item = Word<'_>> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '-' | '$');
    let mut opens = true;
    let mut from = 0;
    folded.split_whitespace().filter_map(move |raw| {
        let at = from + folded[from..].find(raw).unwrap_or_default();
        from = at + raw.len();
        let lead = raw.len() - raw.trim_start_matches(is_edge).len();
        let text = raw.trim_matches(is_edge).trim_end_matches('.');
        let word = Word { text, start: at + lead, opens: opens || raw.starts_with('(') };
        opens = raw.ends_with([',', ';', ':', '.', '-', '—', '…', ')', '!', '，']);
        (!text.is_empty()).then_some(word)
    })
}

impl<'a> Reading<'a> {
    pub(super) fn new(folded: &'a str, stance: Stance<'a>) -> Self {
        let words: Vec<Word<'a>> = words(folded).collect();
        let forbids = forbids(&words);
        let n_fillers = words.iter().take_while(|word| FILLERS.contains(&word.text)).count();
        let lead = if forbids { 0 } else { n_fillers.min(words.len().saturating_sub(1)) };
        let first = words.first().map_or("", |word| word.text);
        let says_no = matches!(first, "no" | "nope" | "nein" | "wrong");
        let opens_with_no = stance.follows_no || (!forbids && says_no);
        Self { folded, words, lead, opens_with_no, forbids, stance, cues: Cues::of(folded) }
    }

    pub(super) fn has(&self, cue: Cue) -> bool {
        self.cues.has(cue)
    }

    pub(super) fn cues(&self) -> &Cues {
        &self.cues
    }

    pub(super) fn lead_word(&self) -> &'a str {
        self.words.get(self.lead).map_or("", |word| word.text)
    }

    /// How many words carry meaning from `at` on; scripts without spaces count by their characters.
    pub(super) fn n_content_after(&self, at: usize) -> usize {
        let n_wide = self.folded[at..].chars().filter(|c| is_wide(*c)).count();
        let after = self.words.iter().filter(|word| word.start >= at && carries(word.text));
        after.filter(|word| !word.text.starts_with(is_wide)).count() + n_wide / 4
    }

    pub(super) fn n_content(&self) -> usize {
        self.n_content_after(0)
    }

    /// Whether what stands at `at` is said to someone, or of us: it leads the sentence, or follows
    /// "we", "you", "please".
    pub(super) fn is_directive(&self, at: usize) -> bool {
        let idx = self.words.iter().position(|word| word.start == at);
        // Scripts without spaces put it anywhere.
        let Some(idx) = idx.filter(|_| !self.folded[at..].starts_with(is_wide)) else {
            return self.folded[at..].starts_with(is_wide);
        };
        if idx == self.lead {
            return true;
        }
        let before = |n: usize| idx.checked_sub(n).map_or("", |idx| self.words[idx].text);
        match before(1) {
            "we" | "you" | "please" | "bitte" | "wir" | "kindly" => true,
            "so" => self.words[idx - 1].opens,
            "should" | "must" => matches!(before(2), "we" | "you"),
            "and" | "but" | "to" => self.leads_with_order(),
            _ => self.words[idx].opens && self.gives_cause(),
        }
    }

    pub(super) fn leads_with_order(&self) -> bool {
        IMPERATIVES.contains(&self.lead_word())
    }

    /// Whether the word at `idx` stands in a clause that hangs on another: "as we did", "if we keep".
    pub(super) fn is_subordinate(&self, idx: usize) -> bool {
        const OPENERS: &[&str] = &[
            "if", "as", "like", "what", "how", "when", "where", "that", "which", "whether",
            "until", "once", "can", "could", "should", "do", "why", "so",
        ];
        idx > 0 && OPENERS.contains(&self.words[idx - 1].text)
    }

    /// A reason in the sentence itself: a word for it, or a clause that goes on after the first.
    pub(super) fn has_reason(&self) -> bool {
        const SUBJECTS: &[&str] = &[
            "i", "i'd", "i'm", "we", "we're", "we've", "it", "it's", "they", "they're", "the",
            "there", "there's", "that's", "our", "ci", "this",
        ];
        let goes_on = |word: &Word<'_>| word.opens && SUBJECTS.contains(&word.text);
        self.gives_cause() || self.words.iter().skip(self.lead + 2).any(goes_on)
    }

    /// A word for a cause, or for what follows from it.
    pub(super) fn gives_cause(&self) -> bool {
        let so = |word: &Word<'_>| word.text == "so" && word.opens;
        self.has(Cue::Reason) || self.words.iter().skip(self.lead + 1).any(so)
    }

    /// A reason here or in the sentence that follows.
    pub(super) fn is_explained(&self) -> bool {
        const SUBJECTS: &[&str] = &[
            "it",
            "it's",
            "our",
            "they",
            "they're",
            "that's",
            "because",
            "otherwise",
            "there",
            "there's",
            "the",
        ];
        let follows = self.stance.next.and_then(|next| words(next).next());
        self.has_reason() || follows.is_some_and(|word| SUBJECTS.contains(&word.text))
    }
}

/// "No emojis in release notes" is a rule; "no, it is" and "no match found" are not.
fn forbids(words: &[Word<'_>]) -> bool {
    const NOT_FORBIDDEN: &[&str] = &[
        "it", "it's", "that", "that's", "this", "wait", "i", "i'm", "we", "you", "the", "problem",
        "need", "worries", "idea", "just", "still", "longer", "there", "they", "don't", "not",
        "but", "one", "way", "please", "let's", "use", "change", "changes", "rush", "more", "im",
        "do", "its", "luck", "such", "match", "matching", "error", "errors",
    ];
    let is_report =
        |word: &Word<'_>| matches!(word.text, "found" | "error" | "failed" | "available");
    match words {
        [first, second, _, _, ..] => {
            let is_no =
                first.text == "no" && !second.opens && !NOT_FORBIDDEN.contains(&second.text);
            is_no && !words.iter().any(is_report)
        }
        _ => false,
    }
}

fn is_wide(c: char) -> bool {
    u32::from(c) >= 0x2e80
}
