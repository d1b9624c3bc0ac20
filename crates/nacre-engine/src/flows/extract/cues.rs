//! The words by which people correct, refuse, decide and generalise: one table, found in one pass.
//!
//! A cue alone proves nothing: `judge` asks where it stands and what stands around it. Languages share the table,
//! because people mix them.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// What a phrase may signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Cue {
    /// Asks for something to be remembered.
    Remember,
    /// Speaks of remembering otherwise.
    NotRemember,
    /// Makes a rule of it, where it is said to someone.
    Always,
    /// A rule by when it applies.
    EveryTime,
    /// Tells someone not to.
    Dont,
    /// Begins like a refusal and is none.
    Idiom,
    /// Says it was said before.
    Told,
    Prefer,
    /// Wants; a request, unless it says what not.
    Want,
    /// Says what is not wanted.
    Unwanted,
    /// Takes one of several.
    Decide,
    Instead,
    Reason,
    Must,
    You,
    Only,
    /// Speaks of the project or the team.
    Ours,
    /// Names part of the world around the project.
    World,
    Machine,
    Place,
    Worked,
    /// Holds for a moment only.
    Passing,
    /// Takes back what was said before.
    Revoke,
    /// Goes from one way to another.
    Switch,
    Negation,
}

const TABLE: &[(Cue, &[&str])] = &[
    (
        Cue::Remember,
        &[
            "remember that",
            "remember to",
            "remember:",
            "remember,",
            "please remember",
            "keep in mind",
            "bear in mind",
            "make a note that",
            "for the record",
            "don't forget that",
            "from now on",
            "from here on",
            "merk dir",
            "ab jetzt",
            "ab sofort",
            "in zukunft",
            "denk daran",
            "à partir de maintenant",
            "désormais",
            "a partir de ahora",
            "recuerda que",
            "de agora em diante",
            "以后",
            "记住",
            "今后",
            "下次",
        ],
    ),
    (
        Cue::NotRemember,
        &[
            "do you remember",
            "can't remember",
            "don't remember",
            "i remember",
            "remember me",
            "remember when",
            "if i remember",
            "you remember",
        ],
    ),
    (
        Cue::Always,
        &[
            "always",
            "never",
            "under no circumstances",
            "as a rule",
            "going forward",
            "next time",
            "künftig",
            "immer",
            "nie",
            "niemals",
            "grundsätzlich",
            "toujours",
            "jamais",
            "siempre",
            "nunca",
            "sempre",
            "总是",
            "永远",
            "一律",
            "统一",
            "必须",
        ],
    ),
    (
        Cue::EveryTime,
        &[
            "every time",
            "each time",
            "whenever",
            "after every",
            "before every",
            "after each",
            "before each",
            "every commit",
            "every change",
            "as you go",
            "as each",
            "on the go",
            "along the way",
            "before you",
            "once after",
            "jedes mal",
            "bei jedem",
            "每次",
        ],
    ),
    (
        Cue::Dont,
        &[
            "don't",
            "dont",
            "do not",
            "stop",
            "avoid",
            "must not",
            "never",
            "bitte nicht",
            "bitte kein",
            "ne pas",
            "不要",
            "不能",
            "不需要",
            "没有必要",
            "不用",
            "别用",
        ],
    ),
    (
        Cue::Idiom,
        &[
            "don't worry",
            "don't know",
            "don't think",
            "don't see",
            "don't understand",
            "don't have",
            "don't mind",
            "don't get",
            "don't care",
            "don't believe",
            "don't need",
            "do not need",
            "do not see",
            "do not know",
            "do not have",
            "don't remember",
            "don't bother",
            "stop the",
            "stop here",
            "stop if",
            "stop when",
            "don't you",
            "don't we",
            "don't forget",
            "don't like it",
            "don't like that",
            "don't like this",
            "don't want it",
            "don't want that",
            "don't want this",
            "don't do that",
            "don't do it",
            "don't do this",
        ],
    ),
    (
        Cue::Told,
        &[
            "i told you",
            "i've told you",
            "i already told",
            "as i said",
            "how many times",
            "you keep",
            "i suspect you",
            "i've noticed you",
            "i noticed you",
            "you always",
            "ich habe gesagt",
            "我说过",
        ],
    ),
    (
        Cue::Prefer,
        &[
            "i prefer",
            "i'd prefer",
            "i would prefer",
            "we prefer",
            "i'd rather",
            "i would rather",
            "we'd rather",
            "lieber",
            "ich bevorzuge",
            "prefiero",
            "je préfère",
            "我更喜欢",
            "我希望",
        ],
    ),
    (Cue::Want, &["i want", "we want", "i'd like", "ich will", "ich möchte"]),
    (
        Cue::Unwanted,
        &[
            "i don't want",
            "we don't want",
            "i do not want",
            "we explicitly don't want",
            "i don't like that",
            "i don't like having",
            "i don't like when",
            "i don't like how",
        ],
    ),
    (
        Cue::Decide,
        &[
            "let's use",
            "lets use",
            "let's go with",
            "lets go with",
            "let's stick",
            "lets stick",
            "let's stay",
            "let's keep",
            "let's switch",
            "lets switch",
            "let's drop",
            "let's not",
            "we decided",
            "i decided",
            "i've decided",
            "we'll use",
            "we will use",
            "we'll go with",
            "i'd go with",
            "we should stick",
            "we should use",
            "we should keep",
            "stick with",
            "stay with",
            "stick to",
            "go with",
            "we go with",
            "wir nehmen",
            "wir bleiben bei",
            "usemos",
            "我们用",
            "就用",
        ],
    ),
    (
        Cue::Instead,
        &["instead of", "rather than", "anstatt", "statt", "en lugar de", "au lieu de", "而不是"],
    ),
    (
        Cue::Reason,
        &[
            "because",
            "since",
            "so that",
            "otherwise",
            "due to",
            "as it",
            "as we",
            "the reason",
            "that's why",
            "weil",
            "damit",
            "denn",
            "sonst",
            "parce que",
            "porque",
            "因为",
            "否则",
        ],
    ),
    (Cue::Must, &["must", "have to", "has to", "muss", "müssen", "应该"]),
    (
        Cue::You,
        &["you have to", "you must", "you need to", "you should", "you can only", "you may only"],
    ),
    (Cue::Only, &["only"]),
    (
        Cue::Ours,
        &[
            "we",
            "our",
            "us",
            "in this repo",
            "in this project",
            "in this codebase",
            "here",
            "this project",
            "this repo",
            "the team",
            "wir",
            "unser",
            "unsere",
            "bei uns",
            "nous",
            "notre",
            "我们",
            "项目",
        ],
    ),
    (
        Cue::World,
        &[
            "customer",
            "customers",
            "customer's",
            "client's",
            "legal",
            "compliance",
            "vpn",
            "network",
            "licensed",
            "licence",
            "license",
            "beta",
            "maintainers",
            "dba",
            "platform team",
            "ops team",
            "security team",
            "warehouse",
            "production",
            "staging",
            "auditors",
            "regulator",
            "vendor",
            "backend",
            "upstream",
            "deadline",
        ],
    ),
    (
        Cue::Machine,
        &[
            "i'm on ubuntu",
            "i'm on macos",
            "i'm on a mac",
            "i'm on windows",
            "i'm on linux",
            "i'm on wsl",
            "i'm on fedora",
            "i'm on debian",
            "i'm on arch",
            "i'm on nixos",
            "i am on ubuntu",
            "i am on windows",
            "i am on linux",
            "i am on macos",
        ],
    ),
    (
        Cue::Place,
        &[
            "lives in",
            "lives at",
            "is in ../",
            "are in ../",
            "is checked out",
            "is at ../",
            "is in ~/",
            "is where",
            "should live in",
        ],
    ),
    (
        Cue::Worked,
        &[
            "this worked:",
            "this works:",
            "that worked:",
            "what worked:",
            "worked with:",
            "it works with",
            "works when i",
        ],
    ),
    (
        Cue::Passing,
        &[
            "for now",
            "this time",
            "right now",
            "just this once",
            "temporarily",
            "for the moment",
            "at the moment",
            "not yet",
            "in this pr",
            "in this branch",
            "this pr",
            "this branch",
            "this commit",
            "the current run",
            "today",
            "tomorrow",
            "vorerst",
            "erstmal",
            "暂时",
            "先不",
        ],
    ),
    (
        Cue::Revoke,
        &[
            "scrap that",
            "never mind",
            "nevermind",
            "forget that",
            "forget it",
            "forget what i said",
            "on second thought",
            "actually no",
            "changed my mind",
            "change of plan",
            "change in plan",
            "undo that",
            "vergiss es",
            "doch nicht",
            "算了",
        ],
    ),
    (
        Cue::Switch,
        &[
            "instead",
            "after all",
            "rather",
            "switch to",
            "switch back",
            "go back to",
            "back to",
            "actually",
            "let's go with",
            "lieber",
            "doch",
        ],
    ),
    (Cue::Negation, &["not", "no", "without", "none", "kein", "keine", "nicht", "at all", "不"]),
];

