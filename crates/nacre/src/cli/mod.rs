//! The command line interface: arguments, commands, output and exit codes.
//!
//! No other module prints, exits the process or reads the environment. Each command has its own
//! file, and a row in `commands!` below.

mod args;
mod ask;
mod brief;
mod chat;
mod completions;
mod config;
mod connect;
mod doctor;
mod env;
mod events;
mod export;
mod feedback;
mod help;
mod hook;
mod import;
mod index;
mod init;
mod interrupt;
mod layout;
mod maintain;
mod map;
mod memory;
#[cfg(test)]
mod mention_tests;
mod model;
mod pager;
mod prelude;
mod progress;
mod project;
mod queue;
#[cfg(test)]
mod reference_tests;
mod remote;
mod render;
mod report;
mod review;
mod run;
mod runs;
mod server;
mod service;
mod sessions;
mod skill;
mod status;
mod sync;
mod team;
mod trace;
mod trust;
mod ui;
mod undo;
mod usage;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{FromArgMatches as _, Parser, Subcommand};
use nacre_ops::host::{Environment, Needs, OpenOptions, Opened, Registering, Tolerance};
use nacre_ops::terminal::ColorChoice;
use nacre_ops::{Host, Result};

use self::ui::{CommandResult, Exit, Ui};

/// A file-first memory for coding agents
#[derive(Debug, Parser)]
#[command(name = "nacre", version = env!("NACRE_VERSION"), disable_help_subcommand = false)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// Flags accepted by every command.
#[derive(Clone, Debug, Default, clap::Args)]
struct Globals {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    json: bool,

    /// Use this project, by name or path, instead of the current directory's
    #[arg(long, global = true, value_name = "PROJECT")]
    project: Option<String>,

    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", value_parser = PossibleValuesParser::new(ColorChoice::NAMES).try_map(|name| name.parse::<ColorChoice>()))]
    color: Option<ColorChoice>,

    /// Print long output without a pager
    #[arg(long, global = true)]
    no_pager: bool,

    /// Print results and errors only
    #[arg(long, short, global = true)]
    quiet: bool,

    /// Don't use the running server
    #[arg(long, global = true)]
    local: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every command, including rarely used ones
    #[command(hide = true)]
    Commands,
    Completions(completions::CompletionsArgs),
    Hook(hook::HookArgs),
    #[command(flatten)]
    Host(HostCommand),
    /// Serve memory and code map to a coding agent, as an MCP server
    ///
    /// Speaks the Model Context Protocol on standard input and output until the client closes them;
    /// agents start it themselves. It uses the current directory's project, or the one given with
    /// `--project`.
    Mcp,
    Serve(service::ServeArgs),
}

/// How a command opens its host, and whether its output is paged.
#[derive(Clone, Copy, Debug)]
struct Policy {
    /// What a directory given with `--project` must contain.
    needs: Needs,
    /// The settings errors that the command tolerates.
    tolerance: Tolerance,
    /// Whether the command registers the current project.
    registering: Registering,
    /// Whether the command only shows information, so that its output may be paged.
    is_paged: bool,
}

const ACTS: Policy = Policy {
    needs: Needs::Project,
    tolerance: Tolerance::None,
    registering: Registering::No,
    is_paged: false,
};
const SHOWS: Policy = Policy { is_paged: true, ..ACTS };

impl Policy {
    const fn uses_memory(self) -> Self {
        Self { registering: Registering::Yes, ..self }
    }

    /// For commands that create a project, or that map the code in any directory.
    const fn takes_any_folder(self) -> Self {
        Self { needs: Needs::Folder, ..self }
    }

