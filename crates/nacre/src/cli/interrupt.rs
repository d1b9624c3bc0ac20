//! Ctrl-C: the first one stops the running operation in order, the second one ends the process. A terminal that is closed and a
//! polite `kill` count as Ctrl-C, so that no program that was started for the operation outlives it.
//!
//! An operation that is deep in a computation hears nothing; after a while the process ends all the same. Nothing is lost by
//! that: every change is a journaled whole, and what was not finished is taken up the next time.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use nacre_ops::Cancel;

/// What a shell expects of a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// How long an operation may take to end in order. It takes milliseconds; a busy machine takes longer.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a server may take: what runs in it has time to end by itself.
const SERVER_PATIENCE: Duration = Duration::from_secs(20);

/// Lets Ctrl-C cancel an operation, for one that ends in order when it is cancelled.
pub(super) fn cancel_on_ctrl_c(cancel: Cancel) {
    cancel_within(cancel, PATIENCE);
}

/// Lets Ctrl-C stop a server in order.
pub(super) fn stop_on_ctrl_c(stop: Cancel) {
    cancel_within(stop, SERVER_PATIENCE);
}

fn cancel_within(cancel: Cancel, patience: Duration) {
    let (ready, is_ready) = channel();
    let listening = thread::Builder::new().name("ctrl-c".to_owned());
    if listening.spawn(move || listen(&cancel, &ready, patience)).is_ok() {
        // Without a listener Ctrl-C ends the process, as everywhere else.
        let _ = is_ready.recv();
    }
}

/// Leaves Ctrl-C to the pager that is shown: the process waits for it to end.
pub(super) fn ignore_ctrl_c() {
    let (ready, is_ready) = channel::<()>();
    let ignore = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(mut presses) = interrupts() else { return };
            drop(ready);
            while presses.recv().await.is_some() {}
        });
    };
    if thread::Builder::new().name("ctrl-c".to_owned()).spawn(ignore).is_ok() {
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

fn listen(cancel: &Cancel, ready: &Sender<()>, patience: Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let Ok(mut presses) = presses() else { return };
        let _ = ready.send(());
        presses.recv().await;
        cancel.cancel();
        let _ = tokio::time::timeout(patience, presses.recv()).await;
        end_process();
    });
}

/// What asks the process to end.
#[cfg(unix)]
struct Presses([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Presses {
    async fn recv(&mut self) -> Option<()> {
        let Self([interrupt, terminate, hang_up]) = self;
        tokio::select! {
            pressed = interrupt.recv() => pressed,
            pressed = terminate.recv() => pressed,
            pressed = hang_up.recv() => pressed,
        }
    }
}

#[cfg(unix)]
fn presses() -> std::io::Result<Presses> {
    use tokio::signal::unix::{SignalKind, signal};
    Ok(Presses([
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
    ]))
}

#[cfg(windows)]
fn presses() -> std::io::Result<tokio::signal::windows::CtrlC> {
    tokio::signal::windows::ctrl_c()
}

#[expect(clippy::exit, clippy::disallowed_methods, reason = "a person insists on it")]
fn end_process() -> ! {
    std::process::exit(INTERRUPTED)
}
