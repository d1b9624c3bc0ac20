//! The command line: arguments, commands, output and exit codes.
//!
//! The only room that prints, ends the process and reads the environment. One file a verb, with its
//! arguments, help and function; `run` holds one line an arm.

mod ask;
mod bench;
mod brief;
mod browser;
mod changes;
mod chat;
mod commands;
mod complete;
mod completions;
mod config;
mod connect;
mod context;
mod dashboard;
mod delta;
mod diff;
mod doctor;
mod down;
mod env;
mod eval;
mod events;
mod exit;
mod explain;
mod explore;
mod export;
mod extract;
mod feedback;
mod help;
mod hook;
mod import;
mod index;
mod init;
mod intake;
mod interrupt;
mod layout;
mod logs;
mod maintain;
mod map;
mod mcp;
mod memory;
mod model;
mod open;
mod pager;
mod paint;
mod progress;
mod project;
mod pull;
mod push;
mod queue;
mod reader;
mod reference;
mod refresh;
mod remote;
mod report;
mod retry;
mod review;
mod run;
mod runs;
mod runtime;
mod screen;
mod search_code;
mod serve;
mod server;
mod skill;
mod skip;
mod status;
mod strategy;
mod summarize;
mod sync;
mod trace;
mod traces;
mod trust;
mod ui;
mod undo;
mod up;
mod usage;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{FromArgMatches as _, Parser, Subcommand, ValueEnum};
use nacre_ops::host::{Environment, Needs, OpenOptions, Opened, Registering, Shared, Tolerance};
use nacre_ops::{Host, OpError};

use self::exit::Exit;
use self::ui::Ui;

/// A file-first memory for coding agents
#[derive(Debug, Parser)]
#[command(name = "nacre", version = env!("NACRE_VERSION"), disable_help_subcommand = false)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// Flags that every command takes.
#[derive(Clone, Debug, Default, clap::Args)]
struct Globals {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    json: bool,
    /// Work on this project, by name or path, not on the one around this folder
    #[arg(long, global = true, value_name = "PROJECT")]
    project: Option<String>,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN")]
    color: Option<When>,
    /// Print long output without a pager
    #[arg(long, global = true)]
    no_pager: bool,
    /// Print results and errors only
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Do it in this process, also where `nacre serve` runs
    #[arg(long, global = true)]
    local: bool,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Alone(AloneCommand),
    #[command(flatten)]
    Here(HereCommand),
    #[command(flatten)]
    Serve(ServeCommand),
}

/// Commands that need no settings and no store: they work whatever state those are in.
#[derive(Debug, Subcommand)]
enum AloneCommand {
    Commands(commands::CommandsArgs),
    Completions(completions::CompletionsArgs),
    Hook(hook::HookArgs),
    Reference(reference::ReferenceArgs),
}

/// Commands that wait for requests: each request opens what it needs.
#[derive(Debug, Subcommand)]
enum ServeCommand {
    Mcp(mcp::McpArgs),
    Serve(serve::ServeArgs),
}

/// Commands that work with the settings and stores of the place they are run in.
#[derive(Debug, Subcommand)]
enum HereCommand {
    Init(init::InitArgs),
    Status(status::StatusArgs),
    Doctor(doctor::DoctorArgs),
    Memory(memory::MemoryArgs),
    Open(open::OpenArgs),
    Ask(ask::AskArgs),
    Chat(chat::ChatArgs),
    Brief(brief::BriefArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Review(review::ReviewArgs),
    Index(index::IndexArgs),
    Trace(trace::TraceArgs),
    Sync(sync::SyncArgs),
    Maintain(maintain::MaintainArgs),
    Report(report::ReportArgs),
    Extract(extract::ExtractArgs),
    Summarize(summarize::SummarizeArgs),
    Run(run::RunArgs),
    Runs(runs::RunsArgs),
    Undo(undo::UndoArgs),
    Feedback(feedback::FeedbackArgs),
    Trust(trust::TrustArgs),
    Queue(queue::QueueArgs),
    Retry(retry::RetryArgs),
    Skip(skip::SkipArgs),
    Explore(explore::ExploreArgs),
    Context(context::ContextArgs),
    SearchCode(search_code::SearchCodeArgs),
    Delta(delta::DeltaArgs),
    Refresh(refresh::RefreshArgs),
    Watch(watch::WatchArgs),
    Explain(explain::ExplainArgs),
    Events(events::EventsArgs),
    Server(server::ServerArgs),
    Up(up::UpArgs),
    Down(down::DownArgs),
    Logs(logs::LogsArgs),
    Push(push::PushArgs),
    Pull(pull::PullArgs),
    Connect(connect::ConnectArgs),
    Dashboard(dashboard::DashboardArgs),
    Model(model::ModelArgs),
    Skill(skill::SkillArgs),
    Project(project::ProjectArgs),
    Config(config::ConfigArgs),
    Complete(complete::CompleteArgs),
    Eval(eval::EvalArgs),
    Bench(bench::BenchArgs),
}

impl HereCommand {
    /// What a folder that is named with `--project` must be.
    fn needs(&self) -> Needs {
        // They make a project of it, or map the code of any folder.
        let takes_any = matches!(
            self,
            Self::Init(_)
                | Self::Chat(_)
                | Self::Explore(_)
                | Self::Context(_)
                | Self::SearchCode(_)
                | Self::Delta(_)
                | Self::Refresh(_)
                | Self::Watch(_)
                | Self::Explain(_)
                | Self::Bench(_)
        );
        if takes_any { Needs::Folder } else { Needs::Project }
    }

