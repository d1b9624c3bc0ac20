//! `nacre server`: the team database, and access to the server.

use clap::builder::TypedValueParser;
use nacre_ops::server as ops;
use nacre_types::{
    AccessScope, AuditReport, AuditRequest, MoveStores, MovedStores, ProjectScope,
    ServerMigrateReport, ServerStatusReport, TokenAddReport, TokenAddRequest, TokenEntry,
    TokenListReport, TokenState,
};

use super::args::value_with_help;
use super::prelude::*;

/// Manage a team's servers: the shared database, access tokens and the audit log
///
/// Without a command, shows the state of the database and its queue.
///
/// `nacre serve` only listens on its own machine; other machines connect through a TLS proxy, see
/// docs/team.md. A team's servers share a PostgreSQL database (`nacre config set server.database
/// postgres://USER@HOST/NAME`), see docs/scale.md.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(subcommand)]
    command: Option<ServerCommand>,
}

#[derive(Debug, Subcommand)]
enum ServerCommand {
    /// Prepare the database for this version
    ///
    /// Applies the pending schema migrations in one transaction and lists them. Running it again
    /// changes nothing. Programs older than the schema refuse to use the database.
    Migrate {
        /// Also move this machine's queue into the database and index its memories there
        #[arg(long)]
        from_embedded: bool,
        /// Also move this machine's session state back from the database
        #[arg(long, conflicts_with = "from_embedded")]
        to_embedded: bool,
    },
    Token(TokenArgs),
    /// Show the audit log: time, user, request, project and outcome
    ///
    /// Entries are kept for 90 days and do not include contents. Your own reads are not listed, and
    /// your own changes are listed only if someone else has a token.
    Audit {
        /// Only requests by this user; `owner` for yourself
        name: Option<String>,
        /// Only since a date or age, such as 2026-01-31 or 7d
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
        /// Show at most this many; 0 for all [default: 50]
        #[arg(long, short = 'n', value_name = "N")]
        limit: Option<usize>,
    },
}

/// List, create or revoke access tokens
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
struct TokenArgs {
    #[command(subcommand)]
    command: Option<TokenCommand>,
    /// Only list this user's tokens
    name: Option<String>,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a token for a user; it is shown only once
    Add {
        /// The user's name, such as `ana` or `ana@example.org`
        name: String,
        /// The access that the token grants
        #[arg(long, default_value = "read", value_parser = scope_parser())]
        scope: AccessScope,
        /// Limit the token to this project, as PROJECT or PROJECT=SCOPE (can be repeated) [default:
        /// all projects]
        #[arg(long = "in", value_name = "PROJECT")]
        projects: Vec<String>,
        /// Expires after a duration (90d, 12h) or on a date such as 2027-01-31 [default: never]
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
    },
    /// Revoke a token immediately
    Revoke {
        /// The token's id as shown by `nacre server token`, or a prefix of it
        id: String,
    },
}

fn scope_parser() -> impl TypedValueParser<Value = AccessScope> {
    one_of([
        value_with_help("read", "Read memories and code"),
        value_with_help("write", "Also change memories"),
        value_with_help("admin", "Full access; without `--in`, also manage the server"),
    ])
}

