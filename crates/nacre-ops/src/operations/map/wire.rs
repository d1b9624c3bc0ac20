//! What the map knows, as it goes over the wire: field by field, and nothing else.

use nacre_api::wire::{
    AffectedFile, AnalysisDepth, AnalysisProblem, CacheStatus, CodeApart, CodeArea, CodeChange,
    CommandPurpose, ContextFile, ContextSlice, ContextSymbol, EntryKind, EntryPoint, FileDelta,
    HotPath, LanguageCount, LeftOut, Listed, MapDetail, MapRevision, MapStats, MapVerdict,
    ModuleGraph, ModuleNode, Overview, ProjectCommand, PublicSurface, SkippedCounts, SurfaceSymbol,
    SymbolDelta, SymbolDeltas, SymbolForm, SymbolKind, TopImport, WhyRelevant,
};
use nacre_map::artifact::{Revision, Skipped};
use nacre_map::indexer::{self, Affected, ChangeKind, FileChange, FileVerdict, RefreshStats};
use nacre_map::languages::{self, Depth, Problem};
use nacre_map::slices::{self, Detail, Form, Surface, Why};

pub(super) fn revision(of: Revision) -> MapRevision {
    let Revision { epoch, number } = of;
    MapRevision { epoch, number }
}

pub(super) fn core_revision(of: MapRevision) -> Revision {
    let MapRevision { epoch, number } = of;
    Revision { epoch, number }
}

pub(super) fn cache_status(of: indexer::CacheStatus) -> CacheStatus {
    match of {
        indexer::CacheStatus::Hit => CacheStatus::Hit,
        indexer::CacheStatus::Miss => CacheStatus::Miss,
        indexer::CacheStatus::Refreshed => CacheStatus::Refreshed,
        indexer::CacheStatus::StaleRebuild => CacheStatus::StaleRebuild,
    }
}

pub(super) fn stats(of: &RefreshStats) -> MapStats {
    let RefreshStats {
        file_count,
        total_bytes,
        reused_entries,
        rehashed_entries,
        unread_files,
        postponed_files,
        skipped,
    } = *of;
    let Skipped { denied, links, special, unreadable, unnamable, nested, too_deep, unread_rules } =
        skipped;
    let skipped = SkippedCounts {
        denied,
        links,
        special,
        unreadable,
        unnamable,
        nested,
        too_deep,
        unread_rules,
    };
    MapStats {
        file_count,
        total_bytes,
        reused_entries,
        rehashed_entries,
        unread_files,
        postponed_files,
        skipped,
    }
}

pub(super) fn detail(of: MapDetail) -> Detail {
    match of {
        MapDetail::Compact => Detail::Compact,
        MapDetail::Normal => Detail::Normal,
        MapDetail::Verbose => Detail::Verbose,
    }
}

pub(super) fn overview(of: &slices::Overview) -> Overview {
    let graph = &of.module_graph;
    Overview {
        detail: match of.detail {
            Detail::Compact => MapDetail::Compact,
            Detail::Normal => MapDetail::Normal,
            Detail::Verbose => MapDetail::Verbose,
        },
        about: of.about.clone(),
        commands: listed(&of.commands, |one| ProjectCommand {
            purpose: purpose(one.purpose),
            command: one.command.clone(),
            from: one.from.clone(),
        }),
        areas: listed(&of.areas, |area| CodeArea {
            path: area.path.clone(),
            files: area.files,
            lines: area.lines,
            about: area.about.clone(),
        }),
        apart: code_apart(of.apart),
        languages: of
            .languages
            .iter()
            .map(|one| LanguageCount {
                language: one.language.clone(),
                files: one.files,
                lines: one.lines,
            })
            .collect(),
        entry_points: listed(&of.entry_points, |entry| EntryPoint {
            path: entry.path.clone(),
            kind: entry_kind(entry.kind),
            name: entry.name.clone(),
        }),
        hot_paths: listed(&of.hot_paths, |hot| HotPath {
            path: hot.path.clone(),
            heat: hot.heat,
            importers: hot.importers,
            commits: hot.commits,
        }),
        top_imports: listed(&of.top_imports, |import| TopImport {
            module: import.module.clone(),
            files: import.files,
        }),
        module_graph: ModuleGraph {
            nodes: graph.nodes,
            edges: graph.edges,
            unresolved: graph.unresolved,
            modules: listed(&graph.modules, |node| ModuleNode {
                module: node.module.clone(),
                files: node.files,
                imports: node.imports.clone(),
            }),
        },
        public_surface: listed(&of.public_surface, surface),
        tests: listed(&of.tests, String::clone),
        problems: of.problems.iter().map(|(why, count)| (problem(*why), *count)).collect(),
    }
}

fn listed<T, W>(of: &slices::Listed<T>, item: impl Fn(&T) -> W) -> Listed<W> {
    Listed { total: of.total, items: of.items.iter().map(item).collect() }
}

fn surface(of: &Surface) -> PublicSurface {
    let symbols = listed(&of.symbols, |symbol| SurfaceSymbol {
        name: symbol.name.clone(),
        kind: symbol_kind(symbol.kind),
        line: symbol.line,
        signature: symbol.signature.clone(),
    });
    PublicSurface { path: of.path.clone(), symbols }
}

fn entry_kind(of: slices::EntryKind) -> EntryKind {
    match of {
        slices::EntryKind::Readme => EntryKind::Readme,
        slices::EntryKind::Program => EntryKind::Program,
        slices::EntryKind::Library => EntryKind::Library,
        slices::EntryKind::Manifest => EntryKind::Manifest,
        slices::EntryKind::Script => EntryKind::Script,
    }
}

