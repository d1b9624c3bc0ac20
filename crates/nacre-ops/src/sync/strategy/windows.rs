//! Reads a session in windows with a model, and then has the model review the claims. The review is
//! needed because models propose more claims than are worth keeping (see docs/evaluation.md).

use std::collections::BTreeSet;

use nacre_engine::model::{ErrorKind, OutputSchema, Role, Usage};
use nacre_memory::{Basis, Claim, MemoryType, Status};
use serde::Deserialize;
use serde_json::json;

use super::answer::{
    ClaimAnswer, MergedAnswer, RepairAnswer, SessionAnswer, SummaryAnswer, clean_body, clean_title,
    fence, instructions, merge_instructions, merge_schema, object, output, repair_instructions,
    repair_schema, session_schema,
};
use super::claims::Proven;
use super::pages::{BYTES_A_TOKEN, Pages, Window};
use super::{FindKnown, HowRead, KnownMemory};
use crate::host::{AskError, ModelClient, ModelQuestion};
use crate::sync::candidate::{MAX_CANDIDATES, MAX_FROM_WINDOWS};
use crate::sync::extract::Proposal;

const SIDE_BY_SIDE: usize = 4;
/// Maximum number of windows to read. Any others are only counted.
const MAX_WINDOWS: usize = 128;
/// Default context size in tokens, which all current models support.
const CONTEXT_TOKENS: usize = 48_000;
const ANSWER_TOKENS: usize = 4096;
const INSTRUCTION_TOKENS: usize = 2500;
const MIN_BYTES: usize = 3000;
/// Number of events to show before and after a quote that was not found, and the maximum total size
/// of these events in bytes.
const REPAIR_NEAR: u64 = 3;
const REPAIR_BYTES: usize = 24_000;
/// Maximum number of times that windows are halved if the model's context is smaller than assumed.
const MAX_HALVINGS: u32 = 3;
const USUAL_ANSWER_TOKENS: u64 = 1000;
/// Number of tokens to reserve for existing memories.
const KNOWN_TOKENS: usize = 800;
/// Number of claims that each window after the first may add.
const MORE_PER_WINDOW: usize = 4;

const KNOWN: &str = include_str!("prompts/known.md").trim_ascii_end();

#[derive(Clone, Copy)]
pub(super) struct ReadingJob<'a> {
    pub(super) asker: &'a ModelClient<'a>,
    pub(super) pages: &'a Pages,
    /// The existing summary if part of the session was read before.
    pub(super) earlier: Option<&'a str>,
    pub(super) find_known: &'a FindKnown<'a>,
}

#[derive(Default)]
pub(super) struct ModelRead {
    pub(super) proven: Proven,
    pub(super) summary: Option<SummaryAnswer>,
    pub(super) how: HowRead,
}