    /// Whether it only shows something, so that long output may go through a pager.
    fn is_paged(&self) -> bool {
        match self {
            Self::Sync(args) => args.is_preview(),
            Self::Memory(args) => args.only_reads(),
            Self::Brief(_)
            | Self::Context(_)
            | Self::Delta(_)
            | Self::SearchCode(_)
            | Self::Doctor(_)
            | Self::Events(_)
            | Self::Explain(_)
            | Self::Explore(_)
            | Self::Export(_)
            | Self::Config(_)
            | Self::Connect(_)
            | Self::Model(_)
            | Self::Project(_)
            | Self::Queue(_)
            | Self::Report(_)
            | Self::Review(_)
            | Self::Runs(_)
            | Self::Server(_)
            | Self::Skill(_)
            | Self::Status(_)
            | Self::Trace(_)
            | Self::Trust(_) => true,
            Self::Ask(_)
            | Self::Bench(_)
            | Self::Chat(_)
            | Self::Complete(_)
            | Self::Dashboard(_)
            | Self::Down(_)
            | Self::Eval(_)
            | Self::Extract(_)
            | Self::Feedback(_)
            | Self::Import(_)
            | Self::Index(_)
            | Self::Init(_)
            | Self::Logs(_)
            | Self::Maintain(_)
            | Self::Open(_)
            | Self::Push(_)
            | Self::Pull(_)
            | Self::Refresh(_)
            | Self::Retry(_)
            | Self::Run(_)
            | Self::Skip(_)
            | Self::Summarize(_)
            | Self::Undo(_)
            | Self::Up(_)
            | Self::Watch(_) => false,
        }
    }

    fn tolerance(&self) -> Tolerance {
        match self {
            Self::Config(args) => args.tolerance(),
            Self::Project(args) => args.tolerance(),
            Self::Status(_)
            | Self::Doctor(_)
            | Self::Complete(_)
            | Self::Up(_)
            | Self::Down(_)
            | Self::Logs(_)
            | Self::Server(_) => Tolerance::OfRepository,
            Self::Init(_)
            | Self::Memory(_)
            | Self::Open(_)
            | Self::Ask(_)
            | Self::Chat(_)
            | Self::Brief(_)
            | Self::Export(_)
            | Self::Import(_)
            | Self::Review(_)
            | Self::Index(_)
            | Self::Eval(_)
            | Self::Bench(_)
            | Self::Explore(_)
            | Self::Context(_)
            | Self::SearchCode(_)
            | Self::Trace(_)
            | Self::Sync(_)
            | Self::Maintain(_)
            | Self::Report(_)
            | Self::Extract(_)
            | Self::Summarize(_)
            | Self::Run(_)
            | Self::Runs(_)
            | Self::Undo(_)
            | Self::Feedback(_)
            | Self::Trust(_)
            | Self::Queue(_)
            | Self::Retry(_)
            | Self::Skip(_)
            | Self::Delta(_)
            | Self::Refresh(_)
            | Self::Watch(_)
            | Self::Explain(_)
            | Self::Events(_)
            | Self::Push(_)
            | Self::Pull(_)
            | Self::Skill(_)
            | Self::Connect(_)
            | Self::Dashboard(_)
            | Self::Model(_) => Tolerance::None,
        }
    }

