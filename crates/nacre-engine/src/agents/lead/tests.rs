//! End-to-end tests for the lead, using scripted models.

use std::sync::LazyLock;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::{Draft, LearningKind, Rules, SummaryDraft, Trust};
use nacre_types::StepState;
use proptest::prelude::*;

use super::*;
use crate::agents::deps::AgentDeps;
use crate::lifecycle::RunControl;
use crate::model::{Limits, ModelRef, ModelSettings, Models, RetryPolicy, RoleSettings, Scripted};
use crate::record::{Event, Events, RunEffects, TaskId};
use crate::tools::{MemoryHandle, MemorySearch, SkillRegistry, Workspace, tool, toolkits};

/// A store with three memories, one of them archived.
pub(super) struct Bench {
    pub(super) folder: tempfile::TempDir,
    pub(super) store: Arc<Store>,
}

const OWNER: &str = "test";

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let scope = WriteScope::create_inside(&root, ".nacre", Access::Shared).unwrap();
        WriteScope::create_inside(&root, "spill", Access::Private).unwrap();
        let store = Arc::new(Store::new(scope, Rules::default()));
        let bench = Self { folder, store };
        let pnpm = Claim::Learning(LearningKind::Convention);
        bench.add(pnpm, "Use pnpm", "npm writes a second lock file.");
        bench.add(Claim::Decision, "Store sessions in SQLite", "One file to back up.");
        let old = bench.add(pnpm, "Use yarn", "It was fast.");
        let mut batch = bench.store.begin(&owner(), Duration::ZERO).unwrap();
        batch.archive(old.as_str(), at()).unwrap();
        batch.commit().unwrap();
        bench
    }

    fn add(&self, claim: Claim, title: &str, body: &str) -> MemoryId {
        let draft = Draft {
            claim,
            title: title.to_owned(),
            body: body.to_owned(),
            tags: Vec::new(),
            applies: Vec::new(),
            related: Vec::new(),
            source: OWNER.to_owned(),
            confidence: 0.8,
            basis: None,
            importance: None,
            quotes: Vec::new(),
            limit: Trust::Human,
        };
        let mut batch = self.store.begin(&owner(), Duration::ZERO).unwrap();
        let id = batch.add(&draft, at()).unwrap();
        batch.commit().unwrap();
        id
    }

    /// Returns an open case that is similar to the memory about pnpm.
    fn case(&self, id: &str) -> Case {
        let memory = self.store.get("20261101-use-pnpm").unwrap();
        Case {
            candidate_id: id.to_owned(),
            claim: Claim::Learning(LearningKind::Convention),
            title: "Use pnpm for the frontend".to_owned(),
            body: "npm breaks the workspace links.".to_owned(),
            said: Some(at()),
            quotes: vec!["use pnpm for the frontend, npm breaks the links".to_owned()],
            near: vec![NearMemory {
                seen: ContentHash::of(memory.document.as_str().as_bytes()),
                body: memory.document.body().trim().to_owned(),
                said: Some(at()),
                at: memory.at,
                title: memory.title,
                status: memory.status,
                overlap: 0.61,
            }],
        }
    }

    pub(super) fn order(&self, n_cases: usize) -> LeadRequest {
        let cases = (1..=n_cases).map(|n| self.case(&format!("c{n}"))).collect();
        LeadRequest {
            run_id: "sync-20261115-083000-1a2b3c4d".to_owned(),
            session: "a1b2".to_owned(),
            trace_path: "~/traces/one.jsonl".to_owned(),
            run_folder: "workspace/sync-20261115-083000-1a2b3c4d".to_owned(),
            cases,
        }
    }

    pub(super) fn memories(&self) -> MemoryHandle {
        MemoryHandle {
            store: Arc::clone(&self.store),
            owner: owner(),
            patience: Duration::ZERO,
            source: OWNER.to_owned(),
            is_claims_only: true,
        }
    }

    fn lead(&self, script: &str) -> Lead {
        let root = self.folder.path().canonicalize().unwrap();
        let denied: Vec<String> = LEAD_DENIED.iter().map(|name| (*name).to_owned()).collect();
        let workspace = Arc::new(Workspace::open(&root.join(".nacre/memory"), &denied).unwrap());
        let memories = self.memories();
        let mut tools = toolkits::file::tools(&workspace);
        tools.push(tool::<MemorySearch>(memories.clone()));
        let settings = ModelSettings {
            default: Some(RoleSettings::of_model(ModelRef::for_script())),
            script: Some(Arc::new(Scripted::parse(script).unwrap())),
            ..ModelSettings::default()
        };
        let deps = AgentDeps {
            models: Arc::new(Models::new(settings)),
            policy: RetryPolicy::default(),
            limits: Limits::default(),
            clock: Arc::new(|| Timestamp::UNIX_EPOCH),
            tools,
            skills: Arc::new(SkillRegistry { workspace: None, home: None }),
            spill: root.join("spill"),
            permissions: Permissions::read_only(),
            seed: 7,
            started: AtomicU32::new(1),
            workspace,
        };
        Lead { deps: Arc::new(deps), memories }
    }

    async fn settle(&self, script: &str, n_cases: usize) -> (LeadReport, Vec<LeadStep>) {
        let task = TaskId::from_random(1);
        let mut steps = Vec::new();
        let control = RunControl::without_handle();
        let (lead, order) = (self.lead(script), self.order(n_cases));
        let report =
            lead.settle(&order, task, Vec::new(), &control, &mut |step| steps.push(step)).await;
        (report, steps)
    }
}

