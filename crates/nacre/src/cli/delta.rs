//! `nacre delta`

use clap::Args;

use super::exit::Exit;
use super::map::{ClientArgs, DeltaOutput, Map, MapArgs, PageArgs, Since};
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Tell which files and symbols changed, and who is affected
///
/// Since a revision that an earlier answer named, since a commit (with what is not committed), or since what a client
/// has seen. Asking takes nothing away: anybody can ask again.
#[derive(Debug, Args)]
pub(crate) struct DeltaArgs {
    #[command(flatten)]
    map: MapArgs,
    #[command(flatten)]
    question: DeltaQuestion,
}

/// What is asked of a map that is open.
#[derive(Debug, Args)]
pub(crate) struct DeltaQuestion {
    #[command(flatten)]
    client: ClientArgs,
    /// Since when: a revision, git:REF, client:NAME, or 0 for everything [default: git:HEAD, or where there is no
    /// commit, since the map was first made]
    #[arg(long, value_name = "SINCE")]
    since: Option<Since>,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn cmd_delta(ui: &mut Ui, host: &Host, args: &DeltaArgs) -> Result<Exit, OpError> {
    let DeltaArgs { map: map_args, question } = args;
    let map = Map::open(ui, host, map_args, "delta")?;
    let output = answered(ui, &map, question)?;
    if ui.is_json() {
        ui.json(&map.envelope("delta", Some(output), None::<()>))?;
    } else {
        output.print(ui)?;
        ui.status(format!("Revision {}", map.revision()))?;
    }
    Ok(Exit::Done)
}

/// The answer to a question; who asks has seen it.
pub(crate) fn answered(
    ui: &mut Ui,
    map: &Map,
    question: &DeltaQuestion,
) -> Result<DeltaOutput, OpError> {
    let DeltaQuestion { client, since, page } = question;
    let (since, delta) = match since {
        Some(since) => (since.clone(), map.delta(since)?),
        None => map.delta_by_default()?,
    };
    let affected = map.affected(&delta);
    let output = DeltaOutput::new(&since, delta, affected, page);
    let seen_by = match &since {
        Since::Client(name) => Some(name),
        Since::Beginning | Since::Revision(_) | Since::Git(_) => client.client.as_ref(),
    };
    // A client has seen what changed when it was given the last page.
    if let Some(client) = seen_by.filter(|_| output.is_last()) {
        map.seen_by(ui, client)?;
    }
    Ok(output)
}
