//! Tests that local and PostgreSQL searches find the same records, and none that the caller may not
//! read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use nacre_memory::search::{
    Fingerprint, LibraryOptions, Link, LinkKind, Mode, News, Query, Readable, Record, RecordHit,
    Standing, Unit, filter_rows, index_units, search_snapshot,
};
use nacre_team::postgres::database::DatabaseError;
use nacre_team::postgres::search::SharedRecords;

use crate::chance::Chance;
use crate::server::Server;

const PROJECTS: [&str; 4] = ["Shop", "ledger", "search-engine", "web"];

const WORDS: [&str; 40] = [
    "sqlite",
    "queue",
    "lease",
    "retry",
    "cache",
    "token",
    "server",
    "socket",
    "index",
    "vector",
    "memory",
    "session",
    "deploy",
    "release",
    "branch",
    "merge",
    "review",
    "test",
    "fixture",
    "snapshot",
    "database",
    "migration",
    "schema",
    "timeout",
    "thread",
    "lock",
    "journal",
    "atomic",
    "rename",
    "permission",
    "password",
    "certificate",
    "proxy",
    "docker",
    "compose",
    "kubernetes",
    "metric",
    "trace",
    "summary",
    "decision",
];

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn options(mode: Mode) -> LibraryOptions {
    LibraryOptions { mode, limit: 500, now_ms: now().as_millisecond() }
}

/// An index of the same records in memory, which ranks all of them.
#[derive(Default)]
struct LocalIndex {
    units: BTreeMap<String, Unit>,
}

impl LocalIndex {
    fn apply(&mut self, news: &News) {
        self.units.retain(|key, _| !news.gone.contains(key));
        self.units.extend(news.units.iter().map(|unit| (unit.key.clone(), unit.clone())));
    }

    fn n_records(&self, readable: &Readable) -> u64 {
        let records = self.units.values().flat_map(|unit| &unit.records);
        records.filter(|record| may_read(readable, record)).count() as u64
    }

    fn search(&self, query: &Query, readable: &Readable, mode: Mode) -> Vec<RecordHit> {
        let units: Vec<Unit> = self.units.values().cloned().collect();
        let snapshot = index_units(&units);
        let mut allowed = filter_rows(&snapshot, query, true);
        for (row, is_allowed) in allowed.iter_mut().enumerate() {
            // Each unit has one record.
            let record = &self.units[snapshot.unit_key(row)].records[0];
            *is_allowed &= may_read(readable, record);
        }
        let text_of = |_: &str, _: &str| None;
        search_snapshot(&snapshot, query, &allowed, options(mode), &text_of)
    }
}

fn may_read(readable: &Readable, record: &Record) -> bool {
    match readable {
        Readable::Everything => true,
        Readable::Projects(names) => project(record).is_some_and(|name| names.contains(&name)),
    }
}

/// Both indexes.
struct World {
    local: LocalIndex,
    shared: SharedRecords,
}

impl World {
    fn new(server: &Server) -> Self {
        Self {
            local: LocalIndex::default(),
            shared: SharedRecords::open(&server.database()).unwrap(),
        }
    }

    fn apply(&mut self, news: &News) {
        self.local.apply(news);
        self.shared.apply(news).unwrap();
    }

    fn search(
        &self,
        query: &Query,
        readable: &Readable,
        mode: Mode,
    ) -> (Vec<RecordHit>, Vec<RecordHit>) {
        let local = self.local.search(query, readable, mode);
        (local, self.shared.search(query, readable, options(mode)).unwrap())
    }
}

fn sentence(chance: &mut Chance, n_words: usize) -> String {
    let words: Vec<&str> = (0..n_words).map(|_| *chance.pick(&WORDS).unwrap()).collect();
    words.join(" ")
}

fn record(key: &str, chance: &mut Chance) -> Record {
    let project = (*chance.pick(&PROJECTS).unwrap()).to_owned();
    let mut facets = vec![("id", key.to_owned()), ("status", "active".to_owned())];
    if chance.below(8) > 0 {
        facets.push(("project", project));
    }
    Record {
        key: key.to_owned(),
        title: sentence(chance, 4),
        tags: sentence(chance, 1),
        body: format!("It's {} \u{0} \\ {}", sentence(chance, 9), chance.below(30))
            .replace('\0', ""),
        quotes: sentence(chance, 3),
        facets,
        time_ms: 1_700_000_000_000 + chance.below(1000) as i64 * 86_400_000,
        standing: Standing::from_code(chance.below(5) as u8),
        confidence: chance.below(100) as f32 / 100.0,
        links: vec![Link { kind: LinkKind::Related, to: format!("r{}", chance.below(60)) }],
        ..Record::default()
    }
}

