//! Which files say what a question asks: BM25 over the fields of a file (its text, the names that it defines, its folders and its
//! name), with counts weighed by field before they are damped.

use super::asides;
use super::places::folder_of;
use super::rank::as_number;
use super::sketch::Sketch;
use super::weights::Weights;
use crate::shares::in_batches;
use crate::words::{Counts, Kin, Question, each_identifier_by};

/// So many files are matched by a thread at once.
const BATCH: usize = 512;

/// How well each file matches a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matches {
    /// By the places of the files.
    pub(super) files: Vec<Match>,
    /// How much what is asked for is worth, by its place.
    pub(super) worth: Vec<f64>,
    /// What was found, [`BATCH`] files in each.
    batches: Vec<BatchHits>,
}

impl Matches {
    /// What a file has of the question, what is worth most first, by its places.
    pub(super) fn found(&self, idx: usize) -> Vec<usize> {
        let hits = self.batches.get(idx / BATCH).map(|batch| batch.of(idx)).unwrap_or_default();
        let mut found: Vec<usize> = hits.iter().map(|hit| hit.place).collect();
        found.sort_by(|one, other| {
            self.worth[*other].total_cmp(&self.worth[*one]).then(one.cmp(other))
        });
        found
    }
}

/// How well a file matches a question.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Match {
    pub(super) score: f64,
    /// Whether it has something that the task says, and not only words that stand for it.
    pub(super) has_said: bool,
    /// How much the file is worth, whatever it says: by its path, and by what its first lines say.
    pub(super) worth: f64,
}

/// What some files have of a question.
#[derive(Clone, Debug, Default, PartialEq)]
struct BatchHits {
    /// Those that have something, in order.
    files: Vec<FileHits>,
    /// What they have, one behind the other.
    hits: Vec<Hit>,
    /// How many files have what is asked for, by its place.
    n_with: Vec<usize>,
    /// How many words all files have, and how many of those in names of what they define.
    lengths: [u64; 2],
}

impl BatchHits {
    /// What a file has, by its place.
    fn of(&self, idx: usize) -> &[Hit] {
        let at = self.files.binary_search_by_key(&idx, |file| file.idx);
        at.map_or(&[], |at| self.hits_of(at))
    }

    /// What the file at a place among those that have something has.
    fn hits_of(&self, at: usize) -> &[Hit] {
        let start = at.checked_sub(1).map_or(0, |before| self.files[before].end);
        &self.hits[start..self.files[at].end]
    }
}

/// A file that has something of a question.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileHits {
    idx: usize,
    n_all: u32,
    n_defined: u32,
    worth: f64,
    /// Where what it has ends, among that of all.
    end: usize,
}

/// Something of a question that a file has: its place there, and what was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hit {
    place: usize,
    counts: Counts,
    is_in_folder: bool,
    is_in_name: bool,
}

/// Matches all files; nothing for those that have nothing of the question.
pub(super) fn matches(
    sketch: &Sketch<'_>,
    question: &Question,
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
        batches[numbers].iter().flat_map(|batch| scale.matched_of(batch)).collect::<Vec<_>>()
    });
    let mut files = vec![Match::default(); n_files];
    scored.into_iter().flatten().for_each(|(idx, matched)| files[idx] = matched);
    Matches { files, worth: scale.worth, batches }
}

/// How much something that is asked for is worth: a word that stands for another at most what that is worth itself.
fn worth(
    question: &Question,
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
        Kin::Alike => weights.alike,
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

/// A folder, what its path has of a question, and whether what lies in it is rarely meant.
#[derive(Default)]
struct Folder<'f> {
    name: &'f str,
    places: Vec<usize>,
    lies_aside: bool,
}

/// Looks at files one after the other.
struct Looker<'l, 's> {
    sketch: &'l Sketch<'s>,
    question: &'l Question,
    weights: &'l Weights,
    /// The folder of the last file: the files of a folder stand together.
    folder: Folder<'l>,
    /// Memory that is used again.
    whole: Vec<u8>,
    found: BatchHits,
}

impl<'l, 's> Looker<'l, 's> {
    fn new(sketch: &'l Sketch<'s>, question: &'l Question, weights: &'l Weights) -> Self {
        let found = BatchHits { n_with: vec![0; question.asked.len()], ..BatchHits::default() };
        let mut looker =
            Self { sketch, question, weights, folder: Folder::default(), whole: Vec::new(), found };
        looker.enter("");
        looker
    }

    fn enter(&mut self, name: &'l str) {
        let Self { question, folder, whole, .. } = self;
        (folder.name, folder.lies_aside) = (name, asides::lies_aside(name));
        folder.places.clear();
        each_identifier_by(name.as_bytes(), whole, |word| {
            folder.places.extend(question.find(word));
        });
    }

    /// Adds what the file at a place has.
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
        // In the order of the question, so that the sum is always the same.
        hits[start..].sort_unstable_by_key(|hit| hit.place);
        hits[start..].iter().for_each(|hit| n_with[hit.place] += 1);
        let is_made = bag.is_some_and(|bag| bag.is_made) || self.sketch.made.has(path);
        let lies_aside = self.folder.lies_aside;
        let worth = asides::worth_in(lies_aside, path, self.question.is_about_tests, self.weights)
            * if is_made { self.weights.aside } else { 1.0 };
        files.push(FileHits { idx, n_all, n_defined, worth, end: hits.len() });
    }

    /// Adds what a path has to what was found since `start`.
    fn look_at_path(&mut self, path: &str, start: usize) {
        let Self { question, folder, whole, found, .. } = self;
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
        each_identifier_by(name.as_bytes(), whole, |word| {
            question.find(word).into_iter().for_each(|place| take(place, true));
        });
    }
}

/// What counts are weighed with.
struct Scale<'w> {
    weights: &'w Weights,
    question: &'w Question,
    /// How much what is asked for is worth, by its place.
    worth: Vec<f64>,
    /// All of it that any file has.
    most: f64,
    /// Mean lengths.
    text: f64,
    defined: f64,
}

impl Scale<'_> {
    /// How well the files of a batch match that have something, by their places.
    fn matched_of(&self, batch: &BatchHits) -> Vec<(usize, Match)> {
        let mut said = vec![(0.0, 0.0); self.worth.len()];
        let matched = |(at, file): (usize, &FileHits)| {
            (file.idx, self.matched(file, batch.hits_of(at), &mut said))
        };
        batch.files.iter().enumerate().map(matched).collect()
    }

    /// Of a word and those that stand for it only the best counts.
    fn matched(&self, file: &FileHits, hits: &[Hit], said: &mut [(f64, f64)]) -> Match {
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
