//! Quickly creates a store with realistic memories for benchmarks.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use nacre_memory::{Claim, Draft, LEARNING_KINDS, MemoryId, Quote, Speaker, SummaryDraft, Trust};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox::{self, NOW};
use crate::torture::tally::Tally;

const PER_BATCH: usize = 1000;

const SUBJECTS: [&str; 24] = [
    "SQLite",
    "the queue",
    "the parser",
    "retry policy",
    "CI cache",
    "session storage",
    "the index",
    "login flow",
    "error codes",
    "the scheduler",
    "migrations",
    "rate limits",
    "the importer",
    "feature flags",
    "release notes",
    "log rotation",
    "the dashboard",
    "token budget",
    "file locks",
    "unicode titles",
    "the exporter",
    "health checks",
    "background jobs",
    "the test harness",
];
const VERBS: [&str; 16] = [
    "Keep", "Move", "Split", "Drop", "Prefer", "Avoid", "Measure", "Cache", "Rename", "Guard",
    "Batch", "Pin", "Rewrite", "Document", "Retry", "Bound",
];
const REASONS: [&str; 16] = [
    "because the second process held the lock for minutes",
    "since the tests need TZ=UTC and fail after 23:00 otherwise",
    "so that a restart finds all of it or none",
    "after the p99 went from 40 ms to 900 ms under load",
    "as the vendor deletes old keys without notice",
    "because a merge of two branches reordered the entries",
    "to keep the binary below ten megabytes",
    "since nobody could tell which value won",
    "because the mock never returned the error that production does",
    "so that one broken file does not block the others",
    "as the cursor skipped the last row of every full page",
    "because reviewers asked for it three times",
    "to make the order of events visible in the log",
    "since the cache key ignored the feature set",
    "because a retry doubled the invoice",
    "so that the same trace gives the same names on every machine",
];

pub(crate) fn run(seed: u64, dir: &Path, n_memories: usize) -> Result<Tally, AnyError> {
    let started = Instant::now();
    std::fs::create_dir_all(dir)?;
    let store = sandbox::open_store(dir)?;
    let mut rng = Rng::new(seed);
    let first: Timestamp = NOW.parse()?;
    let mut known: Vec<MemoryId> = Vec::new();
    for from in (0..n_memories).step_by(PER_BATCH) {
        let mut batch = store.begin(&sandbox::owner("corpus"), Duration::from_secs(60))?;
        for idx in from..n_memories.min(from + PER_BATCH) {
            let now = first + SignedDuration::from_secs(i64::try_from(idx)? * 997);
            // The ratio of decisions to learnings to summaries is 6:3:1.
            known.push(match idx % 10 {
                0..6 => batch.add(&draft(Claim::Decision, idx, &known, &mut rng), now)?,
                6..9 => {
                    let kind = LEARNING_KINDS[idx % LEARNING_KINDS.len()].kind;
                    batch.add(&draft(Claim::Learning(kind), idx, &known, &mut rng), now)?
                }
                _ => batch.add_summary(&summary(idx, &known, &mut rng), now)?,
            });
        }
        batch.commit()?;
    }
    let tally = Tally::new("corpus");
    tally.end(&format!("{n_memories} memories, {:.1} s", started.elapsed().as_secs_f64()));
    Ok(tally)
}

fn title(idx: usize, rng: &mut Rng) -> String {
    format!("{} {} {}", rng.pick(&VERBS), rng.pick(&SUBJECTS), idx)
}

fn body(rng: &mut Rng) -> String {
    let wanted = 500 + rng.index(1500);
    let mut body = String::new();
    while body.len() < wanted {
        let verb = rng.pick(&VERBS);
        let sentence = format!("{verb} {} {}.", rng.pick(&SUBJECTS), rng.pick(&REASONS));
        body.push_str(&sentence);
        body.push_str(match rng.below(6) {
            0 => "\n\n",
            1 => "\n\n- ",
            2 => "\n\n```sh\ncargo test -p store -- --nocapture\n```\n\n",
            _ => " ",
        });
    }
    body
}

fn pick_related(known: &[MemoryId], rng: &mut Rng) -> Vec<MemoryId> {
    let n_links = if known.is_empty() { 0 } else { rng.below(3) };
    (0..n_links).map(|_| rng.pick(known).clone()).collect()
}

fn tags(rng: &mut Rng) -> Vec<String> {
    let words = ["storage", "testing", "ci", "api", "performance", "release", "security"];
    (0..rng.below(4)).map(|_| (*rng.pick(&words)).to_owned()).collect()
}

fn draft(claim: Claim, idx: usize, known: &[MemoryId], rng: &mut Rng) -> Draft {
    let quotes = (0..=rng.below(3)).map(|n| Quote {
        text: format!("We should do this {}.", rng.pick(&REASONS)),
        speaker: Speaker::User,
        place: format!("sessions/claude/{idx}.jsonl:{}", n * 17 + 4),
        at: NOW.to_owned(),
    });
    let quotes = quotes.collect();
    Draft {
        claim,
        title: title(idx, rng),
        body: body(rng),
        tags: tags(rng),
        applies: Vec::new(),
        related: pick_related(known, rng),
        source: "sync".to_owned(),
        confidence: 0.8,
        basis: None,
        importance: None,
        quotes,
        limit: Trust::Human,
    }
}

fn summary(idx: usize, known: &[MemoryId], rng: &mut Rng) -> SummaryDraft {
    SummaryDraft {
        title: title(idx, rng),
        description: format!("What was done, {}", rng.pick(&REASONS)),
        body: body(rng),
        coding_agent: "claude".to_owned(),
        raw_trace_path: format!("meta/traces/sessions/claude/run-{idx}.jsonl"),
        run_id: format!("run-{idx}"),
        repo_name: "bench".to_owned(),
        related: pick_related(known, rng),
        tags: tags(rng),
    }
}
