//! The report as one page: no script, nothing from elsewhere, light or dark as the reader's system is.

use super::html::Html;
use super::plot::bars;
use super::{Happened, Listed, Report};

/// The most rows of a table; the number above it tells how many there were.
const MAX_ROWS: usize = 50;

/// What our pages have in their head, so that no other file is taken for one.
const MARK: &str = "<meta name=\"generator\" content=\"nacre report\">";

/// The head of a page is not longer.
const MARK_WITHIN: usize = 1024;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1d2330; --faint: #5b6577; --line: #d8dde6; --bar: #2f7196; --page: #ffffff; --box: #f5f7fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --faint: #a3acbb; --line: #333b4a; --bar: #6db3d4; --page: #14171d; --box: #1c2028; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
.faint { color: var(--faint); } p { margin: .25rem 0; }
.numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: .75rem; padding: 0; margin: 1.25rem 0 0; list-style: none; }
.numbers li { background: var(--box); border-radius: .5rem; padding: .6rem .8rem; color: var(--faint); font-size: .9rem; }
.numbers b { display: block; font-size: 1.6rem; line-height: 1.2; color: var(--ink); }
.empty { background: var(--box); border-radius: .5rem; padding: .6rem .8rem; color: var(--faint); }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th { text-align: left; font-weight: 600; color: var(--faint); font-size: .85rem; }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
.n { width: 6.5rem; text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }
code { font: .8rem/1.4 ui-monospace, monospace; color: var(--faint); }
svg { display: block; width: 100%; height: auto; }
.bar { fill: var(--bar); } .axis { stroke: var(--line); } svg text { fill: var(--faint); font-size: 11px; text-anchor: middle; }
@media (max-width: 32rem) {
  .wide thead { display: none; } .wide, .wide tbody, .wide tr, .wide td { display: block; width: 100%; }
  .wide tr { border-bottom: 1px solid var(--line); padding: .5rem 0; } .wide td { border: 0; padding: .1rem 0; }
  .n { width: 5.6rem; } svg text { font-size: 17px; }
}
";

/// One self-contained page.
pub fn page(report: &Report, name: &str) -> String {
    let mut page = Html::default();
    page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.raw(MARK);
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">");
    page.raw("<title>").text(name).raw(": memory report</title><style>").raw(STYLE);
    page.raw("</style></head><body><h1>").text(name).raw(": what was remembered</h1>");
    page.raw("<p class=\"faint\">").text(report.since.strftime("%Y-%m-%d")).raw(" to ");
    page.text(report.until.strftime("%Y-%m-%d")).raw("</p>");
    numbers(&mut page, report);
    plots(&mut page, report);
    listed(&mut page, "Most used", &report.most_used, "No memory was used yet.");
    listed(&mut page, "Never used", &report.never_used, "No memory has been unused for two weeks.");
    happened(
        &mut page,
        "Contradictions found",
        &report.contradictions,
        "No memory was overturned.",
    );
    happened(&mut page, "Merged", &report.merged, "No memories were merged.");
    happened(&mut page, "Archived", &report.archived, "No memory was archived.");
    page.raw("</body></html>\n");
    page.into_string()
}

fn numbers(page: &mut Html, report: &Report) {
    page.raw("<ul class=\"numbers\">");
    for (what, n) in [
        ("learned", report.learned.values().sum()),
        ("of these in use", report.learned_now.get("in use").copied().unwrap_or_default()),
        ("to review", report.learned_now.get("to review").copied().unwrap_or_default()),
        ("taken back", report.n_taken_back),
        ("sessions", report.sessions),
        ("merged", report.merged.len()),
        ("archived", report.archived.len()),
        ("contradictions", report.contradictions.len()),
        ("left to you", report.open_contradictions),
        ("used", report.n_used),
        ("never used", report.n_never_used),
        ("too young to tell", report.n_young),
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
    for (title, values, empty) in [
        ("Learned by week", weeks, "Nothing was learned in this time."),
        ("Where memories are in their lives", stages, "There are no memories yet."),
        ("What age and use left of their confidence", tenths, "There are no memories yet."),
    ] {
        page.raw("<h2>").text(title).raw("</h2>");
        match values.iter().any(|(_, n)| *n > 0) {
            true => page.piece(&bars(title, &values)),
            false => page.raw("<p class=\"empty\">").text(empty).raw("</p>"),
        };
    }
}

/// Whether a file is such a page, and may be written over by another.
pub fn is_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..MARK_WITHIN.min(bytes.len())).unwrap_or_default();
    head.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}

fn listed(page: &mut Html, title: &str, listed: &[Listed], empty: &str) {
    page.raw("<h2>").text(title).raw("</h2>");
    if listed.is_empty() {
        page.raw("<p class=\"empty\">").text(empty).raw("</p>");
        return;
    }
    page.raw("<table><thead><tr><th>memory</th><th class=\"n\">uses</th>");
    page.raw("<th class=\"n\">confidence</th></tr></thead><tbody>");
    for one in listed {
        page.raw("<tr><td>").text(&one.title).raw("<br><code>").text(&one.id);
        page.raw("</code></td><td class=\"n\">").text(one.uses);
        page.raw("</td><td class=\"n\">").text(format!("{:.2}", one.effective)).raw("</td></tr>");
    }
    page.raw("</tbody></table>");
}

fn happened(page: &mut Html, title: &str, happened: &[Happened], empty: &str) {
    page.raw("<h2>").text(title).raw(" <span class=\"faint\">").text(happened.len());
    page.raw("</span></h2>");
    if happened.is_empty() {
        page.raw("<p class=\"empty\">").text(empty).raw("</p>");
        return;
    }
    page.raw("<table class=\"wide\"><thead><tr><th>memory</th><th>with</th><th>why</th></tr>");
    page.raw("</thead><tbody>");
    for one in happened.iter().take(MAX_ROWS) {
        page.raw("<tr><td>").text(&one.title).raw("<br><code>").text(&one.target);
        page.raw("</code></td><td><code>").text(one.with.as_deref().unwrap_or_default());
        page.raw("</code></td><td>").text(&one.reason).raw("</td></tr>");
    }
    page.raw("</tbody></table>");
    if happened.len() > MAX_ROWS {
        page.raw("<p class=\"faint\">and ").text(happened.len() - MAX_ROWS).raw(" more</p>");
    }
}
