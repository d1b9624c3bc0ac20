//! Tests database connections: the schema, the limits, and a server that stops and restarts.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use nacre_team::postgres::database::{
    Database, DatabaseError, DatabaseOptions, Distrust, Migration, NEWEST,
};
use nacre_team::postgres::queue::SharedQueue;
use nacre_traces::catalog::{CatalogError, ClaimOrder, JobQueue as _};
use nacre_types::DatabaseState;

use crate::server::Server;

#[test]
fn the_schema_is_made_once_and_a_newer_one_is_refused() {
    let Some(server) = Server::start() else { return };
    let database = server.connect();
    let error = SharedQueue::open(&database).unwrap_err();
    assert!(matches!(error, DatabaseError::Older { found: 0, .. }), "{error:?}");
    let first = database.migrate().unwrap();
    assert_eq!(
        first,
        Migration {
            from: 0,
            to: NEWEST,
            steps: vec!["queue", "search", "state", "readers", "people", "audience"]
        }
    );
    let second = database.migrate().unwrap();
    assert_eq!(second, Migration { from: NEWEST, to: NEWEST, steps: Vec::new() });
    SharedQueue::open(&database).unwrap();
    server.sql("INSERT INTO nacre.migration (version, name) VALUES (99, 'later')");
    for error in [database.migrate().unwrap_err(), SharedQueue::open(&database).unwrap_err()] {
        assert!(matches!(error, DatabaseError::Newer { found: 99 }), "{error:?}");
    }
}

#[test]
fn several_servers_may_make_the_schema_at_once() {
    let Some(server) = Server::start() else { return };
    std::thread::scope(|scope| {
        let begun: Vec<_> =
            (0..4).map(|_| scope.spawn(|| server.connect().migrate().unwrap())).collect();
        let taken: usize = begun.into_iter().map(|one| one.join().unwrap().steps.len()).sum();
        assert_eq!(taken, NEWEST as usize, "each step was taken once");
    });
}

#[test]
fn a_server_that_crashes_is_away_and_then_used_again() {
    let Some(mut server) = Server::start() else { return };
    let database = server.database();
    let mut queue = SharedQueue::open(&database).unwrap();
    let now = jiff::Timestamp::from_second(2_000_000_000).unwrap();
    let mut claim = || queue.claim("w", now, Duration::from_secs(9), ClaimOrder::OldestFirst);
    assert!(claim().unwrap().is_none());
    server.crash();
    assert_eq!(database.health(), DatabaseState::Away);
    let error = claim().unwrap_err();
    assert!(matches!(error, CatalogError::Shared { is_passing: true, .. }), "{error:?}");
    server.run();
    assert!(claim().unwrap().is_none(), "the same queue works again");
    assert!(matches!(database.health(), DatabaseState::Connected | DatabaseState::Slow));
}

#[test]
fn calls_end_in_time_however_slow_the_database_is() {
    let Some(server) = Server::start() else { return };
    server.database();
    let hurried = server.connect_with(|options| {
        options.max_connections = 1;
        options.wait_for_connection = Duration::from_millis(200);
        options.call_timeout = Duration::from_secs(1);
    });
    let now = jiff::Timestamp::from_second(2_000_000_000).unwrap();
    // Another connection locks the table.
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| {
            server.sql(
                "BEGIN; LOCK TABLE nacre.service_run IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(5)",
            )
        });
        std::thread::sleep(Duration::from_millis(700));
        let blocked =
            scope.spawn(|| SharedQueue::open(&hurried).unwrap().begin_run("a", "sync", now));
        std::thread::sleep(Duration::from_millis(50));
        // The only connection is in use.
        let refused = SharedQueue::open(&hurried);
        let error = blocked.join().unwrap().unwrap_err();
        assert!(matches!(error, CatalogError::Shared { is_passing: true, .. }), "{error:?}");
        if let Err(error) = refused {
            assert!(error.is_passing(), "{error:?}");
        }
        holder.join().unwrap();
    });
    SharedQueue::open(&hurried).unwrap().begin_run("a", "sync", now).unwrap();
}