    const fn tolerates(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    const fn tolerates_repository(self) -> Self {
        self.tolerates(Tolerance::OfRepository)
    }
}

/// Declares the commands that need a host, each with its variant, arguments, function and policy.
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident($module:ident::$args:ident, $run:ident) $policy:expr;)*) => {
        /// Commands that work with the settings and stores of the current directory.
        #[derive(Debug, Subcommand)]
        enum HostCommand {
            $($(#[$attribute])* $name($module::$args),)*
        }

        impl HostCommand {
            fn default_policy(&self) -> Policy {
                match self {
                    $(Self::$name(_) => $policy,)*
                }
            }

            fn run(self, ui: &mut Ui, host: &Host) -> CommandResult {
                match self {
                    $(Self::$name(args) => $module::$run(ui, host, args),)*
                }
            }
        }
    };
}

commands! {
    Init(init::InitArgs, cmd_init) ACTS.takes_any_folder();
    /// Show this project's memories, sessions and pending work
    ///
    /// Counts memories by type and sessions by state, and shows the result of the last `nacre
    /// doctor`. Reads only file names and keys, and does not check the files.
    Status(status::NoArgs, cmd_status) SHOWS.tolerates_repository();
    Doctor(doctor::DoctorArgs, cmd_doctor) SHOWS.tolerates_repository();
    /// Add, find, read and change memories
    #[command(subcommand)]
    Memory(memory::MemoryCommand, cmd_memory) ACTS.uses_memory();
    Ask(ask::AskArgs, cmd_ask) ACTS.uses_memory();
    Chat(chat::ChatArgs, cmd_chat) ACTS.uses_memory().takes_any_folder();
    Brief(brief::BriefArgs, cmd_brief) SHOWS.uses_memory();
    Export(export::ExportArgs, cmd_export) SHOWS;
    Import(import::ImportArgs, cmd_import) ACTS.uses_memory();
    Review(review::ReviewArgs, cmd_review) SHOWS.uses_memory();
    Index(index::IndexArgs, cmd_index) ACTS;
    Trace(trace::TraceArgs, cmd_trace) SHOWS;
    Sync(sync::SyncArgs, cmd_sync) ACTS.uses_memory();
    Maintain(maintain::MaintainArgs, cmd_maintain) ACTS;
    Report(report::ReportArgs, cmd_report) SHOWS;
    Run(run::RunArgs, cmd_run) ACTS;
    Runs(runs::RunsArgs, cmd_runs) SHOWS;
    Undo(undo::UndoArgs, cmd_undo) ACTS;
    Feedback(feedback::FeedbackArgs, cmd_feedback) ACTS.uses_memory();
    Trust(trust::TrustArgs, cmd_trust) SHOWS.uses_memory();
    Queue(queue::QueueArgs, cmd_queue) SHOWS;
    Explore(map::ExploreArgs, cmd_explore) SHOWS.takes_any_folder();
    Context(map::ContextArgs, cmd_context) SHOWS.takes_any_folder();
    SearchCode(map::SearchCodeArgs, cmd_search_code) SHOWS.takes_any_folder();
    Delta(map::DeltaArgs, cmd_delta) SHOWS.takes_any_folder();
    Refresh(map::RefreshArgs, cmd_refresh) ACTS.takes_any_folder();
    Watch(map::WatchArgs, cmd_watch) ACTS.takes_any_folder();
    Explain(map::ExplainArgs, cmd_explain) SHOWS.takes_any_folder();
    Events(events::EventsArgs, cmd_events) SHOWS;
    Server(server::ServerArgs, cmd_server) SHOWS.tolerates_repository();
    Up(service::UpArgs, cmd_up) ACTS.tolerates_repository();
    /// Stop what `nacre up` started
    ///
    /// Running work has a few seconds to finish and is then canceled; the next sync continues it.
    /// The systemd or launchd service, if any, is disabled.
    Down(service::NoArgs, cmd_down) ACTS.tolerates_repository();
    Logs(service::LogsArgs, cmd_logs) ACTS.tolerates_repository();
    Push(team::PushArgs, cmd_push) ACTS.uses_memory();
    Pull(team::PullArgs, cmd_pull) ACTS.uses_memory();
    Connect(connect::ConnectArgs, cmd_connect) SHOWS;
    Dashboard(service::DashboardArgs, cmd_dashboard) ACTS;
    Model(model::ModelArgs, cmd_model) SHOWS;
    Skill(skill::SkillArgs, cmd_skill) SHOWS;
    Project(project::ProjectArgs, cmd_project) SHOWS;
    Config(config::ConfigArgs, cmd_config) SHOWS;
    Complete(completions::CompleteArgs, cmd_complete) ACTS.tolerates_repository();
}

impl HostCommand {
    fn policy(&self) -> Policy {
        let policy = self.default_policy();
        if let Self::Sync(args) = self
            && args.dry_run
        {
            Policy { is_paged: true, registering: Registering::ForNow, ..policy }
        } else if let Self::Memory(command) = self {
            Policy { is_paged: command.only_reads(), ..policy }
        } else if let Self::Config(args) = self {
            policy.tolerates(args.tolerance())
        } else if let Self::Project(args) = self {
            policy.tolerates(args.tolerance())
        } else {
            policy
        }
    }
}

pub(crate) fn main() -> ExitCode {
    let args = env::args();
    // Processes that agents start are supervised by this same program.
    #[cfg(target_os = "linux")]
    if let Some(code) = nacre_ops::helper(&args) {
        return code;
    }
    // Scripts often ask for the version, so this skips the argument parser.
    if matches!(args.get(1).and_then(|arg| arg.to_str()), Some("--version" | "-V"))
        && args.len() == 2
    {
        return match writeln!(io::stdout(), "nacre {}", env!("NACRE_VERSION")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => Exit::FAILED.into(),
        };
    }
    // Hooks block the calling agent, so they must be fast and must not print errors.
    if let Some(words) = hook_words(&args) {
        return ExitCode::from(crate::hook::run(&words, env::read_for_hook()));
    }
    let is_json = args.iter().any(|arg| arg == "--json");
    let matches = help::command().try_get_matches_from(&args);
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(Cli { globals, command }) => {
            let environment = env::read();
            let mut ui = Ui::new(&environment, env::terminals(), &globals);
            let result = run(&mut ui, environment, globals, command);
            ui.finish(result)
        }
        Err(error) => end_with_usage(&error, &args, is_json),
    }
}

