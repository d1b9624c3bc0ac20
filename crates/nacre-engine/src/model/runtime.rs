//! Where plain code waits for futures: on one runtime of the process, or on that of a server.

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};

/// A runtime that is shared by whatever waits for models. A clone is the same runtime.
#[derive(Clone, Debug)]
pub struct AsyncRuntime {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Driven by the thread that waits.
    Own(Arc<OwnRuntime>),
    /// Driven by the threads of a server.
    Shared(Handle),
}

/// A runtime that is dropped without waiting for threads of cancelled work.
#[derive(Debug)]
struct OwnRuntime {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl AsyncRuntime {
    /// Makes one that the waiting thread drives.
    pub fn new() -> io::Result<Self> {
        let runtime = Some(Builder::new_current_thread().enable_all().build()?);
        Ok(Self { kind: Kind::Own(Arc::new(OwnRuntime { runtime })) })
    }

    /// Uses a runtime that other threads drive. Wait on it from a thread that may block.
    pub fn of_server(handle: Handle) -> Self {
        Self { kind: Kind::Shared(handle) }
    }

    /// Waits for the work on this thread.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.kind {
            Kind::Own(own) => match &own.runtime {
                Some(runtime) => runtime.block_on(work),
                None => unreachable!("a runtime is there until it is dropped"),
            },
            Kind::Shared(handle) => handle.block_on(work),
        }
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        // A cancelled tool may still wait for a program; nobody waits for the tool.
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
        assert!(end.try_recv().is_err(), "the thread still waits");
        release.send(()).unwrap();
        end.recv().unwrap();
    }

    #[test]
    fn a_server_lends_its_own() {
        let server = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let shared = AsyncRuntime::of_server(server.handle().clone());
        let both = [shared.clone(), shared];
        assert_eq!(both.map(|runtime| runtime.block_on(async { 1 })), [1, 1]);
    }
}
