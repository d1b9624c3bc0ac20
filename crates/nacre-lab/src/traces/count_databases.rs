//! Counts the messages that the Cursor and OpenCode adapters find, for comparison with counts made
//! from the raw files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use nacre_traces::agents::ADAPTERS;
use nacre_traces::transcript::Sink;
use nacre_traces::transcript::{EventKind, TranscriptEvent};

use crate::Outcome;

/// Count the messages that the Cursor and OpenCode adapters find; prints one line per session
#[derive(Debug, clap::Args)]
pub(crate) struct CountDatabasesArgs {
    agent: String,
    #[arg(required = true)]
    roots: Vec<PathBuf>,
}

pub(super) fn run(args: &CountDatabasesArgs) -> Outcome {
    let CountDatabasesArgs { agent, roots } = args;
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == agent).unwrap();
    let discovery = adapter.discover(roots);
    for problem in &discovery.problems {
        println!("# problem {problem:?}");
    }
    for source in discovery.sources {
        let traces = match adapter.sessions(&source) {
            Ok(traces) => traces,
            Err(error) => {
                println!("# error {}: {error:?}", source.path.display());
                continue;
            }
        };
        for trace in traces {
            let mut users = BTreeSet::new();
            let mut n = [0_u64; 4];
            let mut count = |event: TranscriptEvent| match event.kind {
                EventKind::User => {
                    users.insert(event.key);
                }
                EventKind::Assistant => n[0] += 1,
                EventKind::ToolCall => n[1] += 1,
                EventKind::ToolResult => n[2] += 1,
                EventKind::Reasoning => n[3] += 1,
                EventKind::Summary | EventKind::Compaction | EventKind::Meta => {}
            };
            let outcome = adapter.read(&trace, None, Sink::everything(&mut count));
            match outcome {
                Ok(outcome) => println!(
                    "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                    source.path.display(),
                    outcome.facts.id,
                    users.len(),
                    n[0],
                    n[1],
                    n[2],
                    n[3],
                    outcome.facts.cwd.unwrap_or_default()
                ),
                Err(error) => println!("# error {trace:?}: {error:?}"),
            }
        }
    }
    Ok(true)
}
