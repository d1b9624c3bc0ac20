//! What the person wrote before, to be called up again.

/// Older ones are forgotten.
const MAX_ENTRIES: usize = 200;

/// Prompts, the oldest first, and which of them is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    entries: Vec<String>,
    /// Which one is shown; `None` for what is being written.
    at: Option<usize>,
    /// What was being written when the first was called up.
    draft: String,
}

impl History {
    pub(crate) fn push(&mut self, text: &str) {
        self.at = None;
        let is_again = self.entries.last().is_some_and(|last| last == text);
        if text.trim().is_empty() || is_again {
            return;
        }
        self.entries.push(text.to_owned());
        if self.entries.len() > MAX_ENTRIES {
            self.entries.remove(0);
        }
    }

    /// The one before that which is shown.
    pub(crate) fn older(&mut self, current: &str) -> Option<&str> {
        let at = match self.at {
            None => {
                current.clone_into(&mut self.draft);
                self.entries.len().checked_sub(1)?
            }
            Some(at) => at.checked_sub(1)?,
        };
        self.at = Some(at);
        self.entries.get(at).map(String::as_str)
    }

    /// The one after that which is shown; at the end what was being written.
    pub(crate) fn newer(&mut self) -> Option<&str> {
        let at = self.at? + 1;
        self.at = (at < self.entries.len()).then_some(at);
        Some(self.entries.get(at).unwrap_or(&self.draft))
    }

    /// The person changes what is shown: it is a draft of its own.
    pub(crate) fn leave(&mut self) {
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_and_newer_walk_and_keep_the_draft() {
        let mut history = History::default();
        for text in ["one", "two", "two", " "] {
            history.push(text);
        }
        assert_eq!(history.older("draft"), Some("two"));
        assert_eq!(history.older("two"), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer(), Some("two"));
        assert_eq!(history.newer(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn it_does_not_grow_without_bound() {
        let mut history = History::default();
        (0..1_000).for_each(|idx| history.push(&idx.to_string()));
        assert_eq!(history.entries.len(), MAX_ENTRIES);
        assert_eq!(history.older(""), Some("999"));
    }
}
