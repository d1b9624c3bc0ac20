//! Kills a maintenance run with SIGKILL at random times. A single uninterrupted run must then
//! produce the same tree as if nothing had been killed.
//!
//! Every round starts from the same store at the same path, so that trees can be compared byte for
//! byte.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nacre_memory::{Claim, Draft, Quote, Speaker, Trust};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox::{self, NOW};
use crate::torture::tally::Tally;
use crate::torture::tree::{self, Tree};

/// Clock time of the maintenance run, late enough for some memories to be archived.
const LATER: &str = "2028-01-01T00:00:00Z";

const TOPICS: &[(&str, &str)] = &[
    ("Install packages with pnpm", "npm writes a second lock file."),
    ("Keep the job queue in SQLite", "One file to back up, and no server."),
    ("Order events go through Kafka", "Consumers must be able to replay a day."),
    ("Write commit subjects in lower case", "The user corrected this twice."),
    ("The staging database is reset every Sunday", "Nothing from the previous week survives."),
    ("Releases are tagged by Mara", "CI has no key for it."),
];

pub(crate) fn run(
    nacre: &Path,
    seed: u64,
    n_kills: u64,
    n_memories: usize,
) -> Result<Tally, AnyError> {
    println!("maintain-kill9: {n_kills} kills over {n_memories} memories, seed {seed}");
    let dir = sandbox::memory_scratch("maintain-kill9")?;
    let mut tally = Tally::new("maintain-kill9");
    let mut rng = Rng::new(seed);
    let (fresh, root) = (dir.path().join("fresh"), dir.path().join("place"));
    fill(&fresh.join("repo"), n_memories, &mut rng)?;
    tree::copy(&fresh, &root)?;
    let began = Instant::now();
    must(nacre, &root)?;
    let usual = began.elapsed();
    let (untouched, expected) = (tree_of(&fresh)?, tree_of(&root)?);
    let (mut n, mut n_late) = (0, 0);
    while n < n_kills && tally.n_bad() <= 20 {
        fs::remove_dir_all(&root)?;
        tree::copy(&fresh, &root)?;
        let was_running = kill_one(nacre, &root, usual, &mut rng)?;
        n += u64::from(was_running);
        n_late += u64::from(!was_running);
        // The first access to the store completes or reverts an interrupted change.
        command(nacre, &root, &["status"]).output()?;
        let found = tree_of(&root)?;
        let is_whole = tree::difference(&untouched, &found).is_none()
            || tree::difference(&expected, &found).is_none();
        if !is_whole {
            tally.bad_of(
                "neither the old nor the new state:",
                &tree::difference(&expected, &found).unwrap_or_default(),
            );
        }
        must(nacre, &root)?;
        if let Some(difference) = tree::difference(&expected, &tree_of(&root)?) {
            tally.bad_of("the tree differs:", &difference);
        }
    }
    tally.end(&format!("{n} kills (and {n_late} that were too late), {} files", expected.len()));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

fn command(nacre: &Path, root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(nacre);
    command.args(args).current_dir(root.join("repo")).env_clear();
    command.env("HOME", root.join("home")).env("NACRE_NOW", LATER);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn must(nacre: &Path, root: &Path) -> Result<(), AnyError> {
    let output = command(nacre, root, &["maintain"]).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("nacre maintain: {}", String::from_utf8_lossy(&output.stderr)).into())
}

/// Starts a maintenance run and kills it. Returns whether it was still running.
fn kill_one(nacre: &Path, root: &Path, usual: Duration, rng: &mut Rng) -> Result<bool, AnyError> {
    let micros = u64::try_from(usual.as_micros()).unwrap_or(u64::MAX);
    let mut command = command(nacre, root, &["maintain"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    thread::sleep(Duration::from_micros(rng.below(micros.max(1))));
    let was_running = child.try_wait()?.is_none();
    child.kill()?;
    child.wait()?;
    Ok(was_running)
}

/// Returns memories, evidence and counters, but not derived data or durations.
fn tree_of(root: &Path) -> Result<Tree, AnyError> {
    let is_apart = |path: &str| {
        matches!(path.split('/').next(), Some("journal" | "index" | "workspace"))
            || path == "meta/maintain.json"
    };
    Ok(tree::read(&root.join("repo/.nacre"), is_apart)?)
}

fn fill(repo: &Path, n: usize, rng: &mut Rng) -> Result<(), AnyError> {
    fs::create_dir_all(repo)?;
    fs::create_dir_all(repo.join("../home"))?;
    let store = sandbox::open_store(repo)?;
    let mut batch = store.begin(&sandbox::owner("fill"), Duration::from_secs(60))?;
    let start: jiff::Timestamp = NOW.parse()?;
    for idx in 0..n {
        let (title, body) = TOPICS[idx % TOPICS.len()];
        let title = format!("{title} in area {}", idx / (2 * TOPICS.len()));
        let days = if rng.below(3) == 0 { 0 } else { 350 };
        let when = start + jiff::SignedDuration::from_hours(24 * days + i64::try_from(idx)?);
        let quote = Quote {
            text: format!("{title}. {body}"),
            speaker: Speaker::User,
            place: format!("sessions/one.jsonl:{idx}"),
            at: when.to_string(),
        };
        let draft = Draft {
            claim: Claim::Decision,
            title,
            body: body.to_owned(),
            tags: vec![format!("area-{idx}")],
            applies: Vec::new(),
            related: Vec::new(),
            source: "sync".to_owned(),
            confidence: 0.7,
            basis: None,
            importance: None,
            quotes: vec![quote],
            limit: Trust::Human,
        };
        batch.add(&draft, when)?;
    }
    batch.commit()?;
    Ok(())
}
