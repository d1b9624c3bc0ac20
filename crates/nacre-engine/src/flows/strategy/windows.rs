//! A model reads a session window by window: one question a window, and one more where there were several windows.
//!
//! What fits one window costs one question, candidates and summary together. Windows do not depend on each other, so a
//! few are asked side by side; their claims are held against the transcript before anybody joins them.

use std::collections::BTreeSet;

use super::answer::{
    ClaimAnswer, MergedAnswer, MergedClaim, RepairAnswer, SessionAnswer, SummaryAnswer, Wanted,
    clean_body, clean_title, fenced, instructions, merged_schema, merging, repair_schema,
    repairing, session_schema,
};
use super::claims::Proven;
use super::pages::{BYTES_A_TOKEN, Pages, Window};
use crate::flows::extract::Proposal;
use crate::flows::models::{AskError, ModelClient, Question};
use crate::model::{ErrorKind, Role, Usage};

/// How many windows are asked about at a time.
const SIDE_BY_SIDE: usize = 4;
/// More windows of one session are not read; they are counted.
const MAX_WINDOWS: usize = 128;
/// A window where nothing is set; every model of today takes as much.
const CONTEXT_TOKENS: usize = 48_000;
const ANSWER_TOKENS: usize = 4096;
/// What instructions and shape take.
const INSTRUCTION_TOKENS: usize = 2500;
/// A smaller window is not worth a question.
const MIN_BYTES: usize = 3000;
/// How many events around a quote that was not found are shown again, and how much of them.
const REPAIR_NEAR: u64 = 3;
const REPAIR_BYTES: usize = 24_000;
/// How often windows are halved for a model that takes less than was thought.
const MAX_HALVINGS: u32 = 3;
/// What an answer about a window usually takes.
const USUAL_ANSWER_TOKENS: u64 = 1000;

/// What is to be read, and for what.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub(super) pages: &'a Pages,
    pub(super) role: Role,
    pub(super) wanted: Wanted,
    /// What the summary said before the session went on.
    pub(super) earlier: Option<&'a str>,
}

/// What a model made of a session.
#[derive(Default)]
pub(super) struct ModelRead {
    pub(super) proven: Proven,
    pub(super) summary: Option<SummaryAnswer>,
    pub(super) n_windows: usize,
    /// Windows whose answers could not be used, and windows beyond the most.
    pub(super) n_unread: usize,
    /// Pieces of code that were written.
    pub(super) n_steps: usize,
    /// Something that did not go as it should.
    pub(super) note: Option<String>,
}

/// Reads a session.
pub(super) fn read(asker: &ModelClient<'_>, job: Job<'_>) -> Result<ModelRead, AskError> {
    let mut max = window_bytes(asker, job.role)?;
    for _ in 0..MAX_HALVINGS {
        match read_windows(asker, job, max) {
            Err(AskError::Model(error)) if error.kind == ErrorKind::ContextTooLong => max /= 2,
            read => return read,
        }
    }
    read_windows(asker, job, max)
}

/// What reading a session will take, about.
pub(super) fn usage_of(asker: &ModelClient<'_>, job: Job<'_>) -> Result<Usage, AskError> {
    let n_windows = job.pages.windows(window_bytes(asker, job.role)?).len().min(MAX_WINDOWS) as u64;
    let n_calls = if n_windows > 1 { n_windows + 1 } else { n_windows };
    Ok(Usage {
        input: job.pages.tokens() as u64 + n_calls * INSTRUCTION_TOKENS as u64,
        output: n_calls * USUAL_ANSWER_TOKENS,
        ..Usage::default()
    })
}

/// How much of a session goes into one question.
fn window_bytes(asker: &ModelClient<'_>, role: Role) -> Result<usize, AskError> {
    let settings = asker.models().settings_of(role)?;
    let context = settings.context_tokens.unwrap_or(CONTEXT_TOKENS);
    let answer = settings.max_tokens.map_or(ANSWER_TOKENS, |tokens| tokens as usize);
    let tokens = context.saturating_sub(answer.min(context / 2) + INSTRUCTION_TOKENS);
    Ok((tokens * BYTES_A_TOKEN).max(MIN_BYTES))
}

