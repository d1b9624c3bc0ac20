//! `nacre reference`: the pages of `docs/` that are made from the program itself, and its manual pages.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use nacre_ops::{OpError, config};
use serde::Serialize;

use super::exit::Exit;
use super::help;
use super::ui::Ui;

/// Print a page of the reference as Markdown, or write the manual pages
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct ReferenceArgs {
    #[command(subcommand)]
    page: Page,
}

/// What is generated.
#[derive(Debug, Subcommand)]
enum Page {
    /// docs/cli.md
    Cli,
    /// docs/config.md
    Config,
    /// The manual pages, one file a command
    Man {
        /// The folder to write to
        folder: PathBuf,
    },
}

/// A page in JSON.
#[derive(Serialize)]
struct PageOutput {
    markdown: String,
}

pub(crate) fn cmd_reference(ui: &mut Ui, args: &ReferenceArgs) -> Result<Exit, OpError> {
    let ReferenceArgs { page } = args;
    match page {
        Page::Cli => print(ui, cli_markdown()),
        Page::Config => print(ui, config::reference_markdown()),
        Page::Man { folder } => write_manual(folder),
    }
}

fn print(ui: &mut Ui, markdown: String) -> Result<Exit, OpError> {
    if ui.is_json() {
        ui.json(&PageOutput { markdown })?;
    } else {
        ui.line(markdown.trim_end())?;
    }
    Ok(Exit::Done)
}

/// Writes the manual page of every command that is shown to a file of its own: `nacre.1`, `nacre-memory-add.1`.
#[expect(
    clippy::disallowed_methods,
    reason = "`make dist` writes all of them again, for an archive"
)]
fn write_manual(folder: &Path) -> Result<Exit, OpError> {
    std::fs::create_dir_all(folder)?;
    let mut root = help::command();
    root.build();
    let mut waiting = vec![(root.get_name().to_owned(), root)];
    while let Some((name, command)) = waiting.pop() {
        let children = command.get_subcommands().filter(|child| !child.is_hide_set());
        for child in children.filter(|child| child.get_name() != "help") {
            waiting.push((format!("{name}-{}", child.get_name()), child.clone()));
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(command.display_name(&name)).title(&name).render(&mut page)?;
        std::fs::write(folder.join(format!("{name}.1")), page)?;
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
