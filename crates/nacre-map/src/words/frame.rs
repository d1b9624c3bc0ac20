//! Words of a task that say little of the code that it is about.
//!
//! People put many words around a question, and few of those are common in code: without these lists they would count as rare.

/// Words that say what is done, not what it is done to.
const FILLERS: &[&str] = &[
    "a add added adding adds after all allow allows also an and any as at avoid be before bug",
    "but by can change changed changes chore ci cleanup correct do doc docs does enhance",
    "ensure feat feature fix fixed fixes fixing for from if improve improved improves in",
    "instead into is issue its made make makes more must no not of on only or per perf",
    "refactor refs should so some style support supports test tests than that the then there",
    "this to use used uses using via was were what when where which while who why will with",
    "without",
];

/// Words that say what is done where a task begins with them, and may be what it is about elsewhere.
const LEADING: &[&str] = &["remove removed removes removing update updated updates"];

/// Words that people put around a question.
const FRAME: &[&str] = &[
    "about actually again already although always another anybody anyone anything anyway are",
    "aren back basically because been being best better both cannot certain come comes could",
    "couldn currently decide decided decides did didn different doesn doing don done each",
    "either else even ever every everybody everyone everything exactly few get gets getting",
    "give given gives go goes going good got happen happened happening happens has have",
    "having he help her here his how however i idea inside isn it itself just kind know knows",
    "let lets like likely little long look looks lot many may maybe me mean means might mine",
    "much my need needed needs never nice nobody nothing now often okay once one ones other",
    "others our ours out over own part perhaps piece pieces place please possible properly",
    "quite rather really responsible right same say says see seem seems seen several she",
    "since somebody somehow someone something sometimes somewhere still such sure take taken",
    "takes tell tells thanks their them themselves these they thing things think those though",
    "through together told too try trying two until upon us usually very want wanted wants",
    "way ways we well went whenever wherever whether whole whom whose wish won work working",
    "works would wouldn wrong yet you your",
];

pub(super) fn is_filler(word: &str) -> bool {
    has(FILLERS, word)
}

pub(super) fn is_leading_verb(word: &str) -> bool {
    has(LEADING, word)
}

pub(super) fn is_frame(word: &str) -> bool {
    has(FRAME, word)
}

fn has(lines: &[&str], word: &str) -> bool {
    lines.iter().any(|line| line.split(' ').any(|other| other == word))
}
