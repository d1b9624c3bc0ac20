//! Tests for overlong conversations: the beginning is replaced by a summary, or omitted without
//! one.

use super::*;
use crate::lifecycle::steps::*;
use crate::lifecycle::{Conversation, Exchange, Item, Turn};
use crate::model::{Message, Speaker};

fn spec(context_tokens: usize) -> AgentSpec {
    let mut spec = chat();
    spec.sums_up = true;
    spec.budgets.context_tokens = context_tokens;
    spec
}

fn history(n_turns: usize) -> Conversation {
    let turn = |number: usize| {
        let text = format!("answer {number} {}", "a".repeat(600));
        let said = Message { speaker: Speaker::Assistant, ..Message::user(&text) };
        let asked = format!("question {number} {}", "q".repeat(600));
        Turn { steps: vec![Exchange::new(said)], ..Turn::new(&asked) }
    };
    Conversation { turns: (0..n_turns).map(turn).collect(), ..Conversation::default() }
}

const SUMMED_UP: &str = r#"
    [[turns]]
    expect = { n_messages = 1, system_contains = ["You sum up"], last_contains = ["question 0", "answer 0"] }
    say = "Goal: mend the parser. Decisions: keep the old names."
    [[turns]]
    expect = { last_contains = ["Do it."] }
    say = "Done."
"#;

#[tokio::test]
async fn the_beginning_is_summed_up_and_the_summary_is_saved() {
    let bench = Bench::new(SUMMED_UP);
    let spec = spec(4500);
    let outcome = bench.run_after(history(8), &spec, &RunControl::without_handle()).await;
    let played = bench.close(outcome);
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0));
    assert_eq!(played.outcome.text, "Done.", "the summary is not the answer");
    let summary = played.outcome.conversation.summary.clone().unwrap();
    assert!(summary.text.contains("keep the old names") && summary.n_turns > 2, "{summary:?}");
    assert!(played.names().iter().any(|name| name == "context.summary"));
    let deltas = played.names().iter().filter(|name| **name == "model.delta").count();
    assert_eq!(deltas, 1, "nobody is shown the summary word by word");
    // Appending the saved items to the full history produces the same conversation.
    let mut items = history(8).to_items();
    items.extend(bench.saved());
    assert_eq!(Conversation::from_items(items), played.outcome.conversation);
    let first = played.outcome.conversation.messages().remove(0).text();
    assert!(first.contains("keep the old names") && !first.contains("question 0"));
}

#[tokio::test]
async fn without_a_summary_the_oldest_is_left_out() {
    for (says, expected) in [("error = { kind = 'refused' }", 2), ("say = '  '", 2)] {
        let script = format!(
            "[[turns]]\n{says}\n[[turns]]\nexpect = {{ last_contains = ['Do it.'] }}\nsay = 'Done.'"
        );
        let bench = Bench::new(&script);
        let spec = spec(4500);
        let outcome = bench.run_after(history(8), &spec, &RunControl::without_handle()).await;
        let played = bench.close(outcome);
        assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0), "{says}");
        assert_eq!(played.outcome.facts.model_calls, expected);
        assert_eq!(played.outcome.conversation.summary, None);
        assert!(played.outcome.conversation.turns_left_out > 0);
        assert!(played.names().iter().any(|name| name == "notice"));
    }
}

#[tokio::test]
async fn the_steps_of_a_long_turn_are_summed_up_too_and_changed_files_are_named() {
    let call = |n: usize| {
        let word = format!("{n}{}", "w".repeat(900));
        format!(
            "[[turns]]\ncalls = [{{ name = 'echo', arguments = {{ word = '{word}' }} }}, \
             {{ name = 'file_edit', arguments = {{ path = 'src/file{n}.rs' }} }}]\n"
        )
    };
    let script = format!(
        "{}{}{}[[turns]]\nexpect = {{ system_contains = ['You sum up'], last_contains = ['Do it.', 'Call of echo'] }}\n\
         say = 'Files: src/file0.rs'\n[[turns]]\nsay = 'Done.'",
        call(0),
        call(1),
        call(2)
    );
    let bench = Bench::new(&script);
    let outcome = bench.run(&spec(3143), &RunControl::without_handle()).await;
    let played = bench.close(outcome);
    let plans: Vec<&Event> = played
        .records
        .iter()
        .map(|record| &record.event)
        .filter(|event| matches!(event, Event::ContextPlan { .. }))
        .collect();
    assert_eq!((played.state().as_str(), played.left), ("completed(done)", 0), "{plans:?}");
    let summary = played.outcome.conversation.summary.clone().unwrap();
    assert_eq!(summary.n_turns, 0);
    assert!(summary.n_steps >= 1, "{summary:?}");
    assert!(summary.text.starts_with("Files: src/file0.rs"), "{summary:?}");
    assert!(!summary.text.contains("worked on: src/file0.rs"), "it is named already");
    let n_summaries = bench.saved().iter().filter(|item| matches!(item, Item::Summary(_))).count();
    assert_eq!(n_summaries, 1);
    assert_eq!(Conversation::from_items(bench.saved()), played.outcome.conversation);
}

#[tokio::test]
async fn the_window_is_what_the_settings_say() {
    let script = "[[turns]]\nsay = 'Done.'";
    for (set, is_cut) in [(None, true), (Some(100_000), false), (Some(2500), true)] {
        let bench = Bench::new(script).with_window(set);
        let mut small = chat();
        small.budgets.context_tokens = 4500;
        let outcome = bench.run_after(history(8), &small, &RunControl::without_handle()).await;
        let played = bench.close(outcome);
        assert_eq!(played.state(), "completed(done)");
        let left_out = played.outcome.conversation.turns_left_out;
        assert_eq!(left_out != 0, is_cut, "{set:?}: {left_out}");
    }
}
