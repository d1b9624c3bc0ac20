//! Tests that limits are checked before a request is sent and that each response is counted exactly
//! once.

use super::*;
use crate::model::conversation::Response;
use crate::model::retry::{Control, RetryPolicy, generate};
use crate::model::roles::{ModelSettings, Models, RoleSettings};
use crate::model::scripted::Scripted;
use crate::model::{Cancel, Limits};

const ROLE: Role = Role::Extract;

fn control() -> Control {
    let policy = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    Control { policy, limits: Limits::default(), seed: 1, cancel: Cancel::new() }
}

fn models(script: &str) -> Models {
    Models::new(ModelSettings {
        default: Some(RoleSettings::of_model(ModelRef::for_script())),
        script: Some(Arc::new(Scripted::parse(script).unwrap())),
        ..ModelSettings::default()
    })
}

/// Charges a dollar per million input or output tokens.
fn cost(usage: &Usage, _: &ModelRef) -> Option<Cost> {
    usage.reported.or(Some(Cost::from_nano_dollars(
        usage.input.saturating_add(usage.output).saturating_mul(1000),
    )))
}

fn allowance(scope: LimitScope, tokens: u64, nano: u64) -> Allowance {
    let limit = Amount { tokens, cost: Cost::from_nano_dollars(nano) };
    Allowance { scope, limit, used: Amount::default() }
}

async fn ask(models: &Models, question: &str) -> Result<Response, ModelError> {
    let route = models.route(ROLE).unwrap();
    generate(&route, &Request::new(ROLE, "", question), &control(), &mut |_| {}).await
}

const SIX_HUNDRED: &str = "[[turns]]\nsay = 'x'\nusage = { input = 500, output = 100 }\n";

#[tokio::test]
async fn a_limit_stops_the_next_question_and_says_which_setting_it_is() {
    for (allowance, key, said) in [
        (
            allowance(LimitScope::Session, 600, u64::MAX),
            "limits.session_tokens",
            "the session's limit of 600 tokens is reached (600 used)",
        ),
        (
            allowance(LimitScope::Day, u64::MAX, 600_000),
            "limits.day_usd",
            "the day's limit of $0.000600 is reached ($0.000600 spent)",
        ),
        (
            allowance(LimitScope::Project, 0, u64::MAX),
            "limits.project_tokens",
            "the project's limit of 0 tokens is reached (0 used)",
        ),
    ] {
        let budget = Arc::new(SpendingBudget::new(vec![allowance], cost, |_| Ok(())));
        let models = models(&SIX_HUNDRED.repeat(2)).paid_from(&budget);
        if allowance.limit.tokens > 0 {
            ask(&models, "who?").await.unwrap();
        }
        let error = ask(&models, "who else?").await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::OverLimit);
        assert_eq!(error.said.unwrap().as_str(), said);
        assert_eq!(budget.limit_reached().unwrap().key(), key);
    }
}

#[tokio::test]
async fn a_question_that_would_not_fit_is_not_asked_at_all() {
    let budget =
        SpendingBudget::new(vec![allowance(LimitScope::Day, 100, u64::MAX)], cost, |_| Ok(()));
    let budget = Arc::new(budget);
    let models = models(SIX_HUNDRED).paid_from(&budget);
    assert!(ask(&models, &"long ".repeat(100)).await.is_err());
    assert_eq!(budget.totals().calls, 0);
    ask(&models, "short").await.unwrap();
    assert_eq!(budget.totals().calls, 1);
}

#[tokio::test]
async fn every_answer_is_kept_and_one_without_numbers_is_counted_by_its_length() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&kept);
    let budget = Arc::new(SpendingBudget::new(Vec::new(), Usage::cost, move |spent: &Spent| {
        sink.lock().unwrap().push(spent.clone());
        Ok(())
    }));
    let script = format!(
        "{SIX_HUNDRED}[[turns]]\nsay = 'twelve bytes'\n[[turns]]\nerror = {{ kind = 'quota' }}\n"
    );
    let models = models(&script).paid_from(&budget);
    ask(&models, "who?").await.unwrap();
    ask(&models, "eight by").await.unwrap();
    assert!(ask(&models, "again").await.is_err());
    let told: Vec<u64> = kept.lock().unwrap().iter().map(|spent| spent.usage.total()).collect();
    assert_eq!(told, [600, 5]);
    let totals = budget.totals();
    assert_eq!((totals.calls, totals.usage.input, totals.unpriced_calls), (2, 502, 0));
}

