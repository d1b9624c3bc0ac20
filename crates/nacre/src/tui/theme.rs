//! Maps roles to styles.
//!
//! Styles use the sixteen ANSI colors, which every terminal supports and users can configure. The
//! one exception is the background of changed lines, which uses an RGB color if the terminal
//! supports it.

use nacre_ops::terminal::ThemeChoice;
use ratatui_core::style::{Color, Modifier, Style};

/// The meaning of a piece of text, which determines its style.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    pub(crate) name: ThemeChoice,
    pub(crate) has_true_color: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self { name: ThemeChoice::Dark, has_true_color: false }
    }
}

impl Theme {
    pub(super) fn style(self, role: Role) -> Style {
        match self.name {
            ThemeChoice::Plain => plain(role),
            ThemeChoice::Dark => self.color_style(role, &DARK),
            ThemeChoice::Light => self.color_style(role, &LIGHT),
        }
    }

    fn color_style(self, role: Role, palette: &Palette) -> Style {
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

/// Colors that depend on whether the terminal's background is dark or light.
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

#[expect(clippy::wildcard_enum_match_arm, reason = "other roles have the style of text")]
fn plain(role: Role) -> Style {
    let style = Style::new();
    match role {
        Role::Faint | Role::Comment => style.add_modifier(Modifier::DIM),
        Role::User | Role::Heading | Role::Bad | Role::Warning => {
            style.add_modifier(Modifier::BOLD)
        }
        Role::Link => style.add_modifier(Modifier::UNDERLINED),
        Role::Selected => style.add_modifier(Modifier::REVERSED),
        _ => style,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_theme_has_no_color() {
        let theme = Theme { name: ThemeChoice::Plain, has_true_color: true };
        for role in [Role::Added, Role::Removed, Role::Bad, Role::Accent, Role::Keyword] {
            let style = theme.style(role);
            assert_eq!((style.fg, style.bg), (None, None), "{role:?}");
        }
    }

    #[test]
    fn true_colors_are_used_only_where_they_can_be_shown() {
        let is_rgb = |color: Option<Color>| matches!(color, Some(Color::Rgb(..)));
        for name in [ThemeChoice::Dark, ThemeChoice::Light] {
            for role in [Role::Added, Role::Removed] {
                assert!(is_rgb(Theme { name, has_true_color: true }.style(role).bg));
                assert_eq!(Theme { name, has_true_color: false }.style(role).bg, None);
            }
        }
    }
}
