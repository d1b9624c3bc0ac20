//! Builds a project overview: entry points, the most imported and most frequently changed files,
//! and public symbols.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use nacre_base::redact::redact;
use nacre_types::{
    CodeArea, HotPath, LanguageCount, Listed, MapDetail, ModuleGraph, ModuleNode, Overview,
    PublicSurface, SurfaceSymbol, TopImport,
};

use super::areas::{areas, code_apart};
use super::entries::{entry_candidates, entry_points};
use super::places::{CodeRole, folder_of, is_index};
use super::survey::{Node, Survey};
use super::text_facts::{ReadText, TextFacts};
use super::weights::{as_number, first_by, list_first};
use crate::artifact::FileRow;
use crate::languages::{Analysis, Language, SymbolFacts};

/// Increase this version whenever the same state would produce a different overview. Stored
/// overviews with a different version are ignored.
pub const OVERVIEW_FORMAT: u32 = 6;

/// Returns a file's size class as a power of two, so that small edits rarely affect the order of
/// files.
fn size_class(lines: u32) -> u32 {
    const SMALL: u32 = 64;
    (lines / SMALL).max(1).ilog2()
}

/// Number of steps in which lists are shortened until the overview fits its budget.
const STEPS: usize = 100;

/// How many additional files to read, in case some of them turn out to be generated.
const MORE: usize = 16;

/// Maximum number of hot files per directory, as long as other directories have enough files.
const MAX_OF_FOLDER: usize = 2;

pub struct OverviewRequest<'r> {
    pub detail: MapDetail,
    /// The files in the survey, sorted by path.
    pub files: &'r [(&'r str, FileRow)],
    /// Returns the analysis of a file. This function is called only for a few files.
    pub analysis: &'r dyn Fn(&str) -> Option<Analysis>,
    /// Returns the content of a file. This function is called for the README, for manifests, and
    /// for files that are shown.
    pub text: &'r ReadText<'r>,
    pub budget: Option<usize>,
    /// Returns how many tokens a printed overview takes, including the text around it.
    pub cost: &'r dyn Fn(&Overview) -> usize,
}

/// Even an empty result exceeds the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A budget of {budget} tokens is too small; at least {needed} are needed")]
pub struct TooSmall {
    pub budget: usize,
    pub needed: usize,
}

/// The overview's list lengths, scaled to `step` percent.
#[derive(Clone, Copy, Debug)]
struct Limits {
    step: usize,
    entries: usize,
    hot: usize,
    modules: usize,
    links: usize,
    surfaces: usize,
    symbols: usize,
}

impl Limits {
    fn of(detail: MapDetail, step: usize) -> Self {
        let [entries, hot, modules, links, surfaces, symbols] = match detail {
            MapDetail::Compact => [8, 8, 12, 6, 8, 8],
            MapDetail::Normal => [16, 24, 40, 12, 24, 20],
            MapDetail::Verbose => [64, 100, 200, 40, 100, 64],
        }
        .map(|limit| limit * step / STEPS);
        Self { step, entries, hot, modules, links, surfaces, symbols }
    }
}

pub fn overview(survey: &Survey, request: &OverviewRequest<'_>) -> Result<Overview, TooSmall> {
    let limits = Limits::of(request.detail, STEPS);
    Ranked::new(survey, request.files, request.text, limits).within_budget(request)
}

pub fn surface_paths<'p>(
    survey: &Survey,
    detail: MapDetail,
    files: &[(&'p str, FileRow)],
    text: &ReadText<'_>,
) -> Vec<&'p str> {
    let limits = Limits::of(detail, STEPS);
    let mut ranked = Ranked { survey, files, facts: TextFacts::default(), areas: Vec::new() };
    ranked.look_at_offered(limits, text);
    let limit = limits.surfaces;
    ranked.offering(limit).iter().take(limit).map(|idx| files[*idx].0).collect()
}

struct Ranked<'g> {
    survey: &'g Survey,
    files: &'g [(&'g str, FileRow)],
    facts: TextFacts,
    areas: Vec<CodeArea>,
}

/// A directory's code files: how many there are, the sum of their ranks, and the first one.
struct Module {
    n_files: usize,
    rank: f64,
    first: usize,
}

