//! `nacre model`: language models and embedding models.

use nacre_ops::text::dollars;
use nacre_ops::{model as ops, tasks};
use nacre_types::{
    EmptyRequest, ModelListReport, ModelRole, ModelStats, ModelStatsReport, ModelTestReport,
    ModelTestRequest,
};

use super::prelude::*;

const MAX_ANSWER_CHARS: usize = 80;

/// List the configured models, their providers, and the search models
///
/// Language models are configured by role and served by a provider; none is required. Search by
/// meaning uses a built-in embedding model.
#[derive(Clone, Copy, Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: Option<ModelCommand>,
    /// Show usage by model: calls, tokens, cost
    #[arg(long)]
    used: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum ModelCommand {
    #[command(hide = true)]
    List,
    /// Ask a model for one word and print the time and cost
    Test {
        /// The role whose model is tested
        #[arg(long, value_name = "ROLE", default_value = "ask", value_parser = one_of::<ModelRole>(ModelRole::NAMES))]
        role: ModelRole,
    },
}

pub(crate) fn cmd_model(ui: &mut Ui, host: &Host, args: ModelArgs) -> CommandResult {
    match args.command {
        Some(ModelCommand::Test { role }) => {
            let report = ops::test(host, &ModelTestRequest { role }, &ui.cancellable_events())?;
            ui.report(&report, print_test)
        }
        None if args.used => ui.report(&tasks::models(host)?, print_used),
        None | Some(ModelCommand::List) => {
            ui.report(&ops::list(host, &EmptyRequest {})?, print_list)
        }
    }
}

fn print_list(ui: &mut Ui, report: &ModelListReport) {
    ui.line("Models by role:");
    if report.roles.is_empty() {
        let model = report.agents.first().map_or("ollama/qwen3", |agent| agent.model.as_str());
        ui.line(format!(
            "  no model is set (optional); nacre config set roles.default.model {model}"
        ));
    }
    ui.table(report.roles.iter().map(|entry| {
        let origin = match &entry.problem {
            Some(problem) => cell(Role::Bad, problem),
            None => faint(&entry.origin),
        };
        [id(format!("  {}", entry.role)), title(entry.models.join(", then ")), origin]
    }));
    if !report.providers.is_empty() {
        ui.line("\nProviders:");
    }
    ui.table(report.providers.iter().map(|entry| {
        let origin = faint(format!("{}; {}", entry.key, entry.origin));
        [id(format!("  {}", entry.name)), title(&entry.address), origin]
    }));
    if !report.agents.is_empty() {
        ui.line("\nInstalled agents that can be used as models:");
    }
    ui.table(report.agents.iter().map(|entry| {
        let version = entry.version.as_deref().unwrap_or("version unknown");
        let about = title(format!("{} {version}", entry.label));
        [id(format!("  {}", entry.name)), about, faint(&entry.path)]
    }));
    ui.line("\nSearch by meaning:");
    ui.table(report.models.iter().map(|entry| {
        let state = cell(Role::Good, entry.state.as_str());
        [id(format!("  {}", entry.name)), state, faint(&entry.about)]
    }));
}

fn print_test(ui: &mut Ui, report: &ModelTestReport) {
    let word: String = report.text.chars().take(MAX_ANSWER_CHARS).collect();
    let first = report.first_word_ms.map_or("none".to_owned(), |ms| format!("{ms} ms"));
    let rows = [
        ("model", report.model.clone()),
        ("answer", word.trim().to_owned()),
        ("first word", first),
        ("total", format!("{} ms", report.total_ms)),
        ("tokens", format!("{} in, {} out", report.tokens.input, report.tokens.output)),
        ("cost", cost_text(report.cost_usd)),
    ];
    ui.table(rows.map(|(name, value)| [faint(name), title(value)]));
}

/// Formats a cost in millionths of a dollar. It is rounded up, so that only a zero cost is shown as
/// zero.
fn cost_text(cost_usd: Option<f64>) -> String {
    let Some(dollars) = cost_usd else { return "unknown cost".to_owned() };
    // Costs are multiples of a billionth of a dollar. Rounding to billionths first removes
    // floating-point errors.
    let micro = ((dollars * 1e9).round() / 1e3).ceil();
    format!("${:.6}", micro / 1e6)
}

fn print_used(ui: &mut Ui, report: &ModelStatsReport) {
    let row = |model: &ModelStats| {
        let cost = model.cost_nano_dollars.map_or_else(|| "cost unknown".to_owned(), dollars);
        [
            id(&model.model),
            title(format!("{} calls", model.calls)),
            faint(format!("{} tokens in, {} from cache", model.input, model.cached)),
            faint(format!("{} out", model.output)),
            faint(cost),
        ]
    };
    if ui.table(report.models.iter().map(row)) == 0 {
        ui.status("No model calls yet.");
    }
}

#[cfg(test)]
mod tests {
    use super::cost_text;

    #[test]
    fn a_cost_is_rounded_up() {
        assert_eq!(cost_text(None), "unknown cost");
        assert_eq!(cost_text(Some(0.0)), "$0.000000");
        assert_eq!(cost_text(Some(0.000_000_001)), "$0.000001");
        assert_eq!(cost_text(Some(0.000_003)), "$0.000003");
        assert_eq!(cost_text(Some(1.25)), "$1.250000");
    }
}
