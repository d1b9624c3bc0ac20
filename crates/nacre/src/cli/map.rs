//! The code commands: `explore`, `context`, `search-code`, `delta`, `refresh`, `watch` and
//! `explain`.

use nacre_ops::map as ops;
use nacre_types::{
    CodeDelta, CodeSearchMode, ContextRequest, DeltaReport, DeltaRequest, ExploreRequest,
    MapDetail, MapFormat, MapVerdict, RefreshRequest, SearchCodeRequest, Since, WatchRequest,
};

use super::prelude::*;

const MAX_USED: usize = 4;

#[derive(Debug, Args)]
struct MapArgs {
    /// Same as `--project`
    #[arg(value_name = "PROJECT", hide = true)]
    place: Option<String>,

    /// Read every file again instead of trusting modification times
    #[arg(long)]
    refresh: bool,

    /// Fail if the map is not up to date; write nothing
    #[arg(long, conflicts_with = "refresh")]
    strict: bool,

    /// Same as `--json`, for scripts written for other tools
    #[arg(long, value_name = "FORMAT", hide = true, value_parser = one_of::<MapFormat>(["text", "json"]))]
    format: Option<MapFormat>,

    /// Record that this client has seen the result, for `--since client:NAME`
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
}

fn choose_format(ui: &mut Ui, choice: Option<MapFormat>) -> MapFormat {
    if choice == Some(MapFormat::Json) {
        ui.choose_json();
    }
    if ui.is_json() { MapFormat::Json } else { MapFormat::Text }
}

/// Selects which part of a delta is printed.
#[derive(Clone, Debug, Default, Args)]
struct PageArgs {
    /// List at most this many files; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    limit: usize,

    /// Continue after this path (`next` in the previous result)
    #[arg(long, value_name = "PATH")]
    after: Option<String>,
}

/// Prints a payload unchanged, because its token count is for exactly these bytes.
fn print_payload(ui: &mut Ui, payload: &str) -> CommandResult {
    ui.page(|ui| ui.line(payload.trim_end_matches('\n')));
    Ok(Exit::DONE)
}

/// Print an overview of the code: entry points, central files, public symbols
///
/// Lists entry points, files that many others depend on or that change often, external packages,
/// the module graph, public symbols and tests. Every list states its full length. The output is
/// deterministic.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    map: MapArgs,
    /// Level of detail
    #[arg(long, value_name = "DETAIL", default_value = "compact", value_parser = one_of::<MapDetail>(MapDetail::NAMES))]
    detail: MapDetail,
    /// Maximum number of tokens in the output; lists are truncated to fit
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

pub(crate) fn cmd_explore(ui: &mut Ui, host: &Host, args: ExploreArgs) -> CommandResult {
    let ExploreArgs { map, detail, budget } = args;
    let MapArgs { place: project, refresh, strict, format, client } = map;
    let format = choose_format(ui, format);
    let detail = Some(detail);
    let request = ExploreRequest { project, refresh, strict, format, client, detail, budget };
    let report = ops::explore(host, &request, &ui.events())?;
    print_payload(ui, &report.payload)
}

/// Collect the code that a task needs, within a token budget
///
/// Prints the files, ranked by words and meaning shared with the task, distance in the import
/// graph, and related memories, followed by code from the best files. Symbols are printed whole if
/// there is room, otherwise as signatures or names; omitted code is counted and listed. Text that
/// looks like a secret is replaced.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    map: MapArgs,
    /// The task, in words; the flag can be omitted: `nacre context "retry failed uploads"`
    #[arg(long, alias = "for", value_name = "TEXT")]
    task: Option<String>,
    /// A file to include (can be repeated or separated by commas)
    #[arg(long = "file", alias = "files", value_name = "PATH", value_delimiter = ',')]
    files: Vec<String>,
    /// Maximum number of tokens in the output
    #[arg(long, value_name = "TOKENS", default_value_t = ops::DEFAULT_BUDGET)]
    budget: usize,
    /// List only the files, without code
    #[arg(long)]
    files_only: bool,
}

