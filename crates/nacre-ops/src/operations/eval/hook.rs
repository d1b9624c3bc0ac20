//! Labelled prompts through what the prompt hook tells: how often it helps, and how often it is rightly silent.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_api::wire::{ErrorCode, EvalHookReport, EvalHookRequest, LatencyMillis, MissedPrompt};
use nacre_core::memory::{IndexPlace, Rules, Store};
use nacre_core::safefs::{Access, WriteScope};
use nacre_core::search::{Builtin, MemoryIndex, TokenCounter};
use nacre_engine::flows::brief::Source;
use nacre_engine::flows::prompted::{Prompt, prompted};
use serde::Deserialize;

use super::read;
use crate::error::OpError;
use crate::host::{Host, STORE_FOLDER};

/// The file of labels in a folder of a data set.
const PROMPTS: &str = "prompts.jsonl";

/// One line of it.
#[derive(Deserialize)]
struct LabelledPrompt {
    prompt: String,
    /// Ids of memories that fit; none where nothing should be told.
    want: Vec<String>,
}

/// What is counted over all prompts.
#[derive(Default)]
struct Tally {
    n_memories: usize,
    fitting: usize,
    helped: usize,
    misled: usize,
    other: usize,
    silent: usize,
    n_answers: usize,
    n_tokens: usize,
    told: usize,
    told_wanted: usize,
    times: Vec<Duration>,
    missed: Vec<MissedPrompt>,
}

pub fn hook(host: &Host, request: &EvalHookRequest) -> Result<EvalHookReport, OpError> {
    let budget = request.budget.unwrap_or(host.settings().hooks.prompt_tokens);
    let root = host.environment.absolute(Path::new(&request.dataset));
    let mut tally = Tally::default();
    for folder in folders(&root)? {
        measure(host, &folder, budget, &mut tally)?;
    }
    let Tally { fitting, helped, misled, other, silent, told, told_wanted, .. } = tally;
    Ok(EvalHookReport {
        dataset: request.dataset.clone(),
        memories: tally.n_memories,
        fitting,
        helped,
        misled,
        other,
        silent,
        mean_tokens: tally.n_tokens as f64 / tally.n_answers.max(1) as f64,
        told,
        told_wanted,
        latency_ms: latency(&mut tally.times),
        missed: tally.missed.into_iter().filter(|_| request.missed).collect(),
    })
}

/// The folder itself, or those in it that have prompts.
fn folders(root: &Path) -> Result<Vec<PathBuf>, OpError> {
    if root.join(PROMPTS).is_file() {
        return Ok(vec![root.to_owned()]);
    }
    let entries = std::fs::read_dir(root).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed(format!("Cannot read the data set `{}`", root.display()))
    })?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = paths.filter(|path| path.join(PROMPTS).is_file()).collect();
    found.sort();
    match found.is_empty() {
        true => Err(OpError::not_found(format!("There is no `{PROMPTS}` in `{}`", root.display()))),
        false => Ok(found),
    }
}

fn measure(host: &Host, folder: &Path, budget: usize, tally: &mut Tally) -> Result<(), OpError> {
    let scope = WriteScope::open_inside(folder, STORE_FOLDER, Access::Private)?;
    // Whose memories these are is not the question here.
    let rules = Rules { is_personal: true, index: IndexPlace::Nowhere, ..Rules::default() };
    let store = Store::new(scope, rules);
    let (model, counter) = (Builtin::shipped()?, TokenCounter::shipped()?);
    let index = MemoryIndex::peek(&store, &model, host.now())?;
    tally.n_memories += index.snapshot().n_records();
    let sources = [Source { store: &store, index: &index, scope: "global" }];
    let text = read(host, &folder.join(PROMPTS))?;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let labelled: LabelledPrompt = serde_json::from_str(line)
            .map_err(|error| OpError::from_error(ErrorCode::Invalid, &error, None))?;
        let took = host.stopwatch();
        let prompt = Prompt { text: &labelled.prompt, budget, is_told: &|_| false };
        let told = prompted(&sources, &prompt, &model, &counter)?;
        tally.times.push(took());
        let ids: Vec<String> = told.items.into_iter().map(|item| item.id).collect();
        tally.count(labelled, ids, told.tokens);
    }
    Ok(())
}

impl Tally {
    fn count(&mut self, labelled: LabelledPrompt, told: Vec<String>, n_tokens: usize) {
        let LabelledPrompt { prompt, want } = labelled;
        let n_wanted = told.iter().filter(|id| want.contains(id)).count();
        self.n_answers += usize::from(!told.is_empty());
        self.n_tokens += n_tokens;
        self.told += told.len();
        self.told_wanted += n_wanted;
        let is_right = match want.is_empty() {
            true => {
                self.other += 1;
                self.silent += usize::from(told.is_empty());
                told.is_empty()
            }
            false => {
                self.fitting += 1;
                self.helped += usize::from(n_wanted > 0);
                self.misled += usize::from(n_wanted == 0 && !told.is_empty());
                n_wanted > 0
            }
        };
        if !is_right {
            self.missed.push(MissedPrompt { prompt, want, told });
        }
    }
}

fn latency(times: &mut [Duration]) -> LatencyMillis {
    times.sort_unstable();
    let at = |share: usize| {
        let place = (times.len() * share / 100).min(times.len().saturating_sub(1));
        times.get(place).copied().unwrap_or_default().as_secs_f64() * 1000.0
    };
    LatencyMillis { p50: at(50), p95: at(95), p99: at(99) }
}