fn owner() -> Owner {
    Owner { pid: 1, command: OWNER.to_owned(), since: String::new() }
}

fn at() -> Timestamp {
    "2026-11-01T10:00:00Z".parse().unwrap()
}

fn found(ids: &[&str]) -> String {
    let finding = |id: &&str| {
        json!({ "candidate_id": id, "action_hint": "update", "matched_file": "learnings/20261101-use-pnpm.md",
            "overlap": 0.7, "evidence": "npm writes a second lock file" })
    };
    let findings: Vec<Value> = ids.iter().map(finding).collect();
    let answer = json!({ "name": "answer", "arguments": { "findings": findings } });
    json!({ "expect": { "role": "explorer", "last_contains": ids }, "calls": [answer] }).to_string()
}

fn decision(id: &str, action: &str) -> Value {
    let merged = match action {
        "update" => json!({ "title": "Use pnpm for the frontend",
            "body": "npm writes a second lock file and breaks the workspace links." }),
        _ => Value::Null,
    };
    json!({ "candidate_id": id, "type": "learning", "action": action, "merged": merged,
        "matched_file": "learnings/20261101-use-pnpm.md", "quote": "a second lock file", "reason": "It says more." })
}

fn decided(decisions: &[Value]) -> String {
    let answer = json!({ "name": "answer", "arguments": { "decisions": decisions } });
    json!({ "expect": { "role": "lead" }, "calls": [answer] }).to_string()
}

