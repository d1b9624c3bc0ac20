//! Scores files against a question with BM25F over four fields: content, defined names, directories
//! and file name.

use super::made_paths::MadePaths;
use super::places::{self, folder_of};
use super::weights::as_number;
use super::weights::{WEIGHTS, Weights};
use crate::artifact::Lists;
use crate::shares::in_batches;
use crate::words::{Bag, Counts, Kin, TaskQuery, each_identifier};

pub struct Sketch<'s> {
    pub(super) paths: Vec<&'s str>,
    pub(super) bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
    pub(super) made: &'s MadePaths,
    pub(super) imported: Lists,
    pub(super) importers: Lists,
}

impl<'s> Sketch<'s> {
    /// `paths` must be sorted. `imported` lists the files that each file imports.
    pub fn new(
        paths: Vec<&'s str>,
        bag: &'s (dyn Fn(usize) -> Option<Bag<'s>> + Sync),
        made: &'s MadePaths,
        imported: Lists,
    ) -> Self {
        let importers = imported.invert(paths.len());
        Self { paths, bag, made, imported, importers }
    }

    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.paths.binary_search(&path).ok()
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordScores {
    /// Each file's score, by file index. The best file scores 1, and a file that contains none of
    /// the words scores 0.
    pub files: Vec<f64>,
    /// The weight of each word of the question. Rare words have a higher weight.
    pub worth: Vec<f64>,
}

pub fn word_scores(sketch: &Sketch<'_>, question: &TaskQuery, n_threads: usize) -> WordScores {
    let matched = matches(sketch, question, &WEIGHTS, n_threads);
    let files = shares(&matched.files);
    WordScores { files, worth: matched.worth }
}

/// Weights a file from 0 to 1 by its path. Tests, copies and generated files have a lower weight.
pub fn path_worth(path: &str, wants_tests: bool) -> f64 {
    places::worth(path, wants_tests, &WEIGHTS)
}

/// Returns the weighted score of each file, scaled so that the best file scores 1.
pub(super) fn shares(matched: &[Match]) -> Vec<f64> {
    let mut shares: Vec<f64> = matched.iter().map(|found| found.score * found.worth).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    if 0.0 < most {
        shares.iter_mut().for_each(|share| *share /= most);
    }
    shares
}

const BATCH: usize = 512;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matches {
    /// One match per file, by file index.
    pub(super) files: Vec<Match>,
    pub(super) worth: Vec<f64>,
    /// Each batch covers [`BATCH`] files.
    batches: Vec<BatchHits>,
}

