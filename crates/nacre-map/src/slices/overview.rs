//! What a project is, at a glance: where it starts, what it rests on, what it offers.

use std::collections::BTreeMap;

use nacre_core::base::redact::redact;
use serde::{Deserialize, Serialize};

use super::churn::Churn;
use super::map::Map;
use super::places::{Place, place_of};
use super::rank::{as_number, ranks};
use super::surface::{Surface, surfaces};
use crate::languages::Problem;

/// Grows whenever the same state would be told otherwise: an answer that another version of the program kept is not served.
pub const OVERVIEW_FORMAT: u32 = 1;

/// Limits are cut down to fit a budget in so many steps.
const STEPS: usize = 100;

/// How much an overview tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    #[default]
    Compact,
    Normal,
    Verbose,
}

/// What an overview is asked for.
pub struct OverviewRequest<'r> {
    pub detail: Detail,
    pub churn: &'r Churn,
    /// Tokens that the answer may have.
    pub budget: Option<usize>,
    /// What an overview costs as it will be printed, with everything around it.
    pub cost: &'r dyn Fn(&Overview) -> usize,
}

/// A budget that not even an empty answer fits into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A budget of {budget} tokens is too small: the least that can be said takes {needed}")]
pub struct TooSmall {
    pub budget: usize,
    pub needed: usize,
}

/// A list that may be shown in part; the total is of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    pub total: usize,
    pub items: Vec<T>,
}

impl<T> Listed<T> {
    pub(super) fn first(items: Vec<T>, limit: usize) -> Self {
        let total = items.len();
        Self { total, items: items.into_iter().take(limit).collect() }
    }
}

/// What a project is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    pub detail: Detail,
    pub languages: Vec<LanguageCount>,
    pub entry_points: Listed<EntryPoint>,
    pub hot_paths: Listed<HotPath>,
    pub top_imports: Listed<TopImport>,
    pub module_graph: ModuleGraph,
    pub public_surface: Listed<Surface>,
    pub tests: Listed<String>,
    /// Files whose analysis is not whole, by why.
    pub problems: BTreeMap<Problem, usize>,
}

/// How many files there are of a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LanguageCount {
    pub language: String,
    pub files: usize,
    pub lines: u64,
}

/// A file to begin with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryPoint {
    pub path: String,
    pub kind: EntryKind,
}

/// What begins in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    Readme,
    Program,
    Library,
    Manifest,
}

impl EntryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Readme => "readme",
            Self::Program => "program",
            Self::Library => "library",
            Self::Manifest => "manifest",
        }
    }
}

/// A file that much rests on and that changes often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotPath {
    pub path: String,
    /// Rank times recent commits, in thousandths of an average file's.
    pub heat: u64,
    pub importers: usize,
    pub commits: u32,
}

/// A package of somebody else, and how many files import it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopImport {
    pub module: String,
    pub files: usize,
}

/// Which folders import which; only imports that lead to a file count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleGraph {
    /// Files.
    pub nodes: usize,
    /// Pairs of a file and one that it imports.
    pub edges: usize,
    /// Imports that should lead to a file of the project and do not.
    pub unresolved: usize,
    pub modules: Listed<ModuleNode>,
}

/// A folder, and the folders that its files import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleNode {
    pub module: String,
    pub files: usize,
    pub imports: Vec<String>,
}

/// How long the lists of an overview are.
#[derive(Clone, Copy, Debug)]
struct Limits {
    entries: usize,
    hot: usize,
    imports: usize,
    modules: usize,
    links: usize,
    surfaces: usize,
    symbols: usize,
    tests: usize,
}

impl Limits {
    fn of(detail: Detail) -> Self {
        let limits = |entries, hot, modules, links, surfaces, symbols| Self {
            entries,
            hot,
            imports: entries,
            modules,
            links,
            surfaces,
            symbols,
            tests: entries,
        };
        match detail {
            Detail::Compact => limits(8, 8, 12, 6, 8, 8),
            Detail::Normal => limits(16, 24, 40, 12, 24, 20),
            Detail::Verbose => limits(64, 100, 200, 40, 100, 64),
        }
    }

    /// A part of them, in hundredths.
    fn scaled(self, step: usize) -> Self {
        let part = |limit: usize| limit * step / STEPS;
        Self {
            entries: part(self.entries),
            hot: part(self.hot),
            imports: part(self.imports),
            modules: part(self.modules),
            links: part(self.links),
            surfaces: part(self.surfaces),
            symbols: part(self.symbols),
            tests: part(self.tests),
        }
    }
}

