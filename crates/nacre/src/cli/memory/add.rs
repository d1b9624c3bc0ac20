//! `nacre memory add`

use std::fs::File;
use std::io::{Read, stdin};

use nacre_ops::memory as ops;
use nacre_types::{
    LearningKind, MemoryAddLinesReport, MemoryAddRequest, MemoryChangeReport, MemoryRecordReport,
    MemoryRecordRequest, MemoryType, SkippedLine,
};

use crate::cli::prelude::*;
use crate::cli::render::{memories_text, print_change, print_undo};

const MAX_BODY_BYTES: u64 = 1 << 20;

/// Add a decision or a learning
///
/// Secrets are redacted before the text is stored. The id is derived from the date and title, and
/// never changes. Examples:
///
///   nacre memory add "Use SQLite for the queue" --body "One file, no server." --tag storage
///   nacre memory add --type learning --kind pitfall "Tests need TZ=UTC"
///   git log -1 --format=%b | nacre memory add "Why the cache is gone" --body -
///   nacre memory add --from memories.jsonl
///
/// With --from, each line is a JSON object with the fields title, body, type, kind, tags, applies,
/// related, supersedes and confidence; only title is required. All lines are one change. Lines that
/// are malformed, contain a secret or repeat a memory word for word are skipped and listed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AddArgs {
    /// The decision or learning, in one line
    #[arg(required_unless_present = "from")]
    title: Option<String>,
    /// Add a memory for each line of this file; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["title", "body", "type", "kind"])]
    #[arg(conflicts_with_all = ["tags", "applies", "related", "supersedes", "quote", "confidence"])]
    from: Option<String>,
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
    if let Some(from) = &args.from {
        let text = read_lines(host, from)?;
        let report = ops::add_lines(host, &text, args.scope.mode(), &ui.events())?;
        return ui.report(&report, print_added);
    }
    let AddArgs { title, r#type, kind, tags, applies, related, supersedes, confidence, .. } = args;
    let (title, r#type, scope) = (title.unwrap_or_default(), Some(r#type), args.scope.mode());
    let body = match args.body.as_str() {
        "-" => std::io::read_to_string(stdin().take(MAX_BODY_BYTES))?,
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

fn read_lines(host: &Host, from: &str) -> Result<Vec<u8>> {
    let input: Box<dyn Read> = if from == "-" {
        Box::new(stdin())
    } else {
        let path = host.environment.folder.join(from);
        let file = File::open(&path).map_err(|error| {
            OpError::not_found(format!("Could not open `{}`", path.display()))
                .because(error)
                .hint("Specify a file with a JSON object on each line: {\"title\": \"Use SQLite\"}")
        })?;
        Box::new(file)
    };
    let mut text = Vec::new();
    // One byte more than allowed, so that the operation notices longer input.
    input.take(ops::MAX_LINES_BYTES as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn print_added(ui: &mut Ui, report: &MemoryAddLinesReport) {
    ui.status(format!("Added {}", memories_text(report.ids.len())));
    print_undo(ui, report.change.as_deref());
    for SkippedLine { line, failure } in &report.skipped {
        ui.warning(format!("Line {line} was skipped: {}", failure.message), None);
    }
}

fn print_recorded(ui: &mut Ui, report: &MemoryRecordReport) {
    let MemoryRecordReport { done, id, path, change, .. } = report.clone();
    print_change(ui, &MemoryChangeReport { done, id, path, change });
    if report.status.as_deref() == Some("candidate") {
        ui.status("Pending review until the user accepts it.");
    }
}
