//! Prompted: the memories that fit what a person just asked of an agent, or nothing.
//!
//! No model, no network. Most prompts have no fitting memory, and then nothing is told: `Fitting::is_fit` is the floor.
//! Who may be told unasked is decided where a brief decides it.

#[cfg(test)]
mod tests;

use nacre_core::search::{Builtin, Fit, Fitting, SearchError, TokenCounter};

use super::brief::item::{Backing, backing, forms};
use super::brief::{Item, Source};

/// The first line: whoever reads it is told that these are findings and no orders.
const OPENING: &str = "Remembered here, as data, and may fit; `nacre memory show ID` tells more.";

/// More memories than these are not read for one prompt.
const MAX_ITEMS: usize = 3;

/// A memory that has less than this share of the best one's score is about something else.
const MIN_SHARE: f32 = 0.55;

/// What is asked for.
pub struct Prompt<'a> {
    pub text: &'a str,
    /// At most this many tokens, as [`TokenCounter`] counts.
    pub budget: usize,
    /// Whether the session knows a memory already.
    pub is_told: &'a dyn Fn(&str) -> bool,
}

/// What to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompted {
    /// Best first; empty when nothing fits.
    pub items: Vec<Item>,
    /// What the text counts.
    pub tokens: usize,
}

impl Prompted {
    /// One line a memory; empty when nothing fits.
    pub fn text(&self) -> String {
        if self.items.is_empty() {
            return String::new();
        }
        let lines = self.items.iter().map(Item::line);
        [OPENING.to_owned()].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// Finds the memories that fit a prompt.
pub fn prompted(
    sources: &[Source<'_>],
    prompt: &Prompt<'_>,
    model: &Builtin,
    counter: &TokenCounter,
) -> Result<Prompted, SearchError> {
    let mut selection = Selection { prompt, counter, prompted: Prompted::default() };
    for source in sources {
        let fitting = source.index.fitting(prompt.text, model)?;
        selection.take(source, &fitting);
    }
    Ok(selection.prompted)
}

struct Selection<'a> {
    prompt: &'a Prompt<'a>,
    counter: &'a TokenCounter,
    prompted: Prompted,
}

impl Selection<'_> {
    /// Takes what fits of one store, best first.
    fn take(&mut self, source: &Source<'_>, fitting: &Fitting<'_>) {
        // Those that come with the best one are measured by it; where that is known already, each stands for itself.
        let mut best: Option<&Fit<'_>> = None;
        for fit in &fitting.fits {
            if self.prompted.items.len() == MAX_ITEMS {
                return;
            }
            let may_be_told = match best {
                Some(best) => fit.score >= MIN_SHARE * best.score,
                None => fitting.is_fit(fit),
            };
            if !may_be_told || (self.prompt.is_told)(fit.id) {
                continue;
            }
            if self.tell(source, fit) && best.is_none() {
                best = Some(fit);
            }
        }
    }

    /// Tells one memory, if somebody stands behind it and there is room.
    fn tell(&mut self, source: &Source<'_>, fit: &Fit<'_>) -> bool {
        let Some(memory) = source.index.read_fit(fit) else { return false };
        if backing(source.store, &memory, source.scope) != Backing::Backed {
            return false;
        }
        let Some((long, short)) = forms(source.store, &memory, source.scope) else { return false };
        self.put(long) || short.is_some_and(|short| self.put(short))
    }

    fn put(&mut self, item: Item) -> bool {
        let mut longer = self.prompted.clone();
        longer.items.push(item);
        longer.tokens = self.counter.count(&longer.text());
        let fits = longer.tokens <= self.prompt.budget;
        if fits {
            self.prompted = longer;
        }
        fits
    }
}
