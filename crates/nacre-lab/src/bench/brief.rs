//! Measures how long it takes to open, rank and format the brief of a large store.
//!
//! Creates a store of SIZE memories (default 10,000) in FOLDER/.nacre and does not delete it, so
//! that the whole command can then be measured with a release build:
//!
//!     cd FOLDER && nacre brief > /dev/null
//!     hyperfine -N 'nacre brief' 'nacre brief --task "retry the carrier calls"'
//!
//! Exits with 1 if the median of 50 briefs in one process exceeds 30 ms.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::recall::{Source, Wish, brief};
use nacre_memory::search::MemoryIndex;
use nacre_memory::{Rules, Store};

use crate::Outcome;

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
    // A brief omits memories without an author.
    let quote = r#"{"text":"so it is","speaker":"user","place":"s:1","at":"2025"}"#;
    let evidence = format!(r#"{{"version":1,"id":"{id}","quotes":[{quote}]}}"#);
    fs::write(root.join("meta/evidence").join(format!("{id}.json")), evidence).unwrap();
}

/// Measure a large store's brief
#[derive(Debug, clap::Args)]
pub(crate) struct BriefArgs {
    /// Directory in which the store is created; the store is not deleted
    folder: PathBuf,
    #[arg(default_value_t = 10_000)]
    size: usize,
}

pub(super) fn run(args: &BriefArgs) -> Outcome {
    let BriefArgs { folder, size } = args;
    let size = *size;
    let root = folder.join(".nacre");
    for place in ["memory/decisions", "memory/learnings", "meta/evidence"] {
        fs::create_dir_all(root.join(place)).unwrap();
    }
    (0..size).for_each(|n| write(&root, n));
    let store = Store::new(WriteScope::open(&root, Access::Shared).unwrap(), Rules::default());
    let owner = Owner { pid: 1, command: "bench".to_owned(), since: String::new() };
    drop(MemoryIndex::open(&store, &owner, Timestamp::now()).unwrap());
    let mut is_slow = false;
    for task in [None, Some("retry the carrier calls")] {
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..N_ROUNDS {
            let begun = Instant::now();
            let now = Timestamp::now();
            let index = MemoryIndex::open(&store, &owner, now).unwrap();
            let sources = [Source { index: &index, scope: nacre_types::StoreScope::Project }];
            let wish = Wish { budget: 2000, task, names_unproven: true, now, ..Wish::default() };
            let made = brief(&sources, &wish);
            assert!(made.tokens <= 2000 && !made.text.is_empty());
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let middle = times[N_ROUNDS / 2].as_secs_f64() * 1000.0;
        is_slow |= middle > BOUND_MS;
        println!("{size} memories, {}: {middle:.1} ms", task.unwrap_or("no task"));
    }
    Ok(!is_slow)
}
