//! Windows: no agent is started, for its group could not be ended with the call.

use super::super::error::Fault;
use super::launch::{Finished, ProgramCall, cannot_start};

#[expect(clippy::unused_async, reason = "as on the other systems")]
pub(super) async fn run(_: ProgramCall<'_>) -> Result<Finished, Fault> {
    let why = std::io::Error::other("Nacre does not start agents on Windows");
    Err(cannot_start(&why))
}
