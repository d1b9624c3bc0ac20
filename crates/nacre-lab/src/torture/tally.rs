//! Counts the failed checks in an exercise and prints the first few of each kind.

use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct Tally {
    verb: &'static str,
    n_bad: u64,
    kinds: BTreeMap<String, u64>,
}

const MAX_LINES: u64 = 3;
/// Maximum length of details. Longer details, such as hostile strings, are truncated.
const MAX_CHARS: usize = 400;

impl Tally {
    pub(crate) fn new(verb: &'static str) -> Self {
        Self { verb, n_bad: 0, kinds: BTreeMap::new() }
    }

    /// Reports a failed check that needs no details.
    pub(crate) fn bad(&mut self, what: &str) {
        self.bad_of(what, "");
    }

    /// Reports a failed check. `detail` distinguishes failures of the same kind.
    pub(crate) fn bad_of(&mut self, kind: &str, detail: &str) {
        self.n_bad += 1;
        let n_seen = self.kinds.entry(kind.to_owned()).or_default();
        *n_seen += 1;
        if *n_seen <= MAX_LINES {
            let line: String = format!("{kind} {detail}").chars().take(MAX_CHARS).collect();
            println!("{}: BAD: {}", self.verb, line.trim_end());
        }
    }

    pub(crate) fn absorb(&mut self, other: &Self) {
        self.n_bad += other.n_bad;
    }

    pub(crate) fn n_bad(&self) -> u64 {
        self.n_bad
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.n_bad == 0
    }

    pub(crate) fn end(&self, summary: &str) {
        for (kind, n_seen) in self.kinds.iter().filter(|(_, n_seen)| **n_seen > MAX_LINES) {
            println!("{}: BAD: {n_seen} times {kind}", self.verb);
        }
        let verdict = if self.is_clean() { "ok" } else { "FAILED" };
        println!("{}: {verdict}: {summary}, {} bad", self.verb, self.n_bad);
    }
}