#[test]
fn one_server_leads_until_its_connection_ends() {
    let Some(mut server) = Server::start() else { return };
    let (one, other) = (server.database(), server.database());
    let leadership = one.try_lead().unwrap().unwrap();
    assert!(leadership.is_held());
    assert!(other.try_lead().unwrap().is_none(), "there is one already");
    drop(leadership);
    let end = std::time::Instant::now() + Duration::from_secs(10);
    let leadership = loop {
        match other.try_lead().unwrap() {
            Some(leadership) => break leadership,
            None => assert!(std::time::Instant::now() < end, "nobody leads"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    server.crash();
    assert!(!leadership.is_held());
    server.run();
    assert!(one.try_lead().unwrap().is_some(), "the next one leads");
}

/// Impersonates the server on the database's port. Returns what the client sent, and the client's
/// error.
fn meet_impostor(reply: &[u8], password: Option<&str>) -> (Vec<u8>, DatabaseError) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut options = DatabaseOptions::new(&format!("postgres://nacre@localhost:{port}/nacre"));
    options.password = password.map(str::to_owned);
    let database = Database::new(options).unwrap();
    thread::scope(|scope| {
        let impostor = scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
            stream.read_exact(&mut startup).unwrap();
            // The client may disconnect before it has read everything.
            let _ = stream.write_all(reply);
            let mut got = Vec::new();
            let _ = stream.read_to_end(&mut got);
            got
        });
        let error = database.migrate().unwrap_err();
        (impostor.join().unwrap(), error)
    })
}

#[test]
fn an_impostor_gets_no_password() {
    for (reply, expected) in [
        (&b"R\0\0\0\x08\0\0\0\x03"[..], "PasswordRequest"),
        (b"R\0\0\0\x0c\0\0\0\x05salt", "PasswordRequest"),
        (b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I", "NoProof"),
    ] {
        let (got, error) = meet_impostor(reply, Some("PGPASSWORD123"));
        assert_eq!(String::from_utf8_lossy(&got), "", "{error:?}");
        assert_eq!(format!("{error:?}"), format!("Distrusted({expected})"));
        assert!(!error.is_passing());
    }
}

#[test]
fn an_impostor_fills_no_memory() {
    // The client disconnects after the first bytes of a 2 GiB message.
    let (_, error) = meet_impostor(b"R\0\0\0\x08\0\0\0\0E\x7f\xff\xff\xff", None);
    assert!(matches!(error, DatabaseError::Distrusted(Distrust::Flood)), "{error:?}");
    let notice = [&b"N\0\x01\0\x04"[..], &[0; 1 << 16]].concat();
    let greeting = [&b"R\0\0\0\x08\0\0\0\0"[..], &notice.repeat(40)].concat();
    let (_, error) = meet_impostor(&greeting, None);
    assert!(matches!(error, DatabaseError::Distrusted(Distrust::Flood)), "{error:?}");
}

#[test]
fn a_password_is_used_by_scram_and_not_in_the_clear() {
    let Some(mut server) = Server::start() else { return };
    server.sql("CREATE USER scram LOGIN PASSWORD 'one'; CREATE USER clear LOGIN PASSWORD 'one'");
    let rules = server.data().join("pg_hba.conf");
    let trusting = fs::read_to_string(&rules).unwrap();
    let asking = "local all scram scram-sha-256\nlocal all clear password\n";
    fs::write(&rules, format!("{asking}{trusting}")).unwrap();
    server.crash();
    server.run();
    let connect = |user: &str, password: Option<&str>| {
        let url = server.url().replace("nacre@", &format!("{user}@"));
        server.connect_with(|options| {
            (options.url, options.password) = (url, password.map(str::to_owned));
        })
    };
    for (user, password, is_used) in [
        ("scram", Some("one"), true),
        ("scram", Some("two"), false),
        ("clear", Some("one"), false),
        ("nacre", None, true),
        ("nacre", Some("one"), false),
    ] {
        let health = connect(user, password).health();
        assert_eq!(health != DatabaseState::Away, is_used, "{user} {password:?} {health:?}");
    }
}
