//! Tests syncing with a lead for unclear cases, while users edit the store.

#![expect(clippy::disallowed_methods, reason = "the test acts as a user who edits memories")]

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_base::ContentHash;
use nacre_base::fs::Owner;
use nacre_engine::agents::{LeadAction, LeadReport, LeadRequest, LeadRuling, LeadStep};
use nacre_engine::record::{TaskId, TaskState};
use nacre_memory::{MemoryId, Status};
use nacre_types::{Band, CandidateVerb, DecidedBy, SessionRun, StepState};

use super::edits::{NPM, PNPM, Place};
use crate::sync::pipeline::Step;

/// A session similar to the memory about pnpm. The scores do not show whether it makes the same
/// claim.
const UNCLEAR: &[&str] = &[
    "Fix the build on CI",
    "no, always use pnpm here for the frontend packages, never npm: npm breaks the workspace links",
];

/// Returns the report of a lead that makes the same decision in every case.
fn rule_all(order: &LeadRequest, action: LeadAction) -> LeadReport {
    let ruling = |case: &nacre_engine::agents::Case| LeadRuling {
        candidate_id: case.candidate_id.clone(),
        action,
        target: Some(case.near[0].at.id.clone()),
        seen: Some(case.near[0].seen),
        quote: case.near[0].title.clone(),
        reason: "The lead says so.".to_owned(),
        merged: None,
    };
    LeadReport {
        rulings: order.cases.iter().map(ruling).collect(),
        error: None,
        state: TaskState::Completed { signal: nacre_engine::record::Signal::Done },
        ..LeadReport::from_failure(TaskId::from_random(1), String::new())
    }
}

/// Creates a store that contains a memory about pnpm, and an unclear session. Returns the store,
/// the memory's path and the session's path.
fn place() -> (Place, PathBuf, PathBuf) {
    let place = Place::new();
    let report = place.sync_with(&place.talk("one", 1, PNPM), None, |_| {}).unwrap();
    let file = place.store.path().join(&report.written_paths[0]);
    let trace = place.talk("two", 2, UNCLEAR);
    (place, file, trace)
}

fn sync_with_lead(place: &Place, trace: &Path, action: LeadAction) -> (SessionRun, Vec<Step>) {
    let mut steps = Vec::new();
    let lead = |order: &LeadRequest, watch: &mut dyn FnMut(LeadStep)| {
        watch(LeadStep::Explore);
        watch(LeadStep::Settle);
        rule_all(order, action)
    };
    let report = place.sync_with(trace, Some(&lead), |step| steps.push(step)).unwrap();
    (report, steps)
}

#[test]
fn what_the_lead_rules_is_done() {
    for (action, done, n_files) in [
        (LeadAction::Update, CandidateVerb::Update, 1),
        (LeadAction::NoOp, CandidateVerb::NoOp, 1),
        (LeadAction::Supersede, CandidateVerb::Supersede, 2),
        (LeadAction::Add, CandidateVerb::Add, 2),
    ] {
        let (place, file, trace) = place();
        let (report, _) = sync_with_lead(&place, &trace, action);
        let told = &report.actions[0];
        let decided = (told.action, told.band, told.by);
        assert_eq!(decided, (done, Band::Grey, DecidedBy::Lead), "{report:#?}");
        assert_eq!(told.note.as_deref(), Some("The lead says so."));
        let listing = place.store.list(|at| at.path.as_str().contains("learnings")).unwrap();
        assert_eq!(listing.memories.len(), n_files, "{action:?}");
        assert!(listing.memories.iter().all(|memory| memory.status != Status::Candidate));
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.contains("workspace links"), action == LeadAction::Update, "{text}");
        assert_eq!(text.contains("superseded"), action == LeadAction::Supersede, "{text}");
    }
}

