//! `nacre memory add`

use std::io::Read as _;

use clap::{Args, ValueEnum};
use nacre_core::base::ShownLine;
use nacre_core::memory::{Claim, Draft, LearningKind, MemoryId, Quote, Speaker};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::output::print_done;
use super::{ScopeArg, warn_redacted};
use nacre_ops::Host;
use nacre_ops::OpError;

/// What a person says is taken at its word.
const HUMAN_CONFIDENCE: f64 = 0.9;

/// A body from a pipe is a page; more is not a memory.
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
    /// The id of a related memory (can be repeated)
    #[arg(long, value_name = "ID")]
    related: Vec<String>,
    /// How sure you are, from 0 to 1
    #[arg(long, value_name = "NUMBER", default_value_t = HUMAN_CONFIDENCE)]
    confidence: f64,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClaimName {
    Decision,
    Learning,
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
    let AddArgs { title, body, r#type, kind, tags, related, confidence, scope } = args;
    if !(0.0..=1.0).contains(confidence) {
        return Err(OpError::usage("`--confidence` is a number from 0 to 1"));
    }
    let scoped = host.store_to_write(scope.mode())?;
    let now = host.now();
    let body = if body == "-" { read_stdin()? } else { body.clone() };
    let said = [title.as_str(), body.as_str()].join("\n\n").trim().to_owned();
    let draft = Draft {
        claim: claim(*r#type, *kind)?,
        title: title.clone(),
        body,
        tags: tags.clone(),
        related: related_ids(&scoped.store, related)?,
        source: "human".to_owned(),
        confidence: *confidence,
        quotes: vec![Quote {
            text: said,
            speaker: Speaker::Human,
            place: "nacre memory add".to_owned(),
            at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }],
    };
    let mut batch = scoped.store.begin(&host.owner("memory add"), host.settings().lock.wait)?;
    let id = batch.add(&draft, now)?;
    let redacted = batch.redactions().clone();
    batch.commit()?;
    warn_redacted(ui, &redacted);
    let at = scoped.store.locate(id.as_str())?;
    let path = scoped.store.path().join(at.path.as_str()).display().to_string();
    print_done(ui, "added", id.as_str(), Some(&path))?;
    ui.status(ShownLine(&path))?;
    Ok(Exit::Done)
}

fn claim(name: ClaimName, kind: Option<KindName>) -> Result<Claim, OpError> {
    match (name, kind) {
        (ClaimName::Decision, None) => Ok(Claim::Decision),
        (ClaimName::Learning, kind) => {
            Ok(Claim::Learning(kind.map_or(LearningKind::Insight, Into::into)))
        }
        (ClaimName::Decision, Some(_)) => Err(OpError::usage("A decision has no kind")
            .hint("Add `--type learning` to say what kind of learning it is")),
    }
}

/// The memories that were named, which must exist.
fn related_ids(
    store: &nacre_core::memory::Store,
    ids: &[String],
) -> Result<Vec<MemoryId>, OpError> {
    ids.iter().map(|id| Ok(store.locate(id)?.id)).collect()
}

fn read_stdin() -> Result<String, OpError> {
    let mut text = String::new();
    std::io::stdin().take(MAX_BODY_BYTES).read_to_string(&mut text)?;
    Ok(text)
}
