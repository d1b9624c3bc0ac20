//! Converts memories to index units. Each file becomes one unit with one record.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

use crate::record::IMPORTANCE;
use crate::search::record::{
    DESCRIBED, Fingerprint, Link, LinkKind, Record, Standing, UNPROVEN, Unit,
};
use crate::{Evidence, FileRead, Located, Memory, MemoryType, Status};
use nacre_base::fs::FileStamp;

const MAX_QUOTE_BYTES: usize = 4096;
const MAX_QUOTES: usize = 64;

pub(super) const MAX_TEXT_BYTES: usize = 16 << 10;

const USUAL_CONFIDENCE: f64 = 0.5;

/// Returns a memory file's unit. An invalid file becomes a unit without records, so that it is not
/// read again until it changes.
pub(super) fn unit_of(at: &Located, fingerprint: Fingerprint, read: &FileRead) -> Unit {
    let records = match &read.memory {
        Ok(memory) => vec![record_of(memory, read.evidence.as_ref())],
        Err(_) => Vec::new(),
    };
    Unit { key: at.path.as_str().to_owned(), fingerprint, records }
}

/// Returns a hash of the stamp, which is never 0.
pub(super) fn number_of(stamp: Option<FileStamp>) -> u64 {
    stamp.map_or(1, FileStamp::number)
}

pub(super) fn content_of(read: &FileRead) -> u64 {
    let quotes: String = read.evidence.iter().flat_map(texts).collect();
    xxh3_64(&read.bytes) ^ xxh3_64(quotes.as_bytes()).rotate_left(1)
}

fn texts(evidence: &Evidence) -> impl Iterator<Item = &str> {
    evidence.quotes.iter().map(|quote| quote.text.as_str())
}

fn record_of(memory: &Memory, evidence: Option<&Evidence>) -> Record {
    let body = page_of(memory);
    // A review changes `updated`, but a session summary keeps its original date.
    let time = match memory.at.memory_type {
        MemoryType::Summary => memory.created.or(memory.updated),
        MemoryType::Decision | MemoryType::Learning => memory.updated.or(memory.created),
    };
    Record {
        key: memory.at.id.as_str().to_owned(),
        title: memory.title.clone(),
        tags: memory.tags.iter().take(MAX_TAGS).map(String::as_str).collect::<Vec<_>>().join(" "),
        body: search_text(memory, body),
        quotes: quotes(body, evidence.into_iter().flat_map(texts)),
        facets: facets(memory, body)
            .into_iter()
            .chain(mark_unproven(memory, evidence))
            .chain(mark_described(memory))
            .collect(),
        time_ms: time.map_or(0, jiff::Timestamp::as_millisecond),
        standing: standing(memory),
        confidence: memory.confidence.unwrap_or(USUAL_CONFIDENCE) as f32,
        links: links(memory),
        ..Record::default()
    }
}

/// Returns the facet that marks a decision or learning without quotes. Summaries never have quotes,
/// so they are not marked.
fn mark_unproven(memory: &Memory, evidence: Option<&Evidence>) -> Option<(&'static str, String)> {
    let is_claim = memory.at.memory_type != MemoryType::Summary;
    let has_quotes = evidence.is_some_and(|evidence| !evidence.quotes.is_empty());
    (is_claim && !has_quotes).then(|| (UNPROVEN, String::new()))
}

fn mark_described(memory: &Memory) -> Option<(&'static str, String)> {
    (!memory.applies.is_empty()).then(|| (DESCRIBED, String::new()))
}

fn page_of(memory: &Memory) -> &str {
    let body = memory.document.body().trim();
    &body[..body.floor_char_boundary(MAX_TEXT_BYTES)]
}

fn search_text(memory: &Memory, body: &str) -> String {
    let lines = std::iter::once(body).chain(memory.applies.iter().map(String::as_str));
    lines.collect::<Vec<_>>().join("\n")
}

fn quotes<'t>(body: &str, texts: impl Iterator<Item = &'t str>) -> String {
    let mut joined = String::new();
    let own = memmem::Finder::new(body.as_bytes());
    for text in texts.take(MAX_QUOTES) {
        let start = &text[..text.floor_char_boundary(MAX_QUOTE_BYTES)];
        let is_said = memmem::find(body.as_bytes(), start.trim().as_bytes()).is_some();
        if !is_said && (body.is_empty() || own.find(text.as_bytes()).is_none()) {
            joined.push_str(start);
            joined.push('\n');
        }
        if MAX_QUOTE_BYTES <= joined.len() {
            break;
        }
    }
    joined
}