fn script(turns: &[String]) -> String {
    format!(r#"{{"order":"any","turns":[{}]}}"#, turns.join(","))
}

fn states(report: &LeadReport) -> Vec<(String, StepState)> {
    report.checklist.iter().map(|item| (item.step.clone(), item.state)).collect()
}

#[tokio::test]
async fn explorers_look_and_the_lead_decides() {
    let bench = Bench::new();
    let (report, steps) =
        bench.settle(&script(&[found(&["c1"]), decided(&[decision("c1", "update")])]), 1).await;
    assert_eq!(report.error, None);
    let ruling = &report.rulings[0];
    assert_eq!((ruling.candidate_id.as_str(), ruling.action), ("c1", LeadAction::Update));
    assert_eq!(ruling.target.as_ref().unwrap().as_str(), "20261101-use-pnpm");
    assert_eq!(ruling.seen, Some(bench.case("c1").near[0].seen));
    assert!(ruling.merged.as_ref().unwrap().body.contains("workspace links"));
    assert_eq!(report.explorers[0].findings[0].overlap, 0.7);
    assert_eq!(steps, [LeadStep::Explore, LeadStep::Settle]);
    let done = |step: &LeadStep| (step.as_str().to_owned(), StepState::Done);
    assert_eq!(states(&report), LeadStep::ALL.iter().map(done).collect::<Vec<_>>());
    assert_eq!(report.count_denied_writes(), 0);
    assert_eq!(report.all_facts().map(|facts| facts.model_calls).sum::<u32>(), 2);
}

#[tokio::test]
async fn there_are_as_many_explorers_as_candidates_and_never_more_than_three() {
    for (n_cases, groups) in [
        (1, vec![vec!["c1"]]),
        (2, vec![vec!["c1"], vec!["c2"]]),
        (3, vec![vec!["c1"], vec!["c2"], vec!["c3"]]),
        (5, vec![vec!["c1", "c2"], vec!["c3", "c4"], vec!["c5"]]),
        (6, vec![vec!["c1", "c2"], vec!["c3", "c4"], vec!["c5", "c6"]]),
    ] {
        let mut turns: Vec<String> = groups.iter().map(|group| found(group)).collect();
        let ids = groups.iter().flatten();
        let decisions: Vec<Value> = ids.map(|id| decision(id, "no_op")).collect();
        turns.push(decided(&decisions));
        let (report, _) = Bench::new().settle(&script(&turns), n_cases).await;
        let asked: Vec<&Vec<String>> =
            report.explorers.iter().map(|explorer| &explorer.candidates).collect();
        assert_eq!(asked, groups.iter().collect::<Vec<_>>(), "{:?}", report.error);
        assert_eq!(report.rulings.len(), n_cases);
    }
}

#[tokio::test]
async fn an_explorer_that_fails_or_invents_costs_only_its_hint() {
    let bench = Bench::new();
    let invented = found(&["c1"]).replace("a second lock file", "a third lock file");
    let turns = [&invented, &invented, &invented, &decided(&[decision("c1", "no_op")])];
    let (report, _) = bench.settle(&script(&turns.map(Clone::clone)), 1).await;
    assert!(report.explorers[0].findings.is_empty());
    assert_eq!((report.rulings.len(), states(&report)[0].1), (1, StepState::Done));
    let broken = r#"{"expect":{"role":"explorer"},"error":{"kind":"quota"}}"#.to_owned();
    let turns = [broken, decided(&[decision("c1", "no_op")])];
    let (report, _) = bench.settle(&script(&turns), 1).await;
    assert_eq!((report.rulings.len(), states(&report)[0].1), (1, StepState::Failed));
    assert_eq!(report.explorers[0].state.to_string(), "failed(model)");
}

#[tokio::test]
async fn what_does_not_hold_goes_back_twice_and_then_there_is_no_ruling() {
    let bench = Bench::new();
    let wrong = decided(&[json!({ "candidate_id": "c1", "type": "learning", "action": "update",
        "matched_file": "learnings/20261101-gone.md", "quote": "anything", "reason": "r" })]);
    let mended =
        [found(&["c1"]), wrong.clone(), wrong.clone(), decided(&[decision("c1", "no_op")])];
    let (report, _) = bench.settle(&script(&mended), 1).await;
    assert_eq!((report.rulings.len(), report.error), (1, None));
    let stubborn = [found(&["c1"]), wrong.clone(), wrong.clone(), wrong];
    let (report, _) = bench.settle(&script(&stubborn), 1).await;
    assert!(report.rulings.is_empty());
    let error = report.error.clone().unwrap();
    assert!(error.contains("memory `learnings/20261101-gone.md` not found"), "{error}");
    assert_eq!(
        states(&report)[1..].iter().map(|(_, state)| *state).collect::<Vec<_>>(),
        [StepState::Done, StepState::Failed]
    );
    let reopened = |record: &&Arc<crate::record::Record>| {
        matches!(record.event, Event::CompletionReopen { .. })
    };
    assert_eq!(report.records.iter().filter(reopened).count(), 2);
}

#[tokio::test]
async fn one_decision_that_does_not_hold_spoils_no_other() {
    let bench = Bench::new();
    let mut wrong = decision("c2", "no_op");
    wrong["quote"] = json!("a third lock file");
    let answer = decided(&[
        decision("c1", "update"),
        wrong,
        decision("c3", "no_op"),
        decision("c3", "update"),
    ]);
    let turns =
        [found(&["c1"]), found(&["c2"]), found(&["c3"]), answer.clone(), answer.clone(), answer];
    let (report, _) = bench.settle(&script(&turns), 3).await;
    let ruled: Vec<&str> =
        report.rulings.iter().map(|ruling| ruling.candidate_id.as_str()).collect();
    assert_eq!((ruled, report.error), (vec!["c1"], None));
}

#[tokio::test]
async fn a_decision_of_the_wrong_shape_spoils_no_other() {
    let bench = Bench::new();
    let long = "r".repeat(401);
    for (key, value) in [
        ("candidate_id", json!("c99")),
        ("action", json!("merge")),
        ("reason", json!(long)),
        ("quote", json!("")),
        ("quote", json!(7)),
        ("more", json!(1)),
    ] {
        let mut wrong = decision("c2", "no_op");
        wrong[key] = value.clone();
        let answer = decided(&[decision("c1", "no_op"), wrong]);
        let turns = [found(&["c1"]), found(&["c2"]), answer.clone(), answer.clone(), answer];
        let (report, _) = bench.settle(&script(&turns), 2).await;
        let ruled: Vec<&str> =
            report.rulings.iter().map(|ruling| ruling.candidate_id.as_str()).collect();
        assert_eq!((ruled, report.error), (vec!["c1"], None), "{key}: {value}");
    }
}

#[test]
fn all_that_is_wrong_with_a_decision_is_told_at_once() {
    let bench = Bench::new();
    let order = bench.order(1);
    let wrong = json!({ "decisions": [{ "candidate_id": "c1", "type": "decision", "action": "update",
        "matched_file": "learnings/20261101-use-pnpm.md", "quote": "a third lock file", "reason": "r" }] });
    assert_eq!(
        form::faults(&wrong, &order.cases, &bench.store),
        [
            "c1: the candidate is a learning, not a decision",
            "c1: the quote does not occur in `learnings/20261101-use-pnpm.md`",
        ]
    );
}

#[test]
fn a_merged_text_says_all_and_nothing_else() {
    let bench = Bench::new();
    let order = bench.order(1);
    for (body, fault) in [
        ("npm writes a second lock file and breaks the workspace links.", None),
        ("npm breaks the workspace links.", Some("the merged text omits this from the memory")),
        ("npm writes a second lock file.", Some("the merged text omits this from the candidate")),
        (
            "npm writes a second lock file and breaks the workspace links on Jenkins.",
            Some("it mentions what no source contains: `jenkin"),
        ),
    ] {
        let mut update = decision("c1", "update");
        update["merged"]["body"] = json!(body);
        let answer = json!({ "decisions": [update] });
        let told = form::faults(&answer, &order.cases, &bench.store).join("; ");
        assert_eq!(told.is_empty(), fault.is_none(), "{body}: {told}");
        assert!(told.contains(fault.unwrap_or_default()), "{body}: {told}");
        let rulings = form::rulings(&answer, &order.cases, &bench.store);
        assert_eq!((rulings.len(), rulings[0].merged.is_some()), (1, fault.is_none()), "{body}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test plays the user who writes files")]
fn what_another_file_overturns_is_not_decided_about() {
    let bench = Bench::new();
    let order = bench.order(1);
    let answer = json!({ "decisions": [decision("c1", "no_op")] });
    assert!(form::faults(&answer, &order.cases, &bench.store).is_empty());
    let id = "20261102-use-yarn-now";
    let text =
        format!("---\nid: {id}\ntitle: Use yarn now\nsupersedes: [20261101-use-pnpm]\n---\n");
    std::fs::write(bench.store.path().join(format!("memory/learnings/{id}.md")), text).unwrap();
    let told = form::faults(&answer, &order.cases, &bench.store).join("; ");
    assert!(told.contains("is already superseded"), "{told}");
}

#[tokio::test]
async fn who_tries_to_write_is_refused_and_counted() {
    let bench = Bench::new();
    let write = r##"{"expect":{"role":"lead"},"calls":[
        {"name":"file_create","arguments":{"path":"learnings/new.md","text":"# x"}},
        {"name":"file_edit","arguments":{"path":"learnings/20261101-use-pnpm.md","edits":[]}},
        {"name":"file_read","arguments":{"path":"../config.toml"}}]}"##;
    let turns = [found(&["c1"]), write.to_owned(), decided(&[decision("c1", "no_op")])];
    let (report, _) = bench.settle(&script(&turns), 1).await;
    assert_eq!((report.count_denied_writes(), report.rulings.len()), (2, 1), "{:?}", report.error);
    assert!(bench.store.get("new").is_err());
}

