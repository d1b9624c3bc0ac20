//! The map at rest: in the clear, or encrypted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::delta::{put, repository};
use crate::home::{TestHome, walk};

/// Words of the code that lie in any file of the cache, with where.
fn told(home: &TestHome) -> Vec<String> {
    let mut files = Vec::new();
    walk(&home.root().join(".nacre/cache"), &mut files);
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

/// What is told after an edit, without the lines that say how it came about.
fn answers(home: &TestHome) -> String {
    put(home, "src/store.rs", "pub fn open(number: u16) {\n    drop(number);\n}\n");
    let mut told = String::new();
    for args in [&["explore"][..], &["delta"], &["context", "--for", "open the store"]] {
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
    assert!(plain.contains("src/lib.rs  affected, 1 away"), "{plain}");
    assert!(!told(&home).is_empty(), "in the clear, it is all there");
    let home = home.with_var("NACRE_MAP_AT_REST", "encrypted");
    assert_eq!(answers(&home), plain);
    assert_eq!(answers(&home), plain, "also from what was kept");
    assert_eq!(told(&home), [""; 0], "what was there before is gone, too");
    let key = home.root().join(".nacre/map.key");
    let metadata = fs::metadata(&key).unwrap();
    assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (32, 0o600));
    crate::explore::settled(&home);
    assert_eq!(home.json(&["explore"]).1["cache_status"], "hit");
    fs::write(&key, [7; 32]).unwrap();
    assert_eq!(home.json(&["explore"]).1["cache_status"], "miss", "another key opens nothing");
    fs::write(&key, "short").unwrap();
    assert_snapshot!(home.run(&["explore"]), @"
    Error: `$HOME/.nacre/map.key` is no key
    Hint: Remove it; the map is made again: `rm $HOME/.nacre/map.key`
    [exit 1]
    ");
}
