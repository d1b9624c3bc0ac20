//! `nacre memory show`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::memory::{Evidence, Memory, Version, VersionSource};
use serde::Serialize;

use super::super::error::{CommandError, Exit};
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
    body: String,
    evidence: Option<Evidence>,
    history: Option<Vec<VersionOutput>>,
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
    let scoped = runtime.store_of(scope.mode(), id)?;
    let memory = scoped.store.get(id)?;
    let evidence = if *evidence { scoped.store.evidence(&memory.at.id)? } else { None };
    let history = if *history { Some(scoped.store.history(&memory.at)?) } else { None };
    if ui.is_json() {
        let history = history.map(|versions| versions.into_iter().map(version_output).collect());
        let body = memory.document.body().trim().to_owned();
        ui.json(&ShowOutput {
            memory: MemoryOutput::new(&memory, &scoped),
            body,
            evidence,
            history,
        })?;
        return Ok(Exit::Done);
    }
    print_memory(ui, &memory)?;
    if args.evidence {
        print_evidence(ui, evidence.as_ref())?;
    }
    if let Some(versions) = history {
        print_history(ui, &versions)?;
    }
    Ok(Exit::Done)
}

fn print_memory(ui: &mut Ui, memory: &Memory) -> Result<(), CommandError> {
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
    let links = [("related", memory.related.as_slice()), ("supersedes", &memory.supersedes)];
    for (key, ids) in links.into_iter().filter(|(_, ids)| !ids.is_empty()) {
        let ids: Vec<&str> = ids.iter().map(nacre_core::memory::MemoryId::as_str).collect();
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
