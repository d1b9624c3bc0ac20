//! `nacre memory add`

use std::io::Read as _;

use nacre_ops::memory as ops;
use nacre_types::{
    LearningKind, MemoryAddRequest, MemoryChangeReport, MemoryRecordReport, MemoryRecordRequest,
    MemoryType,
};

use crate::cli::prelude::*;
use crate::cli::render::print_change;

const MAX_BODY_BYTES: u64 = 1 << 20;

/// Add a decision or a learning
///
/// Secrets are redacted before the text is stored. The id is derived from the date and title, and
/// never changes. Examples:
///
///   nacre memory add "Use SQLite for the queue" --body "One file, no server." --tag storage
///   nacre memory add --type learning --kind pitfall "Tests need TZ=UTC"
///   git log -1 --format=%b | nacre memory add "Why the cache is gone" --body -
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AddArgs {
    /// The decision or learning, in one line
    title: String,
    /// The reason and the details, as Markdown; `-` reads standard input
    #[arg(long, short, default_value = "", hide_default_value = true)]
    body: String,
    /// The type of memory
    #[arg(long, short = 't', default_value = "decision", value_parser = one_of::<MemoryType>(["decision", "learning"]))]
    r#type: MemoryType,
    /// The kind of learning
    #[arg(long, value_name = "KIND", value_parser = one_of::<LearningKind>(LearningKind::NAMES))]
    kind: Option<LearningKind>,
    /// A tag (can be repeated)
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A situation in which agents need this memory, such as "drop a column" (can be repeated)
    #[arg(long, value_name = "SITUATION")]
    applies: Vec<String>,
    /// The id of a related memory (can be repeated)
    #[arg(long, value_name = "ID")]
    related: Vec<String>,
    /// The id of the memory that this one supersedes
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
    /// For agents: a verbatim quote from the session, as evidence
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["related", "confidence"])]
    quote: Option<String>,
    /// Your confidence in the memory, from 0 to 1
    #[arg(long, value_name = "NUMBER", default_value_t = ops::DEFAULT_CONFIDENCE)]
    confidence: f64,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_add(ui: &mut Ui, host: &Host, args: AddArgs) -> CommandResult {
    let AddArgs { title, r#type, kind, tags, applies, related, supersedes, confidence, .. } = args;
    let (r#type, scope) = (Some(r#type), args.scope.mode());
    let body = match args.body.as_str() {
        "-" => std::io::read_to_string(std::io::stdin().take(MAX_BODY_BYTES))?,
        _ => args.body,
    };
    if let Some(quote) = args.quote {
        let request = MemoryRecordRequest {
            title,
            body,
            r#type,
            kind,
            tags,
            applies,
            supersedes,
            quote,
            session: None,
            scope,
        };
        let report = ops::record(host, &request, "shell", &ui.events())?;
        return ui.report(&report, print_recorded);
    }
    let request = MemoryAddRequest {
        title,
        body,
        r#type,
        kind,
        tags,
        applies,
        related,
        supersedes,
        confidence: Some(confidence),
        scope,
    };
    let report = ops::add(host, &request, &ui.events())?;
    ui.report(&report, print_change)
}

fn print_recorded(ui: &mut Ui, report: &MemoryRecordReport) {
    let MemoryRecordReport { done, id, path, change, .. } = report.clone();
    print_change(ui, &MemoryChangeReport { done, id, path, change });
    if report.status.as_deref() == Some("candidate") {
        ui.status("Pending review until the user accepts it.");
    }
}
