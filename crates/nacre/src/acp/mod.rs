//! Nacre's agent for editors: the Agent Client Protocol on standard input and output.
//!
//! JSON-RPC 2.0, one message a line, version 1 of the protocol. The room is a client of the chat protocol
//! (`nacre_api::wire::chat`) like the terminal: a session of the editor is a session of the chat, a prompt is a turn, and
//! what the turn tells becomes `session/update`. Nothing but the protocol is written to standard output.

mod agent;
mod diffs;
mod json_rpc;
mod link;
mod methods;
mod modes;
mod opening;
mod options;
mod paths;
mod permission;
mod prompt;
mod protocol;
mod replay;
mod session;
mod streams;
mod tool_calls;
mod updates;

use std::io::{self, BufReader};
use std::thread;
use std::time::Duration;

use nacre_ops::Cancel;
use tokio::sync::mpsc::channel;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::agent::Agent;
pub(crate) use self::agent::SessionDefaults;
pub(crate) use self::link::Backend;
use self::streams::{MAX_LINE_BYTES, Outbox, read_lines, write_lines};

/// Lines that wait in each direction.
const WAITING: usize = 256;

/// How long what runs may take to end when the client is gone. Programs are killed; a busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves one client until it closes the input or stops reading, or until the process is asked to end.
pub(crate) async fn serve(
    backend: Backend,
    defaults: SessionDefaults,
    cancel: &Cancel,
) -> io::Result<()> {
    let (sender, mut lines) = channel(WAITING);
    thread::Builder::new().name("acp-input".to_owned()).spawn(move || {
        read_lines(BufReader::new(io::stdin()), MAX_LINE_BYTES, &sender);
    })?;
    let (sender, messages) = channel(WAITING);
    let (written, all_written) = oneshot::channel();
    thread::Builder::new().name("acp-output".to_owned()).spawn(move || {
        write_lines(io::stdout(), messages);
        let _ = written.send(());
    })?;
    let out = Outbox::new(sender);
    let (agent, mut gone) = Agent::new(backend, defaults, out.clone());
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => agent.receive(line).await,
                None => break,
            },
            () = cancel.cancelled() => break,
            () = out.closed() => break,
        }
    }
    // Whatever does not end in time is mended by whoever opens the state next.
    let _ = timeout(PATIENCE, agent.end()).await;
    let _ = timeout(PATIENCE, gone.recv()).await;
    drop((agent, out));
    let _ = timeout(PATIENCE, all_written).await;
    Ok(())
}
