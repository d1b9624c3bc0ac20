//! What a sync learned: the titles, and one line of totals.

use nacre_api::wire::{LearnedChange, LearnedMemory, SyncTotals};
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::super::intake::sessions_text;
use super::super::memory::counted;
use super::super::ui::{Role, Ui};

/// How many memories are named.
const MAX_LEARNED: usize = 10;

/// The titles of what was learned.
pub(super) fn print_learned(ui: &mut Ui, learned: &[LearnedMemory]) -> Result<(), OpError> {
    let has_projects = learned.iter().any(|memory| memory.project != learned[0].project);
    for memory in learned.iter().take(MAX_LEARNED) {
        let mut notes = Vec::new();
        notes.extend((memory.change == LearnedChange::Updated).then_some("updated"));
        notes.extend(memory.is_candidate.then_some("to review"));
        notes.extend(has_projects.then_some(memory.project.as_str()));
        let notes = match notes.as_slice() {
            [] => String::new(),
            notes => format!(" ({})", notes.join(", ")),
        };
        let title = ui.paint(Role::Title, Shown(&memory.title).one_line());
        ui.line(format!(
            "  {:<8}  {title}{}",
            memory.r#type.as_str(),
            ui.paint(Role::Faint, notes)
        ))?;
    }
    match learned.len().checked_sub(MAX_LEARNED).filter(|n_more| *n_more > 0) {
        Some(n_more) => ui.line(format!("  and {n_more} more")),
        None => Ok(()),
    }
}

/// One line of totals.
pub(super) fn print_totals(ui: &mut Ui, totals: &SyncTotals) -> Result<(), OpError> {
    let SyncTotals {
        sessions,
        failed,
        added,
        active,
        to_review,
        updated,
        superseded,
        summaries,
        cost_usd,
    } = *totals;
    if sessions + failed == 0 {
        return Ok(());
    }
    let new = match (added, to_review) {
        (0, _) => "no new memory".to_owned(),
        (_, 0) => format!("{} learned", counted(added as usize)),
        (_, _) => {
            format!("{} learned ({active} in use, {to_review} to review)", counted(added as usize))
        }
    };
    let mut parts = vec![new];
    parts.extend((updated > 0).then(|| format!("{updated} updated")));
    parts.extend((superseded > 0).then(|| format!("{superseded} overturned")));
    parts.extend((summaries > 0).then(|| match summaries {
        1 => "1 summary".to_owned(),
        n => format!("{n} summaries"),
    }));
    parts.extend((cost_usd > 0.0).then(|| format!("${cost_usd:.2} for models")));
    parts.extend((failed > 0).then(|| format!("{failed} failed")));
    ui.status(format!("{}: {}.", sessions_text(sessions + failed), parts.join(", ")))
}
