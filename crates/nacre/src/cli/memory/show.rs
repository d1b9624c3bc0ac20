//! `nacre memory show`

use nacre_ops::memory as ops;
use nacre_types::{
    MemoryEvidence, MemoryFeedback, MemoryLink, MemoryShowReport, MemoryShowRequest, MemoryVersion,
    SaidBy, TrustLevel,
};

use crate::cli::prelude::*;
use crate::cli::render::quote_place;

/// Show a memory, its evidence and its history
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The memory's id or a prefix of it
    id: String,
    /// Show the quotes that support the memory
    #[arg(long)]
    evidence: bool,
    /// Show the memory's history: commits, or runs without Git
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_show(ui: &mut Ui, host: &Host, args: ShowArgs) -> CommandResult {
    let ShowArgs { id: memory, evidence, history, scope } = args;
    let scope = scope.mode();
    let request = MemoryShowRequest { id: memory, evidence, history, text: false, scope };
    let report = ops::show(host, &request, &ui.events())?;
    ui.report(&report, |ui, report| {
        print_memory(ui, report);
        if evidence {
            print_evidence(ui, report.evidence.as_ref());
        }
        if let Some(versions) = &report.history {
            ui.line("\nHistory");
            let row = |version: &MemoryVersion| {
                let name = version.commit.as_deref().or(version.run.as_deref()).unwrap_or_default();
                let when = faint(ui.when(&version.when));
                vec![id(format!("  {name}")), when, faint(&version.who), title(&version.what)]
            };
            let rows: Vec<Row> = versions.iter().map(row).collect();
            if ui.table(rows) == 0 {
                ui.line("  not committed yet");
            }
        }
    })
}

fn print_memory(ui: &mut Ui, report: &MemoryShowReport) {
    let memory = &report.memory;
    ui.note(0, Role::Title, &memory.title);
    let kind = memory.kind.as_deref().unwrap_or_else(|| memory.r#type.as_str());
    let mut facts = vec![memory.id.clone(), kind.to_owned(), memory.status.clone()];
    facts.extend(memory.confidence.map(|confidence| format!("confidence {confidence}")));
    facts.extend(memory.stated().map(|time| format!("updated {}", ui.when(time))));
    let mut lines = vec![facts.join(" · ")];
    lines.extend(report.session.as_ref().map(|session| format!("session {session}")));
    let level = report.level.filter(|level| *level != TrustLevel::Human);
    lines.extend(level.map(|level| format!("Level: {}", level.as_str())));
    lines.extend((!memory.tags.is_empty()).then(|| format!("tags {}", memory.tags.join(", "))));
    lines.extend(memory.applies.iter().map(|situation| format!("applies to {situation}")));
    for (key, ids) in [
        ("related", memory.related.clone()),
        ("supersedes", report.supersedes.iter().map(link_text).collect()),
        ("superseded by", report.superseded_by.iter().map(link_text).collect()),
    ] {
        lines.extend((!ids.is_empty()).then(|| format!("{key} {}", ids.join(", "))));
    }
    let contradicted_by = memory.replaced_by.as_ref().filter(|_| report.superseded_by.is_empty());
    lines.extend(contradicted_by.map(|id| format!("contradicted later by {id}")));
    if let Some(MemoryFeedback { verdict, by, note, at }) = &report.feedback {
        let note = note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
        let by = match by {
            SaidBy::Owner => "you",
            SaidBy::Agent => "an agent",
            SaidBy::Person => "a user with a token",
            SaidBy::Unknown => "somebody",
        };
        let (verdict, at) = (verdict.as_str(), ui.when(at));
        lines.push(format!("{by} marked it as {verdict}, {at}{note}"));
    }
    for line in lines {
        ui.note(0, Role::Faint, line);
    }
    if !report.body.is_empty() {
        ui.line("");
        ui.text(&report.body);
    }
}

fn link_text(link: &MemoryLink) -> String {
    let note = if link.verified { "" } else { " (not verified)" };
    format!("{}{note}", link.id)
}

fn print_evidence(ui: &mut Ui, evidence: Option<&MemoryEvidence>) {
    ui.line("\nEvidence");
    let quotes = evidence.map(|evidence| evidence.quotes.as_slice()).unwrap_or_default();
    for quote in quotes {
        for line in quote.text.lines() {
            ui.line(format!("  > {}", Shown(line).one_line()));
        }
        ui.note(2, Role::Faint, quote_place(ui, &quote.place, &quote.at));
    }
    if quotes.is_empty() {
        ui.line("  none");
    }
    if evidence.is_some_and(|evidence| evidence.unproven) {
        ui.line("  Changed by a program other than Nacre, so it is not evidence.");
    }
}
