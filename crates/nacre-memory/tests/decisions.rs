//! Tests the decision policy on labeled pairs that were not used to fit it.
//!
//! Each line of the fixture contains a memory, a statement from a later session, and the relation
//! between them. Topics with even numbers are for fitting (`nacre-lab fit policy`), those with odd
//! numbers for this test.

use std::collections::BTreeMap;

use nacre_memory::search::Builtin;
use nacre_memory::{Judgement, Likeness, Profile, judge};
use serde::Deserialize;

const PAIRS: &str = include_str!("fixtures/decisions.jsonl");

#[derive(Deserialize)]
struct Pair {
    topic: u64,
    label: String,
    memory: Claim,
    candidate: Claim,
}

#[derive(Deserialize)]
struct Claim {
    title: String,
    body: String,
}

fn judge_pair(pair: &Pair) -> Judgement {
    let whole = |claim: &Claim| format!("{}\n{}", claim.title, claim.body);
    let (candidate, memory) = (whole(&pair.candidate), whole(&pair.memory));
    let texts = [&*pair.candidate.title, &*pair.memory.title, &*candidate, &*memory];
    let vectors = texts.map(|text| Builtin::shipped().embed(text));
    let cosine = |a: usize, b: usize| {
        vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
    };
    let likeness = Likeness { whole: cosine(2, 3), titles: cosine(0, 1) };
    let profile = |claim: &Claim| Profile::of(&claim.title, &claim.body);
    judge(&profile(&pair.candidate), &profile(&pair.memory), likeness)
}

#[test]
fn the_policy_is_right_where_it_is_sure_and_seldom_unsure() {
    let pairs: Vec<Pair> = PAIRS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(pairs.len() >= 300);
    let held_out: Vec<&Pair> = pairs.iter().filter(|pair| pair.topic % 2 == 1).collect();
    let (mut n_grey, mut n_right) = (0, 0);
    let mut wrong: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for pair in &held_out {
        let judgement = judge_pair(pair);
        if !judgement.is_clear() {
            n_grey += 1;
        } else if judgement.relation.as_str() == pair.label {
            n_right += 1;
        } else {
            let kind = format!("{} for {}", judgement.relation.as_str(), pair.label);
            wrong.entry(kind).or_default().push(&pair.candidate.title);
        }
    }
    let n_clear = held_out.len() - n_grey;
    let (accuracy, grey) =
        (f64::from(n_right) / n_clear as f64, n_grey as f64 / held_out.len() as f64);
    assert!(accuracy >= 0.95, "{accuracy:.3} right of {n_clear}: {wrong:#?}");
    assert!(grey <= 0.15, "{grey:.3} grey");
}
