//! `nacre report`

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;
use crate::sync_run::{PNPM, reading, talk};

fn busy() -> TestHome {
    let home = TestHome::new();
    let used = home.add("Use SQLite for the queue", &["--body", "One file."]);
    home.add("use sqlite for the queue!", &["--body", "One file"]);
    let strange = home.add("<script>alert(1)</script> & \"quotes\"", &[]);
    for id in [&used, &used, &strange] {
        home.ok(&["feedback", id, "useful"]);
    }
    home.add("Deploy on Fridays only", &[]);
    home.ok(&["maintain"]);
    home
}

#[test]
fn a_report_counts_what_happened() {
    let home = busy();
    let shown = home.ok(&["report"]);
    for sign in [
        "work, 2026-10-16 to 2026-11-15",
        "3 (3 decision)",
        "Most used",
        "Merged",
        "it says the same",
    ] {
        assert!(shown.contains(sign), "{sign} is not in {shown}");
    }
    let (_, value) = home.json(&["report", "--since", "2026-11-01"]);
    let report = &value["report"];
    assert_eq!(report["merged"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert_eq!(report["memories"]["active"], 3);
    assert_eq!(report["most_used"][0]["uses"], 3);
    // Without activity, the report is empty.
    let later = home.with_var("NACRE_NOW", "2027-06-01T00:00:00Z");
    let (_, value) = later.json(&["report", "--since", "7d"]);
    assert_eq!(value["report"]["merged"].as_array().map(Vec::len), Some(0));
    assert_eq!(value["report"]["n_never_used"], 1);
    assert!(later.run(&["report", "--since", "soon"]).ends_with("[exit 2]\n"));
}

#[test]
fn what_was_undone_did_not_happen() {
    let home = busy();
    let (_, value) = home.json(&["runs"]);
    let run = value["runs"][0]["id"].as_str().unwrap().to_owned();
    home.ok(&["undo", &run]);
    let (_, value) = home.json(&["report"]);
    assert_eq!(value["report"]["merged"].as_array().map(Vec::len), Some(0), "{value:#}");
}

#[test]
fn no_file_of_somebody_else_is_written_over() {
    let home = busy();
    let file = home.work().join("notes.txt");
    fs::write(&file, "my notes\n").unwrap();
    assert_snapshot!(home.run(&["report", "--html", "notes.txt"]), @"
    Error: `notes.txt` was not written by `nacre report`
    Hint: Choose another file, or add --force to overwrite it
    [exit 1]
    ");
    assert_eq!(fs::read_to_string(&file).unwrap(), "my notes\n");
    home.ok(&["report", "--html", "notes.txt", "--force"]);
    // An existing Nacre report is overwritten.
    home.ok(&["report", "--html", "notes.txt"]);
    assert!(fs::read_to_string(&file).unwrap().contains("<meter"));
}

#[test]
fn a_page_without_memories_says_so() {
    let home = TestHome::new();
    home.ok(&["report", "--html", "report.html"]);
    let page = fs::read_to_string(home.work().join("report.html")).unwrap();
    for sign in
        ["Nothing was learned in this period.", "No memories yet.", "No memory has been used yet."]
    {
        assert!(page.contains(sign), "{sign} is not in {page}");
    }
    assert!(!page.contains("<meter"), "{page}");
}

#[test]
fn the_page_stands_alone() {
    let home = busy();
    let shown = home.run(&["report", "--html", "report.html"]);
    assert!(shown.contains("Written to report.html"), "{shown}");
    let page = fs::read_to_string(home.work().join("report.html")).unwrap();
    for sign in
        ["<meter", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;", "Use SQLite"]
    {
        assert!(page.contains(sign), "{sign} is not in {page}");
    }
    for sign in ["<script", "http://", "https://", "src=", "href="] {
        assert!(!page.contains(sign), "{sign} is in {page}");
    }
}

fn sum(of: &serde_json::Value) -> u64 {
    of.as_object().unwrap().values().filter_map(serde_json::Value::as_u64).sum()
}

/// Checks that the counts in a report are consistent.
fn check_sums(home: &TestHome) -> serde_json::Value {
    let report = home.json(&["report", "--since", "1d"]).1["report"].clone();
    assert_eq!(sum(&report["learned"]), sum(&report["learned_now"]), "{report:#}");
    let n = |key: &str| report[key].as_u64().unwrap();
    let n_held = n("n_used") + n("n_never_used") + n("n_young");
    assert_eq!(n_held, sum(&report["stages"]), "{report:#}");
    report
}

#[test]
fn what_is_told_adds_up() {
    let home = busy();
    check_sums(&home);
    let shown = home.ok(&["report"]);
    assert!(shown.contains("  of these    3 in use\n"), "{shown}");
    assert!(
        shown.contains("  uses        3 memories: 2 used, 0 never used, 1 too recent to tell\n"),
        "{shown}"
    );
}

#[test]
fn what_an_undone_undo_brings_back_was_learned_when_it_was_read() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let (_, synced) = home.json(&["sync"]);
    let learned = check_sums(&home);
    assert_eq!(sum(&learned["learned"]), 1, "{learned:#}");
    let undone = home.json(&["undo", synced["run"].as_str().unwrap()]).1;
    let gone = check_sums(&home);
    assert_eq!((sum(&gone["learned"]), &gone["n_taken_back"]), (0, &1.into()), "{gone:#}");
    assert!(home.ok(&["report"]).contains("1 more (undone, rejected or forgotten)"));
    home.ok(&["undo", undone["run"].as_str().unwrap()]);
    let back = check_sums(&home);
    for key in ["learned", "learned_now", "sessions", "n_taken_back", "n_young"] {
        assert_eq!(back[key], learned[key], "{key}");
    }
}
