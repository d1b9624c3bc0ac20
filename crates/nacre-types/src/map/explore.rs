//! Requests and reports about the overview of a project.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AnalysisProblem, MapFormat, MapHeader, SymbolKind};

names! {
    /// Level of detail of an overview.
    #[derive(Default)]
    pub enum MapDetail {
        #[default]
        Compact = "compact",
        Normal = "normal",
        Verbose = "verbose",
    }
}

/// Requests an overview of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExploreRequest {
    /// A folder in the project, or the name of a registered project. Defaults to the project that
    /// contains the current folder.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Read every file again instead of trusting modification times.
    pub refresh: bool,
    /// Fail if the map is not up to date, and write nothing.
    pub strict: bool,
    /// The output format for which the budget is calculated.
    pub format: MapFormat,
    /// The client that receives the current state of the map with this answer.
    pub client: Option<String>,
    /// Level of detail. Defaults to compact.
    pub detail: Option<MapDetail>,
    /// Maximum number of tokens of the answer. Lists are shortened to fit.
    pub budget: Option<usize>,
}

/// An overview of a project, with its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExploreReport {
    #[serde(flatten)]
    pub map: MapHeader,
    #[serde(flatten)]
    pub overview: Overview,
}

/// A list that may be incomplete, and the total number of items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Listed<T> {
    pub total: usize,
    pub items: Vec<T>,
}

/// An overview of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    pub detail: MapDetail,
    /// The first paragraph of the README, or the description in a manifest.
    pub about: Option<String>,
    /// Commands to build, run, test and check the project.
    pub commands: Listed<ProjectCommand>,
    /// Parts of the project's own code, the largest first.
    pub areas: Listed<CodeArea>,
    /// Code files that are not the project's own sources.
    pub apart: CodeApart,
    pub languages: Vec<LanguageCount>,
    pub entry_points: Listed<EntryPoint>,
    pub hot_paths: Listed<HotPath>,
    pub top_imports: Listed<TopImport>,
    pub module_graph: ModuleGraph,
    pub public_surface: Listed<PublicSurface>,
    pub tests: Listed<String>,
    /// Number of incompletely analyzed files by reason.
    pub problems: BTreeMap<AnalysisProblem, usize>,
}

/// Number of files in a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LanguageCount {
    pub language: String,
    pub files: usize,
    pub lines: u64,
}

/// A file to read first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryPoint {
    pub path: String,
    pub kind: EntryKind,
    /// Name of the program or library in a manifest.
    pub name: Option<String>,
}

names! {
    /// Kind of an entry point.
    pub enum EntryKind {
        Readme = "readme",
        Program = "program",
        Library = "library",
        Manifest = "manifest",
        /// A program for developing the project and not for its users.
        Script = "script",
    }
}

/// A command, and the file that defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectCommand {
    pub purpose: CommandPurpose,
    pub command: String,
    pub from: String,
}

names! {
    /// Purpose of a command.
    pub enum CommandPurpose {
        Build = "build",
        Run = "run",
        Test = "test",
        Lint = "lint",
    }
}

/// A part of the project: a package or a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeArea {
    /// Path of the folder; empty for files at the root.
    pub path: String,
    pub files: usize,
    pub lines: u64,
    /// Description in its manifest or README.
    pub about: Option<String>,
}

/// Code files that are not the project's own sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeApart {
    pub tests: usize,
    /// Number of examples, benchmarks and documents.
    pub aside: usize,
    pub vendored: usize,
    pub generated: usize,
}

/// A file that many others depend on and that changes often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HotPath {
    pub path: String,
    /// Rank multiplied by the number of recent commits, in thousandths of the value of an average
    /// file.
    pub heat: u64,
    pub importers: usize,
    pub commits: u32,
}

/// An external package, and the number of files that import it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopImport {
    pub module: String,
    pub files: usize,
}

/// Imports between folders. Only imports that resolve to a file are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleGraph {
    /// Number of files.
    pub nodes: usize,
    /// Number of pairs of an importing and an imported file.
    pub edges: usize,
    /// Number of imports that should resolve to a file of the project but do not.
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
