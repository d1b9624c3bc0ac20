//! Commands for the local server: `serve`, `up`, `down`, `logs`, `dashboard` and `mcp`.

use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use nacre_ops::Cancel;
use nacre_ops::host::{Environment, Needs, OpenOptions, Tolerance};
use nacre_ops::service::{self, LogTail};
use nacre_server::client::{Client, ClientError};
use nacre_server::control;
use nacre_server::http::{self, ServeOptions, USUAL_PORT};
use nacre_types::{
    DashboardReport, DownReport, ErrorCode, LoginCode, ServeReport, ServiceManager, ServiceReport,
    UpReport, UpRequest, UpState,
};

pub(super) use super::args::NoArgs;
use super::interrupt::{CANCEL_TIMEOUT, SERVER_STOP_TIMEOUT, cancel_on_ctrl_c};
use super::prelude::*;
use super::remote::ANSWER_TIMEOUT;

/// How often `nacre logs --follow` looks for new lines.
const LOG_PERIOD: Duration = Duration::from_millis(250);

/// Commands that open a URL in a browser, in order of preference.
#[cfg(target_os = "macos")]
const OPENERS: &[&str] = &["open"];
#[cfg(windows)]
const OPENERS: &[&str] = &["explorer.exe"];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENERS: &[&str] = &["xdg-open", "wslview"];

/// Serve memories, code map and dashboard to programs and browsers on this machine
///
/// Listens on 127.0.0.1 until Ctrl-C, and runs sync and maintenance in the background. Programs
/// need the token in `~/.nacre/run/token`; `nacre dashboard` logs a browser in. Only one server
/// runs per home; `nacre up` runs it in the background.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The port to listen on; 0 for any free port
    #[arg(long, value_name = "PORT", default_value_t = USUAL_PORT)]
    port: u16,
    /// A host name that your TLS proxy forwards, as HOST:PORT
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Only answer requests; no background sync or maintenance
    #[arg(long)]
    no_loops: bool,
    /// Only check whether this home's server responds; exits with 0 if it does
    #[arg(long, conflicts_with_all = ["port", "allow_host", "no_loops"])]
    check: bool,
    /// Start a new session, so closing the terminal does not end the server
    #[arg(long, hide = true)]
    detached: bool,
}

pub(crate) fn cmd_serve(ui: &mut Ui, environment: Environment, args: ServeArgs) -> CommandResult {
    let ServeArgs { port, allow_host: names, no_loops, check: is_check, detached } = args;
    if is_check {
        return check(ui, environment);
    }
    if detached {
        // If this fails, closing the terminal ends the server.
        let _ = nacre_ops::leave_session();
    }
    let stop = Cancel::new();
    cancel_on_ctrl_c(stop.clone(), SERVER_STOP_TIMEOUT);
    let options = ServeOptions { port, names, has_loops: !no_loops };
    http::serve(environment, &options, |bound| print_ready(ui, bound), &stop)?;
    Ok(Exit::DONE)
}

fn check(ui: &mut Ui, environment: Environment) -> CommandResult {
    let options = OpenOptions {
        needs: Needs::Registered,
        tolerance: Tolerance::Mistakes,
        ..OpenOptions::default()
    };
    let host = Host::open(environment, &options).host?;
    let health = control::health(&host)?
        .ok_or_else(|| unavailable("No server answers").hint("Start one: nacre up"))?;
    ui.report(&health, |ui, health| {
        ui.line(format_args!("The server is responding: nacre {}", health.version));
    })
}

fn print_ready(ui: &mut Ui, report: &ServeReport) -> Result<()> {
    ui.report(report, |ui, report| {
        ui.line(format_args!("Serving on http://{}; press Ctrl-C to stop", report.address));
        ui.line("Next: nacre dashboard");
    })?;
    // A server must keep running even if its startup messages cannot be printed.
    let _ = ui.flush();
    Ok(())
}

/// Run the server in the background: sync, maintenance, indexes and dashboard
///
/// Starts `nacre serve` for this home and waits until it responds. Uses systemd or launchd if
/// available, which also starts it at login; otherwise starts a background process. Reports if the
/// server is already running. `nacre down` stops it, `nacre logs` shows its log.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct UpArgs {
    /// The port to listen on; 0 for any free port
    #[arg(long, value_name = "PORT", default_value_t = USUAL_PORT)]
    port: u16,
    /// Pause background work until `nacre up --resume`
    #[arg(long, conflicts_with_all = ["resume", "docker"])]
    pause: bool,
    /// Resume background work after `nacre up --pause`
    #[arg(long, conflicts_with = "docker")]
    resume: bool,
    /// Start a plain process, even if systemd or launchd is available
    #[arg(long)]
    no_unit: bool,
    /// Only write a Docker Compose file
    #[arg(long, conflicts_with = "no_unit")]
    docker: bool,
}

pub(crate) fn cmd_up(ui: &mut Ui, host: &Host, args: UpArgs) -> CommandResult {
    let UpArgs { port, pause, resume, no_unit, docker } = args;
    host.check_user("start a server")?;
    let pause = (pause || resume).then_some(pause);
    let request = UpRequest { port, no_unit, pause, docker };
    ui.report(&control::up(host, &request)?, print_up)
}

