//! Implements `nacre mcp`, which provides Nacre's operations as Model Context Protocol tools.
//! Results are limited in size, because agents truncate long ones.

mod call;
mod prompts;
mod resources;
mod schema;
mod server;
mod text;
mod tools;
mod transport;

use std::time::Duration;

use nacre_ops::host::Environment;
use nacre_ops::{OpError, Result};
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;

pub(crate) use self::server::NacreServer;
use self::transport::CheckedTransport;

const MAX_LINE_BYTES: usize = 4 << 20;

const PIPE_BYTES: usize = 64 << 10;

/// How long running calls may continue after the client disconnects. Changes are atomic, so the
/// process can safely exit during a call.
const LAST_CALLS: Duration = Duration::from_millis(500);

/// Serves MCP until the client closes standard input.
pub fn serve(environment: Environment, project: Option<String>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| OpError::failed("Cannot start the async runtime").because(error))?;
    runtime.block_on(async {
        let server = NacreServer::new(environment, project);
        let (input, output) = stdio_pipes();
        let (checked, sink) = tokio::io::duplex(PIPE_BYTES);
        tokio::spawn(transport::forward(input, sink, MAX_LINE_BYTES));
        let lines = AsyncRwTransport::new_server(checked, output);
        let transport = CheckedTransport::new(lines.with_max_line_length(MAX_LINE_BYTES));
        // A client may disconnect before its first message.
        if let Ok(running) = server.serve(transport).await {
            let _ = running.waiting().await;
        }
    });
    runtime.shutdown_timeout(LAST_CALLS);
    Ok(())
}
