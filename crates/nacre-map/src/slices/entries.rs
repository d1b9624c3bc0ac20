//! Where to begin reading: programs that manifests name, then those that most of the project hangs on, then libraries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::areas::Area;
use super::entry_kind::EntryKind;
use super::listed::Listed;
use super::places::CodeRole;
use super::survey::{Node, Survey};
use super::text_facts::TextFacts;
use crate::artifact::FileRow;

/// A program that reaches so many files starts the project as well as one that reaches more.
const MAX_REACHED: usize = 500;

/// Of so many files it is looked how many they reach, those nearest to the root.
const MAX_COMPARED: usize = 256;

/// A file to begin with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryPoint {
    pub path: String,
    pub kind: EntryKind,
    /// What a manifest calls the program or library.
    pub name: Option<String>,
}

/// A file that may be one to begin with.
struct Candidate<'c> {
    idx: usize,
    kind: EntryKind,
    name: Option<&'c str>,
    depth: usize,
    /// Of a program, the files that it imports, directly or by others; of a library, the lines of its package.
    reached: usize,
}

/// The files that entry points are chosen from, nearest to the root first.
pub(super) fn entry_candidates(survey: &Survey, files: &[(&str, FileRow)]) -> Vec<usize> {
    let is_program = |idx: &usize| survey.nodes[*idx].entry == Some(EntryKind::Program);
    let mut found: Vec<usize> =
        (0..survey.nodes.len().min(files.len())).filter(is_program).collect();
    found.sort_by_key(|idx| (depth_of(files[*idx].0), *idx));
    found
}

/// Lists the files to begin with.
pub(super) fn entry_points(
    survey: &Survey,
    files: &[(&str, FileRow)],
    facts: &TextFacts,
    areas: &[Area],
    limit: usize,
) -> Listed<EntryPoint> {
    let mut found = candidates(survey, files, facts);
    found.sort_by_key(|one| (one.kind, one.depth, one.idx));
    for one in found.iter_mut().filter(|one| one.kind == EntryKind::Library) {
        one.reached = area_lines(areas, files[one.idx].0);
    }
    for one in found.iter_mut().filter(|one| one.kind == EntryKind::Program).take(MAX_COMPARED) {
        one.reached = reach(survey, one.idx);
    }
    found.sort_by(|one, other| {
        let key = |one: &Candidate<'_>| {
            (one.kind, one.name.is_none(), usize::MAX - one.reached, one.depth)
        };
        let rank = || survey.ranks[other.idx].total_cmp(&survey.ranks[one.idx]);
        key(one).cmp(&key(other)).then_with(rank).then(one.idx.cmp(&other.idx))
    });
    Listed::first(&found, limit, |one| EntryPoint {
        path: files[one.idx].0.to_owned(),
        kind: one.kind,
        name: one.name.map(str::to_owned),
    })
}

fn candidates<'c>(
    survey: &Survey,
    files: &[(&str, FileRow)],
    facts: &'c TextFacts,
) -> Vec<Candidate<'c>> {
    let programs = by_place(&facts.declared.programs, files);
    let libraries = by_place(&facts.declared.libraries, files);
    let nodes = survey.nodes.iter().take(files.len()).enumerate();
    let candidate = |(idx, node): (usize, &Node)| {
        let path = files[idx].0;
        let program = programs.get(&idx).copied();
        let library = libraries.get(&idx).copied();
        let kind = match (program, library, node.entry) {
            (Some(_), _, _) if node.place == CodeRole::Source => EntryKind::Program,
            (None, Some(_), _) if node.is_own() => EntryKind::Library,
            (_, _, Some(EntryKind::Program)) if facts.no_programs.contains(&idx) => return None,
            (_, _, Some(EntryKind::Program)) if facts.helpers.contains(&idx) => EntryKind::Script,
            (_, _, kind) => kind?,
        };
        let name = if kind == EntryKind::Program { program } else { library };
        Some(Candidate { idx, kind, name, depth: depth_of(path), reached: 0 })
    };
    nodes.filter_map(candidate).collect()
}

/// What manifests call files, by the places of those.
fn by_place<'c>(
    names: &'c BTreeMap<String, String>,
    files: &[(&str, FileRow)],
) -> BTreeMap<usize, &'c str> {
    let place = |path: &str| files.binary_search_by(|(known, _)| (*known).cmp(path)).ok();
    names.iter().filter_map(|(path, name)| Some((place(path)?, name.as_str()))).collect()
}

/// The size of the part that a file lies in: the library of the largest package is told first.
fn area_lines(areas: &[Area], path: &str) -> usize {
    let is_around = |area: &&Area| {
        path.strip_prefix(area.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    let area = areas.iter().filter(is_around).max_by_key(|area| area.path.len());
    area.map_or(0, |area| usize::try_from(area.lines).unwrap_or(usize::MAX))
}

fn depth_of(path: &str) -> usize {
    path.matches('/').count()
}

/// How many files a file imports, directly or by others.
fn reach(survey: &Survey, start: usize) -> usize {
    let mut seen = std::collections::HashSet::from([start]);
    let mut waiting = vec![start];
    while let Some(idx) = waiting.pop() {
        for to in survey.imported.of(idx).iter().map(|to| *to as usize) {
            if MAX_REACHED <= seen.len() {
                return MAX_REACHED;
            }
            if seen.insert(to) {
                waiting.push(to);
            }
        }
    }
    seen.len()
}
