//! How a caller stops an operation: one token for Ctrl-C, a closed connection and a server that ends.

use std::sync::Arc;

use nacre_engine::model::{Cancel as CancelToken, CancelSource};

use crate::error::OpError;

/// Stops an operation. A clone stops the same one.
#[derive(Clone, Debug)]
pub struct Cancel {
    source: Arc<CancelSource>,
}

impl Cancel {
    pub fn new() -> Self {
        Self { source: Arc::new(CancelSource::new()) }
    }

    /// Stops the operation; a second time has no effect.
    pub fn cancel(&self) {
        self.source.cancel();
    }

    pub fn is_cancelled(&self) -> bool {
        self.token().is_cancelled()
    }

    /// Returns once the operation is to stop.
    pub async fn cancelled(&self) {
        self.token().cancelled().await;
    }

    /// What models and agents listen to.
    pub fn token(&self) -> CancelToken {
        self.source.token()
    }

    /// Fails once the operation is to stop: for work that is done piece by piece.
    pub fn check(&self) -> Result<(), OpError> {
        match self.is_cancelled() {
            true => Err(OpError::cancelled()),
            false => Ok(()),
        }
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use nacre_api::wire::ErrorCode;

    use super::*;

    #[test]
    fn a_clone_stops_the_same_operation() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (cancel, other) = (Cancel::new(), Cancel::new());
        let waiting = cancel.clone();
        assert!(cancel.check().is_ok());
        let thread = std::thread::spawn(move || runtime.block_on(waiting.cancelled()));
        cancel.cancel();
        thread.join().unwrap();
        assert!(cancel.is_cancelled() && !other.is_cancelled());
        assert_eq!(cancel.check().unwrap_err().code, ErrorCode::Cancelled);
    }
}
