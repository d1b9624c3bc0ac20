//! `nacre serve`

use clap::Args;
use nacre_api::wire::{ErrorCode, ServeReport};
use nacre_ops::host::{Environment, Needs, OpenOptions, Tolerance};
use nacre_ops::{Cancel, Host, OpError};
use nacre_server::control;
use nacre_server::http::{self, Bound, ServeOptions, USUAL_PORT};

use super::exit::Exit;
use super::interrupt::stop_on_ctrl_c;
use super::ui::Ui;

/// Serve memories, code map and dashboard to programs and browsers of this machine
///
/// Listens on 127.0.0.1 until Ctrl-C, and meanwhile syncs and maintains by itself. Programs need the token in
/// `~/.nacre/run/token`; a browser is let in by `nacre dashboard`. One server runs for a home at a time; `nacre up` runs it
/// in the background.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The port to listen on; 0 for any that is free
    #[arg(long, value_name = "PORT", default_value_t = USUAL_PORT)]
    port: u16,
    /// A name that a proxy of yours asks by, as HOST:PORT; it has to speak TLS to others
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Do nothing by itself: only answer requests
    #[arg(long)]
    no_loops: bool,
    /// Only say whether the server of this home answers: 0 when it does
    #[arg(long, conflicts_with_all = ["port", "allow_host", "no_loops"])]
    check: bool,
    /// Leave the session of whoever started it
    #[arg(long, hide = true)]
    detached: bool,
}

pub(crate) fn cmd_serve(
    ui: &mut Ui,
    environment: Environment,
    args: &ServeArgs,
) -> Result<Exit, OpError> {
    let ServeArgs { port, allow_host, no_loops, check: is_check, detached } = args;
    if *is_check {
        return check(ui, environment);
    }
    if *detached {
        // Where it fails, closing the terminal ends the server.
        let _ = nacre_ops::leave_session();
    }
    let stop = Cancel::new();
    stop_on_ctrl_c(stop.clone());
    let options = ServeOptions { port: *port, names: allow_host.clone(), has_loops: !*no_loops };
    http::serve(environment, &options, &mut |bound| ready(ui, bound), &stop)?;
    Ok(Exit::Done)
}

fn check(ui: &mut Ui, environment: Environment) -> Result<Exit, OpError> {
    let options = OpenOptions {
        needs: Needs::Registered,
        tolerance: Tolerance::Mistakes,
        ..OpenOptions::default()
    };
    let host = Host::open(environment, &options).host?;
    let health = control::health(&host)?.ok_or_else(|| {
        OpError { code: ErrorCode::Unavailable, ..OpError::failed("No server answers") }
            .hint("Start one: nacre up")
    })?;
    ui.report(&health, |ui, health| {
        ui.line(format_args!("The server answers: nacre {}", health.version))
    })
}

fn ready(ui: &mut Ui, bound: &Bound) -> Result<(), OpError> {
    let report = ServeReport {
        address: bound.address.to_string(),
        socket: bound.socket.as_ref().map(|path| path.display().to_string()),
    };
    ui.report(&report, |ui, report| {
        ui.line(format_args!("Serving on http://{}; Ctrl-C ends it", report.address))?;
        ui.line("Next: nacre dashboard")
    })?;
    ui.flush();
    Ok(())
}
