//! Runs a real command once for each of its mutating system calls, and either kills it before that
//! call or makes the call fail.
//!
//! An uninterrupted run first lists the calls, because `strace` selects a call by its name and its
//! position among calls with that name. Only the command's process is traced, not its editor.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Instant;

use clap::Args;

use crate::AnyError;
use crate::torture::sandbox::{self, Place, Stores};
use crate::torture::scenarios::{Kind, SCENARIOS, Scenario, TYPED, TYPED_MARK, store};
use crate::torture::tally::Tally;
use crate::torture::tree;

/// Every system call that can modify the disk. `openat2` counts only with certain flags.
const CALLS: &str = "mkdir,mkdirat,write,pwrite64,writev,fsync,fdatasync,ftruncate,fallocate,chmod,\
    fchmod,fchmodat,rename,renameat,renameat2,link,linkat,symlinkat,unlink,unlinkat,rmdir,openat2";

#[derive(Clone, Debug, Args)]
pub(crate) struct SweepArgs {
    /// Kill before each call
    #[arg(long)]
    kill: bool,
    /// Make each call fail with each of these errors
    #[arg(long, value_delimiter = ',', value_name = "ERRNO,…")]
    errno: Vec<String>,
    /// For each of these errors, make each call and all later calls with the same name fail, as if
    /// the disk stayed full
    #[arg(long, value_delimiter = ',', value_name = "ERRNO,…")]
    stuck: Vec<String>,
    /// Run only these scenarios
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    scenario: Vec<String>,
}

impl SweepArgs {
    pub(crate) fn quick() -> Self {
        let scenario = ["add", "forget"].map(str::to_owned).to_vec();
        Self { kill: true, errno: Vec::new(), stuck: Vec::new(), scenario }
    }

    pub(crate) fn full() -> Self {
        let errno = ["ENOSPC", "EIO", "EROFS"].map(str::to_owned).to_vec();
        let stuck = vec!["ENOSPC".to_owned()];
        Self { kill: true, errno, stuck, scenario: Vec::new() }
    }

    fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.kill {
            faults.push(Fault::Kill);
        }
        faults.extend(self.errno.iter().cloned().map(Fault::Errno));
        faults.extend(self.stuck.iter().cloned().map(Fault::Stuck));
        faults
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Fault {
    Kill,
    Errno(String),
    Stuck(String),
}

impl Fault {
    fn spec(&self, call: &Call) -> String {
        let (name, k) = (&call.name, call.k);
        match self {
            Self::Kill => format!("inject={name}:signal=KILL:when={k}"),
            Self::Errno(errno) => format!("inject={name}:error={errno}:when={k}"),
            Self::Stuck(errno) => format!("inject={name}:error={errno}:when={k}+"),
        }
    }

    /// Returns whether the fault applies to the call. Read-only calls are never killed, and a full
    /// disk does not cause them to fail.
    fn applies_to(&self, call: &Call) -> bool {
        call.is_mutation || *self == Self::Errno("EIO".to_owned())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// Position of this call among the calls with the same name, starting at 1.
    pub(crate) k: usize,
    is_mutation: bool,
    pub(crate) line: String,
}

pub(crate) fn is_possible() -> bool {
    let probe = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    probe.is_ok_and(|output| output.status.success())
}

pub(crate) fn run(nacre: &Path, args: &SweepArgs) -> Result<Tally, AnyError> {
    if !is_possible() {
        return Err("strace is not installed or not permitted to trace".into());
    }
    let args = if args.faults().is_empty() {
        SweepArgs { scenario: args.scenario.clone(), ..SweepArgs::full() }
    } else {
        args.clone()
    };
    let mut tally = Tally::new("sweep");
    let mut total = Counts::default();
    let started = Instant::now();
    for scenario in SCENARIOS {
        if args.scenario.is_empty() || args.scenario.iter().any(|name| name == scenario.name) {
            let dir = sandbox::memory_scratch("sweep")?;
            let mut sweep = Sweep::prepare(dir.path(), nacre, scenario)?;
            for fault in args.faults() {
                sweep.sweep(&fault, &mut tally, &mut total)?;
            }
        }
    }
    tally.end(&format!("{total} in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(tally)
}

#[derive(Clone, Debug, Default)]
struct Counts {
    points: u64,
    forward: u64,
    back: u64,
    between: u64,
    failed_though_done: u64,
    unreached: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { points, forward, back, between, failed_though_done, unreached } = self;
        write!(
            f,
            "{points} points, {forward} forward, {back} back, {between} between two sets, \
             {failed_though_done} completed but reported as failed, {unreached} not reached"
        )
    }
}

struct Sweep<'a> {
    scenario: &'a Scenario,
    place: Place,
    work: std::path::PathBuf,
    template: std::path::PathBuf,
    before: Stores,
    after: Stores,
    /// State before the interrupted change, if the scenario starts with one.
    origin: Option<Stores>,
    calls: Vec<Call>,
}

/// State of the stores after a run with a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Forward,
    Back,
    Between,
}

impl<'a> Sweep<'a> {
    fn prepare(dir: &Path, nacre: &Path, scenario: &'a Scenario) -> Result<Self, AnyError> {
        let (work, template) = (dir.join("work"), dir.join("template"));
        let place = Place::new(&work, nacre);
        let origin = if scenario.kind == Kind::Recovery {
            store(&place)?;
            let stores = place.stores()?;
            fs::remove_dir_all(&work)?;
            Some(stores)
        } else {
            None
        };
        (scenario.prepare)(&place)?;
        // The settings contain the directory's path, so every run must use the same path.
        fs::rename(&work, &template)?;
        let empty =
            Stores { project: tree::Tree::new(), home: tree::Tree::new(), leftovers: vec![] };
        let mut sweep = Self {
            scenario,
            place,
            work,
            template,
            before: empty.clone(),
            after: empty,
            origin,
            calls: Vec::new(),
        };
        sweep.fresh()?;
        let _ = sandbox::doctor(&sweep.place);
        sweep.before = sweep.place.stores()?;
        sweep.fresh()?;
        let output = sweep.place.run(scenario.args)?;
        if output.status.code() != Some(scenario.exit) {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: ended with {}: {stderr}", scenario.name, output.status).into());
        }
        let _ = sandbox::doctor(&sweep.place);
        sweep.after = sweep.place.stores()?;
        sweep.fresh()?;
        sweep.calls = calls_of(&strace(&sweep.place, &[], scenario.args)?.log);
        Ok(sweep)
    }

