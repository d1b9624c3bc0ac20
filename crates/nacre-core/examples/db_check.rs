//! Counts the messages that the Cursor and OpenCode adapters find, one session a line, for
//! comparison with counts made from the raw files.
//!
//! Usage: `db_check <agent> <root>...`; columns: file, session, user records, assistant texts,
//! tool calls, tool results, reasoning, folder.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a tool for developers"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use nacre_core::transcript::event::{Event, EventKind};
use nacre_core::transcript::{ADAPTERS, Sink};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent().as_str() == args[0]).unwrap();
    let roots: Vec<PathBuf> = args[1..].iter().map(PathBuf::from).collect();
    let discovery = adapter.discover(&roots);
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
            let mut count = |event: Event| match event.kind {
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
}
