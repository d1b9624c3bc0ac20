//! The commands that `sweep` interrupts, each with its initial state.

use std::fs;
use std::path::Path;

use crate::AnyError;
use crate::torture::sandbox::{NOW, Place};
use crate::torture::sweep::{Call, calls_of, strace};
use crate::torture::tree;

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(&Place) -> Result<(), AnyError>,
    pub(crate) args: &'static [&'static str],
    pub(crate) exit: i32,
    pub(crate) kind: Kind,
}

/// The states that are allowed after an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The change is made either completely or not at all.
    OneSet,
    /// Two stores change in sequence, each either completely or not at all. A second run completes
    /// any missing change.
    Init,
    /// Like `OneSet`, but the change that was interrupted earlier may also be reverted.
    Recovery,
    /// Like `OneSet`, but the text typed in the editor must also have been saved in the memory or
    /// kept in the draft.
    Editor,
}

const ALPHA: &str = "20261115-alpha";

pub(crate) const SCENARIOS: &[Scenario] = &[
    plain("add", store, &["memory", "add", "Use SQLite", "--body", "One file.", "--tag", "x"]),
    Scenario { kind: Kind::Editor, ..plain("edit", set_up_edit, &["memory", "edit", ALPHA]) },
    plain("archive", store, &["memory", "archive", ALPHA]),
    plain("restore", set_up_archive, &["memory", "restore", ALPHA]),
    plain("forget", store, &["memory", "forget", ALPHA, "--yes"]),
    plain("reset", store, &["memory", "reset", "--yes"]),
    Scenario {
        exit: 1,
        kind: Kind::Editor,
        ..plain("conflict", set_up_conflict, &["memory", "edit", ALPHA])
    },
    recovery("recover-forward", half_forward, &["memory", "list", "--json"]),
    recovery("recover-discard", half_staged, &["memory", "list", "--json"]),
    recovery("recover-undo", half_undone, &["memory", "list", "--json"]),
    recovery("recover-then-add", half_forward, &["memory", "add", "Use SQLite"]),
    plain("config-set", store, &["config", "set", "memory.max_results", "7"]),
    plain("config-set-repo", store, &["config", "set", "--repo", "memory.max_results", "7"]),
    Scenario { kind: Kind::Init, ..plain("init", bare, &["init"]) },
];

const fn plain(
    name: &'static str,
    prepare: fn(&Place) -> Result<(), AnyError>,
    args: &'static [&'static str],
) -> Scenario {
    Scenario { name, prepare, args, exit: 0, kind: Kind::OneSet }
}

const fn recovery(
    name: &'static str,
    prepare: fn(&Place) -> Result<(), AnyError>,
    args: &'static [&'static str],
) -> Scenario {
    Scenario { kind: Kind::Recovery, ..plain(name, prepare, args) }
}

fn bare(place: &Place) -> Result<(), AnyError> {
    place.make()
}

/// Creates eight memories, three of which refer to the first. Every interrupted change also starts
/// from this state.
pub(crate) fn store(place: &Place) -> Result<(), AnyError> {
    place.make()?;
    place.must(&["init"])?;
    let titles = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta"];
    for (idx, title) in titles.iter().enumerate() {
        let body = format!("Text about {title}, written at {NOW}.");
        let mut args = vec!["memory", "add", *title, "--body", body.as_str()];
        if (1..4).contains(&idx) {
            args.extend(["--related", ALPHA]);
        }
        if idx % 2 == 1 {
            args.extend(["--type", "learning", "--kind", "pitfall"]);
        }
        place.must(&args)?;
    }
    place.must(&["memory", "archive", "20261115-theta"])?;
    // An unusual file mode must be preserved.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o640);
    fs::set_permissions(place.file("memory/learnings/20261115-beta.md"), mode)?;
    Ok(())
}

fn set_up_archive(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    place.must(&["memory", "archive", ALPHA]).map(|_| ())
}

pub(crate) const TYPED: &str = "More words.";
/// File that the editor script creates to show that it has run.
pub(crate) const TYPED_MARK: &str = "typed";

fn set_up_edit(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    place.set_editor(&format!("printf '\\n{TYPED}\\n' >> \"$1\"\n: > ../{TYPED_MARK}\n"))
}

fn set_up_conflict(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    place.set_editor(&format!(
        "printf '\\n{TYPED}\\n' >> \"$1\"\n: > ../{TYPED_MARK}\n\
         printf '\\nBy hand.\\n' >> .nacre/memory/decisions/{ALPHA}.md\n"
    ))
}

const FORGET: &[&str] = &["memory", "forget", ALPHA, "--yes"];

/// Simulates a process that was killed after moving some of the files into place.
fn half_forward(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    interrupt(place, &["renameat2:signal=KILL:when=3"], "journal/txn/plan")
}

/// Simulates a process that was killed after staging some of the files.
fn half_staged(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    interrupt(place, &["fsync:signal=KILL:when=2"], "journal/txn/1")
}

/// Simulates a change that failed after all files were in place, and a process that was killed
/// while reverting them.
fn half_undone(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    let calls = trial(place)?;
    let end = calls
        .iter()
        .position(|call| call.line.contains("\"txn\"") && call.line.contains("\"done\""))
        .ok_or("the change was not finished")?;
    let n_flushes = calls[..end].iter().filter(|call| call.name == "fsync").count();
    let n_renames = calls.iter().filter(|call| call.name == "renameat2").count();
    let fail = format!("fsync:error=EIO:when={n_flushes}");
    let kill = format!("renameat2:signal=KILL:when={}", n_renames + 2);
    interrupt(place, &[&fail, &kill], "journal/txn/undo")
}

fn interrupt(place: &Place, faults: &[&str], proof: &str) -> Result<(), AnyError> {
    let injections: Vec<String> = faults.iter().map(|fault| format!("inject={fault}")).collect();
    strace(place, &injections, FORGET)?;
    if place.file(proof).exists() { Ok(()) } else { Err(format!("no {proof}").into()) }
}

fn trial(place: &Place) -> Result<Vec<Call>, AnyError> {
    let root = place.repo().parent().map(Path::to_owned).ok_or("no root")?;
    let copy = root.with_extension("trial");
    let _ = fs::remove_dir_all(&copy);
    tree::copy(&root, &copy)?;
    let other = Place::new(&copy, place.nacre());
    let calls = calls_of(&strace(&other, &[], FORGET)?.log);
    fs::remove_dir_all(&copy)?;
    Ok(calls)
}