#[tokio::test]
async fn what_sessions_were_about_is_shown_to_nobody() {
    let bench = Bench::new();
    let draft = SummaryDraft {
        title: "Installed the packages with pnpm".to_owned(),
        description: "ZEBRA-7731".to_owned(),
        body: "The person said: use pnpm. ZEBRA-7731".to_owned(),
        coding_agent: "generic".to_owned(),
        raw_trace_path: String::new(),
        run_id: String::new(),
        repo_name: String::new(),
        related: Vec::new(),
        tags: Vec::new(),
    };
    let mut batch = bench.store.begin(&owner(), Duration::ZERO).unwrap();
    batch.add_summary(&draft, at()).unwrap();
    batch.commit().unwrap();
    let path = "summaries/20261101/100000/installed-the-packages-with-pnpm.md";
    let look = json!({ "expect": { "role": "lead" }, "calls": [
        { "name": "memory_search", "arguments": { "query": "type:summary pnpm packages" } },
        { "name": "memory_search", "arguments": { "query": "installed the packages with pnpm" } },
        { "name": "file_search", "arguments": { "pattern": "ZEBRA" } },
        { "name": "file_read", "arguments": { "path": path } },
    ] });
    let looking = bench.lead(&script(&[look.to_string(), decided(&[decision("c1", "no_op")])]));
    let spec = lead(&bench.order(1), &bench.store);
    let (events, control) = (Events::silent(TaskId::from_random(1)), RunControl::without_handle());
    let deps = &looking.deps;
    let outcome = deps.explore("Look.", &spec, events, &control).await.unwrap();
    let told = format!("{:?}", outcome.conversation);
    assert!(bench.store.get("20261101-installed").is_ok(), "it is there");
    assert!(told.contains("20261101-use-pnpm") && !told.contains("The person said"), "{told}");
}

