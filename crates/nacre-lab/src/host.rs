//! Opens Nacre's host for this process: settings, models and stores.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use nacre_ops::host::{Environment, OpenOptions};
use nacre_ops::{Host, OpError};

pub(crate) fn open() -> Result<Host, OpError> {
    open_in(environment()?)
}

pub(crate) fn open_in(environment: Environment) -> Result<Host, OpError> {
    let opened = Host::open(environment, &OpenOptions::default());
    for warning in opened.warnings {
        eprintln!("Warning: {}", warning.message);
    }
    opened.host
}

pub(crate) fn format_error(error: OpError) -> String {
    let mut text = error.message;
    error.causes.iter().for_each(|cause| text.push_str(&format!("\nCaused by: {cause}")));
    error.hints.iter().for_each(|hint| text.push_str(&format!("\nHint: {hint}")));
    text
}

/// Returns the environment of this process. `NACRE_NOW` fixes the clock, as in `nacre`.
pub(crate) fn environment() -> std::io::Result<Environment> {
    let pair = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let begun = Instant::now();
    Ok(Environment {
        vars: std::env::vars_os().filter_map(pair).collect(),
        garbled_vars: Vec::new(),
        folder: std::env::current_dir()?.canonicalize()?,
        is_folder_gone: false,
        home: std::env::home_dir().filter(|home: &PathBuf| !home.as_os_str().is_empty()),
        host: None,
        pid: std::process::id(),
        program: None,
        clock: Arc::new(Timestamp::now),
        uptime: Arc::new(move || begun.elapsed()),
        random: |bytes| std::fs::File::open("/dev/urandom")?.read_exact(bytes),
    })
}
