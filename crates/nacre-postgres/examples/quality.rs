//! How well the two searches answer the same questions: the index of one machine and PostgreSQL, on the data sets of `nacre eval retrieval`.
//!
//! `cargo run --release -p nacre-postgres --example quality -- [locomo|devmembench|longmemeval|jsonl] FILE …`. Each haystack is put into both
//! as one project and asked its questions by the same call. Ends with 1 where PostgreSQL is worse by more than a point.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a program of its own, with arguments, files and an output"
)]

#[path = "../tests/it/server.rs"]
mod server;

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use nacre_core::safefs::Owner;
use nacre_core::search::eval::{self, Format, Haystack, Question};
use nacre_core::search::{
    Builtin, Level, LibraryOptions, LocalRecords, Mode, News, Query, Readable, RecordIndex, Unit,
};
use nacre_postgres::search::SharedRecords;
use server::Server;

const DEPTH: usize = 50;
const PROJECT: &str = "set";

/// What is counted, of how many questions.
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

fn ask(index: &dyn RecordIndex, haystack: &Haystack, question: &Question) -> Vec<String> {
    let latest = haystack.units.iter().flat_map(|unit| &unit.records).map(|one| one.time_ms).max();
    let now_ms = question.asked.map_or(latest.unwrap_or(0), jiff::Timestamp::as_millisecond);
    let options = LibraryOptions { mode: Mode::Hybrid, limit: DEPTH, now_ms };
    let readable = Readable::projects([PROJECT]);
    let found = index.search(&Query::plain(&question.text), &readable, options).unwrap();
    let mut seen = HashSet::new();
    let key = |hit: nacre_core::search::RecordHit| match haystack.level {
        Level::Records => hit.record,
        Level::Units => hit.unit,
    };
    found.into_iter().map(key).filter(|key| seen.insert(key.clone())).collect()
}

fn compare(server: &Server, haystacks: &[Haystack]) -> Result<[Scores; 2], Box<dyn Error>> {
    let embedder = Arc::new(Builtin::shipped()?);
    let mut scores = [Scores::default(), Scores::default()];
    for haystack in haystacks {
        server.sql("DROP SCHEMA IF EXISTS nacre CASCADE");
        let mut units: Vec<Unit> = haystack.units.clone();
        for record in units.iter_mut().flat_map(|unit| &mut unit.records) {
            record.facets.push(("project", PROJECT.to_owned()));
        }
        let texts: std::collections::HashMap<String, String> = units
            .iter()
            .flat_map(|unit| &unit.records)
            .map(|record| (record.key.clone(), nacre_core::search::embedded_text(record)))
            .collect();
        let owner = Owner { pid: 1, command: "quality".to_owned(), since: String::new() };
        let texts = Box::new(move |_: &str, record: &str| texts.get(record).cloned());
        let mut local = LocalRecords::open(None, "quality", embedder.clone(), owner, texts);
        let mut shared = SharedRecords::open(&server.database(), embedder.clone())?;
        for piece in units.chunks(500) {
            let news = News { units: piece.to_vec(), ..News::default() };
            local.apply(&news)?;
            shared.apply(&news)?;
        }
        shared.build_index()?;
        server.sql("ANALYZE");
        let both: [&dyn RecordIndex; 2] = [&local, &shared];
        for question in haystack.questions.iter().filter(|question| !question.truth.is_empty()) {
            for (index, scores) in both.iter().zip(&mut scores) {
                scores.add(question, &ask(*index, haystack, question));
            }
        }
    }
    Ok(scores)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(server) = Server::start() else { return Ok(()) };
    let mut is_worse = false;
    println!(
        "set                   questions  R@5 local shared  R@10 local shared  MRR local shared"
    );
    for pair in arguments.chunks_exact(2) {
        let path = Path::new(&pair[1]);
        let read = |path: &Path| std::fs::read_to_string(path);
        let (format, beside) = match pair[0].as_str() {
            "locomo" => (Format::Locomo, String::new()),
            "longmemeval" => (Format::LongMemEval, String::new()),
            "devmembench" => (Format::DevMemBench, read(&path.with_file_name("sessions.json"))?),
            _ => (Format::Jsonl, String::new()),
        };
        let haystacks = eval::read(format, &read(path)?, &beside)?;
        let [local, shared] = compare(&server, &haystacks)?;
        let (one, other) = (local.percent(), shared.percent());
        is_worse |= one.iter().zip(&other).any(|(one, other)| one - other > 1.0);
        println!(
            "{:<20} {:>10}  {:>9.1} {:>6.1}  {:>10.1} {:>6.1}  {:>9.1} {:>6.1}",
            pair[0], local.n_questions, one[0], other[0], one[1], other[1], one[2], other[2]
        );
    }
    if is_worse { Err("PostgreSQL is worse by more than a point".into()) } else { Ok(()) }
}
