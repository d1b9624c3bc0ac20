//! Lists a project's files: all plain files that are not ignored, generated or sensitive.
//!
//! Directories are opened relative to their parent's handle and never through a link. Directories
//! for generated files (`NOISE`) are opened only if they contain tracked files.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use nacre_base::platform;
use nacre_base::platform::fd::OwnedFd;
use nacre_base::platform::fs::{FileType, Mode};
use nacre_types::SkippedCounts;

use super::git::Tracked;
use super::git_index::{MAX_DEPTH, MAX_FOLDER_BYTES};
use super::look::{READABLE_FOLDER, file_stamp, folder_stamp, is_racy, open_root};
use super::rules::{RULES_FILE, RuleBudget, Rules, UnreadRules};
use super::selection::{SelectedFiles, Selection, add_tracked, is_store, late};
use crate::artifact::{FolderRow, Stamp};
use nacre_base::text::is_listed;

/// Directories for generated files. They are listed only if they contain tracked files.
const NOISE: &str = ".bzr .cache .gradle .hg .idea .mypy_cache .next .nuxt .pytest_cache .ruff_cache \
    .svn .terraform .tox .turbo .venv __pycache__ bower_components build coverage dist \
    node_modules out target venv";

const MAX_SEEN: usize = 1_000_000;

/// Number of names to process between deadline checks. It is low because each name may be matched
/// against thousands of rules.
const NAMES_A_LOOK: usize = 64;

struct Task {
    parent: Arc<OwnedFd>,
    name: String,
    path: String,
    rules: Option<Arc<Rules>>,
    depth: usize,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<(Vec<Task>, usize)>,
    changed: Condvar,
}

/// Walks the tree and adds tracked files that rules would ignore.
pub(super) fn walk(selection: &Selection<'_>) -> std::io::Result<SelectedFiles> {
    let root = Arc::new(open_root(selection.root)?);
    let rules = selection.tracked.rules(&selection.options.excludes);
    let task = || Task {
        parent: Arc::clone(&root),
        name: ".".to_owned(),
        path: String::new(),
        rules: rules.clone(),
        depth: 0,
    };
    let budget = RuleBudget::default();
    let mut found = run(selection, &budget, Order::Any, vec![task()], &|_| true)?;
    // The same tree must always produce the same map, but thread timing determines which rules are
    // read before the budget is exhausted. Repeat the walk in a fixed order.
    if budget.is_spent() {
        let budget = RuleBudget::default();
        found = run(selection, &budget, Order::ByName, vec![task()], &|_| true)?;
    }
    found.files.sort_by(|a, b| a.0.cmp(&b.0));
    found.folders.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    add_tracked(selection, &root, &mut found)?;
    Ok(found)
}

/// Lists changed directories again. Everything inside a new directory is listed.
pub(super) fn relist(
    selection: &Selection<'_>,
    folders: &[String],
    is_known: &(dyn Fn(&str) -> bool + Sync),
) -> std::io::Result<SelectedFiles> {
    let root = Arc::new(open_root(selection.root)?);
    let budget = RuleBudget::default();
    let mut known_rules = HashMap::new();
    let mut tasks = Vec::new();
    for path in folders {
        let mut above = RulesAbove { selection, budget: &budget, known: &mut known_rules };
        match task_for(&mut above, &root, path) {
            Ok(task) => tasks.extend(task),
            Err(UnreadRules) => {
                return Ok(SelectedFiles { has_unread_rules: true, ..SelectedFiles::default() });
            }
        }
    }
    drop(known_rules);
    let mut found = run(selection, &budget, Order::Any, tasks, &|path| !is_known(path))?;
    found.files.sort_by(|a, b| a.0.cmp(&b.0));
    found.files.dedup();
    Ok(found)
}

