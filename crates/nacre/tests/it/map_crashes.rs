//! The map's artifact, with processes that are killed while they write, and with many that write at once.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::delta::{put, repository};
use crate::home::TestHome;

const N_KILLS: u32 = 200;

/// Instants are spread over about what one command takes.
const SPAN_MICROS: u32 = 30_000;

/// What the map says of the files: each path with its hash.
fn told(home: &TestHome, args: &[&str]) -> (String, Vec<(String, String)>) {
    let args: Vec<&str> = ["delta", "--since", "0"].iter().chain(args).copied().collect();
    let (code, value) = home.json(&args);
    assert_eq!(code, 0, "{value}");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let files = value["delta"]["files"].as_array().unwrap();
    let files = files.iter().map(|file| (text(&file["path"]), text(&file["new_hash"])));
    (text(&value["cache_status"]), files.collect())
}

#[test]
fn a_process_that_is_killed_at_any_instant_leaves_an_artifact_that_can_be_read() {
    let home = repository();
    for number in 0..40 {
        put(&home, &format!("src/f{number}.rs"), &format!("pub fn f{number}() {{}}\n"));
    }
    told(&home, &[]);
    let mut n_lost = 0;
    for kill in 0..N_KILLS {
        let number = kill % 40;
        put(&home, &format!("src/f{number}.rs"), &format!("pub fn f{number}_{kill}() {{}}\n"));
        if kill % 7 == 0 {
            put(&home, &format!("src/new{kill}.rs"), "pub fn fresh() {}\n");
        }
        let mut command = home.command(&home.work(), &["delta", "--since", "0"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // A prime step visits the whole span evenly and in no order.
        thread::sleep(Duration::from_micros(u64::from(kill * 7919 % SPAN_MICROS)));
        let _ = child.kill();
        child.wait().unwrap();
        if kill % 10 == 0 {
            let (status, _) = told(&home, &[]);
            n_lost += u32::from(status == "miss");
        }
    }
    assert_eq!(n_lost, 0, "an artifact was lost");
    let (_, kept) = told(&home, &[]);
    fs::remove_dir_all(home.root().join(".nacre/cache")).unwrap();
    assert_eq!(told(&home, &[]).1, kept);
}

#[test]
fn many_processes_at_once_tell_the_same_and_lose_nothing() {
    let home = repository();
    for round in 0..6 {
        for number in 0..30 {
            put(&home, &format!("src/f{number}.rs"), &format!("pub fn f{round}() {{}}\n"));
        }
        let answers: Vec<_> = thread::scope(|scope| {
            let asking: Vec<_> = (0..6).map(|_| scope.spawn(|| told(&home, &[]).1)).collect();
            asking.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| *answer == answers[0]), "round {round}");
        // However many saw the change, it was recorded once.
        let (_, value) = home.json(&["delta", "--since", "client:one"]);
        let revision = value["revision"].as_str().unwrap().to_owned();
        assert!(revision.ends_with(&format!(".{}", round + 1)), "round {round}: {revision}");
    }
}
