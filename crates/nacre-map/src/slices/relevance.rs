//! Which files and symbols a task is about.
//!
//! Four kinds of evidence, each from 0 to 1: words in common, distance in the graph from what is surely meant, meaning by an
//! embedding, and what memory knows of a file. How much rests on a file decides among equals.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use nacre_core::search::Embedder;
use serde::Serialize;

use super::places::{CodeRole, place_of};
use super::rank::{as_number, ranks};
use super::sketch::Sketch;
use crate::artifact::RelativePath;

/// Files that an answer is made of; the others could only be named.
const MAX_FILES: usize = 200;

/// Files that are compared by meaning: the best by everything else.
const MAX_COMPARED: usize = 300;

/// Files that most rests on, which are compared by meaning whatever their words.
const MAX_CENTRAL: usize = 150;

/// Files that the graph is followed from when none was named: the best by words.
const MAX_SEEDS: usize = 8;

/// Files further away than this have nothing to do with each other.
const MAX_DISTANCE: usize = 3;

/// Names of a file's symbols that its meaning is told by.
const MAX_NAMES: usize = 40;

const W_WORDS: f64 = 3.0;
const W_DISTANCE: f64 = 2.0;
const W_MEANING: f64 = 1.5;
const W_MEMORY: f64 = 1.0;
const W_RANK: f64 = 0.3;

/// How much less a test or an example is worth than the code itself.
const ASIDE: f64 = 0.5;

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
    /// It means something like the task.
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

/// The words of a text: identifiers whole and in their parts, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut part = String::new();
        let mut was_lower = false;
        for c in run.chars() {
            if c.is_uppercase() && was_lower {
                words.push(std::mem::take(&mut part));
            }
            was_lower = c.is_lowercase() || c.is_numeric();
            part.extend(c.to_lowercase());
        }
        words.push(part);
    }
    words.iter().map(|word| stem(word)).filter(|word| 1 < word.len() && !is_filler(word)).collect()
}

/// `parses`, `parsing` and `parser` are about parsing.
fn stem(word: &str) -> String {
    let ends = ["ingly", "ings", "ing", "ers", "er", "ies", "ed", "es", "s"];
    let end = ends.iter().find(|end| word.strip_suffix(**end).is_some_and(|rest| 3 < rest.len()));
    let stem = end.and_then(|end| word.strip_suffix(end)).unwrap_or(word);
    stem.trim_end_matches('e').to_owned()
}

fn is_filler(word: &str) -> bool {
    const FILLERS: &[&str] = &[
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "fix", "for", "from",
        "how", "if", "in", "into", "is", "it", "its", "of", "on", "or", "so", "that", "th", "the",
        "this", "to", "us", "was", "wer", "wher", "what", "when", "which", "who", "why", "with",
    ];
    FILLERS.contains(&word)
}

/// Ranks the files of a project; only those that something speaks for, and of those the best.
pub fn rank(sketch: &Sketch, evidence: &Evidence<'_>) -> Ranked {
    let found = relevant(sketch, evidence).into_iter().take(MAX_FILES);
    let ranked = |Relevant { idx, score, why }| RankedFile {
        path: sketch.files[idx].path.clone(),
        score,
        why,
    };
    Ranked { files: found.map(ranked).collect() }
}

fn relevant(sketch: &Sketch, evidence: &Evidence<'_>) -> Vec<Relevant> {
    let wanted: BTreeSet<String> = words(evidence.task).into_iter().collect();
    let by_words = shares(sketch, &wanted);
    let asked: Vec<usize> = evidence.files.iter().filter_map(|path| sketch.find(path)).collect();
    let seeds = if asked.is_empty() { best(&by_words, MAX_SEEDS) } else { asked.clone() };
    let near = nearness(sketch, &seeds);
    let ranks = ranks(sketch.imported.len(), |from| sketch.imported[from].iter().copied());
    let most = ranks.iter().copied().fold(1.0, f64::max);
    // A task may share no word with the code that it is about.
    let central: BTreeSet<usize> = best(&ranks, MAX_CENTRAL).into_iter().collect();
    let speaks_of_tests = wanted.iter().any(|word| word.starts_with("test"));
    let mut found: Vec<Relevant> = Vec::new();
    for (idx, file) in sketch.files.iter().enumerate() {
        let memory = evidence.memory.get(file.path.as_str()).copied().unwrap_or_default();
        let is_asked = asked.contains(&idx);
        let sum = W_WORDS * by_words[idx] + W_DISTANCE * near[idx] + W_MEMORY * memory;
        if sum <= 0.0 && !is_asked && !central.contains(&idx) {
            continue;
        }
        let is_aside =
            place_of(file.path.as_str()) != CodeRole::Source && !speaks_of_tests && !is_asked;
        let score = (sum + W_RANK * ranks[idx] / most) * if is_aside { ASIDE } else { 1.0 };
        let reasons = [
            (is_asked, Why::Asked),
            (0.0 < by_words[idx], Why::Words),
            (0.0 < near[idx] && near[idx] < 1.0, Why::Near),
            (0.0 < memory, Why::Memory),
        ];
        let why = reasons.iter().filter(|(is, _)| *is).map(|(_, why)| *why).collect();
        let score = if is_asked { score + W_WORDS + W_DISTANCE } else { score };
        found.push(Relevant { idx, score, why });
    }
    sort(&mut found);
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
    idxs.sort_by(|one, other| numbers[*other].total_cmp(&numbers[*one]).then(one.cmp(other)));
    idxs.truncate(limit);
    idxs
}

