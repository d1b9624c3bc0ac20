//! `nacre server token`

use clap::{Args, Subcommand, ValueEnum};
use nacre_api::wire::{
    AccessScope, ProjectScope, TokenAddReport, TokenAddRequest, TokenEntry, TokenListReport,
    TokenListRequest, TokenRevokeRequest, TokenState,
};
use nacre_ops::{Host, OpError, server as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Row, Ui};

/// Give people tokens, list them and end them
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Give a person a token; it is shown once
    Add(AddArgs),
    /// List the tokens of all people
    List(ListArgs),
    /// End a token at once
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
struct AddArgs {
    /// Whose it is, such as `ana` or `ana@example.org`
    name: String,
    /// What they may do
    #[arg(long, value_enum, default_value = "read")]
    scope: ScopeName,
    /// Only in this project, as PROJECT or PROJECT=SCOPE; may be repeated [default: in all projects]
    #[arg(long = "in", value_name = "PROJECT")]
    projects: Vec<String>,
    /// When it ends: after 90d or 12h, or on a day such as 2027-01-31 [default: when it is revoked]
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only those of this person
    name: Option<String>,
}

#[derive(Debug, Args)]
struct RevokeArgs {
    /// The start of the token's id, as `list` shows it
    id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScopeName {
    /// Read memories and code
    Read,
    /// Change memories, too
    Write,
    /// Everything; without `--in`, also the server itself
    Admin,
}

impl From<ScopeName> for AccessScope {
    fn from(name: ScopeName) -> Self {
        match name {
            ScopeName::Read => Self::Read,
            ScopeName::Write => Self::Write,
            ScopeName::Admin => Self::Admin,
        }
    }
}

pub(super) fn cmd_token(ui: &mut Ui, host: &Host, args: &TokenArgs) -> Result<Exit, OpError> {
    match &args.command {
        TokenCommand::Add(args) => add(ui, host, args),
        TokenCommand::List(ListArgs { name }) => {
            let report = ops::token_list(host, &TokenListRequest { person: name.clone() })?;
            ui.report(&report, print_list)
        }
        TokenCommand::Revoke(RevokeArgs { id }) => {
            let report = ops::token_revoke(host, &TokenRevokeRequest { id: id.clone() })?;
            ui.report(&report, |ui, report| {
                let TokenEntry { id, person, .. } = &report.entry;
                ui.status(format!("Token {id} of {person} no longer lets anybody in."))
            })
        }
    }
}

fn add(ui: &mut Ui, host: &Host, args: &AddArgs) -> Result<Exit, OpError> {
    let AddArgs { name, scope, projects, expires } = args;
    let named = host.named_project().map(str::to_owned);
    let projects = projects.iter().cloned().chain(named);
    let request = TokenAddRequest {
        person: name.clone(),
        scope: (*scope).into(),
        projects: projects.map(|text| project(&text)).collect::<Result<_, _>>()?,
        expires: expires.clone(),
    };
    ui.report(&ops::token_add(host, &request)?, |ui, TokenAddReport { token, entry }| {
        ui.status(format!("Token {} of {}: {}", entry.id, entry.person, allowed(entry)))?;
        ui.line(token)?;
        ui.hint(&format!("End it: nacre server token revoke {}", entry.id));
        ui.status("It is shown this once. Only its hash is kept.")
    })
}

/// `PROJECT` or `PROJECT=SCOPE`.
fn project(text: &str) -> Result<ProjectScope, OpError> {
    let (project, scope) = text.split_once('=').map_or((text, None), |(a, b)| (a, Some(b)));
    let scope = scope.map(|scope| ScopeName::from_str(scope, false).map(Into::into));
    let scope = scope.transpose().map_err(|_| {
        OpError::usage(format!("`{text}` does not end with a scope"))
            .hint(format!("--in {project}=read, {project}=write or {project}=admin"))
    })?;
    Ok(ProjectScope { project: project.to_owned(), scope })
}

fn print_list(ui: &mut Ui, report: &TokenListReport) -> Result<(), OpError> {
    let rows: Vec<Row> = report.tokens.iter().map(|token| row(ui, token)).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("Nobody has a token.")?;
        ui.hint("Give somebody one: nacre server token add NAME --scope read --in PROJECT");
    }
    Ok(())
}

fn row(ui: &Ui, token: &TokenEntry) -> Row {
    let TokenEntry { id, person, created, expires, state, .. } = token;
    let role = if *state == TokenState::Valid { Role::Good } else { Role::Faint };
    let until = expires.as_deref().map(|end| format!("until {end}")).unwrap_or_default();
    let (id, person) = ((Role::Id, id.clone()), (Role::Title, person.clone()));
    let (state, allowed) = ((role, state.as_str().to_owned()), (Role::Title, allowed(token)));
    vec![id, person, state, allowed, (Role::Faint, ui.when(created)), (Role::Faint, until)]
}

fn allowed(token: &TokenEntry) -> String {
    let everywhere = token.everywhere.map(|scope| format!("{} everywhere", scope.as_str()));
    let single = token.projects.iter().map(|ProjectScope { project, scope }| {
        format!("{} in {project}", scope.map_or("read", AccessScope::as_str))
    });
    everywhere.into_iter().chain(single).collect::<Vec<_>>().join(", ")
}
