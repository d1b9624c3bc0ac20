//! `chat_screen SCRIPT [LOG]` runs the chat on a real terminal with a scripted agent.
//!
//! Tests drive the screen in tmux and compare its output. The script is in JSON Lines format (see
//! `script.rs`). Messages from the screen are logged as JSON lines with the milliseconds since the
//! start.

// The unit tests for the screen are in the `nacre` crate.
#![cfg(not(test))]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test program controls its clock, files and terminal"
)]

mod script;
#[path = "../../../../nacre/src/tui/mod.rs"]
mod tui;

use std::process::ExitCode;

use nacre_ops::terminal::ThemeChoice;
use tui::{ChatLink, ExitState, Outside, OutsideResult, ScreenOptions, Theme};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let Some(script) = args.get(1) else {
        eprintln!("Usage: chat_screen SCRIPT [LOG]");
        return ExitCode::from(2);
    };
    let steps = match script::read(script) {
        Ok(steps) => steps,
        Err(why) => {
            eprintln!("Error: Cannot read the script `{script}`\nCaused by: {why}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let Ok(runtime) = runtime else { return ExitCode::FAILURE };
    match runtime.block_on(play(steps, args.get(2).cloned())) {
        Ok(ExitState { session, is_working }) => {
            let state = if is_working { "working" } else { "idle" };
            eprintln!("left session {} {state}", session.unwrap_or_default());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn play(steps: Vec<script::Step>, log: Option<String>) -> std::io::Result<ExitState> {
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let theme = std::env::var("CHAT_SCREEN_THEME").ok().and_then(|name| name.parse().ok());
    let name = if is_set("NO_COLOR") { Some(ThemeChoice::Plain) } else { theme };
    let has_true_color = std::env::var("COLORTERM").is_ok_and(|value| value == "truecolor");
    let options = ScreenOptions {
        theme: Theme { name: name.unwrap_or(ThemeChoice::Dark), has_true_color },
        resume: is_set("CHAT_SCREEN_RESUME").then(nacre_types::SessionRequest::default),
        ..ScreenOptions::default()
    };
    let (requests, asked) = tokio::sync::mpsc::unbounded_channel();
    let (told, messages) = tokio::sync::mpsc::channel(1024);
    let (found, files) = tokio::sync::mpsc::channel(1);
    let _ = found.try_send(script::files(&steps));
    let agent = std::thread::spawn(move || script::play(steps, asked, &told, log.as_deref()));
    let link = ChatLink { requests, messages };
    let mut outside = |action: Outside| match action {
        Outside::OpenMemory { id } => {
            Ok(OutsideResult::Page { title: id.clone(), text: format!("This is {id}.") })
        }
        Outside::EditMemory { id } => Ok(OutsideResult::Note(format!("changed {id}"))),
        Outside::SaveExport { transcript, .. } => {
            // Lets tests check the state of the terminal after a panic.
            assert_ne!(transcript, "panic", "asked for by the script");
            Ok(OutsideResult::Note(format!("exported {} bytes", transcript.len())))
        }
    };
    let left = tui::run(link, options, Some(files), &mut outside).await;
    // Dropping the agent ends the script.
    drop(agent);
    left
}
