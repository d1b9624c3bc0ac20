//! Tests that a backup made and restored with PostgreSQL's own tools contains all data.

use jiff::Timestamp;
use nacre_team::people::{AccessScope, PeopleStore, Permissions, TokenHash, TokenRecord};
use nacre_team::postgres::database::{Database, DatabaseOptions};
use nacre_team::postgres::people::SharedPeople;

use crate::server::Server;

/// Runs one of PostgreSQL's programs, asserts that it succeeds, and returns its output.
fn program(server: &Server, name: &str, args: &[&str]) -> String {
    let output = server.command(name).args(args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {told}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_dump_holds_all_that_cannot_be_made_again() {
    let Some(server) = Server::start() else { return };
    let mut people = SharedPeople::open(&server.database()).unwrap();
    let token = TokenRecord {
        id: TokenHash::of("secret").id(),
        revoked: None,
        person: "ana".to_owned(),
        hash: TokenHash::of("secret"),
        permissions: Permissions::everywhere(AccessScope::Read).with("pearl", AccessScope::Admin),
        created: Timestamp::from_second(4_000_000_000).unwrap(),
        expires: None,
    };
    people.add_token(&token).unwrap();
    server.sql("INSERT INTO nacre.service_run (id, what, started) VALUES ('run-1', 'sync', 7)");
    let count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'nacre'";
    let n_tables = server.sql(count);

    // Programs run in the server's directory.
    let dump = "nacre.dump";
    program(&server, "pg_dump", &["--format=custom", "--file", dump, "--dbname", &server.url()]);
    server.sql("CREATE DATABASE restored");
    let restored = server.url().replace("/postgres", "/restored");
    program(&server, "pg_restore", &["--exit-on-error", "--dbname", &restored, dump]);

    let database = Database::new(DatabaseOptions::new(&restored)).unwrap();
    assert_eq!(database.migrate().unwrap().steps, Vec::<&str>::new(), "nothing is left to do");
    let copy = SharedPeople::open(&database).unwrap();
    assert_eq!(copy.tokens().unwrap(), people.tokens().unwrap());
    let asked = |sql: &str| program(&server, "psql", &["-AtX", "--dbname", &restored, "-c", sql]);
    assert_eq!(asked(count).trim(), n_tables.trim());
    assert_eq!(asked("SELECT id FROM nacre.service_run").trim(), "run-1");
}