/// How much of the task's words each file has, where rare words count more; the best file has 1.
fn shares(sketch: &Sketch, wanted: &BTreeSet<String>) -> Vec<f64> {
    let mut hits: Vec<HashMap<&str, f64>> = vec![HashMap::new(); sketch.files.len()];
    let mut n_with: HashMap<&str, usize> = HashMap::new();
    for (idx, file) in sketch.files.iter().enumerate() {
        let of_path = words(file.path.as_str()).into_iter().map(|word| (word, 1.5));
        // Most names have nothing of the task, and are not worth taking apart.
        let has_some = |name: &str| {
            let lower = name.to_lowercase();
            wanted.iter().any(|word| lower.contains(word.as_str()))
        };
        let names = file.names.lines().filter(|name| has_some(name)).flat_map(words);
        for (word, weight) in of_path.chain(names.map(|word| (word, 1.0))) {
            let Some(word) = wanted.get(&word) else { continue };
            let hit = hits[idx].entry(word).or_default();
            if *hit == 0.0 {
                *n_with.entry(word).or_default() += 1;
            }
            // A word that comes again and again says less each time.
            *hit += weight / (1.0 + *hit);
        }
    }
    let n_files = as_number(sketch.files.len());
    let mut shares: Vec<f64> = hits
        .iter()
        .map(|hits| {
            // In the order of the words, so that the sum is always the same.
            let found = wanted.iter().filter_map(|word| hits.get_key_value(word.as_str()));
            found.map(|(word, hit)| hit * (1.0 + n_files / as_number(n_with[word])).ln()).sum()
        })
        .collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    if 0.0 < most {
        for share in &mut shares {
            *share /= most;
        }
    }
    shares
}

/// 1 for what is meant, a half for its neighbors, and so on.
fn nearness(sketch: &Sketch, seeds: &[usize]) -> Vec<f64> {
    let mut near = vec![0.0; sketch.files.len()];
    let mut waiting: VecDeque<(usize, usize)> = VecDeque::new();
    for seed in seeds {
        near[*seed] = 1.0;
        waiting.push_back((*seed, 0));
    }
    while let Some((idx, distance)) = waiting.pop_front() {
        if distance == MAX_DISTANCE {
            continue;
        }
        // What everybody imports is near to everything, and says nothing.
        let neighbors = sketch.imported[idx].iter().chain(sketch.importers[idx].iter().take(64));
        for next in neighbors {
            if near[*next] == 0.0 {
                near[*next] = 1.0 / as_number(distance + 2);
                waiting.push_back((*next, distance + 1));
            }
        }
    }
    near
}

/// Compares the best files with the task by what they mean.
fn by_meaning(sketch: &Sketch, evidence: &Evidence<'_>, found: &mut [Relevant]) {
    let Some(embedder) = evidence.embedder.filter(|_| !evidence.task.trim().is_empty()) else {
        return;
    };
    let n_compared = found.len().min(MAX_COMPARED);
    let compared = &mut found[..n_compared];
    let texts: Vec<String> = compared
        .iter()
        .map(|relevant| {
            let file = &sketch.files[relevant.idx];
            let names = file.names.lines().take(MAX_NAMES);
            let parts: Vec<&str> = std::iter::once(file.path.as_str()).chain(names).collect();
            words(&parts.join(" ")).join(" ")
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
        relevant.score += W_MEANING * likeness;
        if 0.3 < likeness {
            relevant.why.push(Why::Meaning);
        }
    }
    sort(found);
}