#[tokio::test]
async fn what_cannot_be_written_down_is_not_spent_again() {
    let budget = SpendingBudget::new(Vec::new(), cost, |_| Err("the disk is full".to_owned()));
    let budget = Arc::new(budget);
    let models = models(&SIX_HUNDRED.repeat(2)).paid_from(&budget);
    ask(&models, "who?").await.unwrap();
    let error = ask(&models, "who else?").await.unwrap_err();
    assert_eq!(error.said.unwrap().as_str(), "cannot save the amount spent: the disk is full");
}

#[tokio::test]
async fn questions_side_by_side_cannot_both_take_the_last_of_it() {
    let budget =
        SpendingBudget::new(vec![allowance(LimitScope::Day, 150, u64::MAX)], cost, |_| Ok(()));
    let budget = Arc::new(budget);
    let models = models("[[turns]]\nhang = true\n[[turns]]\nsay = 'x'\n").paid_from(&budget);
    let question = "long ".repeat(80);
    {
        let mut first = std::pin::pin!(ask(&models, &question));
        tokio::select! {
            biased;
            _ = &mut first => panic!("it hangs"),
            () = tokio::task::yield_now() => {}
        }
        assert!(ask(&models, &question).await.is_err());
    }
    ask(&models, &question).await.unwrap();
}

#[test]
fn a_claim_below_what_texts_take_is_counted_by_their_length_and_none_overflows() {
    let told = |input, cache_read, output| Usage { input, cache_read, output, ..Usage::default() };
    let tokens = |told| {
        let usage = estimate_usage(told, 8_000, 1_600);
        (usage.input, usage.cache_read, usage.output)
    };
    assert_eq!(tokens(told(0, 0, 0)), (2_000, 0, 400), "nothing told");
    assert_eq!(tokens(told(1, 0, 1)), (500, 0, 100), "one token for a page");
    assert_eq!(tokens(told(0, 0, 300)), (500, 0, 300));
    assert_eq!(tokens(told(500, 1_500, 350)), (500, 1_500, 350), "what can be is believed");
    let most = told(u64::MAX, u64::MAX, u64::MAX);
    assert_eq!(estimate_usage(most, 8_000, 1_600), most);
    let free = Usage { reported: Some(Cost::default()), ..told(1, 0, 1) };
    assert_eq!(estimate_usage(free, 8_000, 0).reported, None, "nor is its price");
    let silent = Usage { reported: Some(Cost::default()), ..told(0, 0, 0) };
    assert_eq!(estimate_usage(silent, 8_000, 0).reported, None, "what tells nothing is not free");
}

#[tokio::test]
async fn a_server_that_claims_a_token_an_answer_does_not_get_past_a_limit() {
    let budget =
        SpendingBudget::new(vec![allowance(LimitScope::Day, 500, u64::MAX)], cost, |_| Ok(()));
    let budget = Arc::new(budget);
    let turn =
        format!("[[turns]]\nsay = '{}'\nusage = {{ input = 1, output = 0 }}\n", "x".repeat(1_600));
    let models = models(&turn.repeat(9)).paid_from(&budget);
    let mut n_answers = 0;
    while n_answers < 9 && ask(&models, "who?").await.is_ok() {
        n_answers += 1;
    }
    assert_eq!(n_answers, 5);
}

#[tokio::test]
async fn claims_without_bounds_reach_the_limit_and_stay_there() {
    let budget =
        SpendingBudget::new(vec![allowance(LimitScope::Day, 500, u64::MAX)], cost, |_| Ok(()));
    let budget = Arc::new(budget);
    let turn = "[[turns]]\nsay = 'x'\nusage = { input = 9223372036854775807, output = 9223372036854775807 }\n";
    let models = models(&turn.repeat(2)).paid_from(&budget);
    ask(&models, "who?").await.unwrap();
    assert!(ask(&models, "who?").await.is_err());
    assert_eq!(budget.totals().calls, 1);
}