fn print_up(ui: &mut Ui, report: &UpReport) {
    let UpReport { state, manager, address, paused, file, next } = report;
    let address = address.as_deref().unwrap_or_default();
    let by = match manager {
        Some(ServiceManager::Systemd) => ", started by systemd at login",
        Some(ServiceManager::Launchd) => ", started by launchd at login",
        Some(ServiceManager::Process) => ", until the machine is turned off",
        Some(ServiceManager::Docker) | None => "",
    };
    let verb = match state {
        UpState::Written => {
            ui.line(format_args!("Wrote {}", file.as_deref().unwrap_or_default()));
            ui.status(
                "Requires an image: `make dist && docker build -t nacre:VERSION .` in the source \
                 directory",
            );
            return ui.line(format_args!("Next: {next}"));
        }
        UpState::Running => "Already running",
        UpState::Restarted => "Restarted with the new settings",
        UpState::Started => "Running",
    };
    ui.line(format_args!("{verb} on http://{address}{by}"));
    if *paused {
        ui.line("Background work is paused until `nacre up --resume`");
    } else {
        ui.status(
            "New sessions are read automatically; `nacre logs` shows the log, `nacre down` stops the server",
        );
    }
    ui.line(format_args!("Next: {next}"));
}

pub(crate) fn cmd_down(ui: &mut Ui, host: &Host, _: NoArgs) -> CommandResult {
    ui.report(&control::down(host)?, |ui, DownReport { stopped, address, disabled }| {
        match address {
            Some(address) if *stopped => ui.line(format_args!("Stopped the server on {address}")),
            _ => ui.line("No server was running"),
        }
        if disabled.is_some() {
            ui.line("It no longer starts at login");
        }
        ui.status("Next: nacre up");
    })
}

/// Show the server's log
///
/// Prints one line per event, as `key=value`: starts and stops, background work, and requests that
/// failed with a server error. The log file is `~/.nacre/logs/service.log`; it is rotated.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LogsArgs {
    /// Follow the log until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// Number of lines to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,
}

pub(crate) fn cmd_logs(ui: &mut Ui, host: &Host, args: LogsArgs) -> CommandResult {
    let mut tail = LogTail::begin(host)?;
    let report = service::logs(host, Some(args.lines))?;
    if !args.follow {
        return ui.report(&report, |ui, report| {
            if report.lines.is_empty() {
                ui.line(format_args!("{} is empty", report.path));
                return ui.status("Next: nacre up");
            }
            report.lines.iter().for_each(|line| ui.text(line));
        });
    }
    print_log_lines(ui, &report.lines)?;
    let stop = Cancel::new();
    cancel_on_ctrl_c(stop.clone(), CANCEL_TIMEOUT);
    while !stop.is_cancelled() {
        print_log_lines(ui, &tail.more(host)?)?;
        thread::sleep(LOG_PERIOD);
    }
    Ok(Exit::DONE)
}

fn print_log_lines(ui: &mut Ui, lines: &[String]) -> Result<()> {
    for line in lines {
        if ui.is_json() { ui.json_line(line) } else { ui.text(line) }
    }
    ui.flush()
}

/// Open the dashboard in a browser
///
/// The link can be used once, within two minutes. The server must be running: `nacre serve`.
#[derive(Debug, Args)]
pub(crate) struct DashboardArgs {
    /// Print the link instead of opening it
    #[arg(long)]
    print: bool,
}

pub(crate) fn cmd_dashboard(
    ui: &mut Ui,
    host: &Host,
    DashboardArgs { print }: DashboardArgs,
) -> CommandResult {
    host.check_user("open the dashboard")?;
    let found = service::find(host)?.ok_or_else(not_running)?;
    let client = Client::new(found).with_timeout(ANSWER_TIMEOUT);
    // The stored address may belong to a server that has stopped, so query the running server for
    // its address.
    let ServiceReport { address, .. } = client.get("/api/service", &()).map_err(client_error)?;
    let LoginCode { code } = client.post("/api/login-code", &()).map_err(client_error)?;
    let name = host.project.as_ref().and_then(|project| project.name.clone());
    let link = format!("http://{address}/#code={code}&project={}", name.unwrap_or_default());
    let opened = !print && !ui.is_json() && open_in_browser(&host.environment, &link);
    ui.report(&DashboardReport { link, opened }, |ui, report| {
        if report.opened {
            ui.line("Opened the dashboard in your browser");
        } else {
            ui.line("Open this link; it can be used once, within two minutes:");
            ui.line(&report.link);
        }
    })
}

fn unavailable(message: impl Into<String>) -> OpError {
    OpError::new(ErrorCode::Unavailable, message)
}

fn not_running() -> OpError {
    unavailable("No server is running for this home").hint("Start it: nacre serve")
}

fn client_error(error: ClientError) -> OpError {
    match error {
        ClientError::Failed(failure) => failure.into(),
        ClientError::Unreachable(error) if error.kind() == ErrorKind::TimedOut => {
            unavailable("The server is not responding")
                .hint("`nacre logs` shows its log; `nacre down` stops it")
        }
        ClientError::Unreachable(_) => not_running(),
        ClientError::Broken(what) => {
            unavailable(format!("Unexpected response from the server: {what}"))
        }
    }
}

/// Opens a URL and returns whether a browser was opened. Without a display, nothing is opened,
/// because a text browser could take over the terminal.
fn open_in_browser(environment: &Environment, address: &str) -> bool {
    let names = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
    let has_screen = cfg!(any(target_os = "macos", windows))
        || names.into_iter().any(|name| environment.var(name).is_some());
    // Relative directories are skipped, because they could be in an untrusted repository.
    let path = environment.var("PATH").unwrap_or_default();
    let folders = || std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let find = |name| folders().map(|folder| folder.join(name)).find(|path| path.is_file());
    let opener = OPENERS.iter().find_map(find);
    let Some(opener) = opener.filter(|_| has_screen) else { return false };
    let mut command = Command::new(opener);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
