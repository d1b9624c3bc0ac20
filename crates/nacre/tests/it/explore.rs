//! `nacre explore`

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use nacre_map::slices::tokens;

use crate::delta::{git, put, repository};
use crate::home::{TestHome, walk};

/// What is printed, byte for byte.
pub(crate) fn printed(home: &TestHome, args: &[&str]) -> String {
    let output = home.command(&home.work(), args).output().unwrap();
    assert!(output.status.success(), "nacre {args:?}: {}", home.shown(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Looks until nothing is in doubt any more: a file that was just written is read twice.
pub(crate) fn settled(home: &TestHome) {
    let is_hit = || home.json(&["explore"]).1["cache_status"] == "hit";
    assert!((0..1_000).any(|_| is_hit()), "the map never settled");
}

fn everything(home: &TestHome) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    walk(&home.root(), &mut files);
    files.sort();
    files.into_iter().map(|file| (file.clone(), fs::read(&file).unwrap())).collect()
}

#[test]
fn an_overview_tells_what_a_project_is() {
    let home = repository();
    assert_snapshot!(home.run(&["explore"]), @"
    explore $HOME/work revision 6af96d88.1 cache miss files 3
    languages rust 2 files 8 lines
    entry_points 2
      library src/lib.rs
      manifest Cargo.toml
    hot_paths 2
      src/store.rs heat 1442 importers 1 commits 0
      src/lib.rs heat 779 importers 0 commits 0
    top_imports 0
    graph nodes 3 edges 1 unresolved 0
    modules 1
      src 2
    public_surface 2
      src/store.rs 1
        1 pub fn open(number: u8)
      src/lib.rs 1
        3 pub fn run()
    tests 0
    ");
}

#[test]
fn ten_answers_about_the_same_state_are_the_same_bytes_and_write_nothing() {
    let home = repository();
    settled(&home);
    let first = home.ok(&["explore", "--format", "json"]);
    let before = everything(&home);
    for _ in 0..9 {
        assert_eq!(home.ok(&["explore", "--format", "json"]), first);
    }
    assert_eq!(everything(&home), before);
}

#[test]
fn an_edit_is_in_the_very_next_answer() {
    let home = repository();
    home.ok(&["explore"]);
    put(&home, "src/store.rs", "pub fn reopen(number: u8) {\n    drop(number);\n}\n");
    let answer = home.ok(&["explore"]);
    assert!(answer.contains("pub fn reopen(number: u8)"), "{answer}");
    assert!(!answer.contains("pub fn open"), "{answer}");
}

#[test]
fn a_budget_is_kept_to_the_token_in_both_formats() {
    let home = repository();
    for number in 0..60 {
        put(&home, &format!("src/part{number}.rs"), &format!("pub fn part_{number}(a: u8) {{}}\n"));
    }
    for format in ["text", "json"] {
        for budget in [500, 900, 1_500] {
            let budget_text = budget.to_string();
            let args =
                ["explore", "--detail", "verbose", "--format", format, "--budget", &budget_text];
            let output = printed(&home, &args);
            assert!(tokens(&output) <= budget, "{format} {budget}: {}", tokens(&output));
        }
    }
    let refused = home.run(&["explore", "--budget", "20"]);
    assert!(refused.starts_with("Error: A budget of 20 tokens is too small"), "{refused}");
    assert!(refused.contains("Give at least `--budget"), "{refused}");
}

#[test]
fn hot_paths_go_by_the_graph_and_by_what_git_knows() {
    let home = repository();
    for round in 0..3 {
        put(
            &home,
            "src/store.rs",
            &format!("pub fn open(number: u8) {{\n    drop({round});\n}}\n"),
        );
        git(&home, &["commit", "-qam", "again"]);
    }
    let (_, value) = home.json(&["explore"]);
    let hottest = &value["hot_paths"]["items"][0];
    assert_eq!((&hottest["path"], &hottest["commits"]), (&"src/store.rs".into(), &3.into()));
}

#[test]
fn a_list_that_is_cut_says_how_long_it_is() {
    let home = repository();
    for number in 0..30 {
        put(&home, &format!("src/part{number}.rs"), "pub fn part() {}\n");
    }
    let (_, value) = home.json(&["explore"]);
    let surface = &value["public_surface"];
    assert_eq!(surface["items"].as_array().unwrap().len(), 8);
    assert_eq!(surface["total"], 32);
}

#[test]
fn noise_folders_do_not_hide_what_is_tracked() {
    let home = repository();
    put(&home, "build/plan.rs", "pub fn plan_the_build() {}\n");
    git(&home, &["add", "-f", "build/plan.rs"]);
    git(&home, &["commit", "-qm", "plan"]);
    assert!(home.ok(&["explore", "--detail", "verbose"]).contains("plan_the_build"));
}

#[test]
fn a_kept_answer_that_is_damaged_is_made_again() {
    let home = repository();
    settled(&home);
    let first = home.ok(&["explore"]);
    let mut files = Vec::new();
    walk(&home.root().join(".nacre/cache/codemap"), &mut files);
    files.retain(|file| file.file_name().unwrap().to_string_lossy().starts_with("slice-"));
    assert!(!files.is_empty());
    for file in files {
        let mut bytes = fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(file, bytes).unwrap();
    }
    assert_eq!(home.ok(&["explore"]), first);
}

#[test]
fn a_strict_answer_writes_nothing() {
    let home = repository();
    settled(&home);
    let before = everything(&home);
    home.ok(&["explore", "--strict", "--detail", "verbose"]);
    assert_eq!(everything(&home), before);
}