fn unit(number: usize, chance: &mut Chance) -> Unit {
    let key = format!("unit-{number}");
    let stamp = u64::MAX - chance.below(1000) as u64;
    let fingerprint = Fingerprint { stamp, side: 1, content: chance.next() };
    // Each unit has one record, like a memory. Neighbors of messages are not compared here, because
    // one of the stores only estimates them.
    let records = vec![record(&format!("r{number}"), chance)];
    Unit { key, fingerprint, records }
}

fn keys(hits: &[RecordHit]) -> BTreeSet<&str> {
    hits.iter().map(|hit| hit.record.as_str()).collect()
}

fn readable(chance: &mut Chance) -> Readable {
    match chance.below(4) {
        0 => Readable::Everything,
        1 => Readable::projects([]),
        _ => Readable::projects(PROJECTS.into_iter().filter(|_| chance.below(2) == 0)),
    }
}

#[test]
fn of_two_units_with_one_key_the_last_counts() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(&server);
    let mut chance = Chance::new(7);
    let (first, mut second) = (unit(1, &mut chance), unit(1, &mut chance));
    second.key.clone_from(&first.key);
    let n_records = second.records.len() as u64;
    world.shared.apply(&News { units: vec![first, second], ..News::default() }).unwrap();
    assert_eq!(world.shared.n_records(&Readable::Everything).unwrap(), n_records);
}

#[test]
fn both_indexes_find_the_same() {
    let Some(server) = Server::start() else { return };
    for seed in 1..=4 {
        server.sql("DROP SCHEMA IF EXISTS nacre CASCADE");
        let mut world = World::new(&server);
        let mut chance = Chance::new(seed);
        let mut projects: BTreeMap<String, Option<String>> = BTreeMap::new();
        for round in 0..6 {
            let mut news = News::default();
            let numbers: BTreeSet<usize> = (0..12).map(|_| chance.below(40)).collect();
            for number in numbers {
                if chance.below(5) == 0 {
                    news.gone.push(format!("unit-{number}"));
                } else {
                    news.units.push(unit(number, &mut chance));
                }
            }
            for unit in &news.units {
                projects.extend(
                    unit.records.iter().map(|record| (record.key.clone(), project(record))),
                );
            }
            world.apply(&news);
            let what = format!("seed {seed}, round {round}");
            let local = world.local.units.values();
            let local = local.map(|unit| (unit.key.clone(), format!("{:?}", unit.fingerprint)));
            let shared = world.shared.fingerprints().unwrap().into_iter();
            let shared = shared.map(|(key, of)| (key, format!("{of:?}")));
            assert_eq!(
                local.collect::<BTreeMap<_, _>>(),
                shared.collect::<BTreeMap<_, _>>(),
                "{what}"
            );
            for _ in 0..25 {
                compare(&world, &mut chance, &projects, &what);
            }
        }
    }
}

fn project(record: &Record) -> Option<String> {
    record.facets.iter().find(|(name, _)| *name == "project").map(|(_, value)| value.to_lowercase())
}