pub(crate) fn cmd_context(ui: &mut Ui, host: &Host, args: ContextArgs) -> CommandResult {
    let ContextArgs { map, task, files, budget, files_only } = args;
    let MapArgs { place, refresh, strict, format, client } = map;
    // Without a task or a file, a single argument is the task rather than a project.
    let is_task = task.is_none() && files.is_empty();
    let (project, task) = if is_task { (None, place) } else { (place, task) };
    let request = ContextRequest {
        project,
        refresh,
        strict,
        format: choose_format(ui, format),
        client,
        task,
        files,
        budget: Some(budget),
        files_only,
        detail: None,
    };
    let report = ops::context(host, &request, &ui.events())?;
    print_payload(ui, &report.payload)
}

/// Search the code by words, literal text or a regular expression
///
/// Words match in any inflected form and are ranked as in `nacre context`. `--fixed` or a query in
/// double quotes searches for literal text, `--regex` for a regular expression; both match line by
/// line. Matching lines are shown below their symbol. Files that define the searched name come
/// first; tests, vendored and generated code rank lower. Text that looks like a secret is replaced.
#[derive(Debug, Args)]
pub(crate) struct SearchCodeArgs {
    /// Words, literal text or a regular expression
    #[arg(value_name = "QUERY")]
    query: String,
    /// Treat the query as a regular expression
    #[arg(long, short = 'e', conflicts_with = "fixed")]
    regex: bool,
    /// Treat the query as literal text
    #[arg(long, short = 'F')]
    fixed: bool,
    /// Ignore case [default: unless the pattern has an uppercase letter]
    #[arg(long, short = 'i')]
    ignore_case: bool,
    /// Match case
    #[arg(long, short = 's', conflicts_with = "ignore_case")]
    case_sensitive: bool,
    /// Only files that match: `src`, `*.rs`, `src/**/*.py`, or `!tests` to exclude (can be
    /// repeated)
    #[arg(long = "path", short = 'g', value_name = "GLOB")]
    paths: Vec<String>,
    /// Only files of this language
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<String>,
    /// Show this many lines before and after each match, at most 10
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    context: u32,
    /// Show at most this many matches, or files with `--files-only`
    #[arg(long, short = 'n', value_name = "N", default_value_t = ops::DEFAULT_MATCHES)]
    limit: usize,
    /// Maximum number of tokens in the output
    #[arg(long, value_name = "TOKENS", default_value_t = ops::DEFAULT_BUDGET)]
    budget: usize,
    /// List only the files, without matching lines
    #[arg(long, short = 'l')]
    files_only: bool,
    /// Read every file again instead of trusting modification times
    #[arg(long)]
    refresh: bool,
    /// Fail if the map is not up to date; write nothing
    #[arg(long, conflicts_with = "refresh")]
    strict: bool,
}

pub(crate) fn cmd_search_code(ui: &mut Ui, host: &Host, args: SearchCodeArgs) -> CommandResult {
    let mode = args.regex.then_some(CodeSearchMode::Regex);
    let request = SearchCodeRequest {
        project: None,
        refresh: args.refresh,
        strict: args.strict,
        format: choose_format(ui, None),
        query: args.query,
        mode: mode.or(args.fixed.then_some(CodeSearchMode::Fixed)),
        ignore_case: (args.ignore_case || args.case_sensitive).then_some(args.ignore_case),
        paths: args.paths,
        language: args.lang,
        context: Some(args.context),
        limit: Some(args.limit),
        budget: Some(args.budget),
        files_only: args.files_only,
    };
    let report = ops::search_code(host, &request, &ui.events())?;
    print_payload(ui, &report.payload)
}

