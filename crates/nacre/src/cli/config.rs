//! `nacre config`: shows and changes settings.

use nacre_ops::config as ops;
use nacre_ops::host::Tolerance;
use nacre_types::{
    ConfigGetReport, ConfigPathReport, ConfigSetReport, ConfigSetRequest, ConfigShowReport,
    ConfigShowRequest,
};

use super::prelude::*;
use super::render::print_undo;

/// Show every setting with its value and source; change settings
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: Option<ConfigCommand>,

    #[command(flatten)]
    show: ShowArgs,

    /// Show the configuration files in the order they are read
    #[arg(long, conflicts_with = "prefix")]
    path: bool,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    #[command(hide = true, alias = "list")]
    Show(ShowArgs),
    /// Print the value of one key
    ///
    /// On a terminal, also prints its description and where it was set.
    Get {
        /// The key, such as memory.scope
        key: String,
    },
    /// Set one key, keeping the file's comments and order
    Set {
        /// The key, such as memory.scope
        key: String,

        /// The value; separate list items with commas
        #[arg(required_unless_present = "unset", allow_hyphen_values = true)]
        value: Option<String>,

        /// Remove the key from the file
        #[arg(long, conflicts_with = "value")]
        unset: bool,

        /// Write to the repository's settings, which are shared through Git
        #[arg(long)]
        repo: bool,
    },
}

/// Show every setting with its value and source
#[derive(Debug, Args)]
struct ShowArgs {
    /// Only keys with this prefix
    prefix: Option<String>,
}

impl ConfigArgs {
    pub(crate) fn tolerance(&self) -> Tolerance {
        match self.command {
            Some(ConfigCommand::Set { .. }) => Tolerance::Mistakes,
            None if self.path => Tolerance::Mistakes,
            None | Some(_) => Tolerance::OfRepository,
        }
    }
}

pub(crate) fn cmd_config(ui: &mut Ui, host: &Host, args: ConfigArgs) -> CommandResult {
    match args.command {
        None if args.path => ui.report(&ops::path(host)?, print_path),
        Some(ConfigCommand::Get { key }) => ui.report(&ops::get(host, &key)?, print_value),
        // Without `--unset`, there is always a value.
        Some(ConfigCommand::Set { key, value, unset: _, repo }) => {
            ui.report(&ops::set(host, &ConfigSetRequest { key, value, repo })?, print_set)
        }
        command @ (None | Some(ConfigCommand::Show(_))) => {
            let show = match command {
                Some(ConfigCommand::Show(show)) => show,
                _ => args.show,
            };
            let request = ConfigShowRequest { prefix: show.prefix };
            ui.report(&ops::show(host, &request)?, print_settings)
        }
    }
}

fn print_path(ui: &mut Ui, report: &ConfigPathReport) {
    ui.table(report.files.iter().map(|file| {
        let note = if file.exists { "" } else { "(not there)" };
        [faint(file.layer.as_str()), id(&file.path), faint(note)]
    }));
}

fn print_value(ui: &mut Ui, report: &ConfigGetReport) {
    ui.line(Shown(&ops::value_text(&report.value)).one_line());
    if ui.is_watched() {
        ui.status(ui.paint(Role::Faint, &report.doc));
        ui.status(ui.paint(Role::Faint, Shown(&report.origin).one_line()));
    }
}

fn print_set(ui: &mut Ui, ConfigSetReport { key, value, path, change }: &ConfigSetReport) {
    let (key, path) = (ShownLine(key), ShownLine(path));
    match value {
        Some(value) => ui.status(format!("Set {key} = {} in {path}", ShownLine(value))),
        None => ui.status(format!("Unset {key} in {path}")),
    }
    print_undo(ui, change.as_deref());
}

fn print_settings(ui: &mut Ui, report: &ConfigShowReport) {
    // Keys of user-defined tables, such as `roles.lead.model`, come last.
    let is_table = |key: &str| key.matches('.').count() > 1;
    let (tables, keys): (Vec<_>, Vec<_>) =
        report.settings.iter().partition(|(key, _)| is_table(key));
    let set = keys.into_iter().chain(tables).map(|(key, setting)| {
        vec![id(key), title(ops::value_text(&setting.value)), faint(&setting.origin)]
    });
    let not_set = report.not_set.iter().map(|key| vec![id(key), faint("(not set)")]);
    ui.table(set.chain(not_set));
}
