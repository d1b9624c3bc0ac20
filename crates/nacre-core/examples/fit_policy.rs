//! `fit_policy`: fits the weights of the decision policy on the labelled pairs, and says how well they do.
//!
//! `cargo run -p nacre-core --example fit_policy` prints the constants of `memory/policy/weights.rs`. Three
//! questions, each a logistic regression with a little decay: is it about the same thing, does it say otherwise,
//! does it say more. Only topics of even number are looked at; the others are the test's.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program for developers")]

use nacre_core::memory::{Likeness, Measures, Profile, measure};
use nacre_core::search::{Builtin, Embedder as _};
use serde_json::Value;

const PAIRS: &str = include_str!("../tests/fixtures/decisions.jsonl");
const N_ROUNDS: usize = 3000;
const RATE: f64 = 1.0;

struct Pair {
    topic: u64,
    is_fitted: bool,
    label: String,
    measures: Measures,
    title: String,
}

fn main() {
    let pairs = read();
    let questions: [(&str, &[&str], &[&str]); 3] = [
        ("ABOUT", &["same", "refines", "contradicts"], &["different"]),
        ("AGAINST", &["contradicts"], &["same", "refines"]),
        ("MORE", &["refines"], &["same"]),
    ];
    let decay = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.002);
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
            "// {name}: {} of the fitted half, {} of the other",
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
        if std::env::args().nth(2).is_some() {
            println!("{misses}");
        }
    }
}

/// How well weights do on topics that they were not fitted on, within the half that may be looked at.
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

/// How often the most likely relation is the right one, by how likely it must be.
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
            "// from {least:.2}: {:.3} right, {grey:.3} grey",
            n_right as f64 / clear.len() as f64
        );
    }
}

fn read() -> Vec<Pair> {
    let embedder = Builtin::shipped().expect("the shipped model");
    let text = |claim: &Value, key: &str| claim[key].as_str().unwrap_or_default().to_owned();
    let mut pairs = Vec::new();
    for line in PAIRS.lines() {
        let pair: Value = serde_json::from_str(line).expect("a pair");
        let claims = [&pair["candidate"], &pair["memory"]];
        let titles = claims.map(|claim| text(claim, "title"));
        let wholes =
            claims.map(|claim| format!("{}\n{}", text(claim, "title"), text(claim, "body")));
        let all = [&*titles[0], &*titles[1], &*wholes[0], &*wholes[1]];
        let vectors = embedder.embed(&all).expect("vectors");
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

/// Logistic regression by plain gradient descent; both answers weigh the same.
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