static AUTOMATON: LazyLock<(Option<AhoCorasick>, Vec<Cue>)> = LazyLock::new(|| {
    let rows = || {
        TABLE.iter().flat_map(|(cue, phrases)| phrases.iter().map(move |phrase| (*cue, *phrase)))
    };
    // Patterns of this size cannot fail to build; without an automaton no cue would be found, which a test shows.
    (AhoCorasick::new(rows().map(|(_, phrase)| phrase)).ok(), rows().map(|(cue, _)| cue).collect())
});

/// A cue in a text, by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundCue {
    pub(super) cue: Cue,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The cues of a folded text, in the order of their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Cues(Vec<FoundCue>);

impl Cues {
    pub(super) fn of(folded: &str) -> Self {
        let (Some(automaton), cues) = &*AUTOMATON else { return Self::default() };
        let whole = |found: &FoundCue| is_whole(folded, found.start, found.end);
        let found = automaton.find_overlapping_iter(folded).map(|found| FoundCue {
            cue: cues[found.pattern().as_usize()],
            start: found.start(),
            end: found.end(),
        });
        Self(found.filter(whole).collect())
    }

    pub(super) fn has(&self, cue: Cue) -> bool {
        self.first(cue).is_some()
    }

    pub(super) fn first(&self, cue: Cue) -> Option<FoundCue> {
        self.each(cue).next()
    }

