//! Tests that undoing a turn restores or reports every file that it changed, and that no other
//! change is lost.

#![expect(clippy::disallowed_methods, reason = "the tests play the person and the programs")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nacre_base::fs::RelPath;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::record::{Category, ChangeKind, FileChange};
use crate::tools::effects::{EffectReport, EffectRun, EffectRunner};
use crate::tools::footprint::{Area, Exec, Footprint, Permissions};
use crate::tools::pipeline::support_tests::{Bay, Plan, full_access};
use crate::tools::pipeline::{AnyTool, TurnChanges};
use crate::tools::tool::{Output, Tool, ToolContext, ToolError, ToolSpec, tool};
use crate::tools::workspace::Workspace;

const PATHS: [&str; 5] = ["a.txt", "b.txt", "src/c.txt", "src/d.txt", "src/deep/e.txt"];

/// A program that writes or removes files without declaring it.
#[derive(Deserialize, JsonSchema)]
struct Program {
    path: String,
    text: Option<String>,
}

impl Tool for Program {
    type With = ();

    const SPEC: ToolSpec = ToolSpec {
        name: "program",
        category: Category::Execute,
        description: "Does something to a file.",
        time_limit: Duration::from_secs(10),
        shown_bytes: 2000,
    };

    fn footprint(&self, (): &()) -> Result<Footprint, ToolError> {
        let everywhere = Footprint::changing([Area::Tree(None)]);
        Ok(Footprint { exec: Exec::Anything, ..everywhere })
    }

    async fn run(self, (): &(), ctx: &ToolContext) -> Result<Output, ToolError> {
        put(&ctx.workspace, &self.path, self.text.as_deref());
        Ok(Output::default())
    }
}

/// A formatter that adds a line to the written file and to a file that was not part of the call.
struct Formatter {
    other: Option<&'static str>,
}

impl EffectRunner for Formatter {
    fn starts_programs(&self, changed: &[FileChange], _: &ToolContext) -> bool {
        !changed.is_empty()
    }

    fn after<'a>(&'a self, changed: &'a [FileChange], ctx: &'a ToolContext) -> EffectRun<'a> {
        Box::pin(async move {
            let mut report = EffectReport::default();
            for change in changed.iter().filter(|change| change.kind != ChangeKind::Deleted) {
                let text = fs::read_to_string(ctx.workspace.join(&change.path)).unwrap();
                put(&ctx.workspace, &change.path, Some(&format!("{text}formatted\n")));
                report.changed.push(change.clone());
            }
            if let Some(other) = self.other {
                let text = fs::read_to_string(ctx.workspace.join(other)).unwrap_or_default();
                put(&ctx.workspace, other, Some(&format!("{text}sorted\n")));
            }
            report
        })
    }
}

fn put(root: &Path, path: &str, text: Option<&str>) {
    let full = root.join(path);
    match text {
        Some(text) => {
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, text).unwrap();
        }
        None => {
            let _ = fs::remove_file(full);
        }
    }
}

fn bay() -> Bay {
    bay_with(Formatter { other: None })
}

fn bay_with(formatter: Formatter) -> Bay {
    let tools: Vec<Arc<dyn AnyTool>> = vec![tool::<Program>(())];
    let permissions = Permissions { exec: Exec::Anything, ..full_access() };
    let effects: Option<Arc<dyn EffectRunner>> = Some(Arc::new(formatter));
    Bay::with(Plan { tools, permissions, effects, ..Plan::default() })
}

fn files(root: &Path) -> BTreeMap<String, String> {
    let read = |path: &&str| Some(((*path).to_owned(), fs::read_to_string(root.join(path)).ok()?));
    PATHS.iter().filter_map(read).collect()
}

#[derive(Clone, Debug)]
enum Happening {
    Edit(usize),
    Create(usize),
    Delete(usize),
    Move(usize, usize),
    Program(usize, bool),
    /// The user writes or removes a file between two calls.
    Person(usize, bool),
}

