//! Measures the embedding model that ships with the program.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::time::Instant;

use nacre_core::search::{Builtin, Embedder};

const QUERY: &str = "how do we keep the queue in one file without a server";
const SENTENCE: &str = "The queue lies in SQLite because one file is easy to back up, and a \
                        server would have to be started before the first command can run. ";

fn main() {
    let long = SENTENCE.repeat(12);
    let builtin = best(20, || Builtin::shipped().unwrap());
    println!("builtin  open   {:9.1} us", builtin.0);
    measure(&builtin.1, &long, 200);
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
