//! The process that `kill9` kills. It commits change sets as fast as it can and reports each one.
//!
//! Each set also adds a line to the ledger, which therefore lists exactly the committed sets and
//! their results.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use nacre_base::ContentHash;
use nacre_base::fs::{Access, ChangeSet, FsError, RelPath, Seal, WriteScope, Writer};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox::owner;
use crate::torture::tally::Tally;

/// Number of sets per lock, chosen so that most kills interrupt a commit and some interrupt
/// locking.
const SETS_PER_LOCK: u64 = 6;
pub(crate) const LEDGER_SHARD: u64 = 500;
/// The only file that is written without a change set.
pub(crate) const ATOMIC_FILE: &str = "state.txt";

const MAX_FILES: usize = 90;
const LIMIT: u64 = 1 << 24;

/// The result of one set: each path and the hash of its new content, or `None` if it was removed.
pub(crate) type Line = BTreeMap<String, Option<String>>;

pub(crate) fn run(seed: u64, dir: &Path) -> Result<Tally, AnyError> {
    let scope = WriteScope::open(dir, Access::Shared)?.with_seal(Seal::from_directory(dir));
    let mut rng = Rng::new(seed);
    say("start")?;
    let mut is_first = true;
    let mut victim = Victim { scope: &scope, next: 0, files: Vec::new() };
    loop {
        let writer = scope.lock(&owner("kill9"), Duration::from_secs(60))?;
        if is_first {
            victim.look_around()?;
            say(&format!("ready {:?}", writer.recovery()))?;
            is_first = false;
        }
        for _ in 0..SETS_PER_LOCK {
            victim.commit(&writer, &mut rng)?;
        }
        writer
            .write_atomic(&RelPath::new(ATOMIC_FILE)?, &content(victim.next, "state", &mut rng))?;
    }
}

fn say(line: &str) -> Result<(), AnyError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

struct Victim<'a> {
    scope: &'a WriteScope,
    next: u64,
    files: Vec<RelPath>,
}

impl Victim<'_> {
    fn look_around(&mut self) -> Result<(), AnyError> {
        let ledger = RelPath::new("ledger")?;
        let shards = self.scope.list(&ledger)?;
        let newest = shards.iter().max_by_key(|shard| shard.name.parse::<u64>().unwrap_or(0));
        if let Some(shard) = newest {
            let lines = self.scope.list(&ledger.join(&shard.name)?)?;
            let numbers =
                lines.iter().filter_map(|line| line.name.strip_suffix(".json")?.parse().ok());
            self.next = numbers.max().map_or(0, |last: u64| last + 1);
        }
        let root = RelPath::new("files")?;
        for folder in self.scope.list(&root)? {
            let folder = root.join(&folder.name)?;
            for inner in self.scope.list(&folder)? {
                let inner = folder.join(&inner.name)?;
                for file in self.scope.list(&inner)? {
                    self.files.push(inner.join(&file.name)?);
                }
            }
        }
        Ok(())
    }

    fn commit(&mut self, writer: &Writer<'_>, rng: &mut Rng) -> Result<(), AnyError> {
        let n = self.next;
        let mut set = ChangeSet::new();
        let mut line = Line::new();
        let mut gone = Vec::new();
        let mut made = Vec::new();
        for idx in 0..=rng.below(8) {
            let path = new_path(n, idx, rng)?;
            let old = self.pick(rng, &line);
            match (old, rng.below(4)) {
                (Some(old), 0) if self.files.len() > MAX_FILES / 3 => {
                    set.remove(old.clone(), &self.scope.read(&old, LIMIT)?);
                    line.insert(old.to_string(), None);
                    gone.push(old);
                }
                (Some(old), 1) => {
                    let bytes = content(n, path.as_str(), rng);
                    line.insert(old.to_string(), None);
                    line.insert(path.to_string(), Some(ContentHash::of(&bytes).to_string()));
                    set.relocate(old.clone(), &self.scope.read(&old, LIMIT)?, path.clone(), bytes);
                    gone.push(old);
                    made.push(path);
                }
                (Some(old), other) if other == 2 || self.files.len() >= MAX_FILES => {
                    let bytes = content(n, old.as_str(), rng);
                    line.insert(old.to_string(), Some(ContentHash::of(&bytes).to_string()));
                    set.replace(old.clone(), &self.scope.read(&old, LIMIT)?, bytes);
                }
                _ => {
                    let bytes = content(n, path.as_str(), rng);
                    line.insert(path.to_string(), Some(ContentHash::of(&bytes).to_string()));
                    set.create(path.clone(), bytes);
                    made.push(path);
                }
            }
        }
        let shard = n / LEDGER_SHARD;
        set.create(RelPath::new(&format!("ledger/{shard}/{n}.json"))?, serde_json::to_vec(&line)?);
        writer.commit(set)?;
        say(&format!("set {n}"))?;
        self.next += 1;
        self.files.retain(|path| !gone.contains(path));
        self.files.extend(made);
        Ok(())
    }

    fn pick(&self, rng: &mut Rng, line: &Line) -> Option<RelPath> {
        let free: Vec<&RelPath> =
            self.files.iter().filter(|path| !line.contains_key(path.as_str())).collect();
        if free.is_empty() { None } else { Some((*rng.pick(&free)).clone()) }
    }
}

fn new_path(n: u64, idx: u64, rng: &mut Rng) -> Result<RelPath, FsError> {
    RelPath::new(&format!("files/{}/{}/{n}-{idx}.txt", rng.below(3), (n / 40) % 50))
}

/// Returns text in which missing or foreign parts can be detected.
fn content(n: u64, path: &str, rng: &mut Rng) -> Vec<u8> {
    let n_lines = match rng.below(20) {
        0 => 3000,
        1..5 => 200,
        _ => rng.below(30),
    };
    let mut text = format!("set {n}\npath {path}\n");
    for _ in 0..n_lines {
        text.push_str(&format!("{:016x} {:016x}\n", rng.next(), rng.next()));
    }
    let sum = ContentHash::of(text.as_bytes());
    format!("{text}sum {sum}\nEND\n").into_bytes()
}

pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Some(rest) = text.strip_suffix("\nEND\n") else { return false };
    let Some((body, sum)) = rest.rsplit_once("sum ") else { return false };
    sum == ContentHash::of(body.as_bytes()).to_string()
}