/// The parent directories' rules. Each rules file is read only once.
struct RulesAbove<'r> {
    selection: &'r Selection<'r>,
    budget: &'r RuleBudget,
    known: &'r mut HashMap<String, Option<Arc<Rules>>>,
}

impl RulesAbove<'_> {
    fn below(
        &mut self,
        outer: Option<Arc<Rules>>,
        folder: &OwnedFd,
        path: &str,
    ) -> Result<Option<Arc<Rules>>, UnreadRules> {
        if let Some(rules) = self.known.get(path) {
            return Ok(rules.clone());
        }
        let is_submodule = self.selection.tracked.is_submodule(path);
        let outer =
            if is_submodule { self.selection.options.excludes.rules.clone() } else { outer };
        let rules = Rules::below(self.budget, outer, folder, path)?;
        self.known.insert(path.to_owned(), rules.clone());
        Ok(rules)
    }
}

fn task_for(
    above: &mut RulesAbove<'_>,
    root: &Arc<OwnedFd>,
    path: &str,
) -> Result<Option<Task>, UnreadRules> {
    let rules = above.selection.tracked.rules(&above.selection.options.excludes);
    if path.is_empty() {
        let (parent, name) = (Arc::clone(root), ".".to_owned());
        return Ok(Some(Task { parent, name, path: String::new(), rules, depth: 0 }));
    }
    let mut parent = Arc::clone(root);
    let mut rules = above.below(rules, &parent, "")?;
    let mut at = String::new();
    let names: Vec<&str> = path.split('/').collect();
    let Some((name, names_above)) = names.split_last() else { return Ok(None) };
    for name in names_above {
        let opened = platform::fs::openat(&*parent, *name, READABLE_FOLDER, Mode::empty());
        let Ok(opened) = opened else { return Ok(None) };
        parent = Arc::new(opened);
        at = join(&at, name);
        rules = above.below(rules, &parent, &at)?;
    }
    let depth = names.len();
    Ok(Some(Task { parent, name: (*name).to_owned(), path: path.to_owned(), rules, depth }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Uses all threads, in any order, until the rule budget is exhausted.
    Any,
    /// Uses one thread and a fixed order, so that the same rules are read each time.
    ByName,
}

/// Lists directories. `enters` decides which subdirectories are listed too.
fn run(
    selection: &Selection<'_>,
    budget: &RuleBudget,
    order: Order,
    tasks: Vec<Task>,
    enters: &(dyn Fn(&str) -> bool + Sync),
) -> std::io::Result<SelectedFiles> {
    let queue = Queue { waiting: Mutex::new((tasks, 0)), changed: Condvar::new() };
    let found = Mutex::new(SelectedFiles::default());
    let n_threads = if order == Order::Any { selection.options.n_threads.max(1) } else { 1 };
    let (n_seen, is_late) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                let mut own = Lister {
                    selection,
                    budget,
                    order,
                    enters,
                    found: SelectedFiles::default(),
                    tasks: Vec::new(),
                    n_seen: &n_seen,
                    is_late: &is_late,
                };
                while let Some(task) = queue.take() {
                    own.list(task);
                    queue.give(std::mem::take(&mut own.tasks));
                }
                // Each thread sorts its own results, so that all that remains is to merge them.
                own.found.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
                let mut all = found.lock().unwrap_or_else(PoisonError::into_inner);
                all.files.append(&mut own.found.files);
                all.folders.append(&mut own.found.folders);
                all.nested.append(&mut own.found.nested);
                all.has_hidden_rules |= own.found.has_hidden_rules;
                all.has_unread_rules |= own.found.has_unread_rules;
            });
        }
    });
    if MAX_SEEN < n_seen.into_inner() {
        return Err(std::io::Error::other(format!("It contains more than {MAX_SEEN} files")));
    }
    if is_late.into_inner() {
        return Err(late());
    }
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

