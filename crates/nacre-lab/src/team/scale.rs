//! Fills a database with generated records and measures queries that filter by project and
//! permission.
//!
//! The records belong to 200 projects of very different sizes. Word frequencies follow Zipf's law,
//! as in natural language.

use std::error::Error;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_memory::search::{LibraryOptions, Mode, News, Query, Readable, Record, Unit};
use nacre_team::postgres::database::{Database, DatabaseOptions};
use nacre_team::postgres::search::SharedRecords;

use crate::Outcome;

const N_PROJECTS: usize = 200;
const N_WORDS: usize = 40_000;

const REAL: &[&str] = &[
    "queue",
    "server",
    "memory",
    "session",
    "index",
    "vector",
    "token",
    "cache",
    "lease",
    "retry",
    "test",
    "release",
    "branch",
    "merge",
    "review",
    "database",
    "schema",
    "migration",
    "timeout",
    "thread",
    "lock",
    "journal",
    "rename",
    "permission",
    "password",
    "certificate",
    "proxy",
    "docker",
    "metric",
    "trace",
    "summary",
    "decision",
    "parser",
    "compiler",
    "socket",
    "request",
    "response",
    "header",
    "payment",
    "invoice",
    "customer",
    "order",
    "login",
    "email",
    "upload",
    "image",
    "layout",
];

/// A deterministic pseudo-random number generator.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.share() * n as f64) as usize
    }

    /// Returns a random word. The n-th word is about n times rarer than the first.
    fn word(&mut self) -> String {
        let rank = ((N_WORDS as f64).powf(self.share()) - 1.0) as usize;
        word(rank)
    }

    fn project(&mut self) -> usize {
        ((N_PROJECTS as f64) * self.share().powf(1.7)) as usize
    }
}

fn word(rank: usize) -> String {
    // The 30 most frequent words are artificial and act like the stop words of a natural language.
    match rank.checked_sub(30).and_then(|at| REAL.get(at)) {
        Some(word) => (*word).to_owned(),
        None => {
            let mut number = rank * 7919 + 11;
            let mut text = String::new();
            for _ in 0..3 {
                text.push(char::from(b"bcdfghklmnprstvz"[number % 16]));
                text.push(char::from(b"aeiou"[number / 16 % 5]));
                number /= 37;
            }
            format!("{text}{}", char::from(b'a' + (rank % 26) as u8))
        }
    }
}

fn text(chance: &mut Chance, n_words: usize) -> String {
    let words: Vec<String> = (0..n_words).map(|_| chance.word()).collect();
    words.join(" ")
}

fn unit(number: usize, chance: &mut Chance) -> Unit {
    let key = format!("m{number:07}");
    let length = 25 + chance.below(90);
    let project = format!("project-{:03}", chance.project());
    let record = Record {
        key: key.clone(),
        title: text(chance, 7),
        tags: text(chance, 2),
        body: text(chance, length),
        quotes: text(chance, 15),
        facets: vec![("project", project), ("status", "active".to_owned()), ("id", key.clone())],
        time_ms: 1_700_000_000_000 + chance.below(100_000_000) as i64 * 1000,
        confidence: 0.8,
        ..Record::default()
    };
    Unit { key, records: vec![record], ..Unit::default() }
}

fn load(records: &mut SharedRecords, n_records: usize) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let mut chance = Chance(0x5eed_5eed_5eed);
    let mut number = 0;
    while number < n_records {
        let end = (number + 2000).min(n_records);
        let units = (number..end).map(|number| unit(number, &mut chance)).collect();
        records.apply(&News { units, is_partial: end < n_records, ..News::default() })?;
        number = end;
        if number % 50_000 == 0 {
            println!("{number} records, {} s", begun.elapsed().as_secs());
        }
    }
    println!("loaded {n_records} records in {} s", begun.elapsed().as_secs());
    let begun = Instant::now();
    records.build_index()?;
    println!("built the vector index in {} s", begun.elapsed().as_secs());
    Ok(())
}

fn question(chance: &mut Chance) -> (Query, Readable, &'static str) {
    let n_words = 2 + chance.below(5);
    let words: Vec<String> = (0..n_words).map(|_| chance.word()).collect();
    let query = Query::plain(&words.join(" "));
    let name = |number: usize| format!("project-{number:03}");
    match chance.below(4) {
        0 => (query, Readable::projects([name(chance.project()).as_str()]), "1 project"),
        1 => {
            let names: Vec<String> = (0..20).map(|_| name(chance.below(N_PROJECTS))).collect();
            (query, Readable::projects(names.iter().map(String::as_str)), "20 projects")
        }
        2 => {
            let names: Vec<String> = (0..N_PROJECTS).filter(|n| n % 2 == 0).map(name).collect();
            (query, Readable::projects(names.iter().map(String::as_str)), "100 projects")
        }
        _ => (query, Readable::Everything, "everything"),
    }
}

fn measure(records: &SharedRecords, n_questions: usize) -> Result<(), Box<dyn Error>> {
    let mut chance = Chance(0xa5ce_d0e5);
    let now = Timestamp::from_second(1_800_000_000)?;
    let options = LibraryOptions { mode: Mode::Hybrid, limit: 20, now_ms: now.as_millisecond() };
    let mut times: Vec<(&str, Duration)> = Vec::new();
    let mut n_found = 0;
    for nth in 0..n_questions + n_questions / 10 {
        let (query, readable, who) = question(&mut chance);
        let begun = Instant::now();
        let hits = records.search(&query, &readable, options)?;
        let took = begun.elapsed();
        // The first tenth of the queries only warms up the caches.
        if nth >= n_questions / 10 {
            n_found += hits.len();
            times.push((who, took));
        }
    }
    println!(
        "{} records, {n_questions} questions, {n_found} hits",
        records.n_records(&Readable::Everything)?
    );
    for who in ["1 project", "20 projects", "100 projects", "everything", ""] {
        let mut of: Vec<Duration> = times
            .iter()
            .filter(|(of, _)| who.is_empty() || *of == who)
            .map(|(_, took)| *took)
            .collect();
        of.sort_unstable();
        let at = |share: f64| of.get((of.len() as f64 * share) as usize).or(of.last()).copied();
        let [p50, p90, p99] =
            [0.5, 0.9, 0.99].map(|share| at(share).unwrap_or_default().as_micros() as f64 / 1000.0);
        let name = if who.is_empty() { "all" } else { who };
        println!(
            "{name:14} {:5} questions   p50 {p50:7.1} ms   p90 {p90:7.1} ms   p99 {p99:7.1} ms",
            of.len()
        );
    }
    Ok(())
}

/// Fill a database with generated records, or measure queries that filter by project and permission
#[derive(Debug, clap::Args)]
pub(crate) struct ScaleArgs {
    url: String,
    #[command(subcommand)]
    work: Work,
}

#[derive(Clone, Copy, Debug, clap::Subcommand)]
enum Work {
    Load { records: usize },
    Measure { questions: usize },
}

pub(super) fn run(args: &ScaleArgs) -> Outcome {
    let ScaleArgs { url, work } = args;
    let database = Database::new(DatabaseOptions::new(url))?;
    database.migrate()?;
    let mut records = SharedRecords::open(&database)?;
    match *work {
        Work::Load { records: n } => load(&mut records, n)?,
        Work::Measure { questions: n } => measure(&records, n)?,
    }
    Ok(true)
}
