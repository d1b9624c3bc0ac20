//! Prints one session's memory candidates or summary as JSON, without writing memories.

use clap::Args;
use nacre_base::config::StrategyChoice;
use nacre_ops::host::{ask_rules, find_trace};
use nacre_ops::sync::SessionModels;
use nacre_ops::sync::extract::Rules;
use nacre_ops::sync::strategy::{SessionRead, read_session};
use nacre_ops::{Cancel, OpError};

use crate::{Outcome, host, output};

/// Print the memory candidates from one session, and the dropped candidates with reasons
#[derive(Debug, Args)]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    session: SessionArgs,
}

/// Print a summary of one session
#[derive(Debug, Args)]
pub(crate) struct SummarizeArgs {
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// A trace from any agent, or the ID of a known session
    trace: String,
    /// Extraction strategy, such as `offline`
    #[arg(long)]
    strategy: Option<StrategyChoice>,
}

pub(crate) fn extract(args: &ExtractArgs) -> Outcome {
    output::json(&read(&args.session).map_err(host::format_error)?.extraction)?;
    Ok(true)
}

pub(crate) fn summarize(args: &SummarizeArgs) -> Outcome {
    output::json(&read(&args.session).map_err(host::format_error)?.summary)?;
    Ok(true)
}

fn read(args: &SessionArgs) -> Result<SessionRead, OpError> {
    let host = host::open()?;
    let reading = SessionModels::open(&host, args.strategy, &Cancel::new())?;
    let trace = find_trace(&host, &args.trace)?;
    let rules = ask_rules(host.settings());
    let asker = reading.asker(&host, &rules, &trace)?;
    let (reader, asker) = (reading.reader(&rules), asker.as_ref());
    read_session(&trace, &rules.words, Rules::default(), reader, asker)
}
