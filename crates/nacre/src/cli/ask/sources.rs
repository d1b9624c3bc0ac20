//! The words that an answer rests on, as they stand in its sources: beside them, a sentence that says something else is seen.

use nacre_api::wire::{CitedMemory, ModelAnswer, SourceQuote, Speaker};
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::super::ui::{Role, Ui};

/// The longest quote that a line shows, in characters.
const MAX_QUOTE_CHARS: usize = 400;

/// Prints the words of a memory that the sentences rest on, unless they stand above already.
pub(super) fn print_source_words(
    ui: &mut Ui,
    answer: &ModelAnswer,
    memory: &CitedMemory,
) -> Result<(), OpError> {
    let mut printed = vec![quoted(&memory.title)];
    printed.extend(memory.quote.as_deref().map(quoted));
    for quote in quotes(answer).filter(|quote| quote.source == memory.id) {
        let text = quoted(&quote.text);
        if !printed.iter().any(|known| known.contains(&text)) {
            ui.line(format!("    {}", ui.paint(Role::Faint, format!("it says: \"{text}\""))))?;
            printed.push(text);
        }
    }
    Ok(())
}

/// Prints the messages that the sentences rest on.
pub(super) fn print_messages(ui: &mut Ui, answer: &ModelAnswer) -> Result<(), OpError> {
    for place in &answer.messages {
        for quote in quotes(answer).filter(|quote| quote.source == *place) {
            let text = ui.paint(Role::Faint, format!("\"{}\"", quoted(&quote.text)));
            ui.line(format!("{}  {text}", ui.paint(Role::Id, place)))?;
        }
    }
    Ok(())
}

fn quotes(answer: &ModelAnswer) -> impl Iterator<Item = &SourceQuote> {
    answer.sentences.iter().flat_map(|sentence| &sentence.quotes)
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
