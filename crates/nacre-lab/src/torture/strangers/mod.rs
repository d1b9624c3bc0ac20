//! Runs every command in hostile repositories, directories and stores, from inside them and with
//! `--project`.
//!
//! No command may start a program, change a byte outside its own directories, hang, use too much
//! memory, or print untrusted text in a briefing.

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
use crate::torture::sandbox::{self, NOW};
use crate::torture::tally::Tally;
use commands::Verb;
use victims::Victims;

/// Time after which a command is considered hung. On a busy machine, the command is first rerun
/// alone, and CPU time taken by the hypervisor is subtracted.
const PATIENCE: Duration = Duration::from_secs(5);

/// Hard limit, which includes time taken by the hypervisor.
const LAST_PATIENCE: Duration = Duration::from_secs(40);

const TICKS_A_SECOND: u64 = 100;

const MAX_KB: u64 = 300 << 10;

/// Number of sites per core that are tested concurrently. Commands spend most of their time waiting
/// for pipes and servers.
const WORKERS_A_CORE: usize = 2;

/// User ID of `nobody`, which runs the commands if the exercise is started as root.
const NOBODY: u32 = 65_534;

#[derive(Clone, Debug)]
struct Runner {
    nacre: PathBuf,
    uid: Option<u32>,
    path: OsString,
    label: String,
    /// Whether to run only the commands that use git, because the others do not depend on its
    /// version.
    only_git: bool,
    /// Whether to also run every command from another directory with `--project`.
    by_flag: bool,
}

pub(crate) struct Site {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    /// Lines to add to the user's own settings, such as a model's address.
    pub(crate) home_config: String,
    pub(crate) verbs: Verbs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbs {
    All,
    Git,
    Model,
    Trace,
}

pub(crate) fn run(nacre: &Path, is_quick: bool) -> Result<Tally, AnyError> {
    let mut tally = Tally::new("strangers");
    let dir = sandbox::scratch("strangers")?;
    let nacre = public_copy(nacre, dir.path())?;
    commands::check_table(&mut tally);
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

fn public_copy(nacre: &Path, dir: &Path) -> Result<PathBuf, AnyError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755))?;
    let copy = dir.join("nacre");
    fs::copy(nacre, &copy)?;
    Ok(copy)
}

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

/// Returns each installed version of git, with a `PATH` that puts it first.
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

struct Shared<'a> {
    tally: Mutex<(usize, &'a mut Tally)>,
    /// Lock for commands that must run alone. These commands take the write lock.
    alone: RwLock<()>,
}

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

struct At<'a> {
    runner: &'a Runner,
    victims: &'a Victims,
    site: &'a Site,
    verb: &'a Verb,
    by_flag: bool,
}

impl At<'_> {
    fn run(&self, alone: &RwLock<()>) -> Result<Outcome, AnyError> {
        let once = || watch(self.command(), &self.victims.output(), self.verb.stop_after());
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
            broken.push(("a command uses too much memory:", used));
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
        if let Some(word) = verb.find_forbidden(&said) {
            broken.push(("untrusted text was printed:", format!("{detail}: {word}")));
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

struct Outcome {
    took: Duration,
    peak_kb: u64,
}

fn watch(
    mut command: Command,
    output: &Path,
    stop_after: Option<Duration>,
) -> Result<Outcome, AnyError> {
    let out = fs::File::create(output)?;
    command.stdin(Stdio::null()).stderr(out.try_clone()?).stdout(out);
    let (started, stolen_before) = (Instant::now(), read_stolen_time());
    let took = || {
        let elapsed = started.elapsed();
        let own = elapsed.saturating_sub(read_stolen_time().saturating_sub(stolen_before));
        if LAST_PATIENCE < elapsed { elapsed } else { own }
    };
    let mut child = command.process_group(0).spawn()?;
    let mut peak_kb = 0;
    while child.try_wait()?.is_none() {
        if stop_after.is_some_and(|limit| limit < started.elapsed()) {
            end(&mut child)?;
            return Ok(Outcome { took: Duration::ZERO, peak_kb });
        }
        if PATIENCE < started.elapsed() && PATIENCE < took() {
            end(&mut child)?;
            break;
        }
        peak_kb = peak_kb.max(peak_of(&child));
        thread::sleep(Duration::from_millis(2));
    }
    Ok(Outcome { took: took(), peak_kb })
}

/// Returns the total CPU time that the hypervisor took from this virtual machine. If only one
/// command is running, all of that time is taken from it.
fn read_stolen_time() -> Duration {
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

/// Returns the peak memory of a process so far, or 0 if the system does not report it.
fn peak_of(child: &Child) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
