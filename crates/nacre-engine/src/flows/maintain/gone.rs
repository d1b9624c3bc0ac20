//! Memories whose files or symbols are no longer in the repository.
//!
//! Careful by design: one named file that is still there is enough to leave a memory alone, and so is a text that
//! itself tells of something removed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::search::{files_named, symbols_named};

use super::Checkout;
use super::gather::{Collection, Held};
use super::repository::{Fact, Repository};

/// A text with one of these may speak of what is gone because it is gone.
const FAREWELLS: &[&str] = &[
    "delet",
    "remov",
    "drop",
    "renam",
    "moved",
    "gone",
    "no longer",
    "replac",
    "former",
    "obsolete",
    "used to",
    "no more",
    "get rid",
    "legacy",
];

/// Why each memory, by its place, speaks of something that is gone.
pub(super) fn gone(
    collection: &Collection,
    checkout: Option<&Checkout>,
    clock: &dyn Fn() -> Duration,
) -> BTreeMap<usize, String> {
    let Some(Checkout { root, git }) = checkout else { return BTreeMap::new() };
    let named: Vec<Named> = collection.held.iter().map(Named::of).collect();
    if named.iter().all(|named| named.files.is_empty() && named.symbols.is_empty()) {
        return BTreeMap::new();
    }
    let repository = Repository::open(git, root);
    let files: BTreeSet<String> = named.iter().flat_map(|named| named.files.clone()).collect();
    let files = repository.files(&files);
    let symbols = repository.symbols(&symbols_to_ask(&named, &files), clock);
    let reason = |(idx, named): (usize, &Named)| Some((idx, named.reason(&files, &symbols)?));
    named.iter().enumerate().filter_map(reason).collect()
}

/// The symbols of memories that no file speaks for, each with the earliest time it was named at.
fn symbols_to_ask(named: &[Named], files: &BTreeMap<String, Fact>) -> BTreeMap<String, Timestamp> {
    let mut symbols: BTreeMap<String, Timestamp> = BTreeMap::new();
    for one in named.iter().filter(|one| one.files.iter().all(|file| files[file] == Fact::Unknown))
    {
        for symbol in &one.symbols {
            let when = symbols.entry(symbol.clone()).or_insert(one.when);
            *when = one.when.min(*when);
        }
    }
    symbols
}

/// What a memory names.
struct Named {
    files: Vec<String>,
    symbols: Vec<String>,
    when: Timestamp,
}

impl Named {
    fn of(one: &Held) -> Self {
        let text = format!("{}\n{}", one.memory.title, one.claimed());
        let lower = text.to_lowercase();
        let when = one.memory.created.unwrap_or(one.said);
        if !one.is_standing() || FAREWELLS.iter().any(|word| lower.contains(word)) {
            return Self { files: Vec::new(), symbols: Vec::new(), when };
        }
        Self { files: files_named(&text), symbols: symbols_named(&text), when }
    }

    fn reason(
        &self,
        files: &BTreeMap<String, Fact>,
        symbols: &BTreeMap<String, Fact>,
    ) -> Option<String> {
        let fact = |facts: &BTreeMap<String, Fact>, name: &String| {
            facts.get(name).copied().unwrap_or(Fact::Unknown)
        };
        let judge = |names: &[String], facts: &BTreeMap<String, Fact>| {
            let is_here = names.iter().any(|name| fact(facts, name) == Fact::Here);
            let gone = names.iter().find(|name| fact(facts, name) == Fact::Gone);
            gone.filter(|_| !is_here).cloned()
        };
        let is_file_here = self.files.iter().any(|name| fact(files, name) == Fact::Here);
        let gone = judge(&self.files, files)
            .or_else(|| judge(&self.symbols, symbols).filter(|_| !is_file_here))?;
        Some(format!("`{gone}` is no longer in the repository"))
    }
}

#[cfg(test)]
mod tests;
