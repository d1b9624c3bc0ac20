//! Compares the search quality of the local index with that of PostgreSQL, on the data sets of
//! `eval retrieval`.
//!
//! Each haystack is loaded as one project into the local index and into PostgreSQL. The command
//! exits with 1 if PostgreSQL is worse by more than one percentage point.

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;

use super::server::Server;
use nacre_memory::search::{Level, LibraryOptions, Mode, News, Query, Readable, RecordHit, Unit};
use nacre_team::postgres::search::SharedRecords;

use crate::Outcome;
use crate::eval::datasets::{self, Format, Haystack, Question};
use crate::eval::in_memory::InMemoryIndex;

const DEPTH: usize = 50;
const PROJECT: &str = "set";

#[derive(Default)]
struct Scores {
    n_questions: f64,
    recall_5: f64,
    recall_10: f64,
    mrr: f64,
}

impl Scores {
    fn add(&mut self, question: &Question, found: &[String]) {
        let is_answer = |key: &String| question.truth.iter().any(|keys| keys.contains(key));
        let recall = |depth: usize| {
            let top: HashSet<&String> = found.iter().take(depth).collect();
            let n_given = question
                .truth
                .iter()
                .filter(|keys| keys.iter().any(|key| top.contains(key)))
                .count();
            n_given as f64 / question.truth.len() as f64
        };
        self.n_questions += 1.0;
        self.recall_5 += recall(5);
        self.recall_10 += recall(10);
        self.mrr += found.iter().position(is_answer).map_or(0.0, |place| 1.0 / (place + 1) as f64);
    }

    fn percent(&self) -> [f64; 3] {
        [self.recall_5, self.recall_10, self.mrr].map(|sum| 100.0 * sum / self.n_questions.max(1.0))
    }
}

/// Returns the keys of the records or units that were found, best first.
fn keys(found: Vec<RecordHit>, level: Level) -> Vec<String> {
    let mut seen = HashSet::new();
    let key = |hit: RecordHit| match level {
        Level::Records => hit.record,
        Level::Units => hit.unit,
    };
    found.into_iter().map(key).filter(|key| seen.insert(key.clone())).collect()
}

fn compare(server: &Server, haystacks: &[Haystack]) -> Result<[Scores; 2], Box<dyn Error>> {
    let mut scores = [Scores::default(), Scores::default()];
    for haystack in haystacks {
        server.sql("DROP SCHEMA IF EXISTS nacre CASCADE");
        let mut units: Vec<Unit> = haystack.units.clone();
        for record in units.iter_mut().flat_map(|unit| &mut unit.records) {
            record.facets.push(("project", PROJECT.to_owned()));
        }
        let local = InMemoryIndex::new(&units);
        let mut shared = SharedRecords::open(&server.database())?;
        for piece in units.chunks(500) {
            shared.apply(&News { units: piece.to_vec(), ..News::default() })?;
        }
        shared.build_index()?;
        server.sql("ANALYZE");
        let latest = units.iter().flat_map(|unit| &unit.records).map(|one| one.time_ms).max();
        let readable = Readable::projects([PROJECT]);
        for question in haystack.questions.iter().filter(|question| !question.truth.is_empty()) {
            let asked = question.asked.map(jiff::Timestamp::as_millisecond);
            let now_ms = asked.or(latest).unwrap_or(0);
            let options = LibraryOptions { mode: Mode::Hybrid, limit: DEPTH, now_ms };
            let query = Query::plain(&question.text);
            let found =
                [local.search_records(&query, options), shared.search(&query, &readable, options)?];
            for (found, scores) in found.into_iter().zip(&mut scores) {
                scores.add(question, &keys(found, haystack.level));
            }
        }
    }
    Ok(scores)
}

/// Compare the local index and PostgreSQL on the data sets of `eval retrieval`
#[derive(Debug, clap::Args)]
pub(crate) struct QualityArgs {
    /// locomo|devmembench|longmemeval|jsonl FILE, in pairs
    #[arg(required = true)]
    datasets: Vec<String>,
}

pub(super) fn run(args: &QualityArgs) -> Outcome {
    let Some(server) = Server::start() else { return Ok(true) };
    let mut is_worse = false;
    println!(
        "set                   questions  R@5 local shared  R@10 local shared  MRR local shared"
    );
    for pair in args.datasets.chunks_exact(2) {
        let path = Path::new(&pair[1]);
        let read = |path: &Path| std::fs::read_to_string(path);
        let (format, beside) = match pair[0].as_str() {
            "locomo" => (Format::Locomo, String::new()),
            "longmemeval" => (Format::Longmemeval, String::new()),
            "devmembench" => (Format::Devmembench, read(&path.with_file_name("sessions.json"))?),
            _ => (Format::Jsonl, String::new()),
        };
        let haystacks = datasets::read(format, &read(path)?, &beside)?;
        let [local, shared] = compare(&server, &haystacks)?;
        let (one, other) = (local.percent(), shared.percent());
        is_worse |= one.iter().zip(&other).any(|(one, other)| one - other > 1.0);
        println!(
            "{:<20} {:>10}  {:>9.1} {:>6.1}  {:>10.1} {:>6.1}  {:>9.1} {:>6.1}",
            pair[0], local.n_questions, one[0], other[0], one[1], other[1], one[2], other[2]
        );
    }
    Ok(!is_worse)
}
