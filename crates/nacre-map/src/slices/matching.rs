//! Which files say what a question asks: BM25 over the fields of a file (its text, the names that it defines, its folders and its
//! name), with counts weighed by field before they are damped.

use super::asides;
use super::places::folder_of;
use super::rank::as_number;
use super::sketch::Sketch;
use super::weights::Weights;
use crate::shares::in_batches;
use crate::words::{Counts, Kin, Question, each_identifier};

/// So many files are matched by a thread at once.
const BATCH: usize = 512;

/// How well each file matches a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Matches {
    /// By the places of the files.
    pub(super) files: Vec<Match>,
    /// How much what is asked for is worth, by its place.
    pub(super) worth: Vec<f64>,
}

impl Matches {
    /// What a file has of the question, what is worth most first, by its places.
    pub(super) fn found(&self, idx: usize) -> Vec<usize> {
        let mut found = self.files.get(idx).map(|file| file.found.clone()).unwrap_or_default();
        found.sort_by(|one, other| {
            self.worth[*other].total_cmp(&self.worth[*one]).then(one.cmp(other))
        });
        found
    }
}

/// How well a file matches a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Match {
    pub(super) score: f64,
    /// Whether it has something that the task says, and not only words that stand for it.
    pub(super) has_said: bool,
    /// What was found of the question, by its places.
    pub(super) found: Vec<usize>,
    /// How much the file is worth, whatever it says: by its path, and by what its first lines say.
    pub(super) worth: f64,
}

/// What a file has of a question.
struct Hits {
    idx: usize,
    n_all: u32,
    n_defined: u32,
    worth: f64,
    /// Places in the question with what was counted.
    hits: Vec<(usize, Counts, Places)>,
}

/// Where besides its text a file has a word.
#[derive(Clone, Copy, Default)]
struct Places {
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
        let (mut all, mut lengths) = (Vec::new(), [0_u64; 2]);
        // The files of a folder stand together.
        let mut folder = Folder::of("", question);
        for idx in batch {
            let name = folder_of(sketch.paths[idx]);
            if folder.name != name {
                folder = Folder::of(name, question);
            }
            let hits = hits_of(sketch, question, weights, &folder, idx);
            lengths[0] += u64::from(hits.n_all);
            lengths[1] += u64::from(hits.n_defined);
            all.extend((!hits.hits.is_empty()).then_some(hits));
        }
        (all, lengths)
    });
    let mut n_with = vec![0_usize; question.asked.len()];
    let mut lengths = [0_u64; 2];
    for (all, part) in &batches {
        lengths = [lengths[0] + part[0], lengths[1] + part[1]];
        all.iter().flat_map(|hits| &hits.hits).for_each(|(place, ..)| n_with[*place] += 1);
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
    let mut files = vec![Match::default(); n_files];
    let mut said = vec![(0.0, 0.0); n_with.len()];
    for hits in batches.iter().flat_map(|(all, _)| all) {
        files[hits.idx] = scale.matched(hits, &mut said);
    }
    Matches { files, worth: scale.worth }
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
struct Folder<'f> {
    name: &'f str,
    places: Vec<usize>,
    lies_aside: bool,
}

impl<'f> Folder<'f> {
    fn of(name: &'f str, question: &Question) -> Self {
        let mut places = Vec::new();
        each_identifier(name.as_bytes(), |word| places.extend(question.find(word)));
        Self { name, places, lies_aside: asides::lies_aside(name) }
    }
}

fn hits_of(
    sketch: &Sketch<'_>,
    question: &Question,
    weights: &Weights,
    folder: &Folder<'_>,
    idx: usize,
) -> Hits {
    let mut hits: Vec<(usize, Counts, Places)> = Vec::new();
    let bag = (sketch.bag)(idx);
    if let Some(bag) = &bag {
        bag.each(&question.words, |place, counts| hits.push((place, counts, Places::default())));
    }
    let path = sketch.paths[idx];
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut take = |place: usize, is_name: bool| {
        let found = match hits.iter().position(|(known, ..)| *known == place) {
            Some(found) => found,
            None => {
                hits.push((place, Counts::default(), Places::default()));
                hits.len() - 1
            }
        };
        let places = &mut hits[found].2;
        if is_name { places.is_in_name = true } else { places.is_in_folder = true }
    };
    folder.places.iter().for_each(|place| take(*place, false));
    each_identifier(name.as_bytes(), |word| {
        question.find(word).into_iter().for_each(|place| take(place, true));
    });
    // In the order of the question, so that the sum is always the same.
    hits.sort_unstable_by_key(|(place, ..)| *place);
    let (n_all, n_defined) = bag.map_or((0, 0), |bag| (bag.n_all, bag.n_defined));
    let mut worth = 0.0;
    if !hits.is_empty() {
        let is_made = bag.is_some_and(|bag| bag.is_made) || sketch.made.has(path);
        worth = asides::worth_in(folder.lies_aside, path, question.is_about_tests, weights)
            * if is_made { weights.aside } else { 1.0 };
    }
    Hits { idx, n_all, n_defined, worth, hits }
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
    /// Of a word and those that stand for it only the best counts.
    fn matched(&self, hits: &Hits, said: &mut [(f64, f64)]) -> Match {
        let weights = self.weights;
        let longer =
            |weight: f64, length: u32, mean: f64| 1.0 - weight + weight * f64::from(length) / mean;
        let text = longer(weights.text_length, hits.n_all, self.text);
        let defined = longer(weights.defined_length, hits.n_defined, self.defined);
        let (mut score, mut covered) = (0.0, 0.0);
        for (place, counts, places) in &hits.hits {
            let asked = &self.question.asked[*place];
            let inside = if asked.kin == Kin::Said { 1.0 } else { weights.widened_text };
            let tf = inside * f64::from(counts.all) / text
                + weights.defined * f64::from(counts.defined) / defined
                + if places.is_in_folder { weights.folder } else { 0.0 }
                + if places.is_in_name { weights.name } else { 0.0 };
            let gain = self.worth[*place] * tf * (weights.k1 + 1.0) / (tf + weights.k1);
            let (most, had) = &mut said[asked.said];
            let (more, less) = if *most < gain { (gain, *most) } else { (*most, gain) };
            let now = more + weights.further * less;
            score += now - *most;
            *most = now;
            covered += (self.worth[*place] - *had).max(0.0);
            *had = had.max(self.worth[*place]);
        }
        for (place, ..) in &hits.hits {
            said[self.question.asked[*place].said] = (0.0, 0.0);
        }
        let coverage = if 0.0 < self.most { covered / self.most } else { 0.0 };
        let found: Vec<usize> = hits.hits.iter().map(|(place, ..)| *place).collect();
        let has_said = found.iter().any(|place| self.question.asked[*place].kin == Kin::Said);
        let score = score * coverage.powf(weights.coverage);
        Match { score, has_said, found, worth: hits.worth }
    }
}
