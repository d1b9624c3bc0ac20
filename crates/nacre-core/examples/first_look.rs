//! What a first look at a store of strangers' memories costs: `first_look SCRATCH [MEMORIES BYTES [SHAPE]]`; 40,000 of 1,500 bytes
//! unless said otherwise.
//!
//! One store for each shape of text: files that are named, symbols in backticks, words that nobody else has, one word without an
//! end, and tags and links.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a developer's program"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, Owner, WriteScope};
use nacre_core::search::{Builtin, MemoryIndex};

/// A shape of text, by the number of its memory and how often it was repeated.
type Shape = fn(&mut String, usize, usize);

const SHAPES: &[(&str, Shape)] = &[
    ("files", |text, n, at| write!(text, "src/f{n}/g{at}.rs ").unwrap()),
    ("symbols", |text, n, at| write!(text, "`f{n}_{at}` ").unwrap()),
    ("words", |text, n, at| write!(text, "{} ", spelled(n * 4_096 + at)).unwrap()),
    ("one word", |text, _, _| text.push_str("aB")),
    ("marks", |text, _, _| text.push_str("``..//")),
    ("prose", |text, _, at| text.push_str(["the queue ", "is in ", "SQLite; "][at % 3])),
];

/// A number in letters: a word that no other text has.
fn spelled(mut number: usize) -> String {
    let mut word = String::new();
    while number != 0 {
        word.push(char::from(b'a' + u8::try_from(number % 26).unwrap()));
        number /= 26;
    }
    word
}

fn main() {
    let mut args = std::env::args().skip(1);
    let scratch = PathBuf::from(args.next().unwrap());
    let n_memories = args.next().map_or(40_000, |number| number.parse().unwrap());
    let n_bytes = args.next().map_or(1_500, |number| number.parse().unwrap());
    let only = args.next();
    for (name, shape) in
        SHAPES.iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name))
    {
        let folder = scratch.join(name.replace(' ', "-"));
        plant(&folder, *shape, n_memories, n_bytes);
        let scope = WriteScope::open(&folder, Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let embedder = Builtin::shipped().unwrap();
        let owner = Owner { pid: 1, command: "bench".to_owned(), since: String::new() };
        let begun = Instant::now();
        let index = MemoryIndex::open(&store, &embedder, &owner, Timestamp::now()).unwrap();
        let time = begun.elapsed().as_secs_f64();
        println!("{name:<10} {n_memories} memories {time:>7.2} s, {} MB", peak_mb());
        drop(index);
        fs::remove_dir_all(&folder).unwrap();
    }
}

fn plant(folder: &Path, shape: Shape, n_memories: usize, n_bytes: usize) {
    fs::create_dir_all(folder.join("memory/decisions")).unwrap();
    for n in 0..n_memories {
        let mut body = String::new();
        for at in 0.. {
            shape(&mut body, n, at);
            if n_bytes <= body.len() {
                break;
            }
        }
        let id = format!("{}-n{n}", 20_260_101 + (n % 28));
        let text =
            format!("---\nid: {id}\ntitle: Memory {n}\nupdated: 2026-01-02\n---\n\n{body}\n");
        fs::write(folder.join(format!("memory/decisions/{id}.md")), text).unwrap();
    }
}

fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
