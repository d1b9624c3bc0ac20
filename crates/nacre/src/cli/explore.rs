//! `nacre explore`

use clap::{Args, ValueEnum};
use nacre_api::wire::{ExploreRequest, MapDetail};
use nacre_ops::{Host, OpError, map as ops};

use super::exit::Exit;
use super::map::{Format, MapArgs, print_payload};
use super::ui::Ui;

/// Tell what a project is: where it starts, what it rests on, what it offers
///
/// Entry points, the files that much rests on and that change often, packages of others, the graph of modules, public
/// symbols and tests. Every list says how long it is. The same state gives the same bytes.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    map: MapArgs,
    /// How much to tell
    #[arg(long, value_name = "DETAIL", default_value = "compact")]
    detail: DetailName,
    /// Tokens that the answer may have; its lists are cut until it fits
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
}

/// How much an overview tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DetailName {
    Compact,
    Normal,
    Verbose,
}

impl From<DetailName> for MapDetail {
    fn from(name: DetailName) -> Self {
        match name {
            DetailName::Compact => Self::Compact,
            DetailName::Normal => Self::Normal,
            DetailName::Verbose => Self::Verbose,
        }
    }
}

pub(crate) fn cmd_explore(ui: &mut Ui, host: &Host, args: &ExploreArgs) -> Result<Exit, OpError> {
    let ExploreArgs { map, detail, budget } = args;
    let MapArgs { place, refresh, strict, format, client } = map;
    let request = ExploreRequest {
        project: place.clone(),
        refresh: *refresh,
        strict: *strict,
        format: Format::choose(*format, ui),
        client: client.clone(),
        detail: Some((*detail).into()),
        budget: *budget,
    };
    let answer = ops::explore(host, &request, &ui.events())?;
    print_payload(ui, &answer.payload)
}