    fn fresh(&self) -> Result<(), AnyError> {
        let _ = fs::remove_dir_all(&self.work);
        Ok(tree::copy(&self.template, &self.work)?)
    }

    fn sweep(
        &mut self,
        fault: &Fault,
        tally: &mut Tally,
        total: &mut Counts,
    ) -> Result<(), AnyError> {
        let mut counts = Counts::default();
        let n_bad = tally.n_bad();
        for call in self.calls.iter().filter(|call| fault.applies_to(call)) {
            self.fresh()?;
            let run = strace(&self.place, &[fault.spec(call)], self.scenario.args)?;
            if !run.was_hit() {
                counts.unreached += 1;
                continue;
            }
            counts.points += 1;
            match self.judge(&run, fault) {
                Ok(side) => {
                    counts.add(side);
                    counts.failed_though_done += u64::from(
                        side == Side::Forward
                            && run.status.code() == Some(1)
                            && self.scenario.exit == 0,
                    );
                }
                Err(what) => {
                    let line: String = call.line.chars().take(120).collect();
                    let detail = format!("({} {} at {line})", self.scenario.name, fault.spec(call));
                    tally.bad_of(&what, &detail);
                }
            }
        }
        let n_bad = tally.n_bad() - n_bad;
        println!("sweep: {:<16} {fault:?}: {counts}, {n_bad} bad", self.scenario.name);
        total.merge(&counts);
        Ok(())
    }

    fn judge(&self, run: &Traced, fault: &Fault) -> Result<Side, String> {
        if *fault != Fault::Kill {
            run.check_manners()?;
        }
        let findings = match (sandbox::doctor(&self.place), self.scenario.kind) {
            (Err(_), Kind::Init) => Vec::new(),
            (findings, _) => findings?,
        };
        let stores = self.place.stores().map_err(|error| error.to_string())?;
        let side = self.side_of(&stores)?;
        if let Some(finding) = findings.first() {
            return Err(format!("doctor finds {}: {}", finding.path, finding.message));
        }
        // The next change removes any partially written ledger entry, so only the second run checks
        // for one.
        let mut leftovers = stores.leftovers.iter().filter(|path| !path.starts_with("trust/"));
        if let Some(leftover) = leftovers.next() {
            return Err(format!("leftover {leftover} ({side:?})"));
        }
        match (run.status.code(), self.scenario.exit) {
            (Some(0), 0) if side != Side::Forward => {
                return Err(format!("exit status 0, but the change is {side:?}"));
            }
            (Some(0), 1) => return Err("exit status 0 despite the conflict".to_owned()),
            (Some(1), 0) if side == Side::Forward && run.denies() && self.changes() => {
                return Err("the change was made but reported as not made".to_owned());
            }
            _ => {}
        }
        match self.scenario.kind {
            Kind::OneSet | Kind::Recovery => Ok(side),
            Kind::Editor => self.check_typed().map(|()| side),
            Kind::Init => self.check_second_run().map(|()| side),
        }
    }

    fn changes(&self) -> bool {
        (&self.before.project, &self.before.home) != (&self.after.project, &self.after.home)
    }

