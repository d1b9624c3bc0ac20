//! `nacre up`

use clap::Args;
use nacre_api::wire::{ServiceManager, UpReport, UpRequest, UpState};
use nacre_ops::{Host, OpError};
use nacre_server::control;
use nacre_server::http::USUAL_PORT;

use super::exit::Exit;
use super::ui::Ui;

/// Let it run by itself: sync, maintenance, indexes, and the dashboard
///
/// Starts `nacre serve` for this home and waits until it answers: as a service of your systemd or launchd, which starts it
/// again with each login, else as a process of its own. Where it runs already, this says so. `nacre down` stops it,
/// `nacre logs` shows what it did.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// The port to listen on; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = USUAL_PORT)]
    port: u16,
    /// Begin nothing by itself until `nacre up --resume`
    #[arg(long, conflicts_with_all = ["resume", "docker"])]
    pause: bool,
    /// Go on by itself after `nacre up --pause`
    #[arg(long, conflicts_with = "docker")]
    resume: bool,
    /// Start a plain process, also where systemd or launchd is there
    #[arg(long)]
    no_unit: bool,
    /// Only write a compose file for Docker, and say what to type
    #[arg(long, conflicts_with = "no_unit")]
    docker: bool,
}

pub(crate) fn cmd_up(ui: &mut Ui, host: &Host, args: &UpArgs) -> Result<Exit, OpError> {
    let UpArgs { port, pause, resume, no_unit, docker } = args;
    let request = UpRequest {
        port: *port,
        no_unit: *no_unit,
        pause: (*pause || *resume).then_some(*pause),
        docker: *docker,
    };
    let report = control::up(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &UpReport) -> Result<(), OpError> {
    let UpReport { state, manager, address, paused, file, next } = report;
    let file = file.as_deref().unwrap_or_default();
    if *state == UpState::Written {
        ui.line(format_args!("Wrote {file}"))?;
        ui.status("Needs an image: `make dist && docker build -t nacre:VERSION .` in the sources")?;
        return ui.line(format_args!("Next: {next}"));
    }
    let address = address.as_deref().unwrap_or_default();
    let verb = match state {
        UpState::Running => "Already running",
        UpState::Restarted => "Restarted with what changed",
        UpState::Started | UpState::Written => "Running",
    };
    ui.line(format_args!("{verb} on http://{address}{}", by(*manager)))?;
    if *paused {
        ui.line("It is paused: nothing is synced by itself until `nacre up --resume`")?;
    } else {
        ui.status(
            "New sessions are read by themselves; `nacre logs` shows it, `nacre down` ends it",
        )?;
    }
    ui.line(format_args!("Next: {next}"))
}

fn by(manager: Option<ServiceManager>) -> &'static str {
    match manager {
        Some(ServiceManager::Systemd) => ", started by systemd with each login",
        Some(ServiceManager::Launchd) => ", started by launchd with each login",
        Some(ServiceManager::Process) => ", until the machine is turned off",
        Some(ServiceManager::Docker) | None => "",
    }
}
