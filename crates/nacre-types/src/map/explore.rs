//! Requests and reports for the project overview.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AnalysisProblem, MapFormat, MapHeader, SymbolKind};

names! {
    /// How detailed an overview is.
    #[derive(Default)]
    pub enum MapDetail {
        #[default]
        Compact = "compact",
        Normal = "normal",
        Verbose = "verbose",
    }
}

/// A request for a project overview.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExploreRequest {
    /// A directory in the project, or the name of a registered project. Defaults to the project
    /// that contains the current directory.
    #[serde(alias = "project_root")]
    pub project: Option<String>,
    /// Reread every file instead of relying on modification times.
    pub refresh: bool,
    /// Do not write the map, and fail if it is out of date.
    pub strict: bool,
    /// The output format used to calculate the token budget.
    pub format: MapFormat,
    /// Name of a client to mark as up to date with this revision. A later delta can start at
    /// `client:NAME`.
    pub client: Option<String>,
    /// Level of detail. Defaults to compact.
    pub detail: Option<MapDetail>,
    /// Maximum number of tokens in the response. Lists are shortened to fit.
    pub budget: Option<usize>,
}

/// A project overview, and the state of the project.
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
    /// The first paragraph of the README, or the description from a manifest.
    pub about: Option<String>,
    /// Commands to build, run, test and check the project.
    pub commands: Listed<ProjectCommand>,
    /// Parts of the project's own code, largest first.
    pub areas: Listed<CodeArea>,
    /// Number of code files outside the project's own sources, by kind.
    pub apart: CodeApart,
    pub languages: Vec<LanguageCount>,
    pub entry_points: Listed<EntryPoint>,
    pub hot_paths: Listed<HotPath>,
    pub top_imports: Listed<TopImport>,
    pub module_graph: ModuleGraph,
    pub public_surface: Listed<PublicSurface>,
    pub tests: Listed<String>,
    /// Number of incompletely analyzed files, by reason.
    pub problems: BTreeMap<AnalysisProblem, usize>,
}

/// Number of files in a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LanguageCount {
    pub language: String,
    pub files: usize,
    pub lines: u64,
}

/// A file that is a good starting point for reading the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryPoint {
    pub path: String,
    pub kind: EntryKind,
    /// Name of the program or library, from a manifest.
    pub name: Option<String>,
}

names! {
    /// The kind of entry point.
    pub enum EntryKind {
        Readme = "readme",
        Program = "program",
        Library = "library",
        Manifest = "manifest",
        /// A program for developing the project that is not meant for its users.
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
    /// What a command is for.
    pub enum CommandPurpose {
        Build = "build",
        Run = "run",
        Test = "test",
        Lint = "lint",
    }
}

/// A part of the project: a package or a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeArea {
    /// Path of the directory; empty for files in the project root.
    pub path: String,
    pub files: usize,
    pub lines: u64,
    /// Description from the area's manifest or README.
    pub about: Option<String>,
}

/// Number of code files outside the project's own sources, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeApart {
    pub tests: usize,
    /// Number of examples, benchmarks and documents.
    pub aside: usize,
    pub vendored: usize,
    pub generated: usize,
}

/// A frequently changed file on which many others depend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HotPath {
    pub path: String,
    /// The file's rank multiplied by its number of recent commits. An average file has the value
    /// 1000.
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

/// Imports between directories. Only imports that resolve to a file are included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleGraph {
    /// Number of files.
    pub nodes: usize,
    /// Number of imports, where each pair of importing and imported files counts once.
    pub edges: usize,
    /// Number of imports that should resolve to a project file but do not.
    pub unresolved: usize,
    pub modules: Listed<ModuleNode>,
}

/// A directory, and the directories that its files import from.
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
