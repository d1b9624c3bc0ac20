//! Tests syncing while a user edits the same memory.

#![expect(clippy::disallowed_methods, reason = "the test acts as the user and the agent")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_base::ContentHash;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_memory::{MemoryType, Rules, Store};
use nacre_traces::agents::trace_at;
use nacre_traces::catalog::key_of;
use nacre_types::{RunMode, SessionRun};
use serde_json::{Value, json};

use crate::sync::pipeline::{AskLead, FlowContext, SessionRequest, Step, SyncError, sync_session};
use crate::sync::strategy::ReadingStrategy;

/// A store, and the traces that are synced into it.
pub(crate) struct Place {
    dir: tempfile::TempDir,
    pub(crate) store: Store,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let scope = WriteScope::create_inside(dir.path(), ".nacre", Access::Shared).unwrap();
        Self { dir, store: Store::new(scope, Rules::default()) }
    }

    /// Writes a session that took place on this day, in which the user replies to each message from
    /// the agent.
    pub(crate) fn talk(&self, id: &str, day: u8, said: &[&str]) -> PathBuf {
        let path = self.dir.path().join(format!("{id}.jsonl"));
        let mut text = format!("{}\n", json!({ "type": "session", "version": 1, "id": id }));
        for (n, words) in said.iter().enumerate() {
            let time = format!("2026-11-{day:02}T10:{n:02}:00Z");
            text.push_str(&format!("{}\n", json!({ "type": "user", "text": words, "time": time })));
            text.push_str(&format!(
                "{}\n",
                json!({ "type": "assistant", "text": "Done.", "time": time })
            ));
        }
        fs::write(&path, text).unwrap();
        path
    }

    fn sync(&self, trace: &Path, watch: impl FnMut(Step)) -> Result<SessionRun, SyncError> {
        self.sync_with(trace, None, watch)
    }

    pub(crate) fn sync_with(
        &self,
        trace: &Path,
        lead: Option<&AskLead<'_>>,
        watch: impl FnMut(Step),
    ) -> Result<SessionRun, SyncError> {
        self.sync_by(trace, ReadingStrategy::offline(), lead, watch)
    }

    pub(crate) fn sync_by(
        &self,
        trace: &Path,
        reader: ReadingStrategy<'_>,
        lead: Option<&AskLead<'_>>,
        watch: impl FnMut(Step),
    ) -> Result<SessionRun, SyncError> {
        let trace = trace_at(trace)?;
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let ctx = FlowContext {
            store: &self.store,
            owner: &owner,
            patience: Duration::ZERO,
            now: "2026-12-01T00:00:00Z".parse().unwrap(),
            reader,
            clock: &|| Duration::ZERO,
            lead,
            remarks: &crate::sync::RemarkIndex::default(),
        };
        let key = key_of(&trace);
        let order = SessionRequest {
            trace: &trace,
            key: &key,
            trace_name: "a trace".to_owned(),
            repo_name: "work".to_owned(),
            mode: RunMode::Sync,
            change: None,
            force: false,
        };
        sync_session(&ctx, &order, watch)
    }
}

pub(crate) const PNPM: &[&str] = &[
    "Add a health endpoint",
    "no, remember: always use pnpm here, never npm: npm writes a second lock file",
];
pub(crate) const NPM: &[&str] = &[
    "Fix the build",
    "From now on use npm, do not use pnpm any more: pnpm broke the docker build.",
];

#[test]
fn a_person_who_edits_during_the_run_is_never_overwritten() {
    let place = Place::new();
    let report = place.sync(&place.talk("one", 1, PNPM), |_| {}).unwrap();
    let path = place.store.path().join(&report.written_paths[0]);
    let mut n_decided = 0;
    let report = place
        .sync(&place.talk("two", 2, NPM), |step| {
            n_decided += u32::from(step == Step::Decide);
            if step == Step::Commit && n_decided == 1 {
                let theirs = fs::read_to_string(&path).unwrap() + "\nMy own words.\n";
                fs::write(&path, theirs).unwrap();
            }
        })
        .unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!((n_decided, report.counts.supersede), (2, 1), "{report:#?}");
    assert!(text.contains("My own words.") && text.contains("status: superseded"), "{text}");
}

#[test]
fn a_person_who_edits_every_time_wins() {
    let place = Place::new();
    let report = place.sync(&place.talk("one", 1, PNPM), |_| {}).unwrap();
    let path = place.store.path().join(&report.written_paths[0]);
    let mut n_edits = 0;
    let result = place.sync(&place.talk("two", 2, NPM), |step| {
        if step == Step::Commit {
            n_edits += 1;
            // The added words name nothing, so the two claims still contradict each other.
            let theirs = fs::read_to_string(&path).unwrap() + "\nOnce more.\n";
            fs::write(&path, theirs).unwrap();
        }
    });
    assert!(result.is_err());
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.matches("Once more.").count() == n_edits && text.contains("status: active"),
        "{text}"
    );
}

#[test]
fn a_memory_that_a_person_threw_away_meanwhile_is_decided_without() {
    let place = Place::new();
    let report = place.sync(&place.talk("one", 1, PNPM), |_| {}).unwrap();
    let path = place.store.path().join(&report.written_paths[0]);
    let report = place
        .sync(&place.talk("two", 2, NPM), |step| {
            if step == Step::Commit && path.exists() {
                fs::remove_file(&path).unwrap();
            }
        })
        .unwrap();
    assert_eq!((report.counts.add, report.counts.supersede), (1, 0), "{report:#?}");
}

#[test]
fn a_forged_mark_owns_no_memory_and_no_summary_of_unknown_bytes() {
    let place = Place::new();
    let known = place.talk("s1", 10, PNPM);
    place.sync(&known, |_| {}).unwrap();
    let trace = place.talk("s2", 11, &["Private words."]);
    let files = || -> BTreeMap<String, Vec<u8>> {
        let located = place.store.locate_all().unwrap().into_iter();
        located.map(|at| (at.path.to_string(), place.store.read_file(&at.path).unwrap())).collect()
    };
    let before = files();
    assert!(before.len() > 1, "a decision and a summary: {:?}", before.keys());
    for at in place.store.locate_all().unwrap() {
        let bytes = ContentHash::of(&before[at.path.as_str()]);
        // A program that can read the memory's file can forge a mark only for a summary.
        let claims = [None, Some(bytes)].into_iter();
        let claims = claims.take(if at.memory_type == MemoryType::Summary { 1 } else { 2 });
        for bytes in claims {
            let path = |trace: &Path| {
                let key = key_of(&trace_at(trace).unwrap());
                place.store.path().join(format!("meta/sessions/{key}.json"))
            };
            let mut mark: Value = serde_json::from_slice(&fs::read(path(&known)).unwrap()).unwrap();
            (mark["session"], mark["next_sequence"], mark["runs"]) =
                (json!("s2"), json!(0), json!([]));
            (mark["summary"], mark["summary_bytes"]) =
                (json!(at.id.as_str()), json!(bytes.map(|bytes| bytes.to_string())));
            fs::write(path(&trace), mark.to_string()).unwrap();
            place.sync(&trace, |_| {}).unwrap();
            let after = files();
            assert!(before.iter().all(|(path, bytes)| after[path] == *bytes), "{}", at.path);
        }
    }
}
