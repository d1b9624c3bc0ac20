//! What a project is, at a glance: where it starts, what it rests on, what it offers.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;

use nacre_core::base::redact::redact;
use serde::{Deserialize, Serialize};

use super::areas::{Area, CodeApart, areas, code_apart};
use super::basis::OverviewBasis;
use super::commands::ProjectCommand;
use super::entries::{EntryPoint, entry_candidates, entry_points};
use super::listed::Listed;
use super::places::{CodeRole, folder_of, is_index};
use super::rank::as_number;
use super::surface::{Surface, surface};
use super::survey::{Node, Survey};
use super::text_facts::{ReadText, TextFacts};
use crate::artifact::FileRow;
use crate::languages::{Analysis, Language, Problem};

/// Grows whenever the same state would be told otherwise: an answer that another version of the program kept is not served.
pub const OVERVIEW_FORMAT: u32 = 5;

/// How large a file is beside a small one, as a power of two: coarse enough that few edits change it, and so where the file stands.
pub(super) fn size_class(lines: u32) -> u32 {
    const SMALL: u32 = 64;
    (lines / SMALL).max(1).ilog2()
}

/// Limits are cut down to fit a budget in so many steps.
const STEPS: usize = 100;

/// So many files more than are shown are looked at: some of them may have been written by a program.
const MORE: usize = 16;

/// So many hot files of one folder are told.
const MAX_OF_FOLDER: usize = 2;

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
    /// The files that the survey is of, in the order of their paths.
    pub files: &'r [(&'r str, FileRow)],
    /// What is known of a file; asked of few.
    pub analysis: &'r dyn Fn(&str) -> Option<Analysis>,
    /// The text of a file; asked of the README, manifests, and files that are shown.
    pub text: &'r ReadText<'r>,
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

/// What a project is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    pub detail: Detail,
    /// The first paragraph of the README, or what a manifest says.
    pub about: Option<String>,
    pub commands: Listed<ProjectCommand>,
    pub languages: Vec<LanguageCount>,
    pub areas: Listed<Area>,
    /// Files of code that are not the project's own sources.
    pub apart: CodeApart,
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
pub(super) struct Limits {
    about: usize,
    commands: usize,
    areas: usize,
    entries: usize,
    hot: usize,
    imports: usize,
    modules: usize,
    links: usize,
    surfaces: usize,
    pub(super) symbols: usize,
    tests: usize,
}

impl Limits {
    pub(super) fn of(detail: Detail) -> Self {
        let limits = |entries, hot, modules, links, surfaces, symbols| Self {
            about: STEPS,
            commands: entries + entries / 2,
            areas: modules,
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
            // What it is about is the last to go.
            about: part(self.about),
            commands: part(self.commands),
            areas: part(self.areas),
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

/// Tells what a project is, within the budget, with what it took from texts.
pub fn overview(
    survey: &Survey,
    request: &OverviewRequest<'_>,
) -> Result<(Overview, OverviewBasis), TooSmall> {
    let limits = Limits::of(request.detail);
    let ranked = Ranked::new(survey, request.files, request.text, limits);
    let overview = ranked.within_budget(request, limits)?;
    Ok((overview, ranked.into_basis(limits)))
}

/// The files whose public symbols an overview would show at most.
pub fn surface_paths<'p>(
    survey: &Survey,
    detail: Detail,
    files: &[(&'p str, FileRow)],
    text: &ReadText<'_>,
) -> Vec<&'p str> {
    let limits = Limits::of(detail);
    let (facts, areas, read) = (TextFacts::default(), Vec::new(), BTreeSet::new());
    let mut ranked = Ranked { survey, files, facts, areas, read };
    ranked.look_at_offered(limits, text);
    let limit = limits.surfaces;
    ranked.offering(limit).iter().take(limit).map(|idx| files[*idx].0).collect()
}

/// A survey with its files, which are ordered by what rests on them.
struct Ranked<'g> {
    survey: &'g Survey,
    files: &'g [(&'g str, FileRow)],
    facts: TextFacts,
    areas: Vec<Area>,
    /// Files that were read for what they say.
    read: BTreeSet<String>,
}

/// A folder: how many files of code it has, how much rests on them, and where the first of them is.
struct Module {
    n_files: usize,
    rank: f64,
    first: usize,
}

