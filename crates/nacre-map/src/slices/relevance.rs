//! Ranks a project's files by relevance to a task.
//!
//! Files are scored by the task's words and related words (`matching`), weighted by the file's
//! purpose (`places`). Embedding similarity, import distance, and memories that name a file also
//! count.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nacre_memory::search::Builtin;
use nacre_types::WhyRelevant as Why;

use super::matching::{Matches, Sketch, matches, shares};
use super::places;
use super::weights::Weights;
use super::weights::{as_number, first_by};
use crate::artifact::RelativePath;
use crate::words::{TaskQuery, part_words};

const MAX_FILES: usize = 200;

/// Maximum number of files to compare by embedding. The files to compare are chosen using the other
/// evidence.
const MAX_COMPARED: usize = 64;

/// If fewer files match, the most frequently imported files are also compared by embedding.
const MIN_MATCHED: usize = 20;
const MAX_CENTRAL: usize = 100;

/// Number of best matches whose imports are followed if the user did not name any files.
const MAX_SEEDS: usize = 5;

const MAX_DISTANCE: usize = 2;

/// Maximum number of importers to follow. A file with more importers than this is close to every
/// other file.
const MAX_IMPORTERS: usize = 64;

const MAX_NAMES: usize = 40;

const MAX_SHOWN_WORDS: usize = 4;

/// High enough that files named by the user rank above all others.
const W_ASKED: f64 = 10.0;

const MIN_LIKENESS: f64 = 0.3;

pub struct Evidence<'e> {
    /// May be empty.
    pub task: &'e str,
    /// Files that the user named.
    pub files: &'e [String],
    /// Paths named in memories, with their weights from 0 to 1.
    pub memory: &'e BTreeMap<String, f64>,
    /// Returns the names that a file defines, one per line. It is called only for a few files.
    pub names: &'e dyn Fn(&str) -> String,
    pub weights: &'e Weights,
    pub n_threads: usize,
}

/// The files that are relevant to a task, most relevant first.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    pub(super) files: Vec<RankedFile>,
}

#[derive(Clone, Debug)]
pub(super) struct RankedFile {
    pub(super) path: RelativePath,
    pub(super) score: f64,
    pub(super) why: Vec<Why>,
    /// The task's words that occur in the file, rarest first.
    pub(super) words: Vec<String>,
}

impl Ranked {
    pub fn paths(&self) -> impl Iterator<Item = &RelativePath> {
        self.files.iter().map(|file| &file.path)
    }
}

#[derive(Clone, Debug)]
struct Relevant {
    idx: usize,
    score: f64,
    why: Vec<Why>,
}

/// Returns the lower-case stems of the words in a string.
pub(super) fn words(text: &str) -> Vec<String> {
    part_words(text).into_iter().map(|(_, stem)| stem).filter(|stem| 1 < stem.len()).collect()
}

pub fn rank(sketch: &Sketch<'_>, evidence: &Evidence<'_>) -> Ranked {
    let question = TaskQuery::new(evidence.task);
    let matched = matches(sketch, &question, evidence.weights, evidence.n_threads);
    let found = relevant(sketch, evidence, &matched).into_iter().take(MAX_FILES);
    let ranked = |Relevant { idx, score, why }: Relevant| {
        let found = matched.find_words(idx).into_iter().map(|place| &question.asked[place]);
        let words = found.filter(|asked| !asked.is_filler()).map(|asked| asked.text.clone());
        Some(RankedFile {
            path: RelativePath::new(sketch.paths[idx])?,
            score,
            why,
            words: words.take(MAX_SHOWN_WORDS).collect(),
        })
    };
    Ranked { files: found.filter_map(ranked).collect() }
}

