//! Measures the embedding model that ships with the program.

use std::time::Instant;

use nacre_memory::search::Builtin;

use crate::Outcome;

const QUERY: &str = "how do we keep the queue in one file without a server";
const SENTENCE: &str = "The queue is stored in SQLite because one file is easy to back up, and a \
                        server would have to be started before the first command could run. ";

pub(super) fn run() -> Outcome {
    let long = SENTENCE.repeat(12);
    let begun = Instant::now();
    let model = Builtin::shipped();
    println!("open   {:9.1} us", begun.elapsed().as_secs_f64() * 1e6);
    for (name, text) in [("query", QUERY), ("long", long.as_str())] {
        println!("{:<22} {name:<8} {:9.1} us", model.id(), best(200, || model.embed(text)));
    }
    Ok(true)
}

/// Returns the shortest time that `work` took, in microseconds.
fn best<T>(rounds: usize, work: impl Fn() -> T) -> f64 {
    let mut fewest = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        std::hint::black_box(work());
        fewest = fewest.min(start.elapsed().as_secs_f64() * 1e6);
    }
    fewest
}
