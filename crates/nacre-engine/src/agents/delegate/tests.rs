//! Tests for explorers that run on behalf of another agent.

use std::fs;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};

use super::*;
use crate::model::{
    Cancel, Limits, ModelRef, ModelSettings, Models, RetryPolicy, RoleSettings, Scripted,
};
use crate::record::state::TaskStore as _;
use crate::record::state::{EventRecord, Recorder, State};
use crate::record::{
    CancelledBy, Clock, Event, Failure, Heard, Listener, NewTask, Record, Runner, SessionId,
    Signal, TaskClass, TaskState,
};
use crate::tools::{SkillRegistry, Workspace, toolkits};

/// A user skill that requests more tools than an explorer has.
const SKILL: &str = "---\nname: locks\ndescription: Where locks are.\nallowed-tools: file_read, file_create\n---\n\
    Locks are in src/lock.rs.\n";

struct Bench {
    folder: tempfile::TempDir,
    ctx: ToolContext,
    source: Cancel,
    heard: Arc<Heard>,
    delegate: Delegate,
}

async fn run(
    delegate: &Delegate,
    arguments: Value,
    ctx: &ToolContext,
) -> Result<Output, ToolError> {
    let input: DelegateInput = serde_json::from_value(arguments).unwrap();
    input.run(delegate, ctx).await
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&output.text).unwrap()
}

fn bench(script: &str) -> Bench {
    heard_by(script, Vec::new())
}

/// Returns a bench that also forwards the delegating task's events to the listeners in `others`.
fn heard_by(script: &str, others: Vec<Arc<dyn Listener>>) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for path in ["work/src", "work/docs", "home/skills/locks", "spill"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    fs::write(root.join("work/src/lock.rs"), "fn lock() {}\n").unwrap();
    fs::write(root.join("work/docs/guide.md"), "The guide.\n").unwrap();
    fs::write(root.join("home/skills/locks/SKILL.md"), SKILL).unwrap();
    let workspace = Arc::new(Workspace::open(&root.join("work"), &[]).unwrap());
    let settings = ModelSettings {
        default: Some(RoleSettings::of_model(ModelRef::for_script())),
        script: Some(Arc::new(Scripted::parse(script).unwrap())),
        ..ModelSettings::default()
    };
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let heard = Arc::new(Heard::default());
    let listener: Arc<dyn Listener> = heard.clone();
    let listeners = others.into_iter().chain([listener]).collect();
    let events = Events::new(TaskId::from_random(1), Arc::clone(&clock), listeners);
    let deps = AgentDeps {
        models: Arc::new(Models::new(settings)),
        policy: RetryPolicy::default(),
        limits: Limits::default(),
        clock,
        tools: toolkits::file::tools(&workspace),
        skills: Arc::new(SkillRegistry {
            workspace: Some(root.join("work")),
            home: Some(root.join("home")),
        }),
        spill: root.join("spill"),
        permissions: Permissions::read_only(),
        seed: 7,
        started: AtomicU32::new(0),
        workspace: Arc::clone(&workspace),
    };
    let source = Cancel::new();
    let ctx = ToolContext {
        workspace: Arc::clone(workspace.root()),
        cancel: source.clone(),
        now: Timestamp::UNIX_EPOCH,
        spill: Arc::new(root.join("spill")),
    };
    let deps = Arc::new(deps);
    let delegate = Delegate { deps, events, children: Arc::default() };
    Bench { folder, ctx, source, heard, delegate }
}

fn ends(records: &[Arc<Record>]) -> Vec<String> {
    let mut ends = Vec::new();
    for record in records {
        if let Event::TaskState(state) = &record.event
            && state.is_terminal()
        {
            ends.push(state.to_string());
        }
    }
    ends.sort();
    ends
}

