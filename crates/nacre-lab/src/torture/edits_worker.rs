//! The worker for `edits`. The worker commits changes to a store while it is being edited, and
//! reports every conflict.
//!
//! The worker changes only its own line in each file, so a user's edit can be lost only if the
//! worker overwrites it.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{FsError, RelPath};
use nacre_memory::{Batch, Memory, MemoryError, Revision, Store, StoreArea};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox::{NOW, open_store, owner};
use crate::torture::tally::Tally;

pub(crate) const STOP_FILE: &str = "stop";

pub(crate) fn run(seed: u64, repo: &Path) -> Result<Tally, AnyError> {
    let store = open_store(repo)?;
    let stop = repo.with_file_name(STOP_FILE);
    let mut rng = Rng::new(seed);
    let now: Timestamp = NOW.parse()?;
    let mut n = 0;
    while !stop.exists() {
        n += 1;
        match commit(&store, n, &mut rng, now) {
            Ok((n_changed, kept)) => {
                println!("commit {n_changed}");
                kept.iter().for_each(|path| println!("kept {path}"));
            }
            Err(MemoryError::Fs(FsError::Conflict { paths })) => {
                let paths: Vec<String> = paths.iter().map(RelPath::to_string).collect();
                println!("conflict {}", paths.join(" "));
            }
            Err(error) => println!("error {error:?}"),
        }
    }
    Ok(Tally::new("edits-worker"))
}

fn commit(
    store: &Store,
    n: u64,
    rng: &mut Rng,
    now: Timestamp,
) -> Result<(usize, Vec<RelPath>), MemoryError> {
    let mut batch = store.begin(&owner("edits"), Duration::from_secs(60))?;
    let mut memories = store.list(|_| true)?.memories;
    // The simulated user can create two files with the same ID. A change set may contain only one
    // of them.
    memories.sort_by(|a, b| a.at.id.cmp(&b.at.id));
    memories.dedup_by(|a, b| a.at.id == b.at.id);
    let mut n_changed = 0;
    for _ in 0..=rng.below(4) {
        if memories.is_empty() {
            break;
        }
        let memory = memories.swap_remove(rng.index(memories.len()));
        match stage(&mut batch, store, &memory, n, rng, now) {
            Ok(()) => n_changed += 1,
            Err(error) if is_persons_doing(&error) => println!("skip {error}"),
            Err(error) => return Err(error),
        }
    }
    batch.commit().map(|kept| (n_changed, kept))
}

fn stage(
    batch: &mut Batch<'_>,
    store: &Store,
    memory: &Memory,
    n: u64,
    rng: &mut Rng,
    now: Timestamp,
) -> Result<(), MemoryError> {
    let id = memory.at.id.as_str();
    match rng.below(10) {
        0 => {
            let tags = Some(vec![format!("set-{n}")]);
            batch.update(id, &Revision { tags, ..Revision::default() }, now).map(|_| ())
        }
        1 | 2 => match memory.at.area {
            StoreArea::Active => batch.archive(id, now).map(|_| ()),
            StoreArea::Archived => batch.restore(id, now).map(|_| ()),
        },
        _ => {
            let before = store.read_file(&memory.at.path)?;
            let text = String::from_utf8_lossy(&before).into_owned();
            let mine: String = text
                .lines()
                .map(|line| {
                    if line.starts_with("worker: ") {
                        format!("worker: {n}\n")
                    } else {
                        format!("{line}\n")
                    }
                })
                .collect();
            batch.rewrite(&memory.at, &before, &mine, now)
        }
    }
}

fn is_persons_doing(error: &MemoryError) -> bool {
    match error {
        MemoryError::Fs(error) => error.is_missing(),
        MemoryError::Unreadable(_)
        | MemoryError::Unknown { .. }
        | MemoryError::Ambiguous { .. }
        | MemoryError::Duplicate { .. }
        | MemoryError::InvalidText(_)
        | MemoryError::AlreadyArchived { .. }
        | MemoryError::NotArchived { .. }
        | MemoryError::NotACandidate { .. }
        | MemoryError::NotSupersedable { .. }
        | MemoryError::OwnerOnly { .. }
        | MemoryError::NotShown { .. }
        | MemoryError::UsersWords { .. } => true,
        MemoryError::EmptyTitle
        | MemoryError::TooLong { .. }
        | MemoryError::SummaryNotJudged { .. }
        | MemoryError::NotARunFile { .. }
        | MemoryError::NotUndoable { .. }
        | MemoryError::NoLevel { .. }
        | MemoryError::SummaryNotArchivable { .. }
        | MemoryError::Sidecar { .. } => false,
    }
}
