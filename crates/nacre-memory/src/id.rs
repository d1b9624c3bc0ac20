//! A memory's permanent ID: `YYYYMMDD-<slug>`.

use std::str::FromStr;

use deunicode::deunicode_with_tofu_cow;
use serde::{Deserialize, Serialize};

/// Maximum length of an ID, which is enough for a date, a slug of 60 bytes and a number.
const MAX_BYTES: usize = 96;

/// Consists of a memory's creation date and a slug of its first title. An ID is unique within its
/// store and never changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemoryId(String);

impl MemoryId {
    /// Returns the date part, `YYYYMMDD`.
    pub fn date(&self) -> &str {
        &self.0[..8]
    }

    pub fn slug(&self) -> &str {
        &self.0[9..]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a memory ID, such as `20261115-use-sqlite`", nacre_base::ShownLine(.0))]
pub struct BadId(pub String);

impl FromStr for MemoryId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let is_id = text.len() <= MAX_BYTES
            && text.split_once('-').is_some_and(|(date, slug)| {
                date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) && is_slug(slug)
            });
        if is_id {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadId(text.chars().take(MAX_BYTES).collect()))
        }
    }
}

fn is_slug(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    text.split('-').all(is_word)
}

nacre_base::text_type!(MemoryId);

nacre_types::text_in_json!(MemoryId);

/// The ids in one or more stores, used to find the shortest unique form of each id.
#[derive(Clone, Debug, Default)]
pub struct ShortIds {
    /// Sorted and without duplicates.
    ids: Vec<String>,
}

impl ShortIds {
    pub fn new(mut ids: Vec<String>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        Self { ids }
    }

    /// Returns the shortest unique form of an id: the date and as many of the first words as
    /// needed. Returns an unknown id unchanged.
    pub fn of<'i>(&self, id: &'i str) -> &'i str {
        let Ok(at) = self.ids.binary_search_by(|known| known.as_str().cmp(id)) else { return id };
        let before = at.checked_sub(1).and_then(|before| self.ids.get(before));
        let neighbours = before.into_iter().chain(self.ids.get(at + 1));
        let count_shared =
            |other: &String| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let n_shared = neighbours.map(count_shared).max().unwrap_or(0);
        // A date alone is not meaningful, so the prefix includes at least one word of the title.
        let word = id.find('-').map_or(0, |dash| dash + 1);
        let from = word.max(n_shared + 1);
        let rest = id.get(from..).unwrap_or_default();
        rest.find('-').map_or(id, |end| &id[..from + end])
    }
}

const MAX_SLUG_BYTES: usize = 60;

/// Returns a title's lower-case ASCII words, joined by hyphens. The result is deterministic.
pub fn slug(title: &str) -> String {
    // Replace line breaks first. Transliteration would drop the line breaks and run two words
    // together.
    let words = title.replace(|letter: char| letter.is_control() || letter.is_whitespace(), " ");
    let ascii = deunicode_with_tofu_cow(&words, " ");
    // Some letters, such as the Russian soft sign, are transliterated to apostrophes. Remove them.
    let letters = ascii.replace('\'', "").to_ascii_lowercase();
    let mut slug = String::with_capacity(MAX_SLUG_BYTES);
    let mut is_cut = false;
    for word in letters.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        if word.is_empty() {
            continue;
        }
        if slug.is_empty() {
            slug.push_str(&word[..word.len().min(MAX_SLUG_BYTES)]);
        } else if slug.len() + 1 + word.len() <= MAX_SLUG_BYTES {
            slug.push('-');
            slug.push_str(word);
        } else {
            is_cut = true;
            break;
        }
    }
    if is_cut {
        end_with_a_word(&mut slug);
    }
    if slug.is_empty() {
        return format!("untitled-{:08x}", fnv1a(title.as_bytes()));
    }
    if is_reserved(&slug) {
        slug.push_str("-memory");
    }
    slug
}

/// Removes trailing function words from a truncated slug, such as `-and-not` or `-of-the`.
fn end_with_a_word(slug: &mut String) {
    const LEADING: &[&str] = &[
        "a", "an", "the", "and", "or", "but", "of", "to", "in", "on", "at", "by", "for", "with",
        "from", "as", "is", "are", "be", "not", "no", "that", "which", "when", "if", "so", "than",
        "its", "it", "into", "over", "only", "because", "instead", "must", "should",
    ];
    while let Some((rest, last)) = slug.rsplit_once('-') {
        if !LEADING.contains(&last) {
            return;
        }
        slug.truncate(rest.len());
    }
}

fn is_reserved(slug: &str) -> bool {
    match slug {
        "con" | "prn" | "aux" | "nul" => true,
        _ => {
            let port = slug.strip_prefix("com").or_else(|| slug.strip_prefix("lpt"));
            port.is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
        }
    }
}