impl ReadingJob<'_> {
    pub(super) fn check_budget(&self) -> Result<(), AskError> {
        let n_windows = self.pages.windows(self.window_bytes()?).len().min(MAX_WINDOWS) as u64;
        let n_calls = if n_windows > 1 { n_windows + 1 } else { n_windows };
        let n_instructions = n_calls * INSTRUCTION_TOKENS as u64;
        let usage = Usage {
            input: self.pages.tokens() as u64 + n_instructions + REVIEW_INPUT_TOKENS,
            output: n_calls * USUAL_ANSWER_TOKENS + REVIEW_ANSWER_TOKENS,
            ..Usage::default()
        };
        let first = &self.asker.models().settings_of(Role::Extract)?.model;
        self.asker.budget().allows(first, usage).map_err(AskError::OverLimit)
    }

    pub(super) fn read_twice(&self) -> Result<ModelRead, AskError> {
        let mut max = self.window_bytes()?;
        let mut n_halvings = 0;
        let mut read = loop {
            match self.read_windows(max) {
                Err(AskError::Model(error))
                    if error.kind == ErrorKind::ContextTooLong && n_halvings < MAX_HALVINGS =>
                {
                    (max, n_halvings) = (max / 2, n_halvings + 1);
                }
                read => break read?,
            }
        };
        self.review(&mut read)?;
        Ok(read)
    }

    fn window_bytes(&self) -> Result<usize, AskError> {
        let settings = self.asker.models().settings_of(Role::Extract)?;
        let context = settings.context_tokens.unwrap_or(CONTEXT_TOKENS);
        let answer = settings.max_tokens.map_or(ANSWER_TOKENS, |tokens| tokens as usize);
        let tokens =
            context.saturating_sub(answer.min(context / 2) + INSTRUCTION_TOKENS + KNOWN_TOKENS);
        Ok((tokens * BYTES_A_TOKEN).max(MIN_BYTES))
    }

    fn read_windows(&self, max: usize) -> Result<ModelRead, AskError> {
        let mut windows = self.pages.windows(max);
        let unread_windows = windows.len().saturating_sub(MAX_WINDOWS);
        windows.truncate(MAX_WINDOWS);
        let known: Vec<Vec<KnownMemory>> =
            windows.iter().map(|window| (self.find_known)(&self.pages.spoken(window))).collect();
        let questions: Vec<ModelQuestion> =
            (0..windows.len()).map(|idx| self.question(&windows, idx, &known[idx])).collect();
        let how = HowRead { windows: windows.len(), unread_windows, ..HowRead::default() };
        let mut read = ModelRead { how, ..ModelRead::default() };
        let mut summaries = Vec::new();
        let mut unusable = None;
        let answers = self.asker.ask_all::<SessionAnswer>(&questions, SIDE_BY_SIDE);
        for (answer, known) in answers.into_iter().zip(&known) {
            match answer {
                Ok(answer) => {
                    read.proven.take(&answer.candidates, self.pages, known);
                    summaries.push(answer.summary);
                }
                // An unusable response affects only its window.
                Err(error @ AskError::Answer(_)) => {
                    read.how.unread_windows += 1;
                    unusable = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        self.repair(&mut read)?;
        let most = max_claims(windows.len());
        match (summaries.len(), unusable) {
            (0, Some(error)) => return Err(error),
            (0, None) => {}
            (1, _) if windows.len() == 1 => read.summary = summaries.pop(),
            _ => self.merge(&mut read, &summaries, most)?,
        }
        read.proven.keep_best(most);
        Ok(read)
    }

    fn repair(&self, read: &mut ModelRead) -> Result<(), AskError> {
        if read.proven.unquoted.is_empty() {
            return Ok(());
        }
        let material = claims_to_repair(&read.proven.unquoted, self.pages);
        let question = ask_about(repair_instructions(), material, repair_schema());
        match self.asker.ask::<RepairAnswer>(&question) {
            Ok(answer) => read.proven.repair(&answer, self.pages),
            // Count the claims without a verified quote, and keep the others.
            Err(AskError::Answer(_) | AskError::OverLimit(_)) => read.proven.give_up(),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn question(&self, windows: &[Window], idx: usize, known: &[KnownMemory]) -> ModelQuestion {
        let Window { text, first, last, .. } = &windows[idx];
        let mut material = String::new();
        if !known.is_empty() {
            material += &format!("{KNOWN}\n{}", fence("known", &list_known(known)));
        }
        if let Some(earlier) = self.earlier.filter(|_| idx == 0) {
            material += "What was known of the session before it went on:\n";
            material += &fence("summary", earlier);
        }
        if windows.len() > 1 {
            material += &format!("Part {} of {}, ", idx + 1, windows.len());
        }
        material += &format!("events {first} to {last}:\n{}", fence("transcript", text));
        ask_about(instructions(), material, session_schema())
    }

    /// Merges the findings. If there is no usable response, keeps all findings, whose number is
    /// limited later.
    fn merge(
        &self,
        read: &mut ModelRead,
        summaries: &[SummaryAnswer],
        most: usize,
    ) -> Result<(), AskError> {
        let material = parts(&read.proven.proposals, summaries, self.earlier);
        let question = ask_about(merge_instructions(most), material, merge_schema(most));
        match self.asker.ask::<MergedAnswer>(&question) {
            Ok(answer) => {
                let found = std::mem::take(&mut read.proven.proposals);
                read.proven.take_merged(found, &answer.candidates);
                read.summary = Some(answer.summary);
            }
            Err(AskError::Answer(_)) => {
                read.how.fallback = Some("the parts could not be merged".to_owned());
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Reviews the claims that are active or may become so.
    fn review(&self, read: &mut ModelRead) -> Result<(), AskError> {
        let holding =
            |proposal: &&mut Proposal| proposal.status == Status::Active || proposal.needs_review;
        let mut entries: Vec<&mut Proposal> =
            read.proven.proposals.iter_mut().filter(holding).collect();
        if entries.is_empty() {
            return Ok(());
        }
        let material = review_material(&entries, self.pages);
        let question = ask_about(CHECK.to_owned(), material, review_schema());
        let answer = match self.asker.ask::<ReviewAnswer>(&question) {
            Ok(answer) => answer,
            // The review is optional, because the claims have already been verified.
            Err(AskError::Answer(_) | AskError::OverLimit(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        for EntryReview { entry, told } in answer.entries {
            if let Some(entry) = entry.checked_sub(1).and_then(|idx| entries.get_mut(idx)) {
                let is_kept = !told.is_against(entry);
                entry.status = if is_kept { Status::Active } else { Status::Candidate };
            }
        }
        Ok(())
    }
}

/// Returns how many claims to keep of a session that was read in this many windows.
fn max_claims(n_windows: usize) -> usize {
    let n_more = n_windows.saturating_sub(1) * MORE_PER_WINDOW;
    MAX_CANDIDATES.saturating_add(n_more).min(MAX_FROM_WINDOWS)
}

fn list_known(known: &[KnownMemory]) -> String {
    let mut text = String::new();
    for (idx, memory) in known.iter().enumerate() {
        let day = memory.said.map_or_else(String::new, |at| at.strftime(", %Y-%m-%d").to_string());
        text += &format!("m{} ({}{day}): {}\n", idx + 1, memory.memory_type, memory.title);
    }
    text
}

fn ask_about(instructions: String, material: String, output: OutputSchema) -> ModelQuestion {
    ModelQuestion { role: Role::Extract, instructions, material, output }
}

fn claims_to_repair(claims: &[ClaimAnswer], pages: &Pages) -> String {
    let mut meant: BTreeSet<u64> = BTreeSet::new();
    for quote in claims.iter().flat_map(|claim| &claim.quotes) {
        meant.extend(
            quote.event.saturating_sub(REPAIR_NEAR)..=quote.event.saturating_add(REPAIR_NEAR),
        );
    }
    let events = pages.events(&meant, REPAIR_BYTES);
    let mut entries = String::new();
    for (idx, claim) in claims.iter().enumerate() {
        entries += &format!(
            "{}. {}\n   {}\n",
            idx + 1,
            clean_title(&claim.title),
            clean_body(&claim.body)
        );
        for quote in &claim.quotes {
            let text: String = quote.text.chars().take(300).collect();
            entries += &format!("   event {}: {}\n", quote.event, text.replace('\n', " "));
        }
    }
    format!("{}{}", fence("transcript", &events), fence("entries", &entries))
}

fn parts(found: &[Proposal], summaries: &[SummaryAnswer], earlier: Option<&str>) -> String {
    let mut text = String::new();
    for (idx, proposal) in found.iter().enumerate() {
        let kind = match proposal.claim {
            Claim::Decision => MemoryType::Decision.as_str(),
            Claim::Learning(kind) => kind.as_str(),
        };
        text += &format!(
            "k{} ({kind}, importance {}, {}): {}\n    {}\n",
            idx + 1,
            proposal.importance.unwrap_or_default(),
            proposal.basis.as_str(),
            proposal.title,
            proposal.body.replace('\n', "\n    ")
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
    let earlier = earlier.map(|earlier| fence("summary", earlier)).unwrap_or_default();
    format!("{earlier}{}{}", fence("found", &text), fence("parts", &told))
}

#[cfg(test)]
mod tests;

const NEAR: u64 = 2;
const MAX_BYTES: usize = 40_000;

const REVIEW_INPUT_TOKENS: u64 = 600;
const REVIEW_ANSWER_TOKENS: u64 = 200;

#[derive(Clone, Debug, Deserialize)]
struct ReviewAnswer {
    #[serde(default)]
    entries: Vec<EntryReview>,
}

#[derive(Clone, Debug, Deserialize)]
struct EntryReview {
    /// The number of the entry, starting at 1.
    entry: usize,
    told: RecallEffect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecallEffect {
    Misleads,
    Useless,
    MayHelp,
    Helps,
}

impl RecallEffect {
    const NAMES: [&'static str; 4] = ["misleads", "useless", "may_help", "helps"];

    /// Returns whether the model rejects an entry. A model must not reject claims that only the
    /// user can judge.
    fn is_against(self, entry: &Proposal) -> bool {
        match self {
            Self::Misleads => true,
            Self::Useless => entry.basis == Basis::Found || entry.is_findable,
            Self::MayHelp | Self::Helps => false,
        }
    }
}

fn review_material(entries: &[&mut Proposal], pages: &Pages) -> String {
    let mut near: BTreeSet<u64> = BTreeSet::new();
    let mut text = String::new();
    for (idx, entry) in entries.iter().enumerate() {
        for at in entry.sequences() {
            near.extend(at.saturating_sub(NEAR)..=at.saturating_add(NEAR));
        }
        text += &format!("{}. {}\n   {}\n", idx + 1, entry.title, entry.body.replace('\n', " "));
        text += &format!("   basis: {}\n", entry.basis.as_str());
        for quote in entry.quotes() {
            text += &format!("   quote: {}\n", quote.replace('\n', " "));
        }
    }
    let events = pages.events(&near, MAX_BYTES);
    format!("{}{}", fence("transcript", &events), fence("entries", &text))
}

fn review_schema() -> OutputSchema {
    let entry = object(&json!({
        "entry": { "type": "integer" },
        "against": { "type": "string", "description": "The strongest thing against it" },
        "in_favor": { "type": "string", "description": "The strongest thing for it" },
        "told": { "type": "string", "enum": RecallEffect::NAMES },
    }));
    let properties = json!({ "entries": { "type": "array", "items": entry } });
    output("second_look", "Which entries should hold", &properties)
}

const CHECK: &str = include_str!("prompts/check.md").trim_ascii_end();
