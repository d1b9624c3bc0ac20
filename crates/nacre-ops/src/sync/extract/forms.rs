//! Recognizes statements that outlive the task, by their form: a practice ("we use slog"), a ban, a
//! norm with a generic subject, an owner, a new name, a corrected fact. Lists of phrases would not
//! cover what people say.

use std::sync::LazyLock;

use nacre_memory::{Claim, LearningKind};
use regex::Regex;

use super::cues::pattern;
use super::requests::{Request, tags, without_leads};

struct Form {
    kind: LearningKind,
    /// Whether the form is always sure (`sure`), or for the topics of the work (`topic`).
    sure: &'static str,
    pattern: Regex,
}

const FORMS: &str = include_str!("statement_forms.txt");

static COMPILED: LazyLock<Vec<Form>> = LazyLock::new(|| FORMS.lines().filter_map(form).collect());

fn form(line: &'static str) -> Option<Form> {
    let (kind, rest) = line.split_once(' ')?;
    let (sure, text) = rest.split_once(' ')?;
    Some(Form { kind: LearningKind::from_name(kind)?, sure, pattern: pattern(text) })
}

impl Form {
    fn matches(&self, clause: &str) -> bool {
        let Some(found) = self.pattern.captures(clause) else { return false };
        let excluded = FORMS.lines().filter_map(|line| line.split_once(" not "));
        excluded.filter_map(|(name, words)| Some((found.name(name)?.as_str(), words))).all(
            |(group, words)| {
                let first = group.split([' ', ',', '.', ';', ':']).next().unwrap_or_default();
                first.is_empty() || !words.split(' ').any(|word| word == first)
            },
        )
    }
}

/// Compiles the pattern with this name.
pub(super) fn named(name: &str) -> Regex {
    let text = |line: &'static str| line.strip_prefix(name)?.strip_prefix(": ");
    pattern(FORMS.lines().find_map(text).unwrap_or("$^"))
}

static LASTING: LazyLock<Regex> = LazyLock::new(|| named("lasting"));
static HEDGED: LazyLock<Regex> = LazyLock::new(|| named("hedged"));
static FAULT: LazyLock<Regex> = LazyLock::new(|| named("fault"));
static CLAUSE_MARK: LazyLock<Regex> = LazyLock::new(|| named("clause"));

/// Returns the statement that a sentence makes. The sentence must not be a question.
pub(super) fn statement(folded: &str) -> Option<Request> {
    let is_on_topic = !tags(folded).is_empty();
    let of_clause = |at: usize| {
        let clause = without_leads(&folded[at..]).trim_end_matches(['.', '!', ' ']);
        let Form { kind, sure, .. } = COMPILED.iter().find(|form| form.matches(clause))?;
        let is_report = *kind == LearningKind::Context && FAULT.is_match(folded);
        let is_sure = *sure == "sure" || (*sure == "topic" && is_on_topic);
        let claim = Claim::Learning(*kind);
        let n_before = folded[..at].chars().count();
        (!is_report).then_some(Request { claim, is_outright: false, is_sure, n_before })
    };
    let starts = CLAUSE_MARK.find_iter(folded).map(|mark| mark.end());
    let found: Vec<Request> = std::iter::once(0).chain(starts).filter_map(of_clause).collect();
    let best = found.iter().find(|one| one.is_sure).or(found.first())?;
    Some(Request {
        is_sure: (best.is_sure || is_lasting(folded)) && !HEDGED.is_match(folded),
        ..*best
    })
}

pub(super) fn is_lasting(folded: &str) -> bool {
    LASTING.is_match(folded)
}