/// Computes the 32-bit FNV-1a hash, which is small and stable.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_are_ids() {
        let id: MemoryId = "20261115-use-sqlite".parse().unwrap();
        assert_eq!((id.date(), id.slug()), ("20261115", "use-sqlite"));
        for text in [
            "",
            "20261115",
            "20261115-",
            "2026-11-15-x",
            "20261115-X",
            "20261115-a--b",
            "../20261115-a",
        ] {
            assert!(text.parse::<MemoryId>().is_err(), "{text} passed");
        }
    }
}

#[cfg(test)]
mod slug_tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn titles_become_file_names() {
        let cases = [
            ("Use SQLite for the queue", "use-sqlite-for-the-queue"),
            (
                "A collab is started and joined by a short key and not by a document path",
                "a-collab-is-started-and-joined-by-a-short-key",
            ),
            ("使用 SQLite 存储", "shi-yong-sqlite-cun-chu"),
            ("Прощай, Redis", "proshchai-redis"),
            ("Don't panic; it’s fine", "dont-panic-its-fine"),
            ("Crème brûlée — naïve & Straße", "creme-brulee-naive-strasse"),
            ("camelCase stays, snake_case splits", "camelcase-stays-snake-case-splits"),
            ("  ../../etc/passwd  ", "etc-passwd"),
            ("C:\\Windows\\system32", "c-windows-system32"),
            ("v1.2.3 -- the `--fix` flag", "v1-2-3-the-fix-flag"),
            ("a\0b\u{202e}c\nd\u{2028}e", "a-bc-d-e"),
            ("Объём данных растёт", "obiom-dannykh-rastiot"),
            ("con", "con-memory"),
            ("NUL", "nul-memory"),
            ("Com1", "com1-memory"),
            ("lpt9", "lpt9-memory"),
            ("com10", "com10"),
            ("Conference", "conference"),
        ];
        for (title, expected) in cases {
            assert_eq!(slug(title), expected, "{title:?}");
        }
    }

    #[test]
    fn a_short_id_names_one_memory() {
        let all = [
            "20261114-keep-logs-for-a-year",
            "20261115-use",
            "20261115-use-sqlite",
            "20261115-use-sqlite-for-the-queue",
            "20261115-write-small-commits",
        ];
        let ids = ShortIds::new(all.map(str::to_owned).to_vec());
        let short = all.map(|id| ids.of(id));
        assert_eq!(
            short,
            [
                "20261114-keep",
                "20261115-use",
                "20261115-use-sqlite",
                "20261115-use-sqlite-for",
                "20261115-write",
            ]
        );
        for (short, id) in short.into_iter().zip(all) {
            let meant = |other: &&&str| **other == short || other.starts_with(short);
            let is_whole = short == id;
            assert!(is_whole || all.iter().filter(meant).count() == 1, "{short}");
        }
        assert_eq!(ids.of("20261116-unknown-to-us"), "20261116-unknown-to-us");
    }

    #[test]
    fn long_titles_end_with_a_whole_word() {
        let title = "word ".repeat(40);
        assert_eq!(slug(&title), ["word"; 12].join("-"));
        assert_eq!(slug(&"x".repeat(200)), "x".repeat(60));
        let fits = format!("{} {}", "a".repeat(30), "b".repeat(29));
        assert_eq!(slug(&fits).len(), 60);
        let too_long = format!("{} {}", "a".repeat(30), "b".repeat(30));
        assert_eq!(slug(&too_long), "a".repeat(30));
    }

    #[test]
    fn titles_without_letters_stay_apart() {
        assert_eq!(slug(""), "untitled-811c9dc5");
        assert_eq!(slug("a").len(), 1);
        assert_ne!(slug("!!!"), slug("???"));
        assert_ne!(slug("\u{e000}"), slug("\u{e001}"));
        assert!(slug("...").starts_with("untitled-"));
    }

    fn check(title: &str) -> Result<(), TestCaseError> {
        let slug = slug(title);
        prop_assert!(!slug.is_empty() && slug.len() <= MAX_SLUG_BYTES, "{slug}");
        for word in slug.split('-') {
            prop_assert!(!word.is_empty(), "{slug}");
            prop_assert!(word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit()));
        }
        prop_assert!(!slug.contains(['/', '\\', '.', ':', '\0']));
        prop_assert!(!is_reserved(&slug));
        prop_assert_eq!(super::slug(title), slug);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn every_title_gives_a_safe_name(title in any::<String>()) {
            check(&title)?;
        }

        #[test]
        fn every_slug_is_its_own_slug(title in "[a-zA-Z0-9 /\\\\.'-]{0,80}") {
            check(&title)?;
            let once = slug(&title);
            prop_assert_eq!(slug(&once), once);
        }
    }
}
