//! Tests `nacre sync --watch`

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::home::interrupt;
use crate::sync_run::{PNPM, reading, talk};

#[test]
fn a_new_session_is_read_and_ctrl_c_ends_it() {
    let home = reading();
    let mut command = home.command(&home.work(), &["sync", "--watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    talk(&home, "one", 1, PNPM);
    let line = lines.next().expect("a report").unwrap();
    let report: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(report["sessions"].as_array().map(Vec::len), Some(1), "{report}");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
