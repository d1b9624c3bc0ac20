//! `nacre dashboard`

use std::io::ErrorKind;

use clap::Args;
use nacre_api::client::ClientError;
use nacre_api::wire::{DashboardReport, ErrorCode, LoginCodeReport, ServiceReport};
use nacre_ops::{Host, OpError, service};

use super::browser::open_in_browser;
use super::exit::Exit;
use super::remote::{PATIENCE, client_of};
use super::ui::Ui;

/// Open the dashboard in a browser
///
/// The link lets one browser in, once, within two minutes. The server must be running: `nacre serve`.
#[derive(Debug, Args)]
pub(crate) struct DashboardArgs {
    /// Print the link, and open nothing
    #[arg(long)]
    print: bool,
}

pub(crate) fn cmd_dashboard(
    ui: &mut Ui,
    host: &Host,
    args: &DashboardArgs,
) -> Result<Exit, OpError> {
    let DashboardArgs { print } = args;
    let found = service::find(host)?.ok_or_else(not_running)?;
    let client = client_of(found).with_patience(PATIENCE);
    // Where it listens, the server itself says: the file may be of one that is gone.
    let ServiceReport { address, .. } = client.service(&()).map_err(unreachable)?;
    let LoginCodeReport { code } = client.login_code(&()).map_err(unreachable)?;
    let link = format!("http://{address}/#code={code}");
    let opened = !print && !ui.is_json() && open_in_browser(&host.environment, &link);
    ui.report(&DashboardReport { link, opened }, |ui, report| match report.opened {
        true => ui.line("Opened the dashboard in your browser"),
        false => {
            ui.line("Open this link; it works once, for two minutes:")?;
            ui.line(&report.link)
        }
    })
}

fn not_running() -> OpError {
    let error = OpError::failed("No server runs for this home");
    OpError { code: ErrorCode::Unavailable, ..error }.hint("Start it: nacre serve")
}

fn unreachable(error: ClientError) -> OpError {
    match error {
        ClientError::Failed { failure, .. } => failure.into(),
        ClientError::Unreachable(error) if is_silence(&error) => {
            let error = OpError::failed("The server does not answer");
            OpError { code: ErrorCode::Unavailable, ..error }
                .hint("`nacre logs` shows what it does; `nacre down` stops it")
        }
        ClientError::Unreachable(_) => not_running(),
        ClientError::Broken(what) => OpError {
            code: ErrorCode::Unavailable,
            ..OpError::failed(format!("The server's answer makes no sense: {what}"))
        },
    }
}

/// Whether the time for an answer was over; systems name it differently.
fn is_silence(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}
