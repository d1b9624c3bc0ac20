//! Simulates a user who edits, deletes and renames memories while a worker commits changes to them.
//!
//! Every edit writes a unique number, called the mark. When the user next changes the file, and
//! again at the end, the mark must still be in the file or in a conflict copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::edits_worker::STOP_FILE;
use crate::torture::sandbox::{self, Place};
use crate::torture::tally::Tally;
use crate::torture::tree::{self, Tree};

/// A small number of files, so that the user and the worker often change the same one.
const N_PAPERS: usize = 24;
/// Time limit for committing a change set, which normally takes far less time.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(nacre: &Path, seed: u64, n_acts: u64) -> Result<Tally, AnyError> {
    println!("edits: {n_acts} user actions, seed {seed}");
    let mut tally = Tally::new("edits");
    let dir = sandbox::scratch("edits")?;
    let place = Place::new(dir.path(), nacre);
    place.make()?;
    place.must(&["init"])?;
    let started = Instant::now();
    let mut person = Person::new(&place, seed)?;
    let (mut child, reader) = start_worker(&place, seed)?;
    let mut n_done = 0;
    while n_done < n_acts && child.try_wait()?.is_none() {
        n_done += u64::from(person.act(&mut tally)?);
        thread::sleep(Duration::from_micros(person.rng.below(3000)));
    }
    fs::write(place.repo().with_file_name(STOP_FILE), "")?;
    if !child.wait()?.success() {
        tally.bad("the worker failed");
    }
    let log = reader.join().map_err(|_| "the reader failed")?;
    person.check_end(&mut tally)?;
    let told = Told::read(&log, &mut tally);
    let n_copies = check_copies(&place, &told, &mut tally)?;
    let Person { acts, late, saved_late, .. } = person;
    println!("edits: actions {acts:?}");
    println!(
        "edits: written through a handle whose file had just been replaced: {saved_late} kept; lost \
         after the last check: {} by an editor with an open handle, {} by one without",
        late.0, late.1
    );
    tally.end(&format!(
        "{n_done} actions during {} commits, {} conflicts reported, {n_copies} copies kept and \
         listed, {:.0} s",
        told.n_commits,
        told.n_conflicts,
        started.elapsed().as_secs_f64()
    ));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

fn start_worker(
    place: &Place,
    seed: u64,
) -> Result<(Child, thread::JoinHandle<Vec<String>>), AnyError> {
    let mut command = sandbox::this_program()?;
    command.args(["--seed", &seed.to_string(), "edits-worker"]).arg(place.repo());
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let out = child.stdout.take().ok_or("no output")?;
    let lines = || BufReader::new(out).lines().map_while(Result::ok).collect();
    Ok((child, thread::spawn(lines)))
}

#[derive(Debug, Default)]
struct Told {
    n_commits: u64,
    n_conflicts: u64,
    paths: BTreeSet<String>,
}

impl Told {
    fn read(log: &[String], tally: &mut Tally) -> Self {
        let mut told = Self::default();
        for line in log {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "commit" => told.n_commits += 1,
                "conflict" => told.n_conflicts += 1,
                "kept" | "skip" => {}
                _ => tally.bad_of("the worker failed without a conflict:", line),
            }
            if matches!(word, "conflict" | "kept") {
                told.paths.extend(rest.split(' ').map(str::to_owned));
            }
        }
        told
    }
}

fn check_copies(place: &Place, told: &Told, tally: &mut Tally) -> Result<usize, AnyError> {
    let listed: BTreeSet<String> =
        sandbox::doctor(place)?.into_iter().map(|finding| finding.path).collect();
    let stores = place.stores()?;
    let copies: Vec<&String> =
        stores.project.keys().filter(|path| path.contains(".conflict-")).collect();
    for path in &copies {
        if !told.paths.contains(*path) {
            tally.bad(&format!("{path} was not reported"));
        }
        if !listed.contains(*path) {
            tally.bad(&format!("{path} is not listed by doctor"));
        }
    }
    for leftover in &stores.leftovers {
        tally.bad(&format!("leftover {leftover}"));
    }
    Ok(copies.len())
}

struct Paper {
    id: String,
    /// The last mark written, or `None` once the check has found it.
    mark: Option<u64>,
    handle: Option<Handle>,
}

impl Paper {
    fn is_late(&self) -> bool {
        self.handle.as_ref().is_some_and(Handle::is_late)
    }
}

struct Handle {
    file: File,
    /// Whether the path already pointed to a different inode right after the write.
    was_replaced: bool,
    pause: Duration,
}

