//! Tests that the local people store and the PostgreSQL store return the same results for random
//! operations.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_team::people::{
    AccessScope, AuditEntry, AuditFilter, LocalPeople, PeopleError, PeopleStore, Permissions,
    TokenHash, TokenRecord,
};
use nacre_team::postgres::people::SharedPeople;

use crate::chance::Chance;
use crate::server::Server;

const PEOPLE: [&str; 4] = ["ana", "bo@example.org", "cy", "no/body"];
const PROJECTS: [&str; 3] = ["pearl", "shell", "reef"];

fn local(folder: &tempfile::TempDir) -> LocalPeople {
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let home = WriteScope::create(folder.path(), Access::Private).unwrap();
    LocalPeople::open(&home, &owner, Duration::from_secs(5)).unwrap()
}

/// Formats a result or an error as the user would see it.
fn told<T: std::fmt::Debug>(result: Result<T, PeopleError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("Error: {error}"),
    }
}

fn permissions(chance: &mut Chance) -> Permissions {
    let scope = |chance: &mut Chance| AccessScope::ALL[chance.below(3)];
    let mut all = match chance.below(3) {
        0 => Permissions::everywhere(scope(chance)),
        _ => Permissions::default(),
    };
    for project in PROJECTS {
        if chance.below(2) == 0 {
            all = all.with(project, scope(chance));
        }
    }
    all
}

/// Runs one operation on a store. The result must not depend on the store.
fn step(store: &mut dyn PeopleStore, what: usize, with: &Step) -> String {
    match what {
        0..=2 => told(store.add_token(&with.token)),
        3 => told(store.revoke(&with.id, with.now)),
        4 => told(store.token(&with.token.hash.id())),
        5 => told(store.token_of(&with.token.person, with.now)),
        6 | 7 => told(store.record(&with.entries)),
        8 => told(store.audit(&with.filter)),
        9 => told(store.prune_audit(with.before, with.keep)),
        _ => told(store.tokens()),
    }
}

/// The arguments of an operation.
struct Step {
    token: TokenRecord,
    id: String,
    entries: Vec<AuditEntry>,
    filter: AuditFilter,
    before: Timestamp,
    keep: usize,
    now: Timestamp,
}

impl Step {
    fn new(chance: &mut Chance, now: Timestamp, n_tokens: usize) -> Self {
        let after = |hours: usize| now + SignedDuration::from_hours(hours as i64);
        // Sometimes adds a token that already exists.
        let hash = TokenHash::of(&format!("token {}", chance.below(n_tokens + 2)));
        let entry = |chance: &mut Chance| AuditEntry {
            at: now - SignedDuration::from_hours(chance.below(4) as i64),
            who: PEOPLE[chance.below(4)].to_owned(),
            what: "GET /api/memories".to_owned(),
            project: [None, Some("pearl".to_owned())][chance.below(2)].clone(),
            outcome: ["ok", "403"][chance.below(2)].to_owned(),
        };
        Self {
            id: hash.id().chars().take(chance.below(11)).collect(),
            token: TokenRecord {
                id: hash.id(),
                revoked: None,
                person: PEOPLE[chance.below(4)].to_owned(),
                hash,
                permissions: permissions(chance),
                created: now,
                expires: (chance.below(2) == 0).then(|| after(chance.below(40) + 1)),
            },
            entries: (0..chance.below(4)).map(|_| entry(chance)).collect(),
            filter: AuditFilter {
                who: (chance.below(2) == 0).then(|| PEOPLE[chance.below(4)].to_owned()),
                project: (chance.below(2) == 0).then(|| "pearl".to_owned()),
                since: (chance.below(2) == 0).then(|| now - SignedDuration::from_hours(2)),
                limit: chance.below(50),
            },
            before: now - SignedDuration::from_hours(chance.below(60) as i64),
            keep: chance.below(60),
            now,
        }
    }
}

#[test]
fn both_stores_answer_alike() {
    let Some(server) = Server::start() else { return };
    let mut shared = SharedPeople::open(&server.database()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut local = local(&folder);
    let mut chance = Chance::new(23);
    let mut now = Timestamp::from_second(4_000_000_000).unwrap();
    for number in 0..1500 {
        now += SignedDuration::from_mins(chance.below(30) as i64);
        let (what, with) = (chance.below(11), Step::new(&mut chance, now, number / 4));
        let (here, there) = (step(&mut local, what, &with), step(&mut shared, what, &with));
        // Each store reports a duplicate token with a different error.
        let is_broken = |text: &str| text.starts_with("Error: Cannot use");
        assert!(here == there || (is_broken(&here) && is_broken(&there)), "{what}: {here} {there}");
    }
    assert!(local.tokens().unwrap().len() > 50);
}

#[test]
fn a_token_that_one_server_ended_lets_nobody_in_on_another() {
    let Some(server) = Server::start() else { return };
    let mut one = SharedPeople::open(&server.database()).unwrap();
    let other = SharedPeople::open(&server.connect()).unwrap();
    let now = Timestamp::from_second(4_000_000_000).unwrap();
    let token = TokenRecord {
        id: TokenHash::of("secret").id(),
        revoked: None,
        person: "ana".to_owned(),
        hash: TokenHash::of("secret"),
        permissions: Permissions::everywhere(AccessScope::Read),
        created: now,
        expires: None,
    };
    let id = one.add_token(&token).unwrap().id;
    assert!(other.token(&id).unwrap().unwrap().is_valid(now));
    one.revoke(&id, now).unwrap();
    assert!(!other.token(&id).unwrap().unwrap().is_valid(now));
    assert_eq!(other.token_of("ana", now).unwrap(), None);
}
