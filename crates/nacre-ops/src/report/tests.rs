//! Tests that untrusted text cannot inject anything into a report page.

use proptest::prelude::*;

use super::*;

fn empty(since: &str, until: &str) -> StoreFigures {
    let (since, until): (Timestamp, Timestamp) = (since.parse().unwrap(), until.parse().unwrap());
    StoreFigures {
        since: since.to_string(),
        until: until.to_string(),
        memories: BTreeMap::new(),
        stages: BTreeMap::from([("validated".to_owned(), 3)]),
        learned: BTreeMap::from([("decision".to_owned(), 2)]),
        learned_now: BTreeMap::from([("in use".to_owned(), 2)]),
        n_taken_back: 0,
        learned_by_week: weeks(since, until),
        sessions: 1,
        merged: Vec::new(),
        archived: Vec::new(),
        contradictions: Vec::new(),
        open_contradictions: 0,
        most_used: Vec::new(),
        never_used: Vec::new(),
        n_used: 0,
        n_never_used: 0,
        n_young: 0,
        n_given_sessions: 0,
        n_given: 0,
        n_given_used: 0,
        confidence: vec![0, 0, 0, 0, 1, 0, 0, 0, 2, 0],
        n_broken: 0,
        repeats: Vec::new(),
    }
}

fn with_title(title: &str) -> StoreFigures {
    let listed = MemoryUse {
        id: "20261101-x".to_owned(),
        title: title.to_owned(),
        uses: 1,
        citations: 1,
        confirmations: 0,
        effective: 0.5,
    };
    StoreFigures {
        most_used: vec![listed],
        ..empty("2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z")
    }
}

#[test]
fn a_page_loads_nothing_and_runs_nothing() {
    let page = html_page(&with_title("Use SQLite"), "work");
    for sign in ["<script", "http://", "https://", "src=", "href=", "url(", "@import", "onload"] {
        assert!(!page.contains(sign), "{sign} in {page}");
    }
    for sign in ["<meter", "prefers-color-scheme: dark", "Use SQLite", "Content-Security-Policy"] {
        assert!(page.contains(sign), "{sign} is missing");
    }
}

#[test]
fn weeks_begin_on_monday_and_none_is_left_out() {
    let report = empty("2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z");
    let weeks: Vec<&String> = report.learned_by_week.keys().collect();
    assert_eq!(weeks, ["2026-10-26", "2026-11-02", "2026-11-09"]);
    let long = empty("1970-01-01T00:00:00Z", "2026-11-15T00:00:00Z");
    assert!(long.learned_by_week.len() <= MAX_WEEKS + 1);
}

/// Returns the tags of a page, without the text between them.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default()).collect()
}

proptest! {
    #[test]
    fn no_text_becomes_markup(title in ".{0,80}", name in "[<>&\"'a-z]{0,20}") {
        let plain = html_page(&with_title("x"), "x");
        let strange = html_page(&with_title(&title), &name);
        prop_assert_eq!(tags(&strange), tags(&plain));
    }
}
