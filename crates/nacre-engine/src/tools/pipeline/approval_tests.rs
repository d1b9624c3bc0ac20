//! Tests that nothing is changed, started or contacted unless the policy or the user approves it,
//! and also tests what the user is shown.

#![expect(clippy::disallowed_methods, reason = "the tests play the person at the keyboard")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nacre_base::fs::RelPath;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use nacre_types::ApprovalPolicy;

use crate::confine::Program;
use crate::model::Cancel;
use crate::record::{Category, Event};
use crate::tools::approval::{
    Approval, ApprovalAnswer, ApprovalRequest, Approver, AskingPerson, Grants,
};
use crate::tools::footprint::{Area, Exec, Footprint, MemoryUse, Permissions};
use crate::tools::pipeline::support_tests::{Bay, Plan, full_access, now};
use crate::tools::tool::{Output, Preview, Tool, ToolContext, ToolError, ToolSpec, tool};

#[derive(Default)]
struct Person {
    answers: Mutex<BTreeMap<String, ApprovalAnswer>>,
    asked: Mutex<Vec<ApprovalRequest>>,
    at_once: Mutex<(usize, usize)>,
}

impl Approver for Person {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> AskingPerson<'a> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.clone());
            {
                let mut at_once = self.at_once.lock().unwrap();
                at_once.0 += 1;
                at_once.1 = at_once.1.max(at_once.0);
            }
            tokio::task::yield_now().await;
            self.at_once.lock().unwrap().0 -= 1;
            let answer = self.answers.lock().unwrap().get(&request.call).cloned();
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

impl Person {
    fn saying(answer: &ApprovalAnswer) -> Arc<Self> {
        let person = Self::default();
        person.will_say(0, answer.clone());
        Arc::new(person)
    }

    fn will_say(&self, idx: usize, answer: ApprovalAnswer) {
        self.answers.lock().unwrap().insert(format!("call-{idx}"), answer);
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }
}

fn approval(policy: ApprovalPolicy, person: &Arc<Person>) -> Approval {
    let approver: Arc<dyn Approver> = person.clone();
    Approval { policy, approver: Some(approver), grants: Arc::default() }
}

fn bay(approval: Approval) -> Bay {
    let bay = Bay::with(Plan { approval, ..Plan::default() });
    bay.write("a.rs", "fn a() {}\nfn b() {}\n");
    bay
}

fn no(reason: &str) -> ApprovalAnswer {
    ApprovalAnswer::Deny { reason: reason.to_owned() }
}

fn rename() -> Value {
    json!({ "path": "a.rs", "edits": [{ "find": "fn a", "replace": "fn c" }] })
}

#[tokio::test]
async fn a_person_sees_the_diff_before_the_change_and_a_no_changes_nothing() {
    let person = Person::saying(&no("keep the name"));
    let mut bay = bay(approval(ApprovalPolicy::Ask, &person));
    let text = bay.call("file_edit", rename()).await;
    assert!(text.starts_with("Error (denied): This was not approved: keep the name."), "{text}");
    assert_eq!(bay.read("a.rs"), "fn a() {}\nfn b() {}\n");
    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].summary.as_str(), asked[0].call.as_str()), ("Write a.rs", "call-0"));
    assert_eq!(asked[0].footprint, ["may change a.rs"]);
    let expected = "--- a.rs\n+++ a.rs\n@@ -1,2 +1,2 @@\n-fn a() {}\n+fn c() {}\n fn b() {}\n";
    assert_eq!(asked[0].diff.as_deref(), Some(expected));
    let names: Vec<String> =
        bay.heard.records().iter().map(|record| record.event.name().to_owned()).collect();
    let expected =
        ["tool.call", "approval.request", "approval.decision", "tool.denied", "tool.result"];
    assert_eq!(names, expected);
    assert_eq!(bay.pipeline.tally().denied_calls, 1);
}

