//! What a hook works with, and where it says what went wrong.

use nacre_api::wire::ErrorCode;
use nacre_ops::host::{Environment, OpenOptions, Registering, Tolerance};
use nacre_ops::{Host, OpError, hook as ops};

/// A mistake in a repository's settings is not the agent's business.
pub(super) fn open(environment: Environment) -> Result<Host, OpError> {
    let options = OpenOptions {
        tolerance: Tolerance::OfRepository,
        registering: Registering::Yes,
        ..OpenOptions::default()
    };
    Host::open(environment, &options).host
}

/// Where there is no memory at all, nothing went wrong.
pub(super) fn log(environment: &Environment, (agent, event): (&str, &str), error: &OpError) {
    if error.code != ErrorCode::NoProject {
        ops::log_failure(environment, &ops::HookFailure { agent, event, error });
    }
}
