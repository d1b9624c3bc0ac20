//! The keys that take one of a few names: one enum each, with its names as a file or a flag writes them.

use std::str::FromStr;

/// Gives the variants of an enum their names, and reads them back.
macro_rules! names {
    ($choice:ident: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $choice {
            pub const ALL: &[Self] = &[$(Self::$variant),+];
            pub const NAMES: &[&str] = &[$($name),+];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl FromStr for $choice {
            type Err = UnknownChoice;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|choice| choice.as_str() == text).ok_or(UnknownChoice)
            }
        }
    };
}

/// A word that is none of the choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Unknown choice")]
pub struct UnknownChoice;

/// Where recall looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeMode {
    /// In the project, then in the global memory.
    ProjectFallbackGlobal,
    ProjectOnly,
    GlobalOnly,
}

names! {
    ScopeMode:
    ProjectFallbackGlobal = "project_fallback_global",
    ProjectOnly = "project_only",
    GlobalOnly = "global_only",
}

/// When output is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    Always,
    Never,
}

names! { ColorChoice: Auto = "auto", Always = "always", Never = "never" }

/// The colors of the chat's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThemeChoice {
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
    /// No colors.
    Plain,
}

names! { ThemeChoice: Dark = "dark", Light = "light", Plain = "plain" }

/// How files are kept that can be made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtRest {
    Plain,
    /// With a key of the person's own.
    Encrypted,
}

names! { AtRest: Plain = "plain", Encrypted = "encrypted" }

/// What turns texts into vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingChoice {
    /// The table inside the program.
    Builtin,
    /// A service that texts are sent to.
    Endpoint,
}

names! { EmbeddingChoice: Builtin = "builtin", Endpoint = "endpoint" }

/// How a session is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StrategyChoice {
    /// By what there is: without a model by rules, else in windows, and by code where it is long.
    #[default]
    Auto,
    /// By rules alone.
    Offline,
    /// A model reads it, window by window.
    Windows,
    /// A model explores it by code.
    Rlm,
}

names! { StrategyChoice: Auto = "auto", Offline = "offline", Windows = "windows", Rlm = "rlm" }

impl StrategyChoice {
    /// Whether nothing but a model will do.
    pub fn demands_a_model(self) -> bool {
        matches!(self, Self::Windows | Self::Rlm)
    }
}

/// What a lead is run with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LeadRuntime {
    /// Nacre's own engine, with the model of the role `lead`.
    #[default]
    Nacre,
    /// The installed Claude Code, which reads memories itself.
    Claude,
}

names! { LeadRuntime: Nacre = "nacre", Claude = "claude" }

/// Which API a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiChoice {
    Anthropic,
    OpenAi,
}

names! { ApiChoice: Anthropic = "anthropic", OpenAi = "openai" }

/// How far a key may travel unencrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttpChoice {
    ThisMachine,
    Anywhere,
}

names! { PlainHttpChoice: ThisMachine = "this_machine", Anywhere = "anywhere" }

/// How long a model may think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffortChoice {
    Off,
    Low,
    Medium,
    High,
}

names! { EffortChoice: Off = "off", Low = "low", Medium = "medium", High = "high" }

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks one enum: every choice has a name of its own that is read back.
    macro_rules! check {
        ($($choice:ident),+) => {
            $(
                let names: Vec<&str> = $choice::ALL.iter().map(|choice| choice.as_str()).collect();
                assert_eq!(names, $choice::NAMES);
                let read: Vec<$choice> = names.iter().map(|name| name.parse().unwrap()).collect();
                assert_eq!(read, $choice::ALL);
            )+
        };
    }

    #[test]
    fn choices_and_their_names_agree() {
        check!(ScopeMode, ColorChoice, AtRest, EmbeddingChoice, StrategyChoice);
        check!(ThemeChoice, LeadRuntime, ApiChoice, PlainHttpChoice, EffortChoice);
        assert_eq!("Auto".parse::<ColorChoice>(), Err(UnknownChoice));
        assert_eq!("".parse::<ApiChoice>(), Err(UnknownChoice));
    }
}
