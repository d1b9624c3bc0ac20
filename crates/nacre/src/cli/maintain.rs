//! `nacre maintain`: memories are kept few and true.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use nacre_api::wire::{PlannedChange, StoreScope};
use nacre_core::base::Shown;
use nacre_core::config::Settings;
use nacre_core::memory::Store;
use nacre_core::search::Builtin;
use nacre_engine::flows::maintain::{
    Checkout, MaintainOrder, MaintainOutcome, MaintainReport, MaintainVerb, maintain, preview,
};
use nacre_engine::flows::models::{FlowModels, ProjectModels};
use nacre_engine::flows::run;
use nacre_engine::flows::strategy::Reader;
use nacre_engine::flows::sync::Desk;
use nacre_engine::model::{Models, Role as ModelRole};
use serde_json::{Value, json};

use super::changes::print_changes;
use super::exit::Exit;
use super::ui::{Role, Ui};
use super::undo::undo_run;
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::changes::shared_changes;
use nacre_ops::host::ScopedStore;
use nacre_ops::host::{ask_rules, asker_of_run, open_models};
use nacre_ops::host::{model_settings, scripted};

/// Keep memories few and true
///
/// Merges what says the same, overturns what a newer memory contradicts, marks what speaks of deleted files, puts away what
/// nobody confirmed or used for long, and mends links. Nothing is deleted: `nacre memory restore` brings a memory back, `--undo`
/// a whole run. How often it runs changes nothing in what it comes to. Where nothing changed since the last run, nothing is
/// looked at. Ends with 3 when some projects failed.
#[derive(Debug, Args)]
pub(crate) struct MaintainArgs {
    /// Show what would be done and every line that would change; change nothing
    #[arg(long)]
    dry_run: bool,
    /// Look also where nothing changed since the last run
    #[arg(long)]
    force: bool,
    /// Maintain every registered project, and your global memories
    #[arg(long)]
    all: bool,
    /// Let the model of the role `lead` write what is merged, and make one of three or more short memories on one point
    #[arg(long)]
    rewrite: bool,
    /// Take the model's answers from this file, for tests
    #[arg(long, value_name = "FILE", requires = "rewrite")]
    scripted: Option<PathBuf>,
    /// Put back what a run of maintain changed, and do not do it again
    #[arg(long, value_name = "RUN", conflicts_with_all = ["dry_run", "force", "all", "rewrite"])]
    undo: Option<String>,
}

/// A store to maintain.
struct Place {
    name: String,
    store: Store,
    /// Those of the store.
    settings: Settings,
    /// The checkout around it.
    repository: Option<PathBuf>,
}

impl Place {
    fn checkout(&self, host: &Host) -> Option<Checkout> {
        let root = self.repository.clone()?;
        Some(Checkout { root, git: host.git() })
    }
}

/// How one store came out.
struct Kept {
    name: String,
    result: Result<(MaintainReport, Vec<PlannedChange>), OpError>,
    took: Duration,
}

/// What every store is maintained with.
struct Tools {
    builtin: Builtin,
    writers: Option<FlowModels>,
}

/// The models that may write; the role must have one.
fn writers(host: &Host, script: Option<&Path>) -> Result<FlowModels, OpError> {
    let models = Models::new(match script {
        Some(file) => scripted(host, file)?,
        None => model_settings(host)?,
    });
    models.route(ModelRole::Lead)?;
    open_models(host, models)
}

pub(crate) fn cmd_maintain(ui: &mut Ui, host: &Host, args: &MaintainArgs) -> Result<Exit, OpError> {
    let MaintainArgs { dry_run, force, all, rewrite, scripted: script, undo } = args;
    if let Some(run) = undo {
        return undo_run(ui, host, run);
    }
    let writers = if *rewrite { Some(writers(host, script.as_deref())?) } else { None };
    let tools = Tools { builtin: Builtin::shipped()?, writers };
    let mut kept = Vec::new();
    for place in places(host, *all)? {
        let took = host.stopwatch();
        let (name, result) = match place {
            Ok(place) => {
                let order = MaintainOrder { checkout: place.checkout(host), force: *force };
                let result = one(ui, host, &tools, (&place, &order), *dry_run);
                (place.name, result)
            }
            Err((name, error)) => (name, Err(error)),
        };
        kept.push(Kept { name, result, took: took() });
    }
    if !*all && kept.iter().any(|one| one.result.is_err()) {
        return kept.remove(0).result.map(|_| Exit::Done);
    }
    print(ui, &kept, *dry_run)?;
    let is_whole = kept.iter().all(|one| one.result.is_ok());
    Ok(if is_whole { Exit::Done } else { Exit::Partial })
}

