//! Finds words related to those in a question: forms and synonyms. Also lists filler words.
//!
//! Only word hashes are stored, so all possible forms are generated; forms that do not occur match
//! nothing. The synonyms are handwritten, because word vectors do not cover abbreviations such as
//! `img` for `picture`.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::split::stem;
use nacre_base::text::is_listed;

/// Endings that form words from the same root, besides those that [`stem`] removes, most common
/// first.
const ENDINGS: &[&str] = &[
    "ion", "ation", "or", "ment", "able", "ence", "y", "al", "ance", "ency", "ent", "ant", "ible",
    "ive", "ity", "ness", "ly", "tion", "ization", "izer", "ize", "ic", "ical",
];

const N_USUAL: usize = 7;

/// Minimum length of a root. Too many words would contain a shorter root.
const MIN_ROOT_BYTES: usize = 4;

/// Returns other common forms of a word.
pub(super) fn forms(word: &str) -> impl Iterator<Item = String> {
    let root = root(word);
    let endings = if MIN_ROOT_BYTES <= root.len() { &ENDINGS[..N_USUAL] } else { &[] };
    endings.iter().map(move |ending| format!("{root}{ending}"))
}

/// Returns all other forms of a word, including those of its root: for `deletion`, the forms of
/// `delete`.
pub(super) fn all_forms(word: &str) -> Vec<String> {
    let root = root(word);
    let shorter = ENDINGS.iter().filter_map(|ending| root.strip_suffix(ending));
    let roots = std::iter::once(root.as_str()).chain(shorter);
    let mut forms: Vec<String> = Vec::new();
    for root in roots.filter(|root| MIN_ROOT_BYTES <= root.len()) {
        forms.push(root.to_owned());
        forms.extend(ENDINGS.iter().map(|ending| format!("{root}{ending}")));
    }
    forms
}

fn root(word: &str) -> String {
    String::from_utf8_lossy(stem(word.as_bytes())).into_owned()
}

/// Words that describe what to do rather than what the task is about.
const FILLERS: &str = "a add added adding adds after all allow allows also an and any as at avoid be before bug but \
    by can change changed changes chore ci cleanup correct do doc docs does enhance ensure feat \
    feature fix fixed fixes fixing for from if improve improved improves in instead into is \
    issue its made make makes more must no not of on only or per perf refactor refs should so \
    some style support supports test tests than that the then there this to use used uses using \
    via was were what when where which while who why will with without";

/// Words that describe an action at the start of a task but may be its subject elsewhere.
const LEADING: &str = "remove removed removes removing update updated updates";

/// Words that are common in questions but rare in code; without this list, they would count as
/// specific.
const FRAME: &str = "about actually again already although always another anybody anyone anything anyway are aren \
    back basically because been being best better both cannot certain come comes could couldn \
    currently decide decided decides did didn different doesn doing don done each either else \
    even ever every everybody everyone everything exactly few get gets getting give given gives \
    go goes going good got happen happened happening happens has have having he help her here \
    his how however i idea inside isn it itself just kind know knows let lets like likely little \
    long look looks lot many may maybe me mean means might mine much my need needed needs never \
    nice nobody nothing now often okay once one ones other others our ours out over own part \
    perhaps piece pieces place please possible properly quite rather really responsible right \
    same say says see seem seems seen several she since somebody somehow someone something \
    sometimes somewhere still such sure take taken takes tell tells thanks their them themselves \
    these they thing things think those though through together told too try trying two until \
    upon us usually very want wanted wants way ways we well went whenever wherever whether whole \
    whom whose wish won work working works would wouldn wrong yet you your";

pub(super) fn is_filler(word: &str) -> bool {
    is_listed(FILLERS, word)
}

pub(super) fn is_leading_verb(word: &str) -> bool {
    is_listed(LEADING, word)
}

pub(super) fn is_frame(word: &str) -> bool {
    is_listed(FRAME, word)
}

/// Maps each word's stem to the synonym lines that contain the word. A phrase is indexed only by
/// its first word.
static LINES: LazyLock<HashMap<&[u8], Vec<&str>, RandomState>> = LazyLock::new(|| {
    let mut lines: HashMap<&[u8], Vec<&str>, RandomState> = HashMap::default();
    for (text, n_leading) in
        [(include_str!("synonyms.txt"), usize::MAX), (include_str!("phrases.txt"), 1)]
    {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            for word in line.split(' ').take(n_leading) {
                lines.entry(stem(word.as_bytes())).or_default().push(line);
            }
        }
    }
    lines
});

/// Returns the synonyms of words with this stem. May contain duplicates.
pub(super) fn synonyms(stem: &str) -> impl Iterator<Item = &'static str> {
    let lines = LINES.get(stem.as_bytes()).map(Vec::as_slice).unwrap_or_default();
    lines.iter().flat_map(|line| line.split(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_word_once_and_several_of_them() {
        let texts = [include_str!("synonyms.txt"), include_str!("phrases.txt")];
        for line in texts.iter().flat_map(|text| text.lines()).filter(|one| !one.starts_with('#')) {
            let stems: Vec<&[u8]> = line.split(' ').map(|word| stem(word.as_bytes())).collect();
            let distinct: std::collections::BTreeSet<&&[u8]> = stems.iter().collect();
            assert!(1 < stems.len() && distinct.len() == stems.len(), "{line}");
        }
    }

    #[test]
    fn plain_words_stand_for_those_of_the_code() {
        let cases = [("folder", "directory"), ("pictures", "img"), ("deleting", "remove")];
        for (word, expected) in cases {
            let stem = String::from_utf8_lossy(stem(word.as_bytes()));
            assert!(synonyms(&stem).any(|other| other == expected), "{word}");
        }
        assert_eq!(synonyms("qwertz").count(), 0);
        assert!(synonyms("giveup").any(|other| other == "abort"));
        assert!(!synonyms("abort").any(|other| other == "giveup"));
    }

    #[test]
    fn forms_share_a_root() {
        let cases = [
            ("delete", "deletion"),
            ("deletion", "delet"),
            ("validators", "validation"),
            ("configuration", "configur"),
            ("depend", "dependent"),
            ("serialize", "serialization"),
        ];
        for (word, expected) in cases {
            assert!(all_forms(word).iter().any(|form| form == expected), "{word}");
        }
        assert!(all_forms("io").is_empty());
    }
}
