//! Why an answer could not be had.

use std::{fmt, io};

use crate::wire::Failure;

/// A request that has no report.
#[derive(Debug)]
pub enum ClientError {
    /// Nobody answers there.
    Unreachable(io::Error),
    /// What answers there is not Nacre, or broke off.
    Broken(String),
    /// The server says why.
    Failed { status: u16, failure: Failure },
}

impl ClientError {
    /// What the server said of the failure.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { failure, .. } => Some(failure),
            Self::Unreachable(_) | Self::Broken(_) => None,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(_) => f.write_str("No server answers"),
            Self::Broken(what) => write!(f, "The answer makes no sense: {what}"),
            Self::Failed { failure, .. } => f.write_str(&failure.message),
        }
    }
}

impl std::error::Error for ClientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreachable(error) => Some(error),
            Self::Broken(_) | Self::Failed { .. } => None,
        }
    }
}
