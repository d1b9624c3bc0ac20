//! Summarizes the measurements of one repository.

use nacre_map::slices::tokens;

use super::baseline::Texts;
use super::report::{
    BenchLatency, BenchQuestion, BenchedLocalisation, BenchedQuestion, BenchedRepo, TokenCost,
};

pub(super) type Localisation = Result<BenchedLocalisation, String>;

pub(super) struct Measured {
    pub(super) files: usize,
    pub(super) changed_ratio: f64,
    pub(super) hit_ratio: f64,
    pub(super) latency_ms: BenchLatency,
    pub(super) session: TokenCost,
    pub(super) questions: Vec<BenchedQuestion>,
    pub(super) localisation: Option<Localisation>,
}

impl Measured {
    pub(super) fn report(self, repo: &str) -> BenchedRepo {
        let Self { files, changed_ratio, hit_ratio, latency_ms, session, questions, localisation } =
            self;
        let (localisation, no_localisation) = match localisation {
            Some(Ok(measured)) => (Some(measured), None),
            Some(Err(reason)) => (None, Some(reason)),
            None => (None, None),
        };
        let answered = || questions.iter().filter(|one| one.is_answered);
        BenchedRepo {
            repo: repo.to_owned(),
            files,
            changed_ratio,
            hit_ratio,
            latency_ms,
            session,
            answered: answered().count(),
            reduction_answered: reduction(sum(answered().map(|one| one.cost))),
            reduction: reduction(sum(questions.iter().map(|one| one.cost).chain([session]))),
            cost_more: questions.iter().filter(|one| one.cost.is_more()).count(),
            questions,
            localisation,
            no_localisation,
        }
    }
}

/// Compares the cost of a question with and without the map. If the context lacks the answer, the
/// cost with the map includes the cost without it.
pub(super) fn judge(question: &BenchQuestion, answer: &str, texts: &Texts) -> BenchedQuestion {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let is_answered =
        answer.contains(&question.path) && bare(answer).contains(&bare(&question.contains));
    let without = tokens(&texts.answer(question).text);
    let own = tokens(answer);
    let with = if is_answered { own } else { own + without };
    BenchedQuestion {
        question: question.question.clone(),
        path: question.path.clone(),
        is_answered,
        cost: TokenCost { without, with },
    }
}

fn sum(costs: impl Iterator<Item = TokenCost>) -> TokenCost {
    costs.fold(TokenCost::default(), |sum, cost| TokenCost {
        without: sum.without + cost.without,
        with: sum.with + cost.with,
    })
}

/// Returns the share of tokens saved. It is negative if the map cost more.
fn reduction(cost: TokenCost) -> f64 {
    if cost.without == 0 { 0.0 } else { 1.0 - share(cost.with, cost.without) }
}

pub(super) fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}