impl Handle {
    /// Returns whether the write went to a file that had already been unlinked.
    fn is_late(&self) -> bool {
        self.was_replaced && self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
}

struct Person {
    store: PathBuf,
    temp: PathBuf,
    rng: Rng,
    papers: Vec<Paper>,
    next_mark: u64,
    next_id: u64,
    elsewhere: Vec<u64>,
    deleted: Vec<PathBuf>,
    acts: BTreeMap<&'static str, u64>,
    /// Number of writes lost because the file had already been unlinked: first after a pause, then
    /// without one.
    late: (u64, u64),
    saved_late: u64,
}

enum Found {
    InFile(PathBuf),
    /// The mark is in a conflict copy, or under the old name if a commit restored the file during a
    /// rename.
    Elsewhere,
    Nowhere,
}

impl Person {
    fn new(place: &Place, seed: u64) -> Result<Self, AnyError> {
        let mut person = Self {
            store: place.file(""),
            temp: place.repo().with_file_name("editor-temp"),
            rng: Rng::part(seed, 7),
            papers: Vec::new(),
            next_mark: 1,
            next_id: 1,
            elsewhere: Vec::new(),
            deleted: Vec::new(),
            acts: BTreeMap::new(),
            late: (0, 0),
            saved_late: 0,
        };
        fs::create_dir_all(person.store.join("memory/decisions"))?;
        (0..N_PAPERS).try_for_each(|_| person.write_new())?;
        Ok(person)
    }

    fn write_new(&mut self) -> Result<(), AnyError> {
        let id = format!("20261115-paper-{}", self.next_id);
        self.next_id += 1;
        let mark = self.take_mark();
        let mut file = File::create_new(self.home_of(&id))?;
        file.write_all(text(&id, mark, "worker: 0").as_bytes())?;
        self.papers.push(Paper { id, mark: Some(mark), handle: None });
        Ok(())
    }

    fn take_mark(&mut self) -> u64 {
        self.next_mark += 1;
        self.next_mark
    }

    fn home_of(&self, id: &str) -> PathBuf {
        self.store.join(format!("memory/decisions/{id}.md"))
    }

    fn archive_of(&self, id: &str) -> PathBuf {
        self.store.join(format!("memory/archived/decisions/{id}.md"))
    }

    /// Performs one random action. Returns false if a commit moved the file in the meantime.
    fn act(&mut self, tally: &mut Tally) -> Result<bool, AnyError> {
        if self.papers.len() < N_PAPERS {
            self.write_new()?;
        }
        let idx = self.rng.index(self.papers.len());
        let paper = self.papers.swap_remove(idx);
        let Some((mut paper, path)) = self.settle(paper, tally)? else { return Ok(false) };
        let (what, done) = match self.rng.below(100) {
            0..30 => ("truncate and write", self.truncate(&mut paper, &path)),
            30..47 => ("write in place", self.patch(&mut paper, &path, Duration::ZERO)),
            47..55 => {
                let pause = Duration::from_micros(self.rng.below(6000));
                ("hold open, then write", self.patch(&mut paper, &path, pause))
            }
            55..84 => ("save by rename", self.save(&mut paper, &path)),
            84..92 => ("rename", self.rename(&mut paper, &path)),
            _ => {
                let deleted = self.delete(&paper, &path);
                let is_done = missing_is_false(deleted)?;
                if is_done {
                    *self.acts.entry("delete").or_default() += 1;
                } else {
                    self.papers.push(paper);
                }
                return Ok(is_done);
            }
        };
        let is_done = missing_is_false(done)?;
        *self.acts.entry(what).or_default() += u64::from(is_done);
        self.papers.push(paper);
        Ok(is_done)
    }

    fn settle(
        &mut self,
        mut paper: Paper,
        tally: &mut Tally,
    ) -> Result<Option<(Paper, PathBuf)>, AnyError> {
        let asked = Instant::now();
        while let Some(mark) = paper.mark {
            match self.find(&paper.id, mark)? {
                Found::InFile(path) => {
                    self.note_saved(&paper);
                    return Ok(Some((paper, path)));
                }
                Found::Elsewhere => {
                    self.note_saved(&paper);
                    self.elsewhere.push(mark);
                    paper.mark = None;
                }
                Found::Nowhere if asked.elapsed() > PATIENCE || paper.is_late() => {
                    self.note_lost(&paper, mark, tally);
                    return Ok(None);
                }
                Found::Nowhere => thread::sleep(Duration::from_millis(1)),
            }
        }
        let places = [self.home_of(&paper.id), self.archive_of(&paper.id)];
        Ok(places.into_iter().find(|path| path.exists()).map(|path| (paper, path)))
    }

    fn find(&self, id: &str, mark: u64) -> Result<Found, AnyError> {
        let wanted = mark_line(mark);
        for path in [self.home_of(id), self.archive_of(id)] {
            if fs::read_to_string(&path).is_ok_and(|text| text.contains(&wanted)) {
                return Ok(Found::InFile(path));
            }
        }
        let everything = self.read_store()?;
        let holder = everything.iter().find(|(_, bytes)| contains(bytes, &wanted));
        let Some((path, _)) = holder else { return Ok(Found::Nowhere) };
        let path = self.store.join(path);
        // A commit may have moved the file between the two reads.
        let is_own = path == self.home_of(id) || path == self.archive_of(id);
        Ok(if is_own { Found::InFile(path) } else { Found::Elsewhere })
    }

