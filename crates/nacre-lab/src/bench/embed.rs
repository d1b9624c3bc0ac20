//! Measures the embedding model that ships with the program.

use std::time::Instant;

use nacre_memory::search::{Builtin, Embedder};

use crate::Outcome;

const QUERY: &str = "how do we keep the queue in one file without a server";
const SENTENCE: &str = "The queue is stored in SQLite because one file is easy to back up, and a \
                        server would have to be started before the first command could run. ";

pub(super) fn run() -> Outcome {
    let long = SENTENCE.repeat(12);
    let builtin = best(20, || Builtin::load_shipped().unwrap());
    println!("builtin  open   {:9.1} us", builtin.0);
    measure(&builtin.1, &long, 200);
    Ok(true)
}

fn measure(model: &dyn Embedder, long: &str, rounds: usize) {
    let many = vec![long; 16];
    for (name, texts) in [("query", vec![QUERY]), ("long", vec![long]), ("16 long", many)] {
        let (micros, _) = best(rounds, || model.embed(&texts).unwrap());
        println!("{:<22} {name:<8} {micros:9.1} us", model.model().as_str());
    }
}

/// Returns the shortest time that `work` took, in microseconds, and its result.
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