const CITED: &str = r#"{"order":"any","turns":[
    {"expect":{"last_contains":["where is the lock"]},
     "calls":[{"name":"file_read","arguments":{"path":"src/lock.rs"}}]},
    {"expect":{"last_contains":["fn lock"]},
     "calls":[{"name":"answer","arguments":{"answer":"In lock.rs [1].","citations":[
        {"file":"src/lock.rs","first_line":1,"last_line":1,"quote":"fn lock()"}]}}]},
    {"expect":{"last_contains":["what is broken"]},"error":{"kind":"quota"}},
    {"expect":{"last_contains":["what does the guide say","Look only below: docs/"]},
     "calls":[{"name":"file_read","arguments":{"path":"docs/guide.md"}}]},
    {"expect":{"last_contains":["src` is outside","denied"]},"say":"x"},
    {"expect":{"last_contains":["The guide."]},
     "calls":[{"name":"answer","arguments":{"answer":"It is a guide [1].","citations":[
        {"file":"docs/guide.md","first_line":1,"last_line":1,"quote":"The guide."}]}}]}
]}"#;

#[tokio::test]
async fn questions_are_answered_side_by_side_and_one_failure_is_only_its_own() {
    let bench = bench(CITED);
    let arguments = json!({ "questions": [
        { "question": "where is the lock" },
        { "question": "what is broken" },
        { "question": "what does the guide say", "folders": ["docs/"] },
    ] });
    let output = run(&bench.delegate, arguments, &bench.ctx).await.unwrap();
    assert_eq!(json_of(&output)[0]["state"], "completed(done)");
    assert_eq!(json_of(&output)[0]["citations"][0]["verified"], true);
    assert_eq!(json_of(&output)[1]["state"], "failed(model)");
    assert!(json_of(&output)[1]["error"].as_str().unwrap().contains("no credit"));
    assert_eq!(json_of(&output)[0]["citations"][0]["lines"], "fn lock() {}");
    assert_eq!(json_of(&output)[2]["answer"], "It is a guide [1].");
    assert_eq!(json_of(&output)[2]["verified"], true);
    assert_eq!(
        ends(&bench.heard.records()),
        ["completed(done)", "completed(done)", "failed(model)"]
    );
    assert!(!bench.delegate.events.is_over(), "the parent's own task continues");
    assert_eq!(bench.delegate.children.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn an_explorer_is_cancelled_with_its_parent() {
    let bench = bench(r#"{"turns":[{"hang":true}]}"#);
    let arguments = json!({ "questions": [{ "question": "anything?" }] });
    let run = run(&bench.delegate, arguments, &bench.ctx);
    let cancel = async {
        while !bench.heard.records().iter().any(|r| matches!(r.event, Event::ModelCall { .. })) {
            tokio::task::yield_now().await;
        }
        bench.source.cancel();
    };
    let (output, ()) = tokio::join!(run, cancel);
    assert_eq!(json_of(&output.unwrap())[0]["state"], "cancelled(parent)");
    let by = CancelledBy::Parent;
    let expected = TaskState::Cancelled { by }.to_string();
    assert_eq!(ends(&bench.heard.records()), [expected]);
}

fn home() -> (tempfile::TempDir, State, Arc<Recorder>) {
    let home = tempfile::tempdir().unwrap();
    let scope = WriteScope::open(&home.path().canonicalize().unwrap(), Access::Private).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let open = || State::open(&scope, &owner, Duration::from_secs(1)).unwrap();
    let mut state = open();
    let task = NewTask {
        id: TaskId::from_random(1),
        session: SessionId::from_random(1),
        parent: None,
        project: None,
        agent: "lead".to_owned(),
        class: TaskClass::Background,
        title: "Delegates".to_owned(),
    };
    let runner = Runner { host: "here".to_owned(), pid: 1, birth: "1".to_owned() };
    state.accept(&task, &runner, Timestamp::UNIX_EPOCH).unwrap();
    state.start(&task.id, &runner, Timestamp::UNIX_EPOCH).unwrap();
    let recorder = Arc::new(Recorder::start(open(), None));
    (home, state, recorder)
}

fn announced(records: &[Arc<Record>]) -> (Vec<TaskId>, Vec<TaskState>) {
    let (mut helpers, mut states) = (Vec::new(), Vec::new());
    for record in records {
        if let Event::AgentSpawn { child, .. } = &record.event {
            helpers.push(child.clone());
        } else if let Event::AgentEnd { state, .. } = &record.event {
            states.push(*state);
        }
    }
    (helpers, states)
}

#[tokio::test]
async fn every_helper_is_a_task_of_its_own_with_its_true_end() {
    let (_home, state, recorder) = home();
    let bench = heard_by(CITED, vec![recorder.clone()]);
    let questions = json!([{ "question": "where is the lock" }, { "question": "what is broken" }]);
    let arguments = json!({ "questions": questions });
    run(&bench.delegate, arguments, &bench.ctx).await.unwrap();
    assert_eq!(recorder.close().n_refused, 0);
    let (helpers, mut states) = announced(&bench.heard.records());
    states.sort_by_key(ToString::to_string);
    let done = TaskState::Completed { signal: Signal::Done };
    assert_eq!(states, [done, TaskState::Failed { why: Failure::Model }]);
    for helper in helpers {
        let kept = state.task(&helper).unwrap();
        assert!(states.contains(&kept.state), "{kept:?}");
        assert_eq!(kept.parent, Some(TaskId::from_random(1)));
        let events = state.events(&helper, 0, 100).unwrap();
        assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
        assert_eq!(events.last().and_then(EventRecord::state), Some(kept.state));
    }
}

#[tokio::test]
async fn a_helper_that_cannot_be_given_its_tools_ends_as_failed_for_everybody() {
    let (_home, state, recorder) = home();
    let bench = heard_by(r#"{"turns":[]}"#, vec![recorder.clone()]);
    fs::remove_dir(bench.folder.path().join("spill")).unwrap();
    let arguments = json!({ "questions": [{ "question": "anything?" }] });
    let output = run(&bench.delegate, arguments, &bench.ctx).await.unwrap();
    assert_eq!(json_of(&output)[0]["state"], "failed(unusable)");
    recorder.close();
    let (helpers, states) = announced(&bench.heard.records());
    let failed = TaskState::Failed { why: Failure::Unusable };
    assert_eq!((helpers.len(), states), (1, vec![failed]));
    assert_eq!(state.task(&helpers[0]).unwrap().state, failed);
    assert_eq!(ends(&bench.heard.records()), ["failed(unusable)"]);
}

#[tokio::test]
async fn a_helper_that_is_left_by_who_waited_for_it_has_its_end_too() {
    let bench = bench(r#"{"turns":[{"hang":true}]}"#);
    let is_asked = |r: &Arc<Record>| matches!(r.event, Event::ModelCall { .. });
    let arguments = json!({ "questions": [{ "question": "anything?" }] });
    let asked = async {
        while !bench.heard.records().iter().any(is_asked) {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = run(&bench.delegate, arguments, &bench.ctx) => panic!("it hangs"),
        () = asked => {}
    }
    while ends(&bench.heard.records()).is_empty() {
        tokio::task::yield_now().await;
    }
    let by = CancelledBy::Disconnect;
    let (_, states) = announced(&bench.heard.records());
    assert_eq!(states, [TaskState::Cancelled { by }]);
    assert_eq!(ends(&bench.heard.records()), ["cancelled(disconnect)"]);
}

#[tokio::test]
async fn helpers_have_no_helpers_and_see_no_tool_that_changes_anything() {
    let bench = bench(r#"{"turns":[]}"#);
    let spec = explorer(&bench.delegate.deps.workspace, &Permissions::read_only());
    assert!(!spec.tools.contains(&"delegate"));
    for changing in
        ["file_create", "file_edit", "file_delete", "file_move", "shell_run", "git_commit"]
    {
        assert!(!spec.tools.contains(&changing), "{changing}");
    }
}

#[tokio::test]
async fn what_a_call_will_read_is_what_its_explorers_may_read() {
    let bench = bench(r#"{"turns":[]}"#);
    let footprint = |folders: Value| {
        let arguments = json!({ "questions": [{ "question": "q", "folders": folders }] });
        serde_json::from_value::<DelegateInput>(arguments).unwrap().footprint(&bench.delegate)
    };
    let docs = Area::Tree(Some(RelPath::new("docs").unwrap()));
    assert_eq!(footprint(json!(["docs/"])).unwrap(), Footprint::reading([docs]));
    assert_eq!(footprint(json!([])).unwrap(), Footprint::reading([Area::Tree(None)]));
    assert_eq!(footprint(json!(["../secrets"])).unwrap_err().fault, Fault::Arguments);
}

const SKILLED: &str = r#"{"turns":[
    {"expect":{"tools":["skill_list","skill_activate","file_find"],"last_contains":["where is the lock"]},
     "calls":[{"name":"skill_list","arguments":{}}]},
    {"expect":{"last_contains":["locks (user): Where locks are."]},
     "calls":[{"name":"skill_activate","arguments":{"name":"locks"}}]},
    {"expect":{"last_contains":["It is the user's own skill.","Locks are in src/lock.rs."]},
     "calls":[{"name":"file_find","arguments":{"pattern":"*.rs"}},
        {"name":"file_create","arguments":{"path":"new.txt","content":"x"}},
        {"name":"file_read","arguments":{"path":"src/lock.rs"}}]},
    {"expect":{"last_contains":["`file_find` is not one of your tools","`file_create` is not one of your tools","fn lock()"]},
     "calls":[{"name":"answer","arguments":{"answer":"In lock.rs [1].","citations":[
        {"file":"src/lock.rs","first_line":1,"last_line":1,"quote":"fn lock()"}]}}]}
]}"#;

#[tokio::test]
async fn an_explorer_takes_up_a_skill_which_only_takes_tools_away() {
    let bench = bench(SKILLED);
    let arguments = json!({ "questions": [{ "question": "where is the lock" }] });
    let output = run(&bench.delegate, arguments, &bench.ctx).await.unwrap();
    assert_eq!(json_of(&output)[0]["state"], "completed(done)", "{}", output.text);
    assert!(!bench.ctx.workspace.join("new.txt").exists());
    let told: Vec<Event> =
        bench.heard.records().iter().map(|record| record.event.clone()).collect();
    assert!(told.contains(&Event::SkillOn { skill: "locks".into() }));
    let denied = told.iter().filter(|event| matches!(event, Event::ToolDenied { .. })).count();
    assert_eq!(denied, 2);
}

/// Three dishonest answers: one given without reading anything, one given in the same step as the
/// read, and one without a citation.
const DISHONEST: &str = r#"{"turns":[
    {"calls":[{"name":"file_read","arguments":{"path":"src/lock.rs"}},
        {"name":"answer","arguments":{"answer":"The lock is a `Mutex` [1].","citations":[
        {"file":"src/lock.rs","first_line":1,"last_line":1,"quote":"fn lock() {}"}]}}]},
    {"expect":{"last_contains":["Other calls came with this answer"]},
     "calls":[{"name":"answer","arguments":{"answer":"The lock is a `Mutex` [1].","citations":[
        {"file":"src/lock.rs","first_line":1,"last_line":1,"quote":"fn lock() {}"}]}}]},
    {"expect":{"last_contains":["does not occur in the cited lines"]},
     "calls":[{"name":"answer","arguments":{"answer":"It is a guide [1].","citations":[
        {"file":"docs/guide.md","first_line":1,"last_line":1,"quote":"The guide."}]}}]},
    {"expect":{"last_contains":["no tool showed you lines 1 to 1 of `docs/guide.md`"]},
     "calls":[{"name":"answer","arguments":{"answer":"The limit is 900 ms.","citations":[]}}]}
]}"#;

#[tokio::test]
async fn what_an_explorer_cannot_prove_is_marked() {
    let bench = bench(DISHONEST);
    let arguments = json!({ "questions": [{ "question": "where is the lock" }] });
    let output = run(&bench.delegate, arguments, &bench.ctx).await.unwrap();
    assert_eq!(
        json_of(&output)[0]["answer"],
        "The limit is 900 ms. [not verified]",
        "{}",
        output.text
    );
    assert_eq!(json_of(&output)[0]["verified"], false);
}