#[test]
fn a_decision_is_held_against_the_store() {
    let bench = Bench::new();
    let order = bench.order(2);
    let validators = form::validators(&order.cases, &bench.store);
    let check = |decisions: Value| -> String {
        let answer = json!({ "decisions": decisions });
        let told =
            validators.iter().flat_map(|one| one.complaints(&answer, &RunEffects::default()));
        told.collect::<Vec<_>>().join("; ")
    };
    let (one, two) = (decision("c1", "update"), decision("c2", "no_op"));
    let with = |key: &str, value: Value| {
        let mut changed = one.clone();
        changed[key] = value;
        json!([changed, two])
    };
    assert_eq!(check(json!([one, two])), "");
    let add = |quote: &str| {
        json!([{ "candidate_id": "c1", "type": "learning", "action": "add", "matched_file": null,
            "quote": quote, "reason": "r" }, two])
    };
    assert_eq!(check(add("npm breaks the  workspace links")), "");
    for (decisions, complaint) in [
        (json!([two]), "c1: no decision"),
        (json!([one, one, two]), "c1: 2 decisions; give one action per candidate"),
        (json!([one, two, decision("c9", "no_op")]), "c9: unknown candidate"),
        (with("type", json!("decision")), "c1: the candidate is a learning, not a decision"),
        (with("matched_file", Value::Null), "c1: the matched file is missing"),
        (
            with("matched_file", json!("learnings/20261101-gone.md")),
            "c1: memory `learnings/20261101-gone.md` not found",
        ),
        (
            with("matched_file", json!("learnings/20261101-use.md")),
            "c1: memory `learnings/20261101-use.md` not found",
        ),
        (with("matched_file", json!("decisions/20261101-use-pnpm.md")), "is a decision, but the"),
        (with("matched_file", json!("../../etc/passwd")), "is not the path of a memory"),
        (with("matched_file", json!("/etc/passwd")), "is not the path of a memory"),
        (with("matched_file", json!("learnings/../learnings/x.md")), "is not the path of a memory"),
        (
            with("matched_file", json!("archived/learnings/20261101-use-yarn.md")),
            "was archived by a user",
        ),
        (with("matched_file", json!("summaries/20261101/100300/x.md")), "is a summary"),
        (with("quote", json!("a third lock file")), "the quote does not occur"),
        (with("quote", json!("a")), "the quote does not occur"),
        (add("nobody said this"), "c1: the quote does not occur in the candidate"),
    ] {
        let told = check(decisions);
        assert!(told.contains(complaint), "{told:?} should say {complaint:?}");
    }
}

