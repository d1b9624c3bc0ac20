//! `nacre mcp`

use clap::Args;
use nacre_ops::OpError;
use nacre_ops::host::Environment;
use nacre_server::mcp;

use super::exit::Exit;

/// Serve memory and code map to a coding agent, as an MCP server
///
/// Speaks the Model Context Protocol on standard input and output until the client closes them; agents start it
/// themselves. Tools: memory_search, memory_get, memory_add, memory_remove, brief, ask, trace_search, context,
/// code_search, explore, delta, status. It works on the project around the folder it was started in, or on the one of `--project`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {}

pub(crate) fn cmd_mcp(
    environment: Environment,
    project: Option<&str>,
    args: &McpArgs,
) -> Result<Exit, OpError> {
    let McpArgs {} = args;
    mcp::serve(environment, project.map(str::to_owned))?;
    Ok(Exit::Done)
}
