//! `nacre bench map`

use clap::Args;
use nacre_api::wire::{BenchMapReport, BenchMapRequest, BenchedRepo, TokenCost};
use nacre_ops::{Host, OpError, map as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Compare answering questions with the map and without it, in tokens and time
///
/// Without: the list of files once, then for each question a search and the files that it leads to. With: `explore` once, then
/// `context` for each question; where that does not have the answer, everything from without is added. Both are bounded as the
/// tools of agents are. Questions that cost more with the map are listed. The repositories are only read.
#[derive(Debug, Args)]
pub(crate) struct MapBenchArgs {
    /// A repository; may be given again
    #[arg(long = "repo", value_name = "PATH", required = true)]
    repos: Vec<String>,
    /// Questions, one JSON object a line: question, find (words to search for), path, contains [default: made from public
    /// symbols]
    #[arg(long, value_name = "FILE")]
    questions: Option<String>,
    /// How many questions to make
    #[arg(long, value_name = "N", default_value_t = 20)]
    count: usize,
    /// Tokens that each `context` may have
    #[arg(long, value_name = "TOKENS", default_value_t = ops::DEFAULT_BUDGET)]
    budget: usize,
}

pub(crate) fn cmd_map(ui: &mut Ui, host: &Host, args: &MapBenchArgs) -> Result<Exit, OpError> {
    let MapBenchArgs { repos, questions, count, budget } = args;
    let request = BenchMapRequest {
        repos: repos.clone(),
        questions: questions.clone(),
        count: Some(*count),
        budget: Some(*budget),
    };
    let report = ops::bench(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &BenchMapReport) -> Result<(), OpError> {
    report.repos.iter().try_for_each(|repo| print_repo(ui, repo))
}

fn print_repo(ui: &mut Ui, report: &BenchedRepo) -> Result<(), OpError> {
    let BenchedRepo { latency_ms: time, session, .. } = report;
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let title = ui.paint(Role::Title, &report.repo);
    ui.line(format!("{title}  {} files, {} changed", report.files, percent(report.changed_ratio)))?;
    ui.line(format!(
        "  hits {}; ms: cold {:.0}, hit {:.1}, explore {:.1}, delta {:.1}, context {:.1}",
        percent(report.hit_ratio),
        time.cold,
        time.hit,
        time.explore,
        time.delta,
        time.context
    ))?;
    ui.line(format!(
        "  begin: {} tokens without the map, {} with it",
        session.without, session.with
    ))?;
    ui.line(format!(
        "  {} of {} questions answered by the slice, {} of their tokens saved; {} over all",
        report.answered,
        report.questions.len(),
        percent(report.reduction_answered),
        percent(report.reduction)
    ))?;
    for question in report.questions.iter().filter(|one| one.cost.is_more()) {
        let TokenCost { without, with } = question.cost;
        let why = if question.is_answered { "" } else { " (no answer)" };
        let line = format!("  cost more: {with} for {without}{why}  {}", question.question);
        ui.text(&line)?;
    }
    Ok(())
}