fn read_windows(asker: &ModelClient<'_>, job: Job<'_>, max: usize) -> Result<ModelRead, AskError> {
    let mut windows = job.pages.windows(max);
    let n_beyond = windows.len().saturating_sub(MAX_WINDOWS);
    windows.truncate(MAX_WINDOWS);
    let questions: Vec<Question> =
        (0..windows.len()).map(|idx| question(job, &windows, idx)).collect();
    let mut read =
        ModelRead { n_windows: windows.len(), n_unread: n_beyond, ..ModelRead::default() };
    let mut summaries = Vec::new();
    let mut unusable = None;
    for answer in asker.ask_all::<SessionAnswer>(&questions, SIDE_BY_SIDE) {
        match answer {
            Ok(answer) => {
                read.proven.take(&answer.candidates, job.pages);
                summaries.push(answer.summary);
            }
            // One part that cannot be used does not spoil the others.
            Err(error @ AskError::Answer(_)) => {
                read.n_unread += 1;
                unusable = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    repair(asker, job, &mut read)?;
    match summaries.len() {
        0 => match unusable {
            Some(error) => return Err(error),
            None => return Ok(read),
        },
        1 if windows.len() == 1 => read.summary = summaries.pop(),
        _ => merge(asker, job, &mut read, &summaries)?,
    }
    Ok(read)
}

/// Asks once more for quotes of claims that had none which stand in the transcript.
fn repair(asker: &ModelClient<'_>, job: Job<'_>, read: &mut ModelRead) -> Result<(), AskError> {
    if read.proven.unquoted.is_empty() {
        return Ok(());
    }
    let question = Question {
        role: job.role,
        instructions: repairing(),
        material: unquoted(&read.proven.unquoted, job.pages),
        output: repair_schema(),
    };
    match asker.ask::<RepairAnswer>(&question) {
        Ok(answer) => read.proven.repair(&answer, job.pages),
        // What cannot be proven is counted; the rest of the session stands.
        Err(AskError::Answer(_) | AskError::OverLimit(_)) => read.proven.give_up(),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The events around what the claims pointed at, and the claims.
fn unquoted(claims: &[ClaimAnswer], pages: &Pages) -> String {
    let mut meant: BTreeSet<u64> = BTreeSet::new();
    for quote in claims.iter().flat_map(|claim| &claim.quotes) {
        meant.extend(
            quote.event.saturating_sub(REPAIR_NEAR)..=quote.event.saturating_add(REPAIR_NEAR),
        );
    }
    let events = pages.events(&meant, REPAIR_BYTES);
    let mut entries = String::new();
    for (idx, claim) in claims.iter().enumerate() {
        entries += &format!("{}. {}\n   {}\n", idx + 1, claim.clean_title(), claim.clean_body());
        for quote in &claim.quotes {
            let text: String = quote.text.chars().take(300).collect();
            entries += &format!("   event {}: {}\n", quote.event, text.replace('\n', " "));
        }
    }
    format!("{}{}", fenced("transcript", &events), fenced("entries", &entries))
}

fn question(job: Job<'_>, windows: &[Window], idx: usize) -> Question {
    let Window { text, first, last } = &windows[idx];
    let mut material = String::new();
    if let Some(earlier) = job.earlier.filter(|_| idx == 0) {
        material += "What was known of the session before it went on:\n";
        material += &fenced("summary", earlier);
    }
    if windows.len() > 1 {
        material += &format!("Part {} of {}, ", idx + 1, windows.len());
    }
    material += &format!("events {first} to {last}:\n{}", fenced("transcript", text));
    Question {
        role: job.role,
        instructions: instructions(job.wanted),
        material,
        output: session_schema(job.wanted),
    }
}

/// Joins what was found in the parts. Without a usable answer all of it stays: the checks that follow cap it.
fn merge(
    asker: &ModelClient<'_>,
    job: Job<'_>,
    read: &mut ModelRead,
    summaries: &[SummaryAnswer],
) -> Result<(), AskError> {
    let question = Question {
        role: job.role,
        instructions: merging(),
        material: parts(&read.proven.proposals, summaries, job.earlier),
        output: merged_schema(),
    };
    match asker.ask::<MergedAnswer>(&question) {
        Ok(answer) => {
            let found = std::mem::take(&mut read.proven.proposals);
            read.proven.proposals = joined(found, &answer.candidates);
            read.summary = Some(answer.summary);
        }
        Err(AskError::Answer(_)) => read.note = Some("the parts could not be joined".to_owned()),
        Err(error) => return Err(error),
    }
    Ok(())
}

fn parts(found: &[Proposal], summaries: &[SummaryAnswer], earlier: Option<&str>) -> String {
    let mut text = String::new();
    for (idx, proposal) in found.iter().enumerate() {
        text += &format!(
            "k{}: {}\n    {}\n",
            idx + 1,
            proposal.title(),
            proposal.body().replace('\n', "\n    ")
        );
        for quote in proposal.quotes() {
            text += &format!("    said: {}\n", quote.replace('\n', " "));
        }
    }
    let mut told = String::new();
    for (idx, summary) in summaries.iter().enumerate() {
        let SummaryAnswer { title, intent, narrative, outcome, .. } = summary;
        let steps = narrative.join(" ");
        told += &format!("Part {}: {title}. {intent} {steps} {outcome}\n", idx + 1);
    }
    let earlier = earlier.map(|earlier| fenced("summary", earlier)).unwrap_or_default();
    format!("{earlier}{}{}", fenced("found", &text), fenced("parts", &told))
}

/// Proposals by what a model says of them: joined, left out or kept. A name that is not there, or was taken before,
/// does nothing.
fn joined(found: Vec<Proposal>, merged: &[MergedClaim]) -> Vec<Proposal> {
    let mut left: Vec<Option<Proposal>> = found.into_iter().map(Some).collect();
    let mut kept = Vec::new();
    for claim in merged {
        let mut take = |id: &String| {
            let number: usize = id.strip_prefix('k')?.parse().ok()?;
            left.get_mut(number.checked_sub(1)?)?.take()
        };
        let parts: Vec<Proposal> = claim.ids.iter().filter_map(&mut take).collect();
        kept.extend(Proposal::joined(parts, clean_title(&claim.title), clean_body(&claim.body)));
    }
    kept
}
