//! The law of the cache: whatever happens to the files between two questions, and whoever does it, an answer from the
//! cache is the answer that the tool would give now.

#![expect(clippy::disallowed_methods, reason = "the tests play the person at the keyboard")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::tool::{AnyTool, ToolContext};
use super::super::toolkits;
use super::super::workspace::Workspace;
use super::testing::{Bay, now, write};
use crate::model::Cancel;
use crate::record::CacheUse;

const PATHS: [&str; 5] = ["a.txt", "b.txt", "src/c.txt", "src/deep/d.txt", "e.log"];

/// Something that happens.
#[derive(Clone, Debug)]
enum Happening {
    /// The agent asks.
    Ask(usize),
    /// The agent edits.
    Edit(usize),
    /// A person writes into the file.
    Write(usize, u8),
    /// A person saves as editors do: another file in its place.
    Save(usize, u8),
    Remove(usize),
    Rename(usize, usize),
    /// Another branch: every file is taken away or put back.
    Checkout(u8),
    /// What git ignores changes.
    Rules(u8),
    Mode(usize, u8),
    /// Between two questions, and back before the second.
    ThereAndBack(usize),
}

fn questions() -> Vec<(&'static str, Value)> {
    let mut questions: Vec<(&str, Value)> =
        PATHS.iter().map(|path| ("file_read", json!({ "path": path }))).collect();
    questions.extend([
        ("file_find", json!({ "pattern": "*" })),
        ("file_find", json!({ "pattern": "*.txt", "under": "src" })),
        ("file_search", json!({ "pattern": "x" })),
        ("file_search", json!({ "pattern": "x+", "under": "src/deep" })),
        ("file_search", json!({ "pattern": "y", "files": "*.log" })),
    ]);
    questions
}

fn happening() -> impl Strategy<Value = Happening> {
    let path = 0..PATHS.len();
    prop_oneof![
        10 => (0..questions().len()).prop_map(Happening::Ask),
        1 => path.clone().prop_map(Happening::Edit),
        2 => (path.clone(), 0..6_u8).prop_map(|(path, text)| Happening::Write(path, text)),
        2 => (path.clone(), 0..6_u8).prop_map(|(path, text)| Happening::Save(path, text)),
        1 => path.clone().prop_map(Happening::Remove),
        1 => (path.clone(), path.clone()).prop_map(|(from, to)| Happening::Rename(from, to)),
        1 => (0..8_u8).prop_map(Happening::Checkout),
        1 => (0..4_u8).prop_map(Happening::Rules),
        1 => (path.clone(), 0..3_u8).prop_map(|(path, mode)| Happening::Mode(path, mode)),
        1 => path.prop_map(Happening::ThereAndBack),
    ]
}

/// Texts of the same length and of others, so that a size alone tells nothing.
fn text(which: u8) -> String {
    ["x\n", "y\n", "xx\n", "xy\n", "x\ny\n", ""][usize::from(which) % 6].to_owned()
}

/// Plays the person. `unique` is put into every text when stamps alone must tell them apart.
struct Person<'r> {
    root: &'r Path,
    unique: Option<usize>,
}

impl Person<'_> {
    fn text(&mut self, which: u8) -> String {
        match &mut self.unique {
            None => text(which),
            Some(length) => {
                *length += 1;
                format!("{}{}", text(which), "z".repeat(*length))
            }
        }
    }

    fn act(&mut self, happening: &Happening) {
        let full = |path: &usize| self.root.join(PATHS[*path]);
        match happening {
            Happening::Write(path, which) => {
                let path = PATHS[*path];
                write(self.root, path, &self.text(*which));
            }
            Happening::Save(path, which) => {
                let target = PATHS[*path];
                let text = self.text(*which);
                write(self.root, ".git/saved", &text);
                fs::create_dir_all(self.root.join(target).parent().unwrap()).unwrap();
                fs::rename(self.root.join(".git/saved"), self.root.join(target)).unwrap();
            }
            Happening::Remove(path) => {
                let _ = fs::remove_file(full(path));
            }
            Happening::Rename(from, to) => {
                let _ = fs::create_dir_all(full(to).parent().unwrap());
                let _ = fs::rename(full(from), full(to));
            }
            Happening::Checkout(branch) => {
                for (idx, path) in PATHS.iter().enumerate() {
                    let _ = fs::remove_file(full(&idx));
                    if (branch >> idx) & 1 == 0 {
                        let which = branch.wrapping_add(u8::try_from(idx).unwrap_or(0));
                        let text = self.text(which);
                        write(self.root, path, &text);
                    }
                }
            }
            Happening::Rules(which) => {
                let rules = ["", "*.log\n", "src/\n", "!e.log\n*.txt\n"][usize::from(*which) % 4];
                let rules = format!("{rules}#{}\n", self.text(0).trim());
                write(
                    self.root,
                    if which % 2 == 0 { ".gitignore" } else { "src/.gitignore" },
                    &rules,
                );
            }
            Happening::Mode(path, mode) => {
                let bits = [0o644, 0o600, 0o755][usize::from(*mode) % 3];
                let _ = fs::set_permissions(full(path), fs::Permissions::from_mode(bits));
            }
            Happening::ThereAndBack(path) => {
                if let Ok(before) = fs::read(full(path)) {
                    fs::write(full(path), "xyx, but not for long").unwrap();
                    fs::write(full(path), before).unwrap();
                }
            }
            Happening::Ask(_) | Happening::Edit(_) => {}
        }
    }
}

