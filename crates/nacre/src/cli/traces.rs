//! What the commands about traces share: the names of agents.

use clap::builder::PossibleValuesParser;
use nacre_ops::host::agent_names;
pub(crate) use nacre_ops::host::{open_catalog, parse_when};

/// Takes the name of an agent whose traces can be read.
pub(crate) fn agent_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(agent_names())
}
