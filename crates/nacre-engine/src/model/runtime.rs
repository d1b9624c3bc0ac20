//! The Tokio runtime that synchronous code uses to block on futures.

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};

#[derive(Clone, Debug)]
pub enum AsyncRuntime {
    /// Driven by the thread that calls `block_on`.
    Own(Arc<OwnRuntime>),
    /// Driven by a server's threads. Use it only from threads that may block.
    Shared(Handle),
}

/// A runtime that can be dropped without waiting for threads that are still running cancelled work.
#[derive(Debug)]
pub struct OwnRuntime {
    /// `None` only during `drop`.
    runtime: Option<Runtime>,
}

impl AsyncRuntime {
    pub fn new() -> io::Result<Self> {
        let runtime = Some(Builder::new_current_thread().enable_all().build()?);
        Ok(Self::Own(Arc::new(OwnRuntime { runtime })))
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        match self {
            Self::Own(own) => match &own.runtime {
                Some(runtime) => runtime.block_on(work),
                None => unreachable!("the runtime exists until it is dropped"),
            },
            Self::Shared(handle) => handle.block_on(work),
        }
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn it_does_not_wait_for_threads_of_cancelled_work() {
        let runtime = AsyncRuntime::new().unwrap();
        let (release, held) = channel::<()>();
        let (ended, end) = channel();
        runtime.block_on(async {
            drop(tokio::task::spawn_blocking(move || {
                let _ = held.recv();
                let _ = ended.send(());
            }));
        });
        drop(runtime);
        assert!(end.try_recv().is_err(), "the thread is still waiting");
        release.send(()).unwrap();
        end.recv().unwrap();
    }

    #[test]
    fn a_server_lends_its_own() {
        let server = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let shared = AsyncRuntime::Shared(server.handle().clone());
        let both = [shared.clone(), shared];
        assert_eq!(both.map(|runtime| runtime.block_on(async { 1 })), [1, 1]);
    }
}
