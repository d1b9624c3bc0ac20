//! `nacre model test`: one tiny call, to see whether it works and what it costs.

use clap::{Args, ValueEnum};
use nacre_api::wire::{ModelRole, ModelTestReport, ModelTestRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, model as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Ask a model for one word, and say how long it took and what it cost
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The model of this role
    #[arg(long, value_name = "ROLE", default_value = "ask")]
    role: RoleName,
}

/// The jobs that a model can be set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RoleName {
    Lead,
    Explorer,
    Extract,
    Summarize,
    Ask,
    Chat,
}

impl From<RoleName> for ModelRole {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Lead => Self::Lead,
            RoleName::Explorer => Self::Explorer,
            RoleName::Extract => Self::Extract,
            RoleName::Summarize => Self::Summarize,
            RoleName::Ask => Self::Ask,
            RoleName::Chat => Self::Chat,
        }
    }
}

pub(crate) fn cmd_test(ui: &mut Ui, host: &Host, args: &TestArgs) -> Result<Exit, OpError> {
    let TestArgs { role } = args;
    let report =
        ops::test(host, &ModelTestRequest { role: (*role).into() }, &ui.cancellable_events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ModelTestReport) -> Result<(), OpError> {
    let word: String = report.text.chars().take(80).collect();
    let first = report.first_word_ms.map_or("none".to_owned(), |ms| format!("{ms} ms"));
    let rows = [
        ("model", report.model.clone()),
        ("answer", word.trim().to_owned()),
        ("first word", first),
        ("in all", format!("{} ms", report.total_ms)),
        ("tokens", format!("{} in, {} out", report.tokens.input, report.tokens.output)),
        ("cost", cost_text(report.cost_usd)),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| {
            vec![(Role::Faint, name.to_owned()), (Role::Title, Shown(&value).one_line())]
        })
        .collect();
    ui.table(&rows)
}

/// A cost to the millionth of a dollar, rounded up: what costs anything is not shown as free.
fn cost_text(cost_usd: Option<f64>) -> String {
    let Some(dollars) = cost_usd else { return "unknown cost".to_owned() };
    // Exact costs are whole billionths.
    let micro = ((dollars * 1e9).round() / 1e3).ceil();
    format!("${:.6}", micro / 1e6)
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