fn happening() -> impl Strategy<Value = Happening> {
    let path = 0..PATHS.len();
    prop_oneof![
        3 => path.clone().prop_map(Happening::Edit),
        2 => path.clone().prop_map(Happening::Create),
        1 => path.clone().prop_map(Happening::Delete),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Happening::Move(from, to)),
        3 => (path.clone(), any::<bool>()).prop_map(|(path, gone)| Happening::Program(path, gone)),
        1 => (path, any::<bool>()).prop_map(|(path, gone)| Happening::Person(path, gone)),
    ]
}

async fn check(happenings: &[Happening]) {
    let mut bay = bay();
    for path in &PATHS[..3] {
        bay.write(path, &format!("{path}\n"));
    }
    // Each file's content before the agent changed it, and the files that a user changed
    // afterwards.
    let mut before: BTreeMap<usize, Option<String>> = BTreeMap::new();
    let mut theirs: BTreeSet<usize> = BTreeSet::new();
    // Files that only the agent changed, and files that it changed again after the user did.
    let mut ours: BTreeMap<usize, Option<String>> = BTreeMap::new();
    let mut mixed: BTreeSet<usize> = BTreeSet::new();
    let root = bay.path().to_owned();
    for (n, happening) in happenings.iter().enumerate() {
        let text = format!("text {n}\n");
        let now = files(&root);
        let state = |path: usize| now.get(PATHS[path]).cloned();
        let touched: Vec<usize> = match *happening {
            Happening::Person(path, gone) => {
                put(&root, PATHS[path], (!gone).then_some(&*text));
                let is_changed = files(&root) != now;
                if is_changed && before.contains_key(&path) {
                    theirs.insert(path);
                }
                continue;
            }
            Happening::Edit(path) => {
                let edits = json!([{ "find": state(path), "replace": text }]);
                let arguments = json!({ "path": PATHS[path], "edits": edits });
                bay.call("file_edit", arguments).await;
                vec![path]
            }
            Happening::Create(path) => {
                bay.call("file_create", json!({ "path": PATHS[path], "content": text })).await;
                vec![path]
            }
            Happening::Delete(path) => {
                bay.call("file_delete", json!({ "path": PATHS[path] })).await;
                vec![path]
            }
            Happening::Move(from, to) => {
                bay.call("file_move", json!({ "from": PATHS[from], "to": PATHS[to] })).await;
                vec![from, to]
            }
            Happening::Program(path, gone) => {
                let text = (!gone).then_some(text);
                bay.call("program", json!({ "path": PATHS[path], "text": text })).await;
                vec![path]
            }
        };
        let after = files(&root);
        for path in
            touched.into_iter().filter(|path| after.get(PATHS[*path]) != now.get(PATHS[*path]))
        {
            before.entry(path).or_insert_with(|| state(path));
            if theirs.contains(&path) {
                mixed.insert(path);
            } else {
                ours.insert(path, after.get(PATHS[path]).cloned());
            }
        }
    }
    let left = files(&root);
    let changes: TurnChanges = bay.pipeline.turn_changes();
    let taken = changes.take_back(&Workspace::open(&root, &[]).unwrap());
    let back = files(&root);
    for (path, name) in PATHS.iter().enumerate() {
        let expected = match (theirs.contains(&path), before.get(&path)) {
            (false, Some(before)) => before.as_ref(),
            (true, _) | (_, None) => left.get(*name),
        };
        assert_eq!(back.get(*name), expected, "{name} after {happenings:?}");
        let is_ours = mixed.contains(&path) || ours.get(&path) != before.get(&path);
        if theirs.contains(&path) && is_ours {
            assert!(taken.kept.iter().any(|kept| kept.path == **name), "{taken:?}");
        }
    }
    let again = changes.take_back(&Workspace::open(&root, &[]).unwrap());
    assert_eq!(again.changed, [], "the second time there is nothing to do");
    assert_eq!(files(&root), back);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_turn_is_taken_back_and_nobody_elses_change_is(
        happenings in proptest::collection::vec(happening(), 1..14),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(&happenings));
    }
}

