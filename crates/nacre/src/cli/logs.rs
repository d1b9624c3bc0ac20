//! `nacre logs`

use std::thread;
use std::time::Duration;

use clap::Args;
use nacre_api::wire::LogsRequest;
use nacre_ops::service::{LogTail, logs};
use nacre_ops::{Cancel, Host, OpError};

use super::exit::Exit;
use super::interrupt::cancel_on_ctrl_c;
use super::ui::Ui;

/// How often it is looked for new lines.
const PAUSE: Duration = Duration::from_millis(250);

/// Show what the server wrote down
///
/// One line an event, as `key=value`: starts and stops, what each loop did, and requests that failed by the server's fault. The
/// file is `~/.nacre/logs/service.log`; it makes room for itself.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// Go on with what comes, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// How many lines to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    lines: usize,
}

pub(crate) fn cmd_logs(ui: &mut Ui, host: &Host, args: &LogsArgs) -> Result<Exit, OpError> {
    let LogsArgs { follow, lines } = args;
    let mut tail = LogTail::begin(host)?;
    let report = logs(host, &LogsRequest { lines: Some(*lines) })?;
    if !follow {
        return ui.report(&report, |ui, report| {
            if report.lines.is_empty() {
                ui.line(format_args!("{} has no lines yet", report.path))?;
                return ui.status("Next: nacre up");
            }
            report.lines.iter().try_for_each(|line| ui.text(line))
        });
    }
    print(ui, &report.lines)?;
    let stop = Cancel::new();
    cancel_on_ctrl_c(stop.clone());
    while !stop.is_cancelled() {
        print(ui, &tail.more(host)?)?;
        thread::sleep(PAUSE);
    }
    Ok(Exit::Done)
}

fn print(ui: &mut Ui, lines: &[String]) -> Result<(), OpError> {
    for line in lines {
        match ui.is_json() {
            true => ui.json_line(line)?,
            false => ui.text(line)?,
        }
    }
    ui.flush();
    Ok(())
}
