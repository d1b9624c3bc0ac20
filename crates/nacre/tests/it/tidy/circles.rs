//! Finds import cycles among a directory's files and subdirectories.
//!
//! A directory's `mod.rs` may import its children and be imported by them.

use std::collections::{BTreeMap, BTreeSet};

use super::crates;
use super::modules::{Arrow, Modules};

#[test]
fn no_new_circle_inside_a_room() {
    let mut found = BTreeSet::new();
    for (crate_name, modules) in crates() {
        for circle in circles(&neighbors(&modules)) {
            let folder = circle.first().map(|path| path[..path.len() - 1].join("::"));
            let names: Vec<&str> =
                circle.iter().filter_map(|path| path.last()).map(String::as_str).collect();
            let folder = folder.unwrap_or_default();
            found.insert(format!("{crate_name} {folder}::{{{}}}", names.join(", ")));
        }
    }
    let known: BTreeSet<String> = KNOWN.iter().map(|circle| (*circle).to_owned()).collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(new.is_empty(), "Break these circles: {new:#?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "Remove these circles from `KNOWN`: {gone:#?}");
}

/// Import cycles that still exist within a module. The list may only get shorter.
const KNOWN: &[&str] = &[
    "nacre-engine model::{anthropic, classify, collect, conversation, error, hosted, http, openai, \
     price, programs, provider, retry, roles, scripted, spending_budget}",
    "nacre-engine tools::pipeline::{approve, execute}",
    "nacre-engine tools::pipeline::{undo, watch}",
    "nacre-ops chat::{approvals, log, requests, sessions, tell, toolbox, turn, undo}",
    "nacre-ops connect::{apply, listing, plan}",
    "nacre-ops host::{database, models, projects, settings, traces}",
    "nacre-ops sync::{evidence, pipeline, strategy}",
    "nacre-ops team::{pull, push}",
];

/// Returns the siblings that each file or directory imports. Tests may import whatever they test.
fn neighbors(modules: &Modules) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let mut neighbors: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for Arrow { from, to, is_test } in modules.arrows() {
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let is_of_tests = is_test || from.iter().any(|name| name == "tests");
        // Imports between top-level modules are governed by `ARROWS`.
        if is_of_tests || shared == 0 || from.len() == shared || to.len() == shared {
            continue;
        }
        neighbors.entry(from[..=shared].to_vec()).or_default().insert(to[..=shared].to_vec());
    }
    neighbors
}

/// Returns the groups of two or more nodes that can all reach each other.
fn circles<T: Ord + Clone>(arrows: &BTreeMap<T, BTreeSet<T>>) -> BTreeSet<BTreeSet<T>> {
    let reachable: BTreeMap<&T, BTreeSet<&T>> =
        arrows.keys().map(|node| (node, reach(arrows, node))).collect();
    let circle_of = |node: &T| -> BTreeSet<T> {
        let comes_back = |other: &&&T| reachable.get(**other).is_some_and(|set| set.contains(node));
        reachable[node].iter().filter(comes_back).map(|other| (*other).clone()).collect()
    };
    arrows.keys().map(circle_of).filter(|circle| circle.len() > 1).collect()
}

/// Returns every node that can be reached from a node through at least one arrow.
fn reach<'a, T: Ord>(arrows: &'a BTreeMap<T, BTreeSet<T>>, from: &'a T) -> BTreeSet<&'a T> {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(node) = next.pop() {
        let targets = arrows.get(node).into_iter().flatten();
        next.extend(targets.filter(|target| seen.insert(*target)));
    }
    seen
}

#[test]
fn circles_are_found() {
    let arrows =
        [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "d"), ("f", "f")];
    let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in arrows {
        graph.entry(from).or_default().insert(to);
    }
    let expected = [BTreeSet::from(["a", "b", "c"]), BTreeSet::from(["d", "e"])];
    assert_eq!(circles(&graph), BTreeSet::from(expected));
}
