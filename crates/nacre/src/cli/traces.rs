//! What the commands about traces share: the names of agents.

use clap::builder::PossibleValuesParser;
use nacre_ops::host::agent_names;

/// Takes the name of an agent whose traces can be read.
pub(crate) fn agent_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(agent_names())
}