/// Compares the results of both indexes for a random query.
fn compare(
    world: &World,
    chance: &mut Chance,
    projects: &BTreeMap<String, Option<String>>,
    what: &str,
) {
    let readable = readable(chance);
    let n_shared = world.shared.n_records(&readable).unwrap();
    assert_eq!(world.local.n_records(&readable), n_shared, "{what}");
    let n_words = chance.below(4);
    let mut query = Query::plain(&sentence(chance, n_words));
    if chance.below(3) == 0 {
        query = query.with_facet("project", chance.pick(&PROJECTS).unwrap());
    }
    if chance.below(4) == 0 {
        query.after =
            Timestamp::from_second(1_700_000_000 + chance.below(1000) as i64 * 86_400).ok();
    }
    let mode = [Mode::Lexical, Mode::Hybrid, Mode::Semantic][chance.below(3)];
    let (local, shared) = world.search(&query, &readable, mode);
    if let Readable::Projects(allowed) = &readable {
        for hit in &shared {
            let project = projects[&hit.record].as_ref();
            assert!(project.is_some_and(|project| allowed.contains(project)), "{what}: {hit:?}");
        }
    }
    let what = format!("{what}: {query:?} {readable:?} {mode:?}");
    // One index stores vectors with lower precision, so results near the similarity threshold may
    // differ.
    let edge = |hits: &[RecordHit], key: &str| {
        let least = hits.iter().map(|hit| hit.score).fold(f32::INFINITY, f32::min);
        let hit = hits.iter().find(|hit| hit.record == key);
        hit.is_some_and(|hit| (hit.similarity - 0.25).abs() < 0.01 || hit.score < least * 1.05)
    };
    // Scores are scaled between the best and worst records considered: all records in the local
    // index, but only records that pass the filter in the database. If a filter excludes records,
    // the database omits fewer records with low scores.
    let is_filtered =
        readable != Readable::Everything || query.after.is_some() || !query.facets.is_empty();
    let pairs = [(&local, &shared), (&shared, &local)];
    for (one, other) in pairs.into_iter().take(if is_filtered { 1 } else { 2 }) {
        let others = keys(other);
        let missing = keys(one).into_iter().filter(|key| !others.contains(key));
        let missing: Vec<&str> =
            missing.filter(|key| mode == Mode::Lexical || !edge(one, key)).collect();
        assert!(
            missing.is_empty(),
            "{what}\nmissing {missing:?}\nlocal {local:?}\nshared {shared:?}"
        );
    }
    if is_filtered {
        return;
    }
    // Records are ordered by their distance from the best score. Vectors are rounded differently,
    // and the candidates may not include the worst record.
    let behind = |hits: &[RecordHit], key: &str| -> Option<f32> {
        let best = hits.first()?.score;
        hits.iter().find(|hit| hit.record == key).map(|hit| best - hit.score)
    };
    let bound = 0.05 + 0.05 * local.first().map_or(0.0, |best| best.score);
    for key in keys(&local) {
        let (Some(one), Some(other)) = (behind(&local, key), behind(&shared, key)) else {
            continue;
        };
        let gap = (one - other).abs();
        assert!(gap < bound, "{what}\n{key}: {gap}\nlocal {local:?}\nshared {shared:?}");
    }
}

#[test]
fn a_record_and_what_it_supersedes_change_places_at_once() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(&server);
    let of = |number: usize, status: &str| {
        let key = format!("d{number}");
        let facets = vec![("project", "shop".to_owned()), ("status", status.to_owned())];
        let record = Record {
            key: key.clone(),
            title: "Use one queue".to_owned(),
            facets,
            ..Record::default()
        };
        Unit { key, records: vec![record], ..Unit::default() }
    };
    world.apply(&News { units: vec![of(0, "active")], ..News::default() });
    let is_over = AtomicBool::new(false);
    let reader = world.shared.clone();
    std::thread::scope(|scope| {
        let seen = scope.spawn(|| {
            let query = Query::plain("queue").with_facet("status", "active");
            let mut n_looks = 0;
            while !is_over.load(Ordering::Relaxed) {
                let readable = Readable::projects(["shop"]);
                let hits = reader.search(&query, &readable, options(Mode::Lexical)).unwrap();
                // A candidate may be replaced between being found and being read, but there are
                // never two results.
                assert!(hits.len() <= 1, "{hits:?}");
                n_looks += 1;
            }
            n_looks
        });
        for number in 1..40 {
            let units = vec![of(number - 1, "superseded"), of(number, "active")];
            world.shared.apply(&News { units, ..News::default() }).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(seen.join().unwrap() > 3);
    });
    let count = "SELECT count(*) FROM nacre.record WHERE facets LIKE '%status_active%'";
    assert_eq!(server.sql(count), "1");
}

#[test]
fn vectors_of_another_model_are_refused() {
    let Some(server) = Server::start() else { return };
    let mut world = World::new(&server);
    let use_other = || server.sql("UPDATE nacre.search_model SET model = 'other'");
    use_other();
    // The model can change while there are no vectors.
    world.shared = SharedRecords::open(&server.database()).unwrap();
    let mut chance = Chance::new(1);
    world.apply(&News { units: vec![unit(1, &mut chance)], ..News::default() });
    use_other();
    let error = SharedRecords::open(&server.database()).unwrap_err();
    assert!(matches!(error, DatabaseError::OtherModel { .. }), "{error:?}");
}
