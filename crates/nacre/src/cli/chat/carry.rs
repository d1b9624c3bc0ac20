//! Carries requests to the agent of this process, and its messages back.

use std::path::PathBuf;
use std::sync::Arc;

use nacre_api::wire::{RpcMessage, RpcRequest};
use nacre_ops::chat::{Chats, Workspaces};
use tokio::sync::mpsc::{Sender, UnboundedReceiver, channel};

/// Messages that wait to be looked at; more wait where they are kept.
pub(super) const WAITING: usize = 256;

/// Hands requests to the agent and its messages back, until one side is gone.
pub(super) async fn carry(
    chats: Chats,
    folder: PathBuf,
    mut asked: UnboundedReceiver<RpcRequest>,
    tell: Sender<RpcMessage>,
) {
    let (out, mut lines) = channel::<Arc<str>>(WAITING);
    let mut client = chats.client(folder, Workspaces::Any, out);
    let hand_back = async {
        while let Some(line) = lines.recv().await {
            // Both ends are this program; what it wrote it can read.
            let Ok(message) = serde_json::from_str::<RpcMessage>(&line) else { continue };
            if tell.send(message).await.is_err() {
                return;
            }
        }
    };
    let hand_over = async {
        while let Some(request) = asked.recv().await {
            let line = serde_json::to_string(&request).unwrap_or_default();
            client.receive(&line).await;
        }
    };
    tokio::select! {
        () = hand_back => {}
        () = hand_over => {}
    }
}