impl Matches {
    /// Returns the words of the question that occur in a file, as indexes into the question, in
    /// descending order of weight.
    pub(super) fn find_words(&self, idx: usize) -> Vec<usize> {
        let hits = self.batches.get(idx / BATCH).map(|batch| batch.of(idx)).unwrap_or_default();
        let mut found: Vec<usize> = hits.iter().map(|hit| hit.place).collect();
        found.sort_by(|one, other| {
            self.worth[*other].total_cmp(&self.worth[*one]).then(one.cmp(other))
        });
        found
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Match {
    pub(super) score: f64,
    /// Whether the file contains a word from the task itself rather than only related words.
    pub(super) has_said: bool,
    /// The file's weight, which depends on its path and its first lines.
    pub(super) worth: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct BatchHits {
    files: Vec<FileHits>,
    /// The hits in all files of the batch, concatenated.
    hits: Vec<Hit>,
    /// For each word of the question, the number of files that contain it.
    n_with: Vec<usize>,
    /// Total number of words in all files, and in all defined names.
    lengths: [u64; 2],
}

impl BatchHits {
    fn of(&self, idx: usize) -> &[Hit] {
        let at = self.files.binary_search_by_key(&idx, |file| file.idx);
        at.map_or(&[], |at| self.hits_of(at))
    }

    fn hits_of(&self, at: usize) -> &[Hit] {
        let start = at.checked_sub(1).map_or(0, |before| self.files[before].end);
        &self.hits[start..self.files[at].end]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct FileHits {
    idx: usize,
    n_all: u32,
    n_defined: u32,
    worth: f64,
    /// Where this file's hits end in [`BatchHits::hits`].
    end: usize,
}

/// A word of the question that occurs in a file: its index in the question and its counts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hit {
    place: usize,
    counts: Counts,
    is_in_folder: bool,
    is_in_name: bool,
}

pub(super) fn matches(
    sketch: &Sketch<'_>,
    question: &TaskQuery,
    weights: &Weights,
    n_threads: usize,
) -> Matches {
    let n_files = sketch.paths.len();
    let batches = in_batches(n_files, BATCH, n_threads, |batch| {
        let mut looker = Looker::new(sketch, question, weights);
        batch.for_each(|idx| looker.look_at(idx));
        looker.found
    });
    let mut n_with = vec![0_usize; question.asked.len()];
    let mut lengths = [0_u64; 2];
    for batch in &batches {
        lengths = [lengths[0] + batch.lengths[0], lengths[1] + batch.lengths[1]];
        n_with.iter_mut().zip(&batch.n_with).for_each(|(all, part)| *all += part);
    }
    let worth: Vec<f64> =
        (0..n_with.len()).map(|place| worth(question, weights, &n_with, place, n_files)).collect();
    let mut most = vec![0.0_f64; n_with.len()];
    for (place, asked) in question.asked.iter().enumerate().filter(|(place, _)| 0 < n_with[*place])
    {
        most[asked.said] = most[asked.said].max(worth[place]);
    }
    let scale = Scale {
        weights,
        question,
        most: most.iter().sum(),
        worth,
        text: mean(lengths[0], n_files),
        defined: mean(lengths[1], n_files),
    };
    let scored = in_batches(batches.len(), 1, n_threads, |numbers| {
        batches[numbers].iter().flat_map(|batch| scale.match_batch(batch)).collect::<Vec<_>>()
    });
    let mut files = vec![Match::default(); n_files];
    scored.into_iter().flatten().for_each(|(idx, matched)| files[idx] = matched);
    Matches { files, worth: scale.worth, batches }
}

/// Returns a word's weight. A related word is never treated as rarer than the original.
fn worth(
    question: &TaskQuery,
    weights: &Weights,
    n_with: &[usize],
    place: usize,
    n_files: usize,
) -> f64 {
    let asked = &question.asked[place];
    let share = match asked.kin {
        Kin::Said if asked.is_whole => weights.whole,
        Kin::Said => 1.0,
        Kin::Form => weights.form,
        Kin::Synonym => weights.synonym,
        Kin::Near => weights.neighbor,
    };
    let mut rare = rarity(n_with[place], n_files);
    if asked.kin != Kin::Said && 0 < n_with[asked.said] {
        rare = rare.min(rarity(n_with[asked.said], n_files));
    }
    share * asked.weight * rare
}

fn mean(total: u64, n_files: usize) -> f64 {
    let n_files = u64::try_from(n_files.max(1)).unwrap_or(1);
    f64::from(u32::try_from(total / n_files).unwrap_or(u32::MAX)).max(1.0)
}

fn rarity(n_with: usize, n_files: usize) -> f64 {
    let (n_with, n_files) = (as_number(n_with), as_number(n_files));
    (1.0 + (n_files - n_with + 0.5) / (n_with + 0.5)).ln()
}

/// The words of the question that occur in a directory's path, and whether its files have a lower
/// weight.
#[derive(Default)]
struct Folder<'f> {
    name: &'f str,
    places: Vec<usize>,
    lies_aside: bool,
}

struct Looker<'l, 's> {
    sketch: &'l Sketch<'s>,
    question: &'l TaskQuery,
    weights: &'l Weights,
    /// The previous file's directory. Cached, because consecutive files are usually in the same
    /// directory.
    folder: Folder<'l>,
    found: BatchHits,
}

impl<'l, 's> Looker<'l, 's> {
    fn new(sketch: &'l Sketch<'s>, question: &'l TaskQuery, weights: &'l Weights) -> Self {
        let found = BatchHits { n_with: vec![0; question.asked.len()], ..BatchHits::default() };
        let mut looker = Self { sketch, question, weights, folder: Folder::default(), found };
        looker.enter("");
        looker
    }

    fn enter(&mut self, name: &'l str) {
        let Self { question, folder, .. } = self;
        (folder.name, folder.lies_aside) = (name, places::lies_aside(name));
        folder.places.clear();
        each_identifier(name.as_bytes(), |word| {
            folder.places.extend(question.find(word));
        });
    }

    fn look_at(&mut self, idx: usize) {
        let path = self.sketch.paths[idx];
        let folder = folder_of(path);
        if self.folder.name != folder {
            self.enter(folder);
        }
        let bag = (self.sketch.bag)(idx);
        let start = self.found.hits.len();
        if let Some(bag) = &bag {
            let hit = |place, counts| Hit { place, counts, is_in_folder: false, is_in_name: false };
            let hits = &mut self.found.hits;
            bag.each(&self.question.words, |place, counts| hits.push(hit(place, counts)));
        }
        self.look_at_path(path, start);
        let (n_all, n_defined) = bag.map_or((0, 0), |bag| (bag.n_all, bag.n_defined));
        let BatchHits { files, hits, n_with, lengths } = &mut self.found;
        *lengths = [lengths[0] + u64::from(n_all), lengths[1] + u64::from(n_defined)];
        if start == hits.len() {
            return;
        }
        // Hits are sorted so that floating-point sums do not depend on hash order.
        hits[start..].sort_unstable_by_key(|hit| hit.place);
        hits[start..].iter().for_each(|hit| n_with[hit.place] += 1);
        let is_made = bag.is_some_and(|bag| bag.is_generated) || self.sketch.made.has(path);
        let lies_aside = self.folder.lies_aside;
        let worth = places::worth_in(lies_aside, path, self.question.is_about_tests, self.weights)
            * if is_made { self.weights.aside } else { 1.0 };
        files.push(FileHits { idx, n_all, n_defined, worth, end: hits.len() });
    }

    fn look_at_path(&mut self, path: &str, start: usize) {
        let Self { question, folder, found, .. } = self;
        let mut take = |place: usize, is_name: bool| {
            let known = found.hits[start..].iter().position(|hit| hit.place == place);
            let at = known.map_or(found.hits.len(), |at| start + at);
            if at == found.hits.len() {
                let counts = Counts::default();
                found.hits.push(Hit { place, counts, is_in_folder: false, is_in_name: false });
            }
            let hit = &mut found.hits[at];
            if is_name { hit.is_in_name = true } else { hit.is_in_folder = true }
        };
        folder.places.iter().for_each(|place| take(*place, false));
        let name = path.rsplit('/').next().unwrap_or(path);
        each_identifier(name.as_bytes(), |word| {
            question.find(word).into_iter().for_each(|place| take(place, true));
        });
    }
}

struct Scale<'w> {
    weights: &'w Weights,
    question: &'w TaskQuery,
    worth: Vec<f64>,
    /// Total weight of the words that occur in at least one file.
    most: f64,
    /// Mean number of words per file, and mean number in each file's defined names.
    text: f64,
    defined: f64,
}

impl Scale<'_> {
    fn match_batch(&self, batch: &BatchHits) -> Vec<(usize, Match)> {
        let mut said = vec![(0.0, 0.0); self.worth.len()];
        let matched = |(at, file): (usize, &FileHits)| {
            (file.idx, self.score_file(file, batch.hits_of(at), &mut said))
        };
        batch.files.iter().enumerate().map(matched).collect()
    }

    /// Scores a file. For each task word, only its best match counts in full, whether that is the
    /// word itself or a related word.
    fn score_file(&self, file: &FileHits, hits: &[Hit], said: &mut [(f64, f64)]) -> Match {
        let weights = self.weights;
        let longer =
            |weight: f64, length: u32, mean: f64| 1.0 - weight + weight * f64::from(length) / mean;
        let text = longer(weights.text_length, file.n_all, self.text);
        let defined = longer(weights.defined_length, file.n_defined, self.defined);
        let (mut score, mut covered) = (0.0, 0.0);
        for Hit { place, counts, is_in_folder, is_in_name } in hits {
            let asked = &self.question.asked[*place];
            let inside = if asked.kin == Kin::Said { 1.0 } else { weights.widened_text };
            let tf = inside * f64::from(counts.all) / text
                + weights.defined * f64::from(counts.defined) / defined
                + if *is_in_folder { weights.folder } else { 0.0 }
                + if *is_in_name { weights.name } else { 0.0 };
            let gain = self.worth[*place] * tf * (weights.k1 + 1.0) / (tf + weights.k1);
            let (most, had) = &mut said[asked.said];
            let (more, less) = if *most < gain { (gain, *most) } else { (*most, gain) };
            let now = more + weights.further * less;
            score += now - *most;
            *most = now;
            covered += (self.worth[*place] - *had).max(0.0);
            *had = had.max(self.worth[*place]);
        }
        for hit in hits {
            said[self.question.asked[hit.place].said] = (0.0, 0.0);
        }
        let coverage = if 0.0 < self.most { covered / self.most } else { 0.0 };
        let has_said = hits.iter().any(|hit| self.question.asked[hit.place].kin == Kin::Said);
        let score = score * coverage.powf(weights.coverage);
        Match { score, has_said, worth: file.worth }
    }
}