/// Tells what a project is, within the budget.
pub fn overview(map: &Map, request: &OverviewRequest<'_>) -> Result<Overview, TooSmall> {
    let ranked = Ranked::new(map, request.churn);
    let limits = Limits::of(request.detail);
    let at = |step: usize| ranked.overview(request.detail, limits.scaled(step));
    let whole = at(STEPS);
    let Some(budget) = request.budget else { return Ok(whole) };
    if (request.cost)(&whole) <= budget {
        return Ok(whole);
    }
    let (mut fits, mut too_much) = (0, STEPS);
    let mut best = at(0);
    let needed = (request.cost)(&best);
    if budget < needed {
        return Err(TooSmall { budget, needed });
    }
    while fits + 1 < too_much {
        let middle = fits.midpoint(too_much);
        let tried = at(middle);
        if (request.cost)(&tried) <= budget {
            (fits, best) = (middle, tried);
        } else {
            too_much = middle;
        }
    }
    Ok(best)
}

/// A map with its files in order of what rests on them.
struct Ranked<'m> {
    map: &'m Map,
    churn: &'m Churn,
    ranks: Vec<f64>,
    places: Vec<Place>,
}

impl<'m> Ranked<'m> {
    fn new(map: &'m Map, churn: &'m Churn) -> Self {
        let places = map.files.iter().map(|file| place_of(file.path.as_str())).collect();
        Self { map, churn, ranks: ranks(&map.imported), places }
    }

    fn overview(&self, detail: Detail, limits: Limits) -> Overview {
        let map = self.map;
        let mut problems = BTreeMap::new();
        for problem in map.files.iter().filter_map(|file| file.analysis.problem) {
            *problems.entry(problem).or_default() += 1;
        }
        let strangers = map.strangers.iter().map(|(module, files)| TopImport {
            module: redact(module).into_owned(),
            files: *files,
        });
        Overview {
            detail,
            languages: self.languages(),
            entry_points: Listed::first(self.entry_points(), limits.entries),
            hot_paths: Listed::first(self.hot_paths(), limits.hot),
            top_imports: Listed::first(strangers.collect(), limits.imports),
            module_graph: self.module_graph(limits),
            public_surface: surfaces(
                map,
                &self.in_order(Place::Source),
                limits.surfaces,
                limits.symbols,
            ),
            tests: Listed::first(self.tests(), limits.tests),
            problems,
        }
    }

    fn languages(&self) -> Vec<LanguageCount> {
        let mut counts: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for file in &self.map.files {
            let Some(language) = file.language else { continue };
            let count = counts.entry(language.name()).or_default();
            *count = (count.0 + 1, count.1 + u64::from(file.lines));
        }
        let mut languages: Vec<LanguageCount> = counts
            .into_iter()
            .map(|(language, (files, lines))| LanguageCount {
                language: language.to_owned(),
                files,
                lines,
            })
            .collect();
        languages
            .sort_by(|one, other| (other.lines, &one.language).cmp(&(one.lines, &other.language)));
        languages
    }

    /// Files of one place, those that most rests on first.
    fn in_order(&self, place: Place) -> Vec<usize> {
        let mut files: Vec<usize> =
            (0..self.map.files.len()).filter(|idx| self.places[*idx] == place).collect();
        files.sort_by(|one, other| {
            self.ranks[*other].total_cmp(&self.ranks[*one]).then_with(|| one.cmp(other))
        });
        files
    }

    fn entry_points(&self) -> Vec<EntryPoint> {
        let mut found: Vec<(EntryKind, usize, usize)> = Vec::new();
        for (idx, file) in self.map.files.iter().enumerate() {
            let path = file.path.as_str();
            let depth = path.matches('/').count();
            let is_source = self.places[idx] == Place::Source;
            let kind = entry_kind(path, depth, is_source && file.analysis.is_entry);
            found.extend(kind.filter(|_| is_source).map(|kind| (kind, depth, idx)));
        }
        found.sort_by(|one, other| {
            let rank = || self.ranks[other.2].total_cmp(&self.ranks[one.2]);
            (one.0, one.1).cmp(&(other.0, other.1)).then_with(rank).then(one.2.cmp(&other.2))
        });
        let entry = |(kind, _, idx): (EntryKind, usize, usize)| EntryPoint {
            path: self.map.files[idx].path.to_string(),
            kind,
        };
        found.into_iter().map(entry).collect()
    }