fn end_with_usage(error: &clap::Error, args: &[OsString], is_json: bool) -> ExitCode {
    let is_page = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || (is_page && !is_json) {
        let _ = error.print();
        return if is_page { Exit::USAGE } else { Exit::DONE }.into();
    }
    let globals = Globals { json: is_json, ..Globals::default() };
    let ui = Ui::new(&env::read(), env::terminals(), &globals);
    ui.finish(Err(usage::usage_error(error, args)))
}

/// Returns the arguments of `nacre hook`, or `None` if help is requested.
fn hook_words(args: &[OsString]) -> Option<Vec<String>> {
    let words: Vec<String> =
        args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let (first, rest) = words.split_first()?;
    let is_help = rest.iter().any(|word| word == "--help" || word == "-h");
    let is_person = is_help || (rest.len() < 2 && env::terminals().stdin);
    (first == "hook" && !is_person).then(|| rest.to_vec())
}

fn run(ui: &mut Ui, environment: Environment, globals: Globals, command: Command) -> CommandResult {
    match command {
        Command::Commands => help::cmd_commands(ui),
        Command::Completions(args) => completions::cmd_completions(ui, args),
        Command::Hook(args) => hook::cmd_hook(args),
        Command::Mcp => {
            nacre_server::mcp::serve(environment, globals.project)?;
            Ok(Exit::DONE)
        }
        Command::Serve(args) => service::cmd_serve(ui, environment, args),
        Command::Host(command) => {
            let policy = command.policy();
            if policy.is_paged && !globals.no_pager {
                ui.allow_pager(&environment);
            }
            let host = open(ui, environment, globals, policy)?;
            command.run(ui, &host)
        }
    }
}

fn open(ui: &mut Ui, environment: Environment, globals: Globals, policy: Policy) -> Result<Host> {
    let Policy { needs, tolerance, registering, .. } = policy;
    let color = globals.color.map(|color| ("ui.color".to_owned(), color.as_str().to_owned()));
    let options = OpenOptions {
        project: globals.project,
        flags: color.into_iter().collect(),
        tolerance,
        registering,
        needs,
        actor: environment.actor(),
        ..OpenOptions::default()
    };
    let Opened { host, warnings } = Host::open(environment, &options);
    if let Ok(host) = &host {
        ui.configure(host.settings().ui.color);
    }
    for warning in &warnings {
        ui.warning(&warning.message, warning.hint.as_deref());
    }
    host
}
