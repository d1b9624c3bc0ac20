//! Measures a brief of a large store: opened, ranked and written, as one command does it.
//!
//! Usage: brief_speed FOLDER [SIZE]
//!
//! Makes a store of SIZE memories (10,000 unless said otherwise) in FOLDER/.nacre and leaves it there. The whole
//! command, process start included, is measured there with a release build:
//!
//!     cd FOLDER && nacre brief > /dev/null && hyperfine -N 'nacre brief' 'nacre brief --task "retry the carrier calls"'
//!
//! Ends with 1 when the middle of 50 in one process is over 30 ms.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a developer's program"
)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, Owner, WriteScope};
use nacre_core::search::{Builtin, MemoryIndex, Mode, TokenCounter};
use nacre_engine::flows::brief::{Source, Wish, brief};

const N_ROUNDS: usize = 50;
const BOUND_MS: f64 = 30.0;

const SUBJECTS: &[&str] = &[
    "queue",
    "label",
    "invoice",
    "scanner",
    "carrier",
    "webhook",
    "tariff",
    "depot",
    "cookie",
    "index",
    "backup",
    "driver",
    "parcel",
    "address",
    "migration",
    "printer",
];
const VERBS: &[&str] =
    &["is kept in", "must not touch", "is retried by", "waits for", "is checked with", "replaces"];
const KINDS: &[&str] = &["pitfall", "preference", "convention", "procedure", "insight", "context"];

fn write(root: &Path, n: usize) {
    let pick = |list: &[&'static str], salt: usize| list[(n * 31 + salt * 17 + n / 7) % list.len()];
    let title =
        format!("The {} {} the {} {n}", pick(SUBJECTS, 1), pick(VERBS, 2), pick(SUBJECTS, 5));
    let (month, day) = (n % 12 + 1, n % 28 + 1);
    let (place, kind) = match n % 3 {
        0 => ("decisions", String::new()),
        _ => ("learnings", format!("kind: {}\n", pick(KINDS, 3))),
    };
    let id = format!("2025{month:02}{day:02}-n{n}");
    let text = format!(
        "---\nid: {id}\ntitle: {title}\n{kind}updated: 2025-{month:02}-{day:02}\nconfidence: 0.{}\n---\n\nBecause the {} \
         needs it. See src/{}.rs.\n",
        n % 9 + 1,
        pick(SUBJECTS, 4),
        pick(SUBJECTS, 6)
    );
    fs::write(root.join("memory").join(place).join(format!("{id}.md")), text).unwrap();
    // A brief tells nothing that nobody stands behind.
    let quote = r#"{"text":"so it is","speaker":"user","place":"s:1","at":"2025"}"#;
    let evidence = format!(r#"{{"version":1,"id":"{id}","quotes":[{quote}]}}"#);
    fs::write(root.join("meta/evidence").join(format!("{id}.json")), evidence).unwrap();
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(folder) = args.next() else {
        println!("usage: brief_speed FOLDER [SIZE]");
        return ExitCode::from(2);
    };
    let size = args.next().and_then(|size| size.parse().ok()).unwrap_or(10_000);
    let root = Path::new(&folder).join(".nacre");
    for place in ["memory/decisions", "memory/learnings", "meta/evidence"] {
        fs::create_dir_all(root.join(place)).unwrap();
    }
    (0..size).for_each(|n| write(&root, n));
    let store = Store::new(WriteScope::open(&root, Access::Shared).unwrap(), Rules::default());
    let owner = Owner { pid: 1, command: "bench".to_owned(), since: String::new() };
    let embedder = Builtin::shipped().unwrap();
    drop(MemoryIndex::open(&store, &embedder, &owner, Timestamp::now()).unwrap());
    let mut is_slow = false;
    for task in [None, Some("retry the carrier calls")] {
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..N_ROUNDS {
            let begun = Instant::now();
            let now = Timestamp::now();
            let index = MemoryIndex::open(&store, &embedder, &owner, now).unwrap();
            let sources = [Source { store: &store, index: &index, scope: "project" }];
            let wish = Wish {
                budget: 2000,
                task,
                files: &[],
                known: &[],
                mode: Mode::Hybrid,
                names_unproven: true,
                now,
            };
            let made = brief(&sources, &wish, &TokenCounter::shipped().unwrap()).unwrap();
            assert!(made.tokens <= 2000 && !made.text().is_empty());
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let middle = times[N_ROUNDS / 2].as_secs_f64() * 1000.0;
        is_slow |= middle > BOUND_MS;
        println!("{size} memories, {}: {middle:.1} ms", task.unwrap_or("no task"));
    }
    ExitCode::from(u8::from(is_slow))
}
