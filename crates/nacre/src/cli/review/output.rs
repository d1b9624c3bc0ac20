//! Candidates as they are printed: what each says, and the words that prove it.

use nacre_api::wire::{ReviewCandidate, ReviewListReport};
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::super::memory::{print_memory_row, print_more, quote_place, warn_broken};
use super::super::ui::{Role, Ui};

/// Quotes that are shown of one candidate.
const MAX_QUOTES: usize = 2;

/// The longest quote that is shown, in characters.
const MAX_QUOTE_CHARS: usize = 300;

pub(super) fn print(ui: &mut Ui, report: &ReviewListReport) -> Result<(), OpError> {
    for (number, candidate) in report.candidates.iter().enumerate() {
        if number > 0 {
            ui.line("")?;
        }
        print_candidate(ui, candidate)?;
    }
    match report.total {
        0 => ui.status("Nothing waits for review.")?,
        _ => ui.status("\nDecide: nacre review accept ID, nacre review reject ID")?,
    }
    print_more(ui, report.total - report.candidates.len())?;
    warn_broken(ui, &report.broken);
    Ok(())
}

pub(super) fn print_candidate(ui: &mut Ui, candidate: &ReviewCandidate) -> Result<(), OpError> {
    let ReviewCandidate { memory, body, quotes, reason } = candidate;
    print_memory_row(ui, memory)?;
    if let Some(reason) = reason {
        ui.line(format!("    {}", ui.paint(Role::Warning, format!("quarantined: {reason}"))))?;
    }
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        ui.line(format!("    {}", Shown(line).one_line()))?;
    }
    for quote in quotes.iter().take(MAX_QUOTES) {
        let words = quote.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut: String = words.chars().take(MAX_QUOTE_CHARS).collect();
        let more = if cut.len() < words.len() { "…" } else { "" };
        ui.line(format!("    > {}{more}", Shown(&cut).one_line()))?;
        let place = quote_place(ui, &quote.place, &quote.at);
        ui.line(format!("      {}", ui.paint(Role::Faint, Shown(&place).one_line())))?;
    }
    if quotes.is_empty() {
        ui.line(format!("    {}", ui.paint(Role::Warning, "no quote proves it")))?;
    }
    Ok(())
}
