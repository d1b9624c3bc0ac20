//! Handles Ctrl-C: the first one cancels the running operation, and the second one ends the
//! process. SIGTERM and closing the terminal have the same effect as Ctrl-C, so child processes are
//! stopped too.
//!
//! If an operation does not respond to cancellation, the process exits after a timeout. No data is
//! lost, because every change is journaled as a unit.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use nacre_ops::Cancel;

/// The conventional exit code after Ctrl-C (128 + SIGINT).
const EXIT_INTERRUPTED: i32 = 130;

/// Time allowed for an operation to stop. It normally takes milliseconds, but can take longer on a
/// busy machine.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// Time allowed for a server to stop, including the time to end its tasks.
pub(super) const SERVER_STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// Cancels the operation on the first Ctrl-C. Ends the process on the second one, or after the
/// timeout.
pub(super) fn cancel_on_ctrl_c(cancel: Cancel, timeout: Duration) {
    listen(move |ready| async move {
        let Ok(mut presses) = presses() else { return };
        let _ = ready.send(());
        presses.recv().await;
        cancel.cancel();
        let _ = tokio::time::timeout(timeout, presses.recv()).await;
        end_process();
    });
}

/// Ignores Ctrl-C while a pager is shown, because the pager handles it.
pub(super) fn ignore_ctrl_c() {
    listen(|ready| async move {
        let Ok(mut presses) = interrupts() else { return };
        drop(ready);
        while presses.recv().await.is_some() {}
    });
}

/// Runs `work` in a separate thread until the process exits. Returns once the thread's signal
/// handler is registered. If the thread cannot be started, Ctrl-C ends the process immediately.
fn listen<F: Future<Output = ()>>(work: impl FnOnce(Sender<()>) -> F + Send + 'static) {
    let (ready, is_ready) = channel();
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            runtime.block_on(work(ready));
        }
    };
    if thread::Builder::new().name("ctrl-c".to_owned()).spawn(run).is_ok() {
        let _ = is_ready.recv();
    }
}

#[cfg(unix)]
fn interrupts() -> std::io::Result<tokio::signal::unix::Signal> {
    tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())
}

#[cfg(windows)]
fn interrupts() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

#[cfg(unix)]
fn presses() -> std::io::Result<tokio::sync::mpsc::UnboundedReceiver<()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (sender, presses) = tokio::sync::mpsc::unbounded_channel();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let (mut signal, sender) = (signal(kind)?, sender.clone());
        tokio::spawn(
            async move { while signal.recv().await.is_some() && sender.send(()).is_ok() {} },
        );
    }
    Ok(presses)
}

#[cfg(windows)]
fn presses() -> std::io::Result<tokio::signal::windows::CtrlC> {
    interrupts()
}

#[expect(clippy::exit, clippy::disallowed_methods, reason = "the user insists on exiting")]
fn end_process() -> ! {
    std::process::exit(EXIT_INTERRUPTED)
}
