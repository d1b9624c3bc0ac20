//! A sync beside a person who edits the same memory.

#![expect(clippy::disallowed_methods, reason = "the test plays the person and the agent")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_core::catalog::key_of;
use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, Owner, WriteScope};
use nacre_core::search::Builtin;
use nacre_core::transcript::trace_at;
use nacre_engine::flows::run::RunMode;
use nacre_engine::flows::strategy::Reader;
use nacre_engine::flows::sync::{
    AskLead, FlowContext, RunReport, SessionRequest, Step, SyncError, sync_session,
};
use serde_json::json;

/// A store, and the traces that are read into it.
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

    /// Writes a session of that day: what the person says, each time after the agent said something.
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

    fn sync(&self, trace: &Path, watch: impl FnMut(Step)) -> Result<RunReport, SyncError> {
        self.sync_with(trace, None, watch)
    }

    pub(crate) fn sync_with(
        &self,
        trace: &Path,
        lead: Option<&AskLead<'_>>,
        watch: impl FnMut(Step),
    ) -> Result<RunReport, SyncError> {
        let trace = trace_at(trace)?;
        let builtin = Builtin::shipped()?;
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let ctx = FlowContext {
            store: &self.store,
            embedder: &builtin,
            builtin: &builtin,
            owner: &owner,
            patience: Duration::ZERO,
            now: "2026-12-01T00:00:00Z".parse().unwrap(),
            reader: Reader::offline(),
            clock: &|| Duration::ZERO,
            lead,
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
            let theirs = fs::read_to_string(&path).unwrap() + &format!("\nEdit {n_edits}.\n");
            fs::write(&path, theirs).unwrap();
        }
    });
    assert!(result.is_err());
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains(&format!("Edit {n_edits}.")) && text.contains("status: active"),
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