fn relevant(sketch: &Sketch<'_>, evidence: &Evidence<'_>, matched: &Matches) -> Vec<Relevant> {
    let by_words = shares(&matched.files);
    let asked: BTreeSet<usize> =
        evidence.files.iter().filter_map(|path| sketch.find(path)).collect();
    let seeds =
        if asked.is_empty() { best(&by_words, MAX_SEEDS) } else { asked.iter().copied().collect() };
    let near = nearness(sketch, &seeds);
    let central = central(sketch, &by_words);
    let remembered = evidence.memory.iter();
    let memory: BTreeMap<usize, f64> =
        remembered.filter_map(|(path, share)| Some((sketch.find(path)?, *share))).collect();
    let memory = |idx: usize| memory.get(&idx).copied().unwrap_or_default();
    let mut scores: Vec<(f64, usize)> = Vec::new();
    for idx in 0..sketch.paths.len() {
        let is_asked = asked.contains(&idx);
        let sum = by_words[idx]
            + evidence.weights.near * near[idx]
            + evidence.weights.memory * memory(idx);
        if 0.0 < sum || is_asked || central.contains(&idx) {
            scores.push((if is_asked { sum + W_ASKED } else { sum }, idx));
        }
    }
    // Files beyond this limit are neither listed nor compared by embedding. The limit includes the
    // most frequently imported files, because they may be listed without other evidence.
    let limit = MAX_FILES.max(MAX_COMPARED) + central.len();
    first_by(&mut scores, limit, |one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scores.truncate(limit);
    let mut found: Vec<Relevant> = scores
        .into_iter()
        .map(|(score, idx)| {
            let has_said = matched.files[idx].has_said;
            let reasons = [
                (asked.contains(&idx), Why::Asked),
                (0.0 < by_words[idx] && has_said, Why::Words),
                (0.0 < near[idx] && near[idx] < 1.0, Why::Near),
                (0.0 < by_words[idx] && !has_said, Why::Meaning),
                (0.0 < memory(idx), Why::Memory),
            ];
            let why = reasons.iter().filter(|(is, _)| *is).map(|(_, why)| *why).collect();
            Relevant { idx, score, why }
        })
        .collect();
    by_meaning(sketch, evidence, &mut found);
    found.retain(|relevant| !relevant.why.is_empty());
    found
}

fn sort(found: &mut [Relevant]) {
    found.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.idx.cmp(&other.idx)));
}

fn best(numbers: &[f64], limit: usize) -> Vec<usize> {
    let mut idxs: Vec<usize> = (0..numbers.len()).filter(|idx| 0.0 < numbers[*idx]).collect();
    first_by(&mut idxs, limit, |one, other| {
        numbers[*other].total_cmp(&numbers[*one]).then(one.cmp(other))
    });
    idxs.truncate(limit);
    idxs
}

/// If few files match, returns the most frequently imported ones, because the task and the code may
/// have no words in common.
fn central(sketch: &Sketch<'_>, by_words: &[f64]) -> BTreeSet<usize> {
    let n_matched = by_words.iter().filter(|share| 0.0 < **share).take(MIN_MATCHED).count();
    if MIN_MATCHED <= n_matched {
        return BTreeSet::new();
    }
    let n_importers: Vec<f64> =
        sketch.importers.iter().map(|all| as_number(all.len() + 1)).collect();
    best(&n_importers, MAX_CENTRAL).into_iter().collect()
}

/// Returns each file's import proximity: 1 for the seeds, 0.5 for their neighbors, and so on.
fn nearness(sketch: &Sketch<'_>, seeds: &[usize]) -> Vec<f64> {
    let mut near = vec![0.0; sketch.paths.len()];
    let mut waiting: VecDeque<(usize, usize)> = VecDeque::new();
    for seed in seeds {
        near[*seed] = 1.0;
        waiting.push_back((*seed, 0));
    }
    while let Some((idx, distance)) = waiting.pop_front() {
        if distance == MAX_DISTANCE {
            continue;
        }
        let importers = sketch.importers.of(idx).iter().take(MAX_IMPORTERS);
        for next in sketch.imported.of(idx).iter().chain(importers).map(|next| *next as usize) {
            if near.get(next) == Some(&0.0) {
                near[next] = 1.0 / as_number(distance + 2);
                waiting.push_back((next, distance + 1));
            }
        }
    }
    near
}

fn by_meaning(sketch: &Sketch<'_>, evidence: &Evidence<'_>, found: &mut [Relevant]) {
    if evidence.weights.meaning <= 0.0 || evidence.task.trim().is_empty() {
        return;
    }
    let n_compared = found.len().min(MAX_COMPARED);
    let model = Builtin::shipped();
    let task = model.embed(evidence.task);
    for relevant in &mut found[..n_compared] {
        let path = sketch.paths[relevant.idx];
        let names = (evidence.names)(path);
        let parts: Vec<&str> = [path].into_iter().chain(names.lines().take(MAX_NAMES)).collect();
        let words = part_words(&parts.join(" ")).into_iter().map(|(word, _)| word);
        let vector = model.embed(&words.collect::<Vec<_>>().join(" "));
        let likeness: f32 = task.iter().zip(&vector).map(|(one, other)| one * other).sum();
        let likeness = f64::from(likeness.clamp(0.0, 1.0));
        let worth = places::worth(path, false, evidence.weights);
        relevant.score += evidence.weights.meaning * likeness * worth;
        if MIN_LIKENESS < likeness && !relevant.why.contains(&Why::Meaning) {
            relevant.why.push(Why::Meaning);
        }
    }
    sort(found);
}