/// Show which files and symbols changed, and which files are affected
///
/// Compares with a revision from an earlier result, with a commit (including uncommitted changes),
/// or with what a client has already seen. The command can be repeated.
#[derive(Debug, Args)]
pub(crate) struct DeltaArgs {
    #[command(flatten)]
    map: MapArgs,
    /// Since a git ref such as main or HEAD~5, a revision of the map, client:NAME, or 0 for
    /// everything [default: HEAD, or without a commit, since the map was first built]
    #[arg(long, value_name = "SINCE")]
    since: Option<Since>,
    #[command(flatten)]
    page: PageArgs,
    /// Maximum number of tokens in the output as JSON; affected files are then counted by directory
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

pub(crate) fn cmd_delta(ui: &mut Ui, host: &Host, args: DeltaArgs) -> CommandResult {
    let DeltaArgs { map, since, page: PageArgs { limit, after }, budget } = args;
    let MapArgs { place: project, refresh, strict, format, client } = map;
    choose_format(ui, format);
    let (limit, detail) = (Some(limit), None);
    let request =
        DeltaRequest { project, refresh, strict, client, since, limit, after, budget, detail };
    let report = ops::delta(host, &request, &ui.events())?;
    ui.report(&report, |ui, report| {
        print_delta(ui, &report.delta);
        ui.status(format!("Revision {}", report.map.revision));
    })
}

/// Read all code again and update the code map
///
/// `nacre delta --refresh` does the same. Other commands update the map only for changed files.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct RefreshArgs {
    /// Same as `--project`
    #[arg(value_name = "PROJECT", hide = true)]
    place: Option<String>,
    /// Same as `--json`
    #[arg(long, value_name = "FORMAT", hide = true, value_parser = one_of::<MapFormat>(["text", "json"]))]
    format: Option<MapFormat>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn cmd_refresh(ui: &mut Ui, host: &Host, args: RefreshArgs) -> CommandResult {
    let RefreshArgs { place: project, format, page: PageArgs { limit, after } } = args;
    choose_format(ui, format);
    let request =
        RefreshRequest { project, limit: Some(limit), after, ..RefreshRequest::default() };
    let report = ops::refresh(host, &request, &ui.cancellable_events())?;
    ui.report(&report, |ui, DeltaReport { map, delta }| {
        let stats = &map.stats;
        let (n_files, n_read) = (stats.file_count, stats.rehashed_entries);
        ui.line(format!("{n_files} files, {n_read} read, {} skipped", stats.skipped.total()));
        if !delta.is_empty() {
            print_delta(ui, delta);
        }
        ui.status(format!("Revision {}", map.revision));
    })
}

fn print_delta(ui: &mut Ui, delta: &CodeDelta) {
    let CodeDelta { since, added, modified, removed, renamed, files, next, .. } = delta;
    ui.line(format!(
        "{added} added, {modified} modified, {removed} removed, {renamed} renamed since {since}"
    ));
    for file in files {
        let from = file.from.as_ref().map(|from| format!(" from {}", ShownLine(from)));
        let from = from.unwrap_or_default();
        ui.line(format!("{} {}{from}", file.change.sign(), ShownLine(&file.path)));
        for symbol in file.symbols.iter().flat_map(|symbols| &symbols.changed) {
            let what = if symbol.is_signature { "" } else { " (body)" };
            let (kind, name) = (symbol.kind.as_str(), ShownLine(&symbol.name));
            ui.line(format!("    {} {kind} {name}{what}", symbol.change.sign()));
        }
    }
    if let Some(next) = next {
        ui.status(format!("… more; continue with `--after {next}`"));
    }
    // A long list of affected files starts with counts by directory.
    let CodeDelta { affected, affected_total, affected_folders, .. } = delta;
    if !affected_folders.is_empty() {
        ui.line(format!("{affected_total} files affected"));
    }
    for folder in affected_folders {
        let name = if folder.path.is_empty() { "." } else { &folder.path };
        ui.line(format!("    {} in {}", folder.files, ShownLine(name)));
    }
    for file in affected {
        let names: Vec<&str> = file.symbols.iter().map(String::as_str).take(MAX_USED).collect();
        let more = if MAX_USED < file.symbols.len() { ", …" } else { "" };
        let uses = match names.is_empty() {
            true => "imports a deleted file".to_owned(),
            false => format!("uses {}{more}", ShownLine(&names.join(", "))),
        };
        ui.line(format!("! {}  {}", ShownLine(&file.path), ui.paint(Role::Faint, uses)));
    }
    let n_left = affected_total.saturating_sub(affected.len());
    if n_left > 0 {
        ui.status(format!("… {n_left} more affected files; use a larger `--budget`"));
    }
}

/// Print each code change as it happens, one JSON object per line
///
/// Watches only the directories in the map. If the system's watch limit is reached, a line reports
/// it, and the code is polled instead.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Same as `--project`
    #[arg(value_name = "PROJECT", hide = true)]
    place: Option<String>,
    /// Polling interval in milliseconds, if the system does not report changes
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(ops::MIN_INTERVAL_MS..))]
    interval: u64,
    /// Always poll, even if the system can report changes
    #[arg(long)]
    poll: bool,
    /// Exit after this many changes; 0 to run until interrupted
    #[arg(long, value_name = "N", default_value_t = 0)]
    count: usize,
}