type Found = Result<Place, (String, OpError)>;

/// The project around, or all of them and the global store.
fn places(host: &Host, all: bool) -> Result<Vec<Found>, OpError> {
    let name_of = |path: &Path| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    if !all {
        let scoped = host.store_to_write(None)?;
        let project = host.project.as_ref().filter(|_| scoped.scope == StoreScope::Project);
        let path = project.map(|project| project.path.clone());
        let name = project.and_then(|project| project.name.clone());
        let name =
            name.or_else(|| path.as_deref().map(name_of)).unwrap_or_else(|| "global".to_owned());
        return Ok(vec![Ok(Place {
            name,
            store: scoped.store,
            settings: scoped.settings,
            repository: path,
        })]);
    }
    let mut found: Vec<Found> = Vec::new();
    for project in host.projects.iter() {
        let name = project.name.clone();
        found.push(match host.store_at(&project.path) {
            Ok(ScopedStore { store, settings, .. }) => {
                Ok(Place { name, store, settings, repository: Some(project.path.clone()) })
            }
            Err(error) => Err((name, error)),
        });
    }
    let global = host.global_store()?;
    found.extend(global.map(|scoped| {
        let ScopedStore { store, settings, .. } = scoped;
        Ok(Place { name: "global".to_owned(), store, settings, repository: None })
    }));
    Ok(found)
}

fn one(
    ui: &mut Ui,
    host: &Host,
    tools: &Tools,
    (place, order): (&Place, &MaintainOrder),
    dry_run: bool,
) -> Result<(MaintainReport, Vec<PlannedChange>), OpError> {
    let owner = host.owner("maintain");
    let clock = host.stopwatch();
    let Place { store, settings, .. } = place;
    let embedder = host.embedder(settings)?;
    let rules = ask_rules(settings);
    let desk = Desk {
        store,
        embedder: &*embedder,
        builtin: &tools.builtin,
        owner: &owner,
        patience: settings.lock.wait,
        now: host.now(),
        clock: &clock,
        lead: None,
        reader: Reader::offline(),
    };
    let project = place.repository.as_ref().map(|path| path.display().to_string());
    let asker = tools.writers.as_ref().map(|flow| ProjectModels { flow, rules: &rules });
    let asker = asker.map(|models| asker_of_run(host, models, "maintain", project)).transpose()?;
    if dry_run {
        let (report, changes) = preview(&desk, order, asker.as_ref())?;
        return Ok((report, shared_changes(changes)));
    }
    let report = maintain(&desk, order, asker.as_ref(), |step| {
        ui.progress_note(&format!("{}: {}", place.name, step.as_str()));
    })?;
    if let Some(reached) = asker.as_ref().and_then(|asker| asker.purse().reached()) {
        ui.warning(
            format!("{}: not everything was written anew: {reached}", place.name),
            Some(&format!("Raise it: nacre config set {} N", reached.key())),
        );
    }
    if report.outcome == MaintainOutcome::Done {
        let writer = store.scope().lock(&owner, settings.lock.wait)?;
        run::prune(store, &writer, settings.runs.keep)?;
    }
    Ok((report, Vec::new()))
}