#[test]
fn the_lead_and_its_explorers_have_no_tool_that_writes() {
    let bench = Bench::new();
    let spec = lead(&bench.order(2), &bench.store);
    assert!(spec.permissions.is_read_only());
    assert_eq!(spec.permissions.denied, LEAD_DENIED);
    assert!(spec.tools.iter().all(|tool| TOOLS.contains(tool)));
    assert!(!spec.tools.contains(&"delegate"));
}

#[test]
fn prompts_and_forms_are_written_from_the_registry() {
    let bench = Bench::new();
    let spec = lead(&bench.order(1), &bench.store);
    let Completion::Structured { output, .. } = spec.completion else { panic!("no form") };
    let form = output.schema.to_string();
    for known in TYPES {
        assert!(spec.prompt.contains(known.definition), "{}", known.memory_type);
        let is_claim = known.memory_type != MemoryType::Summary;
        assert_eq!(form.contains(&format!("\"{}\"", known.memory_type)), is_claim, "{form}");
        assert_eq!(form.contains(&format!("{}/ID.md", known.folder)), is_claim, "{form}");
    }
    for known in LEARNING_KINDS {
        assert!(spec.prompt.contains(known.definition), "{}", known.kind);
    }
}

/// A bench shared by tests that change nothing.
static SHARED: LazyLock<Bench> = LazyLock::new(Bench::new);

proptest! {
    // A path given by a model is rejected unless it is the path of an active decision or learning.
    #[test]
    fn no_path_leads_anywhere_else(file in "(\\.{0,2}/|memory/|learnings/|decisions/|archived/|summaries/|[a-z0-9-]{1,12}|%2e|\u{202e}|\0|\\.md){0,7}") {
        if let Ok(at) = form::place(&file) {
            let path = at.path.as_str();
            let below = path.strip_prefix("memory/learnings/").or(path.strip_prefix("memory/decisions/"));
            prop_assert!(below.is_some_and(|name| !name.contains(['/', '\0'])), "{file:?} is {path}");
        }
    }

    // Any model answer can be checked in bounded time, and only decisions about the given
    // candidates are accepted.
    #[test]
    fn no_answer_is_too_strange_to_be_looked_at(
        id in "c[0-9]|[a-z]{0,3}",
        action in "add|update|no_op|supersede|drop",
        file in proptest::option::of("(learnings/20261101-use-pnpm\\.md|[a-z./]{0,20})"),
        quote in "(a second lock file|.{0,12})",
    ) {
        let bench = &*SHARED;
        let order = bench.order(1);
        let answer = json!({ "decisions": [{ "candidate_id": id, "type": "learning", "action": action,
            "matched_file": file, "quote": quote, "reason": "r" }] });
        let rulings = form::rulings(&answer, &order.cases, &bench.store);
        prop_assert!(rulings.iter().all(|ruling| ruling.candidate_id == "c1"));
        for ruling in rulings.iter().filter(|ruling| ruling.action != LeadAction::Add) {
            prop_assert_eq!(ruling.target.as_ref().map(MemoryId::as_str), Some("20261101-use-pnpm"));
        }
    }
}
