//! Opens an address in the person's browser, where there is one to open.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nacre_ops::host::Environment;

/// Programs that hand an address to the browser, the first that is installed.
#[cfg(target_os = "macos")]
const OPENERS: &[&str] = &["open"];
#[cfg(windows)]
const OPENERS: &[&str] = &["explorer.exe"];
#[cfg(not(any(target_os = "macos", windows)))]
const OPENERS: &[&str] = &["xdg-open", "wslview"];

/// Whether a browser was asked to open `address`.
pub(super) fn open_in_browser(environment: &Environment, address: &str) -> bool {
    if !has_screen(environment) {
        return false;
    }
    let found = OPENERS.iter().find_map(|name| on_path(environment, name));
    found.is_some_and(|program| start(&program, address))
}

/// Where a program lies on the person's `PATH`; a folder that is not absolute may be a stranger's.
fn on_path(environment: &Environment, name: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(environment.var("PATH")?);
    let mut places = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    places.find(|place| place.is_file())
}

/// On a machine without a screen a browser would be one of text, in the middle of the shell.
fn has_screen(environment: &Environment) -> bool {
    let names = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"];
    cfg!(any(target_os = "macos", windows))
        || names.into_iter().any(|name| environment.var(name).is_some())
}

fn start(program: &Path, address: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
