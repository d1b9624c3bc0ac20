//! Repositories, folders and servers that a stranger made: every command is run in each of them, as it is and by `--project`.
//!
//! None may start a program, change a byte outside its own places, hang, grow, or let a stranger's word into a brief.

mod commands;
mod git_bombs;
mod memories;
mod repositories;
mod servers;
mod settings;
mod traces;
mod victims;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::AnyError;
use crate::sandbox::{self, NOW};
use crate::tally::Tally;
use commands::Verb;
use victims::Victims;

/// What takes longer hangs. On a busy machine a command may be slow because of the others: it is then run again, alone;
/// and what the host took away from a virtual machine meanwhile is not counted.
const PATIENCE: Duration = Duration::from_secs(5);

/// What takes longer hangs, whatever the host took.
const LAST_PATIENCE: Duration = Duration::from_secs(40);

/// How the kernel counts the time of processors.
const TICKS_A_SECOND: u64 = 100;

/// What a command may take of memory.
const MAX_KB: u64 = 300 << 10;

/// How many sites are tried at once on each core: most of the time a command waits for a pipe or a server.
const WORKERS_A_CORE: usize = 2;

/// The user that the exercise becomes where it is root: `nobody`.
const NOBODY: u32 = 65_534;

/// Who runs the commands, and with which git.
#[derive(Clone, Debug)]
struct Runner {
    nacre: PathBuf,
    /// A user to become first.
    uid: Option<u32>,
    path: OsString,
    label: String,
    /// Only what starts git is run: the rest was run with another git already.
    only_git: bool,
    /// Everything is also run from elsewhere, through `--project`.
    by_flag: bool,
}

/// One place that a stranger made.
pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    /// Lines for the person's own settings, such as where a model is.
    pub(crate) home_config: String,
    /// Which commands are run in it.
    pub(crate) verbs: Verbs,
}

/// Which commands are run at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbs {
    All,
    /// Those that start git or read what lies in a `.git`.
    Git,
    /// Those that ask a model.
    Model,
    /// Those that read a trace.
    Trace,
}

pub(crate) fn run(nacre: &Path, is_quick: bool) -> Result<Tally, AnyError> {
    let mut tally = Tally::new("strangers");
    let dir = sandbox::scratch("strangers")?;
    let nacre = public_copy(nacre, dir.path())?;
    commands::check_table(&nacre, &mut tally)?;
    let runners = runners(&nacre, is_quick);
    let mut n_runs = 0;
    for runner in &runners {
        n_runs += exercise(runner, dir.path(), &mut tally)?;
    }
    let labels: Vec<&str> = runners.iter().map(|runner| runner.label.as_str()).collect();
    tally.end(&format!("{n_runs} commands as {}", labels.join("; ")));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

/// The program where another user can start it.
fn public_copy(nacre: &Path, dir: &Path) -> Result<PathBuf, AnyError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
    let copy = dir.join("nacre");
    fs::copy(nacre, &copy)?;
    Ok(copy)
}

/// This user with every git of the machine, and, for root, somebody without rights.
fn runners(nacre: &Path, is_quick: bool) -> Vec<Runner> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let mut runners = Vec::new();
    for (version, path) in gits() {
        let is_first = runners.is_empty();
        let runner = |uid: Option<u32>, who: &str| Runner {
            nacre: nacre.to_owned(),
            uid,
            path: path.clone(),
            label: format!("{who} with {version}"),
            only_git: is_quick && !is_first,
            by_flag: !is_quick || (is_first && uid.is_none()),
        };
        runners.push(runner(None, if is_root { "root" } else { "you" }));
        if is_root && (!is_quick || is_first) {
            runners.push(runner(Some(NOBODY), "nobody"));
        }
    }
    runners
}

/// The versions of git on this machine, each with a `PATH` that finds it first.
fn gits() -> Vec<(String, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut gits: Vec<(String, OsString)> = Vec::new();
    for folder in std::env::split_paths(&path) {
        let told = Command::new(folder.join("git")).arg("--version").output();
        let Ok(told) = told else { continue };
        let version = String::from_utf8_lossy(&told.stdout).trim().to_owned();
        if !version.is_empty() && gits.iter().all(|(known, _)| *known != version) {
            let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
            gits.push((version, std::env::join_paths(folders).unwrap_or_else(|_| path.clone())));
        }
    }
    gits
}

/// What the workers share.
struct Shared<'a> {
    /// How many commands were run, and what was found.
    tally: Mutex<(usize, &'a mut Tally)>,
    /// Held for writing by a command that has the machine to itself.
    alone: RwLock<()>,
}

/// Every site with every command that belongs there.
fn exercise(runner: &Runner, dir: &Path, tally: &mut Tally) -> Result<usize, AnyError> {
    let base = dir.join(runner.label.replace([' ', '.'], "-"));
    fs::create_dir_all(&base)?;
    let servers = servers::start()?;
    let mut makers = repositories::makers();
    makers.extend(memories::makers());
    makers.extend(servers::makers(&servers));
    makers.extend(traces::makers());
    let makers = Mutex::new(makers);
    let shared = Shared { tally: Mutex::new((0, tally)), alone: RwLock::default() };
    let n_workers = WORKERS_A_CORE * thread::available_parallelism().map_or(2, usize::from);
    let failed = thread::scope(|scope| {
        let worker = || {
            let next = || makers.lock().ok()?.pop();
            while let Some((name, make)) = next() {
                at_site(runner, &base.join(name), &|victims| make(name, victims), &shared)
                    .map_err(|error| format!("{name}: {error}"))?;
            }
            Ok::<(), String>(())
        };
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(worker)).collect();
        let ends = workers.into_iter().map(thread::ScopedJoinHandle::join);
        ends.filter_map(|end| end.unwrap_or_else(|_| Err("a thread panicked".to_owned())).err())
            .next()
    });
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(shared.tally.into_inner().map_or(0, |(n_runs, _)| n_runs)),
    }
}

