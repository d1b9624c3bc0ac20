//! Tests for memories that a sandboxed program changes.

use std::fs;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Owner, Seal, WriteScope};
use nacre_base::git::GitProgram;
use nacre_engine::tools::{ShellRun, tool};
use nacre_memory::{
    Claim, Draft, Edit, LedgerPlace, Located, Memory, Quote, Rules, STORE_ACCESS, Speaker, Store,
    Trust,
};
use serde_json::json;

use crate::tools::{call, ctx, programs};
use crate::workshop::Workshop;

/// Creates a store in the workspace with two trusted memories.
fn trusted_memories(workshop: &Workshop) -> Vec<Located> {
    fs::create_dir_all(workshop.path("workspace/.nacre")).unwrap();
    let store = open_store(workshop);
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let mut batch = store.begin(&owner, Duration::ZERO).unwrap();
    for title in ["One file", "Two files"] {
        batch.add(&typed(title), Timestamp::UNIX_EPOCH).unwrap();
    }
    batch.commit().unwrap();
    store.locate_all().unwrap()
}

fn open_store(workshop: &Workshop) -> Store {
    let (home, root) = (workshop.path("home/.nacre"), workshop.path("workspace/.nacre"));
    let scope =
        WriteScope::open(&root, STORE_ACCESS).unwrap().with_seal(Seal::from_directory(&home));
    let ledger = Some(LedgerPlace::of_store(&home, &root));
    Store::new(scope, Rules { ledger, ..Rules::default() })
}

fn typed(title: &str) -> Draft {
    Draft {
        claim: Claim::Decision,
        title: title.to_owned(),
        body: "The queue is a table.".to_owned(),
        tags: Vec::new(),
        applies: Vec::new(),
        related: Vec::new(),
        source: "human".to_owned(),
        confidence: 0.9,
        basis: None,
        importance: None,
        quotes: vec![Quote {
            text: title.to_owned(),
            speaker: Speaker::Human,
            place: "test".to_owned(),
            at: String::new(),
        }],
        limit: Trust::Human,
    }
}

