//! The conversation on a terminal.

use nacre_ops::{Cancel, Host, OpError};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::choices::configured;
use super::line::Line;
use super::link::Conversations;
use super::{ChatArgs, files, outside};
use crate::tui::{self, ChatLink, Left, Outside, ScreenOptions, Start, ThemeName};

/// Shows the screen until the person leaves.
pub(super) fn show(
    ui: &mut Ui,
    host: &Host,
    conversations: Conversations,
    args: &ChatArgs,
) -> Result<Exit, OpError> {
    let Line { requests, messages, .. } = conversations.line()?;
    let link = ChatLink { requests, messages };
    let options = ScreenOptions {
        theme: theme(ui, host, args),
        has_true_color: host.environment.var("COLORTERM").is_some_and(is_true_color),
        start: match &args.resume {
            Some(session) => Start::Resume(Some(session.clone()).filter(|id| !id.is_empty())),
            None => Start::New,
        },
        workspace: Some(conversations.folder()),
        model: args.model.clone(),
        policy: args.policy.map(Into::into),
        prompt: (!args.words.is_empty()).then(|| args.words.join(" ")),
    };
    let (goes_on, cancel) = (conversations.goes_on(), Cancel::new());
    let files = files::list(host.environment.clone(), cancel.clone());
    let mut outside = |action: Outside| outside::act(host, action);
    let shown = conversations.runtime.block_on(tui::run(link, options, Some(files), &mut outside));
    cancel.cancel();
    conversations.close();
    let left = shown.map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("The terminal cannot be used")
    })?;
    if let Left { session: Some(session), is_working } = left {
        if is_working && goes_on {
            ui.status("The agent goes on in the server.")?;
        }
        ui.status(format!("Go on with it: nacre chat --resume {session}"))?;
    }
    Ok(Exit::Done)
}

/// The colors: none where the person wants none, else as the flag or the settings say.
fn theme(ui: &Ui, host: &Host, args: &ChatArgs) -> ThemeName {
    match args.theme {
        Some(theme) => theme.into(),
        None if !ui.is_colored() => ThemeName::Plain,
        None => configured(host.settings().ui.theme),
    }
}

fn is_true_color(value: &str) -> bool {
    matches!(value, "truecolor" | "24bit")
}