impl Queue {
    fn take(&self) -> Option<Task> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(task) = waiting.0.pop() {
                waiting.1 += 1;
                return Some(task);
            }
            if waiting.1 == 0 {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn give(&self, tasks: Vec<Task>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = !tasks.is_empty() || waiting.1 == 1;
        waiting.0.extend(tasks);
        waiting.1 -= 1;
        drop(waiting);
        if is_news {
            self.changed.notify_all();
        }
    }
}

struct Lister<'w> {
    selection: &'w Selection<'w>,
    budget: &'w RuleBudget,
    order: Order,
    enters: &'w (dyn Fn(&str) -> bool + Sync),
    found: SelectedFiles,
    tasks: Vec<Task>,
    n_seen: &'w AtomicUsize,
    is_late: &'w AtomicBool,
}

struct WalkedFolder<'p> {
    folder: &'p Arc<OwnedFd>,
    rules: Option<&'p Arc<Rules>>,
    depth: usize,
}

impl Lister<'_> {
    fn list(&mut self, task: Task) {
        // Return nothing from an incomplete walk, because any directories it did not reach would be
        // treated as removed.
        if self.selection.options.deadline.is_over() {
            self.is_late.store(true, Ordering::Relaxed);
            return;
        }
        if self.order == Order::Any && self.budget.is_spent() {
            return;
        }
        let opened =
            platform::fs::openat(&*task.parent, &*task.name, READABLE_FOLDER, Mode::empty());
        let Ok(folder) = opened.map(Arc::new) else {
            return self.add_closed_directory(&task);
        };
        let stamp = platform::fs::fstat(&*folder).map(|stat| Stamp::of(&stat)).unwrap_or_default();
        let mut skipped = SkippedCounts::default();
        if task.path.is_empty() {
            skipped.too_deep = self.selection.tracked.n_left_out;
        }
        let Some(mut entries) = entries(&folder, &mut skipped) else {
            return self.add_closed_directory(&task);
        };
        if self.order == Order::ByName {
            // Push the entries in reverse order, because the queue is a stack.
            entries.sort_unstable_by(|a, b| b.0.cmp(&a.0));
        }
        let is_border = task.depth > 0 && entries.iter().any(|(name, _)| name == ".git");
        let is_submodule = is_border && self.selection.tracked.is_submodule(&task.path);
        if is_border && !is_submodule {
            self.found.nested.push(task.path.clone());
            let skipped = SkippedCounts { nested: 1, ..SkippedCounts::default() };
            return self.keep(task.path, stamp, skipped);
        }
        let outer =
            if is_submodule { self.selection.options.excludes.rules.clone() } else { task.rules };
        let has_rules = entries.iter().any(|(name, _)| name == RULES_FILE);
        let rules = match has_rules {
            true => Rules::below(self.budget, outer.clone(), &*folder, &task.path),
            false => Ok(outer.clone()),
        };
        let Ok(rules) = rules else {
            let place = WalkedFolder { folder: &folder, rules: outer.as_ref(), depth: task.depth };
            return self.without_rules(&place, task.path, stamp);
        };
        if has_rules {
            let path = join(&task.path, RULES_FILE);
            let is_hidden = Rules::leaving_out(rules.as_ref(), &path, false).is_some();
            self.found.has_hidden_rules |= is_hidden && !self.selection.tracked.has(&path);
        }
        let place = WalkedFolder { folder: &folder, rules: rules.as_ref(), depth: task.depth };
        for (n_named, (name, kind)) in entries.into_iter().enumerate() {
            if n_named % NAMES_A_LOOK == NAMES_A_LOOK - 1
                && self.selection.options.deadline.is_over()
            {
                self.is_late.store(true, Ordering::Relaxed);
                return;
            }
            let path = join(&task.path, &name);
            match kind {
                FileType::Directory => self.folder(&place, name, path, &mut skipped),
                FileType::RegularFile => self.file(&place, &name, path, &mut skipped),
                FileType::Symlink => skipped.links += 1,
                FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown => skipped.special += 1,
            }
        }
        self.keep(task.path, stamp, skipped);
    }

    fn may_see_more(&self) -> bool {
        self.n_seen.fetch_add(1, Ordering::Relaxed) < MAX_SEEN
    }

    /// Adds a row for a directory that could not be opened. Changing the directory's permissions
    /// alters its stamp.
    fn add_closed_directory(&mut self, task: &Task) {
        if let Some(stamp) = folder_stamp(&*task.parent, &task.name) {
            let skipped = SkippedCounts { unreadable: 1, ..SkippedCounts::default() };
            self.keep(task.path.clone(), stamp, skipped);
        }
    }

    /// Adds a row for a directory whose rules were not read. The directory's content is omitted,
    /// because ignored files may be private. The rules file itself stays in the map so that changes
    /// to the rules are detected.
    fn without_rules(&mut self, place: &WalkedFolder<'_>, path: String, stamp: Stamp) {
        self.found.has_unread_rules = true;
        self.file(place, RULES_FILE, join(&path, RULES_FILE), &mut SkippedCounts::default());
        self.keep(path, stamp, SkippedCounts { unread_rules: 1, ..SkippedCounts::default() });
    }

    fn keep(&mut self, path: String, stamp: Stamp, skipped: SkippedCounts) {
        let is_doubtful = is_racy(stamp, self.selection.options.looked_ns);
        self.found.folders.push((path, FolderRow { stamp, is_doubtful, is_listed: true, skipped }));
    }

    fn folder(
        &mut self,
        place: &WalkedFolder<'_>,
        name: String,
        path: String,
        skipped: &mut SkippedCounts,
    ) {
        let is_passed_by = name == ".git"
            || is_noise(self.selection.tracked, &name, &path)
            || Rules::leaving_out(place.rules, &path, true).is_some();
        if is_passed_by {
            return;
        }
        if self.selection.options.sensitive.rule_for(&path).is_some() {
            skipped.denied += 1;
        } else if MAX_DEPTH <= place.depth || MAX_FOLDER_BYTES < path.len() {
            skipped.too_deep += 1;
        } else if (self.enters)(&path) && self.may_see_more() {
            let (parent, rules) = (Arc::clone(place.folder), place.rules.cloned());
            self.tasks.push(Task { parent, name, path, rules, depth: place.depth + 1 });
        }
    }

    fn file(
        &mut self,
        place: &WalkedFolder<'_>,
        name: &str,
        path: String,
        skipped: &mut SkippedCounts,
    ) {
        let is_left_out = || {
            Rules::leaving_out(place.rules, &path, false).is_some()
                && !self.selection.tracked.has(&path)
        };
        // In worktrees and submodules, `.git` is a file.
        if name == ".git" || is_left_out() {
            return;
        }
        if self.selection.options.sensitive.rule_for(&path).is_some() {
            skipped.denied += 1;
            return;
        }
        let stamp = if self.selection.is_unstamped { None } else { file_stamp(place.folder, name) };
        let is_there = self.selection.is_unstamped || stamp.is_some();
        if is_there && self.may_see_more() {
            self.found.files.push((path, stamp));
        }
    }
}

pub(super) fn is_noise(tracked: &Tracked, name: &str, path: &str) -> bool {
    let is_unwanted = is_listed(NOISE, name);
    is_store(path) || (is_unwanted && !tracked.has_below(path) && !tracked.is_submodule(path))
}

fn entries(folder: &OwnedFd, skipped: &mut SkippedCounts) -> Option<Vec<(String, FileType)>> {
    let mut entries = Vec::new();
    let listing = platform::list(folder, |entry| match entry.is_unicode {
        true => entries.push((entry.name.into_owned(), entry.kind)),
        false => skipped.unnamable += 1,
    });
    listing.ok()?;
    Some(entries)
}

pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { [folder, "/", name].concat() }
}