    fn side_of(&self, stores: &Stores) -> Result<Side, String> {
        let at = |now: &tree::Tree, before: &tree::Tree, after: &tree::Tree| match (
            tree::difference(before, now),
            tree::difference(after, now),
        ) {
            (_, None) => Ok(Side::Forward),
            (None, Some(_)) => Ok(Side::Back),
            (Some(from_before), Some(from_after)) => Err(format!(
                "matches neither the state before ({from_before}) nor after \
                 ({from_after})"
            )),
        };
        let is_taken_back = self
            .origin
            .as_ref()
            .is_some_and(|origin| tree::difference(&origin.project, &stores.project).is_none());
        if is_taken_back && tree::difference(&self.before.project, &stores.project).is_some() {
            return Ok(Side::Back);
        }
        let project = at(&stores.project, &self.before.project, &self.after.project)?;
        let home = at(&stores.home, &self.before.home, &self.after.home)?;
        let changes_home = self.before.home != self.after.home;
        let changes_project = self.before.project != self.after.project;
        match (changes_project, changes_home) {
            (_, false) => Ok(project),
            (false, true) => Ok(home),
            (true, true) if project == home => Ok(project),
            (true, true) => Ok(Side::Between),
        }
    }

    fn check_typed(&self) -> Result<(), String> {
        if !self.work.join(TYPED_MARK).exists() {
            return Ok(());
        }
        let drafts = fs::read_dir(self.place.root().join("home/.nacre/drafts"));
        let drafts = drafts.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut places =
            std::iter::once(self.place.file("memory/decisions/20261115-alpha.md")).chain(drafts);
        let is_kept =
            places.any(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(TYPED)));
        if is_kept { Ok(()) } else { Err("the typed text is lost".to_owned()) }
    }

    fn check_second_run(&self) -> Result<(), String> {
        self.place.must(self.scenario.args).map_err(|error| error.to_string())?;
        let stores = self.place.stores().map_err(|error| error.to_string())?;
        let side = self.side_of(&stores)?;
        if side == Side::Forward && stores.leftovers.is_empty() {
            return Ok(());
        }
        Err(format!("a second run results in {side:?} {:?}", stores.leftovers))
    }
}

impl Counts {
    fn add(&mut self, side: Side) {
        match side {
            Side::Forward => self.forward += 1,
            Side::Back => self.back += 1,
            Side::Between => self.between += 1,
        }
    }

    fn merge(&mut self, other: &Self) {
        self.points += other.points;
        self.forward += other.forward;
        self.back += other.back;
        self.between += other.between;
        self.failed_though_done += other.failed_though_done;
        self.unreached += other.unreached;
    }
}

pub(crate) struct Traced {
    status: ExitStatus,
    stderr: String,
    stdout: String,
    pub(crate) log: String,
}

impl Traced {
    fn was_hit(&self) -> bool {
        self.status.signal() == Some(9)
            || self.status.code() == Some(137)
            || self.log.contains("(INJECTED)")
    }

    fn denies(&self) -> bool {
        self.stderr.to_lowercase().contains("nothing was changed")
    }

    /// A failing disk must cause one clear error and no panic.
    fn check_manners(&self) -> Result<(), String> {
        let is_panic = self.stderr.contains("panicked")
            || self.status.signal().is_some()
            || matches!(self.status.code(), Some(101 | 134));
        if is_panic {
            return Err(format!("panic: {}, {}", self.status, self.stderr.trim()));
        }
        let is_silent = self.stderr.trim().is_empty() && self.stdout.trim().is_empty();
        let cannot_talk =
            self.log.lines().any(|line| line.starts_with("write(") && line.contains("(INJECTED)"));
        if !self.status.success() && is_silent && !cannot_talk {
            return Err(format!("{} without a word", self.status));
        }
        Ok(())
    }
}

pub(crate) fn strace(
    place: &Place,
    injections: &[String],
    args: &[&str],
) -> Result<Traced, AnyError> {
    let log = place.repo().with_file_name("strace.log");
    let mut command = place.command(Path::new("strace"));
    command.args(["-qq", "-e", &format!("trace={CALLS}"), "-e", "signal=none", "-o"]).arg(&log);
    for injection in injections {
        command.args(["-e", injection]);
    }
    let output = command.arg("--").arg(place.nacre()).args(args).output()?;
    Ok(Traced {
        status: output.status,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        log: fs::read_to_string(&log).unwrap_or_default(),
    })
}

pub(crate) fn calls_of(log: &str) -> Vec<Call> {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((name, _)) = line.split_once('(') else { continue };
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            continue;
        }
        let k = seen.entry(name.to_owned()).or_default();
        *k += 1;
        calls.push(Call {
            name: name.to_owned(),
            k: *k,
            is_mutation: name != "openat2" || line.contains("O_CREAT"),
            line: line.to_owned(),
        });
    }
    calls
}
