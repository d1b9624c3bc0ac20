//! Lines of JSON as they are: for programs of this machine that want no more than a socket.

use std::sync::Arc;

use nacre_ops::chat::{Client, MAX_LINE_BYTES};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::Receiver;

use super::WAITING;
use crate::people::LastingAccess;

pub(super) async fn serve<S>(
    stream: S,
    client: Client,
    outgoing: Receiver<Arc<str>>,
    access: &LastingAccess,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (reader, writer) = tokio::io::split(stream);
    tokio::select! {
        () = receive(BufReader::new(reader), client, access) => {}
        () = send(writer, outgoing, access) => {}
    }
}

async fn receive(
    mut reader: impl AsyncBufRead + Unpin,
    mut client: Client,
    access: &LastingAccess,
) {
    let mut line = Vec::new();
    while next_line(&mut reader, &mut line).await && access.caller().await.is_some() {
        // What is no text is no request either, and is answered as one that cannot be read.
        client.receive(&String::from_utf8_lossy(&line)).await;
    }
}

/// Reads a line without its end; false at the end of the input, or where a line is longer than a request may be.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> bool {
    line.clear();
    loop {
        let Ok(piece) = reader.fill_buf().await else { return false };
        if piece.is_empty() {
            return false;
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let n_bytes = end.map_or(piece.len(), |end| end + 1);
        line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        reader.consume(n_bytes);
        if MAX_LINE_BYTES < line.len() {
            return false;
        }
        if end.is_some() {
            return true;
        }
    }
}

async fn send(
    mut writer: impl AsyncWrite + Unpin,
    mut outgoing: Receiver<Arc<str>>,
    access: &LastingAccess,
) {
    let mut lines = Vec::new();
    while outgoing.recv_many(&mut lines, WAITING).await > 0 && access.caller().await.is_some() {
        let mut bytes = Vec::new();
        for line in lines.drain(..) {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}
