//! `nacre bench map`

use clap::Args;
use nacre_api::wire::{
    BenchMapReport, BenchMapRequest, BenchedLocalisation, BenchedRepo, LocalisationScore, TokenCost,
};
use nacre_ops::{Host, OpError, map as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Compare answering questions with the map and without it, in tokens and time, and measure whether it finds what commits changed
///
/// Without: the list of files once, then for each question a search and the files that it leads to. With: `explore` once, then
/// `context` for each question; where that does not have the answer, everything from without is added. Both are bounded as the
/// tools of agents are. Questions that cost more with the map are listed.
///
/// Localisation: the newest suitable commits are tasks, in the words of their subjects, asked on the state before the oldest of
/// them. Reported is which part of the files that they changed `context` names, beside a plain word search (BM25). Not taken are
/// merges, version bumps, reverts, typos, subjects of fewer than 3 words, and commits that change no file of code or more than 8.
///
/// The repositories are only read: the old state is a temporary copy in Nacre's own cache.
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
    /// How many commits to take as tasks, 200 at most; 0 leaves localisation out
    #[arg(long, value_name = "N", default_value_t = 40)]
    tasks: usize,
}

pub(crate) fn cmd_map(ui: &mut Ui, host: &Host, args: &MapBenchArgs) -> Result<Exit, OpError> {
    let MapBenchArgs { repos, questions, count, budget, tasks } = args;
    let request = BenchMapRequest {
        repos: repos.clone(),
        questions: questions.clone(),
        count: Some(*count),
        budget: Some(*budget),
        tasks: Some(*tasks),
    };
    let report = ops::bench(host, &request, &ui.cancellable_events())?;
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
    match (&report.localisation, &report.no_localisation) {
        (Some(measured), _) => print_localisation(ui, measured),
        (None, Some(reason)) => ui.text(&format!("  localisation was not measured: {reason}")),
        (None, None) => Ok(()),
    }
}

fn print_localisation(ui: &mut Ui, measured: &BenchedLocalisation) -> Result<(), OpError> {
    let BenchedLocalisation { state, files, budget, context, bm25, p50_ms, tasks, .. } = measured;
    let state = state.get(..12).unwrap_or(state);
    ui.line(format!(
        "  localisation: {} commits, asked at {state} ({files} files, {budget} tokens)",
        tasks.len()
    ))?;
    ui.line("    changed files among   first 5   first 10   all named")?;
    for (name, score) in [("context", context), ("BM25", bm25)] {
        let LocalisationScore { recall_5, recall_10, recall_any, .. } = score;
        let [five, ten, any] = [recall_5, recall_10, recall_any].map(|share| share * 100.0);
        ui.line(format!("    {name:<19} {five:>7.1} % {ten:>8.1} % {any:>9.1} %"))?;
    }
    ui.line(format!(
        "  In {} of {} commits a file that changed was among the first five (BM25: {}). An answer takes {p50_ms:.0} ms.",
        context.tasks_5,
        tasks.len(),
        bm25.tasks_5
    ))?;
    for (count, why) in [
        (measured.left_out, "change no file that was there"),
        (measured.postponed, "were left for lack of time"),
    ] {
        if 0 < count {
            ui.line(format!("  {count} more commits {why}."))?;
        }
    }
    Ok(())
}
