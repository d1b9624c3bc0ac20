//! `nacre report`

use std::fs;

use crate::home::TestHome;

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
    // Before anything happened there is nothing.
    let later = home.with_var("NACRE_NOW", "2027-06-01T00:00:00Z");
    let (_, value) = later.json(&["report", "--since", "7d"]);
    assert_eq!(value["report"]["merged"].as_array().map(Vec::len), Some(0));
    assert_eq!(value["report"]["n_never_used"], 1);
    assert!(later.run(&["report", "--since", "soon"]).ends_with("[exit 2]\n"));
}

#[test]
fn what_was_undone_did_not_happen() {
    let home = busy();
    let (_, value) = home.json(&["runs", "list"]);
    let run = value["runs"][0]["id"].as_str().unwrap().to_owned();
    home.ok(&["undo", &run]);
    let (_, value) = home.json(&["report"]);
    assert_eq!(value["report"]["merged"].as_array().map(Vec::len), Some(0), "{value:#}");
}

#[test]
fn the_page_stands_alone() {
    let home = busy();
    let shown = home.run(&["report", "--html", "report.html"]);
    assert!(shown.contains("Written to report.html"), "{shown}");
    let page = fs::read_to_string(home.work().join("report.html")).unwrap();
    for sign in
        ["<svg", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;", "Use SQLite"]
    {
        assert!(page.contains(sign), "{sign} is not in {page}");
    }
    for sign in ["<script", "http://", "https://", "src=", "href="] {
        assert!(!page.contains(sign), "{sign} is in {page}");
    }
}
