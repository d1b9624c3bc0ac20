//! The conversation on a terminal.

use nacre_ops::{Host, OpError};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ChatArgs;
use super::line::Line;
use super::link::Conversations;
use crate::tui::{self, ChatLink, Outside, ScreenOptions, Start, ThemeName};

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
        theme: ThemeName::Dark,
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
    let mut outside = |_: Outside| Err("This is not possible here".to_owned());
    let shown = conversations.runtime.block_on(tui::run(link, options, None, &mut outside));
    conversations.close();
    let session = shown.map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed("The terminal cannot be used")
    })?;
    if let Some(session) = session {
        ui.status(format!("Go on with it: nacre chat --resume {session}"))?;
    }
    Ok(Exit::Done)
}

fn is_true_color(value: &str) -> bool {
    matches!(value, "truecolor" | "24bit")
}
