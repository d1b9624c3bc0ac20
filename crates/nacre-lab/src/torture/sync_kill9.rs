//! Sends SIGKILL at random times to a sync that creates memories. A single uninterrupted sync must
//! then produce the same tree as if nothing had been killed.
//!
//! Every round starts from the same state at the same path, so that trees can be compared byte for
//! byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox;
use crate::torture::tally::Tally;
use crate::torture::traces::{Reader, header};
use crate::torture::tree::{self, Tree};

/// Maximum number of kills per round. After more kills, the queue would give up on the running job.
const MAX_KILLS_A_ROUND: u64 = 8;

/// User messages: new claims, repetitions, additions and contradictions.
const SAID: &[&str] = &[
    "no, always use pnpm here, never npm: npm writes a second lock file",
    "No, use pnpm, never npm. npm makes a second lock file.",
    "From now on use npm, do not use pnpm any more: pnpm broke the docker build.",
    "Remember that the staging database is reset every Sunday.",
    "Remember that the staging database is reset every Sunday at 03:00 UTC from a dump of production.",
    "Remember: the deploy script needs AWS_PROFILE=prod.",
    "Please always run the formatter before you show me a diff.",
    "No, don't mock the database in service tests; a mocked query passed while the real one failed.",
    "We decided to keep the queue in SQLite because it is one file to back up.",
    "Remember that releases are tagged by Mara, never by CI.",
    "Always write commit subjects in lower case.",
    "Thanks, that looks good.",
];

pub(crate) fn run(
    nacre: &Path,
    seed: u64,
    n_kills: u64,
    n_traces: usize,
) -> Result<Tally, AnyError> {
    println!("sync-kill9: {n_kills} kills over {n_traces} traces, seed {seed}");
    let dir = sandbox::memory_scratch("sync-kill9")?;
    let mut tally = Tally::new("sync-kill9");
    let mut rng = Rng::new(seed);
    let started = Instant::now();
    let (folder, root) = (dir.path().join("traces"), dir.path().join("place"));
    fill(&folder, &root.join("repo"), n_traces, &mut rng)?;
    let calm = Reader::new(&root, nacre, &folder)?;
    let began = Instant::now();
    calm.must(&["sync"])?;
    let usual = began.elapsed();
    let expected = tree_of(&calm)?;
    // The key marks memories as the user's own, so all home directories need the same key.
    let journal = root.join("home/.nacre/journal");
    let key = fs::read(journal.join("key"))?;
    let (mut n, mut n_rounds, mut n_late) = (0, 0, 0);
    while n < n_kills && tally.n_bad() <= 20 {
        fs::remove_dir_all(&root)?;
        let reader = Reader::new(&root, nacre, &folder)?;
        put_key(&journal, &key)?;
        n_rounds += 1;
        for _ in 0..=rng.below(MAX_KILLS_A_ROUND) {
            let was_running = kill_one(&reader, usual, &mut rng)?;
            n += u64::from(was_running);
            n_late += u64::from(!was_running);
            if !was_running {
                break;
            }
        }
        check(&reader, &expected, &mut tally)?;
    }
    tally.end(&format!(
        "{n} kills (and {n_late} that were too late) in {n_rounds} rounds, {} files each, {:.0} s",
        expected.len(),
        started.elapsed().as_secs_f64()
    ));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

fn put_key(journal: &Path, key: &[u8]) -> Result<(), AnyError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::create_dir_all(journal)?;
    let file = journal.join("key");
    fs::write(&file, key)?;
    Ok(fs::set_permissions(file, fs::Permissions::from_mode(0o600))?)
}

/// Starts a sync and kills it. Returns whether it was still running.
fn kill_one(reader: &Reader, usual: Duration, rng: &mut Rng) -> Result<bool, AnyError> {
    let micros = u64::try_from(usual.as_micros()).unwrap_or(u64::MAX);
    let mut command = reader.command(&["sync"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    thread::sleep(Duration::from_micros(rng.below(micros.max(1))));
    let was_running = child.try_wait()?.is_none();
    child.kill()?;
    child.wait()?;
    Ok(was_running)
}

fn check(reader: &Reader, expected: &Tree, tally: &mut Tally) -> Result<(), AnyError> {
    let output = reader.run(&["sync"])?;
    if !output.status.success() {
        tally.bad_of("the uninterrupted sync failed:", &String::from_utf8_lossy(&output.stderr));
    }
    if let Some(difference) = tree::difference(expected, &tree_of(reader)?) {
        tally.bad_of("the tree differs:", &difference);
    }
    let queue = reader.json(&["queue", "-n", "0"])?;
    let jobs = queue["jobs"].as_array().cloned().unwrap_or_default();
    if let Some(job) = jobs.iter().find(|job| job["state"] != "done") {
        tally.bad_of("an unfinished job:", &job.to_string());
    }
    let doctor = reader.json(&["doctor", "--evidence"])?;
    if doctor["errors"] != 0 {
        tally.bad_of("doctor found problems:", &doctor["stores"].to_string());
    }
    Ok(())
}

/// Returns everything that a sync writes, except derived data and durations.
fn tree_of(reader: &Reader) -> Result<Tree, AnyError> {
    let is_apart = |path: &str| {
        matches!(path.split('/').next(), Some("journal" | "index"))
            || path.ends_with("/metrics.json")
    };
    let mut tree = tree::read(&reader.place.repo().join(".nacre"), is_apart)?;
    let notes = tree.iter_mut().filter(|(path, _)| path.ends_with("/change.json"));
    for (_, note) in notes {
        *note = without_process(note)?;
    }
    Ok(tree)
}

/// Removes the process ID from a change record, because another process may complete a killed
/// sync's change.
fn without_process(note: &[u8]) -> Result<Vec<u8>, AnyError> {
    let mut fields: BTreeMap<String, Value> = serde_json::from_slice(note)?;
    for key in ["change", "mark"] {
        fields.remove(key).ok_or_else(|| format!("a change record without `{key}`"))?;
    }
    Ok(serde_json::to_vec(&fields)?)
}

fn fill(folder: &Path, cwd: &Path, n: usize, rng: &mut Rng) -> Result<(), AnyError> {
    fs::create_dir_all(folder)?;
    let start = jiff::Timestamp::from_second(1_700_000_000)?;
    for idx in 0..n {
        let id = format!("talk-{idx:04}");
        let mut text = header(&id, cwd);
        let mut said = vec![format!("Please look at part {idx} of the server")];
        said.extend((0..=rng.below(3)).map(|_| (*rng.pick(SAID)).to_owned()));
        for (turn, words) in said.iter().enumerate() {
            let at = start + jiff::SignedDuration::from_secs((idx * 86_400 + turn * 60) as i64);
            text.push_str(&format!("{}\n", json!({ "type": "user", "text": words, "time": at })));
            let answer = format!("I changed it in step {turn} with npm install.");
            text.push_str(&format!(
                "{}\n",
                json!({ "type": "assistant", "text": answer, "time": at })
            ));
        }
        fs::write(folder.join(format!("{id}.jsonl")), text)?;
    }
    Ok(())
}
