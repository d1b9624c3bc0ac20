//! How a caller stops an operation: one token for Ctrl-C, a closed connection and a server that ends.

use std::sync::Arc;

use nacre_api::wire::ErrorCode;
use tokio::sync::watch;

use crate::error::OpError;

/// Stops an operation. A clone stops the same one.
#[derive(Clone, Debug)]
pub struct Cancel {
    state: Arc<watch::Sender<bool>>,
}

impl Cancel {
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(false)) }
    }

    /// Stops the operation; a second time has no effect.
    pub fn cancel(&self) {
        self.state.send_replace(true);
    }

    pub fn is_cancelled(&self) -> bool {
        *self.state.borrow()
    }

    /// Returns once the operation is to stop.
    pub async fn cancelled(&self) {
        let mut state = self.state.subscribe();
        // The sender cannot be gone: it is borrowed here.
        let _ = state.wait_for(|is_cancelled| *is_cancelled).await;
    }

    /// Fails once the operation is to stop: for work that is done piece by piece.
    pub fn check(&self) -> Result<(), OpError> {
        match self.is_cancelled() {
            true => Err(OpError { code: ErrorCode::Cancelled, ..OpError::failed("Cancelled") }),
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
