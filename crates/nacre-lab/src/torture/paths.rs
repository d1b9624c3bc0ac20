//! Passes hostile paths and titles to everything that writes files. Nothing outside the store may
//! change.
//!
//! The store is surrounded by canary files: plain files, targets of links from the store, and a
//! file with hard links inside and outside the store. Types, modes, times and contents are compared
//! after every string.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use nacre_base::fs::{Access, ChangeSet, RelPath, WriteScope};
use nacre_base::is_hidden_char;
use nacre_memory::{Batch, MemoryError, Revision, Store, SummaryDraft};

use crate::AnyError;
use crate::hostile::hostile;
use crate::rng::Rng;
use crate::torture::hammer_worker::draft;
use crate::torture::paths_binary;
use crate::torture::sandbox::{self, NOW, Place, owner};
use crate::torture::tally::Tally;
use crate::torture::tree;

pub(crate) const VICTIM: &str = "20261115-victim";
/// Number of strings after which the traps are restored, because attacks can remove them.
const STRINGS_PER_TRAP: u64 = 20;
/// An error message may quote its input, but not an entire 4 KiB name.
const MAX_ERROR_BYTES: usize = 2000;

pub(crate) fn run(nacre: &Path, seed: u64, n: u64, n_binary: u64) -> Result<Tally, AnyError> {
    println!("paths: {n} strings, {n_binary} of them through the command line, seed {seed}");
    let mut tally = Tally::new("paths");
    let dir = sandbox::memory_scratch("paths")?;
    let started = Instant::now();
    let mut arena = Arena::make(dir.path(), nacre)?;
    let mut rng = Rng::new(seed);
    for idx in 0..n {
        let text = hostile(&mut rng, dir.path());
        arena.attack(&text, idx, &mut tally)?;
        arena.look(&text, &mut tally)?;
        if idx % STRINGS_PER_TRAP == 0 {
            arena.lay_traps()?;
        }
    }
    for (entry, (taken, refused)) in &arena.counts {
        println!("paths: {entry:<14} {taken:>6} accepted, {refused:>6} rejected");
    }
    // The first part may have changed the store, for example its configuration, so the second part
    // gets a new one.
    let fresh = sandbox::memory_scratch("paths")?;
    let mut second = Arena::make(fresh.path(), nacre)?;
    let n_runs = paths_binary::run(&mut second, &mut rng, n_binary, &mut tally)?;
    std::env::set_current_dir("/")?;
    let (taken, refused) =
        arena.counts.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    tally.end(&format!(
        "{n} strings, {taken} attempts accepted, {refused} rejected, {n_runs} commands, {} outside \
         items unchanged, {:.0} s",
        arena.outside.len(),
        started.elapsed().as_secs_f64()
    ));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

pub(crate) struct Arena {
    pub(crate) place: Place,
    root: PathBuf,
    store: Store,
    now: Timestamp,
    outside: BTreeMap<PathBuf, String>,
    counts: BTreeMap<&'static str, (u64, u64)>,
    /// Kept open so that `/proc/self/fd` contains links to the canaries.
    _handles: Vec<File>,
}

impl Arena {
    fn make(root: &Path, nacre: &Path) -> Result<Self, AnyError> {
        let place = Place::new(root, nacre);
        place.make()?;
        place.set_editor("printf '\\nEdited.\\n' >> \"$1\"\n")?;
        place.must(&["init"])?;
        let canary = root.join("canary");
        fs::create_dir_all(canary.join("sub"))?;
        for name in ["a.txt", "sub/b.txt", "hard-state.json"] {
            fs::write(canary.join(name), format!("canary {name}"))?;
        }
        let hard = "---\nid: 20261115-hard\ntitle: Hard\nstatus: active\n---\n";
        fs::write(canary.join("hard.md"), hard)?;
        let store = sandbox::open_store(&place.repo())?;
        let mut arena = Self {
            place,
            root: root.to_owned(),
            store,
            now: NOW.parse()?,
            outside: BTreeMap::new(),
            counts: BTreeMap::new(),
            _handles: vec![File::open(canary.join("a.txt"))?, File::open(&canary)?],
        };
        arena.revive_victim()?;
        arena.lay_traps()?;
        std::env::set_current_dir(&canary)?;
        arena.outside = arena.look_outside()?;
        Ok(arena)
    }

    fn lay_traps(&self) -> Result<(), AnyError> {
        let inside = |name: &str| self.place.file(name);
        for name in ["memory/decisions", "meta/evidence", "meta/state"] {
            fs::create_dir_all(inside(name))?;
        }
        let canary = self.root.join("canary");
        let a_file = canary.join("a.txt");
        for (name, target) in [
            ("link", Path::new("../../canary")),
            ("filelink", Path::new("../../canary/a.txt")),
            ("loop", Path::new("loop")),
            ("up", Path::new("..")),
            ("abs", &canary),
            ("memory/linkdir", Path::new("../../../canary")),
            ("memory/decisions/20261115-linked.md", &a_file),
            ("meta/evidence/20261115-linked.json", &a_file),
        ] {
            unless_there(symlink(target, inside(name)))?;
        }
        for (name, target) in [
            ("memory/decisions/20261115-hard.md", "hard.md"),
            ("meta/state/20261115-hard.json", "hard-state.json"),
        ] {
            unless_there(fs::hard_link(canary.join(target), inside(name)))?;
        }
        if !inside("pipe").exists() {
            Command::new("mkfifo").arg(inside("pipe")).status()?;
        }
        // A repository whose store is replaced by a link.
        fs::create_dir_all(self.root.join("evil/.git"))?;
        unless_there(symlink("../canary", self.root.join("evil/.nacre")))?;
        Ok(())
    }

    fn look_outside(&self) -> Result<BTreeMap<PathBuf, String>, AnyError> {
        let stores = [self.place.file(""), self.root.join("home/.nacre")];
        // Creating or removing a store changes the modification time of its parent directory. No
        // other change is allowed.
        Ok(tree::fingerprint(&self.root, |path| stores.iter().any(|store| path == store))?)
    }

    pub(crate) fn look(&mut self, text: &str, tally: &mut Tally) -> Result<(), AnyError> {
        let now = self.look_outside()?;
        if now != self.outside {
            let changed = now.iter().find(|(path, seen)| self.outside.get(*path) != Some(seen));
            let gone = self.outside.keys().find(|path| !now.contains_key(*path));
            tally.bad(&format!("{text:?} changed {changed:?} or removed {gone:?}"));
            self.outside = now;
        }
        Ok(())
    }

    fn note<T, E: Error>(
        &mut self,
        entry: &'static str,
        text: &str,
        result: &Result<T, E>,
        tally: &mut Tally,
    ) {
        let counts = self.counts.entry(entry).or_default();
        match result {
            Ok(_) => counts.0 += 1,
            Err(error) => {
                counts.1 += 1;
                if let Some(fault) = fault_of_message(error) {
                    tally.bad_of(&format!("{entry}: {fault}"), &format!("({error:?}) of {text:?}"));
                }
            }
        }
    }

    fn attack(&mut self, text: &str, idx: u64, tally: &mut Tally) -> Result<(), AnyError> {
        let paths = [
            RelPath::new(text),
            RelPath::new("memory/decisions").and_then(|folder| folder.join(text)),
            RelPath::new("link").and_then(|folder| folder.join(text)),
        ];
        for path in paths {
            self.note("path", text, &path, tally);
            if let Ok(path) = path {
                self.attack_path(&path, idx, tally)?;
            }
        }
        self.attack_titles(text, tally);
        self.attack_ids(text, tally);
        self.attack_rewrite(text, tally)?;
        self.revive_victim()
    }

    fn attack_path(&mut self, path: &RelPath, idx: u64, tally: &mut Tally) -> Result<(), AnyError> {
        let scope = WriteScope::open_inside(&self.place.repo(), ".nacre", Access::Shared)?;
        let writer = scope.lock(&owner("paths"), Duration::from_secs(10))?;
        let text = path.as_str();
        let mut create = ChangeSet::new();
        create.create(path.clone(), b"x".to_vec());
        let created = writer.commit(create);
        self.note("create", text, &created, tally);
        // An attacker may know the current contents of the file at the path or behind a link.
        let full = scope.full(path);
        let seen = if full.is_file() { fs::read(&full).ok() } else { None };
        let before = seen.unwrap_or_else(|| b"x".to_vec());
        let mut replace = ChangeSet::new();
        replace.replace(path.clone(), &before, b"replaced".to_vec());
        let replaced = writer.commit(replace);
        self.note("replace", text, &replaced, tally);
        let before = if replaced.is_ok() { b"replaced".to_vec() } else { before };
        let atomic = writer.write_atomic(path, b"atomic");
        self.note("write_atomic", text, &atomic, tally);
        let before = if atomic.is_ok() { b"atomic".to_vec() } else { before };
        let target = RelPath::new(&format!("moved/{idx}"))?;
        let mut relocate = ChangeSet::new();
        relocate.relocate(path.clone(), &before, target.clone(), b"moved".to_vec());
        let moved = writer.commit(relocate);
        self.note("relocate", text, &moved, tally);
        let mut remove = ChangeSet::new();
        let (gone, before) =
            if moved.is_ok() { (&target, b"moved".to_vec()) } else { (path, before) };
        remove.remove(gone.clone(), &before);
        let removed = writer.commit(remove);
        self.note("remove", text, &removed, tally);
        drop(writer);
        // After a rejection, the store must still be writable.
        let again = scope.lock(&owner("paths"), Duration::from_secs(10));
        if let Err(error) = again.map(|writer| writer.recovery().clone()) {
            let detail = format!("{text:?}: {}", chain(&error));
            tally.bad_of("a store can no longer be opened after", &detail);
            fs::remove_dir_all(self.place.file("journal"))?;
        }
        Ok(())
    }

    fn attack_titles(&mut self, text: &str, tally: &mut Tally) {
        let mut new = draft(text, text);
        (new.tags, new.source) = (vec![text.to_owned()], text.to_owned());
        text.clone_into(&mut new.quotes[0].place);
        let owned = || text.to_owned();
        let summary = SummaryDraft {
            title: owned(),
            description: owned(),
            body: owned(),
            coding_agent: owned(),
            raw_trace_path: owned(),
            run_id: owned(),
            repo_name: owned(),
            related: Vec::new(),
            tags: vec![owned()],
        };
        let added = self.in_batch(|batch, now| batch.add(&new, now));
        self.note("add title", text, &added, tally);
        let summed = self.in_batch(|batch, now| batch.add_summary(&summary, now));
        self.note("add summary", text, &summed, tally);
        for id in [added, summed].into_iter().flatten() {
            if let Err(error) = self.store.get(id.as_str()) {
                let kind = format!("the added memory cannot be read: {}", reason(&error));
                tally.bad_of(&kind, &format!("({id} of {text:?})"));
                self.take_out(id.as_str());
                continue;
            }
            let forgot = self.in_batch(|batch, now| batch.forget(id.as_str(), now));
            self.note("forget", text, &forgot, tally);
        }
    }

    fn attack_ids(&mut self, id: &str, tally: &mut Tally) {
        let change = Revision { body: Some("changed".to_owned()), ..Revision::default() };
        let updated = self.in_batch(|batch, now| batch.update(id, &change, now));
        self.note("update id", id, &updated, tally);
        let archived = self.in_batch(|batch, now| batch.archive(id, now));
        self.note("archive id", id, &archived, tally);
        let restored = self.in_batch(|batch, now| batch.restore(id, now));
        self.note("restore id", id, &restored, tally);
        let forgot = self.in_batch(|batch, now| batch.forget(id, now));
        self.note("forget id", id, &forgot, tally);
    }

    fn attack_rewrite(&mut self, text: &str, tally: &mut Tally) -> Result<(), AnyError> {
        self.revive_victim()?;
        let at = self.store.locate(VICTIM)?;
        let before = self.store.read_file(&at.path)?;
        let quoted = serde_json::to_string(text)?;
        for edited in [
            format!("---\nid: {text}\ntitle: T\n---\n{text}\n"),
            format!("---\nid: {VICTIM}\ntitle: {quoted}\nrelated: [{quoted}]\n---\n"),
            format!("---\nid: {VICTIM}\ntitle: T\n{text}: {quoted}\n---\n{text}"),
        ] {
            let before = self.store.read_file(&at.path).unwrap_or_else(|_| before.clone());
            let rewritten = self.in_batch(|batch, now| batch.rewrite(&at, &before, &edited, now));
            self.note("rewrite", text, &rewritten, tally);
        }
        if let Err(error) = self.store.get(VICTIM) {
            tally.bad_of(&format!("the edited memory cannot be read: {}", reason(&error)), text);
        }
        Ok(())
    }

    fn in_batch<T>(
        &self,
        stage: impl FnOnce(&mut Batch<'_>, Timestamp) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        let mut batch = self.store.begin(&owner("paths"), Duration::from_secs(10))?;
        let staged = stage(&mut batch, self.now)?;
        batch.commit()?;
        Ok(staged)
    }

    fn take_out(&self, id: &str) {
        let places = [self.store.locate(id).map(|at| at.path.to_string()).unwrap_or_default()];
        let sidecars = ["evidence", "state"].map(|folder| format!("meta/{folder}/{id}.json"));
        for path in places.iter().chain(&sidecars) {
            let _ = fs::remove_file(self.place.file(path));
        }
    }

    /// Restores the victim memory. Commands delete this memory if a hostile string happens to be a
    /// prefix of its ID.
    pub(crate) fn revive_victim(&mut self) -> Result<(), AnyError> {
        if self.store.locate(VICTIM).is_ok_and(|at| at.id.as_str() == VICTIM) {
            return Ok(());
        }
        let evidence = RelPath::new(&format!("meta/evidence/{VICTIM}.json"))?;
        if self.store.read_file(&evidence).is_ok() {
            fs::remove_file(self.place.file(evidence.as_str()))?;
        }
        self.in_batch(|batch, now| batch.add(&draft("Victim", "Words."), now))?;
        Ok(())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

fn reason(error: &dyn Error) -> String {
    let text = chain(error);
    let last = text.rsplit(": ").next().unwrap_or_default();
    last.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn unless_there(made: io::Result<()>) -> io::Result<()> {
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn fault_of_message(error: &dyn Error) -> Option<String> {
    let text = chain(error);
    match text.chars().find(|c| is_hidden_char(*c)) {
        Some(hidden) => Some(format!("the error contains {hidden:?}")),
        None if text.is_empty() => Some("the error is empty".to_owned()),
        None if text.len() > MAX_ERROR_BYTES => Some("the error is too long".to_owned()),
        None => None,
    }
}
