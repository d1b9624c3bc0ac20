//! Measures the first access to a store of untrusted memories, by default 40,000 memories of 1,500
//! bytes each.
//!
//! One store is created for each kind of text: file names, symbols in backticks, unique words, one
//! endless word, and tags and links.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::search::MemoryIndex;
use nacre_memory::{Rules, Store};

use crate::Outcome;

/// Appends one kind of text, given a memory number and a repetition number.
type Shape = fn(&mut String, usize, usize);

const SHAPES: &[(&str, Shape)] = &[
    ("files", |text, n, at| write!(text, "src/f{n}/g{at}.rs ").unwrap()),
    ("symbols", |text, n, at| write!(text, "`f{n}_{at}` ").unwrap()),
    ("words", |text, n, at| write!(text, "{} ", spell(n * 4_096 + at)).unwrap()),
    ("one word", |text, _, _| text.push_str("aB")),
    ("marks", |text, _, _| text.push_str("``..//")),
    ("prose", |text, _, at| text.push_str(["the queue ", "is in ", "SQLite; "][at % 3])),
];

/// Encodes a number as letters to form a unique word.
fn spell(mut number: usize) -> String {
    let mut word = String::new();
    while number != 0 {
        word.push(char::from(b'a' + u8::try_from(number % 26).unwrap()));
        number /= 26;
    }
    word
}

/// Measure the first access to stores with different kinds of text
#[derive(Debug, clap::Args)]
pub(crate) struct FirstLookArgs {
    scratch: PathBuf,
    #[arg(default_value_t = 40_000)]
    memories: usize,
    /// Size of each memory in bytes
    #[arg(default_value_t = 1_500)]
    bytes: usize,
    /// Measure only this kind of text
    only: Option<String>,
}

pub(super) fn run(args: &FirstLookArgs) -> Outcome {
    let FirstLookArgs { scratch, memories: n_memories, bytes: n_bytes, only } = args;
    let (n_memories, n_bytes) = (*n_memories, *n_bytes);
    for (name, shape) in
        SHAPES.iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name))
    {
        let folder = scratch.join(name.replace(' ', "-"));
        plant(&folder, *shape, n_memories, n_bytes);
        let scope = WriteScope::open(&folder, Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let owner = Owner { pid: 1, command: "bench".to_owned(), since: String::new() };
        let begun = Instant::now();
        let index = MemoryIndex::open(&store, &owner, Timestamp::now()).unwrap();
        let time = begun.elapsed().as_secs_f64();
        println!("{name:<10} {n_memories} memories {time:>7.2} s, {} MB", peak_mb());
        drop(index);
        fs::remove_dir_all(&folder).unwrap();
    }
    Ok(true)
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
