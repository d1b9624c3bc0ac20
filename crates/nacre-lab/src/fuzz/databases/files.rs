//! Databases whose file or write-ahead log contains damaged bytes.

use std::fs;
use std::path::{Path, PathBuf};

use super::round::beside;
use crate::fuzz::mutate::Random;

const ROUNDS_PER_BASE: u64 = 100;
/// One in this many bases is a real database, which is larger and slower.
const REAL_EVERY: u64 = 20;
const ROUNDS_PER_REAL: u64 = 10;
/// Maximum size of a real database, so that rounds stay short.
const REAL_MAX: usize = 2 * 1024 * 1024;

/// In one out of this many rounds, a small file next to the database may be changed instead.
const BESIDE_EVERY: usize = 20;

pub(crate) struct Bases {
    real: Vec<Base>,
    current: Option<(u64, Base)>,
}

#[derive(Clone, Default)]
pub(crate) struct Base {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Bases {
    pub(crate) fn new(databases: Vec<PathBuf>) -> Self {
        let read = |path: PathBuf| {
            let name = PathBuf::from(path.file_name().unwrap());
            let mut files = vec![(name.clone(), fs::read(&path).unwrap())];
            let log = fs::read(beside(&path, "-wal")).ok();
            files.extend(log.map(|log| (beside(&name, "-wal"), log)));
            Base { files }
        };
        let is_small = |base: &Base| {
            base.files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() <= REAL_MAX
        };
        let real = databases.into_iter().map(read).filter(is_small).collect();
        Self { real, current: None }
    }

    /// Returns the base file set for a round. `make` generates a base from its number.
    pub(crate) fn base(
        &mut self,
        round: u64,
        make: impl FnOnce(u64, &Path),
        scratch: &Path,
    ) -> &Base {
        let number = round / ROUNDS_PER_BASE;
        if number % REAL_EVERY == REAL_EVERY - 1
            && round % ROUNDS_PER_BASE < ROUNDS_PER_REAL
            && !self.real.is_empty()
        {
            let idx = number / REAL_EVERY % self.real.len() as u64;
            return &self.real[idx as usize];
        }
        let current = match self.current.take() {
            Some((known, base)) if known == number => base,
            _ => {
                let folder = scratch.join("whole");
                fs::remove_dir_all(&folder).ok();
                make(number, &folder);
                let mut base = Base::default();
                base.collect(&folder, Path::new(""));
                base
            }
        };
        &self.current.insert((number, current)).1
    }
}

impl Base {
    fn collect(&mut self, folder: &Path, below: &Path) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let below = below.join(entry.file_name());
            if entry.path().is_dir() {
                self.collect(&entry.path(), &below);
            } else {
                self.files.push((below, fs::read(entry.path()).unwrap()));
            }
        }
        self.files.sort();
    }

    /// Writes the files to `folder`, damages one of them, and returns the kind of that file.
    pub(crate) fn damage(&self, folder: &Path, random: &mut Random) -> &'static str {
        fs::remove_dir_all(folder).ok();
        let is_database = |idx: &usize| !self.files[*idx].0.to_string_lossy().ends_with(".json");
        let databases: Vec<usize> = (0..self.files.len()).filter(is_database).collect();
        let chosen = match random.one_in(BESIDE_EVERY) {
            true => random.below(self.files.len()),
            false => random.pick(&databases),
        };
        for (idx, (path, bytes)) in self.files.iter().enumerate() {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if idx == chosen {
                let mut bytes = bytes.clone();
                damage(&mut bytes, random);
                fs::write(path, bytes).unwrap();
            } else {
                fs::write(path, bytes).unwrap();
            }
        }
        let name = self.files[chosen].0.to_string_lossy();
        match name.rsplit(['.', '-']).next() {
            Some("wal") => "log",
            Some("json") => "file beside",
            _ => "database",
        }
    }
}

/// Changes bytes as a failing disk or an attacker might.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.pick(&[0, 1, 0x7f, 0x80, 0xff]),
            2 => bytes[at] = random.byte(),
            3 => {
                let from = random.below(bytes.len());
                let length = random.below(64).min(bytes.len() - at.max(from));
                bytes.copy_within(from..from + length, at);
            }
            4 => {
                let end = (at + random.below(64)).min(bytes.len());
                bytes[at..end].fill(random.byte());
            }
            5 if random.one_in(20) => bytes.truncate(at),
            // The headers of the file and of its pages are the most sensitive parts.
            5 | 6 => {
                let at = at % 200.min(bytes.len());
                bytes[at] = random.byte();
            }
            _ => {
                let at = (at - at % 4096 + random.below(16)).min(bytes.len() - 1);
                bytes[at] = random.byte();
            }
        }
    }
}
