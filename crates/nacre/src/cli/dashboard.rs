//! `nacre dashboard`

use clap::Args;
use nacre_api::client::{Client, ClientError};
use nacre_api::wire::{DashboardReport, ErrorCode, LoginCodeReport};
use nacre_ops::{Host, OpError, service};

use super::browser::open_in_browser;
use super::exit::Exit;
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
    let client = Client::new(found.address.clone(), found.token);
    let LoginCodeReport { code } = client.login_code(&()).map_err(unreachable)?;
    let link = format!("http://{}/#code={code}", found.address);
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
        ClientError::Unreachable(_) => not_running(),
        ClientError::Broken(what) => OpError {
            code: ErrorCode::Unavailable,
            ..OpError::failed(format!("The server's answer makes no sense: {what}"))
        },
    }
}