pub(crate) fn cmd_server(ui: &mut Ui, host: &Host, args: ServerArgs) -> CommandResult {
    match args.command {
        None => ui.report(&ops::status(host)?, print_status),
        Some(ServerCommand::Migrate { from_embedded, to_embedded }) => {
            let r#move = from_embedded
                .then_some(MoveStores::FromEmbedded)
                .or(to_embedded.then_some(MoveStores::ToEmbedded));
            let report = ops::migrate(host, r#move, &ui.events())?;
            ui.report(&report, print_migrated)
        }
        Some(ServerCommand::Token(args)) => token(ui, host, args),
        Some(ServerCommand::Audit { name: person, since, limit }) => {
            let project = host.explicit_project().map(str::to_owned);
            let request = AuditRequest { person, project, since, limit };
            ui.report(&ops::audit(host, &request)?, print_audit)
        }
    }
}

fn print_status(ui: &mut Ui, report: &ServerStatusReport) {
    let ServerStatusReport { database, schema, needed_schema, sessions, server, next } = report;
    ui.line(format_args!("Database {}", database.state.as_str()));
    if let Some(detail) = &database.detail {
        ui.line(format_args!("  {}", ShownLine(detail)));
    }
    if let Some(schema) = schema {
        ui.line(format_args!("Database format {schema}, but this program needs {needed_schema}"));
    }
    let sessions: Vec<String> = sessions.iter().map(|(state, n)| format!("{n} {state}")).collect();
    if !sessions.is_empty() {
        ui.line(format_args!("Sessions {}", sessions.join(", ")));
    }
    ui.line(format_args!("The server id of this home is {server}"));
    if let Some(next) = next {
        ui.line(format_args!("Next: {next}"));
    }
}

fn print_migrated(ui: &mut Ui, report: &ServerMigrateReport) {
    let ServerMigrateReport { from, to, steps, moved, next } = report;
    if steps.is_empty() {
        ui.line(format_args!("The database is up to date (format {to})"));
    } else {
        let steps = steps.join(", ");
        ui.line(format_args!("Migrated the database from format {from} to {to}: {steps}"));
    }
    match moved {
        Some(MovedStores { direction: MoveStores::FromEmbedded, sessions, memories }) => {
            ui.line(format_args!(
                "Moved the queue into the database (sessions: {sessions}); its index has {memories} \
                 memories"
            ));
        }
        Some(MovedStores { direction: MoveStores::ToEmbedded, sessions, .. }) => {
            ui.line(format_args!("Moved the queue back to this machine (sessions: {sessions})"));
        }
        None => {}
    }
    ui.line(format_args!("Next: {next}"));
}

fn token(ui: &mut Ui, host: &Host, args: TokenArgs) -> CommandResult {
    match args.command {
        Some(TokenCommand::Add { name: person, scope, projects, expires }) => {
            let named = host.explicit_project().map(str::to_owned);
            let projects = projects.into_iter().chain(named);
            let projects = projects.map(|text| parse_project(&text)).collect::<Result<_, _>>()?;
            let request = TokenAddRequest { person, scope, projects, expires };
            ui.report(&ops::add_token(host, &request)?, |ui, TokenAddReport { token, entry }| {
                let TokenEntry { id, person, .. } = entry;
                ui.status(format!("Token {id} of {person}: {}", describe_access(entry)));
                ui.line(token);
                ui.hint(&format!("Revoke it: nacre server token revoke {id}"));
                ui.status("The token is shown only once; only its hash is stored.");
            })
        }
        None => {
            let report = ops::list_tokens(host, args.name.as_deref())?;
            ui.report(&report, print_tokens)
        }
        Some(TokenCommand::Revoke { id }) => {
            let report = ops::revoke_token(host, &id)?;
            ui.report(&report, |ui, report| {
                let TokenEntry { id, person, .. } = report;
                ui.status(format!("Revoked token {id} of {person}."));
            })
        }
    }
}

/// Parses `PROJECT` or `PROJECT=SCOPE`.
fn parse_project(text: &str) -> Result<ProjectScope> {
    let (project, scope) = text.split_once('=').map_or((text, None), |(a, b)| (a, Some(b)));
    let scope = scope.map(|scope| serde_json::from_value(scope.into()));
    let scope = scope.transpose().map_err(|_| {
        OpError::usage(format!("Missing scope in `{text}`"))
            .hint(format!("--in {project}=read, {project}=write or {project}=admin"))
    })?;
    Ok(ProjectScope { project: project.to_owned(), scope })
}

fn print_tokens(ui: &mut Ui, report: &TokenListReport) {
    let row = |token: &TokenEntry| {
        let role = if token.state == TokenState::Valid { Role::Good } else { Role::Faint };
        let until = token.expires.as_ref().map(|end| format!("until {end}")).unwrap_or_default();
        vec![
            id(&token.id),
            title(&token.person),
            cell(role, token.state.as_str()),
            title(describe_access(token)),
            faint(ui.when(&token.created)),
            faint(until),
        ]
    };
    let rows: Vec<Row> = report.tokens.iter().map(row).collect();
    if ui.table(rows) == 0 {
        ui.status("Nobody has a token.");
        ui.hint("Create one: nacre server token add NAME --scope read --in PROJECT");
    }
}

fn describe_access(token: &TokenEntry) -> String {
    let everywhere = token.everywhere.map(|scope| format!("{} everywhere", scope.as_str()));
    let single = token.projects.iter().map(|ProjectScope { project, scope }| {
        format!("{} in {project}", scope.map_or("read", AccessScope::as_str))
    });
    everywhere.into_iter().chain(single).collect::<Vec<_>>().join(", ")
}

fn print_audit(ui: &mut Ui, report: &AuditReport) {
    let rows = report.entries.iter().map(|entry| {
        let at = if ui.is_watched() { ui.when(&entry.at) } else { entry.at.clone() };
        let role = if entry.outcome == "ok" { Role::Good } else { Role::Bad };
        let project = id(entry.project.as_deref().unwrap_or("-"));
        let (who, what) = (title(&entry.who), title(&entry.what));
        vec![faint(at), who, what, project, cell(role, &entry.outcome)]
    });
    let rows: Vec<Row> = rows.collect();
    if ui.table(rows) == 0 {
        ui.status("No requests.");
        ui.hint("`nacre server token` lists who has access");
    }
}