impl<'g> Ranked<'g> {
    /// Reads what is needed of texts, once for all budgets.
    fn new(
        survey: &'g Survey,
        files: &'g [(&'g str, FileRow)],
        text: &ReadText<'_>,
        limits: Limits,
    ) -> Self {
        let read = RefCell::new(BTreeSet::new());
        let noted = |path: &str| {
            read.borrow_mut().insert(path.to_owned());
            text(path)
        };
        // Each looks at every path, and neither needs the other.
        let (mut areas, facts) = std::thread::scope(|scope| {
            let areas = scope.spawn(|| areas(survey, files));
            let facts = TextFacts::read(files, &noted);
            (areas.join().unwrap_or_else(|panic| resume_unwind(panic)), facts)
        });
        let shown = areas.iter().take(limits.areas).map(|area| area.path.as_str());
        let mut about = facts.about_folders(shown, files, &noted);
        for area in &mut areas {
            area.about = about.remove(&area.path);
        }
        let mut ranked = Self { survey, files, facts, areas, read: read.into_inner() };
        let programs = entry_candidates(survey, files);
        ranked.facts.look_at(programs.into_iter().take(limits.entries * 4), files, text);
        let hot = ranked.hottest_of_folders(limits.hot + MORE);
        let hot = hot.iter().take(limits.hot + MORE).map(|(_, idx)| *idx);
        ranked.facts.look_at(hot.collect::<Vec<_>>(), files, text);
        ranked.look_at_offered(limits, text);
        ranked
    }

    /// Looks which of the files that would be shown with their symbols were written by a program.
    fn look_at_offered(&mut self, limits: Limits, text: &ReadText<'_>) {
        let limit = limits.surfaces + MORE;
        let offering: Vec<usize> = self.offering(limit).into_iter().take(limit).collect();
        self.facts.look_at(offering, self.files, text);
    }

    /// Whether a file is the project's own, as far as is known.
    fn is_own(&self, idx: usize, node: &Node) -> bool {
        node.place == CodeRole::Source && !self.facts.generated.contains(&idx)
    }

    fn within_budget(
        &self,
        request: &OverviewRequest<'_>,
        limits: Limits,
    ) -> Result<Overview, TooSmall> {
        let at = |step: usize| self.overview(request, limits.scaled(step));
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

    /// What was taken from texts.
    fn into_basis(self, limits: Limits) -> OverviewBasis {
        let offering = self.offering(limits.surfaces);
        let offering = offering.iter().take(limits.surfaces).map(|idx| self.path(*idx).to_owned());
        let looked_at = self.facts.looked_at.iter();
        let looked_at = looked_at.map(|(idx, marks)| (self.path(*idx).to_owned(), *marks));
        OverviewBasis::new(&self.areas, self.read.clone(), looked_at.collect(), offering.collect())
    }

    fn overview(&self, request: &OverviewRequest<'_>, limits: Limits) -> Overview {
        let mut problems = BTreeMap::new();
        for problem in self.survey.nodes.iter().filter_map(|node| node.problem) {
            *problems.entry(problem).or_default() += 1;
        }
        std::thread::scope(|scope| {
            // The modules are half of the work.
            let modules = scope.spawn(|| self.module_graph(limits));
            Overview {
                detail: request.detail,
                about: self.facts.about.clone().filter(|_| 0 < limits.about),
                commands: Listed::first(&self.facts.commands, limits.commands, Clone::clone),
                areas: Listed::first(&self.areas, limits.areas, Clone::clone),
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
                top_imports: self.top_imports(limits.imports),
                public_surface: self.public_surface(request.analysis, limits),
                tests: self.tests(limits.tests),
                problems,
                module_graph: modules.join().unwrap_or_else(|panic| resume_unwind(panic)),
            }
        })
    }

    fn nodes(&self) -> impl Iterator<Item = (usize, &'g Node)> {
        // A survey and its files are of one revision; should they not be, what both know is told.
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
        sort_languages(&mut languages);
        languages
    }

    fn hot_paths(&self, limit: usize) -> Listed<HotPath> {
        let Survey { commits, imported, .. } = self.survey;
        let hot = self.hottest_of_folders(limit);
        let importers = |idx: usize| imported.items().iter().filter(move |to| **to as usize == idx);
        Listed::first(&hot, limit, |(heat, idx)| HotPath {
            path: self.path(*idx).to_owned(),
            heat: heat.0,
            importers: importers(*idx).count(),
            commits: commits.get(*idx).copied().unwrap_or_default(),
        })
    }

    /// A package that is imported as a whole heats all its files alike: of each folder only the first ones are told.
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

    /// Own code by its heat; the first ones so many are in order.
    fn hottest(&self, limit: usize) -> Vec<(Reverse<u64>, usize)> {
        let Survey { ranks, commits, imported, .. } = self.survey;
        let mut n_importers = vec![0_u32; self.files.len()];
        for to in imported.items() {
            n_importers[*to as usize] += 1;
        }
        let heat = |idx: usize| {
            // Where git knows nothing, a file was changed the more often the larger it is and the more others import it.
            let size = 1_u32 << size_class(self.files[idx].1.lines);
            let guess = || (f64::from(size) * f64::from(1 + n_importers[idx])).sqrt();
            let times = commits.get(idx).map_or_else(guess, |commits| f64::from(*commits));
            whole((ranks[idx] * times * 1_000.0).round())
        };
        // Many import an index that offers nothing of its own; what they get from it, others define.
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
        let packages = &self.survey.outside.packages;
        let mut counts: Vec<(Reverse<usize>, &str)> =
            packages.iter().map(|name| (Reverse(0), name.as_str())).collect();
        // What only tests or examples import, the project does not rest on.
        for (idx, _) in self.nodes().filter(|(_, node)| node.is_own()) {
            for package in self.survey.outside.of_files.of(idx) {
                counts[*package as usize].0.0 += 1;
            }
        }
        counts.retain(|(files, _)| 0 < files.0);
        first_by(&mut counts, limit, Ord::cmp);
        Listed::first(&counts, limit, |(files, module)| TopImport {
            module: redact(module).into_owned(),
            files: files.0,
        })
    }

    /// The files that offer something; of the first ones so many are those that most rests on.
    fn offering(&self, limit: usize) -> Vec<usize> {
        let ranks = &self.survey.ranks;
        let offers = self.nodes().filter(|(idx, node)| node.is_public && self.is_own(*idx, node));
        let mut files: Vec<usize> = offers.map(|(idx, _)| idx).collect();
        first_by(&mut files, limit, |one, other| {
            ranks[*other].total_cmp(&ranks[*one]).then_with(|| one.cmp(other))
        });
        files
    }

    /// The surfaces of the files that most rests on.
    fn public_surface(
        &self,
        analysis: &dyn Fn(&str) -> Option<Analysis>,
        limits: Limits,
    ) -> Listed<Surface> {
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
        Listed::first(&tests, limit, |idx| self.path(*idx).to_owned())
    }

    fn module_graph(&self, limits: Limits) -> ModuleGraph {
        let mut modules = self.modules();
        first_by(&mut modules, limits.modules, |(one, of_one), (other, of_other)| {
            of_other.rank.total_cmp(&of_one.rank).then_with(|| one.cmp(other))
        });
        let modules = Listed::first(&modules, limits.modules, |(name, module)| ModuleNode {
            module: (*name).to_owned(),
            files: module.n_files,
            imports: self.imports_of(name, module, limits.links),
        });
        ModuleGraph {
            nodes: self.files.len(),
            edges: self.survey.imported.n_items(),
            unresolved: self.survey.outside.n_missing as usize,
            modules,
        }
    }

    /// The folders with own code in them.
    fn modules(&self) -> Vec<(&'g str, Module)> {
        let mut modules: Vec<(&str, Module)> = Vec::new();
        // Everything below a folder stands together, so only the folders around the last file can come again.
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

    /// The other folders that a folder's files import, most imported first.
    fn imports_of(&self, name: &str, module: &Module, limit: usize) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let code = self.nodes().skip(module.first).filter(|(_, node)| node.is_own());
        // What lies below a folder stands between its own files.
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

/// Those with most lines come first.
pub(super) fn sort_languages(languages: &mut [LanguageCount]) {
    languages.sort_by(|one, other| (other.lines, &one.language).cmp(&(one.lines, &other.language)));
}

/// Brings the first of a list to its front, in order; what comes after them stays as it is.
pub(super) fn first_by<T>(
    all: &mut [T],
    limit: usize,
    mut compare: impl FnMut(&T, &T) -> std::cmp::Ordering,
) {
    let first = match limit.checked_sub(1).filter(|last| *last < all.len()) {
        Some(last) => {
            all.select_nth_unstable_by(last, &mut compare);
            &mut all[..limit]
        }
        None if limit == 0 => return,
        None => all,
    };
    first.sort_unstable_by(compare);
}

/// Whether a folder is another one, or lies in it.
fn is_within(folder: &str, other: &str) -> bool {
    let rest = folder.strip_prefix(other);
    other.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A number that fits, for one that was rounded.
fn whole(number: f64) -> u64 {
    let largest = as_number(usize::try_from(u32::MAX).unwrap_or(usize::MAX));
    if number.is_finite() && 0.0 < number { (number.min(largest)) as u64 } else { 0 }
}