pub(crate) fn cmd_watch(ui: &mut Ui, host: &Host, args: WatchArgs) -> CommandResult {
    let WatchArgs { place: project, interval, poll, count } = args;
    ui.choose_json();
    let request = WatchRequest { project, interval_ms: Some(interval), poll, count };
    let mut print = |line: &_| {
        ui.json_line(line);
        ui.flush()
    };
    ops::watch(host, &request, &mut print)?;
    Ok(Exit::DONE)
}

/// Explain why a file is or is not in the code map
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The file, relative to the current directory
    #[arg(value_name = "PATH")]
    path: String,
}

pub(crate) fn cmd_explain(ui: &mut Ui, host: &Host, args: ExplainArgs) -> CommandResult {
    let ExplainArgs { path } = args;
    let report = ops::explain(host, &path, &ui.events())?;
    ui.report(&report, |ui, report| {
        ui.line(format!("{}: {}", ShownLine(&report.path), verdict_text(&report.verdict)));
    })
}

fn verdict_text(verdict: &MapVerdict) -> String {
    let named = |folder: &str| {
        if folder.is_empty() { "the root".to_owned() } else { format!("`{folder}`") }
    };
    let why = match verdict {
        MapVerdict::Mapped { is_unread: true, .. } => {
            return "mapped by name and size only; the file is too large or unreadable".to_owned();
        }
        MapVerdict::Mapped { is_tracked: true, .. } => return "mapped; tracked by Git".to_owned(),
        MapVerdict::Mapped { is_tracked: false, .. } => {
            return "mapped; not tracked by Git".to_owned();
        }
        MapVerdict::Folder => return "a directory; the map contains only files".to_owned(),
        MapVerdict::Denied { rule } => format!("`{rule}` excludes files with secrets"),
        MapVerdict::Ignored { rule, folder } => {
            format!("excluded by the rule `{rule}` of {}", named(folder))
        }
        MapVerdict::Noise { folder } if folder.ends_with(".nacre") => {
            format!("`{folder}` contains memories, not code")
        }
        MapVerdict::Noise { folder } => {
            format!("`{folder}` contains generated files, and Git tracks none of them")
        }
        MapVerdict::RulesUnread { folder } => {
            format!("the `.gitignore` of {} has too many rules", named(folder))
        }
        MapVerdict::Nested { folder } => format!("`{folder}` is another repository"),
        MapVerdict::Link { path } => {
            format!("`{path}` is a symlink, and symlinks are not followed")
        }
        MapVerdict::Special => "not a regular file".to_owned(),
        MapVerdict::Missing => "the file does not exist".to_owned(),
        MapVerdict::Unseen => "the file is nested too deeply, or newer than the map".to_owned(),
    };
    format!("not mapped: {why}")
}
