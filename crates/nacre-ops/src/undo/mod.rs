//! Lists changes, and undoes a change given the id that its command printed. Changes are looked up
//! in the current store, the user's own store, and the stores of all projects.

pub mod flow;

use nacre_base::ShownLine;
use nacre_base::config::projects::Project;
use nacre_types::{
    ChangeEntry, KeptFile, LimitRequest, PlannedChange, UndoListReport, UndoReport, UndoRequest,
};

use crate::host::settle_map_cache;
use crate::prelude::*;
use crate::recording::{CommandChange, TextPlan, attribute_command, attribution, own_store};
use crate::run::change::{Reversal, StoredChange, TextRecord, changes};
use crate::run::folder::{RunId, UndoError};
use crate::undo::flow::UndoContext;

pub fn undo(host: &Host, request: &UndoRequest) -> Result<UndoReport> {
    let stores = stores(host)?;
    let found = match (request.last, request.run.is_empty()) {
        (true, true) => last(&stores)?,
        (false, false) => find(&stores, &request.run)
            .map_err(|error| OpError::from(error).hint("`nacre undo --list` lists all changes"))?,
        (true, false) => {
            return Err(
                OpError::usage("An id and `--last` cannot be combined").hint("nacre undo --last")
            );
        }
        (false, true) => {
            return Err(OpError::usage("Which change?")
                .hint("To undo the newest change: nacre undo --last")
                .hint("`nacre undo --list` lists the ids"));
        }
    };
    let by = attribution(host);
    if let Some(by) = by
        && !found.iter().all(|(_, change)| change.command.ends_with(&by))
    {
        return Err(host.refuse("undo another user's change"));
    }
    if let Some(done) = undo_outside(host, &stores, &found, request.dry_run) {
        return done;
    }
    if found.len() > 1 {
        // Check all stores before changing any of them.
        undo_parts(host, &stores, &found, &UndoRequest { dry_run: true, ..request.clone() })?;
    }
    let mut report = undo_parts(host, &stores, &found, request)?;
    for (_, change) in &found {
        if let Reversal::Trust { memories } = &change.reversal {
            let ids: Vec<&str> = memories.iter().map(|memory| memory.id.as_str()).collect();
            report.notes.push(format!("Untrusted again: {}", ids.join(", ")));
        }
    }
    Ok(report)
}

/// Undoes a change outside the memory files. Returns `None` if the change affects memories.
fn undo_outside(
    host: &Host,
    stores: &[OpenedStore],
    found: &ChangeParts,
    dry_run: bool,
) -> Option<Result<UndoReport>> {
    let (number, change) = found.first()?;
    match &change.reversal {
        Reversal::Agents { agents, register } => {
            Some(super::connect::undo(host, change, agents, register.as_ref(), dry_run))
        }
        Reversal::Text { text } => Some(undo_text(host, &stores[*number], change, text, dry_run)),
        Reversal::Projects { added, removed } => {
            Some(undo_projects(host, change, added, removed, dry_run))
        }
        Reversal::Plan
        | Reversal::Moved { .. }
        | Reversal::Gone
        | Reversal::Command { .. }
        | Reversal::Trust { .. } => None,
    }
}

fn undo_parts(
    host: &Host,
    stores: &[OpenedStore],
    found: &ChangeParts,
    request: &UndoRequest,
) -> Result<UndoReport> {
    let mut report: Option<UndoReport> = None;
    for (number, change) in found {
        let OpenedStore { scoped, changes, .. } = &stores[*number];
        let id = report.as_ref().map(|report| report.run.clone());
        let ctx = UndoContext {
            command: &attribute_command(host, "undo"),
            store: &scoped.store,
            owner: &host.owner("undo"),
            patience: host.settings().lock.wait,
            now: host.now(),
            id: id.as_deref(),
            keep_changed: request.keep_changed,
            dry_run: request.dry_run,
        };
        let part = flow::undo(&ctx, change, changes)?;
        let Some(report) = &mut report else {
            report = Some(part);
            continue;
        };
        report.paths.extend(part.paths);
        report.memories.extend(part.memories);
        report.kept.extend(part.kept);
        if let Some(changes) = part.changes {
            report.changes.get_or_insert_default().extend(changes);
        }
    }
    report.ok_or_else(|| UndoError::Unknown(request.run.clone()).into())
}

pub fn list(host: &Host, request: &LimitRequest) -> Result<UndoListReport> {
    let near = stores(host)?.into_iter().filter(|opened| opened.is_near);
    let mut changes: Vec<StoredChange> = near.flat_map(|opened| opened.changes).collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    let total = changes.len();
    let limit = host.max_results(request.limit);
    Ok(UndoListReport { changes: changes.into_iter().take(limit).map(entry).collect(), total })
}

fn entry(change: StoredChange) -> ChangeEntry {
    ChangeEntry {
        undoable: change.reversal.is_undoable() && change.undone_by.is_none(),
        about: about(&change.reversal),
        id: change.id,
        command: change.command,
        at: change.at.to_string(),
        runs: change.runs.len(),
        added: change.counts.added,
        changed: change.counts.changed,
        removed: change.counts.removed,
        memories: change.memories,
        undoes: change.undoes,
        undone_by: change.undone_by,
    }
}

