//! `nacre model list`: what answers, who serves it, and what search goes by.

use clap::Args;
use nacre_api::wire::{
    EmbedderEntry, EmbedderState, InstalledAgent, ModelListReport, ModelListRequest, ProviderEntry,
    RoleEntry,
};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, model as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// List the models that are set, who serves them, and those that search can go by
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs {} = args;
    let report = ops::list(host, &ModelListRequest {})?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ModelListReport) -> Result<(), OpError> {
    ui.line("Answers:")?;
    if report.roles.is_empty() {
        let model = report.agents.first().map_or("ollama/qwen3", |agent| agent.model.as_str());
        ui.line(format!(
            "  no model is set, and none is needed; nacre config set roles.default.model {model}"
        ))?;
    } else {
        let rows: Vec<_> = report.roles.iter().map(role_row).collect();
        ui.table(&rows)?;
    }
    if !report.providers.is_empty() {
        ui.line("")?;
        ui.line("Served by:")?;
        let rows: Vec<_> = report.providers.iter().map(provider_row).collect();
        ui.table(&rows)?;
    }
    if !report.agents.is_empty() {
        ui.line("")?;
        ui.line("Installed agents that can answer:")?;
        let rows: Vec<_> = report.agents.iter().map(agent_row).collect();
        ui.table(&rows)?;
    }
    ui.line("")?;
    ui.line("Search by meaning:")?;
    let rows: Vec<_> = report.models.iter().map(embedder_row).collect();
    ui.table(&rows)
}

fn role_row(entry: &RoleEntry) -> Vec<(Role, String)> {
    let (kind, about) = match &entry.problem {
        Some(problem) => (Role::Bad, problem),
        None => (Role::Faint, &entry.origin),
    };
    vec![
        (Role::Id, format!("  {}", entry.role)),
        (Role::Title, Shown(&entry.models.join(", then ")).one_line()),
        (kind, Shown(about).one_line()),
    ]
}

fn provider_row(entry: &ProviderEntry) -> Vec<(Role, String)> {
    let about = format!("{}; {}", entry.key, entry.origin);
    vec![
        (Role::Id, format!("  {}", entry.name)),
        (Role::Title, Shown(&entry.address).one_line()),
        (Role::Faint, Shown(&about).one_line()),
    ]
}

fn agent_row(entry: &InstalledAgent) -> Vec<(Role, String)> {
    let version = entry.version.as_deref().unwrap_or("version unknown");
    vec![
        (Role::Id, format!("  {}", entry.name)),
        (Role::Title, format!("{} {}", entry.label, Shown(version).one_line())),
        (Role::Faint, Shown(&entry.path).one_line()),
    ]
}

fn embedder_row(entry: &EmbedderEntry) -> Vec<(Role, String)> {
    let kind = match entry.state {
        EmbedderState::Ready => Role::Good,
    };
    vec![
        (Role::Id, format!("  {}", entry.name)),
        (kind, entry.state.as_str().to_owned()),
        (Role::Faint, entry.about.clone()),
    ]
}
