//! Runs the terminal UI, and the actions that it leaves to other commands.

use std::path::Path;
use std::thread;

use nacre_ops::chat::save_export;
use nacre_ops::host::{Environment, OpenOptions};
use nacre_ops::terminal::ThemeChoice;
use nacre_ops::{Cancel, Events, map, memory};
use nacre_types::{Failure, MemoryEditRequest, MemoryShowRequest, SessionExportReport};
use tokio::sync::mpsc::{Receiver, channel};

use super::ChatArgs;
use super::conversations::Conversations;
use crate::cli::memory::run_editor;
use crate::cli::prelude::*;
use crate::tui::{self, ChatLink, ExitState, Outside, OutsideResult, ScreenOptions, Theme};

pub(super) fn show(
    ui: &mut Ui,
    host: &Host,
    conversations: Conversations,
    args: &ChatArgs,
) -> CommandResult {
    let link = conversations.link()?;
    let link = ChatLink { requests: link.requests.line, messages: link.messages };
    let has_true_color = matches!(host.environment.var("COLORTERM"), Some("truecolor" | "24bit"));
    let options = ScreenOptions {
        theme: Theme {
            name: match args.theme {
                Some(theme) => theme,
                None if !ui.is_colored() => ThemeChoice::Plain,
                None => host.settings().ui.theme,
            },
            has_true_color,
        },
        resume: args.session(conversations.folder()),
        workspace: Some(conversations.folder()),
        model: args.model.clone(),
        policy: args.policy,
        prompt: (!args.words.is_empty()).then(|| args.words.join(" ")),
    };
    let (is_served, cancel) = (conversations.is_served(), Cancel::new());
    let files = list_files(host.environment.clone(), cancel.clone());
    let mut outside = |action: Outside| act(host, action).map_err(Failure::from);
    let shown = conversations.runtime.block_on(tui::run(link, options, Some(files), &mut outside));
    cancel.cancel();
    conversations.close();
    let left =
        shown.map_err(|error| OpError::failed("Could not set up the terminal").because(error))?;
    if let ExitState { session: Some(session), is_working } = left {
        if is_working && is_served {
            ui.status("The agent keeps working in the server.");
        }
        ui.status(format!("Continue this session: nacre chat --resume {session}"));
    }
    Ok(Exit::DONE)
}

/// Lists the project's files for `@` completion. Runs in a separate thread while the screen is
/// open. Without a code map, `@` completes nothing.
fn list_files(environment: Environment, cancel: Cancel) -> Receiver<Vec<String>> {
    let (sender, files) = channel(1);
    thread::spawn(move || {
        let host = Host::open(environment, &OpenOptions::default()).host;
        if let Ok(files) = host.and_then(|host| map::files(&host, &cancel)) {
            let _ = sender.blocking_send(files);
        }
    });
    files
}

fn act(host: &Host, action: Outside) -> Result<OutsideResult> {
    let events = Events::discard();
    match action {
        Outside::OpenMemory { id } => {
            let request = MemoryShowRequest { id, text: true, ..MemoryShowRequest::default() };
            let report = memory::show(host, &request, &events)?;
            let text = report.text.unwrap_or(report.body);
            Ok(OutsideResult::Page { title: report.memory.title, text })
        }
        Outside::EditMemory { id } => {
            let editor = host.editor()?;
            let request = MemoryEditRequest { id, ..MemoryEditRequest::default() };
            let run = |draft: &Path| run_editor(host, editor, draft);
            let report = memory::edit(host, &request, &run, &events)?;
            let undo = report.change.map(|change| format!("; undo: nacre undo {change}"));
            Ok(OutsideResult::Note(format!("Corrected {}{}", report.id, undo.unwrap_or_default())))
        }
        Outside::SaveExport { session, transcript } => {
            let path = save_export(host, &SessionExportReport { session, transcript })?;
            let path = path.display();
            let note = format!(
                "Exported to {path}; to import it in another home: nacre trace import {path}"
            );
            Ok(OutsideResult::Note(note))
        }
    }
}
