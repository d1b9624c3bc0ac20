//! Pages are built from this one type: what is ours is written as it is, everything else is escaped.
//!
//! Ours are string literals only. A text that came from a file cannot get in any other way than through `text`.

use std::fmt;

use nacre_core::base::Shown;

/// A piece of a page in which every text is escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Html(String);

impl Html {
    /// Markup of our own.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Anything else: escaped, on one line, and with every hidden character made visible.
    pub(super) fn text(&mut self, text: impl fmt::Display) -> &mut Self {
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

    /// A piece that was built the same way.
    pub(super) fn piece(&mut self, piece: &Self) -> &mut Self {
        self.0.push_str(&piece.0);
        self
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}