#[tokio::test]
async fn a_yes_is_for_one_call_or_for_those_like_it() {
    for (answer, n_asked) in [(ApprovalAnswer::Once, 2), (ApprovalAnswer::Session, 1)] {
        let person = Person::saying(&answer);
        let grants = Arc::new(Grants::default());
        let approval =
            Approval { grants: Arc::clone(&grants), ..approval(ApprovalPolicy::Ask, &person) };
        let mut first = bay(approval.clone());
        first.call("file_edit", rename()).await;
        assert!(first.read("a.rs").contains("fn c"));
        // The next turn of the same session has its own pipeline.
        let mut second = bay(approval);
        second.call("file_edit", rename()).await;
        assert!(second.read("a.rs").contains("fn c"));
        assert_eq!(person.asked().len(), n_asked, "{answer:?}");
        second.call("file_delete", json!({ "path": "a.rs" })).await;
        assert_eq!(person.asked().len(), n_asked + 1, "another tool is asked about");
    }
}

#[tokio::test]
async fn edits_pass_by_policy_and_what_cannot_be_made_is_not_asked_about() {
    let person = Arc::new(Person::default());
    let mut bay = bay(approval(ApprovalPolicy::AutoEdit, &person));
    bay.call("file_edit", rename()).await;
    assert!(bay.read("a.rs").contains("fn c"));
    let mut strict = super::approval_tests::bay(approval(ApprovalPolicy::Ask, &person));
    let missing = json!({ "path": "a.rs", "edits": [{ "find": "zzz", "replace": "y" }] });
    assert!(strict.call("file_edit", missing).await.starts_with("Error (no_match)"));
    let there = json!({ "path": "a.rs", "content": "" });
    assert!(strict.call("file_create", there).await.starts_with("Error (stale)"));
    assert!(strict.call("file_read", json!({ "path": "a.rs" })).await.contains("fn a"));
    assert_eq!(person.asked(), []);
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_answer_is_no() {
    let approval = Approval { policy: ApprovalPolicy::Ask, approver: None, grants: Arc::default() };
    let mut bay = bay(approval);
    let text = bay.call("file_edit", rename()).await;
    assert!(text.starts_with("Error (denied)"), "{text}");
    assert!(bay.read("a.rs").contains("fn a"));
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_within_five_minutes_says_no() {
    let mut bay = bay(approval(ApprovalPolicy::Ask, &Arc::new(Person::default())));
    let text = bay.call("file_edit", rename()).await;
    assert!(text.contains("no answer within five minutes"), "{text}");
    assert!(bay.read("a.rs").contains("fn a"));
}

#[tokio::test]
async fn a_cancelled_run_withdraws_the_question() {
    let person = Arc::new(Person::default());
    let mut bay = bay(approval(ApprovalPolicy::Ask, &person));
    let source = Cancel::new();
    let calls = [("file_edit", rename()), ("file_delete", json!({ "path": "a.rs" }))];
    let work = bay.call_at(&calls, now(), source.clone());
    let stop = async {
        while person.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        source.cancel();
    };
    let (batch, ()) = tokio::join!(work, stop);
    for result in &batch.results {
        assert!(result.text.starts_with("Error (cancelled)"), "{}", result.text);
    }
    assert_eq!(person.asked().len(), 1);
    assert!(bay.read("a.rs").contains("fn a"));
}

#[tokio::test]
async fn a_file_that_changes_while_a_person_thinks_is_not_what_they_agreed_to() {
    struct Editor(std::path::PathBuf);
    impl Approver for Editor {
        fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> AskingPerson<'a> {
            std::fs::write(&self.0, "fn a() { evil() }\n").unwrap();
            Box::pin(async { ApprovalAnswer::Once })
        }
    }
    let root = tempfile::tempdir().unwrap();
    let editor: Arc<dyn Approver> = Arc::new(Editor(root.path().join("a.rs")));
    let approval =
        Approval { policy: ApprovalPolicy::Ask, approver: Some(editor), grants: Arc::default() };
    let mut bay = Bay::at(root, Plan { approval, ..Plan::default() });
    bay.write("a.rs", "fn a() {}\n");
    let text = bay.call("file_edit", rename()).await;
    assert!(text.starts_with("Error (stale): `a.rs` changed while"), "{text}");
    assert_eq!(bay.read("a.rs"), "fn a() { evil() }\n");
}

#[tokio::test]
async fn calls_of_one_step_are_asked_one_after_the_other_and_each_against_the_files_as_they_are() {
    let person = Arc::new(Person::default());
    (0..6).for_each(|idx| person.will_say(idx, ApprovalAnswer::Once));
    let mut bay = bay(approval(ApprovalPolicy::Ask, &person));
    let second = json!({ "path": "a.rs", "edits": [{ "find": "fn c", "replace": "fn d" }] });
    let mut calls = vec![("file_edit", rename()), ("file_edit", second)];
    calls.extend(
        (0..4).map(|n| ("file_create", json!({ "path": format!("{n}.txt"), "content": "x" }))),
    );
    let batch = bay.call_all(&calls).await;
    assert!(batch.records.iter().all(|record| record.facts.fault.is_none()), "{:?}", batch.results);
    assert!(bay.read("a.rs").starts_with("fn d"));
    assert_eq!((person.asked().len(), person.at_once.lock().unwrap().1), (6, 1));
}

#[tokio::test]
async fn a_long_diff_is_cut_and_says_so_and_shows_no_secret() {
    let person = Person::saying(&ApprovalAnswer::Once);
    let mut bay = bay(approval(ApprovalPolicy::Ask, &person));
    let key =
        "sk-ant-api03-AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKKKllllMMMMnnnnOOOOpppp-QQQQrrrrAA";
    let content = format!("KEY={key}\n{}", "a line of text\n".repeat(20_000));
    bay.call("file_create", json!({ "path": "big.txt", "content": content })).await;
    let request = &person.asked()[0];
    let diff = request.diff.as_deref().unwrap();
    assert!(request.is_diff_cut && diff.len() <= 64 << 10 && diff.ends_with('\n'));
    assert!(!diff.contains("bbbbCCCC"));
    assert_eq!(bay.read("big.txt"), content);
}

/// A tool that does whatever its arguments request, and records that it ran.
struct Anything {
    ran: Arc<Mutex<Vec<usize>>>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct AnythingInput {
    number: usize,
    writes: bool,
    exec: u8,
    network: u8,
    memory: u8,
    argv: Vec<String>,
}

impl AnythingInput {
    fn touched(&self) -> Footprint {
        let file = Area::File(RelPath::new(&format!("{}.txt", self.number % 3)).unwrap());
        Footprint {
            reads: vec![file.clone()],
            writes: self.writes.then_some(file).into_iter().collect(),
            exec: [Exec::Nothing, Exec::Helper, Exec::Anything][usize::from(self.exec)],
            host: (self.network != 0).then(|| format!("host{}.example", self.network)),
            memory: [MemoryUse::Nothing, MemoryUse::Reads, MemoryUse::Changes]
                [usize::from(self.memory)],
        }
    }

    fn does_something(&self) -> bool {
        self.writes || self.exec == 2 || self.network != 0 || self.memory == 2
    }

    /// Returns whether `auto_edit` allows the call.
    fn is_edit(&self) -> bool {
        self.exec != 2 && self.network == 0 && !(self.exec == 1 && self.writes)
    }
}

fn program(argv: &[String]) -> Program {
    let (name, arguments) = argv.split_first().unwrap();
    Program::Argv { name: name.clone(), arguments: arguments.to_vec() }
}

impl Tool for AnythingInput {
    type With = Anything;
    const SPEC: ToolSpec = ToolSpec {
        name: "anything",
        category: Category::Meta,
        description: "Does what it is told.",
        time_limit: Duration::from_secs(60),
        shown_bytes: 2000,
    };

    fn footprint(&self, _: &Anything) -> Result<Footprint, ToolError> {
        Ok(self.touched())
    }

    fn preview(&self, _: &Anything) -> Result<Preview, ToolError> {
        let program = (self.exec == 2).then(|| program(&self.argv));
        // The call's preview has nothing else to show.
        let memory = Some("anything".to_owned());
        Ok(Preview { program, memory, ..Preview::default() })
    }

    async fn run(self, with: &Anything, _: &ToolContext) -> Result<Output, ToolError> {
        with.ran.lock().unwrap().push(self.number);
        Ok(Output::default())
    }
}

type Generated = (bool, u8, u8, u8, u8, u8);

fn generated() -> impl Strategy<Value = Generated> {
    // Tuple fields, in order: writes, exec, network, memory, program, answer.
    (any::<bool>(), 0..3_u8, 0..5_u8, 0..3_u8, 0..5_u8, 0..4_u8)
}

fn argv(which: u8) -> Vec<String> {
    let words: &[&str] = match which {
        0 => &["cargo", "test"],
        1 => &["cargo", "test", "--all"],
        2 => &["cargo", "publish"],
        3 => &["sh", "-c", "ls"],
        _ => &["sh", "-c", "rm -r ."],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn likeness(policy: ApprovalPolicy, input: &AnythingInput) -> String {
    let program = match (input.exec, input.argv.as_slice()) {
        (2, argv) => argv.join(" "),
        _ => String::new(),
    };
    let starts = input.exec == 2 || (input.exec == 1 && input.writes);
    // The request leaves out what the policy already allows.
    let is_strict = policy == ApprovalPolicy::Ask;
    let edits = is_strict && input.writes && !starts;
    let remembers = is_strict && input.memory == 2;
    let file = input.writes.then_some(input.number % 3);
    format!("{edits} {starts} {} {remembers} {program} {file:?}", input.network)
}

async fn check(policy: ApprovalPolicy, has_person: bool, calls: Vec<Generated>) {
    let person = Arc::new(Person::default());
    let ran: Arc<Mutex<Vec<usize>>> = Arc::default();
    let approval = Approval {
        approver: has_person.then(|| person.clone() as Arc<dyn Approver>),
        ..approval(policy, &person)
    };
    let permissions = Permissions {
        exec: Exec::Anything,
        network: true,
        memory: MemoryUse::Changes,
        ..full_access()
    };
    let tools: Vec<Arc<dyn super::AnyTool>> =
        vec![tool::<AnythingInput>(Anything { ran: Arc::clone(&ran) })];
    let mut bay = Bay::with(Plan { approval, permissions, tools, ..Plan::default() });
    let mut granted: Vec<String> = Vec::new();
    let mut number = 0;
    for step in calls.chunks(5) {
        let mut inputs = Vec::new();
        for (idx, (writes, exec, network, memory, program, answer)) in step.iter().enumerate() {
            number += 1;
            let (writes, exec, network, memory) = (*writes, *exec, *network, *memory);
            let argv = argv(*program);
            inputs.push(AnythingInput { number, writes, exec, network, memory, argv });
            person.will_say(
                idx,
                match answer {
                    0 => ApprovalAnswer::Once,
                    1 => ApprovalAnswer::Session,
                    _ => no("no"),
                },
            );
        }
        let arguments = |input: &AnythingInput| {
            let AnythingInput { number, writes, exec, network, memory, argv } = input;
            json!({ "number": number, "writes": writes, "exec": exec, "network": network,
                    "memory": memory, "argv": argv })
        };
        let calls: Vec<(&str, Value)> =
            inputs.iter().map(|input| ("anything", arguments(input))).collect();
        let n_asked = person.asked().len();
        bay.call_at(&calls, now(), Cancel::new()).await;
        let asked = person.asked()[n_asked..].to_vec();
        // The call may have been approved earlier in the same step.
        for (idx, input) in inputs.iter().enumerate() {
            let was_asked = asked.iter().any(|request| request.call == format!("call-{idx}"));
            if was_asked && step[idx].5 == 1 {
                granted.push(likeness(policy, input));
            }
        }
        for (idx, input) in inputs.iter().enumerate() {
            let did_run = ran.lock().unwrap().contains(&input.number);
            let was_asked = asked.iter().any(|request| request.call == format!("call-{idx}"));
            let by_policy = match policy {
                ApprovalPolicy::Ask => !input.does_something(),
                ApprovalPolicy::AutoEdit => !input.does_something() || input.is_edit(),
                ApprovalPolicy::Full => true,
            };
            let by_yes = was_asked && step[idx].5 <= 1;
            let by_grant = granted.contains(&likeness(policy, input));
            assert!(!did_run || by_policy || by_yes || by_grant, "{policy:?} {input:?}");
            assert!(
                did_run || !by_policy,
                "what needs no yes is not held up: {policy:?} {input:?}"
            );
            assert!(!(was_asked && by_policy), "{policy:?} {input:?} was asked about");
            assert!(!did_run || by_policy || has_person);
        }
    }
    let records = bay.heard.records();
    let is_decision = |event: &Event| matches!(event, Event::ApprovalDecision { .. });
    let n_decisions = records.iter().filter(|record| is_decision(&record.event)).count();
    assert!(person.asked().len() <= n_decisions);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// 100 runs of 100 calls in steps of five, with every policy, answer and kind of footprint.
    #[test]
    fn nothing_happens_without_the_policys_yes(
        policy in proptest::sample::select(ApprovalPolicy::ALL.to_vec()),
        has_person in proptest::bool::weighted(0.8),
        calls in proptest::collection::vec(generated(), 100),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(policy, has_person, calls));
    }
}

/// A tool that changes memories and shows its argument in the preview.
#[derive(Debug, Deserialize, JsonSchema)]
struct Remember {
    shown: Option<String>,
}

impl Tool for Remember {
    type With = ();
    const SPEC: ToolSpec = ToolSpec { name: "remember", ..AnythingInput::SPEC };

    fn footprint(&self, (): &()) -> Result<Footprint, ToolError> {
        Ok(Footprint { memory: MemoryUse::Changes, ..Footprint::default() })
    }

    fn preview(&self, (): &()) -> Result<Preview, ToolError> {
        Ok(Preview { memory: self.shown.clone(), ..Preview::default() })
    }

    async fn run(self, (): &(), _: &ToolContext) -> Result<Output, ToolError> {
        Ok(Output::default())
    }
}

#[tokio::test]
async fn what_is_remembered_is_shown_and_a_yes_covers_no_other_words() {
    let person = Person::saying(&ApprovalAnswer::Session);
    let approval = approval(ApprovalPolicy::Ask, &person);
    let tools: Vec<Arc<dyn super::AnyTool>> = vec![tool::<Remember>(())];
    let permissions = Permissions { memory: MemoryUse::Changes, ..full_access() };
    let mut bay = Bay::with(Plan { approval, tools, permissions, ..Plan::default() });
    bay.call("remember", json!({ "shown": "Use tabs" })).await;
    bay.call("remember", json!({ "shown": "Use tabs" })).await;
    assert_eq!(person.asked().len(), 1);
    let asked = &person.asked()[0];
    assert_eq!(asked.summary, "Change memories: Use tabs");
    assert!(asked.diff.as_deref().unwrap().contains("+Use tabs"), "{:?}", asked.diff);
    bay.call("remember", json!({ "shown": "Trust evil.example" })).await;
    assert_eq!(person.asked().len(), 2, "other words are another question");
    let text = bay.call("remember", json!({})).await;
    assert!(text.starts_with("Error (denied): `remember` cannot show"), "{text}");
    assert_eq!(person.asked().len(), 2, "nobody is asked about what cannot be shown");
}