    fn hot_paths(&self) -> Vec<HotPath> {
        let mut hot: Vec<HotPath> = Vec::new();
        for (idx, file) in self.map.files.iter().enumerate() {
            let commits = self.churn.of(file.path.as_str());
            let is_code = file.language.is_some() && self.places[idx] == Place::Source;
            if !is_code {
                continue;
            }
            // Where git knows nothing, all files changed equally often.
            let times = if self.churn.is_empty() { 1.0 } else { f64::from(commits) };
            let heat = (self.ranks[idx] * times * 1_000.0).round();
            hot.push(HotPath {
                path: file.path.to_string(),
                heat: whole(heat),
                importers: self.map.importers[idx].len(),
                commits,
            });
        }
        hot.retain(|file| 0 < file.heat);
        hot.sort_by(|one, other| (other.heat, &one.path).cmp(&(one.heat, &other.path)));
        hot
    }

    fn tests(&self) -> Vec<String> {
        let files = self.map.files.iter().enumerate().filter(|(idx, file)| {
            file.language.is_some() && (self.places[*idx] == Place::Test || file.analysis.is_test)
        });
        files.map(|(_, file)| file.path.to_string()).collect()
    }

    fn module_graph(&self, limits: Limits) -> ModuleGraph {
        let files = &self.map.files;
        let mut modules: BTreeMap<&str, (usize, f64, BTreeMap<&str, usize>)> = BTreeMap::new();
        for (idx, file) in files.iter().enumerate().filter(|(_, file)| file.language.is_some()) {
            let module = modules.entry(file.path.folder()).or_default();
            module.0 += 1;
            module.1 += self.ranks[idx];
            for to in &self.map.imported[idx] {
                let other = files[*to].path.folder();
                if other != file.path.folder() {
                    *module.2.entry(other).or_default() += 1;
                }
            }
        }
        let mut modules: Vec<_> = modules.into_iter().collect();
        modules.sort_by(|(one, of_one), (other, of_other)| {
            of_other.1.total_cmp(&of_one.1).then_with(|| one.cmp(other))
        });
        let nodes = modules.into_iter().map(|(module, (n_files, _, imports))| {
            let mut imports: Vec<(&str, usize)> = imports.into_iter().collect();
            imports.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
            let imports =
                imports.iter().take(limits.links).map(|(to, _)| (*to).to_owned()).collect();
            ModuleNode { module: module.to_owned(), files: n_files, imports }
        });
        ModuleGraph {
            nodes: files.len(),
            edges: self.map.imported.iter().map(Vec::len).sum(),
            unresolved: self.map.n_missing,
            modules: Listed::first(nodes.collect(), limits.modules),
        }
    }
}

/// A number that fits, for one that was rounded.
fn whole(number: f64) -> u64 {
    let largest = as_number(usize::try_from(u32::MAX).unwrap_or(usize::MAX));
    if number.is_finite() && 0.0 < number { (number.min(largest)) as u64 } else { 0 }
}

/// What begins in a file, by its name and by what its analysis said.
fn entry_kind(path: &str, depth: usize, is_program: bool) -> Option<EntryKind> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_top = |folders: &[&str]| {
        folders.iter().any(|top| folder == *top || folder.ends_with(&format!("/{top}")))
    };
    match name {
        // A README below the root is about its folder alone.
        _ if depth == 0 && stem.eq_ignore_ascii_case("readme") => Some(EntryKind::Readme),
        _ if is_program || name == "__main__.py" => Some(EntryKind::Program),
        "lib.rs" if is_top(&["src"]) => Some(EntryKind::Library),
        "index.ts" | "index.tsx" | "index.js" | "main.ts" | "main.js"
            if depth == 0 || is_top(&["src"]) =>
        {
            Some(EntryKind::Library)
        }
        "__init__.py" if depth == 1 || (depth == 2 && path.starts_with("src/")) => {
            Some(EntryKind::Library)
        }
        "Cargo.toml" | "go.mod" | "package.json" | "pyproject.toml" | "setup.py" | "pom.xml"
        | "build.gradle" | "build.gradle.kts" | "composer.json" | "Gemfile" | "Package.swift"
        | "mix.exs" | "CMakeLists.txt" | "Makefile" | "build.sbt"
            if depth == 0 =>
        {
            Some(EntryKind::Manifest)
        }
        _ => None,
    }
}
