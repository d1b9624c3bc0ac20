//! Measures how long it takes to open, link and read a large store's graph, as a single request
//! does.
//!
//! Exits with 1 if the median of 20 rounds exceeds 200 ms.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::search::{GraphOptions, MemoryIndex, spellings};
use nacre_memory::{Rules, Store};

use crate::Outcome;

const N_ROUNDS: usize = 20;
const BOUND: Duration = Duration::from_millis(200);

/// Writes a memory that shares each of its two tags, its session and its file with about twenty
/// other memories, and that links to two more.
fn write(folder: &Path, n: usize) {
    let [tag, other, session, file] = [n / 20, n % 500, n / 18, n % 600];
    let related = [n / 2, n / 3].map(|n| format!("20260101-n{n}")).join(", ");
    let text = format!(
        "---\nid: 20260101-n{n}\ntitle: Queue number {n}\nupdated: 2026-01-02\n\
         tags: [t{tag}, u{other}, all]\nsource: claude:s{session}\nrelated: [{related}]\n---\n\n\
         See src/file{file}.rs and `call_{n}`: it is retried three times.\n"
    );
    fs::write(folder.join(format!("memory/decisions/20260101-n{n}.md")), text).unwrap();
}

/// Measure the graph of a store's memories
#[derive(Debug, clap::Args)]
pub(crate) struct GraphArgs {
    scratch: PathBuf,
    #[arg(default_value_t = 10_000)]
    size: usize,
}

pub(super) fn run(args: &GraphArgs) -> Outcome {
    let GraphArgs { scratch, size } = args;
    let size = *size;
    let folder = scratch.join(format!("graph-{size}"));
    fs::create_dir_all(folder.join("memory/decisions")).unwrap();
    (0..size).for_each(|n| write(&folder, n));
    let store = Store::new(WriteScope::open(&folder, Access::Private).unwrap(), Rules::default());
    let owner = Owner { pid: 1, command: "bench".to_owned(), since: String::new() };
    let now = Timestamp::now();
    let open = || MemoryIndex::open(&store, &owner, now).unwrap();
    while open().n_postponed() > 0 {}
    let mut is_held = true;
    for limit in [500, 5000] {
        let mut times = Vec::new();
        for _ in 0..N_ROUNDS {
            let begun = Instant::now();
            let index = open();
            let opened = begun.elapsed();
            let graph = index.graph(&GraphOptions { archived: false, summaries: false, limit });
            let tied = begun.elapsed();
            let n_spelled: usize = graph
                .nodes
                .iter()
                .filter_map(|node| index.read_node(node))
                .map(|memory| spellings(&memory).len())
                .sum();
            times.push((begun.elapsed(), opened, tied, graph.ties.len(), n_spelled));
        }
        times.sort_unstable();
        let (whole, opened, tied, n_ties, _) = times[N_ROUNDS / 2];
        println!(
            "{size} memories, {limit} shown: {whole:?} (opened after {opened:?}, linked after \
             {tied:?}), {n_ties} links"
        );
        is_held &= limit > 500 || whole <= BOUND;
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(is_held)
}
