//! The flag that says how sessions are read.

use clap::{Args, ValueEnum};
use nacre_api::wire::StrategyChoice;

/// How sessions are read.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct StrategyArgs {
    /// How to read: by rules, by a model in windows, by a model that explores by code, or by what there is
    #[arg(long, value_name = "STRATEGY")]
    strategy: Option<StrategyName>,
}

impl StrategyArgs {
    /// What the flag says, where it is given.
    pub(crate) fn choice(self) -> Option<StrategyChoice> {
        self.strategy.map(|name| match name {
            StrategyName::Auto => StrategyChoice::Auto,
            StrategyName::Offline => StrategyChoice::Offline,
            StrategyName::Windows => StrategyChoice::Windows,
            StrategyName::Rlm => StrategyChoice::Rlm,
        })
    }
}

/// A strategy on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StrategyName {
    Auto,
    Offline,
    Windows,
    Rlm,
}
