//! What models used, beside what they may.

use nacre_api::wire::{SpendingScope, SpendingStatus};
use nacre_ops::OpError;

use super::super::ui::Ui;

pub(super) fn print_spending(ui: &mut Ui, spent: &SpendingStatus) -> Result<(), OpError> {
    let when = match spent.scope {
        SpendingScope::Day => "Models today",
        SpendingScope::Project => "Models here this month",
    };
    let unpriced = match spent.unpriced_calls {
        0 => String::new(),
        calls => format!(" ({calls} calls of unknown price)"),
    };
    ui.line(format!(
        "{when}: {} of {} tokens, ${:.2} of ${:.2}{unpriced}",
        spent.tokens, spent.limit_tokens, spent.cost_usd, spent.limit_usd
    ))?;
    if spent.is_reached {
        let scope = spent.scope.as_str();
        ui.warning(
            format!("The {scope}'s limit is reached: model work is paused"),
            Some(&format!("nacre config set limits.{scope}_tokens N, or {scope}_usd")),
        );
    }
    Ok(())
}
