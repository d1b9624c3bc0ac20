//! Handles Ctrl-C: the first one cancels the running operation, and the second one ends the
//! process. SIGTERM and a closed terminal count as Ctrl-C, so that child processes are stopped too.
//!
//! If an operation does not respond to cancellation, the process exits after a timeout. No data is
//! lost, because the journal makes every change atomic.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use nacre_ops::Cancel;

/// The conventional exit code after Ctrl-C (128 + SIGINT).
const EXIT_INTERRUPTED: i32 = 130;

/// How long an operation may take to stop. It normally takes milliseconds, but a busy machine needs
/// longer.
pub(super) const CANCEL_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a server may take to stop, including its tasks.
pub(super) const SERVER_STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// The first Ctrl-C cancels the operation. The second one, or the timeout, ends the process.
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

/// Ignores Ctrl-C while a pager is open, because the pager handles it.
pub(super) fn ignore_ctrl_c() {
    listen(|ready| async move {
        let Ok(mut presses) = interrupts() else { return };
        drop(ready);
        while presses.recv().await.is_some() {}
    });
}

/// Runs `work` in its own thread until the process exits. Returns once the thread has registered
/// its signal handler. If the thread cannot be started, Ctrl-C ends the process immediately.
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
