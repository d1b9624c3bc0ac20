//! One line of a brief: what a memory says, in as few words as it can be said, and its id.

use nacre_core::base::Shown;
use nacre_core::memory::{Memory, MemoryType, Shelf, Speaker, Status, Store};

use crate::flows::extract::words::shortened;

/// What stands where a secret was; a text with it is not handed to anybody unasked.
const REDACTED: &str = "[redacted:";

/// The longest title and the longest detail behind it, in bytes.
const MAX_TITLE: usize = 200;
const MAX_DETAIL: usize = 180;

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
pub(super) fn forms(
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
        let told = told.and_then(|told| safe(store, &told, MAX_SUMMARY));
        let short = item(format!("{day}{title}"));
        return Some(match told {
            Some(told) => (item(format!("{day}{told}")), Some(short)),
            None => (short, None),
        });
    }
    let detail = detail(memory.document.body()).and_then(|text| safe(store, &text, MAX_DETAIL));
    let says_more = |detail: &String| !contains(&title, detail) && !contains(detail, &title);
    Some(match detail.filter(says_more) {
        Some(detail) => {
            let stop = if title.ends_with(['.', '!', '?', ':', '…']) { "" } else { "." };
            (item(format!("{title}{stop} {detail}")), Some(item(title)))
        }
        None => (item(title), None),
    })
}

/// Whether a memory may be handed out unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// It holds, and somebody stands behind it.
    Backed,
    /// It does not hold, or only a tool said it: a web page or a program.
    Withheld,
    /// Nothing shows who wrote it: this machine did not, and nobody said that its evidence is to be trusted.
    Unproven,
}

/// Who stands behind a memory. The one place that decides what is told unasked: a ledger of trust belongs here.
///
/// A person's own folder comes with no clone, so what lies there is theirs. In a repository a memory needs the mark that they
/// wrote it or took it over; where they trust the repository, a quote will do, which summaries do not have.
pub(super) fn backing(store: &Store, memory: &Memory, scope: &str) -> Backing {
    let (id, at) = (&memory.at.id, &memory.at);
    if at.shelf != Shelf::Active || memory.status != Status::Active || memory.says_overturned() {
        return Backing::Withheld;
    }
    let evidence = match at.memory_type {
        MemoryType::Summary => None,
        MemoryType::Decision | MemoryType::Learning => store.evidence(id).ok().flatten(),
    };
    let evidence = evidence.filter(|evidence| evidence.id == *id);
    let quotes = evidence.map(|evidence| evidence.quotes).unwrap_or_default();
    let is_a_tools = |speaker: Speaker| match speaker {
        Speaker::Tool => true,
        Speaker::Human | Speaker::User | Speaker::Assistant => false,
    };
    if !quotes.is_empty() && quotes.iter().all(|quote| is_a_tools(quote.speaker)) {
        return Backing::Withheld;
    }
    let is_proven = store.trusts_evidence() && !quotes.is_empty();
    let is_backed = is_proven || scope == "global" || store.is_own(id);
    if is_backed { Backing::Backed } else { Backing::Unproven }
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

/// The first sentence of a body, headings and marks of lists aside.
fn detail(body: &str) -> Option<String> {
    let mut lines = body.lines().map(str::trim);
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with(['#', '`', '<']);
    let first = lines.find(is_text)?;
    let rest = lines.take_while(|line| !line.is_empty() && !line.starts_with(['#', '-', '*', '`']));
    let paragraph = std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ");
    let bare = paragraph.trim_start_matches(['>', '-', '*', ' ']);
    let end = bare.find(". ").map_or(bare.len(), |at| at + 1);
    Some(bare[..end].to_owned()).filter(|text| !text.is_empty())
}

/// Whether a text says what another says, whatever case and full stop it has.
fn contains(text: &str, part: &str) -> bool {
    let folded = |text: &str| text.trim_end_matches('.').to_lowercase();
    folded(text).contains(&folded(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_the_first_sentence() {
        for (body, expected) in [
            ("\nOne file. No server.\n", Some("One file.")),
            ("## Why\n\nIt is v1.2\nand small.\n\nMore.", Some("It is v1.2 and small.")),
            ("> said so\n- then", Some("said so")),
            ("\n\n# Only\n", None),
            ("- ", None),
        ] {
            assert_eq!(detail(body).as_deref(), expected, "{body:?}");
        }
    }
}
