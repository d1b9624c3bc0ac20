//! `nacre watch`

use std::time::Duration;

use clap::Args;
use nacre_map::artifact::Revision;
use nacre_map::indexer::{Keeping, Trust, git_folder};
use nacre_map::watch::{Mode, Wake, Watch};
use serde::Serialize;

use super::error::{CommandError, Exit};
use super::map::{DeltaOutput, Map, PageArgs, Since};
use super::runtime::Runtime;
use super::ui::Ui;

/// Print each change of the code as it happens, one JSON object a line
///
/// Only folders that belong to the map are watched. Where the system allows no more watches, a line says so, and the
/// code is looked at every interval instead.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The project: a folder inside of it, or a registered name [default: the one around the current folder]
    #[arg(value_name = "PROJECT")]
    place: Option<String>,
    /// How often to look, in milliseconds, where the system tells of no changes
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(50..))]
    interval: u64,
    /// Look every interval even where the system would tell of changes
    #[arg(long)]
    poll: bool,
    /// End after so many changes; 0 for never
    #[arg(long, value_name = "N", default_value_t = 0)]
    count: usize,
}

/// What is told of the watch itself.
#[derive(Serialize)]
struct NoticeOutput {
    command: &'static str,
    notice: Notice,
    mode: &'static str,
    revision: Revision,
    watched_folders: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Notice {
    /// From here on, every change is told.
    Watching,
    /// From here on, changes are looked for.
    Polling,
    /// More happened than the system could tell; everything was looked at.
    Overflow,
}

pub(crate) fn cmd_watch(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &WatchArgs,
) -> Result<Exit, CommandError> {
    let WatchArgs { place, interval, poll, count } = args;
    ui.choose_json();
    let mut map =
        Map::open_with(runtime, place.as_deref(), (Trust::Stamps, Keeping::Kept), "watch")?;
    let root = map.current.project.root.clone();
    let interval = Duration::from_millis(*interval);
    let mut watch =
        if *poll { Watch::polling(&root, interval) } else { Watch::new(&root, interval) };
    let mut seen = map.current.revision();
    settle(ui, runtime, &mut map, &mut watch)?;
    let opening = if watch.mode() == Mode::Events { Notice::Watching } else { Notice::Polling };
    tell(ui, &map, &watch, opening, None)?;
    let mut n_told = 0;
    loop {
        if seen != map.current.revision() {
            tell_change(ui, &map, seen)?;
            seen = map.current.revision();
            n_told += 1;
        }
        if *count != 0 && *count <= n_told {
            return Ok(Exit::Done);
        }
        if watch.wait() == Wake::Overflow {
            tell(ui, &map, &watch, Notice::Overflow, None)?;
        }
        map.look_again(runtime)?;
        settle(ui, runtime, &mut map, &mut watch)?;
    }
}

/// Watches the folders that belong to the map now. What happened in a new one before it was watched is seen by one more
/// look.
fn settle(
    ui: &mut Ui,
    runtime: &Runtime,
    map: &mut Map,
    watch: &mut Watch,
) -> Result<(), CommandError> {
    let git = git_folder(&map.current.project.root);
    let git = git.as_ref().and_then(|folder| folder.to_str());
    loop {
        let folders = map.current.artifact.folders().keys().map(String::as_str);
        match watch.follow(folders.chain(git)) {
            Ok(0) => return Ok(()),
            Ok(_) => map.look_again(runtime)?,
            Err(fault) => {
                return tell(ui, map, watch, Notice::Polling, Some(fault.to_string()));
            }
        }
    }
}

fn tell(
    ui: &mut Ui,
    map: &Map,
    watch: &Watch,
    notice: Notice,
    why: Option<String>,
) -> Result<(), CommandError> {
    let mode = match watch.mode() {
        Mode::Events => "events",
        Mode::Polling => "polling",
    };
    let (revision, watched_folders) = (map.current.revision(), watch.n_watched());
    ui.json_line(&NoticeOutput { command: "watch", notice, mode, revision, watched_folders, why })?;
    ui.flush();
    Ok(())
}

fn tell_change(ui: &mut Ui, map: &Map, seen: Revision) -> Result<(), CommandError> {
    let since = Since::Revision(seen);
    let (since, delta) = match map.delta(&since) {
        Ok(delta) => (since, delta),
        // The artifact was built anew in between.
        Err(_) => (Since::Beginning, map.delta(&Since::Beginning)?),
    };
    let affected = map.affected(&delta);
    let output = DeltaOutput::new(&since, delta, affected, &PageArgs::default());
    ui.json_line(&map.envelope("watch", Some(output), None::<()>))?;
    ui.flush();
    Ok(())
}
