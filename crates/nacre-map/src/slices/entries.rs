//! Finds entry points: README, programs, libraries, manifests and scripts.

use std::collections::BTreeMap;

use nacre_types::{CodeArea, EntryKind, EntryPoint, Listed};

use super::places::CodeRole;
use super::survey::{Node, Survey};
use super::text_facts::TextFacts;
use super::weights::list_first;
use crate::artifact::FileRow;

const MAX_REACHED: usize = 500;

const MAX_COMPARED: usize = 256;

struct Candidate<'c> {
    idx: usize,
    kind: EntryKind,
    name: Option<&'c str>,
    depth: usize,
    /// For a program, the number of files that it imports directly or indirectly. For a library,
    /// the number of lines in its area.
    reached: usize,
}

/// Returns programs that may be entry points, those nearest to the root first.
pub(super) fn entry_candidates(survey: &Survey, files: &[(&str, FileRow)]) -> Vec<usize> {
    let is_program = |idx: &usize| survey.nodes[*idx].entry == Some(EntryKind::Program);
    let mut found: Vec<usize> =
        (0..survey.nodes.len().min(files.len())).filter(is_program).collect();
    found.sort_by_key(|idx| (depth_of(files[*idx].0), *idx));
    found
}

pub(super) fn entry_points(
    survey: &Survey,
    files: &[(&str, FileRow)],
    facts: &TextFacts,
    areas: &[CodeArea],
    limit: usize,
) -> Listed<EntryPoint> {
    let mut found = candidates(survey, files, facts);
    found.sort_by_key(|one| (one.kind as u8, one.depth, one.idx));
    for one in found.iter_mut().filter(|one| one.kind == EntryKind::Library) {
        one.reached = area_lines(areas, files[one.idx].0);
    }
    for one in found.iter_mut().filter(|one| one.kind == EntryKind::Program).take(MAX_COMPARED) {
        one.reached = reach(survey, one.idx);
    }
    found.sort_by(|one, other| {
        let key = |one: &Candidate<'_>| {
            (one.kind as u8, one.name.is_none(), usize::MAX - one.reached, one.depth)
        };
        let rank = || survey.ranks[other.idx].total_cmp(&survey.ranks[one.idx]);
        key(one).cmp(&key(other)).then_with(rank).then(one.idx.cmp(&other.idx))
    });
    list_first(&found, limit, |one| EntryPoint {
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

fn by_place<'c>(
    names: &'c BTreeMap<String, String>,
    files: &[(&str, FileRow)],
) -> BTreeMap<usize, &'c str> {
    let place = |path: &str| files.binary_search_by(|(known, _)| (*known).cmp(path)).ok();
    names.iter().filter_map(|(path, name)| Some((place(path)?, name.as_str()))).collect()
}

/// Returns the number of lines in the file's area. Sorting by it puts the largest package's library
/// first.
fn area_lines(areas: &[CodeArea], path: &str) -> usize {
    let is_around = |area: &&CodeArea| {
        path.strip_prefix(area.path.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    let area = areas.iter().filter(is_around).max_by_key(|area| area.path.len());
    area.map_or(0, |area| usize::try_from(area.lines).unwrap_or(usize::MAX))
}

fn depth_of(path: &str) -> usize {
    path.matches('/').count()
}

/// Returns the number of files that a file imports, directly or indirectly.
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
