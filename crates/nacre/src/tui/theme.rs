//! Colors: which role looks how.
//!
//! The sixteen colors of the terminal are the rule, since every terminal has them and the person chose them. Colors of our own
//! are used for the background of changed lines alone, and only where the terminal says that it can show them.

use ratatui_core::style::{Color, Modifier, Style};

/// What the colors are chosen for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ThemeName {
    /// A dark background.
    #[default]
    Dark,
    /// A light background.
    Light,
    /// No colors: bold, faint and reversed text only.
    Plain,
}

impl ThemeName {
    pub(crate) const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Plain];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Plain => "plain",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == name)
    }
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Text,
    Faint,
    Accent,
    Good,
    Bad,
    Warning,
    User,
    Heading,
    Code,
    Link,
    Quote,
    Keyword,
    Literal,
    Number,
    Comment,
    Added,
    Removed,
    Hunk,
    Selected,
}

/// How roles look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Theme {
    pub(super) name: ThemeName,
    pub(super) has_true_color: bool,
}

impl Theme {
    pub(super) fn style(self, role: Role) -> Style {
        match self.name {
            ThemeName::Plain => plain(role),
            ThemeName::Dark => self.colored(role, &DARK),
            ThemeName::Light => self.colored(role, &LIGHT),
        }
    }

    fn colored(self, role: Role, palette: &Palette) -> Style {
        let style = palette.style(role);
        if !self.has_true_color {
            return style;
        }
        if role == Role::Added {
            return style.bg(palette.added_background);
        }
        if role == Role::Removed { style.bg(palette.removed_background) } else { style }
    }
}

/// What differs between a dark and a light background.
struct Palette {
    accent: Color,
    warning: Color,
    literal: Color,
    number: Color,
    code: Color,
    added_background: Color,
    removed_background: Color,
}

const DARK: Palette = Palette {
    accent: Color::Cyan,
    warning: Color::Yellow,
    literal: Color::Green,
    number: Color::Yellow,
    code: Color::Cyan,
    added_background: Color::Rgb(18, 46, 26),
    removed_background: Color::Rgb(58, 22, 24),
};

const LIGHT: Palette = Palette {
    accent: Color::Blue,
    warning: Color::Magenta,
    literal: Color::Green,
    number: Color::Magenta,
    code: Color::Blue,
    added_background: Color::Rgb(222, 246, 226),
    removed_background: Color::Rgb(252, 226, 226),
};

impl Palette {
    fn style(&self, role: Role) -> Style {
        let style = Style::new();
        match role {
            Role::Text => style,
            Role::Faint | Role::Comment => style.add_modifier(Modifier::DIM),
            Role::Accent | Role::Hunk => style.fg(self.accent),
            Role::Good | Role::Added => style.fg(Color::Green),
            Role::Bad | Role::Removed => style.fg(Color::Red),
            Role::Warning => style.fg(self.warning),
            Role::User => style.fg(self.accent).add_modifier(Modifier::BOLD),
            Role::Heading => style.add_modifier(Modifier::BOLD),
            Role::Code => style.fg(self.code),
            Role::Link => style.fg(self.accent).add_modifier(Modifier::UNDERLINED),
            Role::Quote => style.add_modifier(Modifier::ITALIC),
            Role::Keyword => style.fg(Color::Magenta),
            Role::Literal => style.fg(self.literal),
            Role::Number => style.fg(self.number),
            Role::Selected => style.add_modifier(Modifier::REVERSED),
        }
    }
}

fn plain(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Faint | Role::Comment => style.add_modifier(Modifier::DIM),
        Role::User | Role::Heading | Role::Bad | Role::Warning => {
            style.add_modifier(Modifier::BOLD)
        }
        Role::Link => style.add_modifier(Modifier::UNDERLINED),
        Role::Selected => style.add_modifier(Modifier::REVERSED),
        Role::Text
        | Role::Accent
        | Role::Good
        | Role::Code
        | Role::Quote
        | Role::Keyword
        | Role::Literal
        | Role::Number
        | Role::Added
        | Role::Removed
        | Role::Hunk => style,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_theme_has_no_color() {
        let theme = Theme { name: ThemeName::Plain, has_true_color: true };
        for role in [Role::Added, Role::Removed, Role::Bad, Role::Accent, Role::Keyword] {
            let style = theme.style(role);
            assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
        }
    }

    #[test]
    fn true_colors_are_used_only_where_they_can_be_shown() {
        let is_rgb = |color: Option<Color>| matches!(color, Some(Color::Rgb(..)));
        for name in [ThemeName::Dark, ThemeName::Light] {
            for role in [Role::Added, Role::Removed] {
                assert!(is_rgb(Theme { name, has_true_color: true }.style(role).bg));
                assert_eq!(Theme { name, has_true_color: false }.style(role).bg, None);
            }
        }
    }
}
