//! Kills a server with SIGKILL while clients edit memories and review candidates.
//!
//! Afterwards, confirmed changes must be complete, unconfirmed changes must be either complete or
//! absent, and everything else must be unchanged.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use std::{fs, mem};

use nacre_memory::{Claim, Draft, Quote, Speaker, Trust};
use nacre_ops::service::{FoundService, ServerAddress};
use nacre_server::client::Client;
use nacre_types::{
    MemoryChangeReport, MemoryChangesReport, MemoryShowReport, ReviewDecideRequest, ReviewDecision,
    StatusReport,
};
use serde_json::json;

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox::{self, NOW, Place};
use crate::torture::tally::Tally;

const N_MEMORIES: usize = 6;
const N_CANDIDATES: usize = 12;

/// Maximum number of responses before the kill. `MAX_WAIT` is the maximum delay in microseconds.
const MAX_ANSWERS: u64 = 16;
const MAX_WAIT: u64 = 30_000;

pub(crate) fn run(nacre: &Path, seed: u64, n_kills: u64) -> Result<Tally, AnyError> {
    println!("serve-kill9: {n_kills} kills of a server, seed {seed}");
    let dir = sandbox::memory_scratch("serve-kill9")?;
    let mut tally = Tally::new("serve-kill9");
    let mut rng = Rng::new(seed);
    let (mut n_edits, mut n_decisions) = (0, 0);
    for round in 0..n_kills {
        if tally.n_bad() > 20 {
            break;
        }
        let place = Place::new(&dir.path().join(round.to_string()), nacre);
        let mut world = World::make(&place)?;
        world.work_until_killed(&place, &mut rng)?;
        n_edits += world.n_edits;
        n_decisions += world.n_decisions;
        world.check(&place, &mut tally)?;
        if tally.is_clean() {
            fs::remove_dir_all(place.root())?;
        }
    }
    tally.end(&format!("{n_kills} kills during {n_edits} edits and {n_decisions} decisions"));
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

/// Allowed states of a memory after a kill: the last confirmed state and, while a request is
/// pending, the requested state.
#[derive(Debug)]
struct Expected {
    known: State,
    asked: Option<State>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// The memory is active, and the last line of its body contains this number.
    Edited(u64),
    Candidate,
    Accepted,
    Gone,
}

struct World {
    memories: Vec<String>,
    candidates: Vec<String>,
    expected: BTreeMap<String, Expected>,
    n_edits: u64,
    n_decisions: u64,
}

impl World {
    fn make(place: &Place) -> Result<Self, AnyError> {
        place.make()?;
        place.must(&["init"])?;
        let store = sandbox::open_store(&place.repo())?;
        let mut batch = store.begin(&sandbox::owner("fill"), Duration::from_secs(60))?;
        let now = NOW.parse()?;
        let memories: Vec<String> = (0..N_MEMORIES)
            .map(|idx| batch.add(&draft("Memory", idx), now).map(|id| id.to_string()))
            .collect::<Result<_, _>>()?;
        let candidates: Vec<String> = (0..N_CANDIDATES)
            .map(|idx| batch.add_candidate(&draft("Candidate", idx), now).map(|id| id.to_string()))
            .collect::<Result<_, _>>()?;
        batch.commit()?;
        let known = |id: &String, known: State| (id.clone(), Expected { known, asked: None });
        let expected = memories.iter().map(|id| known(id, State::Edited(0)));
        let expected = expected.chain(candidates.iter().map(|id| known(id, State::Candidate)));
        let expected = expected.collect();
        Ok(Self { memories, candidates, expected, n_edits: 0, n_decisions: 0 })
    }

    fn work_until_killed(&mut self, place: &Place, rng: &mut Rng) -> Result<(), AnyError> {
        let (mut server, client) = start(place)?;
        let (wait, due) = (Duration::from_micros(rng.below(MAX_WAIT)), 1 + rng.below(MAX_ANSWERS));
        let (tell, told) = mpsc::channel();
        let killer = thread::spawn(move || {
            let _ = told.recv();
            thread::sleep(wait);
            let _ = server.kill();
            let _ = server.wait();
        });
        let mut left = mem::take(&mut self.candidates);
        for step in 1.. {
            if step == due {
                tell.send(())?;
            }
            let is_edit = left.is_empty() || rng.below(2) == 0;
            let is_answered = if is_edit {
                let id = self.memories[step as usize % N_MEMORIES].clone();
                self.edit(&client, &id, step)
            } else {
                let id = left.pop().unwrap_or_default();
                self.decide(&client, &id, rng.below(2) == 0)
            };
            if !is_answered {
                break;
            }
        }
        drop(tell);
        killer.join().map_err(|_| "the killer panicked")?;
        Ok(())
    }

    fn edit(&mut self, client: &Client, id: &str, number: u64) -> bool {
        let path = format!("/api/memories/{id}");
        let shown = client.get::<MemoryShowReport>(&path, &json!({ "text": true }));
        let Ok(shown) = shown else { return false };
        let before = shown.text.unwrap_or_default();
        let kept: Vec<&str> = before.lines().filter(|line| !line.starts_with(MARK)).collect();
        let text = format!("{}\n{MARK}{number}\n", kept.join("\n").trim_end());
        self.ask(id, State::Edited(number));
        let client = client.clone().at_version(shown.version);
        let written = client.ask::<MemoryChangeReport>("PUT", &path, &json!({ "text": text }));
        let is_answered = written.is_ok();
        self.n_edits += u64::from(is_answered);
        self.answer(id, is_answered)
    }

    fn decide(&mut self, client: &Client, id: &str, is_accepted: bool) -> bool {
        let (decision, state) = match is_accepted {
            true => (ReviewDecision::Accept, State::Accepted),
            false => (ReviewDecision::Reject, State::Gone),
        };
        let ids = vec![id.to_owned()];
        let request = ReviewDecideRequest { ids, decision, supersedes: None, scope: None };
        self.ask(id, state);
        let decided = client.post::<MemoryChangesReport>("/api/review", &request);
        let is_answered = decided.is_ok_and(|report| report.failed.is_empty());
        self.n_decisions += u64::from(is_answered);
        self.answer(id, is_answered)
    }

    fn ask(&mut self, id: &str, state: State) {
        if let Some(expected) = self.expected.get_mut(id) {
            expected.asked = Some(state);
        }
    }

    fn answer(&mut self, id: &str, is_answered: bool) -> bool {
        if let Some(expected) = self.expected.get_mut(id).filter(|_| is_answered) {
            expected.known = expected.asked.take().unwrap_or(State::Gone);
        }
        is_answered
    }

    fn check(&self, place: &Place, tally: &mut Tally) -> Result<(), AnyError> {
        let (mut server, client) = start(place)?;
        if let Err(error) = client.get::<StatusReport>("/api/status", &()) {
            tally.bad_of("the restarted server does not respond:", &error.to_string());
        }
        let _ = server.kill();
        server.wait()?;
        place.must(&["status"])?;
        for (id, expected) in &self.expected {
            let found = find_state(place, id)?;
            if found != expected.known && Some(&found) != expected.asked.as_ref() {
                tally.bad_of(
                    "a memory is not in the expected state:",
                    &format!("{expected:?} {found:?}"),
                );
            }
        }
        let stores = place.stores()?;
        for leftover in &stores.leftovers {
            tally.bad_of("left behind:", leftover);
        }
        let is_memory = |path: &&String| path.starts_with("memory/") && path.ends_with(".md");
        let n_found = stores.project.keys().filter(is_memory).count();
        if n_found > self.expected.len() {
            tally.bad_of("doubled:", &format!("{n_found} of {}", self.expected.len()));
        }
        for finding in sandbox::doctor(place)? {
            tally.bad_of("doctor:", &format!("{} {}", finding.path, finding.message));
        }
        Ok(())
    }
}

const MARK: &str = "Edit number ";

fn draft(kind: &str, idx: usize) -> Draft {
    const WORDS: [&str; 12] = [
        "queue", "lock", "index", "cache", "deploy", "schema", "retry", "token", "socket", "path",
        "clock", "merge",
    ];
    let title = format!("{kind} about the {}", WORDS[idx % WORDS.len()]);
    let quote = Quote {
        text: title.clone(),
        speaker: Speaker::User,
        place: format!("sessions/one.jsonl:{idx}"),
        at: NOW.to_owned(),
    };
    Draft {
        claim: Claim::Decision,
        body: format!("{title}.\n\n{MARK}0"),
        title,
        tags: Vec::new(),
        applies: Vec::new(),
        related: Vec::new(),
        source: "sync".to_owned(),
        confidence: 0.7,
        basis: None,
        importance: None,
        quotes: vec![quote],
        limit: Trust::Human,
    }
}

fn start(place: &Place) -> Result<(Child, Client), AnyError> {
    let mut command = place.command(place.nacre());
    command.args(["serve", "--port", "0", "--no-loops", "--json"]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut output = BufReader::new(server.stdout.take().ok_or("no output")?);
    let mut text = String::new();
    let report: serde_json::Value = loop {
        if output.read_line(&mut text)? == 0 {
            return Err(format!("the server exited: {text}").into());
        }
        if let Ok(report) = serde_json::from_str(&text) {
            break report;
        }
    };
    let address = report["address"].as_str().unwrap_or_default().to_owned();
    let token = fs::read_to_string(place.root().join("home/.nacre/run/token"))?;
    Ok((server, Client::new(FoundService { address, door: ServerAddress::Port { token } })))
}

fn find_state(place: &Place, id: &str) -> Result<State, AnyError> {
    let stores = place.stores()?;
    let name = format!("/{id}.md");
    let file =
        stores.project.keys().find(|path| path.starts_with("memory/") && path.ends_with(&name));
    let Some(path) = file else { return Ok(State::Gone) };
    let text = fs::read_to_string(place.file(path))?;
    let edit = text.lines().rev().find_map(|line| line.strip_prefix(MARK)?.parse().ok());
    let is_candidate = text.lines().any(|line| line == "status: candidate");
    Ok(match (edit, is_candidate, id.contains("candidate-about")) {
        (_, true, _) => State::Candidate,
        (_, false, true) => State::Accepted,
        (Some(number), false, false) => State::Edited(number),
        (None, false, false) => State::Gone,
    })
}
