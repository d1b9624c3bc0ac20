//! A connection of the chat protocol: one JSON object a line, in both directions.

use std::io::{self, BufRead, Read as _, Write};

use super::connection::{Client, HangUp, Upgraded};
use super::error::ClientError;
use crate::wire::{RpcMessage, RpcRequest};

/// No message is longer.
const MAX_LINE_BYTES: u64 = 64 << 20;

impl Client {
    /// Opens the chat protocol. Turns that are begun on the connection go on when it is closed.
    pub fn open_chat(&self) -> Result<(ChatReader, ChatWriter), ClientError> {
        let Upgraded { reader, writer, hang_up } = self.upgrade("/rpc", "nacre-rpc")?;
        Ok((ChatReader { reader }, ChatWriter { writer, hang_up }))
    }
}

/// What the server sends.
pub struct ChatReader {
    reader: Box<dyn BufRead + Send>,
}

impl ChatReader {
    /// Waits for the next message; `None` where the server is gone.
    pub fn next_message(&mut self) -> Result<Option<RpcMessage>, ClientError> {
        let mut line = String::new();
        match self.reader.by_ref().take(MAX_LINE_BYTES).read_line(&mut line) {
            // A connection that was reset is one that is gone.
            Ok(0) | Err(_) => Ok(None),
            Ok(_) if !line.ends_with('\n') => Ok(None),
            Ok(_) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| ClientError::Broken(error.to_string())),
        }
    }
}

impl std::fmt::Debug for ChatReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatReader").finish_non_exhaustive()
    }
}

/// The way to the server. Dropping it closes the connection.
pub struct ChatWriter {
    writer: Box<dyn Write + Send>,
    hang_up: HangUp,
}

impl ChatWriter {
    pub fn send(&mut self, request: &RpcRequest) -> io::Result<()> {
        let mut line = serde_json::to_string(request).map_err(io::Error::other)?;
        line.push('\n');
        self.writer.write_all(line.as_bytes())?;
        self.writer.flush()
    }
}

impl Drop for ChatWriter {
    fn drop(&mut self) {
        (self.hang_up)();
    }
}

impl std::fmt::Debug for ChatWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatWriter").finish_non_exhaustive()
    }
}
