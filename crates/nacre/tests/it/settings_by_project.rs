//! Tests that a project's settings apply only to that project: redacted words, limits, and the
//! scope of memories.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::home::{TestHome, walk};
use crate::loopback::Loopback;

/// The user redacts `OWN`; the repositories `work` and `other` redact the words that follow.
const OWN: &str = "Ostermund";
const WORK: &str = "Quillhaven";
const OTHER: &str = "Brackwater";

/// Two repositories with their own lists of redacted words, and a directory outside both.
struct Two {
    home: TestHome,
}

impl Two {
    fn new() -> Self {
        let two = Self::without_lists();
        two.set_words(&two.home.work(), WORK);
        two.set_words(&two.other(), OTHER);
        fs::write(two.home.root().join(".nacre/config.toml"), list(OWN)).unwrap();
        two
    }

    fn without_lists() -> Self {
        let home = TestHome::new();
        let root = home.root();
        for folder in ["other/.git", "elsewhere", "traces"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let two = Self { home };
        two.ok(&two.other(), &["init"]);
        let traces = root.join("traces").display().to_string();
        two.home.ok(&["connect", "generic", "--path", &traces]);
        Self { home: two.home.with_var("NACRE_NOW", "2099-01-01T00:00:00Z") }
    }

    fn other(&self) -> PathBuf {
        self.home.root().join("other")
    }

    fn elsewhere(&self) -> PathBuf {
        self.home.root().join("elsewhere")
    }

    fn set_words(&self, repository: &Path, word: &str) {
        fs::write(repository.join(".nacre/config.toml"), list(word)).unwrap();
    }

    fn ok(&self, folder: &Path, args: &[&str]) -> String {
        let shown = self.home.run_in(folder, args);
        assert!(!shown.contains("[exit"), "nacre {args:?}: {shown}");
        shown
    }

    /// Returns the names of projects whose sessions match a search for the word.
    fn said_in(&self, word: &str) -> Vec<String> {
        let args = ["--json", "trace", "search", "--mode", "lexical", word];
        let found: Value = serde_json::from_str(&self.ok(&self.elsewhere(), &args)).unwrap();
        let hits = found["hits"].as_array().unwrap();
        let name = |hit: &Value| {
            hit["project"].as_str().unwrap().rsplit('/').next().unwrap_or_default().to_owned()
        };
        let mut projects: Vec<String> = hits.iter().map(name).collect();
        projects.sort();
        projects.dedup();
        projects
    }

    /// Returns all files in a directory that contain the word, including databases.
    fn holding(&self, folder: &Path, word: &str) -> Vec<String> {
        let mut files = Vec::new();
        walk(folder, &mut files);
        let finder = |path: &PathBuf| {
            let bytes = fs::read(path).unwrap();
            let lower = word.to_lowercase();
            let has = |word: &str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
            // The list itself contains the word, and indexes contain it in lower case.
            !path.ends_with("config.toml") && (has(word) || has(&lower))
        };
        files.retain(finder);
        let root = self.home.root();
        files.iter().map(|path| path.strip_prefix(&root).unwrap().display().to_string()).collect()
    }
}

fn list(word: &str) -> String {
    format!("[redact]\nextra = ['{word}']\n")
}

/// Writes a session with every word in its title, its messages and its tool output.
fn talk(two: &Two, id: &str, cwd: &Path) -> PathBuf {
    let all = format!("{OWN}, {WORK} and {OTHER}");
    let records = [
        json!({ "type": "session", "version": 1, "id": id, "cwd": cwd, "title": format!("A form for {all}") }),
        json!({ "type": "user", "text": format!("Add a form for {all}") }),
        json!({ "type": "assistant", "text": format!("I will run npm install for {all}.") }),
        json!({ "type": "tool_call", "tool": "shell", "call": "c", "text": format!("npm install # {all}") }),
        json!({ "type": "tool_result", "call": "c", "text": format!("added 3 packages for {all}") }),
        json!({ "type": "user", "text": format!("no, always use pnpm here, never npm: npm breaks the deploy of {all}") }),
        json!({ "type": "assistant", "text": format!("Done, used pnpm for {all}.") }),
    ];
    let lines = records.iter().enumerate().map(|(n, record)| {
        let mut record = record.clone();
        record["time"] = json!(format!("2026-11-01T10:{n:02}:00Z"));
        format!("{record}\n")
    });
    let path = two.home.root().join(format!("traces/{id}.jsonl"));
    fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

/// Returns the part of the global directory that all projects share.
fn global(two: &Two) -> PathBuf {
    two.home.root().join(".nacre")
}

#[test]
fn each_project_keeps_its_own_words_out_wherever_a_sync_is_started() {
    for start in ["work", "other", "elsewhere"] {
        let two = Two::new();
        talk(&two, "one", &two.home.work());
        talk(&two, "two", &two.other());
        two.ok(&two.home.root().join(start), &["sync"]);
        for (repository, kept_out, left) in
            [(two.home.work(), WORK, OTHER), (two.other(), OTHER, WORK)]
        {
            let store = repository.join(".nacre");
            assert_eq!(two.holding(&store, kept_out), [""; 0], "from {start}");
            assert_eq!(two.holding(&store, OWN), [""; 0], "from {start}");
            let memory = two.holding(&store.join("memory/learnings"), left);
            assert_eq!(memory.len(), 1, "a stranger's list changes nothing, from {start}");
        }
        // For a project's sessions, the catalog may contain words that only the other project
        // redacts, but none that the project redacts itself.
        assert_eq!(two.holding(&global(&two), OWN), [""; 0], "from {start}");
        assert_eq!(two.said_in(WORK), ["other"], "from {start}");
        assert_eq!(two.said_in(OTHER), ["work"], "from {start}");
    }
}

#[test]
fn a_word_of_the_only_project_is_nowhere_below_the_global_folder() {
    let two = Two::new();
    talk(&two, "one", &two.home.work());
    two.ok(&two.elsewhere(), &["sync"]);
    assert_eq!(two.holding(&global(&two), WORK), [""; 0]);
    assert!(!two.holding(&global(&two), OTHER).is_empty());
}

#[test]
fn no_request_to_a_model_holds_a_word_of_the_sessions_project() {
    let two = Two::without_lists();
    let model = Loopback::new(|asked| {
        let mut answer = json!({ "candidates": [], "summary": {
            "title": "A form", "description": "It was added.", "intent": "A form.",
            "narrative": ["The person wants pnpm."], "outcome": "Done.",
        } });
        if asked.to_string().contains("session_summary") {
            answer.as_object_mut()?.remove("candidates");
        }
        Some(answer.to_string())
    });
    model.serve(&two.home);
    two.set_words(&two.home.work(), WORK);
    two.set_words(&two.other(), OTHER);
    talk(&two, "one", &two.home.work());
    talk(&two, "two", &two.other());
    two.ok(&two.home.work(), &["sync"]);
    let asked: Vec<String> = model.requests().iter().map(Value::to_string).collect();
    assert_eq!(asked.len(), 2);
    let of = |word: &str| asked.iter().filter(|text| !text.contains(word)).count();
    assert_eq!((of(WORK), of(OTHER)), (1, 1), "each request lacks the word of its own project");
    // The user's question is redacted as well.
    two.home.run(&["ask", &format!("Who is {WORK}?")]);
    let last = model.requests().last().unwrap().to_string();
    assert!(last.contains("Who is [redacted:extra]?") && !last.contains(WORK), "{last}");
}

#[test]
fn a_list_that_changes_cleans_what_was_read_before_even_of_a_trace_that_is_gone() {
    let two = Two::without_lists();
    talk(&two, "one", &two.home.work());
    let gone = talk(&two, "two", &two.home.work());
    talk(&two, "three", &two.other());
    two.ok(&two.elsewhere(), &["sync"]);
    assert!(!two.holding(&global(&two), WORK).is_empty());
    fs::remove_file(gone).unwrap();
    two.set_words(&two.home.work(), WORK);
    let (_, report) = two.home.json(&["sync"]);
    assert_eq!((&report["reworded"], &report["read"]), (&json!(2), &json!(1)), "{report:#}");
    assert_eq!(report["sessions"], json!([]), "no session says anything new");
    assert_eq!(two.said_in(WORK), ["other"]);
    fs::remove_file(two.home.root().join("traces/three.jsonl")).unwrap();
    let again = two.home.json(&["sync"]).1;
    assert_eq!((&again["reworded"], &again["read"]), (&json!(0), &json!(0)), "once is enough");
    // A word that is no longer on the list is restored from the trace, if the trace still exists.
    fs::write(two.home.store("config.toml"), "").unwrap();
    let back = two.home.json(&["sync"]).1;
    assert_eq!((&back["read"], &back["sessions"]), (&json!(1), &json!([])), "{back:#}");
    assert_eq!(two.said_in(WORK), ["other", "work"]);
}

#[test]
fn a_session_that_goes_on_under_another_list_is_read_on_and_not_anew() {
    let two = Two::without_lists();
    let trace = talk(&two, "one", &two.home.work());
    two.ok(&two.elsewhere(), &["sync"]);
    two.set_words(&two.home.work(), WORK);
    let more = json!({ "type": "user", "text": "thanks", "time": "2026-11-01T10:30:00Z" });
    let text = fs::read_to_string(&trace).unwrap();
    fs::write(&trace, format!("{text}{more}\n")).unwrap();
    let (_, report) = two.home.json(&["sync"]);
    assert_eq!(report["sessions"][0]["report"]["outcome"], "done", "{report:#}");
    assert_eq!(report["sessions"][0]["report"]["actions"], json!([]), "{report:#}");
    let kept = two.home.store("meta/traces");
    assert_eq!(two.holding(&kept, WORK), [""; 0], "what is kept of it is under the new list");
    let doctor = two.home.run(&["doctor", "--evidence"]);
    assert!(doctor.contains("0 missing"), "{doctor}");
}

#[test]
fn a_map_has_the_settings_of_the_project_that_it_shows() {
    let two = Two::without_lists();
    for folder in [two.home.work(), two.other()] {
        fs::write(folder.join("plan.py"), "def plan(): pass\n").unwrap();
        fs::write(folder.join("talk.py"), "def talk(): pass\n").unwrap();
    }
    fs::write(two.home.store("config.toml"), "[map]\ndeny = ['plan.py']\n").unwrap();
    fs::write(two.other().join(".nacre/config.toml"), "[map]\ndeny = ['talk.py']\n").unwrap();
    let other = two.other().display().to_string();
    let shown = |file: &str| two.home.run(&["context", &other, "--files", file]);
    assert!(shown("plan.py").contains("def plan"), "{}", shown("plan.py"));
    assert!(shown("talk.py").contains("`talk.py` is not in the map"), "{}", shown("talk.py"));
}

#[test]
fn the_words_of_the_only_project_leave_every_file_when_the_list_changes() {
    let two = Two::without_lists();
    talk(&two, "one", &two.home.work());
    two.ok(&two.elsewhere(), &["sync", "--no-extract"]);
    assert!(!two.holding(&global(&two), WORK).is_empty());
    two.set_words(&two.home.work(), WORK);
    two.ok(&two.elsewhere(), &["sync", "--no-extract"]);
    assert_eq!(two.holding(&global(&two), WORK), [""; 0]);
}

#[test]
fn settings_that_cannot_be_read_hold_back_the_sessions_of_that_project_alone() {
    let two = Two::new();
    fs::write(two.other().join(".nacre/config.toml"), "[redact]\nextra = 'Brackwater'\n").unwrap();
    talk(&two, "one", &two.home.work());
    talk(&two, "two", &two.other());
    let (code, report) = two.home.json(&["sync"]);
    assert_eq!((code, report["sessions"].as_array().unwrap().len()), (3, 1), "{report:#}");
    let reason = report["problems"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("Invalid value for `redact.extra`"), "{reason}");
    two.set_words(&two.other(), OTHER);
    let (code, report) = two.home.json(&["sync"]);
    assert_eq!((code, report["sessions"].as_array().unwrap().len()), (0, 1), "{report:#}");
}

#[test]
fn what_a_repository_may_spend_is_its_own_and_never_more_than_the_person_allows() {
    let two = Two::without_lists();
    let model = Loopback::new(|_| {
        Some(
            json!({ "candidates": [], "summary": {
                "title": "A form", "description": "It was added.", "intent": "A form.",
                "narrative": ["The person wants pnpm."], "outcome": "Done.",
            } })
            .to_string(),
        )
    });
    model.serve(&two.home);
    two.home.ok(&["config", "set", "limits.session_tokens", "200000"]);
    fs::write(two.home.store("config.toml"), "[limits]\nsession_tokens = 0\n").unwrap();
    fs::write(two.other().join(".nacre/config.toml"), "[limits]\nsession_tokens = 900000\n")
        .unwrap();
    talk(&two, "one", &two.home.work());
    talk(&two, "two", &two.other());
    let (_, report) = two.home.json(&["sync"]);
    let strategies: Vec<(&Value, &Value)> = report["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| (&session["report"]["strategy"], &session["report"]["limit"]))
        .collect();
    assert_eq!(
        strategies,
        [(&json!("offline"), &json!("limits.session_tokens")), (&json!("windows"), &Value::Null)]
    );
    let raised = two.home.run_in(&two.other(), &["config", "limits.session_tokens"]);
    assert!(raised.contains("200000") && !raised.contains("= 900000"), "{raised}");
}

#[test]
fn a_repository_cannot_send_memories_to_the_global_store() {
    let home = TestHome::new();
    home.write("config.toml", "[memory]\nscope = 'global_only'\n");
    let id = home.add("Releases are cut on Tuesdays", &[]);
    assert!(home.store(&format!("memory/decisions/{id}.md")).is_file());
    assert!(!home.root().join(".nacre/memory").exists());
    assert!(home.run(&["memory", "reset"]).contains("nacre memory reset --yes"));
    // The user may set the scope with a flag, a variable or the user settings file.
    let flagged = home.add("Commits are signed", &["--scope", "global_only"]);
    let global = home.root().join(".nacre/memory/decisions");
    assert!(global.join(format!("{flagged}.md")).is_file());
    let home = home.with_var("NACRE_MEMORY_SCOPE", "global_only");
    let by_variable = home.add("Branches are short", &[]);
    assert!(global.join(format!("{by_variable}.md")).is_file());
}

#[test]
fn a_file_of_a_repository_named_by_a_variable_says_nothing_about_other_stores() {
    let two = Two::without_lists();
    let file = two.home.work().join("ci.toml");
    fs::write(&file, list(WORK)).unwrap();
    let home = two.home.with_var("NACRE_CONFIG", &file.display().to_string());
    let two = Two { home };
    let title = format!("{WORK} is asked first");
    two.home.add(&title, &[]);
    two.home.add(&title, &["--scope", "global_only"]);
    two.ok(&two.other(), &["memory", "add", &title]);
    let memory = |folder: PathBuf| two.holding(&folder.join(".nacre/memory"), WORK).len();
    assert_eq!(memory(two.home.work()), 0);
    assert_eq!((memory(two.home.root()), memory(two.other())), (1, 1));
}

#[test]
fn the_global_store_keeps_out_what_the_person_does_and_no_repository() {
    let two = Two::new();
    two.home.add(&format!("{OWN} and {WORK} are asked first"), &["--scope", "global_only"]);
    let memories = global(&two).join("memory");
    assert_eq!(two.holding(&memories, OWN), [""; 0]);
    assert_eq!(two.holding(&memories, WORK).len(), 1);
}

#[test]
fn what_a_task_tells_is_kept_without_the_words_of_its_project() {
    let two = Two::new();
    let script = format!(
        r#"
[[turns]]
calls = [{{ name = "file_search", arguments = {{ pattern = "{WORK}" }} }}, {{ name = "file_read", arguments = {{ path = "names.txt" }} }}]

[[turns]]
expect = {{ last_contains = ["[redacted:extra]", "nobody"] }}
calls = [{{ name = "answer", arguments = {{ answer = "Nobody.", citations = [{{ file = "names.txt", first_line = 2, last_line = 2, quote = "nobody" }}] }} }}]
"#
    );
    fs::write(two.home.root().join("elsewhere/script.toml"), script).unwrap();
    fs::write(two.home.work().join("names.txt"), format!("{WORK}\nnobody\n")).unwrap();
    let question = format!("Who is {WORK}?");
    let script = two.home.root().join("elsewhere/script.toml").display().to_string();
    let shown = two.home.run(&["run", "--scripted", &script, question.as_str()]);
    assert!(shown.contains("Nobody."), "{shown}");
    assert_eq!(two.holding(&global(&two), WORK), [""; 0]);
    let tasks = two.home.run(&["events", "list"]);
    assert!(!tasks.contains(WORK), "{tasks}");
}
