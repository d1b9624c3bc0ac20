//! `nacre mcp`: Nacre's operations as tools of the Model Context Protocol, one file a tool.
//!
//! Standard output carries the protocol and nothing else. Nothing is opened before the first call that needs it, and each
//! call opens its own host: settings may have changed, and other processes write the same stores. Arguments are hostile
//! input; what goes out is bounded, because agents cut long results.

mod call;
mod lines;
mod prompts;
mod resources;
mod schema;
mod server;
mod session;
mod text;
mod tools;
mod transport;

use std::time::Duration;

use nacre_ops::OpError;
use nacre_ops::host::Environment;
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;

pub(crate) use self::server::NacreServer;
use self::transport::CheckedTransport;

/// The longest message that is read.
const MAX_LINE_BYTES: usize = 4 << 20;

/// How much is held between the check of lines and their reader.
const PIPE_BYTES: usize = 64 << 10;

/// How long calls that still run may take to end when the client is gone. What they write is a change set, so that ending
/// the process at any point loses nothing.
const LAST_CALLS: Duration = Duration::from_millis(500);

/// Serves one client on standard input and output, until it closes them.
pub fn serve(environment: Environment, project: Option<String>) -> Result<(), OpError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("Cannot start the async runtime")
    })?;
    runtime.block_on(async {
        let server = NacreServer::new(environment, project);
        let (input, output) = stdio_pipes();
        let (checked, sink) = tokio::io::duplex(PIPE_BYTES);
        // When the client closes its end, so does this.
        tokio::spawn(lines::forward(input, sink, MAX_LINE_BYTES));
        let lines = AsyncRwTransport::new_server(checked, output);
        let transport = CheckedTransport::new(lines.with_max_line_length(MAX_LINE_BYTES));
        // A client that goes away before it said anything is no error.
        if let Ok(running) = server.serve(transport).await {
            let _ = running.waiting().await;
        }
    });
    runtime.shutdown_timeout(LAST_CALLS);
    Ok(())
}