    fn read_store(&self) -> Result<Tree, AnyError> {
        for _ in 0..100 {
            match tree::read(&self.store, |path| path.starts_with("journal")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                tree => return Ok(tree?),
            }
        }
        Err("the store never stops changing".into())
    }

    fn note_saved(&mut self, paper: &Paper) {
        if paper.handle.as_ref().is_some_and(|handle| handle.was_replaced) {
            self.saved_late += 1;
        }
    }

    /// Handles a lost mark. If a file is replaced after a program's last check, even a careful
    /// program loses its write to the old file, so such losses are only counted. Any other lost
    /// mark is a bug in the store.
    fn note_lost(&mut self, paper: &Paper, mark: u64, tally: &mut Tally) {
        if !paper.is_late() {
            tally.bad(&format!("mark {mark} of {} disappeared", paper.id));
            return;
        }
        let is_slow = paper.handle.as_ref().is_some_and(|handle| !handle.pause.is_zero());
        *(if is_slow { &mut self.late.0 } else { &mut self.late.1 }) += 1;
    }

    fn truncate(&mut self, paper: &mut Paper, path: &Path) -> io::Result<()> {
        let worker = worker_line(&fs::read_to_string(path)?);
        let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
        let mark = self.take_mark();
        file.write_all(text(&paper.id, mark, &worker).as_bytes())?;
        hold(paper, mark, file, path, Duration::ZERO);
        Ok(())
    }

    fn patch(&mut self, paper: &mut Paper, path: &Path, pause: Duration) -> io::Result<()> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut old = String::new();
        file.read_to_string(&mut old)?;
        let Some(at) = old.find("person: ") else {
            // A commit moved the file. The next iteration finds the file in its new location.
            return Err(io::ErrorKind::NotFound.into());
        };
        let mark = self.take_mark();
        thread::sleep(pause);
        file.seek(SeekFrom::Start(at as u64))?;
        file.write_all(mark_line(mark).as_bytes())?;
        hold(paper, mark, file, path, pause);
        Ok(())
    }

    fn save(&mut self, paper: &mut Paper, path: &Path) -> io::Result<()> {
        let worker = worker_line(&fs::read_to_string(path)?);
        let mark = self.take_mark();
        fs::write(&self.temp, text(&paper.id, mark, &worker))?;
        fs::rename(&self.temp, path)?;
        (paper.mark, paper.handle) = (Some(mark), None);
        Ok(())
    }

    fn rename(&mut self, paper: &mut Paper, path: &Path) -> io::Result<()> {
        let id = format!("20261115-renamed-{}", self.next_id);
        self.next_id += 1;
        fs::rename(path, self.home_of(&id))?;
        (paper.id, paper.handle) = (id, None);
        Ok(())
    }

    fn delete(&mut self, paper: &Paper, path: &Path) -> io::Result<()> {
        let twins = || [self.home_of(&paper.id), self.archive_of(&paper.id)];
        let n_before = twins().iter().filter(|path| path.exists()).count();
        fs::remove_file(path)?;
        // While a commit moves a file, the file exists in both locations, and deleting one copy
        // does not delete the other.
        let n_after = twins().iter().filter(|path| path.exists()).count();
        if n_before == 1 && n_after == 0 {
            self.deleted.push(path.to_owned());
        }
        Ok(())
    }

    fn check_end(&mut self, tally: &mut Tally) -> Result<(), AnyError> {
        for paper in std::mem::take(&mut self.papers) {
            self.settle(paper, tally)?;
        }
        let everything = self.read_store()?;
        for mark in &self.elsewhere {
            let wanted = mark_line(*mark);
            if !everything.values().any(|bytes| contains(bytes, &wanted)) {
                tally.bad(&format!("mark {mark} was in another file and disappeared"));
            }
        }
        for path in self.deleted.iter().filter(|path| path.exists()) {
            tally.bad(&format!("{} was deleted but exists again", path.display()));
        }
        Ok(())
    }
}

fn hold(paper: &mut Paper, mark: u64, file: File, path: &Path, pause: Duration) {
    let inode = file.metadata().map(|metadata| metadata.ino()).ok();
    let was_replaced = fs::symlink_metadata(path).map(|metadata| metadata.ino()).ok() != inode;
    paper.mark = Some(mark);
    paper.handle = Some(Handle { file, was_replaced, pause });
}

fn missing_is_false(done: io::Result<()>) -> Result<bool, AnyError> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn mark_line(mark: u64) -> String {
    format!("person: {mark:08}")
}

fn worker_line(text: &str) -> String {
    text.lines().find(|line| line.starts_with("worker: ")).unwrap_or("worker: 0").to_owned()
}

fn text(id: &str, mark: u64, worker: &str) -> String {
    format!(
        "---\nid: {id}\ntitle: A paper\nstatus: active\ntags: []\n---\n\n{}\n{worker}\n",
        mark_line(mark)
    )
}

fn contains(bytes: &[u8], wanted: &str) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes())
}