/// What the tool itself says now.
async fn fresh(tools: &[Arc<dyn AnyTool>], bay: &Bay, tool: &str, arguments: &Value) -> String {
    let tool = tools.iter().find(|known| known.spec().name == tool).unwrap();
    let workspace = Arc::new(bay.path().to_owned());
    let ctx = ToolContext {
        spill: Arc::clone(&workspace),
        workspace,
        cancel: Cancel::never(),
        now: now(),
    };
    match tool.run(arguments.clone(), &ctx).await {
        Ok(output) => output.text,
        Err(error) => super::shape::error_text(&error),
    }
}

/// Returns how many answers came from the cache.
async fn check(happenings: &[Happening], unique: Option<usize>, ahead: SignedDuration) -> usize {
    let mut bay = Bay::new();
    let root = bay.path().to_owned();
    let mut person = Person { root: &root, unique };
    person.act(&Happening::Checkout(0));
    let workspace = Arc::new(Workspace::open(&root, &[]).unwrap());
    let tools = toolkits::file::tools(&workspace);
    let questions = questions();
    let mut n_hits = 0;
    for happening in happenings {
        match happening {
            Happening::Ask(which) => {
                let (tool, arguments) = &questions[*which];
                let at: Timestamp = now() + ahead;
                let call = [(*tool, arguments.clone())];
                let batch = bay.call_at(&call, at, Cancel::never()).await;
                n_hits += usize::from(batch.records[0].cache == CacheUse::Hit);
                let told = &batch.results[0].text;
                assert_eq!(told, &fresh(&tools, &bay, tool, arguments).await, "{happenings:?}");
            }
            Happening::Edit(path) => {
                let edits = json!([{ "find": "x", "replace": person.text(1) }]);
                bay.call("file_edit", json!({ "path": PATHS[*path], "edits": edits })).await;
            }
            Happening::Write(..)
            | Happening::Save(..)
            | Happening::Remove(_)
            | Happening::Rename(..)
            | Happening::Checkout(_)
            | Happening::Rules(_)
            | Happening::Mode(..)
            | Happening::ThereAndBack(_) => person.act(happening),
        }
    }
    n_hits
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    /// With the true time all files are fresh, and count by their bytes.
    #[test]
    fn a_cached_answer_is_a_fresh_one(happenings in prop::collection::vec(happening(), 1..16)) {
        runtime().block_on(check(&happenings, None, SignedDuration::ZERO));
    }

    /// An hour later the stamps alone decide; no two texts have the same length, as no two writes have the same time.
    #[test]
    fn a_cached_answer_is_a_fresh_one_by_stamps(happenings in prop::collection::vec(happening(), 1..16)) {
        let is_stamped = |happening: &&Happening| !matches!(happening, Happening::ThereAndBack(_));
        let happenings: Vec<Happening> = happenings.iter().filter(is_stamped).cloned().collect();
        runtime().block_on(check(&happenings, Some(3), SignedDuration::from_hours(1)));
    }
}

/// The law would hold for a cache that keeps nothing, so this one is shown to keep something.
#[test]
fn answers_do_come_from_the_cache() {
    let n_questions = questions().len();
    let twice: Vec<Happening> =
        (0..n_questions).chain(0..n_questions).map(Happening::Ask).collect();
    for (unique, ahead) in [(None, SignedDuration::ZERO), (Some(3), SignedDuration::from_hours(1))]
    {
        assert_eq!(runtime().block_on(check(&twice, unique, ahead)), n_questions);
    }
}
