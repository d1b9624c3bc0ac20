//! `nacre review`

use insta::assert_snapshot;

use crate::home::TestHome;
use crate::pty::Terminal;

/// Adds a candidate for review. It is created by an edit, which counts as the user's own if it
/// cannot have come from Git.
fn propose(home: &TestHome, title: &str, body: &str) -> String {
    let _ = std::fs::remove_dir(home.work().join(".git"));
    let id = home.add(title, &["--body", body]);
    let path = format!("memory/decisions/{id}.md");
    home.write(&path, home.read(&path).replace("status: active", "status: candidate"));
    id
}

fn status_of(home: &TestHome, id: &str) -> String {
    let (_, value) = home.json(&["memory", "show", id]);
    value["status"].as_str().unwrap().to_owned()
}

#[test]
fn candidates_are_listed_with_their_quotes_and_places() {
    let home = TestHome::new();
    assert_snapshot!(home.run(&["review"]), @"No candidates to review.");
    home.add("Use tabs", &[]);
    propose(&home, "Use SQLite for the queue", "One file, no server.");
    propose(&home, "Keep sessions for a year", "The law asks for it.");
    assert_snapshot!(home.run(&["review"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue  (candidate)
        > Use SQLite for the queue One file, no server.
          nacre memory add, 2026-11-15T08:30:00Z

    20261115-keep-sessions-for-a-year  decision  2026-11-15  Keep sessions for a year  (candidate)
        > Keep sessions for a year The law asks for it.
          nacre memory add, 2026-11-15T08:30:00Z

    Decide: nacre review accept ID, nacre review reject ID
    ");
    assert_snapshot!(home.run(&["review", "--limit", "1"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue  (candidate)
        > Use SQLite for the queue One file, no server.
          nacre memory add, 2026-11-15T08:30:00Z

    Decide: nacre review accept ID, nacre review reject ID
    … 1 more; `--limit 0` shows all
    ");
    let (code, value) = home.json(&["review"]);
    assert_eq!((code, &value["total"]), (0, &2.into()));
    assert_eq!(value["candidates"][0]["title"], "Use SQLite for the queue");
    assert_eq!(value["candidates"][0]["quotes"][0]["place"], "nacre memory add");
    assert!(home.run(&["status"]).contains("2 candidates to review: nacre review"));
}

#[test]
fn a_candidate_is_in_no_brief_and_below_what_is_active() {
    let home = TestHome::new();
    let candidate =
        propose(&home, "Use Redis for the queue of jobs", "The queue of jobs is Redis.");
    let active = home.add("The queue of builds is SQLite", &["--body", "One file."]);
    assert!(!home.run(&["brief"]).contains("Use Redis"));
    for args in [["ask", "queue"].as_slice(), &["memory", "search", "queue"]] {
        let shown = home.run(args);
        let at = |id: &str| shown.find(id).unwrap_or_else(|| panic!("{id} is missing: {shown}"));
        assert!(at(&active) < at(&candidate), "{shown}");
        assert!(shown.contains("candidate"), "{shown}");
    }
}

#[test]
fn an_accepted_candidate_holds() {
    let home = TestHome::new();
    let id = propose(&home, "Use SQLite for the queue", "One file, no server.");
    let older = home.add("Use Redis for the queue", &[]);
    assert_snapshot!(home.run(&["review", "accept", &id, "--supersedes", &older]), @"
    Accepted 20261115-use-sqlite-for-the-queue
    Undo: nacre undo review-20261115-083000-[id]
    ");
    assert_eq!(
        (status_of(&home, &id).as_str(), status_of(&home, &older).as_str()),
        ("active", "superseded")
    );
    let brief = home.json(&["brief"]).1["sections"].to_string();
    assert!(brief.contains(&id) && !brief.contains(&older), "{brief}");
    assert_snapshot!(home.run(&["doctor"]), @"Checked 2 memories: ok, 0 errors, 0 warnings.");
    assert_snapshot!(home.run(&["review", "accept", &id]), @"
    Error: The memory `20261115-use-sqlite-for-the-queue` is active, not a candidate
    Hint: `nacre review` lists the candidates
    [exit 1]
    ");
    let other = propose(&home, "Use Postgres", "");
    assert_snapshot!(home.run(&["review", "accept", &other, "--supersedes", &older]), @"
    Error: The memory `20261115-use-redis-for-the-queue` cannot be superseded: it is already superseded
    Hint: nacre memory show 20261115-use-redis-for-the-queue
    [exit 1]
    ");
    assert_snapshot!(home.run(&["review", "accept", &other, "--supersedes", &other]), @"
    Error: The memory `20261115-use-postgres` cannot be superseded: a memory cannot supersede itself
    Hint: nacre memory show 20261115-use-postgres
    [exit 1]
    ");
    assert_eq!(status_of(&home, &other), "candidate");
}

#[test]
fn a_link_to_a_rejected_candidate_goes_and_is_no_update() {
    let home = TestHome::new();
    let one = propose(&home, "Use Redis", "");
    let linked = home.add("Keep one queue", &["--related", &one]);
    let path = format!("memory/decisions/{linked}.md");
    let before = home.read(&path);
    let later = home.with_var("NACRE_NOW", "2026-11-20T00:00:00Z");
    later.ok(&["review", "reject", &one]);
    let after = later.read(&path);
    assert!(after != before && after.contains("related: []\n"), "{after}");
    let updated =
        |text: &str| text.lines().find(|line| line.starts_with("updated:")).map(str::to_owned);
    assert_eq!(updated(&after), updated(&before));
}

#[test]
fn a_rejected_candidate_leaves_a_hash_and_no_text() {
    let home = TestHome::new();
    let one = propose(&home, "Use Redis", "A peculiar sentence.");
    let two = propose(&home, "Use Memcached", "");
    let active = home.add("Use tabs", &[]);
    assert_snapshot!(home.run(&["review", "reject", &one, &two, &active]), @"
    Rejected 20261115-use-redis
    Rejected 20261115-use-memcached
    Undo: nacre undo review-20261115-083000-[id]
    Warning: The memory `20261115-use-tabs` is active, not a candidate
    Hint: `nacre review` lists the candidates
    [exit 3]
    ");
    assert_eq!(home.tree("memory"), format!("memory/decisions/{active}.md"));
    assert_eq!(home.tree("meta/tombstones").lines().count(), 2);
    // The private run directory contains the text as undo data; no other file does.
    let run_folders = home.store("workspace");
    let says = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("peculiar");
    let told: Vec<_> = home.snapshot().into_iter().filter(|(_, bytes)| says(bytes)).collect();
    assert!(told.iter().all(|(path, _)| path.starts_with(&run_folders)), "{told:?}");
    assert_snapshot!(home.run(&["review"]), @"No candidates to review.");
}

#[test]
fn one_key_decides_and_a_number_names_the_older_memory() {
    let home = TestHome::new();
    let older = home.add("Use Redis for the queue of jobs", &["--body", "It was there."]);
    let other = home.add("Indent with tabs", &[]);
    let words = "Use SQLite for the queue of jobs, because one file is easy to back up and no \
        server has to run, to be watched or to be upgraded";
    let id = propose(&home, words, "");
    let terminal = Terminal { keys: "s1", columns: 60, ..Terminal::default() };
    let Some(shown) = terminal.run(&home, &["review"]) else { return };
    let asked = shown.split("Candidate 1 of 1").nth(1).unwrap().split("\nUndo: ").next().unwrap();
    assert_snapshot!(asked, @"
    Use SQLite for the queue of jobs, because one file is easy
    to back up and no server has to run, to be watched or to be
    upgraded
    decision, just now, 20261115-use-sqlite
        > Use SQLite for the queue of jobs, because one file is
          easy to back up and no server has to run, to be
          watched or to be upgraded
          nacre memory add, just now
    [a]ccept, [e]dit, [r]eject, [s]upersede a memory, [n]ext, [b]ack, [q]uit, [?] help? s
      1  Use Redis for the queue of jobs
         20261115-use-redis
    Number of the memory it supersedes, [i]d of another, [n]one? 1
    Accepted 20261115-use-sqlite-for-the-queue-of-jobs-because-one-file-is-easy
    ");
    let shown = shown.split("[n]one? ").next().unwrap().to_owned();
    assert!(shown.lines().all(|line| line.starts_with("[a]") || line.len() <= 60), "{shown}");
    assert!(shown.contains("  1  Use Redis for the queue of jobs"), "{shown}");
    assert_eq!(
        [&id, &older, &other].map(|id| status_of(&home, id)),
        ["active", "superseded", "active"]
    );
}

#[test]
fn candidates_of_all_projects_are_reviewed_together() {
    let home = TestHome::new();
    let second = home.root().join("second");
    std::fs::create_dir(&second).unwrap();
    propose(&home, "Use SQLite for the queue", "");
    home.ok(&["project", "add", "../second"]);
    assert_snapshot!(home.run_in(&second, &["review"]), @"
    No candidates to review.
    1 candidate to review in other projects: nacre review --all
    ");
    assert_snapshot!(home.run_in(&second, &["review", "--all"]), @"
    20261115-use-sqlite-for-the-queue  decision  2026-11-15  Use SQLite for the queue  (candidate)
        project work
        > Use SQLite for the queue
          nacre memory add, 2026-11-15T08:30:00Z

    Decide: nacre --project NAME review accept ID, nacre --project NAME review reject ID
    ");
    let id = home.run_in(&second, &["memory", "add", "Use tabs"]);
    let id = id.lines().next().unwrap().split(' ').next_back().unwrap().to_owned();
    let path = second.join(format!(".nacre/memory/decisions/{id}.md"));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("status: active", "status: candidate")).unwrap();
    let terminal = Terminal { keys: "aa", ..Terminal::default() };
    let Some(shown) = terminal.run(&home, &["review", "--all"]) else { return };
    assert!(shown.contains("project second") && shown.contains("project work"), "{shown}");
    assert!(shown.ends_with("2 accepted, 0 rejected, 0 left\n"), "{shown}");
    assert_eq!(home.json(&["review", "--all"]).1["total"], 0);
}
