//! Fits the weights of the decision policy to the labelled pairs, and reports their accuracy.
//!
//! Prints the constants for `nacre-memory/src/policy/measure.rs`: three logistic regressions with a
//! small weight decay. They predict whether two claims have the same topic, whether they contradict
//! each other, and whether one adds information to the other. Only topics with even numbers are
//! used; the odd ones are reserved for testing.

use nacre_memory::search::Builtin;
use nacre_memory::{Likeness, Measures, Profile, measure};
use serde_json::Value;

use crate::Outcome;

const PAIRS: &str = include_str!("../../../nacre-memory/tests/fixtures/decisions.jsonl");
const N_ROUNDS: usize = 3000;
const RATE: f64 = 1.0;

struct Pair {
    topic: u64,
    is_fitted: bool,
    label: String,
    measures: Measures,
    title: String,
}

/// Fit the weights of the decision policy to the labelled pairs, and report their accuracy
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    #[arg(default_value_t = 0.002)]
    decay: f64,
    /// List the pairs that cross-validation misclassifies
    #[arg(long)]
    missed: bool,
}

pub(super) fn run(args: &PolicyArgs) -> Outcome {
    let decay = args.decay;
    let pairs = read();
    let questions: [(&str, &[&str], &[&str]); 3] = [
        ("ABOUT", &["same", "refines", "contradicts"], &["different"]),
        ("AGAINST", &["contradicts"], &["same", "refines"]),
        ("MORE", &["refines"], &["same"]),
    ];
    bands(&pairs, &questions, decay);
    for (name, yes, no) in questions {
        let rows: Vec<(Vec<f64>, bool, bool)> = pairs
            .iter()
            .filter(|pair| yes.contains(&&*pair.label) || no.contains(&&*pair.label))
            .map(|pair| {
                let row = pair.measures.iter().map(|x| f64::from(*x)).collect();
                (row, yes.contains(&&*pair.label), pair.is_fitted)
            })
            .collect();
        let fitted: Vec<_> = rows.iter().filter(|row| row.2).cloned().collect();
        let weights = fit(&fitted, decay);
        let n_right = |is_fitted: bool| {
            let chosen: Vec<_> = rows.iter().filter(|row| row.2 == is_fitted).collect();
            let right =
                chosen.iter().filter(|row| (score(&weights, &row.0) > 0.5) == row.1).count();
            format!("{right}/{}", chosen.len())
        };
        println!(
            "// {name}: {} on the fitted half, {} on the other half",
            n_right(true),
            n_right(false)
        );
        let shown: Vec<String> = weights.iter().map(|weight| format!("{weight:.2}")).collect();
        println!(
            "const {name}: Weights = Weights {{ bias: {}, of: [{}] }};",
            shown[0],
            shown[1..].join(", ")
        );
        let (n_right, misses) = cross(&pairs, yes, no, decay);
        println!("// cross-validated {n_right}");
        if args.missed {
            println!("{misses}");
        }
    }
    Ok(true)
}

/// Cross-validates the weights by topic, using only the half of the topics reserved for fitting.
fn cross(pairs: &[Pair], yes: &[&str], no: &[&str], decay: f64) -> (String, String) {
    let chosen: Vec<&Pair> = pairs
        .iter()
        .filter(|pair| {
            pair.is_fitted && (yes.contains(&&*pair.label) || no.contains(&&*pair.label))
        })
        .collect();
    let row = |pair: &Pair| pair.measures.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
    let (mut n_right, mut misses) = (0, String::new());
    for fold in 0..5 {
        let rows: Vec<_> = chosen
            .iter()
            .filter(|pair| (pair.topic / 2) % 5 != fold)
            .map(|pair| (row(pair), yes.contains(&&*pair.label), true))
            .collect();
        let weights = fit(&rows, decay);
        for pair in chosen.iter().filter(|pair| (pair.topic / 2) % 5 == fold) {
            let p = score(&weights, &row(pair));
            if (p > 0.5) == yes.contains(&&*pair.label) {
                n_right += 1;
            } else {
                misses.push_str(&format!(
                    "  {p:.2} {} {} {:.2?}\n",
                    pair.label, pair.title, pair.measures
                ));
            }
        }
    }
    (format!("{n_right}/{}", chosen.len()), misses)
}