fn standing(memory: &Memory) -> Standing {
    if memory.is_archived() {
        Standing::Archived
    } else if memory.says_overturned() {
        Standing::Superseded
    } else if memory.status == Status::Candidate {
        Standing::Candidate
    } else if memory.status == Status::Stale {
        Standing::Stale
    } else {
        Standing::Active
    }
}

fn links(memory: &Memory) -> Vec<Link> {
    let contradicted = memory.document.list("contradicts").ok().flatten().unwrap_or_default();
    let link = |kind: LinkKind, to: &str| Link { kind, to: to.to_owned() };
    let related = memory.related.iter().map(|id| link(LinkKind::Related, id.as_str()));
    let older = memory.supersedes.iter().map(|id| link(LinkKind::Supersedes, id.as_str()));
    let newer = memory.superseded_by.iter().map(|id| link(LinkKind::SupersededBy, id.as_str()));
    let contradicted = contradicted.iter().map(|id| link(LinkKind::Contradicts, id));
    let related = related.take(MAX_LINKS);
    let (older, contradicted) = (older.take(MAX_LINKS), contradicted.take(MAX_LINKS));
    related.chain(older).chain(newer).chain(contradicted).collect()
}

/// Maximum number of tags, and of links of each kind, to index per memory.
const MAX_LINKS: usize = 64;
const MAX_TAGS: usize = 64;

pub(super) fn facets_of(memory: &Memory) -> Vec<(&'static str, String)> {
    facets(memory, page_of(memory))
}

fn facets(memory: &Memory, body: &str) -> Vec<(&'static str, String)> {
    let mut facets = vec![
        ("id", memory.at.id.as_str().to_owned()),
        ("type", memory.at.memory_type.as_str().to_owned()),
        ("status", memory.status.as_str().to_owned()),
    ];
    facets.extend(memory.kind.map(|kind| ("kind", kind.as_str().to_owned())));
    facets.extend(memory.importance().map(|one| (IMPORTANCE, one.to_string())));
    let older = memory.supersedes.iter().take(MAX_LINKS);
    facets.extend(older.map(|id| ("supersedes", id.as_str().to_owned())));
    let tags: BTreeSet<&String> = memory.tags.iter().take(MAX_TAGS).collect();
    facets.extend(tags.into_iter().map(|tag| ("tag", tag.clone())));
    let text = |key: &str| memory.document.text(key).ok().flatten().map(Cow::into_owned);
    facets.extend(text("coding_agent").map(|agent| ("agent", agent)));
    let session = match memory.at.memory_type {
        MemoryType::Summary => text("raw_trace_path"),
        MemoryType::Decision | MemoryType::Learning => {
            memory.source.clone().filter(|source| source != "human")
        }
    };
    facets.extend(session.map(|session| ("session", session)));
    let whole = format!("{}\n{body}", memory.title);
    for path in files_named(&whole) {
        let name = file_name(&path).to_owned();
        if name != path {
            facets.push(("file", name));
        }
        facets.push(("file", path));
    }
    facets.extend(symbols_named(&whole).into_iter().map(|symbol| ("symbol", symbol)));
    facets
}

/// Maximum number of mentions. Text with more mentions is probably a listing.
const MAX_MENTIONS: usize = 48;

const MAX_SCANNED_BYTES: usize = 16 << 10;

/// File extensions, except those that can also end a host name or abbreviation.
#[rustfmt::skip]
const EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "ex", "exs", "go", "gradle", "h",
    "hpp", "html", "ini", "java", "js", "json", "jsx", "kt", "lock", "lua", "md", "mjs", "php",
    "pl", "proto", "py", "rb", "rs", "scala", "sh", "sql", "svelte", "swift", "tf", "toml", "ts",
    "tsx", "txt", "vue", "xml", "yaml", "yml", "zig",
];

