//! `nacre refresh`

use clap::Args;
use nacre_map::indexer::{Keeping, Trust};

use super::exit::Exit;
use super::map::{DeltaOutput, Format, Map, PageArgs, Since};
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Read all code again and bring its map up to date
///
/// Other commands do this by themselves for what changed. This one believes nothing, and looks at every file by its
/// grammar.
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// The project: a folder inside of it, or a registered name [default: the one around the current folder]
    #[arg(value_name = "PROJECT")]
    place: Option<String>,
    /// How to print the answer
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn cmd_refresh(ui: &mut Ui, host: &Host, args: &RefreshArgs) -> Result<Exit, OpError> {
    let RefreshArgs { place, format, page } = args;
    if *format == Some(Format::Json) {
        ui.choose_json();
    }
    let map = Map::open_with(host, place.as_deref(), (Trust::Nothing, Keeping::Kept), "refresh")?;
    map.warn_of_postponed(ui);
    let since = map.current.before.map_or(Since::Beginning, Since::Revision);
    let delta = match map.delta(&since) {
        Ok(delta) => delta,
        // What was there before is of an artifact that could not be read to its end.
        Err(_) => map.delta(&Since::Beginning)?,
    };
    let affected = map.affected(&delta);
    let output = DeltaOutput::new(&since, delta, affected, page);
    if ui.is_json() {
        ui.json(&map.envelope("refresh", Some(output), None::<()>))?;
        return Ok(Exit::Done);
    }
    let stats = &map.current.stats;
    ui.line(format!(
        "{} files, {} read, {} skipped",
        stats.file_count,
        stats.rehashed_entries,
        stats.skipped.total()
    ))?;
    if !output.is_empty() {
        output.print(ui)?;
    }
    ui.status(format!("Revision {}", map.revision()))?;
    Ok(Exit::Done)
}
