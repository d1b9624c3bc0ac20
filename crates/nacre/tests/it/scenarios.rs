//! Tests whole syncs with a lead model: acceptance scenarios A to H, and failures.

use insta::assert_snapshot;
use nacre_memory::{LEARNING_KINDS, MemoryType, TYPES};
use serde_json::{Value, json};

use crate::answering::{Answering, Calls, system_of};
use crate::home::{TestHome, repository};
use crate::sync_run::{PNPM, reading, talk};

const KNOWN: &str = "20261101-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file";

/// Something the agent said that no candidate contains.
const ONLY_IN_TRACE: &str = "ZEBRA-7731 was printed by the build";

/// A session with a claim similar to the known memory. The scores alone cannot tell whether the two
/// are the same.
const UNCLEAR: &[&str] = &[
    "Fix the build on CI before lunch",
    "I ran npm install. ZEBRA-7731 was printed by the build.",
    "no, always use pnpm here for the frontend packages, never npm: npm breaks the workspace links",
    "Done, with pnpm.",
];

fn is_lead(request: &Value) -> bool {
    system_of(request).contains("You are the lead")
}

fn answer(value: Value) -> Calls {
    vec![("answer", value)]
}

/// An explorer's result: the known memory.
fn answer_known() -> Calls {
    let file = format!("learnings/{KNOWN}.md");
    answer(
        json!({ "findings": [{ "candidate_id": "c1", "action_hint": "update", "matched_file": file,
        "overlap": 0.6, "evidence": "npm writes a second lock file" }] }),
    )
}

fn decision(action: &str) -> Value {
    let merged = match action {
        "update" => json!({
            "title": "Always use pnpm here and for the frontend packages, never npm",
            "body": "npm writes a second lock file, and npm breaks the workspace links.",
        }),
        _ => Value::Null,
    };
    json!({ "candidate_id": "c1", "type": "learning", "action": action, "merged": merged,
        "matched_file": format!("learnings/{KNOWN}.md"), "quote": "npm writes a second lock file",
        "reason": "Both are about pnpm; this one is about the frontend." })
}

/// Starts a model that decides the one unclear case with this action.
fn deciding(action: &'static str) -> Answering {
    Answering::start(move |request| match is_lead(request) {
        true => answer(json!({ "decisions": [decision(action)] })),
        false => answer_known(),
    })
}

/// Creates a home with a memory about pnpm, and a new session with an unclear case.
fn unclear() -> TestHome {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    home.ok(&["sync"]);
    talk(&home, "two", 2, UNCLEAR);
    home
}

/// Syncs with the model as the lead. Returns the report on the one session that was read.
fn synced(home: &TestHome, model: &Answering, more: &[&str]) -> Value {
    model.set_for(home, "lead");
    let args: Vec<&str> = ["sync"].iter().chain(more).copied().collect();
    let (code, value) = home.json(&args);
    assert_eq!((code, value["sessions"].as_array().unwrap().len()), (0, 1), "{value:#}");
    value["sessions"][0]["report"].clone()
}

/// A file of the run.
fn artifact(home: &TestHome, report: &Value, name: &str) -> String {
    home.read(&format!("{}/{name}", report["run_folder"].as_str().unwrap()))
}

fn json_of(home: &TestHome, report: &Value, name: &str) -> Value {
    serde_json::from_str(&artifact(home, report, name)).unwrap()
}

#[test]
fn a_only_the_path_of_the_trace_reaches_the_lead_and_its_explorers() {
    let (home, model) = (unclear(), deciding("update"));
    synced(&home, &model, &[]);
    let asked = model.requests();
    assert_eq!(asked.iter().map(is_lead).collect::<Vec<_>>(), [false, true]);
    for request in &asked {
        let text = request.to_string();
        assert!(!text.contains("ZEBRA") && !text.contains("before lunch"), "{text}");
    }
    assert!(asked[1].to_string().contains("~/traces/two.jsonl"));
    let kept = home.tree("meta/traces").lines().any(|path| home.read(path).contains(ONLY_IN_TRACE));
    assert!(kept, "the words were there to be leaked");
}

