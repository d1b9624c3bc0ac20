//! The table of key bindings. The help and the tables in `docs/chat.md` are generated from this
//! table.
//!
//! The first key in each row must work over SSH and inside tmux. `Ctrl-Enter` and `Shift-Enter`
//! work only if the terminal can distinguish them from `Enter`.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyContext {
    Input,
    /// The user is browsing the transcript, where tool calls can be expanded.
    Browse,
    Approval,
    List,
    Page,
}

impl KeyContext {
    pub(crate) const ALL: [Self; 5] =
        [Self::Input, Self::Browse, Self::Approval, Self::List, Self::Page];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Input => "While you write",
            Self::Browse => "In the transcript (Ctrl-O)",
            Self::Approval => "When the agent asks for approval",
            Self::List => "In a list",
            Self::Page => "In a text",
        }
    }
}

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

#[derive(Debug)]
pub(crate) struct Binding {
    pub(crate) place: KeyContext,
    pub(crate) action: Action,
    /// Keys shown in the help, separated by commas.
    pub(crate) keys: &'static str,
    others: &'static str,
    pub(crate) help: &'static str,
}

const CTRL: KeyModifiers = KeyModifiers::CONTROL;
const ALT: KeyModifiers = KeyModifiers::ALT;

/// Declares each context's key bindings: action, keys shown in the help, other keys, and help text.
macro_rules! bindings {
    ($($place:ident { $($action:ident: $keys:literal $(+ $others:literal)? => $help:literal;)* })*) => {
        pub(crate) const BINDINGS: &[Binding] = &[$($(Binding {
            place: KeyContext::$place,
            action: Action::$action,
            keys: $keys,
            others: concat!("", $($others)?),
            help: $help,
        },)*)*];
    };
}

bindings! {
    Input {
        Send: "Enter" => "Send; while the agent works: queue";
        Steer: "Ctrl-S, Ctrl-Enter" => "While the agent works: send with its next step";
        Newline: "Alt-Enter, Shift-Enter, Ctrl-J" => "New line";
        Stop: "Esc" => "Stop the agent; twice: clear the input";
        Interrupt: "Ctrl-C" => "Clear the input; twice: quit";
        LeaveIfEmpty: "Ctrl-D" => "Quit, if the input is empty";
        Up: "Up, Ctrl-P" => "Row above; in the first row: previous prompt";
        Down: "Down, Ctrl-N" => "Row below; in the last row: next prompt";
        Complete: "Tab" => "Complete `/command` or `@file`; Up and Down select";
        TakeBack: "Alt-Up" => "Move the last queued prompt back into the input";
        Left: "Left, Ctrl-B" => "One character left";
        Right: "Right, Ctrl-F" => "One character right";
        WordLeft: "Alt-B, Ctrl-Left" + "Alt-Left" => "One word left";
        WordRight: "Alt-F, Ctrl-Right" + "Alt-Right" => "One word right";
        LineStart: "Ctrl-A, Home" => "Start of the line";
        LineEnd: "Ctrl-E, End" => "End of the line";
        Backspace: "Backspace" + "Ctrl-H" => "Delete the character before the cursor";
        Delete: "Delete" => "Delete the character at the cursor";
        CutWord: "Ctrl-W, Alt-Backspace" => "Cut the word before the cursor";
        CutToStart: "Ctrl-U" => "Cut to the start of the line";
        CutToEnd: "Ctrl-K" => "Cut to the end of the line";
        PasteCut: "Ctrl-Y" => "Paste the last cut text";
        PageUp: "PageUp" => "Transcript: one page up";
        PageDown: "PageDown" => "Transcript: one page down";
        ScrollUp: "Ctrl-Up, Shift-Up" => "Transcript: one line up";
        ScrollDown: "Ctrl-Down, Shift-Down" => "Transcript: one line down";
        Bottom: "Ctrl-End" + "Ctrl-PageDown" => "Transcript: the end";
        Top: "Ctrl-Home" + "Ctrl-PageUp" => "Transcript: the beginning";
        Browse: "Ctrl-O" => "Browse the transcript to expand tool calls";
        Plan: "Ctrl-T" => "Show or hide the agent's plan";
        Memory: "Ctrl-G" => "Show the memories that the agent received";
        Help: "F1" => "Show keys and commands";
        Redraw: "Ctrl-L" => "Redraw the screen";
    }
    Browse {
        Up: "Up, k" => "The call before";
        Down: "Down, j" => "The next call";
        Fold: "Enter, Space" => "Expand or collapse the tool call";
        UnfoldAll: "a" => "Unfold all";
        FoldAll: "z" => "Fold all";
        PageUp: "PageUp, b" => "One page up";
        PageDown: "PageDown, f" => "One page down";
        ScrollUp: "Ctrl-Up, u" + "Shift-Up" => "One line up";
        ScrollDown: "Ctrl-Down, d" + "Shift-Down" => "One line down";
        Top: "Home, g" => "The beginning";
        Bottom: "End, G" + "Shift-G" => "The end";
        Close: "Esc, q" + "Ctrl-O, Ctrl-C" => "Back to the input";
    }
    Approval {
        AllowOnce: "y" => "Allow once";
        AllowSession: "s" => "Allow this and identical requests for the rest of the session";
        Deny: "n" => "Do not allow it";
        DenyWithReason: "e" => "Reject, and give a reason";
        ScrollUp: "Up, k" => "One line up";
        ScrollDown: "Down, j" => "One line down";
        PageUp: "PageUp" => "One page up";
        PageDown: "PageDown" => "One page down";
        Bottom: "End" => "The end";
        Stop: "Esc" => "Stop the agent";
        Interrupt: "Ctrl-C" => "Twice: leave";
        Redraw: "Ctrl-L" => "Redraw the screen";
    }
    List {
        Up: "Up, k" + "Ctrl-P" => "The one above";
        Down: "Down, j" + "Ctrl-N" => "The one below";
        PageUp: "PageUp" => "One page up";
        PageDown: "PageDown" => "One page down";
        Choose: "Enter" => "Select: resume the session, open the memory, or run the skill";
        Edit: "e" => "Correct the memory";
        Close: "Esc, q" + "Ctrl-C, Ctrl-G" => "Close";
    }
    Page {
        ScrollUp: "Up, k" => "One line up";
        ScrollDown: "Down, j" + "Enter" => "One line down";
        PageUp: "PageUp, b" => "One page up";
        PageDown: "PageDown, Space" + "f" => "One page down";
        Top: "Home, g" => "The beginning";
        Bottom: "End, G" + "Shift-G" => "The end";
        Close: "Esc, q" + "Ctrl-C, F1" => "Close";
    }
}

