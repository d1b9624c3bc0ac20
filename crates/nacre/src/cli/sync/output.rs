//! What a sync tells at its end: one row a session, and the sums.

use nacre_core::base::Shown;
use nacre_engine::flows::sync::{Outcome, Pause, RunReport};
use serde_json::{Value, json};

use super::super::ui::{Role, Ui};
use super::work::{Paused, Worked};
use nacre_ops::OpError;
use nacre_ops::host::limit_hint;

/// The table of what was worked off.
pub(super) fn print(ui: &mut Ui, worked: &[Worked]) -> Result<(), OpError> {
    if worked.is_empty() {
        return Ok(());
    }
    let head = ["session", "agent", "added", "updated", "no-op", "dropped", "time", "cost", ""];
    let mut rows = vec![head.map(|cell| (Role::Faint, cell.to_owned())).to_vec()];
    rows.extend(worked.iter().map(row));
    if !ui.is_json() {
        ui.table(&rows)?;
    }
    for one in worked {
        if let Ok(RunReport { limit: Some(key), fallback: Some(why), .. }) = &one.result {
            let told = format!("{} was read by the rules alone: {why}", one.key);
            let hint =
                format!("nacre config set {key} N, then nacre sync --force --trace {}", one.key);
            ui.warning(told, Some(&hint));
        }
    }
    for one in worked {
        if let Ok(RunReport { lead_error: Some(why), .. }) = &one.result {
            let told = format!("The lead settled nothing of {}, so the rule did: {why}", one.key);
            ui.warning(told, Some("`nacre events` shows what it did; `nacre model test --role lead` asks for one word"));
        }
    }
    for failed in worked {
        if let Err(reason) = &failed.result {
            ui.warning(
                format!("{} could not be synced: {reason}", failed.key),
                Some("`nacre queue` shows when it is tried again; `nacre retry ID` does it now"),
            );
        }
    }
    Ok(())
}

/// What waits for a model, and what may help.
pub(super) fn print_paused(ui: &mut Ui, paused: &[Paused]) {
    for Paused { key, why, reason } in paused {
        let hint = match why {
            Pause::Limit(reached) => limit_hint(reached),
            Pause::Model => {
                "`nacre model test` asks the model for one word; --strategy offline needs none"
                    .to_owned()
            }
        };
        ui.warning(
            format!("Model work is paused: {key} and what follows it stay in the queue: {reason}"),
            Some(&hint),
        );
    }
}

/// The same as values.
pub(super) fn paused_json(paused: &[Paused]) -> Vec<Value> {
    let told = |Paused { key, why, reason }: &Paused| {
        let limit = match why {
            Pause::Limit(reached) => Some(reached.key()),
            Pause::Model => None,
        };
        json!({ "id": key, "reason": reason, "limit": limit })
    };
    paused.iter().map(told).collect()
}

fn row(worked: &Worked) -> Vec<(Role, String)> {
    let number = |value: fn(&RunReport) -> u64| {
        worked.result.as_ref().map_or_else(|_| "-".to_owned(), |report| value(report).to_string())
    };
    let cost = worked.result.as_ref().map_or(0.0, |report| report.cost_usd);
    let note = match &worked.result {
        Ok(report) if report.outcome == Outcome::Unchanged => "unchanged".to_owned(),
        Ok(_) => Shown(&worked.title).one_line(),
        Err(_) => "failed".to_owned(),
    };
    vec![
        (Role::Id, worked.key.clone()),
        (Role::Faint, worked.agent.clone()),
        (Role::Good, number(|report| report.counts.add + report.counts.supersede)),
        (Role::Good, number(|report| report.counts.update)),
        (Role::Faint, number(|report| report.counts.no_op)),
        (Role::Faint, number(RunReport::n_dropped)),
        (Role::Faint, format!("{:.1}s", worked.took.as_secs_f64())),
        (Role::Faint, format!("${cost:.2}")),
        (Role::Title, note),
    ]
}

/// The same as values.
pub(super) fn sessions_json(worked: &[Worked]) -> Vec<Value> {
    worked
        .iter()
        .map(|worked| match &worked.result {
            Ok(report) => json!({
                "id": worked.key, "agent": worked.agent, "title": worked.title,
                "state": "done", "report": report, "dropped": report.n_dropped(),
                "ms": u64::try_from(worked.took.as_millis()).unwrap_or(u64::MAX),
            }),
            Err(reason) => json!({
                "id": worked.key, "agent": worked.agent, "title": worked.title,
                "state": "failed", "reason": reason,
            }),
        })
        .collect()
}
