//! `nacre run list`

use clap::Args;
use nacre_core::base::Shown;
use nacre_engine::flows::run::{self, RunId, RunMode};
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// List the runs of this project, newest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs { limit } = args;
    let limit = limit.unwrap_or(host.settings().memory.max_results);
    let scoped = host.store_to_write(None)?;
    let runs = run::list(&scoped.store)?;
    let n_runs = runs.len();
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for id in runs.into_iter().take(if limit == 0 { usize::MAX } else { limit }) {
        let report = match run::artifact(&scoped.store, &id, id.actions_file()) {
            Ok(report) => report.unwrap_or_default(),
            // One folder that is not ours hides no other.
            Err(error) => {
                ui.warning(error.to_string(), None);
                Value::Null
            }
        };
        let counts = &report["counts"];
        let did = did(&id, counts);
        let of = report["trace_path"].as_str().or(report["of"].as_str()).unwrap_or_default();
        rows.push(vec![
            (Role::Id, id.as_str().to_owned()),
            (Role::Faint, if counts == &Value::Null { "-".to_owned() } else { did }),
            (Role::Title, Shown(of).one_line()),
        ]);
        values.push(json!({ "id": id, "mode": report["mode"], "counts": counts, "of": of }));
    }
    if ui.is_json() {
        ui.json(&json!({ "runs": values, "total": n_runs }))?;
        return Ok(Exit::Done);
    }
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No runs yet.")?;
    }
    Ok(Exit::Done)
}

/// What a run did, in a few signs.
fn did(id: &RunId, counts: &Value) -> String {
    let n = |key: &str| counts[key].as_u64().unwrap_or(0);
    if id.is_of(RunMode::Maintain) {
        return format!("merged {} archived {}", n("merge") + n("consolidate"), n("archive"));
    }
    format!("+{} ~{} ={}", n("add") + n("supersede"), n("update"), n("no_op"))
}