#[test]
fn the_steps_of_a_lead_are_told() {
    let (place, _, trace) = place();
    let (_, steps) = sync_with_lead(&place, &trace, LeadAction::NoOp);
    let expected = "extract decide explore settle decide commit index";
    assert_eq!(steps.iter().map(|step| step.as_str()).collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn nobody_waits_for_the_store_while_a_lead_thinks() {
    let (place, _, trace) = place();
    let owner = Owner { pid: 2, command: "another".to_owned(), since: String::new() };
    let lead = |order: &LeadRequest, _: &mut dyn FnMut(LeadStep)| {
        place.store.begin(&owner, Duration::ZERO).unwrap().commit().unwrap();
        rule_all(order, LeadAction::NoOp)
    };
    let report = place.sync_with(&trace, Some(&lead), |_| {}).unwrap();
    assert_eq!(report.counts.no_op, 1);
}

#[test]
fn a_person_who_edits_while_the_lead_thinks_is_read_before_anything_is_decided() {
    let (place, file, trace) = place();
    let seen: RefCell<Vec<ContentHash>> = RefCell::default();
    let lead = |order: &LeadRequest, _: &mut dyn FnMut(LeadStep)| {
        seen.borrow_mut().push(order.cases[0].near[0].seen);
        if seen.borrow().len() == 1 {
            let theirs = fs::read_to_string(&file).unwrap() + "\nMy own words.\n";
            fs::write(&file, theirs).unwrap();
        }
        rule_all(order, LeadAction::Update)
    };
    let report = place.sync_with(&trace, Some(&lead), |_| {}).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(report.actions[0].by, DecidedBy::Lead);
    assert!(text.contains("My own words.") && text.contains("workspace links"), "{text}");
    let seen = seen.into_inner();
    assert!(seen.len() == 2 && seen[0] != seen[1], "the lead was shown the newer file");
}

#[test]
fn beside_a_person_who_edits_every_time_the_rule_decides_and_overwrites_nothing() {
    let (place, file, trace) = place();
    let n_asked = RefCell::new(0);
    let lead = |order: &LeadRequest, _: &mut dyn FnMut(LeadStep)| {
        *n_asked.borrow_mut() += 1;
        let edit = format!("\nEdit {}.\n", n_asked.borrow());
        fs::write(&file, fs::read_to_string(&file).unwrap() + &edit).unwrap();
        rule_all(order, LeadAction::Update)
    };
    let report = place.sync_with(&trace, Some(&lead), |_| {}).unwrap();
    assert_eq!((n_asked.into_inner(), report.actions[0].by), (2, DecidedBy::Rule));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("Edit 2.") && !text.contains("workspace links"), "{text}");
}

#[test]
fn an_edit_at_the_last_moment_is_shown_to_the_lead_before_it_is_tried_again() {
    let (place, file, trace) = place();
    let n_asked = RefCell::new(0);
    let lead = |order: &LeadRequest, _: &mut dyn FnMut(LeadStep)| {
        *n_asked.borrow_mut() += 1;
        rule_all(order, LeadAction::Update)
    };
    let mut n_commits = 0;
    let report = place.sync_with(&trace, Some(&lead), |step| {
        n_commits += u32::from(step == Step::Commit);
        if step == Step::Commit && n_commits == 1 {
            let theirs = fs::read_to_string(&file).unwrap() + "\nMy own words.\n";
            fs::write(&file, theirs).unwrap();
        }
    });
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(
        (report.unwrap().actions[0].by, n_commits, n_asked.into_inner()),
        (DecidedBy::Lead, 2, 2)
    );
    assert!(text.contains("My own words.") && text.contains("workspace links"), "{text}");
}

#[test]
fn a_ruling_about_a_memory_that_is_gone_is_none() {
    let (place, _, trace) = place();
    let lead = |order: &LeadRequest, _: &mut dyn FnMut(LeadStep)| {
        let mut report = rule_all(order, LeadAction::Update);
        report.rulings[0].target = Some("20200101-gone".parse::<MemoryId>().unwrap());
        report
    };
    let report = place.sync_with(&trace, Some(&lead), |_| {}).unwrap();
    assert_eq!((report.actions[0].by, report.counts.update), (DecidedBy::Rule, 0));
}

#[test]
fn where_the_lead_fails_the_rule_decides_and_it_is_not_asked_again() {
    let (place, file, trace) = place();
    let before = fs::read_to_string(&file).unwrap();
    let n_asked = RefCell::new(0);
    let lead = |_: &LeadRequest, _: &mut dyn FnMut(LeadStep)| {
        *n_asked.borrow_mut() += 1;
        LeadReport::from_failure(TaskId::from_random(1), "no credit".to_owned())
    };
    let report = place.sync_with(&trace, Some(&lead), |_| {}).unwrap();
    assert_eq!((n_asked.into_inner(), report.actions[0].by), (1, DecidedBy::Rule));
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let states: Vec<StepState> = report.checklist.iter().map(|item| item.state).collect();
    let (done, failed) = (StepState::Done, StepState::Failed);
    assert_eq!(states, [done, done, done, done, failed, failed, failed, done, done]);
}

#[test]
fn a_lead_is_asked_about_nothing_that_is_clear() {
    let place = Place::new();
    let lead = |_: &LeadRequest, _: &mut dyn FnMut(LeadStep)| panic!("nobody needs it");
    let report = place.sync_with(&place.talk("one", 1, PNPM), Some(&lead), |_| {}).unwrap();
    assert_eq!(report.actions[0].by, DecidedBy::Rule);
    let again = place.sync_with(&place.talk("two", 2, PNPM), Some(&lead), |_| {}).unwrap();
    assert_eq!(again.counts.no_op, 1);
}

#[test]
fn a_lead_is_asked_before_numbers_alone_overturn_a_memory() {
    let (place, file, _) = place();
    let trace = place.talk("three", 3, NPM);
    let (report, _) = sync_with_lead(&place, &trace, LeadAction::Add);
    assert_eq!(
        (report.actions[0].by, report.counts.supersede),
        (DecidedBy::Lead, 0),
        "{report:#?}"
    );
    assert!(fs::read_to_string(&file).unwrap().contains("status: active"));

    let (place, file, _) = self::place();
    let trace = place.talk("three", 3, NPM);
    let failed = |_: &LeadRequest, _: &mut dyn FnMut(LeadStep)| {
        LeadReport::from_failure(TaskId::from_random(1), "it is away".to_owned())
    };
    let report = place.sync_with(&trace, Some(&failed), |_| {}).unwrap();
    assert_eq!(report.counts.supersede, 1, "{report:#?}");
    assert!(fs::read_to_string(&file).unwrap().contains("status: superseded"));
}