/// Returns the file paths that a text mentions, without duplicates. Paths are recognized by their
/// form.
pub fn files_named(text: &str) -> Vec<String> {
    let is_path = |c: char| c.is_alphanumeric() || "_-./@+~".contains(c);
    let words = start_of(text).split(|c: char| !is_path(c));
    let words = words.map(|word| word.trim_start_matches("./").trim_end_matches(['.', '/']));
    first_mentions(words, names_file)
}

/// Returns the functions, types and settings that are named in backticks, without duplicates.
pub fn symbols_named(text: &str) -> Vec<String> {
    // After the split, every second part was in backticks.
    let quoted = start_of(text).split('`').skip(1).step_by(2);
    let names = quoted.filter_map(|quoted| quoted.trim_end_matches("()").rsplit(['.', ':']).next());
    first_mentions(names, is_symbol)
}

fn start_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_SCANNED_BYTES)]
}

fn first_mentions<'t>(
    words: impl Iterator<Item = &'t str>,
    is_mention: impl Fn(&str) -> bool,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words {
        if is_mention(word) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
        if found.len() == MAX_MENTIONS {
            break;
        }
    }
    found
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn names_file(word: &str) -> bool {
    let Some((stem, extension)) = file_name(word).rsplit_once('.') else { return false };
    (3..=200).contains(&word.len())
        && !word.contains("//")
        && EXTENSIONS.binary_search(&extension.to_ascii_lowercase().as_str()).is_ok()
        && stem.chars().any(char::is_alphanumeric)
}

fn is_symbol(name: &str) -> bool {
    let mut chars = name.chars();
    (3..=80).contains(&name.len())
        && chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_quote_is_looked_at_after_the_last_that_counts() {
        let n_seen = |body: &str, text: &str| {
            let n_seen = std::cell::Cell::new(0);
            let texts = vec![text; 18_000];
            let seen = texts.into_iter().inspect(|_| n_seen.set(n_seen.get() + 1));
            let joined = quotes(body, seen);
            assert!(joined.len() <= 2 * MAX_QUOTE_BYTES, "{}", joined.len());
            n_seen.get()
        };
        let body = "ab".repeat(8_000);
        assert_eq!(
            n_seen(&body, "abab"),
            MAX_QUOTES,
            "text already in the body is skipped but counts toward the limit"
        );
        assert_eq!(n_seen(&body, "ababx"), MAX_QUOTES);
        assert_eq!(
            n_seen(&body, &"x".repeat(MAX_QUOTE_BYTES)),
            1,
            "one long quote reaches the \
         limit"
        );
    }

    #[test]
    fn what_the_evidence_says_beyond_the_text_is_kept() {
        let said = ["one file", "no server", "We said: one file, as ever. Good."];
        assert_eq!(quotes("one file, as ever.", said.into_iter()), "no server\n");
        assert_eq!(quotes("", ["kept"].into_iter()), "kept\n");
    }

    #[test]
    fn extensions_are_sorted() {
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn files_are_told_from_prose() {
        let text =
            "See `./src/db.rs`, (docs/a-b.md) and Cargo.toml. Not e.g. this, 1.5, x.com or src/.";
        assert_eq!(files_named(text), ["src/db.rs", "docs/a-b.md", "Cargo.toml"]);
    }

    #[test]
    fn no_word_is_looked_at_after_the_last_mention_that_counts() {
        let words: Vec<String> = (0..1_000).map(|number| format!("src/f{number}.rs")).collect();
        let n_seen = std::cell::Cell::new(0);
        let seen = words.iter().map(String::as_str).inspect(|_| n_seen.set(n_seen.get() + 1));
        assert_eq!(first_mentions(seen, names_file).len(), MAX_MENTIONS);
        assert_eq!(n_seen.get(), MAX_MENTIONS);
    }

    #[test]
    fn only_the_start_of_a_long_text_is_looked_at() {
        let long =
            format!("src/a.rs `open_it` {} src/b.rs `close_it`", "ä ".repeat(MAX_SCANNED_BYTES));
        assert_eq!(files_named(&long), ["src/a.rs"]);
        assert_eq!(symbols_named(&long), ["open_it"]);
    }

    #[test]
    fn symbols_stand_in_backticks() {
        assert_eq!(
            symbols_named("call `Store::open()` or `read_config`, not `a b` or open"),
            ["open", "read_config"]
        );
    }
}
