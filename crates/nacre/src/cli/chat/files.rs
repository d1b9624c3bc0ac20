//! The files of the project for `@`, listed while the screen is open already.

use std::thread;

use nacre_ops::host::{Environment, OpenOptions, Opened};
use nacre_ops::{Cancel, Host, OpError, map};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Lists the files by a thread of its own. It ends early where the cancel says so.
pub(super) fn list(environment: Environment, cancel: Cancel) -> Receiver<Vec<String>> {
    let (found, files) = channel(1);
    thread::spawn(move || send(environment, &cancel, &found));
    files
}

/// Best effort: without a map nothing is completed.
fn send(environment: Environment, cancel: &Cancel, found: &Sender<Vec<String>>) {
    let Opened { host, warnings: _ } = Host::open(environment, &OpenOptions::default());
    let listed: Result<Vec<String>, OpError> = host.and_then(|host| map::files(&host, cancel));
    if let Ok(files) = listed {
        // A screen that is closed meanwhile wants none.
        let _ = found.blocking_send(files);
    }
}
