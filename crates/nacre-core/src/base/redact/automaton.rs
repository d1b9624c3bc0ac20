//! Finds many words at once, in four places of the text at the same time.
//!
//! Stepping an automaton waits for memory at every byte, and the wait is the whole cost. Four of them
//! on four stretches of the text wait together, which is three times as fast; the stretches overlap
//! by the longest word, so no word is missed where they meet, and hits come out in order.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::noncontiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

const N_LANES: usize = 4;

/// As much of the text goes through one lane before hits are handed out.
const LANE: usize = 4096;

/// Below this length the overlaps would cost more than the lanes win.
const MIN_FOR_LANES: usize = 96;

/// Words that end at one place of the text.
#[derive(Clone, Copy)]
pub(super) struct Hit<'a> {
    pub(super) end: usize,
    /// Their numbers, the longest first.
    pub(super) words: &'a [u16],
}

/// A table of transitions, with the states where words end at its high end.
pub(super) struct Automaton {
    classes: [u8; 256],
    /// A state is the index of its row; the row has one entry a class.
    next: Vec<u32>,
    n_classes: usize,
    start: u32,
    first_match: u32,
    /// The words that end in each match state.
    words: Vec<Vec<u16>>,
    longest: usize,
}

impl Automaton {
    pub(super) fn new(words: &[&str]) -> Self {
        let nfa = NFA::builder()
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(words)
            .expect("the words are constants and far below every limit");
        let (classes, samples) = classes(words);
        let start = nfa.start_state(Anchored::No).expect("unanchored search is built");
        // Breadth first, then match states to the end: one comparison tells them.
        let mut seen = vec![start];
        let mut numbers = HashMap::from([(start, 0)]);
        let mut rows: Vec<Vec<usize>> = Vec::new();
        while rows.len() < seen.len() {
            let from = seen[rows.len()];
            let row = samples.iter().map(|byte| {
                let to = nfa.next_state(Anchored::No, from, *byte);
                *numbers.entry(to).or_insert_with(|| {
                    seen.push(to);
                    seen.len() - 1
                })
            });
            rows.push(row.collect());
        }
        let mut order: Vec<usize> = (0..seen.len()).collect();
        order.sort_by_key(|idx| nfa.is_match(seen[*idx]));
        let n_plain = order.iter().filter(|idx| !nfa.is_match(seen[**idx])).count();
        let mut place = vec![0; order.len()];
        for (at, idx) in order.iter().enumerate() {
            place[*idx] = (at * samples.len()) as u32;
        }
        let ending = |idx: &usize| {
            let state = seen[*idx];
            let pattern = |at| nfa.match_pattern(state, at).as_usize() as u16;
            (0..nfa.match_len(state)).map(pattern).collect()
        };
        Self {
            classes,
            next: order.iter().flat_map(|idx| &rows[*idx]).map(|to| place[*to]).collect(),
            n_classes: samples.len(),
            start: place[0],
            first_match: (n_plain * samples.len()) as u32,
            words: order[n_plain..].iter().map(ending).collect(),
            longest: words.iter().map(|word| word.len()).max().unwrap_or(1),
        }
    }

    /// Hands every place of `part` where words end to `each`, in order.
    pub(super) fn each_hit(&self, text: &[u8], part: &Range<usize>, mut each: impl FnMut(Hit<'_>)) {
        let text = text.get(..part.end).unwrap_or(text);
        let mut from = part.start;
        while from < text.len() {
            // Early enough that the state at `from` is right for every word that ends after it.
            let warm = from.saturating_sub(self.longest - 1).max(part.start);
            let length = text.len() - warm;
            from = if length < MIN_FOR_LANES + self.longest {
                self.one_lane(text, warm, from, &mut each)
            } else {
                let lane = (length - self.longest) / N_LANES;
                self.four_lanes(text, warm, from, lane.min(LANE), &mut each)
            };
        }
    }

    fn hand_out(&self, end: usize, state: u32, each: &mut impl FnMut(Hit<'_>)) {
        let row = (state - self.first_match) as usize / self.n_classes;
        each(Hit { end, words: &self.words[row] });
    }

    /// Goes over all of the text from `warm` on; returns where it ended.
    fn one_lane(
        &self,
        text: &[u8],
        warm: usize,
        from: usize,
        each: &mut impl FnMut(Hit<'_>),
    ) -> usize {
        let mut state = self.start;
        for (end, byte) in (warm + 1..).zip(&text[warm..]) {
            state = self.next[state as usize + usize::from(self.classes[usize::from(*byte)])];
            if self.first_match <= state && from < end {
                self.hand_out(end, state, each);
            }
        }
        text.len()
    }

    /// Goes over four stretches that begin `lane` bytes apart, each reaching into the next by the
    /// longest word; returns where the last of them ended.
    fn four_lanes(
        &self,
        text: &[u8],
        warm: usize,
        from: usize,
        lane: usize,
        each: &mut impl FnMut(Hit<'_>),
    ) -> usize {
        let length = lane + self.longest;
        let starts = [0, 1, 2, 3].map(|idx| warm + idx * lane);
        // Up to here the lane before, or the block before, has seen every word that ends.
        let seen = starts.map(|start| if start == warm { from } else { start + self.longest });
        let mut states = [self.start; N_LANES];
        let mut hits: [Vec<(usize, u32)>; N_LANES] = Default::default();
        let mut done = 0;
        while done < length {
            done += self.run(&mut states, starts.map(|start| &text[start + done..start + length]));
            for (idx, state) in states.into_iter().enumerate() {
                if self.first_match <= state && seen[idx] < starts[idx] + done {
                    hits[idx].push((starts[idx] + done, state));
                }
            }
        }
        for (end, state) in hits.into_iter().flatten() {
            self.hand_out(end, state, each);
        }
        starts[N_LANES - 1] + length
    }

    /// Steps all lanes until a word ends in one of them; returns how many steps that took.
    ///
    /// Kept apart and small, so that all states stay in registers.
    #[inline(never)]
    fn run(&self, states: &mut [u32; N_LANES], [s, t, u, v]: [&[u8]; N_LANES]) -> usize {
        let [mut a, mut b, mut c, mut d] = *states;
        let (next, classes, first_match) = (&*self.next, &self.classes, self.first_match);
        let step =
            |state: u32, byte: u8| next[state as usize + usize::from(classes[usize::from(byte)])];
        let mut n_steps = 0;
        for (((s, t), u), v) in s.iter().zip(t).zip(u).zip(v) {
            a = step(a, *s);
            b = step(b, *t);
            c = step(c, *u);
            d = step(d, *v);
            n_steps += 1;
            if first_match <= a || first_match <= b || first_match <= c || first_match <= d {
                break;
            }
        }
        *states = [a, b, c, d];
        n_steps
    }
}

/// One class for each byte that occurs in a word, and one for all others; with a byte of each.
fn classes(words: &[&str]) -> ([u8; 256], Vec<u8>) {
    let mut is_used = [false; 256];
    for byte in words.iter().flat_map(|word| word.bytes()) {
        is_used[usize::from(byte)] = true;
    }
    let other = (0..=u8::MAX).find(|byte| !is_used[usize::from(*byte)]).unwrap_or_default();
    let mut samples = vec![other];
    let mut classes = [0; 256];
    for byte in (0..=u8::MAX).filter(|byte| is_used[usize::from(*byte)]) {
        classes[usize::from(byte)] = samples.len() as u8;
        samples.push(byte);
    }
    (classes, samples)
}
