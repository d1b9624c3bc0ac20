//! `nacre memory show`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::memory::{Evidence, Memory, MemoryId, Store, Version, VersionSource};
use serde::Serialize;

use super::super::error::{CommandError, Exit};
use super::super::holding::{Holding, OtherPlace};
use super::super::runtime::Runtime;
use super::super::ui::{Role, Ui};
use super::ScopeArg;
use super::output::MemoryOutput;

/// Show a memory, its evidence and its history
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The memory's id, or the start of it
    id: String,
    /// The quotes that prove it
    #[arg(long)]
    evidence: bool,
    /// How it came to be what it is: commits, or runs where there is no git
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Serialize)]
struct ShowOutput {
    #[serde(flatten)]
    memory: MemoryOutput,
    also_in: Vec<OtherPlace>,
    #[serde(flatten)]
    links: Links,
    body: String,
    evidence: Option<Evidence>,
    history: Option<Vec<VersionOutput>>,
}

/// What a memory overturned, and what overturned it.
#[derive(Serialize)]
struct Links {
    supersedes: Vec<Link>,
    superseded_by: Vec<Link>,
}

/// One end of such a link. It is verified where the older file says it itself.
#[derive(Serialize)]
struct Link {
    id: String,
    verified: bool,
}

impl Links {
    fn of(store: &Store, memory: &Memory) -> Result<Self, CommandError> {
        let unverified = store.unverified_claims(memory);
        let link = |id: &MemoryId, verified: bool| Link { id: id.to_string(), verified };
        let supersedes = memory.supersedes.iter().map(|id| link(id, !unverified.contains(id)));
        let is_named = |claimant: &Memory| memory.superseded_by.as_ref() == Some(&claimant.at.id);
        let claimants = store.claimants(&memory.at.id)?;
        let claimed = claimants.iter().filter(|claimant| !is_named(claimant));
        let claimed = claimed.map(|claimant| link(&claimant.at.id, memory.says_overturned()));
        let said = memory.superseded_by.iter().map(|id| link(id, true));
        Ok(Self { supersedes: supersedes.collect(), superseded_by: said.chain(claimed).collect() })
    }
}

impl Link {
    fn told(&self) -> String {
        let note = if self.verified { "" } else { " (not verified)" };
        format!("{}{note}", self.id)
    }
}

#[derive(Serialize)]
struct VersionOutput {
    commit: Option<String>,
    run: Option<String>,
    when: String,
    who: String,
    what: String,
}

pub(crate) fn cmd_show(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ShowArgs,
) -> Result<Exit, CommandError> {
    let ShowArgs { id, evidence, history, scope } = args;
    let Holding { scoped, also_in } = runtime.store_of(ui, scope.mode(), id)?;
    let memory = scoped.store.get(id)?;
    let links = Links::of(&scoped.store, &memory)?;
    let evidence = if *evidence { scoped.store.evidence(&memory.at.id)? } else { None };
    let history =
        if *history { Some(scoped.store.history(&runtime.git(), &memory.at)?) } else { None };
    if ui.is_json() {
        let history = history.map(|versions| versions.into_iter().map(version_output).collect());
        let body = memory.document.body().trim().to_owned();
        ui.json(&ShowOutput {
            memory: MemoryOutput::new(&memory, &scoped),
            also_in,
            links,
            body,
            evidence,
            history,
        })?;
        return Ok(Exit::Done);
    }
    print_memory(ui, &memory, &links)?;
    if args.evidence {
        print_evidence(ui, evidence.as_ref())?;
    }
    if let Some(versions) = history {
        print_history(ui, &versions)?;
    }
    Ok(Exit::Done)
}

fn print_memory(ui: &mut Ui, memory: &Memory, links: &Links) -> Result<(), CommandError> {
    ui.line(ui.paint(Role::Title, Shown(&memory.title).one_line()))?;
    let what = memory
        .kind
        .map_or(memory.at.memory_type.as_str(), nacre_core::memory::LearningKind::as_str);
    let mut facts =
        vec![memory.at.id.to_string(), what.to_owned(), memory.status.as_str().to_owned()];
    facts.extend(memory.confidence.map(|confidence| format!("confidence {confidence}")));
    facts.extend(memory.updated.map(|time| format!("updated {time}")));
    ui.line(ui.paint(Role::Faint, facts.join(" · ")))?;
    if !memory.tags.is_empty() {
        ui.line(
            ui.paint(Role::Faint, format!("tags {}", Shown(&memory.tags.join(", ")).one_line())),
        )?;
    }
    let related = memory.related.iter().map(ToString::to_string).collect();
    let supersedes = links.supersedes.iter().map(Link::told).collect();
    let superseded_by = links.superseded_by.iter().map(Link::told).collect();
    let links: [(&str, Vec<String>); 3] =
        [("related", related), ("supersedes", supersedes), ("superseded by", superseded_by)];
    for (key, ids) in links.iter().filter(|(_, ids)| !ids.is_empty()) {
        ui.line(ui.paint(Role::Faint, format!("{key} {}", ids.join(", "))))?;
    }
    let body = memory.document.body().trim_matches('\n');
    if !body.trim().is_empty() {
        ui.line("")?;
        ui.text(body)?;
    }
    Ok(())
}

fn print_evidence(ui: &mut Ui, evidence: Option<&Evidence>) -> Result<(), CommandError> {
    ui.line("\nEvidence")?;
    let quotes = evidence.map(|evidence| evidence.quotes.as_slice()).unwrap_or_default();
    for quote in quotes {
        for line in quote.text.lines() {
            ui.line(format!("  > {}", Shown(line).one_line()))?;
        }
        let place = format!("{}, {}", quote.place, quote.at);
        ui.line(format!("  {}", ui.paint(Role::Faint, Shown(&place).one_line())))?;
    }
    if quotes.is_empty() {
        ui.line("  none")?;
    }
    Ok(())
}

fn print_history(ui: &mut Ui, versions: &[Version]) -> Result<(), CommandError> {
    ui.line("\nHistory")?;
    let rows: Vec<_> = versions
        .iter()
        .map(|version| {
            let (VersionSource::Git(name) | VersionSource::Run(name)) = &version.source;
            vec![
                (Role::Id, format!("  {}", Shown(name).one_line())),
                (Role::Faint, Shown(&version.when).one_line()),
                (Role::Faint, Shown(&version.who).one_line()),
                (Role::Title, Shown(&version.what).one_line()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.line("  not committed yet")?;
    }
    Ok(())
}

fn version_output(version: Version) -> VersionOutput {
    let Version { source, when, who, what } = version;
    let (commit, run) = match source {
        VersionSource::Git(hash) => (Some(hash), None),
        VersionSource::Run(run) => (None, Some(run)),
    };
    VersionOutput { commit, run, when, who, what }
}
