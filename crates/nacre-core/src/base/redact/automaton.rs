//! Finds many words at once, in four places of the text at the same time.
//!
//! Stepping an automaton waits for memory at every byte, and the wait is the whole cost. Four of them
//! on four stretches of the text wait together, which is three times as fast; the stretches overlap
//! by the longest word, so no word is missed where they meet, and hits come out in order.

use std::ops::Range;

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
        let (classes, n_classes) = classes(words);
        let trie = Trie::new(words, &classes, n_classes);
        // Match states go to the end: one comparison tells them.
        let (plain, matching): (Vec<usize>, Vec<usize>) =
            trie.order.iter().partition(|state| trie.words[**state].is_empty());
        let mut place = vec![0; trie.words.len()];
        for (at, state) in plain.iter().chain(&matching).enumerate() {
            place[*state] = (at * n_classes) as u32;
        }
        let row = |state: &usize| &trie.next[state * n_classes..(state + 1) * n_classes];
        let mut next = Vec::with_capacity(trie.next.len());
        for state in plain.iter().chain(&matching) {
            next.extend(row(state).iter().map(|to| place[*to as usize]));
        }
        Self {
            classes,
            next,
            n_classes,
            start: place[0],
            first_match: (plain.len() * n_classes) as u32,
            words: matching.iter().map(|state| trie.words[*state].clone()).collect(),
            longest: words.iter().map(|word| word.len()).max().unwrap_or(1),
        }
    }

    /// Hands every place of `part` where words end to `each`, in order. Returns whether all of it is ASCII, which is
    /// asked block by block, while a block is at hand.
    pub(super) fn each_hit(
        &self,
        text: &[u8],
        part: &Range<usize>,
        mut each: impl FnMut(Hit<'_>),
    ) -> bool {
        let text = text.get(..part.end).unwrap_or(text);
        let mut is_ascii = true;
        let mut from = part.start;
        while from < text.len() {
            // Early enough that the state at `from` is right for every word that ends after it.
            let warm = from.saturating_sub(self.longest - 1).max(part.start);
            let length = text.len() - warm;
            let done = from;
            from = if length < MIN_FOR_LANES + self.longest {
                self.one_lane(text, warm, from, &mut each)
            } else {
                let lane = (length - self.longest) / N_LANES;
                self.four_lanes(text, warm, from, lane.min(LANE), &mut each)
            };
            is_ascii = is_ascii && text[done..from].is_ascii();
        }
        is_ascii
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

/// The words as a tree whose every state knows where every byte leads.
///
/// Made by hand: each row is a copy of the row of the longest other beginning, with its own branches written over it. A
/// short run pays for the table with every start, and asking a library's automaton for each entry took ten times as
/// long.
struct Trie {
    next: Vec<u32>,
    /// The words that end in each state, the longest first.
    words: Vec<Vec<u16>>,
    /// The states, shorter beginnings first. Text is nearly always in one of those, and so they lie together.
    order: Vec<usize>,
}

impl Trie {
    fn new(words: &[&str], classes: &[u8; 256], n_classes: usize) -> Self {
        let mut trie =
            Self { next: vec![0; n_classes], words: vec![Vec::new()], order: Vec::new() };
        for (number, word) in words.iter().enumerate() {
            let mut state = 0;
            for byte in word.bytes() {
                let at = state * n_classes + usize::from(classes[usize::from(byte)]);
                if trie.next[at] == 0 {
                    trie.next[at] = trie.words.len() as u32;
                    trie.words.push(Vec::new());
                    trie.next.resize(trie.next.len() + n_classes, 0);
                }
                state = trie.next[at] as usize;
            }
            trie.words[state].push(number as u16);
        }
        trie.link(n_classes);
        trie
    }

    /// Fills in where the bytes lead that no word goes on with: breadth first, so that shorter beginnings are done.
    fn link(&mut self, n_classes: usize) {
        // Of each state the longest other beginning that it ends with.
        let mut other = vec![0_usize; self.words.len()];
        let mut queue = vec![0_usize];
        let mut n_done = 0;
        while let Some(&state) = queue.get(n_done) {
            n_done += 1;
            let (own, fallback) = (state * n_classes, other[state] * n_classes);
            for class in 0..n_classes {
                let elsewhere = if state == 0 { 0 } else { self.next[fallback + class] };
                let child = self.next[own + class] as usize;
                if child == 0 {
                    self.next[own + class] = elsewhere;
                    continue;
                }
                other[child] = elsewhere as usize;
                let shorter = self.words[elsewhere as usize].clone();
                self.words[child].extend(shorter);
                queue.push(child);
            }
        }
        self.order = queue;
    }
}

/// One class for each byte that occurs in a word, and the first for all others; with how many there are.
fn classes(words: &[&str]) -> ([u8; 256], usize) {
    let mut is_used = [false; 256];
    for byte in words.iter().flat_map(|word| word.bytes()) {
        is_used[usize::from(byte)] = true;
    }
    let mut n_classes = 1;
    let mut classes = [0; 256];
    for byte in (0..=u8::MAX).filter(|byte| is_used[usize::from(*byte)]) {
        classes[usize::from(byte)] = n_classes as u8;
        n_classes += 1;
    }
    (classes, n_classes)
}
