//! The words that flags of `nacre chat` take.

use clap::ValueEnum;
use nacre_api::wire::ApprovalPolicy;
use nacre_ops::terminal::ThemeChoice;

use crate::tui::ThemeName;

/// What the agent may do without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Policy {
    /// Nothing: every change, program and connection needs a yes
    Ask,
    /// Change files of the repository; programs and connections need a yes
    AutoEdit,
    /// Everything that it can within its walls
    Full,
}

impl From<Policy> for ApprovalPolicy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Ask => Self::Ask,
            Policy::AutoEdit => Self::AutoEdit,
            Policy::Full => Self::Full,
        }
    }
}

/// The colors of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Theme {
    /// For a dark background
    Dark,
    /// For a light background
    Light,
    /// No colors
    Plain,
}

impl From<Theme> for ThemeName {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Dark => Self::Dark,
            Theme::Light => Self::Light,
            Theme::Plain => Self::Plain,
        }
    }
}

/// The theme of the settings.
pub(super) fn configured(choice: ThemeChoice) -> ThemeName {
    match choice {
        ThemeChoice::Dark => ThemeName::Dark,
        ThemeChoice::Light => ThemeName::Light,
        ThemeChoice::Plain => ThemeName::Plain,
    }
}
