//! `nacre context`

use insta::assert_snapshot;
use nacre_map::slices::tokens;

use crate::delta::{put, repository};
use crate::explore::run_raw;

#[test]
fn a_task_gets_the_code_that_it_needs() {
    let home = repository();
    assert_snapshot!(home.run(&["context", "--for", "open the store"]), @"
    context $HOME/work revision 6af96d88.1 cache miss files 3
    src/store.rs  open store
      1-3
    pub fn open(number: u8) {
        drop(number);
    }
    src/lib.rs  open store
      1-1
    mod store;
      3-5
    pub fn run() {
        open(1);
    }
    left_out symbols 0 files 0
    ");
}

#[test]
fn a_file_that_is_named_comes_first_whatever_its_words() {
    let home = repository();
    let (_, value) = home.json(&["context", "--files", "src/lib.rs"]);
    assert_eq!(value["files"][0]["path"], "src/lib.rs");
    assert_eq!(value["files"][0]["why"][0], "asked");
}

#[test]
fn files_alone_come_without_their_code() {
    let home = repository();
    assert_snapshot!(home.run(&["context", "--for", "open the store", "--files-only"]), @"
    context $HOME/work revision 6af96d88.1 cache miss files 3
    src/store.rs  open store
    src/lib.rs  open store
    left_out symbols 0 files 0
    ");
}

#[test]
fn a_file_that_is_not_there_is_named_with_what_to_do() {
    let home = repository();
    assert_snapshot!(home.run(&["context", "--files", "src/gone.rs"]), @"
    Error: `src/gone.rs` is not in the map
    Hint: nacre explain src/gone.rs
    [exit 1]
    ");
}

#[test]
fn a_budget_is_kept_to_the_token_and_says_what_it_left_out() {
    let home = repository();
    let body = "    let store = 1;\n".repeat(30);
    for number in 0..40 {
        put(
            &home,
            &format!("src/store{number}.rs"),
            &format!("pub fn open_store_{number}() {{\n{body}}}\n"),
        );
    }
    for format in ["text", "json"] {
        for budget in [300, 600, 2_000] {
            let budget_text = budget.to_string();
            let args =
                ["context", "--for", "open store", "--format", format, "--budget", &budget_text];
            let output = run_raw(&home, &args);
            assert!(tokens(&output) <= budget, "{format} {budget}: {}", tokens(&output));
            assert!(output.contains("left_out"), "{output}");
        }
    }
}

#[test]
fn the_best_file_is_never_dropped_for_its_size() {
    let home = repository();
    let filler: String =
        (0..400).map(|n| format!("fn filler_{n}() {{\n    let x = {n};\n}}\n")).collect();
    put(
        &home,
        "src/git.rs",
        &format!("{filler}pub fn parse_renamed_status(line: &str) -> u8 {{\n    7\n}}\n"),
    );
    let answer =
        home.ok(&["context", "--for", "parse the status of renamed files", "--budget", "600"]);
    assert!(answer.contains("pub fn parse_renamed_status(line: &str) -> u8 {"), "{answer}");
}

#[test]
fn what_memory_knows_of_a_file_brings_it_in() {
    let home = repository();
    home.ok(&["init"]);
    put(&home, "src/odd.rs", "pub fn zig() {}\n");
    home.add("Retries wait for the tide", &["--body", "The waiting is in `src/odd.rs`."]);
    let (_, value) = home.json(&["context", "--for", "how do retries wait"]);
    let odd = value["files"].as_array().unwrap().iter().find(|file| file["path"] == "src/odd.rs");
    assert!(odd.unwrap()["why"].as_array().unwrap().contains(&"memory".into()));
}

#[test]
fn no_secret_leaves_in_a_slice() {
    let home = repository();
    put(&home, ".env", "TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\n");
    put(
        &home,
        "src/secret_redaction.rs",
        "pub fn secret_token() -> &'static str {\n    \"ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\"\n}\n",
    );
    let answer = home.ok(&["context", "--for", "secret token"]);
    assert!(answer.contains("src/secret_redaction.rs"), "{answer}");
    assert!(!answer.contains("ghp_0123"), "{answer}");
    assert!(!answer.contains(".env"), "{answer}");
}
