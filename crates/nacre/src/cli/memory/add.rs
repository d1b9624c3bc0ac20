//! `nacre memory add`

use std::io::Read as _;

use clap::{Args, ValueEnum};
use nacre_api::wire::{LearningKind, MemoryAddRequest, MemoryRecordRequest, MemoryType};
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::output::print_change;
use super::{ScopeArg, print_recorded};

const MAX_BODY_BYTES: u64 = 1 << 20;

/// Add a decision or a learning
///
/// The text is redacted before it is stored. The id is made from the day and the title and stays
/// for life. Examples:
///
///   nacre memory add "Use SQLite for the queue" --body "One file, no server." --tag storage
///   nacre memory add --type learning --kind pitfall "Tests need TZ=UTC"
///   git log -1 --format=%b | nacre memory add "Why the cache is gone" --body -
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AddArgs {
    /// What was decided or learned, in one line
    title: String,
    /// The reason and the details, as Markdown; `-` reads standard input
    #[arg(long, short, default_value = "", hide_default_value = true)]
    body: String,
    /// What it is
    #[arg(long, short = 't', value_enum, default_value_t = ClaimName::Decision)]
    r#type: ClaimName,
    /// What kind of learning it is
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<KindName>,
    /// A tag (can be repeated)
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A situation in which an agent should be told it, such as "drop a column" (can be repeated)
    #[arg(long, value_name = "SITUATION")]
    applies: Vec<String>,
    /// The id of a related memory (can be repeated)
    #[arg(long, value_name = "ID")]
    related: Vec<String>,
    /// The id of the memory that it supersedes
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
    /// For agents: words of the session that prove it, exactly as they were said
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["related", "confidence"])]
    quote: Option<String>,
    /// How sure you are, from 0 to 1
    #[arg(long, value_name = "NUMBER", default_value_t = ops::DEFAULT_CONFIDENCE)]
    confidence: f64,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClaimName {
    Decision,
    Learning,
}

impl From<ClaimName> for MemoryType {
    fn from(name: ClaimName) -> Self {
        match name {
            ClaimName::Decision => Self::Decision,
            ClaimName::Learning => Self::Learning,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindName {
    Insight,
    Procedure,
    Pitfall,
    Friction,
    Preference,
    Convention,
    Context,
}

impl From<KindName> for LearningKind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Insight => Self::Insight,
            KindName::Procedure => Self::Procedure,
            KindName::Pitfall => Self::Pitfall,
            KindName::Friction => Self::Friction,
            KindName::Preference => Self::Preference,
            KindName::Convention => Self::Convention,
            KindName::Context => Self::Context,
        }
    }
}

pub(crate) fn cmd_add(ui: &mut Ui, host: &Host, args: &AddArgs) -> Result<Exit, OpError> {
    let request = args.request()?;
    let Some(quote) = &args.quote else {
        let report = ops::add(host, &request, &ui.events())?;
        return ui.report(&report, print_change);
    };
    let report = ops::record(host, &recorded(request, quote), "shell", &ui.events())?;
    ui.report(&report, print_recorded)
}

impl AddArgs {
    fn request(&self) -> Result<MemoryAddRequest, OpError> {
        Ok(MemoryAddRequest {
            title: self.title.clone(),
            body: match self.body.as_str() {
                "-" => std::io::read_to_string(std::io::stdin().take(MAX_BODY_BYTES))?,
                body => body.to_owned(),
            },
            r#type: Some(self.r#type.into()),
            kind: self.kind.map(Into::into),
            tags: self.tags.clone(),
            applies: self.applies.clone(),
            related: self.related.clone(),
            supersedes: self.supersedes.clone(),
            confidence: Some(self.confidence),
            scope: self.scope.mode(),
        })
    }
}

/// The same claim, with the words that prove it.
fn recorded(request: MemoryAddRequest, quote: &str) -> MemoryRecordRequest {
    let MemoryAddRequest { title, body, r#type, kind, tags, applies, supersedes, scope, .. } =
        request;
    let (quote, session) = (quote.to_owned(), None);
    MemoryRecordRequest {
        title,
        body,
        r#type,
        kind,
        tags,
        applies,
        supersedes,
        quote,
        session,
        scope,
    }
}