    pub(super) fn each(&self, cue: Cue) -> impl Iterator<Item = FoundCue> + '_ {
        self.0.iter().copied().filter(move |found| found.cue == cue)
    }
}

/// Whether a find is whole words; scripts without spaces have no edges to look at.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_wordy = |c: char| c.is_ascii_alphanumeric() || c == '\'' || c == '_' || c == '-';
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let phrase = &text[start..end];
    let starts_wordy = phrase.starts_with(is_wordy);
    let ends_wordy = phrase.ends_with(is_wordy);
    !(starts_wordy && before.is_some_and(is_wordy) || ends_wordy && after.is_some_and(is_wordy))
}

/// A text for comparison: lower case, plain apostrophes.
pub(super) fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            '’' | '‘' | '`' => '\'',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cue_is_whole_words() {
        let has = |text: &str, cue: Cue| Cues::of(&fold(text)).has(cue);
        assert!(has("We ALWAYS do", Cue::Always));
        assert!(has("don’t do it", Cue::Dont));
        assert!(has("你不要用 npm", Cue::Dont));
        assert!(!has("nevertheless", Cue::Always));
        assert!(!has("stopwatch", Cue::Dont));
        assert!(!has("https://a.b/remember-me", Cue::Remember));
    }

    #[test]
    fn every_phrase_is_folded() {
        for (_, phrases) in TABLE {
            for phrase in *phrases {
                assert_eq!(fold(phrase), *phrase);
            }
        }
    }
}
