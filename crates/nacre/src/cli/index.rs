//! `nacre index`: the search index.

use nacre_ops::index as ops;
use nacre_types::IndexState;

use super::prelude::*;
use super::render::memories_text;

/// Show the size and state of the search index, or rebuild it
///
/// The index is derived from the memories and updated by every search. It can be deleted safely.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct IndexArgs {
    /// Rebuild the index from the memories
    #[arg(long)]
    rebuild: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_index(ui: &mut Ui, host: &Host, args: IndexArgs) -> CommandResult {
    let scope = args.scope.mode();
    if args.rebuild {
        let events = ui.events();
        events.step("Indexing memories");
        let report = ops::rebuild(host, scope, &ui.events())?;
        drop(events);
        return ui.report(&report, |ui, report| {
            for index in &report.indexes {
                let (records, scope) = (memories_text(index.records), index.scope.as_str());
                ui.status(format!("Indexed {records} ({scope})"));
            }
        });
    }
    ui.report(&ops::status(host, scope)?, |ui, report| {
        report.indexes.iter().for_each(|index| print_state(ui, index));
    })
}

fn print_state(ui: &mut Ui, index: &IndexState) {
    let IndexState { scope, path: _, records, segments, bytes, model, outdated } = index;
    let state = match outdated {
        0 => "up to date".to_owned(),
        n => format!("{n} outdated files; the next search updates them"),
    };
    let size = format!("{records} in {segments} segments, {} KiB", bytes / 1024);
    ui.table([[title(scope.as_str()), faint(size), faint(model), faint(state)]]);
}
