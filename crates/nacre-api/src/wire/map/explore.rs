//! What a project is, at a glance.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Report;
use super::{AnalysisProblem, MapFormat, MapHeader, SymbolKind};

/// How much an overview tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MapDetail {
    #[default]
    Compact,
    Normal,
    Verbose,
}

/// Which project to give an overview of, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExploreRequest {
    /// A folder inside the project, or a registered name. Without it, the project around the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting its times.
    pub refresh: bool,
    /// Fail when the map was not up to date, and write nothing.
    pub strict: bool,
    /// The form that the budget is counted in.
    pub format: MapFormat,
    /// The client that has then seen the map as it is now.
    pub client: Option<String>,
    /// Compact unless said otherwise.
    pub detail: Option<MapDetail>,
    /// Tokens that the answer may have; its lists are cut until it fits.
    pub budget: Option<usize>,
}

/// What is asked of a map that is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExploreQuestion {
    pub client: Option<String>,
    pub detail: Option<MapDetail>,
    pub budget: Option<usize>,
}

/// What a project is, and of which state of it that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreReport {
    #[serde(flatten)]
    pub map: MapHeader,
    #[serde(flatten)]
    pub overview: Overview,
}

impl Report for ExploreReport {}

/// A list that may be shown in part; the total is of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listed<T> {
    pub total: usize,
    pub items: Vec<T>,
}

/// What a project is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub detail: MapDetail,
    /// The first paragraph of the README, or what a manifest says.
    pub about: Option<String>,
    /// How to build, run, test and check the project.
    pub commands: Listed<ProjectCommand>,
    /// The parts that the project's own code is made of, largest first.
    pub areas: Listed<CodeArea>,
    /// Files of code that are not the project's own sources.
    pub apart: CodeApart,
    pub languages: Vec<LanguageCount>,
    pub entry_points: Listed<EntryPoint>,
    pub hot_paths: Listed<HotPath>,
    pub top_imports: Listed<TopImport>,
    pub module_graph: ModuleGraph,
    pub public_surface: Listed<PublicSurface>,
    pub tests: Listed<String>,
    /// Files whose analysis is not whole, by why.
    pub problems: BTreeMap<AnalysisProblem, usize>,
}

/// How many files there are of a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LanguageCount {
    pub language: String,
    pub files: usize,
    pub lines: u64,
}

/// A file to begin with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryPoint {
    pub path: String,
    pub kind: EntryKind,
    /// What a manifest calls the program or library.
    pub name: Option<String>,
}

/// What begins in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    Readme,
    Program,
    Library,
    Manifest,
    /// A program that serves the work on the project rather than its users.
    Script,
}

/// A command, and the file that says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectCommand {
    pub purpose: CommandPurpose,
    pub command: String,
    pub from: String,
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandPurpose {
    Build,
    Run,
    Test,
    Lint,
}

/// A part of the project: a package, or a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeArea {
    /// Empty for what lies in no folder.
    pub path: String,
    pub files: usize,
    pub lines: u64,
    /// What its manifest or README says it is.
    pub about: Option<String>,
}

/// Files of code that are not the project's own sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeApart {
    pub tests: usize,
    /// Examples, benchmarks and documents.
    pub aside: usize,
    pub vendored: usize,
    pub generated: usize,
}

/// A file that much depends on and that changes often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HotPath {
    pub path: String,
    /// Rank times recent commits, in thousandths of an average file's.
    pub heat: u64,
    pub importers: usize,
    pub commits: u32,
}

/// A package from outside the project, and how many files import it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopImport {
    pub module: String,
    pub files: usize,
}

/// Which folders import which; only imports that lead to a file count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleNode {
    pub module: String,
    pub files: usize,
    pub imports: Vec<String>,
}

/// The public symbols of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PublicSurface {
    pub path: String,
    pub symbols: Listed<SurfaceSymbol>,
}

/// A public symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurfaceSymbol {
    pub name: String,
    pub kind: SymbolKind,
    pub line: u32,
    pub signature: String,
}
