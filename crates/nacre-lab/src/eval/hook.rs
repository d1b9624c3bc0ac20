//! Measures the prompt hook on labelled prompts: how often it returns a useful memory, and how
//! often it correctly returns nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;
use nacre_base::fs::{Access, WriteScope};
use nacre_memory::recall::{Occasion, Prompt, Source, match_prompt};
use nacre_memory::search::MemoryIndex;
use nacre_memory::{IndexPlace, Rules, Store};
use nacre_ops::host::STORE_FOLDER;
use serde::{Deserialize, Serialize};

use crate::output::{self, Latency, row};
use crate::{AnyError, Outcome, host};

const PROMPTS: &str = "prompts.jsonl";

const MAX_SHOWN: usize = 100;

/// Count correct outputs of the prompt hook on labelled prompts
///
/// The data set is a directory with `.nacre/memory/` and `prompts.jsonl`, or a directory of such
/// directories. Each line is {"prompt": "…", "want": ["ID"]}. The list is empty if the hook should
/// return no memories. Nothing is written.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Directory of the data set
    #[arg(long, value_name = "FOLDER")]
    dataset: PathBuf,
    /// Maximum tokens per prompt [default: hooks.prompt_tokens]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// List the prompts with incorrect output
    #[arg(long)]
    missed: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct LabelledPrompt {
    prompt: String,
    /// Earlier messages in the session.
    #[serde(default)]
    past: Vec<String>,
    /// Whether it is the first prompt of its session.
    #[serde(default)]
    first: bool,
    /// IDs of the expected memories. Empty if the hook should return nothing.
    want: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct HookReport {
    memories: usize,
    /// Number of prompts with a matching memory. The hook returned that memory for `helped` of
    /// these prompts, and only other memories for `misled` of them.
    fitting: usize,
    helped: usize,
    misled: usize,
    /// Number of prompts without a matching memory. The hook returned nothing for `silent` of them.
    other: usize,
    silent: usize,
    /// Number of memories returned, of which `told_wanted` were expected.
    told: usize,
    told_wanted: usize,
    /// Mean number of tokens, over the prompts for which the hook returned a memory.
    mean_tokens: f64,
    latency_ms: Latency,
    missed: Vec<MissedPrompt>,
    #[serde(skip)]
    n_answers: usize,
    #[serde(skip)]
    n_tokens: usize,
    #[serde(skip)]
    times: Vec<Duration>,
}

#[derive(Debug, Serialize)]
struct MissedPrompt {
    prompt: String,
    want: Vec<String>,
    told: Vec<String>,
}

pub(super) fn run(args: &HookArgs) -> Outcome {
    let budget = match args.budget {
        Some(budget) => budget,
        None => host::open().map_err(host::format_error)?.settings().hooks.prompt_tokens,
    };
    let mut report = HookReport::default();
    for folder in folders(&args.dataset.canonicalize()?)? {
        measure(&folder, budget, &mut report)?;
    }
    report.mean_tokens = report.n_tokens as f64 / report.n_answers.max(1) as f64;
    report.latency_ms = Latency::of(std::mem::take(&mut report.times));
    report.missed.retain(|_| args.missed);
    if args.json {
        output::json(&report)?;
    } else {
        print(&report);
    }
    Ok(true)
}

/// Returns the directory itself, or its subdirectories that contain prompts.
fn folders(root: &Path) -> Result<Vec<PathBuf>, AnyError> {
    if root.join(PROMPTS).is_file() {
        return Ok(vec![root.to_owned()]);
    }
    let paths = std::fs::read_dir(root)?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = paths.filter(|path| path.join(PROMPTS).is_file()).collect();
    found.sort();
    if found.is_empty() {
        return Err(format!("`{PROMPTS}` not found in `{}`", root.display()).into());
    }
    Ok(found)
}

fn measure(folder: &Path, budget: usize, report: &mut HookReport) -> Result<(), AnyError> {
    let scope = WriteScope::open_inside(folder, STORE_FOLDER, Access::Private)?;
    // All memories are treated as the user's own, because their origin does not matter here.
    let rules = Rules { is_personal: true, index: IndexPlace::Nowhere, ..Rules::default() };
    let store = Store::new(scope, rules);
    let index = MemoryIndex::peek(&store, Timestamp::now())?;
    report.memories += index.n_records();
    let sources = [Source { index: &index, scope: nacre_types::StoreScope::Global }];
    let text = std::fs::read_to_string(folder.join(PROMPTS))?;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let labelled: LabelledPrompt = serde_json::from_str(line)?;
        let begun = Instant::now();
        let LabelledPrompt { prompt: text, past, first, .. } = &labelled;
        let occasion = if *first { Occasion::FirstPrompt } else { Occasion::Prompt };
        let prompt = Prompt { text, past, budget, is_told: &|_| false, occasion };
        let told = match_prompt(&sources, &prompt);
        report.times.push(begun.elapsed());
        let ids = told.items.into_iter().map(|item| item.id).chain(told.twins).collect();
        report.count(labelled, ids, told.tokens);
    }
    Ok(())
}

impl HookReport {
    fn count(&mut self, labelled: LabelledPrompt, told: Vec<String>, n_tokens: usize) {
        let LabelledPrompt { prompt, want, .. } = labelled;
        let n_wanted = told.iter().filter(|id| want.contains(id)).count();
        self.n_answers += usize::from(!told.is_empty());
        self.n_tokens += n_tokens;
        self.told += told.len();
        self.told_wanted += n_wanted;
        let is_right = if want.is_empty() {
            self.other += 1;
            self.silent += usize::from(told.is_empty());
            told.is_empty()
        } else {
            self.fitting += 1;
            self.helped += usize::from(n_wanted > 0);
            self.misled += usize::from(n_wanted == 0 && !told.is_empty());
            n_wanted > 0
        };
        if !is_right {
            self.missed.push(MissedPrompt { prompt, want, told });
        }
    }
}

fn print(report: &HookReport) {
    let share = |part: usize, of: usize| {
        format!("{part} of {of} ({:.1} %)", 100.0 * part as f64 / of.max(1) as f64)
    };
    let Latency { p50, p99, .. } = report.latency_ms;
    output::table(&[
        row(["matching prompts with an expected memory", &share(report.helped, report.fitting)]),
        row(["matching prompts with only other memories", &share(report.misled, report.fitting)]),
        row(["other prompts without output", &share(report.silent, report.other)]),
        row(["returned memories that were expected", &share(report.told_wanted, report.told)]),
        row(["mean tokens per output", &format!("{:.0}", report.mean_tokens)]),
        row(["p50, p99", &format!("{p50:.1} ms, {p99:.1} ms")]),
    ]);
    for MissedPrompt { prompt, want, told } in &report.missed {
        let prompt = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        let prompt = &prompt[..prompt.floor_char_boundary(MAX_SHOWN)];
        println!("expected [{}] returned [{}]  {prompt}", want.join(", "), told.join(", "));
    }
}
