//! `nacre memory show`

use clap::Args;
use nacre_api::wire::{
    MemoryEvidence, MemoryFeedback, MemoryLink, MemoryShowReport, MemoryShowRequest, MemoryVersion,
};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::ScopeArg;
use super::output::quote_place;

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

pub(crate) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { id, evidence, history, scope } = args;
    let request = MemoryShowRequest {
        id: id.clone(),
        evidence: *evidence,
        history: *history,
        text: false,
        scope: scope.mode(),
    };
    let report = ops::show(host, &request, &ui.events())?;
    ui.report(&report, |ui, report| {
        print_memory(ui, report)?;
        if *evidence {
            print_evidence(ui, report.evidence.as_ref())?;
        }
        report.history.as_ref().map_or(Ok(()), |versions| print_history(ui, versions))
    })
}

fn print_memory(ui: &mut Ui, report: &MemoryShowReport) -> Result<(), OpError> {
    let memory = &report.memory;
    ui.line(ui.paint(Role::Title, Shown(&memory.title).one_line()))?;
    let what = memory.kind.as_deref().unwrap_or_else(|| memory.r#type.as_str());
    let mut facts = vec![memory.id.clone(), what.to_owned(), memory.status.clone()];
    facts.extend(memory.confidence.map(|confidence| format!("confidence {confidence}")));
    facts.extend(memory.updated.as_ref().map(|time| format!("updated {}", ui.when(time))));
    ui.line(ui.paint(Role::Faint, facts.join(" · ")))?;
    if !memory.tags.is_empty() {
        let tags = format!("tags {}", Shown(&memory.tags.join(", ")).one_line());
        ui.line(ui.paint(Role::Faint, tags))?;
    }
    for situation in &memory.applies {
        let applies = format!("applies to {}", Shown(situation).one_line());
        ui.line(ui.paint(Role::Faint, applies))?;
    }
    let supersedes = report.supersedes.iter().map(link_text).collect();
    let superseded_by = report.superseded_by.iter().map(link_text).collect();
    let links: [(&str, Vec<String>); 3] = [
        ("related", memory.related.clone()),
        ("supersedes", supersedes),
        ("superseded by", superseded_by),
    ];
    for (key, ids) in links.iter().filter(|(_, ids)| !ids.is_empty()) {
        ui.line(ui.paint(Role::Faint, format!("{key} {}", ids.join(", "))))?;
    }
    if let Some(MemoryFeedback { verdict, note, at }) = &report.feedback {
        let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        let at = ui.when(at);
        let said = format!("a person said that it is {}, {at}{note}", verdict.as_str());
        ui.line(ui.paint(Role::Faint, Shown(&said).one_line()))?;
    }
    if !report.body.is_empty() {
        ui.line("")?;
        ui.text(&report.body)?;
    }
    Ok(())
}

fn link_text(link: &MemoryLink) -> String {
    let note = if link.verified { "" } else { " (not verified)" };
    format!("{}{note}", link.id)
}

fn print_evidence(ui: &mut Ui, evidence: Option<&MemoryEvidence>) -> Result<(), OpError> {
    ui.line("\nEvidence")?;
    let quotes = evidence.map(|evidence| evidence.quotes.as_slice()).unwrap_or_default();
    for quote in quotes {
        for line in quote.text.lines() {
            ui.line(format!("  > {}", Shown(line).one_line()))?;
        }
        let place = quote_place(ui, &quote.place, &quote.at);
        ui.line(format!("  {}", ui.paint(Role::Faint, Shown(&place).one_line())))?;
    }
    if quotes.is_empty() {
        ui.line("  none")?;
    }
    if evidence.is_some_and(|evidence| evidence.unproven) {
        ui.line("  It was changed by something else than Nacre, and proves nothing.")?;
    }
    Ok(())
}

fn print_history(ui: &mut Ui, versions: &[MemoryVersion]) -> Result<(), OpError> {
    ui.line("\nHistory")?;
    let rows: Vec<_> = versions
        .iter()
        .map(|version| {
            let name = version.commit.as_ref().or(version.run.as_ref());
            let name = name.map(String::as_str).unwrap_or_default();
            vec![
                (Role::Id, format!("  {}", Shown(name).one_line())),
                (Role::Faint, Shown(&ui.when(&version.when)).one_line()),
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
