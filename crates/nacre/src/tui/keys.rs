//! Keys: one table for what they do, the help that is shown, and the table in `docs/chat.md`.
//!
//! Only keys that terminals send over ssh and inside tmux are the first of their row; `Ctrl-Enter` and `Shift-Enter` work where the
//! terminal can tell them from `Enter`.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Where keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The line that is being written.
    Input,
    /// The transcript, to fold and unfold.
    Browse,
    /// A question of the agent.
    Approval,
    /// A list to choose from.
    List,
    /// A text to read.
    Page,
}

impl Place {
    pub(crate) const ALL: [Self; 5] =
        [Self::Input, Self::Browse, Self::Approval, Self::List, Self::Page];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Input => "While you write",
            Self::Browse => "In the transcript (Ctrl-O)",
            Self::Approval => "When the agent asks",
            Self::List => "In a list",
            Self::Page => "In a text",
        }
    }
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Send,
    Steer,
    Newline,
    Stop,
    Interrupt,
    LeaveIfEmpty,
    Up,
    Down,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Backspace,
    Delete,
    CutWord,
    CutToStart,
    CutToEnd,
    PasteCut,
    Complete,
    TakeBack,
    PageUp,
    PageDown,
    ScrollUp,
    ScrollDown,
    Top,
    Bottom,
    Browse,
    Plan,
    Memory,
    Help,
    Redraw,
    Fold,
    FoldAll,
    UnfoldAll,
    Choose,
    Edit,
    Close,
    AllowOnce,
    AllowSession,
    Deny,
    DenyWithReason,
}

type Chord = (KeyCode, KeyModifiers);

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) place: Place,
    pub(crate) action: Action,
    chords: &'static [Chord],
    /// How the keys are written.
    pub(crate) keys: &'static str,
    pub(crate) help: &'static str,
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const ALT: KeyModifiers = KeyModifiers::ALT;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;

const fn ctrl(c: char) -> Chord {
    (KeyCode::Char(c), CTRL)
}

const fn alt(c: char) -> Chord {
    (KeyCode::Char(c), ALT)
}

const fn letter(c: char) -> Chord {
    (KeyCode::Char(c), NONE)
}

const fn key(code: KeyCode) -> Chord {
    (code, NONE)
}

const fn row(
    place: Place,
    action: Action,
    chords: &'static [Chord],
    keys: &'static str,
    help: &'static str,
) -> Binding {
    Binding { place, action, chords, keys, help }
}

use Action as A;
use KeyCode as K;
use Place as P;

