//! An Agent Client Protocol server for editors, on standard input and output.
//!
//! Implements version 1 of the protocol: JSON-RPC 2.0 with one message per line. Like the terminal
//! UI, the server is a client of the chat protocol (`nacre_types::chat`): each editor session is a
//! chat session, and each prompt is a turn. Only protocol messages may be written to standard
//! output.

mod agent;
mod json_rpc;
mod link;
mod methods;
mod options;
mod prompt;
mod protocol;
mod session;
mod sessions;
mod streams;
mod tool_calls;
mod updates;

use std::io::{self, BufReader};
use std::thread;
use std::time::Duration;

use nacre_ops::Cancel;
use nacre_ops::chat::Chats;
use tokio::sync::mpsc::channel;
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::agent::Agent;
pub(crate) use self::agent::SessionDefaults;
pub(crate) use self::link::{Link, MAX_BUFFERED, connect};
use self::streams::{MAX_LINE_BYTES, Outbox, read_lines, write_lines};

/// Time allowed after the client disconnects for turns to end and their child processes to be
/// killed.
const END_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn serve(
    chats: Chats,
    defaults: SessionDefaults,
    cancel: &Cancel,
) -> io::Result<()> {
    let (sender, mut lines) = channel(MAX_BUFFERED);
    thread::Builder::new().name("acp-input".to_owned()).spawn(move || {
        read_lines(BufReader::new(io::stdin()), MAX_LINE_BYTES, &sender);
    })?;
    let (sender, messages) = channel(MAX_BUFFERED);
    let (written, all_written) = oneshot::channel();
    thread::Builder::new().name("acp-output".to_owned()).spawn(move || {
        write_lines(io::stdout(), messages);
        let _ = written.send(());
    })?;
    let out = Outbox::new(sender);
    let agent = Agent::new(chats, defaults, out.clone());
    loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => agent.receive(line).await,
                None => break,
            },
            () = cancel.cancelled() => break,
            () = out.wait_until_closed() => break,
        }
    }
    // If a turn does not end in time, the next process that opens the state cleans up after it.
    let _ = timeout(END_TIMEOUT, agent.end()).await;
    let _ = timeout(END_TIMEOUT, agent.tasks.wait()).await;
    drop((agent, out));
    let _ = timeout(END_TIMEOUT, all_written).await;
    Ok(())
}
