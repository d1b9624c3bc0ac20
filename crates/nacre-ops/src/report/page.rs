//! Renders the report as a single HTML page without scripts or external resources. `Html` writes
//! string literals as they are and escapes all other text.

use std::fmt;

use nacre_base::Shown;
use nacre_types::{MemoryUse, ReportedAction, StoreFigures};

const MAX_ROWS: usize = 50;

/// Identifies pages written by Nacre, so that other files are not overwritten.
const MARK: &str = "<meta name=\"generator\" content=\"nacre report\">";

/// Number of bytes at the start of the file in which the marker must occur.
const MARK_WITHIN: usize = 1024;

const STYLE: &str = include_str!("page.css");

pub(super) fn html_page(report: &StoreFigures, name: &str) -> String {
    let mut page = Html::default();
    page.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    page.raw(MARK);
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">");
    page.raw("<title>").text(name).raw(": memory report</title><style>").raw(STYLE);
    page.raw("</style></head><body><h1>").text(name).raw(": memory report</h1>");
    page.raw("<p class=\"faint\">").text(day(&report.since)).raw(" to ");
    page.text(day(&report.until)).raw("</p>");
    write_numbers(&mut page, report);
    let short = |week: &String| week.get(5..).unwrap_or(week).to_owned();
    let weeks: Vec<_> = report.learned_by_week.iter().map(|(week, n)| (short(week), *n)).collect();
    write_bars(&mut page, "Learned by week", &weeks, "Nothing was learned in this period.");
    let stages: Vec<_> = report.stages.iter().map(|(stage, n)| (stage.clone(), *n)).collect();
    write_bars(&mut page, "Memories by lifecycle stage", &stages, "No memories yet.");
    let tenths = report.confidence.iter().enumerate();
    let tenths: Vec<_> = tenths.map(|(tenth, n)| (format!("0.{tenth}"), *n)).collect();
    write_bars(&mut page, "Memories by confidence", &tenths, "No memories yet.");
    write_list(&mut page, "Most used", &report.most_used, "No memory has been used yet.");
    let empty = "No memory has been unused for two weeks.";
    write_list(&mut page, "Never used", &report.never_used, empty);
    let empty = "No memory was superseded.";
    write_actions(&mut page, "Contradictions found", &report.contradictions, empty);
    write_actions(&mut page, "Merged", &report.merged, "No memories were merged.");
    write_actions(&mut page, "Archived", &report.archived, "No memory was archived.");
    page.raw("</body></html>\n");
    page.0
}

fn write_numbers(page: &mut Html, report: &StoreFigures) {
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
        ("too recent to tell", report.n_young),
    ] {
        page.raw("<li><b>").text(n).raw("</b>").text(what).raw("</li>");
    }
    page.raw("</ul>");
}

fn day(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}

pub(super) fn is_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..MARK_WITHIN.min(bytes.len())).unwrap_or_default();
    head.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}

/// Writes a heading and, if there is nothing to write below it, `empty`. Returns whether there is
/// something.
fn write_heading(page: &mut Html, title: &str, has_any: bool, empty: &str) -> bool {
    page.raw("<h2>").text(title).raw("</h2>");
    if !has_any {
        page.raw("<p class=\"empty\">").text(empty).raw("</p>");
    }
    has_any
}

fn write_bars(page: &mut Html, title: &str, values: &[(String, usize)], empty: &str) {
    let most = values.iter().map(|(_, n)| *n).max().unwrap_or(0);
    if !write_heading(page, title, most > 0, empty) {
        return;
    }
    page.raw("<table class=\"bars\"><tbody>");
    for (name, n) in values {
        page.raw("<tr><th>").text(name).raw("</th><td><meter max=\"").text(most);
        page.raw("\" value=\"").text(n).raw("\"></meter></td><td class=\"n\">").text(n);
        page.raw("</td></tr>");
    }
    page.raw("</tbody></table>");
}

fn write_list(page: &mut Html, title: &str, listed: &[MemoryUse], empty: &str) {
    if !write_heading(page, title, !listed.is_empty(), empty) {
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

fn write_actions(page: &mut Html, title: &str, happened: &[ReportedAction], empty: &str) {
    let title = format!("{title} ({})", happened.len());
    if !write_heading(page, &title, !happened.is_empty(), empty) {
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Html(String);

impl Html {
    fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends the text as one line, with special characters escaped and invisible characters made
    /// visible.
    fn text(&mut self, text: impl fmt::Display) -> &mut Self {
        for c in Shown(&text.to_string()).one_line().chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }
}