    /// Whether running the command is using the memory of the project around, and so registers it.
    fn registering(&self) -> Registering {
        let is_use = matches!(
            self,
            Self::Sync(_)
                | Self::Memory(_)
                | Self::Ask(_)
                | Self::Chat(_)
                | Self::Brief(_)
                | Self::Import(_)
                | Self::Push(_)
                | Self::Pull(_)
                | Self::Review(_)
                | Self::Trust(_)
                | Self::Feedback(_)
        );
        let is_dry_run = matches!(self, Self::Sync(args) if args.is_preview());
        match (is_use, is_dry_run) {
            (false, _) => Registering::No,
            (true, true) => Registering::ForNow,
            (true, false) => Registering::Yes,
        }
    }
}

/// Runs the command that the process was started with.
pub(crate) fn main() -> ExitCode {
    let args = env::args();
    // The same binary watches over the programs that agents start, and becomes them.
    #[cfg(target_os = "linux")]
    if let Some(code) = nacre_ops::helper(&args) {
        return code;
    }
    // The one question that scripts ask in a loop needs no parser.
    if matches!(args.get(1).and_then(|arg| arg.to_str()), Some("--version" | "-V"))
        && args.len() == 2
    {
        return ui::print_version();
    }
    // An agent waits for it, and must never be shown an error.
    if let Some(words) = hook_words(&args) {
        return ExitCode::from(crate::hook::run(&words, env::read_for_hook()));
    }
    let is_json = args.iter().any(|arg| arg == "--json");
    match parse(args.clone()) {
        Ok(cli) => dispatch(&cli),
        Err(error) => end_with_usage(&error, &args, is_json),
    }
}

/// Prints the help that was asked for, or what was wrong with the arguments.
fn end_with_usage(error: &clap::Error, args: &[OsString], is_json: bool) -> ExitCode {
    let is_page = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || (is_page && !is_json) {
        let _ = error.print();
        return ExitCode::from(if is_page { Exit::Usage } else { Exit::Done } as u8);
    }
    let globals = Globals { json: is_json, ..Globals::default() };
    let ui = Ui::new(&env::read(), env::terminals(), &globals);
    ui.finish(Err(usage::usage_error(error, args)))
}

/// What follows `nacre hook`, unless a person asks how to use it.
fn hook_words(args: &[OsString]) -> Option<Vec<String>> {
    let words: Vec<String> =
        args.iter().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let (first, rest) = words.split_first()?;
    let is_help = rest.iter().any(|word| word == "--help" || word == "-h");
    let is_persons = is_help || (rest.len() < 2 && env::terminals().stdin);
    (first == "hook" && !is_persons).then(|| rest.to_vec())
}

fn parse(args: Vec<OsString>) -> Result<Cli, clap::Error> {
    let matches = help::command().try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

fn dispatch(cli: &Cli) -> ExitCode {
    let environment = env::read();
    let mut ui = Ui::new(&environment, env::terminals(), &cli.globals);
    let result = run(&mut ui, environment, cli);
    ui.finish(result)
}

fn run(ui: &mut Ui, environment: Environment, cli: &Cli) -> Result<Exit, OpError> {
    match &cli.command {
        Command::Alone(command) => run_alone(ui, command),
        Command::Here(command) => {
            if command.is_paged() && !cli.globals.no_pager {
                ui.allow_pager(&environment);
            }
            let host = open(ui, environment, &cli.globals, command)?;
            run_here(ui, &host, command)
        }
        Command::Serve(command) => run_serve(ui, environment, &cli.globals, command),
    }
}

/// Opens what commands work with, and tells what a person should know about it.
fn open(
    ui: &mut Ui,
    environment: Environment,
    globals: &Globals,
    command: &HereCommand,
) -> Result<Host, OpError> {
    let options = OpenOptions {
        project: globals.project.clone(),
        flags: flags(globals),
        tolerance: command.tolerance(),
        registering: command.registering(),
        needs: command.needs(),
        shared: Shared::default(),
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

/// Flags that set a key of the configuration.
fn flags(globals: &Globals) -> Vec<(String, String)> {
    let color = globals.color.map(|when| match when {
        When::Auto => "auto",
        When::Always => "always",
        When::Never => "never",
    });
    color.map(|color| ("ui.color".to_owned(), color.to_owned())).into_iter().collect()
}

fn run_alone(ui: &mut Ui, command: &AloneCommand) -> Result<Exit, OpError> {
    match command {
        AloneCommand::Commands(args) => commands::cmd_commands(ui, args),
        AloneCommand::Completions(args) => completions::cmd_completions(ui, args),
        AloneCommand::Hook(args) => hook::cmd_hook(args),
        AloneCommand::Reference(args) => reference::cmd_reference(ui, args),
    }
}

fn run_serve(
    ui: &mut Ui,
    environment: Environment,
    globals: &Globals,
    command: &ServeCommand,
) -> Result<Exit, OpError> {
    match command {
        ServeCommand::Mcp(args) => mcp::cmd_mcp(environment, globals.project.as_deref(), args),
        ServeCommand::Serve(args) => serve::cmd_serve(ui, environment, args),
    }
}

fn run_here(ui: &mut Ui, host: &Host, command: &HereCommand) -> Result<Exit, OpError> {
    match command {
        HereCommand::Init(args) => init::cmd_init(ui, host, args),
        HereCommand::Status(args) => status::cmd_status(ui, host, args),
        HereCommand::Doctor(args) => doctor::cmd_doctor(ui, host, args),
        HereCommand::Memory(args) => memory::cmd_memory(ui, host, args),
        HereCommand::Open(args) => open::cmd_open(ui, host, args),
        HereCommand::Ask(args) => ask::cmd_ask(ui, host, args),
        HereCommand::Chat(args) => chat::cmd_chat(ui, host, args),
        HereCommand::Brief(args) => brief::cmd_brief(ui, host, args),
        HereCommand::Export(args) => export::cmd_export(ui, host, args),
        HereCommand::Import(args) => import::cmd_import(ui, host, args),
        HereCommand::Review(args) => review::cmd_review(ui, host, args),
        HereCommand::Index(args) => index::cmd_index(ui, host, args),
        HereCommand::Trace(args) => trace::cmd_trace(ui, host, args),
        HereCommand::Sync(args) => sync::cmd_sync(ui, host, args),
        HereCommand::Maintain(args) => maintain::cmd_maintain(ui, host, args),
        HereCommand::Report(args) => report::cmd_report(ui, host, args),
        HereCommand::Extract(args) => extract::cmd_extract(ui, host, args),
        HereCommand::Summarize(args) => summarize::cmd_summarize(ui, host, args),
        HereCommand::Run(args) => run::cmd_run(ui, host, args),
        HereCommand::Runs(args) => runs::cmd_runs(ui, host, args),
        HereCommand::Undo(args) => undo::cmd_undo(ui, host, args),
        HereCommand::Feedback(args) => feedback::cmd_feedback(ui, host, args),
        HereCommand::Trust(args) => trust::cmd_trust(ui, host, args),
        HereCommand::Queue(args) => queue::cmd_queue(ui, host, args),
        HereCommand::Retry(args) => retry::cmd_retry(ui, host, args),
        HereCommand::Skip(args) => skip::cmd_skip(ui, host, args),
        HereCommand::Explore(args) => explore::cmd_explore(ui, host, args),
        HereCommand::Context(args) => context::cmd_context(ui, host, args),
        HereCommand::SearchCode(args) => search_code::cmd_search_code(ui, host, args),
        HereCommand::Delta(args) => delta::cmd_delta(ui, host, args),
        HereCommand::Refresh(args) => refresh::cmd_refresh(ui, host, args),
        HereCommand::Watch(args) => watch::cmd_watch(ui, host, args),
        HereCommand::Explain(args) => explain::cmd_explain(ui, host, args),
        HereCommand::Events(args) => events::cmd_events(ui, host, args),
        HereCommand::Server(args) => server::cmd_server(ui, host, args),
        HereCommand::Up(args) => up::cmd_up(ui, host, args),
        HereCommand::Down(args) => down::cmd_down(ui, host, args),
        HereCommand::Logs(args) => logs::cmd_logs(ui, host, args),
        HereCommand::Push(args) => push::cmd_push(ui, host, args),
        HereCommand::Pull(args) => pull::cmd_pull(ui, host, args),
        HereCommand::Connect(args) => connect::cmd_connect(ui, host, args),
        HereCommand::Dashboard(args) => dashboard::cmd_dashboard(ui, host, args),
        HereCommand::Model(args) => model::cmd_model(ui, host, args),
        HereCommand::Skill(args) => skill::cmd_skill(ui, host, args),
        HereCommand::Project(args) => project::cmd_project(ui, host, args),
        HereCommand::Complete(args) => complete::cmd_complete(ui, host, args),
        HereCommand::Config(args) => config::cmd_config(ui, host, args),
        HereCommand::Eval(args) => eval::cmd_eval(ui, host, args),
        HereCommand::Bench(args) => bench::cmd_bench(ui, host, args),
    }
}
