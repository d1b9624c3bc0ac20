//! Tests the stored map, both unencrypted and encrypted.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::delta::{put, repository};
use crate::home::{TestHome, walk};

/// Returns the files in one of the cache's directories.
fn cached(home: &TestHome, folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(&home.root().join(".nacre/cache").join(folder), &mut files);
    files.retain(|file| !file.ends_with("journal/lock"));
    files
}

/// Returns the words from the code that occur in the cache, each with its file.
fn told(home: &TestHome) -> Vec<String> {
    let files = cached(home, "");
    assert!(!files.is_empty());
    let mut told = Vec::new();
    for file in files {
        let bytes = fs::read(&file).unwrap();
        for word in ["store.rs", "open(number", "pearl", "$HOME/work"] {
            let word = word.replace("$HOME", &home.root().to_string_lossy());
            if bytes.windows(word.len()).any(|part| part == word.as_bytes()) {
                told.push(format!("{word} in {}", file.display()));
            }
        }
    }
    told
}

/// Edits a file and returns the answers that follow, without the lines that explain them.
fn answers(home: &TestHome) -> String {
    put(home, "src/store.rs", "pub fn open(number: u16) {\n    drop(number);\n}\n");
    let mut told = String::new();
    for args in [
        &["explore"][..],
        &["delta"],
        &["context", "--for", "open the store"],
        &["search-code", "open"],
    ] {
        let answer = home.ok(args);
        let is_fact = |line: &&str| !line.contains(" cache ") && !line.starts_with("Revision");
        told += &answer.lines().filter(is_fact).collect::<Vec<_>>().join("\n");
    }
    told
}

#[test]
fn an_encrypted_map_answers_alike_and_tells_nothing_to_who_has_no_key() {
    let home = repository();
    let plain = answers(&home);
    assert!(plain.contains("src/lib.rs  uses open"), "{plain}");
    assert!(!told(&home).is_empty(), "in the clear, it is all there");
    let home = home.with_var("NACRE_MAP_AT_REST", "encrypted");
    assert_eq!(answers(&home), plain);
    assert_eq!(answers(&home), plain, "also from what was kept");
    assert_eq!(told(&home), [""; 0], "what was there before is gone, too");
    let key = home.root().join(".nacre/map.key");
    let metadata = fs::metadata(&key).unwrap();
    assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (32, 0o600));
    crate::explore::wait_until_settled(&home);
    assert_eq!(home.json(&["explore"]).1["cache_status"], "hit");
    fs::write(&key, [7; 32]).unwrap();
    assert_eq!(home.json(&["explore"]).1["cache_status"], "miss", "another key opens nothing");
}

#[test]
fn a_key_that_is_none_or_not_for_its_owner_alone_is_refused() {
    let home = repository().with_var("NACRE_MAP_AT_REST", "encrypted");
    home.ok(&["explore"]);
    let key = home.root().join(".nacre/map.key");
    let set_mode = |mode| fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
    for mode in [0o640, 0o604, 0o620] {
        set_mode(mode);
        let refused = home.run(&["explore"]);
        assert!(refused.contains("Other users can access"), "{mode:o}: {refused}");
    }
    assert_snapshot!(home.run(&["explore"]), @"
    Error: Other users can access `$HOME/.nacre/map.key`
    Hint: Remove it, and Nacre rebuilds the map: `rm $HOME/.nacre/map.key`
    [exit 1]
    ");
    set_mode(0o400);
    home.ok(&["explore"]);
    set_mode(0o600);
    fs::write(&key, "short").unwrap();
    assert_snapshot!(home.run(&["explore", "--strict"]), @"
    Error: `$HOME/.nacre/map.key` is not a key
    Hint: Remove it, and Nacre rebuilds the map: `rm $HOME/.nacre/map.key`
    [exit 1]
    ");
    fs::write(&key, [7; 2_000]).unwrap();
    assert_snapshot!(home.run(&["explore"]), @"
    Error: `$HOME/.nacre/map.key` is 2000 bytes, which exceeds the limit of 1024
    Hint: Remove it, and Nacre rebuilds the map: `rm $HOME/.nacre/map.key`
    [exit 1]
    ");
    fs::remove_file(&key).unwrap();
    std::os::unix::fs::symlink(home.work().join("Cargo.toml"), &key).unwrap();
    assert_snapshot!(home.run(&["explore"]), @"
    Error: `$HOME/.nacre/map.key` is not a plain file
    Hint: Remove it, and Nacre rebuilds the map: `rm $HOME/.nacre/map.key`
    [exit 1]
    ");
    fs::remove_file(&key).unwrap();
    home.ok(&["explore"]);
}

#[test]
fn where_nothing_can_be_written_an_encrypted_map_answers_as_a_plain_one_does() {
    let home = repository().with_var("NACRE_HOME", "/proc/nacre-has-no-home");
    let plain = home.run(&["explore"]);
    assert!(plain.contains("Could not save the map"), "{plain}");
    assert!(plain.contains("src/store.rs"), "{plain}");
    let home = home.with_var("NACRE_MAP_AT_REST", "encrypted");
    assert_eq!(home.run(&["explore"]), plain);
}

#[test]
fn what_is_kept_otherwise_goes_as_soon_as_the_setting_is_made() {
    let home = repository();
    home.ok(&["explore"]);
    assert!(!told(&home).is_empty());
    home.ok(&["config", "set", "map.at_rest", "encrypted"]);
    assert_eq!(cached(&home, "codemap").len(), 1, "a note that nothing is written here");
    assert_eq!(told(&home), [""; 0]);
    home.ok(&["explore"]);
    assert!(!cached(&home, "codemap-sealed").is_empty());
    assert_eq!(cached(&home, "codemap").len(), 1);
    home.ok(&["config", "set", "map.at_rest", "--unset"]);
    assert_eq!(cached(&home, ""), Vec::<PathBuf>::new());
    home.ok(&["explore"]);
    assert!(!told(&home).is_empty(), "in the clear again");
    // If the setting is changed in the file or through a variable, the next command that opens the
    // map applies it.
    let home = home.with_var("NACRE_MAP_AT_REST", "encrypted");
    home.ok(&["delta"]);
    assert_eq!(cached(&home, "codemap").len(), 1);
    let home = home.with_var("NACRE_MAP_AT_REST", "plain");
    home.ok(&["delta"]);
    assert_eq!(cached(&home, "codemap-sealed"), Vec::<PathBuf>::new());
    assert!(!told(&home).is_empty());
}

#[test]
fn a_watch_that_started_in_the_clear_writes_nothing_there_after_the_switch() {
    let home = repository();
    let mut command = home.command(&home.work(), &["watch", "--count", "2"]);
    let mut watch = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = || lines.next().expect("one more line").unwrap();
    assert!(next().contains("watching"));
    put(&home, "src/new.rs", "pub fn pearl() {}\n");
    assert!(next().contains("src/new.rs"));
    assert!(!told(&home).is_empty());
    home.ok(&["config", "set", "map.at_rest", "encrypted"]);
    put(&home, "src/newer.rs", "pub fn pearls() {}\n");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.concat().contains("The setting `map.at_rest` has changed"), "{rest:?}");
    assert_eq!(watch.wait().unwrap().code(), Some(1));
    assert_eq!(told(&home), [""; 0]);
}