#[tokio::test]
async fn what_a_formatter_does_to_other_files_is_taken_back_too() {
    let mut bay = bay_with(Formatter { other: Some("src/index.txt") });
    bay.write("a.txt", "one\n");
    bay.write("b.txt", "one\n");
    bay.write("src/index.txt", "a\n");
    let before = files_of(bay.path(), &["a.txt", "b.txt", "src/index.txt"]);
    let edit = |path: &str| json!({ "path": path, "edits": [{ "find": "one", "replace": "two" }] });
    // Two concurrent calls. The effect of one call must not be attributed to the other.
    let batch = bay.call_all(&[("file_edit", edit("a.txt")), ("file_edit", edit("b.txt"))]).await;
    assert_eq!(bay.read("src/index.txt"), "a\nsorted\nsorted\n");
    let named = |record: &super::CallRecord| {
        record.facts.changed.iter().any(|change| change.path == "src/index.txt")
    };
    assert!(batch.records.iter().all(named), "{:?}", batch.records);
    let changes = bay.pipeline.turn_changes();
    let taken = changes.take_back(&Workspace::open(bay.path(), &[]).unwrap());
    assert_eq!(taken.kept, []);
    assert_eq!(files_of(bay.path(), &["a.txt", "b.txt", "src/index.txt"]), before);
}

fn files_of(root: &Path, paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| fs::read_to_string(root.join(path)).unwrap()).collect()
}

#[tokio::test]
async fn a_file_comes_back_with_the_permissions_that_it_had() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut bay = Bay::new();
    let mode = |bay: &Bay, path: &str| {
        fs::metadata(bay.path().join(path)).unwrap().permissions().mode() & 0o777
    };
    for path in ["run.sh", "made.sh"] {
        bay.write(path, "#!/bin/sh\n");
        let bits = fs::Permissions::from_mode(0o750);
        fs::set_permissions(bay.path().join(path), bits).unwrap();
    }
    bay.call("file_delete", json!({ "path": "run.sh" })).await;
    bay.call("file_move", json!({ "from": "made.sh", "to": "tools/made.sh" })).await;
    let changes = bay.pipeline.turn_changes();
    let taken = changes.take_back(&Workspace::open(bay.path(), &[]).unwrap());
    assert_eq!(taken.kept, []);
    assert_eq!((mode(&bay, "run.sh"), mode(&bay, "made.sh")), (0o750, 0o750));
    assert!(!bay.path().join("tools/made.sh").exists());
}

#[tokio::test]
async fn what_a_program_changed_is_known_to_the_host() {
    let mut bay = bay();
    bay.write("a.txt", "one");
    let calls = [("program", json!({ "path": "a.txt", "text": "two" }))];
    let batch = bay.call_all(&calls).await;
    let edited = FileChange::new(&RelPath::new("a.txt").unwrap(), ChangeKind::Edited);
    assert_eq!(batch.records[0].facts.changed, [edited]);
    let not_kept = bay.pipeline.turn_changes().not_kept;
    assert_eq!(not_kept.len(), 1);
    assert_eq!(not_kept[0].path, "files that git ignores");
}

#[tokio::test]
async fn a_file_that_is_too_large_to_keep_is_named() {
    let mut bay = bay();
    let large = "x".repeat((1 << 20) + 10);
    bay.write("a.txt", &format!("one\n{large}\n"));
    let edits = json!([{ "find": "one", "replace": "two" }]);
    bay.call("file_edit", json!({ "path": "a.txt", "edits": edits })).await;
    bay.call("program", json!({ "path": "a.txt", "text": "three" })).await;
    let changes = bay.pipeline.turn_changes();
    assert_eq!(changes.files, []);
    let names: Vec<&str> = changes.not_kept.iter().map(|kept| kept.path.as_str()).collect();
    assert_eq!(names, ["a.txt", "files that git ignores"]);
}