/// For each probability band, prints how often the most likely relation is right.
fn bands(pairs: &[Pair], questions: &[(&str, &[&str], &[&str]); 3], decay: f64) {
    let row = |pair: &Pair| pair.measures.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
    let chosen: Vec<&Pair> = pairs.iter().filter(|pair| pair.is_fitted).collect();
    let mut told: Vec<(f64, bool)> = Vec::new();
    for fold in 0..5 {
        let weights: Vec<Vec<f64>> = questions
            .iter()
            .map(|(_, yes, no)| {
                let rows: Vec<_> = chosen
                    .iter()
                    .filter(|pair| (pair.topic / 2) % 5 != fold)
                    .filter(|pair| yes.contains(&&*pair.label) || no.contains(&&*pair.label))
                    .map(|pair| (row(pair), yes.contains(&&*pair.label), true))
                    .collect();
                fit(&rows, decay)
            })
            .collect();
        for pair in chosen.iter().filter(|pair| (pair.topic / 2) % 5 == fold) {
            let p: Vec<f64> = weights.iter().map(|weights| score(weights, &row(pair))).collect();
            let likely = [
                (1.0 - p[0], "different"),
                (p[0] * p[1], "contradicts"),
                (p[0] * (1.0 - p[1]) * p[2], "refines"),
                (p[0] * (1.0 - p[1]) * (1.0 - p[2]), "same"),
            ];
            let best = likely.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("four");
            told.push((best.0, best.1 == pair.label));
        }
    }
    for percent in (40..=80).step_by(5) {
        let least = f64::from(percent) / 100.0;
        let clear: Vec<_> = told.iter().filter(|(p, _)| *p >= least).collect();
        let n_right = clear.iter().filter(|(_, is_right)| *is_right).count();
        let grey = 1.0 - clear.len() as f64 / told.len() as f64;
        println!(
            "// from {least:.2}: {:.3} right, {grey:.3} undecided",
            n_right as f64 / clear.len() as f64
        );
    }
}

fn read() -> Vec<Pair> {
    let text = |claim: &Value, key: &str| claim[key].as_str().unwrap_or_default().to_owned();
    let mut pairs = Vec::new();
    for line in PAIRS.lines() {
        let pair: Value = serde_json::from_str(line).expect("a pair");
        let claims = [&pair["candidate"], &pair["memory"]];
        let titles = claims.map(|claim| text(claim, "title"));
        let wholes =
            claims.map(|claim| format!("{}\n{}", text(claim, "title"), text(claim, "body")));
        let all = [&*titles[0], &*titles[1], &*wholes[0], &*wholes[1]];
        let vectors = all.map(|text| Builtin::shipped().embed(text));
        let near = |a: usize, b: usize| {
            vectors[a].iter().zip(&vectors[b]).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
        };
        let likeness = Likeness { whole: near(2, 3), titles: near(0, 1) };
        let [candidate, memory] =
            claims.map(|claim| Profile::of(&text(claim, "title"), &text(claim, "body")));
        pairs.push(Pair {
            topic: pair["topic"].as_u64().unwrap_or(0),
            is_fitted: pair["topic"].as_u64().is_some_and(|topic| topic % 2 == 0),
            label: text(&pair, "label"),
            measures: measure(&candidate, &memory, likeness),
            title: titles[0].clone(),
        });
    }
    pairs
}

fn score(weights: &[f64], row: &[f64]) -> f64 {
    let sum: f64 = weights[0] + weights[1..].iter().zip(row).map(|(w, x)| w * x).sum::<f64>();
    1.0 / (1.0 + (-sum).exp())
}

/// Fits a logistic regression by gradient descent, with equal total weight for both classes.
fn fit(rows: &[(Vec<f64>, bool, bool)], decay: f64) -> Vec<f64> {
    let n = rows.first().map_or(0, |row| row.0.len());
    let n_yes = rows.iter().filter(|row| row.1).count().max(1) as f64;
    let n_no = (rows.len() as f64 - n_yes).max(1.0);
    let mut weights = vec![0.0; n + 1];
    for _ in 0..N_ROUNDS {
        let mut slope = vec![0.0; n + 1];
        for (row, is_yes, _) in rows {
            let share = if *is_yes { 0.5 / n_yes } else { 0.5 / n_no };
            let miss = (score(&weights, row) - f64::from(u8::from(*is_yes))) * share;
            slope[0] += miss;
            for (slope, x) in slope[1..].iter_mut().zip(row) {
                *slope += miss * x;
            }
        }
        for (idx, (weight, slope)) in weights.iter_mut().zip(&slope).enumerate() {
            let pull = if idx == 0 { 0.0 } else { decay * *weight };
            *weight -= RATE * (slope + pull);
        }
    }
    weights
}
