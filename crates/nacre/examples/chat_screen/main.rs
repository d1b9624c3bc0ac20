//! `chat_screen SCRIPT [LOG]`: the chat on a real terminal, with an agent that is a script.
//!
//! The script is lines of JSON (see `script.rs`), so that a test can drive the screen in tmux and compare what is seen. What the screen
//! sends is written to the log, a line of JSON each, with the milliseconds since the start.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test program: it owns its clock, its files and its terminal"
)]

mod script;
#[path = "../../src/tui/mod.rs"]
mod tui;

use std::process::ExitCode;

use tui::{ChatLink, Left, Outside, ScreenOptions, Start, ThemeName, Told};

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
        Ok(Left { session, is_working }) => {
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

async fn play(steps: Vec<script::Step>, log: Option<String>) -> std::io::Result<Left> {
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let theme =
        std::env::var("CHAT_SCREEN_THEME").ok().and_then(|name| ThemeName::from_name(&name));
    let options = ScreenOptions {
        theme: if is_set("NO_COLOR") { ThemeName::Plain } else { theme.unwrap_or_default() },
        has_true_color: std::env::var("COLORTERM").is_ok_and(|value| value == "truecolor"),
        start: if is_set("CHAT_SCREEN_RESUME") { Start::Resume(None) } else { Start::New },
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
            Ok(Told::Page { title: id.clone(), text: format!("This is {id}.") })
        }
        Outside::EditMemory { id } => Ok(Told::Note(format!("changed {id}"))),
        Outside::SaveExport { transcript, .. } => {
            // A test looks at what a panic leaves behind.
            assert_ne!(transcript, "panic", "asked for by the script");
            Ok(Told::Note(format!("exported {} bytes", transcript.len())))
        }
    };
    let left = tui::run(link, options, Some(files), &mut outside).await;
    // The script ends where the line does.
    drop(agent);
    left
}
