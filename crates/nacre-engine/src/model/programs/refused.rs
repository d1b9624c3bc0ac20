//! Refuses to start agents on Windows, where the agent's process group could not be killed when the
//! call ends.

use crate::model::error::Result;
use crate::model::programs::launch::{Finished, ProgramCall, cannot_start};

#[expect(clippy::unused_async, reason = "same signature as on other systems")]
pub(super) async fn run(_: ProgramCall<'_>) -> Result<Finished> {
    let why = std::io::Error::other("Nacre does not start agents on Windows");
    Err(cannot_start(&why))
}
