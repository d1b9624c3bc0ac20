//! `nacre run show`

use clap::Args;
use nacre_core::base::Shown;
use nacre_engine::flows::run;
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Show what a run did, and why
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run's id, or the start or end of it
    id: String,
}

pub(crate) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { id } = args;
    let scoped = host.store_to_write(None)?;
    let id = run::find(&scoped.store, id)?;
    let read = |name: &str| run::artifact(&scoped.store, &id, name);
    let report = read(id.actions_file())?.unwrap_or_default();
    let metrics = read("metrics.json")?.unwrap_or_default();
    if ui.is_json() {
        ui.json(&json!({ "id": id, "report": report, "metrics": metrics }))?;
        return Ok(Exit::Done);
    }
    let text = |value: &Value| Shown(value.as_str().unwrap_or_default()).one_line();
    ui.line(ui.paint(Role::Title, &id))?;
    let of = if report["of"].is_null() { &report["trace_path"] } else { &report["of"] };
    let facts = [text(of), text(&report["finished_at"])];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    ui.line(ui.paint(Role::Faint, facts.join(" · ")))?;
    for action in report["actions"].as_array().into_iter().flatten() {
        ui.line(format!(
            "\n{} {}",
            ui.paint(Role::Good, text(&action["action"])),
            ui.paint(Role::Id, text(&action["target"]))
        ))?;
        if !action["title"].is_null() {
            ui.line(format!("  {}", text(&action["title"])))?;
            ui.line(format!("  {}", ui.paint(Role::Faint, why(action))))?;
        }
    }
    let dropped = report["dropped"].as_object().cloned().unwrap_or_default();
    for (reason, n) in &dropped {
        let line = format!("dropped {n} {reason}");
        ui.line(format!("\n{}", Shown(&line).one_line()))?;
    }
    if let Some(path) = report["summary_path"].as_str() {
        ui.line(format!("\nsummary {}", Shown(path).one_line()))?;
    }
    Ok(Exit::Done)
}

/// The reason, the band and the numbers behind an action.
fn why(action: &Value) -> String {
    let text = |key: &str| action[key].as_str().unwrap_or_default();
    let mut why = text("reason").to_owned();
    if let Some(likelihood) = action["likelihood"].as_f64().filter(|_| !text("band").is_empty()) {
        why.push_str(&format!(" ({} {likelihood:.2}, {})", text("relation"), text("band")));
    }
    if let Some(note) = action["note"].as_str() {
        why.push_str(&format!("; the lead: {note}"));
    }
    if let Some(with) = action["with"].as_str() {
        why.push_str(&format!("; {with}"));
    }
    if let Some(nearest) = action["nearest"].as_str() {
        why.push_str(&format!("; nearest {nearest}"));
    }
    Shown(&why).one_line()
}
