//! Measures memory search in one process at several sizes: indexing, queries, single changes, and
//! memory use.
//!
//! Exits with 1 if a result misses its target: 5,000 records per second, 2 ms per query with 1,000
//! records and 15 ms with 100,000, and 5 ms per change. The memory use of search alone must be
//! measured in another process, because this one also builds the index.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, RelPath, WriteScope};
use nacre_memory::search::{MemoryIndex, MemoryOptions, Mode, Query};
use nacre_memory::{Located, MemoryType, Rules, Store, StoreArea};

use crate::Outcome;

const N_QUESTIONS: usize = 300;
const N_CHANGES: usize = 30;

/// A vocabulary with a Zipf distribution: the frequency of the n-th word is 1/n of the first word's
/// frequency.
struct Words {
    state: u64,
}

impl Words {
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 16] = [
            "ka", "lo", "mi", "ser", "ver", "que", "tab", "le", "net", "pa", "th", "run", "bo",
            "x", "cu", "den",
        ];
        let share = (self.next() % 1_000_000) as f64 / 1_000_000.0;
        let mut rank = (40_000_f64.powf(share)) as u64;
        let mut word = String::new();
        loop {
            word.push_str(SYLLABLES[(rank % 16) as usize]);
            rank /= 16;
            if rank == 0 {
                return word;
            }
        }
    }

    fn text(&mut self, n_words: usize) -> String {
        (0..n_words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

fn write(folder: &Path, n: usize, words: &mut Words) {
    let day = 20_260_101 + (n % 28);
    let (title, body) = (words.text(8), words.text(70));
    let text = format!(
        "---\nid: {day}-n{n}\ntitle: {title}\nupdated: 2026-01-02\ntags: [t{}]\n---\n\n{body}\n",
        n % 50
    );
    fs::write(folder.join(format!("memory/decisions/{day}-n{n}.md")), text).unwrap();
}

fn make_located(n: usize) -> Located {
    let id = format!("{}-n{n}", 20_260_101 + (n % 28));
    Located {
        id: id.parse().unwrap(),
        memory_type: MemoryType::Decision,
        area: StoreArea::Active,
        path: RelPath::new(&format!("memory/decisions/{id}.md")).unwrap(),
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

struct Bounds {
    is_broken: bool,
}

impl Bounds {
    fn row(&mut self, what: &str, value: f64, unit: &str, is_held: bool) {
        self.is_broken |= !is_held;
        println!("{what:<44} {value:>10.2} {unit:<6} {}", if is_held { "ok" } else { "FAIL" });
    }
}

fn measure(scratch: &Path, n: usize, bounds: &mut Bounds) {
    let folder = scratch.join(format!("search-{n}"));
    fs::create_dir_all(folder.join("memory/decisions")).unwrap();
    let mut words = Words { state: 88_172_645_463_325_252 };
    (0..n).for_each(|n| write(&folder, n, &mut words));
    let store = Store::new(WriteScope::open(&folder, Access::Private).unwrap(), Rules::default());
    let owner = Owner { pid: 1, command: "bench".to_owned(), since: String::new() };
    let now = Timestamp::now();
    let begun = Instant::now();
    drop(MemoryIndex::open(&store, &owner, now).unwrap());
    let rate = n as f64 / begun.elapsed().as_secs_f64();
    bounds.row(&format!("{n}: records indexed per second"), rate, "", rate >= 5000.0);
    let begun = Instant::now();
    let mut index = MemoryIndex::open(&store, &owner, now).unwrap();
    bounds.row(&format!("{n}: opened without changes"), millis(begun.elapsed()), "ms", true);
    let options = MemoryOptions { mode: Mode::Hybrid, limit: 10, archived: false };
    let questions: Vec<Query> = (0..N_QUESTIONS).map(|_| Query::plain(&words.text(6))).collect();
    let times = questions.iter().map(|question| {
        let begun = Instant::now();
        std::hint::black_box(index.search(question, &options));
        begun.elapsed()
    });
    let asked = median(times.collect());
    let bound = if n <= 1000 { 2.0 } else { 15.0 };
    bounds.row(&format!("{n}: a question, p50"), millis(asked), "ms", millis(asked) <= bound);
    let mut times = Vec::new();
    for change in 0..N_CHANGES {
        write(&folder, change * 7 % n, &mut words);
        let begun = Instant::now();
        index = index.refresh(&[make_located(change * 7 % n)], &owner);
        times.push(begun.elapsed());
    }
    let changed = median(times);
    bounds.row(&format!("{n}: a changed file, p50"), millis(changed), "ms", millis(changed) <= 5.0);
    let _ = fs::remove_dir_all(&folder);
}

/// Measure memory search: indexing, queries, single changes, and memory use
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    scratch: PathBuf,
    #[arg(default_values_t = [1000, 100_000])]
    sizes: Vec<usize>,
}

pub(super) fn run(args: &SearchArgs) -> Outcome {
    let mut bounds = Bounds { is_broken: false };
    for n in &args.sizes {
        measure(&args.scratch, *n, &mut bounds);
    }
    bounds.row("peak memory, including indexing", peak_mb() as f64, "MB", true);
    Ok(!bounds.is_broken)
}
