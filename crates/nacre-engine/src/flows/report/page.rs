//! The report as one page: no script, nothing from elsewhere, light or dark as the reader's system is.

use super::html::Html;
use super::plot::bars;
use super::{Happened, Listed, Report};

/// The most rows of a table; the number above it tells how many there were.
const MAX_ROWS: usize = 50;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1d2330; --faint: #667085; --line: #d8dde6; --bar: #3b7ea1; --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --faint: #98a2b3; --line: #333b4a; --bar: #6db3d4; --page: #14171d; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.faint { color: var(--faint); }
.numbers { display: flex; flex-wrap: wrap; gap: 1.5rem; padding: 0; list-style: none; }
.numbers b { display: block; font-size: 1.6rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
code { font-size: .85em; }
svg { width: 100%; height: auto; } .bar { fill: var(--bar); } svg text { fill: var(--faint); font-size: 10px; text-anchor: middle; }
";

/// One self-contained page.
pub fn page(report: &Report, name: &str) -> String {
    let mut page = Html::default();
    page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">");
    page.raw("<title>").text(name).raw(": memory report</title><style>").raw(STYLE);
    page.raw("</style></head><body><h1>").text(name).raw(": what was remembered</h1>");
    page.raw("<p class=\"faint\">").text(report.since.strftime("%Y-%m-%d")).raw(" to ");
    page.text(report.until.strftime("%Y-%m-%d")).raw("</p>");
    numbers(&mut page, report);
    plots(&mut page, report);
    listed(&mut page, "Most used", &report.most_used);
    listed(&mut page, "Never used", &report.never_used);
    happened(&mut page, "Contradictions found", &report.contradictions);
    happened(&mut page, "Merged", &report.merged);
    happened(&mut page, "Archived", &report.archived);
    page.raw("</body></html>\n");
    page.into_string()
}

fn numbers(page: &mut Html, report: &Report) {
    page.raw("<ul class=\"numbers\">");
    for (what, n) in [
        ("learned", report.learned.values().sum()),
        ("sessions", report.sessions),
        ("merged", report.merged.len()),
        ("archived", report.archived.len()),
        ("contradictions", report.contradictions.len()),
        ("left to you", report.open_contradictions),
        ("never used", report.n_never_used),
    ] {
        page.raw("<li><b>").text(n).raw("</b>").text(what).raw("</li>");
    }
    page.raw("</ul>");
}

fn plots(page: &mut Html, report: &Report) {
    let short = |week: &String| week.get(5..).unwrap_or(week).to_owned();
    let weeks: Vec<_> = report.learned_by_week.iter().map(|(week, n)| (short(week), *n)).collect();
    let stages: Vec<_> = report.stages.iter().map(|(stage, n)| ((*stage).to_owned(), *n)).collect();
    let tenths = report.confidence.iter().enumerate();
    let tenths: Vec<_> = tenths.map(|(tenth, n)| (format!("0.{tenth}"), *n)).collect();
    for (title, values) in [
        ("Learned by week", weeks),
        ("Where memories are in their lives", stages),
        ("What age and use left of their confidence", tenths),
    ] {
        page.raw("<h2>").text(title).raw("</h2>").piece(&bars(title, &values));
    }
}

fn listed(page: &mut Html, title: &str, listed: &[Listed]) {
    page.raw("<h2>").text(title).raw("</h2>");
    if listed.is_empty() {
        page.raw("<p class=\"faint\">None.</p>");
        return;
    }
    page.raw("<table><tr><th>memory</th><th>uses</th><th>confidence</th></tr>");
    for one in listed {
        page.raw("<tr><td>").text(&one.title).raw("<br><code>").text(&one.id);
        page.raw("</code></td><td>").text(one.uses).raw("</td><td>").text(one.effective);
        page.raw("</td></tr>");
    }
    page.raw("</table>");
}

fn happened(page: &mut Html, title: &str, happened: &[Happened]) {
    page.raw("<h2>").text(title).raw(" <span class=\"faint\">").text(happened.len());
    page.raw("</span></h2>");
    if happened.is_empty() {
        return;
    }
    page.raw("<table><tr><th>memory</th><th>with</th><th>why</th></tr>");
    for one in happened.iter().take(MAX_ROWS) {
        page.raw("<tr><td>").text(&one.title).raw("<br><code>").text(&one.target);
        page.raw("</code></td><td><code>").text(one.with.as_deref().unwrap_or_default());
        page.raw("</code></td><td>").text(&one.reason).raw("</td></tr>");
    }
    page.raw("</table>");
}
