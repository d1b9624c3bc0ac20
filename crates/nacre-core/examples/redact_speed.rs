//! Prints how fast the redactor reads the given files, and what it found there.

#![expect(clippy::print_stdout, reason = "a measuring program")]
#![expect(clippy::disallowed_methods, reason = "a measuring program")]

use std::time::Instant;

use nacre_core::base::redact::{Hits, redact_counted};

fn main() {
    let mut n_bytes = 0;
    let mut hits = Hits::new();
    let texts: Vec<String> = std::env::args()
        .skip(1)
        .filter_map(|path| std::fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    let start = Instant::now();
    for text in &texts {
        n_bytes += text.len();
        for (kind, n) in redact_counted(text).hits {
            *hits.entry(kind).or_default() += n;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = n_bytes as f64 / 1e6;
    println!(
        "{megabytes:.1} MB in {seconds:.3} s = {:.0} MB/s; hits {hits:?}",
        megabytes / seconds
    );
}
