//! Tests the map's artifact when processes are killed while writing it, and when many write it at
//! once.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::delta::{put, repository};
use crate::home::{TestHome, walk};

const N_KILLS: u32 = 200;

/// One command takes about this long. The kill times are spread over it.
const SPAN_MICROS: u32 = 30_000;

/// Returns the cache status, and the path and hash of each file in the map.
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
        // A prime step spreads the kill times evenly, in no particular order.
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
        // The change was recorded only once, however many processes detected it.
        let (_, value) = home.json(&["delta", "--since", "client:one"]);
        let revision = value["revision"].as_str().unwrap().to_owned();
        assert!(revision.ends_with(&format!(".{}", round + 1)), "round {round}: {revision}");
    }
}

/// Returns the only artifact.
fn artifact(home: &TestHome) -> PathBuf {
    let mut files = Vec::new();
    walk(&home.root().join(".nacre/cache/codemap"), &mut files);
    let is_artifact = |file: &PathBuf| file.file_name().unwrap() == "artifact";
    files.into_iter().find(is_artifact).unwrap()
}

/// Writes a different function to a file of the repository.
fn edit(home: &TestHome, name: &str) {
    put(home, "src/store.rs", &format!("pub fn {name}(number: u8) {{\n    drop(number);\n}}\n"));
}

/// Returns the file's overview, and the changes that a client receives.
fn answers(home: &TestHome) -> (String, Vec<String>) {
    let overview = home.ok(&["explore"]);
    let is_shown = |line: &&str| line.contains("(number: u8)");
    let shown = overview.lines().find(is_shown).unwrap().trim().to_owned();
    let (_, value) = home.json(&["delta", "--since", "client:c", "--limit", "0"]);
    let files = value["delta"]["files"].as_array().unwrap().iter();
    (shown, files.map(|file| file["path"].as_str().unwrap().to_owned()).collect())
}

#[test]
fn a_state_that_could_not_be_kept_is_nobodys_last_state() {
    let home = repository();
    home.ok(&["explore", "--client", "c"]);
    let journal = home.root().join(".nacre/cache/codemap/journal");
    fs::rename(&journal, journal.with_file_name("away")).unwrap();
    fs::write(&journal, "not a folder").unwrap();
    edit(&home, "first");
    let named = |args: &[&str]| home.json(args).1["revision"].as_str().unwrap().to_owned();
    let noted = named(&["explore"]);
    let told = home.run(&["explore", "--client", "c"]);
    assert!(told.contains("Could not save the map"), "{told}");
    assert!(told.contains("Could not record which revision the client has received"), "{told}");
    assert!(told.contains("pub fn first"), "{told}");
    fs::remove_file(&journal).unwrap();
    fs::rename(journal.with_file_name("away"), &journal).unwrap();
    edit(&home, "second");
    let (shown, changed) = answers(&home);
    assert_eq!(shown, "1 pub fn second(number: u8)");
    assert_eq!(changed, ["src/store.rs"]);
    assert!(noted.ends_with(".1"), "{noted} is the last that was kept");
    assert!(named(&["explore"]).ends_with(".2"));
    assert!(home.ok(&["delta", "--since", &noted]).contains("src/store.rs"));
}

#[test]
fn an_artifact_that_lost_its_last_state_is_not_taken_for_the_one_that_answers_were_made_from() {
    for n_more in [0, 1] {
        let home = repository();
        crate::explore::wait_until_settled(&home);
        home.ok(&["delta", "--since", "client:c"]);
        let artifact = artifact(&home);
        let before = fs::read(&artifact).unwrap();
        edit(&home, "first");
        assert_eq!(answers(&home).1, ["src/store.rs"]);
        fs::write(&artifact, before).unwrap();
        edit(&home, "second");
        if n_more == 1 {
            // The revision of the lost state now lies between two revisions of the artifact.
            home.ok(&["delta"]);
            put(&home, "src/new.rs", "fn fresh() {}\n");
        }
        let (shown, changed) = answers(&home);
        assert_eq!(shown, "1 pub fn second(number: u8)");
        assert!(changed.contains(&"src/store.rs".to_owned()), "{changed:?}");
    }
}
