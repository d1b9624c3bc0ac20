//! The commands that are swept, each with the stores it starts from.

use std::fs;
use std::path::Path;

use crate::AnyError;
use crate::sandbox::{NOW, Place};
use crate::sweep::{Call, calls_of, strace};
use crate::tree;

/// A command, and what it starts from.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) prepare: fn(&Place) -> Result<(), AnyError>,
    pub(crate) args: &'static [&'static str],
    /// How it ends when nothing disturbs it.
    pub(crate) exit: i32,
    pub(crate) kind: Kind,
}

/// What a scenario's stores may look like afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All of it, or nothing.
    OneSet,
    /// Two stores change, one after the other; each whole or not at all, and a second run ends it.
    Init,
    /// As `OneSet`; and the change that had been cut off may also be taken back.
    Recovery,
    /// As `OneSet`; and what was typed into the editor is in the memory or still in the draft.
    Editor,
}

const ALPHA: &str = "20261115-alpha";

/// Every scenario, in the order they are swept.
pub(crate) const SCENARIOS: &[Scenario] = &[
    plain("add", store, &["memory", "add", "Use SQLite", "--body", "One file.", "--tag", "x"]),
    Scenario { kind: Kind::Editor, ..plain("edit", edited, &["memory", "edit", ALPHA]) },
    plain("archive", store, &["memory", "archive", ALPHA]),
    plain("restore", archived, &["memory", "restore", ALPHA]),
    plain("forget", store, &["memory", "forget", ALPHA, "--yes"]),
    plain("reset", store, &["memory", "reset", "--yes"]),
    Scenario {
        exit: 1,
        kind: Kind::Editor,
        ..plain("conflict", contested, &["memory", "edit", ALPHA])
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

/// Eight memories; three of them name the first. Also what stood before every interrupted change.
pub(crate) fn store(place: &Place) -> Result<(), AnyError> {
    place.make()?;
    place.must(&["init"])?;
    let titles = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta"];
    for (idx, title) in titles.iter().enumerate() {
        let body = format!("The words of {title}, said at {NOW}.");
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
    // A mode that is not the usual one has to survive.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o640);
    fs::set_permissions(place.file("memory/learnings/20261115-beta.md"), mode)?;
    Ok(())
}

fn archived(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    place.must(&["memory", "archive", ALPHA]).map(|_| ())
}

/// What the person types into the editor.
pub(crate) const TYPED: &str = "More words.";
/// Made by the editor, so that it is known that something was typed.
pub(crate) const TYPED_MARK: &str = "typed";

fn edited(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    place.set_editor(&format!("printf '\\n{TYPED}\\n' >> \"$1\"\n: > ../{TYPED_MARK}\n"))
}

/// The person also changes the memory itself while the draft is open.
fn contested(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    place.set_editor(&format!(
        "printf '\\n{TYPED}\\n' >> \"$1\"\n: > ../{TYPED_MARK}\n\
         printf '\\nBy hand.\\n' >> .nacre/memory/decisions/{ALPHA}.md\n"
    ))
}

const FORGET: &[&str] = &["memory", "forget", ALPHA, "--yes"];

/// Killed when some of the files were in place.
fn half_forward(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    interrupt(place, &["renameat2:signal=KILL:when=3"], "journal/txn/plan")
}

/// Killed when some of the files were staged.
fn half_staged(place: &Place) -> Result<(), AnyError> {
    store(place)?;
    interrupt(place, &["fsync:signal=KILL:when=2"], "journal/txn/1")
}

/// Failed when all files were in place, then killed when some of them were taken back.
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

/// Runs the command that is interrupted with `faults`; `proof` must be there afterwards.
fn interrupt(place: &Place, faults: &[&str], proof: &str) -> Result<(), AnyError> {
    let injections: Vec<String> = faults.iter().map(|fault| format!("inject={fault}")).collect();
    strace(place, &injections, FORGET)?;
    if place.file(proof).exists() { Ok(()) } else { Err(format!("no {proof}").into()) }
}

/// The calls that the command makes when nothing disturbs it, made on a copy.
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