fn purpose(of: slices::Purpose) -> CommandPurpose {
    match of {
        slices::Purpose::Build => CommandPurpose::Build,
        slices::Purpose::Run => CommandPurpose::Run,
        slices::Purpose::Test => CommandPurpose::Test,
        slices::Purpose::Lint => CommandPurpose::Lint,
    }
}

fn code_apart(of: slices::CodeApart) -> CodeApart {
    let slices::CodeApart { tests, aside, vendored, generated } = of;
    CodeApart { tests, aside, vendored, generated }
}

fn problem(of: Problem) -> AnalysisProblem {
    match of {
        Problem::NotText => AnalysisProblem::NotText,
        Problem::TooLarge => AnalysisProblem::TooLarge,
        Problem::Broken => AnalysisProblem::Broken,
        Problem::TooMany => AnalysisProblem::TooMany,
        Problem::Unreadable => AnalysisProblem::Unreadable,
    }
}

pub(super) fn symbol_kind(of: languages::SymbolKind) -> SymbolKind {
    match of {
        languages::SymbolKind::Function => SymbolKind::Function,
        languages::SymbolKind::Method => SymbolKind::Method,
        languages::SymbolKind::Class => SymbolKind::Class,
        languages::SymbolKind::Struct => SymbolKind::Struct,
        languages::SymbolKind::Enum => SymbolKind::Enum,
        languages::SymbolKind::Interface => SymbolKind::Interface,
        languages::SymbolKind::Implementation => SymbolKind::Implementation,
        languages::SymbolKind::Module => SymbolKind::Module,
        languages::SymbolKind::Type => SymbolKind::Type,
        languages::SymbolKind::Constant => SymbolKind::Constant,
        languages::SymbolKind::Macro => SymbolKind::Macro,
    }
}

pub(super) fn context(of: &slices::ContextSlice) -> ContextSlice {
    let slices::LeftOut { symbols, files, listed } = &of.left_out;
    ContextSlice {
        budget: of.budget,
        files: of.files.iter().map(context_file).collect(),
        left_out: LeftOut { symbols: *symbols, files: *files, listed: listed.clone() },
    }
}

fn context_file(of: &slices::ContextFile) -> ContextFile {
    let symbols = of.symbols.iter().map(|symbol| ContextSymbol {
        name: symbol.name.clone(),
        kind: symbol_kind(symbol.kind),
        first_line: symbol.first_line,
        last_line: symbol.last_line,
        form: match symbol.form {
            Form::Name => SymbolForm::Name,
            Form::Signature => SymbolForm::Signature,
            Form::Body => SymbolForm::Body,
        },
        text: symbol.text.clone(),
    });
    ContextFile {
        path: of.path.clone(),
        why: of.why.iter().map(|why| why_relevant(*why)).collect(),
        words: of.words.clone(),
        symbols: symbols.collect(),
    }
}

fn why_relevant(of: Why) -> WhyRelevant {
    match of {
        Why::Asked => WhyRelevant::Asked,
        Why::Words => WhyRelevant::Words,
        Why::Near => WhyRelevant::Near,
        Why::Meaning => WhyRelevant::Meaning,
        Why::Memory => WhyRelevant::Memory,
    }
}

pub(super) fn file_delta(of: FileChange) -> FileDelta {
    let FileChange { path, change, from, old_hash, new_hash, symbols, .. } = of;
    FileDelta {
        path,
        change: code_change(change),
        from,
        old_hash: old_hash.map(|hash| hash.to_string()),
        new_hash: new_hash.map(|hash| hash.to_string()),
        symbols: symbols.map(symbol_deltas),
    }
}

fn symbol_deltas(of: indexer::SymbolDelta) -> SymbolDeltas {
    let changed = of.changed.into_iter().map(|symbol| SymbolDelta {
        kind: symbol_kind(symbol.kind),
        change: code_change(symbol.change),
        is_signature: symbol.is_signature,
        name: symbol.name,
    });
    SymbolDeltas {
        depth: match of.depth {
            Depth::None => AnalysisDepth::None,
            Depth::Glance => AnalysisDepth::Glance,
            Depth::Full => AnalysisDepth::Full,
        },
        changed: changed.collect(),
    }
}

fn code_change(of: ChangeKind) -> CodeChange {
    match of {
        ChangeKind::Added => CodeChange::Added,
        ChangeKind::Modified => CodeChange::Modified,
        ChangeKind::Removed => CodeChange::Removed,
        ChangeKind::Renamed => CodeChange::Renamed,
    }
}

pub(super) fn affected(of: Affected) -> AffectedFile {
    let Affected { path, depth, symbols } = of;
    AffectedFile { path, depth, symbols }
}

pub(super) fn verdict(of: FileVerdict) -> MapVerdict {
    match of {
        FileVerdict::Mapped { is_tracked, is_unread } => {
            MapVerdict::Mapped { is_tracked, is_unread }
        }
        FileVerdict::Denied { rule } => MapVerdict::Denied { rule },
        FileVerdict::Ignored { rule, folder } => MapVerdict::Ignored { rule, folder },
        FileVerdict::Noise { folder } => MapVerdict::Noise { folder },
        FileVerdict::RulesUnread { folder } => MapVerdict::RulesUnread { folder },
        FileVerdict::Nested { folder } => MapVerdict::Nested { folder },
        FileVerdict::Link { path } => MapVerdict::Link { path },
        FileVerdict::Special => MapVerdict::Special,
        FileVerdict::Folder => MapVerdict::Folder,
        FileVerdict::Missing => MapVerdict::Missing,
        FileVerdict::Unseen => MapVerdict::Unseen,
    }
}