#[tokio::test]
async fn memories_that_a_program_changes_are_not_trusted_and_deleted_ones_are_put_back() {
    let Some(workshop) = Workshop::new() else { return };
    let located = trusted_memories(&workshop);
    let [changed, deleted] = located.as_slice() else { panic!("{located:?}") };
    let (tool, ctx) = (tool::<ShellRun>(programs(&workshop)), ctx(&workshop));
    let script = format!(
        "cd .nacre; t=$(sed s/table/cache/ {0}); echo \"$t\" > {0}; rm {1}; : > memory/decisions/new.md",
        changed.path, deleted.path
    );
    let said = call(&tool, json!({ "script": script }), &ctx).await.unwrap().text;
    insta::assert_snapshot!(said, @"
    exit code 0
    deleted in .nacre, then restored: .nacre/memory/decisions/19700101-two-files.md
    changed in .nacre; untrusted until you run `nacre trust`: .nacre/memory/decisions/19700101-one-file.md, .nacre/memory/decisions/new.md
    ");
    let store = open_store(&workshop);
    let memory = store.load(changed).unwrap();
    assert!(memory.document.body().contains("cache"), "the bytes may be the user's");
    assert_eq!(store.trust_of(&memory), Trust::Foreign);
    assert!(!store.is_users_edit(&GitProgram::new(""), &memory), "no later look trusts it");
    assert_eq!(store.trust_of(&store.load(deleted).unwrap()), Trust::Human);
}

/// Returns a script that overwrites a memory.
fn change(at: &Located) -> String {
    format!("t=$(sed s/table/cache/ .nacre/{0}); echo \"$t\" > .nacre/{0}", at.path)
}

/// Runs a script in the sandbox and, concurrently, a closure in this process.
async fn run_during(workshop: &Workshop, script: &str, meanwhile: impl FnOnce()) -> String {
    let (tool, ctx) = (tool::<ShellRun>(programs(workshop)), ctx(workshop));
    let script = format!("{script}; : > ready; until [ -e go ]; do sleep 0.01; done; rm ready go");
    let ready = workshop.path("workspace/ready");
    let meanwhile = async {
        while !ready.exists() {
            tokio::task::yield_now().await;
        }
        meanwhile();
        fs::write(workshop.path("workspace/go"), "").unwrap();
    };
    let (said, ()) = tokio::join!(call(&tool, json!({ "script": script }), &ctx), meanwhile);
    said.unwrap().text
}

fn is_users_edit(store: &Store, memory: &Memory) -> bool {
    store.is_users_edit(&GitProgram::new(""), memory)
}

fn owner() -> Owner {
    Owner { pid: 1, command: "test".to_owned(), since: String::new() }
}

fn notes_of_runs(workshop: &Workshop) -> usize {
    fs::read_dir(workshop.path("home/.nacre/programs")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn no_process_takes_an_edit_for_the_users_while_a_program_runs() {
    let Some(workshop) = Workshop::new() else { return };
    let [changed, edited] = trusted_memories(&workshop).try_into().unwrap();
    // The user's edit is older than the program's start.
    let place = workshop.path("workspace/.nacre").join(edited.path.as_str());
    let text = fs::read_to_string(&place).unwrap();
    fs::write(&place, text.replace("table", "folder")).unwrap();
    run_during(&workshop, &change(&changed), || {
        let store = open_store(&workshop);
        let [changed, edited] = [&changed, &edited].map(|at| store.load(at).unwrap());
        assert!(changed.document.body().contains("cache"));
        assert!(!is_users_edit(&store, &changed));
        assert!(is_users_edit(&store, &edited));
        // Even if a process attributes both edits to the user, the check at the end of the program
        // takes precedence.
        let mut batch = store.begin(&owner(), Duration::ZERO).unwrap();
        for memory in [&changed, &edited] {
            batch.settle_edit(&Edit { memory, is_users: true });
        }
        batch.commit().unwrap();
    })
    .await;
    let store = open_store(&workshop);
    let trust = |at: &Located| store.trust_of(&store.load(at).unwrap());
    assert_eq!((trust(&changed), trust(&edited)), (Trust::Foreign, Trust::Human));
    assert_eq!(notes_of_runs(&workshop), 0);
}

#[tokio::test]
async fn what_cannot_be_compared_is_foreign_until_it_is() {
    for (hide, show) in [
        ("mv .nacre .n2; ln -s .n2 .nacre", "rm .nacre; mv .n2 .nacre"),
        ("mv .nacre .n2; : > .nacre", "rm .nacre; mv .n2 .nacre"),
        ("mv .nacre .n2", "rm -r .nacre; mv .n2 .nacre"),
        ("mv .nacre/journal j; : > .nacre/journal", "rm .nacre/journal; mv j .nacre/journal"),
        ("mv .nacre/memory m; : > .nacre/memory", "rm .nacre/memory; mv m .nacre/memory"),
    ] {
        let Some(workshop) = Workshop::new() else { return };
        let changed = trusted_memories(&workshop).remove(0);
        let (tool, ctx) = (tool::<ShellRun>(programs(&workshop)), ctx(&workshop));
        let script = format!("{}; {hide}", change(&changed));
        let said = call(&tool, json!({ "script": script }), &ctx).await.unwrap().text;
        let n_left = notes_of_runs(&workshop);
        assert!((n_left == 1) == said.contains("memory edits stay untrusted"), "{said}");
        // A program that changes nothing does not affect trust.
        call(&tool, json!({"argv": ["true"]}), &ctx).await.unwrap();
        assert_eq!(notes_of_runs(&workshop), n_left, "{hide}");
        let is_hidden = run_during(&workshop, show, || {
            let store = open_store(&workshop);
            let memory = store.load(&changed).unwrap();
            assert!(memory.document.body().contains("cache"), "{hide}");
            assert!(!is_users_edit(&store, &memory), "{hide}");
        });
        is_hidden.await;
        let store = open_store(&workshop);
        let memory = store.load(&changed).unwrap();
        assert_eq!(store.trust_of(&memory), Trust::Foreign, "{hide}");
        assert!(!is_users_edit(&store, &memory), "{hide}");
        assert_eq!(notes_of_runs(&workshop), 0, "{hide}");
    }
}

#[tokio::test]
async fn a_flood_of_files_hides_no_change_of_a_memory() {
    let Some(workshop) = Workshop::new() else { return };
    let [changed, deleted] = trusted_memories(&workshop).try_into().unwrap();
    let (tool, ctx) = (tool::<ShellRun>(programs(&workshop)), ctx(&workshop));
    let script = format!(
        "{}; rm .nacre/{}; mkdir -p .nacre/meta/tombstones; cd .nacre/meta/tombstones; \
         seq 100001 | xargs touch",
        change(&changed),
        deleted.path
    );
    let said = call(&tool, json!({ "script": script }), &ctx).await.unwrap().text;
    assert!(said.contains(".nacre is too large to compare completely: .nacre/meta/tombstones"));
    let store = open_store(&workshop);
    let trust = |at: &Located| store.trust_of(&store.load(at).unwrap());
    assert_eq!((trust(&changed), trust(&deleted)), (Trust::Foreign, Trust::Human), "{said}");
}

#[tokio::test]
async fn what_nacre_forgets_or_moves_meanwhile_is_not_put_back() {
    let Some(workshop) = Workshop::new() else { return };
    let [forgotten, archived] = trusted_memories(&workshop).try_into().unwrap();
    let said = run_during(&workshop, ":", || {
        let store = open_store(&workshop);
        let mut batch = store.begin(&owner(), Duration::ZERO).unwrap();
        batch.forget(forgotten.id.as_str(), Timestamp::UNIX_EPOCH).unwrap();
        batch.archive(archived.id.as_str(), Timestamp::UNIX_EPOCH).unwrap();
        batch.commit().unwrap();
    });
    let said = said.await;
    assert!(!said.contains("restored"), "{said}");
    let store = workshop.path("workspace/.nacre");
    for gone in [
        forgotten.path.to_string(),
        format!("meta/evidence/{}.json", forgotten.id),
        archived.path.to_string(),
    ] {
        assert!(!store.join(&gone).exists(), "{gone}");
    }
}

#[tokio::test]
async fn a_memory_that_a_program_moves_is_put_back() {
    let Some(workshop) = Workshop::new() else { return };
    let [moved, forged] = trusted_memories(&workshop).try_into().unwrap();
    let (tool, ctx) = (tool::<ShellRun>(programs(&workshop)), ctx(&workshop));
    let script = format!(
        "cd .nacre; mkdir -p memory/archived/decisions meta/tombstones; \
         mv {} memory/archived/decisions; rm {} meta/evidence/{}.json; : > meta/tombstones/x.json",
        moved.path, forged.path, forged.id
    );
    let said = call(&tool, json!({ "script": script }), &ctx).await.unwrap().text;
    assert!(said.contains("restored: .nacre/memory/decisions/"), "{said}");
    let store = open_store(&workshop);
    for at in [&moved, &forged] {
        assert_eq!(store.trust_of(&store.load(at).unwrap()), Trust::Human, "{said}");
    }
    assert!(store.evidence(&forged.id).unwrap().is_some());
}
