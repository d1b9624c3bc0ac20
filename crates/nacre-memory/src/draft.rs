//! A batch's input types: new memories, and new values for existing ones.

use nacre_base::is_hidden_char;

use super::hazard::{Hazard, hazards};
use super::kinds::{Basis, Claim};
use super::sidecar::Speaker;
use super::trust::trust_of_evidence;
use crate::prelude::*;

#[derive(Clone, Debug)]
pub struct Draft {
    pub claim: Claim,
    pub title: String,
    pub body: String,
    pub tags: Vec<String>,
    pub applies: Vec<String>,
    pub related: Vec<MemoryId>,
    pub source: String,
    pub confidence: f64,
    pub basis: Option<Basis>,
    /// From 1 (nice to know) to 3 (not knowing it does harm), as judged by a model.
    pub importance: Option<u8>,
    pub quotes: Vec<Quote>,
    /// The highest trust level that the author claims. An agent that rephrases the user's words
    /// claims only `Assistant`, even if it also quotes the user.
    pub limit: Trust,
}

#[derive(Clone, Debug)]
pub struct SummaryDraft {
    pub title: String,
    pub description: String,
    pub body: String,
    pub coding_agent: String,
    pub raw_trace_path: String,
    pub run_id: String,
    pub repo_name: String,
    pub related: Vec<MemoryId>,
    pub tags: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Admission {
    pub(super) trust: Trust,
    pub(super) status: Status,
}

/// Computes a draft's trust level from its verified quotes, capped at the actor's limit. A draft
/// that contains a hazardous instruction needs a review, unless the user gave the instruction: the
/// title is a complete quote from the user, and so is the body, or it adds no other hazard. A
/// partial quote is not enough, because the user may have mentioned the instruction as a warning.
pub(super) fn admit(actor: Actor, draft: &Draft, status: Status) -> Admission {
    let Draft { title, body, quotes, limit, .. } = draft;
    let trust = trust_of_evidence(quotes).min(*limit).min(actor.limit());
    // Titles are capitalized, and have no final punctuation.
    let plain = |text: &str| text.trim().trim_end_matches(['.', '!', ';', ',']).to_lowercase();
    let (claim, text) = (plain(title), plain(body));
    let is_said = |text: &str| {
        let mut typed = quotes.iter().filter(|quote| quote.speaker <= Speaker::User);
        typed.any(|quote| plain(&quote.text) == text)
    };
    let added = text.strip_prefix(&claim).unwrap_or(&text);
    let is_harmless = || hazards(added, [title.as_str()]).is_empty();
    let is_users = trust >= Trust::User && is_said(&claim) && (is_said(&text) || is_harmless());
    if trust == Trust::Human || is_users || hazards_of(title, body).is_empty() {
        return Admission { trust, status };
    }
    Admission { trust: Trust::Quarantined, status: Status::Candidate }
}

pub fn hazards_of(title: &str, body: &str) -> Vec<Hazard> {
    hazards(&format!("{title}\n{body}"), [])
}

const APPLIES: &str = "applies";

/// Maximum number of situations. Additional situations are dropped, and long ones are truncated.
pub const MAX_APPLIES: usize = 8;
pub const MAX_APPLIES_CHARS: usize = 160;

pub fn clean_applies<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        let text = one_line(text);
        if !text.is_empty() && !kept.contains(&text) {
            kept.push(text);
        }
        if kept.len() == MAX_APPLIES {
            break;
        }
    }
    kept
}

fn one_line(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if is_hidden_char(c) || c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(MAX_APPLIES_CHARS).collect();
    line.trim_end().to_owned()
}

pub(super) fn set_applies(document: &mut Document, applies: &[String]) {
    match clean_applies(applies.iter().map(String::as_str)).as_slice() {
        [] => document.remove(APPLIES),
        kept => document.set_list(APPLIES, kept),
    }
}

/// Returns a document's situations. They are used only for search, so a malformed value counts as
/// empty.
pub(super) fn applies_of(document: &Document) -> Vec<String> {
    let mut named = document.list(APPLIES).ok().flatten().unwrap_or_default();
    named.truncate(MAX_APPLIES);
    named.into_iter().map(|text| cut(&text).into_owned()).collect()
}

fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_APPLIES_CHARS) {
        Some((end, _)) => Cow::Owned(text[..end].to_owned()),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod applies_tests {
    use super::*;

    #[test]
    fn situations_are_single_lines_and_few() {
        let given =
            [" remove\n Customer.fax ", "remove Customer.fax", "\u{200b}", "drop\ta column"];
        assert_eq!(clean_applies(given), ["remove Customer.fax", "drop a column"]);
        let many: Vec<String> = (0..100).map(|n| format!("{n} {}", "x".repeat(500))).collect();
        let kept = clean_applies(many.iter().map(String::as_str));
        assert_eq!(kept.len(), MAX_APPLIES);
        assert!(kept.iter().all(|text| text.chars().count() == MAX_APPLIES_CHARS));
    }

    #[test]
    fn a_value_of_another_shape_is_none() {
        for (value, n_situations) in [("[a, b]", 2), ("soon", 1), ("{a: b}", 0), ("", 0)] {
            let text = format!("---\nid: a\ntitle: A\napplies: {value}\n---\n");
            let document = Document::parse(text).unwrap();
            assert_eq!(applies_of(&document).len(), n_situations, "{value}");
        }
    }
}
