//! The two channels to the agent: requests out, messages in. Who is at the other end, and over what, is not known here.

use nacre_api::wire::{RpcMessage, RpcRequest};
use tokio::sync::mpsc::{Receiver, UnboundedSender};

/// One end of a line to the agent.
#[derive(Debug)]
pub(crate) struct ChatLink {
    pub(crate) requests: UnboundedSender<RpcRequest>,
    pub(crate) messages: Receiver<RpcMessage>,
}
