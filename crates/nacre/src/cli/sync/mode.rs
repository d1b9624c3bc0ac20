//! What the runs of a sync are for, on the command line.

use clap::ValueEnum;
use nacre_api::wire::SyncMode;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    Sync,
    Hot,
    Cold,
}

impl From<ModeName> for SyncMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Sync => Self::Sync,
            ModeName::Hot => Self::Hot,
            ModeName::Cold => Self::Cold,
        }
    }
}
