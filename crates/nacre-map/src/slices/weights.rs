//! How much each kind of evidence counts in a ranking of files.
//!
//! Set on three public projects (80 tasks each: a commit's subject, and the files that it then changed), and checked on two others;
//! `docs/map.md` has the numbers, and `examples/localize.rs` what a ranking loses without each of them.

/// What a ranking weighs with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// How fast a word that comes again says less.
    pub k1: f64,
    /// How much the length of a text counts, and that of all names that it defines.
    pub text_length: f64,
    pub defined_length: f64,
    /// How many times as much as in the text a word counts in the names that it defines, in its folders and in its own name.
    pub defined: f64,
    pub folder: f64,
    pub name: f64,
    /// How much whole identifiers and words that stand together count.
    pub whole: f64,
    /// How much words count that the code has instead of those of the task: other forms, words that stand for them, and words that
    /// are near in meaning; and how much less of that in the text than in names.
    pub form: f64,
    pub alike: f64,
    pub neighbor: f64,
    pub widened_text: f64,
    /// How much all but the best of those count that a file has in place of one word.
    pub further: f64,
    /// How much it counts to have all that is asked for rather than much of a part of it.
    pub coverage: f64,
    /// How much less tests, a stranger's code and what a program made are worth than the code itself.
    pub aside: f64,
    /// How much less what is no code is worth.
    pub prose: f64,
    /// How much the other kinds count beside words, of which the best file has 1.
    pub meaning: f64,
    pub near: f64,
    pub memory: f64,
}

/// Those that are used.
pub const WEIGHTS: Weights = Weights {
    k1: 5.0,
    text_length: 0.3,
    defined_length: 0.3,
    defined: 4.0,
    folder: 4.0,
    name: 8.0,
    whole: 1.0,
    form: 0.7,
    alike: 0.5,
    neighbor: 0.3,
    widened_text: 0.5,
    further: 0.3,
    coverage: 0.25,
    aside: 0.4,
    prose: 0.7,
    meaning: 1.0,
    near: 0.06,
    memory: 0.3,
};