/// Rows without help are other keys for the row above them.
pub(crate) const BINDINGS: &[Binding] = &[
    row(P::Input, A::Send, &[key(K::Enter)], "Enter", "Send; while the agent works: queue"),
    row(
        P::Input,
        A::Steer,
        &[ctrl('s'), (K::Enter, CTRL)],
        "Ctrl-S, Ctrl-Enter",
        "While the agent works: tell it at once, with its next step",
    ),
    row(
        P::Input,
        A::Newline,
        &[(K::Enter, ALT), (K::Enter, SHIFT), ctrl('j')],
        "Alt-Enter, Shift-Enter, Ctrl-J",
        "New line",
    ),
    row(P::Input, A::Stop, &[key(K::Esc)], "Esc", "Stop the agent; twice: clear the input"),
    row(P::Input, A::Interrupt, &[ctrl('c')], "Ctrl-C", "Clear the input; twice: leave"),
    row(P::Input, A::LeaveIfEmpty, &[ctrl('d')], "Ctrl-D", "Leave, where the input is empty"),
    row(
        P::Input,
        A::Up,
        &[key(K::Up), ctrl('p')],
        "Up, Ctrl-P",
        "Row above; in the first row: what you wrote before",
    ),
    row(
        P::Input,
        A::Down,
        &[key(K::Down), ctrl('n')],
        "Down, Ctrl-N",
        "Row below; in the last row: what you wrote after",
    ),
    row(
        P::Input,
        A::Complete,
        &[key(K::Tab)],
        "Tab",
        "Complete `/command` or `@file`; Up and Down choose",
    ),
    row(
        P::Input,
        A::TakeBack,
        &[(K::Up, ALT)],
        "Alt-Up",
        "Take the last queued prompt back into the input",
    ),
    row(P::Input, A::Left, &[key(K::Left), ctrl('b')], "Left, Ctrl-B", "One character left"),
    row(P::Input, A::Right, &[key(K::Right), ctrl('f')], "Right, Ctrl-F", "One character right"),
    row(
        P::Input,
        A::WordLeft,
        &[alt('b'), (K::Left, ALT), (K::Left, CTRL)],
        "Alt-B, Ctrl-Left",
        "One word left",
    ),
    row(
        P::Input,
        A::WordRight,
        &[alt('f'), (K::Right, ALT), (K::Right, CTRL)],
        "Alt-F, Ctrl-Right",
        "One word right",
    ),
    row(P::Input, A::LineStart, &[ctrl('a'), key(K::Home)], "Ctrl-A, Home", "Start of the line"),
    row(P::Input, A::LineEnd, &[ctrl('e'), key(K::End)], "Ctrl-E, End", "End of the line"),
    row(
        P::Input,
        A::Backspace,
        &[key(K::Backspace), ctrl('h')],
        "Backspace",
        "Delete the character before the cursor",
    ),
    row(P::Input, A::Delete, &[key(K::Delete)], "Delete", "Delete the character at the cursor"),
    row(
        P::Input,
        A::CutWord,
        &[ctrl('w'), (K::Backspace, ALT)],
        "Ctrl-W, Alt-Backspace",
        "Cut the word before the cursor",
    ),
    row(P::Input, A::CutToStart, &[ctrl('u')], "Ctrl-U", "Cut to the start of the line"),
    row(P::Input, A::CutToEnd, &[ctrl('k')], "Ctrl-K", "Cut to the end of the line"),
    row(P::Input, A::PasteCut, &[ctrl('y')], "Ctrl-Y", "Put back what was cut"),
    row(P::Input, A::PageUp, &[key(K::PageUp)], "PageUp", "Transcript: one page up"),
    row(P::Input, A::PageDown, &[key(K::PageDown)], "PageDown", "Transcript: one page down"),
    row(
        P::Input,
        A::ScrollUp,
        &[(K::Up, CTRL), (K::Up, SHIFT)],
        "Ctrl-Up, Shift-Up",
        "Transcript: one line up",
    ),
    row(
        P::Input,
        A::ScrollDown,
        &[(K::Down, CTRL), (K::Down, SHIFT)],
        "Ctrl-Down, Shift-Down",
        "Transcript: one line down",
    ),
    row(
        P::Input,
        A::Bottom,
        &[(K::End, CTRL), (K::PageDown, CTRL)],
        "Ctrl-End",
        "Transcript: the end",
    ),
    row(
        P::Input,
        A::Top,
        &[(K::Home, CTRL), (K::PageUp, CTRL)],
        "Ctrl-Home",
        "Transcript: the beginning",
    ),
    row(
        P::Input,
        A::Browse,
        &[ctrl('o')],
        "Ctrl-O",
        "Go into the transcript, to unfold tool calls",
    ),
    row(P::Input, A::Plan, &[ctrl('t')], "Ctrl-T", "Show or hide the agent's plan"),
    row(P::Input, A::Memory, &[ctrl('g')], "Ctrl-G", "Show which memories the agent was given"),
    row(P::Input, A::Help, &[key(K::F(1))], "F1", "Show keys and commands"),
    row(P::Input, A::Redraw, &[ctrl('l')], "Ctrl-L", "Draw the screen again"),
    row(P::Browse, A::Up, &[key(K::Up), letter('k')], "Up, k", "The call before"),
    row(P::Browse, A::Down, &[key(K::Down), letter('j')], "Down, j", "The next call"),
    row(P::Browse, A::Fold, &[key(K::Enter), letter(' ')], "Enter, Space", "Unfold or fold it"),
    row(P::Browse, A::UnfoldAll, &[letter('a')], "a", "Unfold all"),
    row(P::Browse, A::FoldAll, &[letter('z')], "z", "Fold all"),
    row(P::Browse, A::PageUp, &[key(K::PageUp), letter('b')], "PageUp, b", "One page up"),
    row(P::Browse, A::PageDown, &[key(K::PageDown), letter('f')], "PageDown, f", "One page down"),
    row(
        P::Browse,
        A::ScrollUp,
        &[(K::Up, CTRL), (K::Up, SHIFT), letter('u')],
        "Ctrl-Up, u",
        "One line up",
    ),
    row(
        P::Browse,
        A::ScrollDown,
        &[(K::Down, CTRL), (K::Down, SHIFT), letter('d')],
        "Ctrl-Down, d",
        "One line down",
    ),
    row(P::Browse, A::Top, &[key(K::Home), letter('g')], "Home, g", "The beginning"),
    row(
        P::Browse,
        A::Bottom,
        &[key(K::End), letter('G'), (K::Char('G'), SHIFT)],
        "End, G",
        "The end",
    ),
    row(
        P::Browse,
        A::Close,
        &[key(K::Esc), letter('q'), ctrl('o'), ctrl('c')],
        "Esc, q",
        "Back to the input",
    ),
    row(P::Approval, A::AllowOnce, &[letter('y')], "y", "Allow it this once"),
    row(
        P::Approval,
        A::AllowSession,
        &[letter('s')],
        "s",
        "Allow it, and exactly the same in this session",
    ),
    row(P::Approval, A::Deny, &[letter('n')], "n", "Do not allow it"),
    row(P::Approval, A::DenyWithReason, &[letter('e')], "e", "Do not allow it, and say why"),
    row(P::Approval, A::ScrollUp, &[key(K::Up), letter('k')], "Up, k", "One line up"),
    row(P::Approval, A::ScrollDown, &[key(K::Down), letter('j')], "Down, j", "One line down"),
    row(P::Approval, A::PageUp, &[key(K::PageUp)], "PageUp", "One page up"),
    row(P::Approval, A::PageDown, &[key(K::PageDown)], "PageDown", "One page down"),
    row(P::Approval, A::Bottom, &[key(K::End)], "End", "The end"),
    row(P::Approval, A::Stop, &[key(K::Esc)], "Esc", "Stop the agent"),
    row(P::Approval, A::Interrupt, &[ctrl('c')], "Ctrl-C", "Twice: leave"),
    row(P::Approval, A::Redraw, &[ctrl('l')], "Ctrl-L", "Draw the screen again"),
    row(P::List, A::Up, &[key(K::Up), letter('k'), ctrl('p')], "Up, k", "The one above"),
    row(P::List, A::Down, &[key(K::Down), letter('j'), ctrl('n')], "Down, j", "The one below"),
    row(P::List, A::PageUp, &[key(K::PageUp)], "PageUp", "One page up"),
    row(P::List, A::PageDown, &[key(K::PageDown)], "PageDown", "One page down"),
    row(
        P::List,
        A::Choose,
        &[key(K::Enter)],
        "Enter",
        "Choose: resume the session, open the memory, start the skill",
    ),
    row(P::List, A::Edit, &[letter('e')], "e", "Correct the memory"),
    row(P::List, A::Close, &[key(K::Esc), letter('q'), ctrl('c'), ctrl('g')], "Esc, q", "Close"),
    row(P::Page, A::ScrollUp, &[key(K::Up), letter('k')], "Up, k", "One line up"),
    row(
        P::Page,
        A::ScrollDown,
        &[key(K::Down), letter('j'), key(K::Enter)],
        "Down, j",
        "One line down",
    ),
    row(P::Page, A::PageUp, &[key(K::PageUp), letter('b')], "PageUp, b", "One page up"),
    row(
        P::Page,
        A::PageDown,
        &[key(K::PageDown), letter(' '), letter('f')],
        "PageDown, Space",
        "One page down",
    ),
    row(P::Page, A::Top, &[key(K::Home), letter('g')], "Home, g", "The beginning"),
    row(
        P::Page,
        A::Bottom,
        &[key(K::End), letter('G'), (K::Char('G'), SHIFT)],
        "End, G",
        "The end",
    ),
    row(P::Page, A::Close, &[key(K::Esc), letter('q'), ctrl('c'), key(K::F(1))], "Esc, q", "Close"),
];

