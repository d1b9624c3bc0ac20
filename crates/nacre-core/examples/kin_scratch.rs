//! scratch
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "scratch"
)]
use nacre_core::memory::{Kinship, Likeness, Profile, judge, kinship};
use nacre_core::search::{Builtin, Embedder as _};
use serde_json::Value;
use std::collections::BTreeMap;
const PAIRS: &str = include_str!("../tests/fixtures/decisions.jsonl");
fn main() {
    let embedder = Builtin::shipped().unwrap();
    let verbose = std::env::args().nth(1);
    let mut tally: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut claims: Vec<(u64, String, String)> = Vec::new();
    for line in PAIRS.lines() {
        let v: Value = serde_json::from_str(line).unwrap();
        let get = |k: &str| {
            (v[k]["title"].as_str().unwrap().to_owned(), v[k]["body"].as_str().unwrap().to_owned())
        };
        let (mt, mb) = get("memory");
        let (ct, cb) = get("candidate");
        let topic = v["topic"].as_u64().unwrap();
        let label = v["label"].as_str().unwrap();
        if !claims.iter().any(|c| c.1 == mt) {
            claims.push((topic, mt.clone(), mb.clone()));
        }
        if label != "different" {
            claims.push((topic, ct.clone(), cb.clone()));
        }
        let w = [ct.clone(), mt.clone(), format!("{ct}\n{cb}"), format!("{mt}\n{mb}")];
        let t: Vec<&str> = w.iter().map(String::as_str).collect();
        let e = embedder.embed(&t).unwrap();
        let cos = |a: usize, b: usize| {
            e[a].iter().zip(&e[b]).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
        };
        let l = Likeness { titles: cos(0, 1), whole: cos(2, 3) };
        let (k, p) = kinship(
            &Profile::of(&ct, &cb),
            &Profile::of(&mt, &mb),
            l,
            &nacre_core::search::are_near,
        );
        let half = if topic % 2 == 1 { "odd" } else { "even" };
        *tally.entry((format!("{half} {label}"), k.as_str())).or_default() += 1;
        if verbose.as_deref() == Some(label) {
            let j = judge(&Profile::of(&ct, &cb), &Profile::of(&mt, &mb), l);
            println!(
                "{} {p:.2} cos {:.2} {:?} {:.2}\n   {ct} | {cb}\n   {mt} | {mb}",
                k.as_str(),
                l.whole,
                j.relation,
                j.likelihood
            );
        }
    }
    for (k, n) in &tally {
        println!("{k:?} {n}");
    }
    // cross topic
    let wholes: Vec<String> = claims.iter().map(|c| format!("{}\n{}", c.1, c.2)).collect();
    let titles = embedder.embed(&claims.iter().map(|c| c.1.as_str()).collect::<Vec<_>>()).unwrap();
    let vecs = embedder.embed(&wholes.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let profiles: Vec<Profile> = claims.iter().map(|c| Profile::of(&c.1, &c.2)).collect();
    let cos =
        |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0);
    let mut n = 0;
    let mut cross: BTreeMap<&str, usize> = BTreeMap::new();
    for i in 0..claims.len() {
        for j in 0..i {
            if claims[i].0 == claims[j].0 {
                continue;
            }
            n += 1;
            let whole = cos(&vecs[i], &vecs[j]);
            if whole < 0.35 {
                continue;
            }
            let (k, p) = kinship(
                &profiles[i],
                &profiles[j],
                Likeness { titles: cos(&titles[i], &titles[j]), whole },
                &nacre_core::search::are_near,
            );
            *cross.entry(k.as_str()).or_default() += 1;
            if k != Kinship::Apart {
                println!(
                    "CROSS {} {p:.2} {whole:.2}\n   {}\n   {}",
                    k.as_str(),
                    wholes[i].replace('\n', " | "),
                    wholes[j].replace('\n', " | ")
                );
            }
        }
    }
    println!("{n} cross pairs, {cross:?}");
}
