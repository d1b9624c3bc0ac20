//! Where copies of a forgotten memory were looked for.

use nacre_api::wire::{CheckedCopy, CopyPlace, CopyState};
use nacre_ops::OpError;

use super::super::ui::Ui;

/// Says in which places nothing of a forgotten memory was found, and where it may still be.
pub(super) fn print_copies(ui: &mut Ui, copies: &[CheckedCopy]) -> Result<(), OpError> {
    let gone = copies.iter().filter(|copy| copy.state == CopyState::Gone);
    let gone: Vec<&str> = gone.map(|copy| copy.place.as_str()).collect();
    if !gone.is_empty() {
        ui.status(format!("Gone from: {}", gone.join(", ")))?;
    }
    for CheckedCopy { place, detail, .. } in
        copies.iter().filter(|copy| copy.state == CopyState::Waits)
    {
        let detail = detail.as_deref().unwrap_or_default();
        let hint = match place {
            CopyPlace::Server => "Have it forgotten there, too: nacre push",
            CopyPlace::SharedIndex => "It is taken out when the database is back",
            CopyPlace::Index => "Take it out: nacre index rebuild",
            CopyPlace::Files | CopyPlace::Runs | CopyPlace::Notes => "See: nacre doctor",
        };
        ui.warning(format!("Still in the {}: {detail}", place.as_str()), Some(hint));
    }
    Ok(())
}
