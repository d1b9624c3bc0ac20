//! `nacre reference`: the pages of `docs/` that are made from the program itself.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use nacre_core::config;

use super::exit::Exit;
use super::help;
use super::ui::Ui;
use nacre_ops::OpError;

/// Print a page of the reference as Markdown
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct ReferenceArgs {
    /// The page
    page: Page,
}

/// The generated pages.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Page {
    /// docs/cli.md
    Cli,
    /// docs/config.md
    Config,
}

pub(crate) fn cmd_reference(ui: &mut Ui, args: &ReferenceArgs) -> Result<Exit, OpError> {
    let ReferenceArgs { page } = args;
    let text = match page {
        Page::Cli => cli_markdown(),
        Page::Config => config::docs::reference_markdown(),
    };
    if ui.is_json() {
        ui.json(&serde_json::json!({ "markdown": text }))?;
    } else {
        ui.line(text.trim_end())?;
    }
    Ok(Exit::Done)
}

fn cli_markdown() -> String {
    let mut page = String::from(
        "# Command line\n\nWritten by `make docs` from the program; a test keeps it true.\n\n\
         Exit codes: 0 done, 1 failed, 2 not understood, 3 done in part, 4 another process is writing.\n",
    );
    let mut command = help::command().term_width(100);
    command.build();
    write_command(&mut page, &mut command, "");
    page
}

fn write_command(page: &mut String, command: &mut clap::Command, parents: &str) {
    let name = format!("{parents}{}", command.get_name());
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a `String` cannot fail.
    let _ = write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    let children = command.get_subcommands_mut().filter(|child| !child.is_hide_set());
    for child in children.filter(|child| child.get_name() != "help") {
        write_command(page, child, &format!("{name} "));
    }
}