fn print(ui: &mut Ui, kept: &[Kept], dry_run: bool) -> Result<(), OpError> {
    if ui.is_json() {
        let projects: Vec<Value> = kept.iter().map(|one| to_json(one, dry_run)).collect();
        return ui.json(&json!({ "dry_run": dry_run, "projects": projects }));
    }
    for one in kept {
        match &one.result {
            Ok((report, changes)) if dry_run => print_plan(ui, &one.name, report, changes)?,
            Ok(_) => {}
            Err(error) => {
                let causes = [std::slice::from_ref(&error.message), &error.causes].concat();
                ui.warning(
                    format!("{} could not be maintained: {}", one.name, causes.join(": ")),
                    error.hints.first().map(String::as_str),
                );
            }
        }
    }
    if !dry_run {
        ui.table(&rows(kept))?;
    }
    let reports = kept.iter().filter_map(|one| one.result.as_ref().ok()).map(|(report, _)| report);
    for report in reports.filter(|_| !dry_run) {
        for open in &report.contradictions {
            ui.warning(
                format!("{} may contradict {}: {}", open.newer, open.older, open.reason),
                Some("Settle it: nacre memory archive ID, or nacre feedback ID outdated"),
            );
        }
        if let Some(run) = &report.run_id {
            ui.status(format!("Run: {run}"))?;
        }
    }
    Ok(())
}

/// What the table counts, by the verbs of the actions.
const COLUMNS: &[(&str, &[MaintainVerb])] = &[
    ("merged", &[MaintainVerb::Merge, MaintainVerb::Consolidate]),
    ("overturned", &[MaintainVerb::Supersede]),
    ("stale", &[MaintainVerb::Stale]),
    ("archived", &[MaintainVerb::Archive]),
    ("back", &[MaintainVerb::Restore, MaintainVerb::Freshen]),
    ("relinked", &[MaintainVerb::Relink]),
];

fn rows(kept: &[Kept]) -> Vec<Vec<(Role, String)>> {
    let mut head = vec![(Role::Faint, "project".to_owned()), (Role::Faint, "memories".to_owned())];
    head.extend(COLUMNS.iter().map(|(name, _)| (Role::Faint, (*name).to_owned())));
    head.extend([(Role::Faint, "time".to_owned()), (Role::Faint, String::new())]);
    std::iter::once(head).chain(kept.iter().map(row)).collect()
}

fn row(one: &Kept) -> Vec<(Role, String)> {
    let report = one.result.as_ref().ok().map(|(report, _)| report);
    let number = |n: Option<usize>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let looked = report.filter(|report| report.outcome != MaintainOutcome::Skipped);
    let mut row = vec![
        (Role::Id, Shown(&one.name).one_line()),
        (Role::Faint, number(looked.map(|report| report.memories))),
    ];
    for (_, verbs) in COLUMNS {
        let count = |report: &MaintainReport| verbs.iter().map(|verb| report.counts[verb]).sum();
        row.push((Role::Good, number(looked.map(count))));
    }
    row.push((Role::Faint, format!("{:.1}s", one.took.as_secs_f64())));
    row.push((Role::Title, report.map_or("failed", |report| told(report.outcome)).to_owned()));
    row
}

fn told(outcome: MaintainOutcome) -> &'static str {
    match outcome {
        MaintainOutcome::Done => "",
        MaintainOutcome::Clean => "nothing to do",
        MaintainOutcome::Skipped => "unchanged since the last run",
    }
}

fn print_plan(
    ui: &mut Ui,
    name: &str,
    report: &MaintainReport,
    changes: &[PlannedChange],
) -> Result<(), OpError> {
    ui.line(ui.paint(Role::Title, Shown(name).one_line()))?;
    for action in &report.actions {
        let with = action.with.as_ref().map(|with| format!(" → {with}")).unwrap_or_default();
        let line = format!("{} {}{with}: {}", action.action, action.target, action.reason);
        ui.line(format!("  {}", Shown(&line).one_line()))?;
    }
    for open in &report.contradictions {
        ui.line(format!("  open: {} may contradict {}: {}", open.newer, open.older, open.reason))?;
    }
    print_changes(ui, changes)
}

fn to_json(one: &Kept, dry_run: bool) -> Value {
    let ms = u64::try_from(one.took.as_millis()).unwrap_or(u64::MAX);
    match &one.result {
        Ok((report, changes)) => {
            let mut value =
                json!({ "project": one.name, "state": report.outcome, "report": report, "ms": ms });
            if dry_run {
                value["changes"] = json!(changes);
            }
            value
        }
        Err(error) => json!({
            "project": one.name, "state": "failed", "reason": error.message, "causes": error.causes, "ms": ms,
        }),
    }
}