/// Makes one site and runs every command that belongs there.
fn at_site(
    runner: &Runner,
    base: &Path,
    make: &dyn Fn(&Victims) -> Result<Site, AnyError>,
    shared: &Shared<'_>,
) -> Result<(), AnyError> {
    let victims = Victims::make(base, runner.uid)?;
    let site = make(&victims)?;
    victims.hand_over(&site)?;
    let is_due = |verb: &&Verb| {
        verb.belongs_to(site.verbs) && (!runner.only_git || verb.belongs_to(Verbs::Git))
    };
    for verb in commands::verbs().filter(is_due) {
        for by_flag in [false, true].into_iter().filter(|by_flag| !by_flag || runner.by_flag) {
            let at = At { runner, victims: &victims, site: &site, verb, by_flag };
            let broken = at.attempt(&shared.alone)?;
            let Ok(mut tally) = shared.tally.lock() else { continue };
            tally.0 += 1;
            broken.iter().for_each(|(kind, detail)| tally.1.bad_of(kind, detail));
        }
    }
    Ok(fs::remove_dir_all(base)?)
}

/// One command at one site.
struct At<'a> {
    runner: &'a Runner,
    victims: &'a Victims,
    site: &'a Site,
    verb: &'a Verb,
    by_flag: bool,
}

impl At<'_> {
    /// Runs the command, and once more with the machine to itself where it was slow.
    fn run(&self, alone: &RwLock<()>) -> Result<Outcome, AnyError> {
        let once = || watch(self.command(), &self.victims.output());
        let outcome = {
            let _beside = alone.read();
            once()?
        };
        if outcome.took <= PATIENCE {
            return Ok(outcome);
        }
        let _alone = alone.write();
        once()
    }

    /// Runs the command, and tells which promises it broke.
    fn attempt(&self, alone: &RwLock<()>) -> Result<Vec<(&'static str, String)>, AnyError> {
        let Self { runner, victims, site, verb, by_flag } = *self;
        let mut broken = Vec::new();
        let detail = format!(
            "{} at `{}`{} as {}",
            verb.args.join(" "),
            site.name,
            if by_flag { " by --project" } else { "" },
            runner.label
        );
        let before = victims.fingerprint(&site.root)?;
        let outcome = self.run(alone)?;
        if PATIENCE < outcome.took {
            broken.push(("a command hangs:", detail.clone()));
        }
        if MAX_KB < outcome.peak_kb {
            let used = format!("{detail}: {} MB", outcome.peak_kb >> 10);
            broken.push(("a command takes too much memory:", used));
        }
        let marks = victims.marks()?;
        if !marks.is_empty() {
            broken.push(("a program was started:", format!("{detail}: {}", marks.join(", "))));
            victims.clear_marks()?;
        }
        let after = victims.fingerprint(&site.root)?;
        if let Some(path) = victims::difference(&before, &after) {
            broken.push(("a byte changed:", format!("{detail}: {path}")));
        }
        let said = fs::read_to_string(victims.output()).unwrap_or_default();
        if let Some(word) = verb.forbidden(&said) {
            broken.push(("a stranger is heard:", format!("{detail}: {word}")));
        }
        if said.contains("panicked at") {
            broken.push(("a panic:", detail));
        }
        Ok(broken)
    }

    fn command(&self) -> Command {
        let Self { runner, victims, site, verb, by_flag } = *self;
        let mut command = Command::new(&runner.nacre);
        command.env_clear().env("PATH", &runner.path).env("LC_ALL", "C.UTF-8");
        command.env("HOME", victims.home()).env("NACRE_NOW", NOW).env("EDITOR", "true");
        command.env("NACRE_STRANGER_KEY", "key-of-the-person");
        if by_flag {
            command.current_dir(victims.home()).arg("--project").arg(&site.root);
        } else {
            command.current_dir(&site.root);
        }
        command.args(verb.args_at(victims));
        if let Some(uid) = runner.uid {
            command.uid(uid).gid(uid);
        }
        command
    }
}

/// What one run took.
struct Outcome {
    took: Duration,
    peak_kb: u64,
}

/// Runs a command to its end, or ends it.
fn watch(mut command: Command, output: &Path) -> Result<Outcome, AnyError> {
    let out = fs::File::create(output)?;
    command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
    let (started, stolen_before) = (Instant::now(), stolen());
    let took = || {
        let elapsed = started.elapsed();
        let own = elapsed.saturating_sub(stolen().saturating_sub(stolen_before));
        if LAST_PATIENCE < elapsed { elapsed } else { own }
    };
    let mut child = command.process_group(0).spawn()?;
    let mut peak_kb = 0;
    while child.try_wait()?.is_none() {
        if PATIENCE < started.elapsed() && PATIENCE < took() {
            end(&mut child)?;
            break;
        }
        peak_kb = peak_kb.max(peak_of(&child));
        thread::sleep(Duration::from_millis(2));
    }
    Ok(Outcome { took: took(), peak_kb })
}

/// The time that a host has taken from this virtual machine since it started, over all its processors. While a command
/// has the machine to itself, that is time in which it wanted to run.
fn stolen() -> Duration {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = text.lines().next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(8).find_map(|ticks| ticks.parse().ok()).unwrap_or_default();
    Duration::from_millis(ticks * 1000 / TICKS_A_SECOND)
}

fn end(child: &mut Child) -> Result<(), AnyError> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// The most memory that a program had so far; 0 where the system does not tell.
fn peak_of(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