impl<'g> Ranked<'g> {
    fn new(
        survey: &'g Survey,
        files: &'g [(&'g str, FileRow)],
        text: &ReadText<'_>,
        limits: Limits,
    ) -> Self {
        let facts = TextFacts::read(files, text);
        let mut areas = areas(survey, files);
        let shown = areas.iter().take(limits.modules).map(|area| area.path.as_str());
        let mut about = facts.about_folders(shown, files, text);
        for area in &mut areas {
            area.about = about.remove(&area.path);
        }
        let mut ranked = Self { survey, files, facts, areas };
        let programs = entry_candidates(survey, files).into_iter().take(limits.entries * 4);
        ranked.facts.look_at(programs, files, text);
        let hot = ranked.hottest_of_folders(limits.hot + MORE);
        let hot = hot.into_iter().take(limits.hot + MORE).map(|(_, idx)| idx);
        ranked.facts.look_at(hot, files, text);
        ranked.look_at_offered(limits, text);
        ranked
    }

    fn look_at_offered(&mut self, limits: Limits, text: &ReadText<'_>) {
        let limit = limits.surfaces + MORE;
        let offering: Vec<usize> = self.offering(limit).into_iter().take(limit).collect();
        self.facts.look_at(offering, self.files, text);
    }

    /// Returns whether a file is the project's own code. Generated files are recognized only once
    /// they have been read.
    fn is_own(&self, idx: usize, node: &Node) -> bool {
        node.place == CodeRole::Source && !self.facts.generated.contains(&idx)
    }

    fn within_budget(&self, request: &OverviewRequest<'_>) -> Result<Overview, TooSmall> {
        let at = |step: usize| self.overview(request, Limits::of(request.detail, step));
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

    fn overview(&self, request: &OverviewRequest<'_>, limits: Limits) -> Overview {
        let mut problems = BTreeMap::new();
        for problem in self.survey.nodes.iter().filter_map(|node| node.problem) {
            *problems.entry(problem).or_default() += 1;
        }
        let commands = (limits.entries + limits.entries / 2, &self.facts.commands);
        Overview {
            detail: request.detail,
            // When the overview is shortened, the description is removed last.
            about: self.facts.about.clone().filter(|_| 0 < limits.step),
            commands: list_first(commands.1, commands.0, Clone::clone),
            areas: list_first(&self.areas, limits.modules, Clone::clone),
            apart: code_apart(self.survey),
            languages: self.languages(),
            entry_points: entry_points(
                self.survey,
                self.files,
                &self.facts,
                &self.areas,
                limits.entries,
            ),
            hot_paths: self.hot_paths(limits.hot),
            top_imports: self.top_imports(limits.entries),
            module_graph: self.module_graph(limits),
            public_surface: self.public_surface(request.analysis, limits),
            tests: self.tests(limits.entries),
            problems,
        }
    }

    fn nodes(&self) -> impl Iterator<Item = (usize, &'g Node)> {
        // `take` skips nodes without a file, in case the survey and the file list are from
        // different revisions.
        self.survey.nodes.iter().enumerate().take(self.files.len())
    }

    fn path(&self, idx: usize) -> &'g str {
        self.files.get(idx).map_or("", |(path, _)| path)
    }

    fn languages(&self) -> Vec<LanguageCount> {
        let mut counts: Vec<(usize, u64)> = vec![(0, 0); Language::all().count()];
        for (idx, node) in self.nodes() {
            if node.place == CodeRole::Vendored {
                continue;
            }
            if let Some(count) =
                node.language.and_then(|language| counts.get_mut(language as usize))
            {
                *count = (count.0 + 1, count.1 + u64::from(self.files[idx].1.lines));
            }
        }
        let counted = Language::all().map(|language| (language, counts[language as usize]));
        let mut languages: Vec<LanguageCount> = counted
            .filter(|(_, (files, _))| 0 < *files)
            .map(|(language, (files, lines))| LanguageCount {
                language: language.name().to_owned(),
                files,
                lines,
            })
            .collect();
        languages
            .sort_by(|one, other| (other.lines, &one.language).cmp(&(one.lines, &other.language)));
        languages
    }

    fn hot_paths(&self, limit: usize) -> Listed<HotPath> {
        let Survey { commits, imported, .. } = self.survey;
        let hot = self.hottest_of_folders(limit);
        let importers = |idx: usize| imported.items.iter().filter(move |to| **to as usize == idx);
        list_first(&hot, limit, |(heat, idx)| HotPath {
            path: self.path(*idx).to_owned(),
            heat: heat.0,
            importers: importers(*idx).count(),
            commits: commits.get(*idx).copied().unwrap_or_default(),
        })
    }

    /// Importing a package as a whole makes all its files hotter, so the first pass selects only a
    /// few files per directory.
    fn hottest_of_folders(&self, limit: usize) -> Vec<(Reverse<u64>, usize)> {
        let hot = self.hottest(limit * MAX_OF_FOLDER * 4);
        let mut n_of: BTreeMap<&str, usize> = BTreeMap::new();
        let mut first = Vec::new();
        let mut rest = Vec::new();
        for one in hot {
            if first.len() == limit {
                rest.push(one);
                continue;
            }
            let n_before = n_of.entry(folder_of(self.path(one.1))).or_default();
            *n_before += 1;
            let is_first = *n_before <= MAX_OF_FOLDER;
            if is_first { first.push(one) } else { rest.push(one) }
        }
        first.extend(rest);
        first
    }

    /// Returns the project's own code files, hottest first. Only the first `limit` files are
    /// sorted.
    fn hottest(&self, limit: usize) -> Vec<(Reverse<u64>, usize)> {
        let Survey { ranks, commits, imported, .. } = self.survey;
        let mut n_importers = vec![0_u32; self.files.len()];
        for to in &imported.items {
            n_importers[*to as usize] += 1;
        }
        let heat = |idx: usize| {
            // Without a git history, a file's number of changes is estimated from its size and its
            // number of importers.
            let size = 1_u32 << size_class(self.files[idx].1.lines);
            let guess = || (f64::from(size) * f64::from(1 + n_importers[idx])).sqrt();
            let times = commits.get(idx).map_or_else(guess, |commits| f64::from(*commits));
            whole((ranks[idx] * times * 1_000.0).round())
        };
        // Index files that only re-export definitions are omitted.
        let hands_on = |idx: usize, node: &Node| !node.is_public && is_index(self.path(idx));
        let is_code = |idx: usize, node: &Node| {
            node.language.is_some() && self.is_own(idx, node) && !hands_on(idx, node)
        };
        let code = self.nodes().filter(|(idx, node)| is_code(*idx, node));
        let mut hot: Vec<(Reverse<u64>, usize)> =
            code.map(|(idx, _)| (Reverse(heat(idx)), idx)).collect();
        hot.retain(|(heat, _)| 0 < heat.0);
        first_by(&mut hot, limit, Ord::cmp);
        hot
    }

    fn top_imports(&self, limit: usize) -> Listed<TopImport> {
        let packages = &self.survey.packages;
        let mut counts: Vec<(Reverse<usize>, &str)> =
            packages.iter().map(|name| (Reverse(0), name.as_str())).collect();
        // Packages imported only by tests or examples are not dependencies of the project.
        for (idx, _) in self.nodes().filter(|(_, node)| node.is_own()) {
            for package in self.survey.packages_of.of(idx) {
                counts[*package as usize].0.0 += 1;
            }
        }
        counts.retain(|(files, _)| 0 < files.0);
        first_by(&mut counts, limit, Ord::cmp);
        list_first(&counts, limit, |(files, module)| TopImport {
            module: redact(module).into_owned(),
            files: files.0,
        })
    }

    /// Returns the files with public symbols. Only the first `limit` files are sorted by rank.
    fn offering(&self, limit: usize) -> Vec<usize> {
        let ranks = &self.survey.ranks;
        let offers = self.nodes().filter(|(idx, node)| node.is_public && self.is_own(*idx, node));
        let mut files: Vec<usize> = offers.map(|(idx, _)| idx).collect();
        first_by(&mut files, limit, |one, other| {
            ranks[*other].total_cmp(&ranks[*one]).then_with(|| one.cmp(other))
        });
        files
    }

    fn public_surface(
        &self,
        analysis: &dyn Fn(&str) -> Option<Analysis>,
        limits: Limits,
    ) -> Listed<PublicSurface> {
        let files = self.offering(limits.surfaces);
        let shown = files.iter().take(limits.surfaces).filter_map(|idx| {
            let path = self.path(*idx);
            surface(path, &analysis(path)?.symbols, limits.symbols)
        });
        Listed { total: files.len(), items: shown.collect() }
    }

    fn tests(&self, limit: usize) -> Listed<String> {
        let tests: Vec<usize> =
            self.nodes().filter(|(_, node)| node.is_test).map(|(idx, _)| idx).collect();
        list_first(&tests, limit, |idx| self.path(*idx).to_owned())
    }

    fn module_graph(&self, limits: Limits) -> ModuleGraph {
        let mut modules = self.modules();
        first_by(&mut modules, limits.modules, |(one, of_one), (other, of_other)| {
            of_other.rank.total_cmp(&of_one.rank).then_with(|| one.cmp(other))
        });
        let modules = list_first(&modules, limits.modules, |(name, module)| ModuleNode {
            module: (*name).to_owned(),
            files: module.n_files,
            imports: self.imports_of(name, module, limits.links),
        });
        ModuleGraph {
            nodes: self.files.len(),
            edges: self.survey.imported.items.len(),
            unresolved: self.survey.n_missing as usize,
            modules,
        }
    }

    fn modules(&self) -> Vec<(&'g str, Module)> {
        let mut modules: Vec<(&str, Module)> = Vec::new();
        // Files are sorted by path, so the only earlier directories that can reappear are ancestors
        // of the current one.
        let mut around: Vec<usize> = Vec::new();
        for (idx, _) in self.nodes().filter(|(_, node)| node.is_own()) {
            let folder = folder_of(self.path(idx));
            while around.last().is_some_and(|place| !is_within(folder, modules[*place].0)) {
                around.pop();
            }
            let place = match around.last() {
                Some(place) if modules[*place].0 == folder => *place,
                Some(_) | None => {
                    around.push(modules.len());
                    modules.push((folder, Module { n_files: 0, rank: 0.0, first: idx }));
                    modules.len() - 1
                }
            };
            modules[place].1.n_files += 1;
            modules[place].1.rank += self.survey.ranks[idx];
        }
        modules
    }

    fn imports_of(&self, name: &str, module: &Module, limit: usize) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let code = self.nodes().skip(module.first).filter(|(_, node)| node.is_own());
        // The content of subdirectories is listed between the directory's own files.
        let around = code.take_while(|(idx, _)| self.path(*idx).starts_with(name));
        let own = around.filter(|(idx, _)| folder_of(self.path(*idx)) == name);
        for to in own.take(module.n_files).flat_map(|(idx, _)| self.survey.imported.of(idx)) {
            *counts.entry(folder_of(self.path(*to as usize))).or_default() += 1;
        }
        counts.remove(name);
        let mut imports: Vec<(&str, usize)> = counts.into_iter().collect();
        imports.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
        imports.iter().take(limit).map(|(to, _)| (*to).to_owned()).collect()
    }
}

fn surface(path: &str, symbols: &[SymbolFacts], limit: usize) -> Option<PublicSurface> {
    // A trait implementation's methods are implied by the trait, and methods such as `__init__` by
    // the class.
    let is_implied = |name: &str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        name.contains(" for ") || last.starts_with("__") && last.ends_with("__")
    };
    let public: Vec<&SymbolFacts> =
        symbols.iter().filter(|symbol| symbol.is_offered() && !is_implied(&symbol.name)).collect();
    let symbols = list_first(&public, limit, |symbol| SurfaceSymbol {
        name: symbol.name.clone(),
        kind: symbol.kind,
        line: symbol.first_line,
        signature: redact(&symbol.signature).into_owned(),
    });
    (!public.is_empty()).then(|| PublicSurface { path: path.to_owned(), symbols })
}

fn is_within(folder: &str, other: &str) -> bool {
    let rest = folder.strip_prefix(other);
    other.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn whole(number: f64) -> u64 {
    let largest = as_number(usize::try_from(u32::MAX).unwrap_or(usize::MAX));
    if number.is_finite() && 0.0 < number { (number.min(largest)) as u64 } else { 0 }
}