#[test]
fn b_the_checklist_is_fixed_and_says_how_far_each_step_came() {
    let told = |report: &Value| {
        let steps = report["checklist"].as_array().unwrap().iter();
        let word = |step: &Value, key: &str| step[key].as_str().unwrap().to_owned();
        let told: Vec<String> =
            steps.map(|step| format!("{} {}", word(step, "step"), word(step, "state"))).collect();
        told.join("\n")
    };
    let home = reading();
    talk(&home, "one", 1, PNPM);
    let report = home.json(&["sync"]).1["sessions"][0]["report"].clone();
    assert_snapshot!(told(&json_of(&home, &report, "memory_actions.json")), @"
    read done
    extract done
    summarize done
    compare done
    explore skipped
    settle skipped
    check skipped
    decide done
    commit done
    ");
    let home = unclear();
    let report = synced(&home, &deciding("update"), &[]);
    assert_snapshot!(told(&json_of(&home, &report, "memory_actions.json")), @"
    read done
    extract done
    summarize done
    compare done
    explore done
    settle done
    check done
    decide done
    commit done
    ");
    assert!(artifact(&home, &report, "agent.log").contains("checklist: explore done"));
}

#[test]
fn c_every_artifact_parses() {
    let home = unclear();
    let report = synced(&home, &deciding("update"), &[]);
    let extract = json_of(&home, &report, "extract.json");
    assert_eq!(extract["candidates"][0]["id"], "c1");
    let actions = json_of(&home, &report, "memory_actions.json");
    assert_eq!(actions["run_id"], report["run_id"]);
    let action = &actions["actions"][0];
    assert_eq!((&action["action"], &action["by"]), (&json!("update"), &json!("lead")));
    assert_eq!(action["note"], "Both are about pnpm; this one is about the frontend.");
    let metrics = json_of(&home, &report, "metrics.json");
    assert_eq!(metrics["tokens"], json!({ "input": 200, "output": 40 }));
    assert_eq!((&metrics["model_calls"], &metrics["cost_usd"]), (&json!(2), &json!(0.02)));
    let explorer = &metrics["explorers"][0];
    assert_eq!(
        (&explorer["state"], &explorer["candidates"]),
        (&json!("completed(done)"), &json!(["c1"]))
    );
    assert_eq!(explorer["findings"][0]["overlap"], 0.6);
    assert!(explorer["ms"].is_u64() && metrics["durations_ms"]["lead"].is_u64());
    assert_eq!(metrics["leads"][0]["state"], "completed(done)");
    for (name, agent) in [("agent.log", "lead"), ("subagents.log", "explorer")] {
        let text = artifact(&home, &report, name);
        let events: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let prepared = events.iter().find(|event| event["event"] == "run.prepare").unwrap();
        assert_eq!(prepared["agent"], agent, "{name}");
        let last = events.last().unwrap();
        assert_eq!((&last["event"], &last["state"]), (&json!("task.state"), &json!("completed")));
    }
}

#[test]
fn d_each_run_writes_exactly_one_new_summary() {
    let home = unclear();
    let before = home.tree("memory/summaries").lines().count();
    let report = synced(&home, &deciding("supersede"), &[]);
    assert_eq!(home.tree("memory/summaries").lines().count(), before + 1);
    let path = json_of(&home, &report, "summary.json")["summary_path"].clone();
    assert_eq!(path, report["summary_path"]);
    assert!(home.read(path.as_str().unwrap()).contains("coding_agent: generic"));
    let summaries = |report: &Value| {
        let paths = report["written_paths"].as_array().unwrap().clone();
        paths.iter().filter(|path| path.as_str().unwrap().contains("summaries")).count()
    };
    assert_eq!(summaries(&report), 1);
}

#[test]
fn e_an_update_changes_the_file_in_place_and_the_count_stays() {
    let home = unclear();
    let (before, text) =
        (home.tree("memory/learnings"), home.read(&format!("memory/learnings/{KNOWN}.md")));
    let report = synced(&home, &deciding("update"), &[]);
    assert_eq!(home.tree("memory/learnings"), before);
    let after = home.read(&format!("memory/learnings/{KNOWN}.md"));
    assert!(!text.contains("workspace links") && after.contains("npm breaks the workspace links"));
    assert!(after.contains(&format!("id: {KNOWN}\n")) && after.contains("never npm"), "{after}");
    assert_eq!(report["counts"], json!({ "add": 0, "update": 1, "no_op": 0, "supersede": 0 }));
    assert!(home.ok(&["doctor", "--evidence", "--scope", "project_only"]).contains("0 missing"));
    let run = report["run_id"].as_str().unwrap();
    let shown = home.run(&["runs", run]);
    assert!(shown.contains("; lead: Both are about pnpm"), "{shown}");
    home.ok(&["undo", run]);
    assert_eq!(home.read(&format!("memory/learnings/{KNOWN}.md")), text);
}

#[test]
fn f_writes_by_the_lead_are_refused_and_counted() {
    let home = unclear();
    let model = Answering::start(|request| {
        let text = request.to_string();
        match (is_lead(request), text.contains("is not one of your tools")) {
            (true, false) => vec![
                (
                    "file_create",
                    json!({ "path": "learnings/20261115-mine.md", "content": "# Mine" }),
                ),
                ("file_create", json!({ "path": "../../../outside.txt", "content": "x" })),
                ("file_delete", json!({ "path": format!("learnings/{KNOWN}.md") })),
                ("memory_add", json!({ "title": "Mine" })),
            ],
            (true, true) => answer(json!({ "decisions": [decision("no_op")] })),
            (false, _) => answer_known(),
        }
    });
    let before = home.tree("memory/learnings");
    let report = synced(&home, &model, &[]);
    assert_eq!(home.tree("memory/learnings"), before);
    assert!(!home.root().join("outside.txt").exists());
    let metrics = json_of(&home, &report, "metrics.json");
    assert_eq!(metrics["denied_writes"], 4, "{metrics:#}");
    assert!(artifact(&home, &report, "agent.log").contains("tool.denied"));
}

#[test]
fn g_one_registry_of_types_is_in_prompts_schemas_and_docs() {
    let (home, model) = (unclear(), deciding("no_op"));
    synced(&home, &model, &[]);
    for request in model.requests() {
        let tools = request["tools"].as_array().unwrap();
        let form = tools.iter().find(|tool| tool["function"]["name"] == "answer").unwrap();
        let (prompt, form) = (system_of(&request), form.to_string());
        for spec in TYPES {
            assert!(prompt.contains(spec.definition), "{prompt}");
            let is_claim = spec.memory_type != MemoryType::Summary;
            assert_eq!(form.contains(&format!("{}/ID.md", spec.folder)), is_claim, "{form}");
        }
        let has_kinds = LEARNING_KINDS.iter().all(|spec| prompt.contains(spec.definition));
        assert!(has_kinds, "{prompt}");
    }
    let docs = std::fs::read_to_string(repository().join("docs/memory-format.md")).unwrap();
    for spec in TYPES {
        let (name, folder) = (spec.memory_type, spec.folder);
        let row = format!("| {name} | `{folder}` | {} | {} |\n", spec.definition, spec.example);
        assert!(docs.contains(&row), "docs/memory-format.md wants the row {row}");
    }
    for spec in LEARNING_KINDS {
        let row = format!("| {} | {} |\n", spec.kind, spec.definition);
        assert!(docs.contains(&row), "docs/memory-format.md wants the row {row}");
    }
}

#[test]
fn h_the_run_folder_is_flat_and_complete() {
    let home = unclear();
    let report = synced(&home, &deciding("update"), &["--mode", "hot"]);
    let folder = report["run_folder"].as_str().unwrap();
    assert!(folder.starts_with("workspace/hot-20990101-000000-"), "{folder}");
    let files = home.tree(folder);
    let expected = [
        "agent.log",
        "change.json",
        "extract.json",
        "memory_actions.json",
        "metrics.json",
        "session.log",
        "subagents.log",
        "summary.json",
        "undo.json",
    ]
    .map(|name| format!("{folder}/{name}"));
    assert_eq!(files.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_clear_costs_no_question() {
    let home = reading();
    talk(&home, "one", 1, PNPM);
    talk(&home, "two", 2, PNPM);
    let model = deciding("update");
    model.set_for(&home, "lead");
    assert_eq!(home.json(&["sync"]).0, 0);
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_lead_that_insists_on_nonsense_is_sent_back_twice_and_the_rule_decides() {
    let home = unclear();
    let before = home.tree("memory/learnings").lines().count();
    let model = Answering::start(|request| match is_lead(request) {
        true => {
            let mut wrong = decision("update");
            wrong["quote"] = json!("words that stand nowhere");
            answer(json!({ "decisions": [wrong] }))
        }
        false => answer_known(),
    });
    let report = synced(&home, &model, &[]);
    assert_eq!(model.requests().iter().filter(|request| is_lead(request)).count(), 3);
    let action = &report["actions"][0];
    assert_eq!((&action["by"], &action["band"]), (&json!("rule"), &json!("grey")));
    // The case becomes a separate candidate, and nothing is overwritten.
    assert_eq!(home.tree("memory/learnings").lines().count(), before + 1);
    let metrics = json_of(&home, &report, "metrics.json");
    let error = metrics["leads"][0]["error"].as_str().unwrap();
    assert_eq!(report["lead_error"], error);
    assert!(error.contains("the quote does not occur"), "{error}");
}

#[test]
fn a_person_who_edits_while_the_model_answers_is_never_overwritten() {
    let home = unclear();
    let file = home.store(&format!("memory/learnings/{KNOWN}.md"));
    let edited = file.clone();
    let model = Answering::start(move |request| match is_lead(request) {
        true => {
            let text = std::fs::read_to_string(&edited).unwrap();
            if !text.contains("My own words.") {
                std::fs::write(&edited, text + "\nMy own words.\n").unwrap();
            }
            // The model merges the memory that it is shown, which by the second time includes the
            // user's words.
            let mut update = decision("update");
            if request.to_string().contains("My own words.") {
                let body = update["merged"]["body"].as_str().unwrap();
                update["merged"]["body"] = json!(format!("{body} My own words."));
            }
            answer(json!({ "decisions": [update] }))
        }
        false => answer_known(),
    });
    let report = synced(&home, &model, &[]);
    let n_asked = model.requests().iter().filter(|request| is_lead(request)).count();
    assert_eq!((n_asked, &report["actions"][0]["by"]), (2, &json!("lead")));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("My own words.") && text.contains("workspace links"), "{text}");
    assert_eq!(json_of(&home, &report, "metrics.json")["leads"].as_array().unwrap().len(), 2);
}

#[test]
fn a_lead_that_cannot_be_reached_or_paid_leaves_it_to_the_rule() {
    let home = unclear();
    home.ok(&["config", "set", "roles.lead.model", "anthropic/claude-sonnet-4-6"]);
    let shown = home.run(&["sync"]);
    assert!(shown.contains("Warning: Unclear cases are decided by rule instead of by a lead: Provider `anthropic` needs a key"), "{shown}");
    assert!(!shown.contains("[exit"), "{shown}");
}

#[test]
fn the_table_tells_what_a_lead_cost_and_events_tell_what_it_did() {
    let home = unclear();
    deciding("update").set_for(&home, "lead");
    let shown = home.run(&["sync"]);
    assert!(shown.contains("$0.02"), "{shown}");
    let (_, tasks) = home.json(&["events"]);
    let mut told: Vec<String> = tasks["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| {
            format!("{} {}", task["agent"].as_str().unwrap(), task["state"].as_str().unwrap())
        })
        .collect();
    told.sort();
    assert_eq!(
        told,
        ["explorer completed", "lead completed", "sync completed", "sync completed"],
        "{tasks:#}"
    );
}

#[test]
fn what_a_lead_spends_counts_for_the_limits_and_a_limit_leaves_it_to_the_rule() {
    let (home, model) = (unclear(), deciding("update"));
    home.ok(&["config", "set", "limits.day_tokens", "100"]);
    let report = synced(&home, &model, &[]);
    assert_eq!(report["actions"][0]["by"], "rule", "{report:#}");
    let error = report["lead_error"].as_str().unwrap();
    assert!(error.contains("limits.day_tokens") || error.contains("limit"), "{error}");
}

#[test]
fn who_wants_no_model_gets_no_lead() {
    let (home, model) = (unclear(), deciding("update"));
    let report = synced(&home, &model, &["--strategy", "offline"]);
    assert_eq!((model.requests().len(), &report["actions"][0]["by"]), (0, &json!("rule")));
}

#[test]
fn a_dry_run_asks_nobody() {
    let (home, model) = (unclear(), deciding("update"));
    model.set_for(&home, "lead");
    let (code, value) = home.json(&["sync", "--dry-run"]);
    assert_eq!((code, model.requests().len()), (0, 0));
    assert_eq!(value["sessions"][0]["report"]["actions"][0]["by"], "rule");
}
