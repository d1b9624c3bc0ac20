//! The messages that an answer rests on. Of memories the answer itself has the words.

use nacre_api::wire::{ModelAnswer, Speaker};
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::super::ui::{Role, Ui};

/// The longest quote that a line shows, in characters.
const MAX_QUOTE_CHARS: usize = 400;

/// Prints the messages that the sentences rest on.
pub(super) fn print_messages(ui: &mut Ui, answer: &ModelAnswer) -> Result<(), OpError> {
    for place in &answer.messages {
        let of_place = answer.sentences.iter().flat_map(|sentence| &sentence.quotes);
        for quote in of_place.filter(|quote| quote.source == *place) {
            let text = ui.paint(Role::Faint, format!("\"{}\"", quoted(&quote.text)));
            ui.line(format!("{}  {text}", ui.paint(Role::Id, place)))?;
        }
    }
    Ok(())
}

pub(super) fn said_by(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Human | Speaker::User => "a person said",
        Speaker::Assistant => "an agent said",
        Speaker::Tool => "a tool said",
    }
}

/// A quote on one line, not too long.
pub(super) fn quoted(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Shown(&folded).one_line().chars().take(MAX_QUOTE_CHARS).collect()
}