fn about(reversal: &Reversal) -> String {
    match reversal {
        Reversal::Agents { agents, .. } => {
            agents.iter().map(|agent| agent.agent.as_str()).collect::<Vec<_>>().join(", ")
        }
        Reversal::Text { text } => text.file.to_string(),
        Reversal::Projects { added, removed } => {
            let names: Vec<&str> =
                added.iter().chain(removed).map(|project| project.name.as_str()).collect();
            names.join(", ")
        }
        Reversal::Trust { memories } => match memories.as_slice() {
            [one] => one.id.clone(),
            memories => format!("{} memories", memories.len()),
        },
        Reversal::Command { command } => format!("undone with `nacre {command}`"),
        Reversal::Plan | Reversal::Moved { .. } | Reversal::Gone => String::new(),
    }
}

/// Minimum length of a prefix. A shorter prefix would match too many changes.
const MIN_SHORT: usize = 4;

struct OpenedStore {
    scoped: ScopedStore,
    /// The changes to this store, newest first.
    changes: Vec<StoredChange>,
    /// Whether this is the store of the current project or the user's own store.
    is_near: bool,
}

/// The parts of one change: for each affected store, its index and the change made there.
type ChangeParts = Vec<(usize, StoredChange)>;

/// Opens all stores. Skips other projects' stores that cannot be opened.
fn stores(host: &Host) -> Result<Vec<OpenedStore>> {
    let mut opened: Vec<OpenedStore> = Vec::new();
    let near = host.project_store()?.into_iter().chain(host.global_store()?);
    for scoped in near {
        opened.push(OpenedStore { changes: changes(&scoped.store)?, scoped, is_near: true });
    }
    for project in host.projects.iter() {
        let Ok(scoped) = host.store_at(&project.path) else { continue };
        if opened.iter().all(|known| known.scoped.store.path() != scoped.store.path()) {
            let changes = changes(&scoped.store);
            opened.extend(changes.map(|changes| OpenedStore { scoped, changes, is_near: false }));
        }
    }
    if opened.is_empty() { Err(host.no_project()) } else { Ok(opened) }
}

/// Returns the newest change in a near store that is neither an undo nor already undone. Returns an
/// error if it cannot be undone, because the user would not expect an older change to be undone
/// instead.
fn last(stores: &[OpenedStore]) -> Result<ChangeParts> {
    let near = || stores.iter().filter(|opened| opened.is_near);
    let mut changes: Vec<&StoredChange> = near().flat_map(|opened| &opened.changes).collect();
    changes.retain(|change| change.is_own);
    // The sort is stable, so changes in the current store come first within the same second.
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    let is_open = |change: &&&StoredChange| change.undoes.is_none() && change.undone_by.is_none();
    let mut open = changes.iter().filter(is_open);
    let newest = open.next().ok_or_else(|| {
        let error = OpError::not_found("Nothing to undo");
        match changes.iter().find(|change| change.undoes.is_some() && change.undone_by.is_none()) {
            Some(undo) => error.hint(format!("Undo the last undo: nacre undo {}", undo.id)),
            None => error.hint("`nacre undo --list` lists all changes"),
        }
    })?;
    if newest.reversal.is_undoable() {
        return Ok(change_parts(stores, &newest.id));
    }
    let before = open.find(|change| change.reversal.is_undoable());
    Err(not_undoable(newest, before.copied()))
}

fn not_undoable(newest: &StoredChange, before: Option<&StoredChange>) -> OpError {
    let (id, typed) = (newest.id.clone(), ShownLine(&newest.command).to_string());
    let error = if let Reversal::Command { command } = &newest.reversal {
        OpError::from(UndoError::OtherCommand { id, command: command.clone() })
    } else {
        OpError::from(UndoError::Gone(id))
    };
    let message = format!("The newest change is `{typed}`. {}", error.message);
    let error = OpError { message, ..error };
    match before {
        Some(before) => error.hint(format!(
            "Nothing was changed. To undo the change before it, `{}`: nacre undo {}",
            ShownLine(&before.command),
            before.id
        )),
        None => error,
    }
}

/// Finds a change. `text` names a change or a run.
fn find(stores: &[OpenedStore], text: &str) -> Result<ChangeParts, UndoError> {
    let all = || stores.iter().flat_map(|opened| &opened.changes);
    if all().any(|change| change.id == text) {
        return Ok(change_parts(stores, text));
    }
    if let Ok(run) = text.parse::<RunId>()
        && let Some(found) = single_run(stores, &run)
    {
        return Ok(found);
    }
    let ids: BTreeSet<&str> =
        all().map(|change| change.id.as_str()).filter(|id| is_named(id, text)).collect();
    let runs: BTreeSet<&RunId> =
        all().flat_map(|change| &change.runs).filter(|run| run.is_named(text)).collect();
    match (ids.len(), runs.len()) {
        (1, _) => Ok(change_parts(stores, ids.first().unwrap_or(&text))),
        (0, 0 | 1) => {
            let run = runs.first().and_then(|run| single_run(stores, run));
            run.ok_or_else(|| UndoError::Unknown(text.to_owned()))
        }
        (n_ids, n_runs) => {
            Err(UndoError::Ambiguous { id: text.to_owned(), n_found: n_ids.max(n_runs) })
        }
    }
}

