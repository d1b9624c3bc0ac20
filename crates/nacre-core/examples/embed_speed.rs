//! Measures the embedding models, and compares the transformer with vectors of another program.
//!
//! Usage: `embed_speed [MODEL_FOLDER [REFERENCE]]`: the folder has `model.safetensors` and
//! `tokenizer.json`, the reference is a JSON list of objects with `text` and `vector`.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::path::Path;
use std::time::Instant;

use nacre_core::search::minilm::{self, Published};
use nacre_core::search::{Builtin, Embedder, Transformer};
use serde::Deserialize;

const QUERY: &str = "how do we keep the queue in one file without a server";
const SENTENCE: &str = "The queue lies in SQLite because one file is easy to back up, and a \
                        server would have to be started before the first command can run. ";

#[derive(Deserialize)]
struct Reference {
    text: String,
    vector: Vec<f32>,
}

fn main() {
    let long = SENTENCE.repeat(12);
    let args: Vec<String> = std::env::args().skip(1).collect();
    let builtin = best(20, || Builtin::shipped().unwrap());
    println!("builtin  open   {:9.1} us", builtin.0);
    measure(&builtin.1, &long, 200);
    let Some(folder) = args.first() else { return };
    let read = |name: &str| std::fs::read(Path::new(folder).join(name)).unwrap();
    let published =
        Published { tensors: read(minilm::TENSORS), tokenizer: read(minilm::TOKENIZER) };
    let packed = best(1, || published.pack().unwrap());
    drop(published);
    println!("minilm   pack   {:9.1} us, {} bytes", packed.0, packed.1.len());
    let before = resident_kb();
    let opened = best(5, || Transformer::open(packed.1.clone()).unwrap());
    println!("minilm   open   {:9.1} us, {} MB more", opened.0, (resident_kb() - before) / 1000);
    opened.1.verify().unwrap();
    measure(&opened.1, &long, 8);
    if let Some(path) = args.get(1) {
        let references: Vec<Reference> =
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        compare(&opened.1, &references);
    }
}

fn measure(model: &dyn Embedder, long: &str, rounds: usize) {
    let many = vec![long; 16];
    for (name, texts) in [("query", vec![QUERY]), ("long", vec![long]), ("16 long", many)] {
        let (micros, _) = best(rounds, || model.embed(&texts).unwrap());
        println!("{:<22} {name:<8} {micros:9.1} us", model.model().as_str());
    }
}

/// The fewest microseconds that `work` took, and what it made.
fn best<T>(rounds: usize, work: impl Fn() -> T) -> (f64, T) {
    let mut fewest = f64::INFINITY;
    let mut made = None;
    for _ in 0..rounds {
        drop(made.take());
        let start = Instant::now();
        made = Some(work());
        fewest = fewest.min(start.elapsed().as_secs_f64() * 1e6);
    }
    (fewest, made.unwrap())
}

fn compare(model: &Transformer, references: &[Reference]) {
    let texts: Vec<&str> = references.iter().map(|reference| reference.text.as_str()).collect();
    let mut cosines = Vec::new();
    for (vector, reference) in model.embed(&texts).unwrap().iter().zip(references) {
        let cosine: f32 = vector.iter().zip(&reference.vector).map(|(a, b)| a * b).sum();
        cosines.push(cosine);
        if cosine < 0.999 {
            println!("{cosine:.5} {:?}", reference.text.chars().take(60).collect::<String>());
        }
    }
    let least = cosines.iter().copied().fold(f32::INFINITY, f32::min);
    let mean = cosines.iter().sum::<f32>() / cosines.len() as f32;
    println!("{} texts: least cosine {least:.5}, mean {mean:.5}", cosines.len());
}

fn resident_kb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
