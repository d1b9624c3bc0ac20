//! The log of the server: one line an event in logfmt, `key=value`, so that it can be read and searched as it is.

use std::time::Duration;

use nacre_core::safefs::{Access, Owner, RelPath, WriteScope};
use nacre_engine::record::state::LOG_FOLDER;

use crate::host::Environment;
use crate::json::ascii_json;

/// Not that of task events, which every process writes.
pub(super) const LOG_FILE: &str = "service.log";

/// A log of this size makes room for the next; this many old ones are kept.
const MAX_BYTES: u64 = 10 << 20;
const N_KEPT: u32 = 4;

/// The longest value of a field.
const MAX_VALUE: usize = 1000;

/// How long other writers of logs are waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    Info,
    Warn,
    Error,
}

impl LogLevel {
    fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Adds a line. Best effort: a server serves although its log cannot be written.
pub fn log(environment: &Environment, level: LogLevel, event: &str, fields: &[(&str, &str)]) {
    let _ = try_log(environment, level, event, fields);
}

fn try_log(
    environment: &Environment,
    level: LogLevel,
    event: &str,
    fields: &[(&str, &str)],
) -> Option<()> {
    let home = environment.nacre_home().filter(|home| home.is_dir())?;
    let at = environment.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut line = format!("at={at} level={} event={}", level.as_str(), shown(event));
    for (key, value) in fields {
        line.push_str(&format!(" {key}={}", shown(value)));
    }
    line.push('\n');
    let folder = WriteScope::create_inside(&home, LOG_FOLDER, Access::Private).ok()?;
    let owner = Owner { pid: environment.pid, command: "nacre serve".to_owned(), since: at };
    let writer = folder.lock(&owner, PATIENCE).ok()?;
    let path = RelPath::new(LOG_FILE).ok()?;
    if MAX_BYTES <= writer.append(&path, line.as_bytes()).ok()? {
        writer.rotate(&path, N_KEPT).ok()?;
    }
    Some(())
}

/// A value as logfmt has it: quoted where it is not one plain word, so that nothing in it can begin a line or a field.
fn shown(value: &str) -> String {
    let value = &value[..value.floor_char_boundary(MAX_VALUE)];
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '=' | '\\');
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        // Text becomes a JSON string in every case.
        false => ascii_json(serde_json::to_string(value).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_can_begin_a_line_or_a_field() {
        assert_eq!(shown("127.0.0.1:8765"), "127.0.0.1:8765");
        for value in ["", "a b", "a=b", "a\nlevel=error", "\u{1b}[2J", "\u{202e}", "\"", "\\"] {
            let shown = shown(value);
            assert!(shown.starts_with('"') && shown.ends_with('"'), "{shown}");
            assert!(shown.chars().all(|c| c == ' ' || c.is_ascii_graphic()), "{shown}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), value);
        }
    }
}
