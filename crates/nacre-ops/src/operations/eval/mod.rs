//! Measurements on data sets with known answers: one operation a file. Nothing is written, sent or random.

mod extraction;
mod hook;
mod retrieval;
mod traces;

use std::path::Path;

pub use extraction::extraction;
pub use hook::hook;
pub use retrieval::retrieval;

use crate::error::OpError;
use crate::host::{Host, read_plain};

/// The text of a data set.
fn read(host: &Host, path: &Path) -> Result<String, OpError> {
    read_plain(&host.environment.absolute(path)).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed(format!("Cannot read `{}`", path.display()))
    })
}