/// What a key does in a place.
pub(crate) fn action(place: Place, key: KeyEvent) -> Option<Action> {
    let chord = (key.code, key.modifiers);
    let is_it = |binding: &&Binding| binding.place == place && binding.chords.contains(&chord);
    BINDINGS.iter().find(is_it).map(|binding| binding.action)
}

/// The character that a key types.
pub(crate) fn typed(key: KeyEvent) -> Option<char> {
    // Some keyboards type characters with Ctrl and Alt together.
    let is_typed =
        !key.modifiers.intersects(CTRL.union(ALT)) || key.modifiers.contains(CTRL.union(ALT));
    key.code.as_char().filter(|c| is_typed && !c.is_control())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        let mut seen = BTreeSet::new();
        for binding in BINDINGS {
            for chord in binding.chords {
                let name = format!("{:?} {chord:?}", binding.place);
                assert!(seen.insert(name.clone()), "{name}");
            }
        }
    }

    #[test]
    fn letters_are_typed_and_chords_are_not() {
        assert_eq!(typed(KeyEvent::new(K::Char('a'), NONE)), Some('a'));
        assert_eq!(typed(KeyEvent::new(K::Char('A'), SHIFT)), Some('A'));
        assert_eq!(typed(KeyEvent::new(K::Char('@'), CTRL.union(ALT))), Some('@'));
        assert_eq!(typed(KeyEvent::new(K::Char('a'), CTRL)), None);
        assert_eq!(typed(KeyEvent::new(K::Enter, NONE)), None);
    }
}
