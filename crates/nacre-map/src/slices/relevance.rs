//! Which files a task is about.
//!
//! Candidates are the files that say what the task says, or other words for it (`matching`); what is rarely changed by a task counts less (`asides`).
//! Among the best of them three more kinds of evidence decide: meaning by an embedding, distance in the graph of imports from what is
//! surely meant, and what memory knows of a file. Each kind can be left out, which is how its worth was measured (`docs/map.md`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use nacre_core::search::Embedder;
use serde::Serialize;

use super::asides;
use super::matching::{Match, Matches, matches};
use super::overview::first_by;
use super::rank::as_number;
use super::sketch::Sketch;
use super::weights::Weights;
use crate::artifact::RelativePath;
use crate::words::{Question, part_words};

/// Files that an answer is made of; the others could only be named.
const MAX_FILES: usize = 200;

/// Files that are compared by meaning: the best by everything else.
const MAX_COMPARED: usize = 64;

/// With fewer files that have words of the task, those that most import are compared by meaning, too.
const MIN_MATCHED: usize = 20;
const MAX_CENTRAL: usize = 100;

/// Files that the graph is followed from when none was named: the best by words.
const MAX_SEEDS: usize = 5;

/// Files further away than this have nothing to do with each other.
const MAX_DISTANCE: usize = 2;

/// What more files import is near to everything, and says nothing.
const MAX_IMPORTERS: usize = 64;

/// Names of a file's symbols that its meaning is told by.
const MAX_NAMES: usize = 40;

/// Words that are shown of what a file has of the task.
const MAX_SHOWN_WORDS: usize = 4;

/// A file that is named stands before all others.
const W_ASKED: f64 = 10.0;

/// A file that means so much of the same is listed for that.
const MIN_LIKENESS: f64 = 0.3;

/// Why a file is part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// It was named.
    Asked,
    /// It has words of the task.
    Words,
    /// It imports, or is imported by, a file that is meant.
    Near,
    /// It means something like the task, or has words that stand for those of the task.
    Meaning,
    /// Memory knows something of it.
    Memory,
}

/// What files are ranked by.
pub struct Evidence<'e> {
    /// What is to be done, in words; may be empty.
    pub task: &'e str,
    /// Files that are surely meant.
    pub files: &'e [String],
    /// Paths with how much memory has to say of them, from 0 to 1.
    pub memory: &'e BTreeMap<String, f64>,
    pub embedder: Option<&'e dyn Embedder>,
    /// The names that a file defines, one a line; asked of few.
    pub names: &'e dyn Fn(&str) -> String,
    pub weights: &'e Weights,
    pub n_threads: usize,
}

/// The files that a task is about, the most relevant first.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    pub(super) files: Vec<RankedFile>,
}

/// A file that something speaks for.
#[derive(Clone, Debug)]
pub(super) struct RankedFile {
    pub(super) path: RelativePath,
    pub(super) score: f64,
    pub(super) why: Vec<Why>,
    /// What it has of the task, the rarest first.
    pub(super) words: Vec<String>,
}

impl Ranked {
    pub fn paths(&self) -> impl Iterator<Item = &RelativePath> {
        self.files.iter().map(|file| &file.path)
    }
}

/// A file by its place, and what speaks for it.
#[derive(Clone, Debug)]
struct Relevant {
    idx: usize,
    score: f64,
    why: Vec<Why>,
}

/// The words of a text in lower case and without their endings.
pub(super) fn words(text: &str) -> Vec<String> {
    part_words(text).into_iter().map(|(_, stem)| stem).filter(|stem| 1 < stem.len()).collect()
}

/// Ranks the files of a project; only those that something speaks for, and of those the best.
pub fn rank(sketch: &Sketch<'_>, evidence: &Evidence<'_>) -> Ranked {
    let question = Question::new(evidence.task);
    let matched = matches(sketch, &question, evidence.weights, evidence.n_threads);
    let found = relevant(sketch, evidence, &matched).into_iter().take(MAX_FILES);
    let ranked = |Relevant { idx, score, why }: Relevant| {
        let found = matched.found(idx).into_iter().map(|place| &question.asked[place]);
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
    // Meaning adds to the first of them only, and only what is central may turn out to have no reason.
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

/// The best files by a number, without those that have none.
fn best(numbers: &[f64], limit: usize) -> Vec<usize> {
    let mut idxs: Vec<usize> = (0..numbers.len()).filter(|idx| 0.0 < numbers[*idx]).collect();
    first_by(&mut idxs, limit, |one, other| {
        numbers[*other].total_cmp(&numbers[*one]).then(one.cmp(other))
    });
    idxs.truncate(limit);
    idxs
}

/// How well each file matches, and how much it is worth; the best file has 1.
pub(super) fn shares(matched: &[Match]) -> Vec<f64> {
    let mut shares: Vec<f64> = matched.iter().map(|found| found.score * found.worth).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    if 0.0 < most {
        shares.iter_mut().for_each(|share| *share /= most);
    }
    shares
}

/// The files that most import, where words say little: a task may share none with the code that it is about.
fn central(sketch: &Sketch<'_>, by_words: &[f64]) -> BTreeSet<usize> {
    let n_matched = by_words.iter().filter(|share| 0.0 < **share).take(MIN_MATCHED).count();
    if MIN_MATCHED <= n_matched {
        return BTreeSet::new();
    }
    let n_importers: Vec<f64> =
        sketch.importers.iter().map(|all| as_number(all.len() + 1)).collect();
    best(&n_importers, MAX_CENTRAL).into_iter().collect()
}

/// 1 for what is meant, a half for its neighbors, and so on.
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

/// Compares the best files with the task by what they mean.
fn by_meaning(sketch: &Sketch<'_>, evidence: &Evidence<'_>, found: &mut [Relevant]) {
    let Some(embedder) = evidence.embedder.filter(|_| !evidence.task.trim().is_empty()) else {
        return;
    };
    let n_compared = found.len().min(MAX_COMPARED);
    let compared = &mut found[..n_compared];
    let texts: Vec<String> = compared
        .iter()
        .map(|relevant| {
            let path = sketch.paths[relevant.idx];
            let names = (evidence.names)(path);
            let parts: Vec<&str> =
                [path].into_iter().chain(names.lines().take(MAX_NAMES)).collect();
            let words = part_words(&parts.join(" ")).into_iter().map(|(word, _)| word);
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let texts: Vec<&str> =
        std::iter::once(evidence.task).chain(texts.iter().map(String::as_str)).collect();
    // Without the model the other evidence still holds.
    let Ok(vectors) = embedder.embed(&texts) else { return };
    let Some((task, vectors)) = vectors.split_first() else { return };
    for (relevant, vector) in compared.iter_mut().zip(vectors) {
        let likeness: f32 = task.iter().zip(vector).map(|(one, other)| one * other).sum();
        let likeness = f64::from(likeness.clamp(0.0, 1.0));
        let worth = asides::worth(sketch.paths[relevant.idx], false, evidence.weights);
        relevant.score += evidence.weights.meaning * likeness * worth;
        if MIN_LIKENESS < likeness && !relevant.why.contains(&Why::Meaning) {
            relevant.why.push(Why::Meaning);
        }
    }
    sort(found);
}