impl Binding {
    fn chords(&self) -> impl Iterator<Item = Chord> {
        self.keys.split(", ").chain(self.others.split(", ")).filter_map(parse_chord)
    }
}

type Chord = (KeyCode, KeyModifiers);

fn parse_chord(text: &str) -> Option<Chord> {
    let (modifier, name) = match text.split_once('-') {
        Some(("Ctrl", name)) => (CTRL, name),
        Some(("Alt", name)) => (ALT, name),
        Some(("Shift", name)) => (KeyModifiers::SHIFT, name),
        _ => (KeyModifiers::NONE, text),
    };
    let code = match name {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Backspace" => KeyCode::Backspace,
        "Delete" => KeyCode::Delete,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageUp" => KeyCode::PageUp,
        "PageDown" => KeyCode::PageDown,
        "Space" => KeyCode::Char(' '),
        "F1" => KeyCode::F(1),
        letter => {
            let letter = letter.chars().next()?;
            let is_chord = modifier.intersects(CTRL.union(ALT));
            KeyCode::Char(if is_chord { letter.to_ascii_lowercase() } else { letter })
        }
    };
    Some((code, modifier))
}

pub(crate) fn action(place: KeyContext, key: KeyEvent) -> Option<Action> {
    let chord = (key.code, key.modifiers);
    let is_it =
        |binding: &&Binding| binding.place == place && binding.chords().any(|known| known == chord);
    BINDINGS.iter().find(is_it).map(|binding| binding.action)
}

pub(crate) fn to_typed_char(key: KeyEvent) -> Option<char> {
    // Some keyboard layouts type characters with Ctrl and Alt together (AltGr).
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
            for chord in binding.chords() {
                let name = format!("{:?} {chord:?}", binding.place);
                assert!(seen.insert(name.clone()), "{name}");
            }
        }
    }

    #[test]
    fn letters_are_typed_and_chords_are_not() {
        assert_eq!(to_typed_char(KeyEvent::new(KeyCode::Char('a'), KeyModifiers::NONE)), Some('a'));
        assert_eq!(
            to_typed_char(KeyEvent::new(KeyCode::Char('A'), KeyModifiers::SHIFT)),
            Some('A')
        );
        assert_eq!(to_typed_char(KeyEvent::new(KeyCode::Char('@'), CTRL.union(ALT))), Some('@'));
        assert_eq!(to_typed_char(KeyEvent::new(KeyCode::Char('a'), CTRL)), None);
        assert_eq!(to_typed_char(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)), None);
    }
}
