//! Tests permissions: generated requests by people with random sets of projects must not find
//! anything in other projects.

use std::collections::BTreeSet;

use jiff::Timestamp;
use nacre_memory::search::{LibraryOptions, Mode, News, Query, Readable, Record, Unit};
use nacre_team::postgres::search::SharedRecords;

use crate::chance::Chance;
use crate::server::Server;

const N_PROJECTS: usize = 6;
const N_RECORDS: usize = 8;

/// Total number of requests, divided among threads.
const N_REQUESTS: usize = 10_000;
const N_THREADS: usize = 4;

/// Returns a word that only one project's records contain.
fn secret(project: usize) -> String {
    format!("zanzibar{}", ["alfa", "bravo", "charlie", "delta", "echo", "foxtrot"][project])
}

fn name(project: usize) -> String {
    format!("team/project-{project}")
}

fn units() -> Vec<Unit> {
    let numbers = (0..N_PROJECTS).flat_map(|project| (0..N_RECORDS).map(move |nth| (project, nth)));
    let unit = |(project, nth): (usize, usize)| {
        let key = format!("p{project}-r{nth}");
        let record = Record {
            key: key.clone(),
            title: format!("The {} queue uses leases {nth}", secret(project)),
            body: "Workers retry sessions after a timeout of the server.".to_owned(),
            facets: vec![("project", name(project)), ("id", key.clone())],
            time_ms: 1_700_000_000_000 + nth as i64,
            ..Record::default()
        };
        Unit { key, records: vec![record], ..Unit::default() }
    };
    numbers.map(unit).collect()
}

/// Returns a query about a project, independent of the caller.
fn question(chance: &mut Chance, aim: usize) -> Query {
    match chance.below(5) {
        0 => Query::plain(&secret(aim)),
        1 => Query::plain("queue leases").with_facet("project", &name(aim)),
        2 => Query::plain("").with_facet("id", &format!("p{aim}-r{}", chance.below(N_RECORDS))),
        3 => Query::plain("how do workers retry a session"),
        _ => Query::plain("").with_facet("project", &name(aim)),
    }
}

/// Makes a request with a random set of projects and checks its results.
fn ask(records: &SharedRecords, chance: &mut Chance) {
    let mix = chance.below(1 << N_PROJECTS);
    let allowed: BTreeSet<usize> =
        (0..N_PROJECTS).filter(|project| mix >> project & 1 == 1).collect();
    let names: Vec<String> = allowed.iter().map(|project| name(*project)).collect();
    let readable = Readable::projects(names.iter().map(String::as_str));
    let aim = chance.below(N_PROJECTS);
    let query = question(chance, aim);
    let mode = [Mode::Hybrid, Mode::Lexical, Mode::Semantic][chance.below(3)];
    let now_ms = Timestamp::from_second(1_800_000_000).unwrap().as_millisecond();
    let options = LibraryOptions { mode, limit: 100, now_ms };
    let hits = records.search(&query, &readable, options).unwrap();
    for hit in &hits {
        let project = hit.record[1..2].parse::<usize>().unwrap();
        assert!(allowed.contains(&project), "{query:?} by {names:?}: {hit:?}");
    }
    let aims_at_record = query.text.is_empty();
    if aims_at_record {
        assert_eq!(!hits.is_empty(), allowed.contains(&aim), "{query:?} by {names:?}");
    }
    if chance.below(10) == 0 {
        let n_records = records.n_records(&readable).unwrap();
        assert_eq!(n_records, (allowed.len() * N_RECORDS) as u64);
    }
}

#[test]
fn nobody_finds_or_counts_what_is_not_theirs() {
    let Some(server) = Server::start() else { return };
    let mut records = SharedRecords::open(&server.database()).unwrap();
    records.apply(&News { units: units(), ..News::default() }).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let records = records.clone();
            scope.spawn(move || {
                let mut chance = Chance::new(thread as u64 + 1);
                for _ in 0..N_REQUESTS / N_THREADS {
                    ask(&records, &mut chance);
                }
            });
        }
    });
}