/// Returns whether `text` is a prefix or suffix of an id, or a prefix of its last part.
fn is_named(id: &str, text: &str) -> bool {
    let short = id.rsplit('-').next().unwrap_or_default();
    id.starts_with(text)
        || (text.len() >= MIN_SHORT && (id.ends_with(text) || short.starts_with(text)))
}

fn change_parts(stores: &[OpenedStore], id: &str) -> ChangeParts {
    let part = |(number, opened): (usize, &OpenedStore)| {
        let change = opened.changes.iter().find(|change| change.id == id)?;
        Some((number, change.clone()))
    };
    stores.iter().enumerate().filter_map(part).collect()
}

fn single_run(stores: &[OpenedStore], run: &RunId) -> Option<ChangeParts> {
    stores.iter().enumerate().find_map(|(number, opened)| {
        let change = opened.changes.iter().find(|change| change.runs.contains(run))?;
        let undone_by = opened.changes.iter().find(|other| {
            other.undoes.as_deref() == Some(run.as_str()) && other.undone_by.is_none()
        });
        let undone_by = undone_by.map(|other| other.id.clone()).or(change.undone_by.clone());
        let part = StoredChange { undone_by, ..change.single_run(run) };
        Some(vec![(number, part)])
    })
}

/// Undoes a change to a text file. Returns an error if the file has changed since then.
fn undo_text(
    host: &Host,
    opened: &OpenedStore,
    change: &StoredChange,
    record: &TextRecord,
    dry_run: bool,
) -> Result<UndoReport> {
    change.check_open()?;
    let plan = TextPlan::of(&opened.scoped, change, record)?;
    let (now, then) = (plan.now.as_deref(), plan.then.as_deref());
    if !plan.is_unchanged(record) {
        let files =
            vec![KeptFile { path: plan.path(), by: find_later_change(opened, change, record) }];
        let id = change.id.clone();
        return Err(UndoError::Changed { id, files, has_rest: false }.into());
    }
    let mut report = change.undo_report(dry_run);
    report.paths.push(plan.path());
    if dry_run {
        let text = |bytes: Option<&[u8]>| bytes.map(|it| String::from_utf8_lossy(it).into_owned());
        let path = plan.file.to_string();
        report.changes = Some(vec![PlannedChange { path, before: text(now), after: text(then) }]);
        return Ok(report);
    }
    plan.put_back()?;
    if plan.file.as_str() == "config.toml"
        && let Some(settings) = host.settings_now(None)
    {
        settle_map_cache(host, "undo", settings.map.at_rest)?;
    }
    let turned =
        TextRecord { existed: now.is_some(), after: then.map(ContentHash::of), ..record.clone() };
    let command = CommandChange::undo(&change.id);
    report.run = command.record(host, &opened.scoped, Reversal::Text { text: turned }, now)?;
    report.notes.push(format!("Restored: {}", plan.path()));
    Ok(report)
}

/// Returns a later change to the same text that has not been undone, if any.
fn find_later_change(
    opened: &OpenedStore,
    change: &StoredChange,
    record: &TextRecord,
) -> Option<String> {
    let later = opened.changes.iter().take_while(|other| other.id != change.id);
    let is_same = |other: &&StoredChange| {
        let Reversal::Text { text } = &other.reversal else { return false };
        text.file == record.file && text.below == record.below
    };
    let mut open = later.filter(|other| other.undone_by.is_none() && other.undoes.is_none());
    open.find(is_same).map(|other| other.id.clone())
}

fn undo_projects(
    host: &Host,
    change: &StoredChange,
    added: &[Project],
    removed: &[Project],
    dry_run: bool,
) -> Result<UndoReport> {
    change.check_open()?;
    let is_known = |record: &&Project| host.projects.iter().any(|known| known == *record);
    let mut report = change.undo_report(dry_run);
    for record in added.iter().filter(is_known) {
        report.notes.push(format!("No longer registered: {}", record.name));
        if !dry_run {
            host.unregister(&record.name)?;
        }
    }
    for record in removed.iter().filter(|record| !is_known(record)) {
        report.notes.push(format!("Registered again: {}", record.name));
        if !dry_run {
            host.write_project(record)?;
        }
    }
    if report.notes.is_empty() {
        report.notes.push("The project registry is already in this state.".to_owned());
    }
    if !dry_run {
        let (added, removed) = (removed.to_vec(), added.to_vec());
        let reversal = Reversal::Projects { added, removed };
        let command = CommandChange::undo(&change.id);
        report.run = command.record(host, &own_store(host)?, reversal, None)?;
    }
    Ok(report)
}
