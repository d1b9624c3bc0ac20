//! What commands about the map share: their arguments, and how changes are printed.

use clap::{Args, ValueEnum};
use nacre_api::wire::{CodeChange, CodeDelta, FileDelta, MapFormat};
use nacre_ops::OpError;
use nacre_ops::text::ShownLine;

use super::exit::Exit;
use super::ui::{Role, Ui};

/// Names that a line about an affected file tells.
const MAX_USED: usize = 4;

/// What every command about the map takes.
#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// The same as `--project`
    #[arg(value_name = "PROJECT", hide = true)]
    pub(crate) place: Option<String>,
    /// Read every file again instead of believing its times
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Fail when the map was not up to date, and write nothing
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) strict: bool,
    /// The same as `--json`, for scripts that were written for other tools
    #[arg(long, value_name = "FORMAT", hide = true)]
    pub(crate) format: Option<Format>,
    /// Remember that this client has seen the answer, for `--since client:NAME`
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Option<String>,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

impl Format {
    /// Makes a choice hold for everything that is printed, and says what that is.
    pub(crate) fn choose(choice: Option<Self>, ui: &mut Ui) -> MapFormat {
        if choice == Some(Self::Json) {
            ui.choose_json();
        }
        if ui.is_json() { MapFormat::Json } else { MapFormat::Text }
    }
}

/// Which part of a delta is wanted.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// List at most this many files; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    pub(crate) limit: usize,
    /// Go on after this path, the `next` of the answer before
    #[arg(long, value_name = "PATH")]
    pub(crate) after: Option<String>,
}

/// Prints a payload byte for byte: its budget was counted on them.
pub(crate) fn print_payload(ui: &mut Ui, payload: &str) -> Result<Exit, OpError> {
    ui.paged(|ui| ui.line(payload.trim_end_matches('\n')))?;
    Ok(Exit::Done)
}

/// Prints changes as lines.
pub(crate) fn print_delta(ui: &mut Ui, delta: &CodeDelta) -> Result<(), OpError> {
    let CodeDelta { since, added, modified, removed, renamed, files, next, .. } = delta;
    ui.line(format!(
        "{added} added, {modified} modified, {removed} removed, {renamed} renamed since {since}"
    ))?;
    for file in files {
        print_file(ui, file)?;
    }
    if let Some(next) = next {
        ui.status(format!("… more; continue with `--after {next}`"))?;
    }
    print_affected(ui, delta)
}

/// Affected files with what they use; a list that is long is counted by folder first.
fn print_affected(ui: &mut Ui, delta: &CodeDelta) -> Result<(), OpError> {
    let CodeDelta { affected, affected_total, affected_folders, .. } = delta;
    if !affected_folders.is_empty() {
        ui.line(format!("{affected_total} files affected"))?;
    }
    for folder in affected_folders {
        let name = if folder.path.is_empty() { "." } else { &folder.path };
        ui.line(format!("    {} in {}", folder.files, ShownLine(name)))?;
    }
    for file in affected {
        let names: Vec<&str> = file.symbols.iter().map(String::as_str).take(MAX_USED).collect();
        let more = if MAX_USED < file.symbols.len() { ", …" } else { "" };
        let uses = match names.is_empty() {
            true => "imports a file that is gone".to_owned(),
            false => format!("uses {}{more}", ShownLine(&names.join(", "))),
        };
        let uses = ui.paint(Role::Faint, uses);
        ui.line(format!("! {}  {uses}", ShownLine(&file.path)))?;
    }
    let n_left = affected_total.saturating_sub(affected.len());
    if 0 < n_left {
        ui.status(format!("… {n_left} more affected files; give a larger `--budget`"))?;
    }
    Ok(())
}

fn print_file(ui: &mut Ui, file: &FileDelta) -> Result<(), OpError> {
    let from = file.from.as_ref().map(|from| format!(" from {}", ShownLine(from)));
    let from = from.unwrap_or_default();
    ui.line(format!("{} {}{from}", sign(file.change), ShownLine(&file.path)))?;
    for symbol in file.symbols.iter().flat_map(|symbols| &symbols.changed) {
        let what = if symbol.is_signature { "" } else { " (body)" };
        let name = ShownLine(&symbol.name);
        ui.line(format!("    {} {} {name}{what}", sign(symbol.change), symbol.kind.as_str()))?;
    }
    Ok(())
}

fn sign(change: CodeChange) -> char {
    match change {
        CodeChange::Added => '+',
        CodeChange::Modified => '~',
        CodeChange::Removed => '-',
        CodeChange::Renamed => '>',
    }
}
