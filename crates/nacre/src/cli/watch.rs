//! `nacre watch`

use std::io::{BufRead, BufReader, stdin};

use clap::Args;
use nacre_api::wire::WatchRequest;
use nacre_ops::{Host, OpError, map as ops};

use super::exit::Exit;
use super::ui::Ui;

/// Print each change of the code as it happens, one JSON object a line
///
/// Only folders that belong to the map are watched. Where the system allows no more watches, a line says so, and the
/// code is looked at every interval instead.
///
/// With `--serve` it answers questions as well: one JSON object a line on standard input, such as
/// {"id":1,"command":"explore","detail":"normal"}. `command` is `explore`, `context` or `delta`, and the other keys are
/// what the flags of that command set. The answer is one line, what the command prints with `--json`, and has the `id` of
/// its question. It is of the code as it was when the question was read, and of nothing older.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The same as `--project`
    #[arg(value_name = "PROJECT", hide = true)]
    place: Option<String>,
    /// How often to look, in milliseconds, where the system tells of no changes
    #[arg(long, value_name = "MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(ops::MIN_INTERVAL_MS..))]
    interval: u64,
    /// Look every interval even where the system would tell of changes
    #[arg(long)]
    poll: bool,
    /// Answer questions from standard input, and end with it
    #[arg(long)]
    serve: bool,
    /// End after so many changes; 0 for never
    #[arg(long, value_name = "N", default_value_t = 0)]
    count: usize,
}

pub(crate) fn cmd_watch(ui: &mut Ui, host: &Host, args: &WatchArgs) -> Result<Exit, OpError> {
    let WatchArgs { place, interval, poll, serve, count } = args;
    ui.choose_json();
    let request = WatchRequest {
        project: place.clone(),
        interval_ms: Some(*interval),
        poll: *poll,
        count: *count,
    };
    let questions = serve.then(|| Box::new(BufReader::new(stdin())) as Box<dyn BufRead + Send>);
    let events = ui.events();
    let mut print = |line: &_| {
        ui.json_line(line)?;
        ui.flush();
        Ok(())
    };
    ops::watch(host, &request, questions, &mut print, &events)?;
    Ok(Exit::Done)
}
