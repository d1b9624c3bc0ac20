//! Defines and checks the lead's answer: each candidate must occur exactly once, and every target
//! must exist and contain its quote.

use std::sync::Arc;

use nacre_base::ContentHash;
use nacre_base::text::collapse_whitespace;
use nacre_memory::{Located, Memory, MemoryType, Overturned, Profile, Store, StoreArea, TYPES};
use nacre_types::LeadAction;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agents::lead::{Case, LeadRuling};
use crate::agents::merged::{MergeSource, MergedText};
use crate::lifecycle::{Validator, Weight};
use crate::model::OutputSchema;
use crate::record::RunEffects;

const MIN_QUOTE_CHARS: usize = 4;

const MAX_WORDS_CHARS: usize = 400;

/// Decisions beyond this limit are ignored.
const MAX_DECISIONS: usize = 256;

/// A merged text must contain at least this share of the words in each source sentence.
const MIN_KEPT: f32 = 0.6;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeadDecision {
    candidate_id: String,
    r#type: String,
    action: LeadAction,
    #[serde(default)]
    matched_file: Option<String>,
    quote: String,
    reason: String,
    /// The memory's new text. Set only for updates.
    #[serde(default)]
    merged: Option<MergedText>,
}

pub(super) fn places() -> String {
    let claims = TYPES.iter().filter(|spec| spec.memory_type != MemoryType::Summary);
    claims.map(|spec| format!("`{}/ID.md`", spec.folder)).collect::<Vec<_>>().join(" or ")
}

/// The schema lists the candidate IDs, so that a model cannot use any others.
pub(super) fn output(cases: &[Case]) -> OutputSchema {
    let ids: Vec<&str> = cases.iter().map(|case| case.candidate_id.as_str()).collect();
    let file = format!("The file of the memory, {}; null for an addition.", places());
    let claims = TYPES.iter().filter(|spec| spec.memory_type != MemoryType::Summary);
    let types: Vec<&str> = claims.map(|spec| spec.memory_type.as_str()).collect();
    let decision = json!({
        "type": "object",
        "properties": {
            "candidate_id": { "type": "string", "enum": ids },
            "type": { "type": "string", "enum": types, "description": "The candidate's type." },
            "action": { "type": "string", "enum": LeadAction::NAMES },
            "matched_file": { "type": ["string", "null"], "description": file },
            "quote": { "type": "string", "minLength": 1, "maxLength": MAX_WORDS_CHARS,
                "description": "Words of the matched file, letter for letter; of the candidate for an addition." },
            "reason": { "type": "string", "minLength": 1, "maxLength": MAX_WORDS_CHARS, "description": "One sentence." },
            "merged": {
                "type": ["object", "null"],
                "description": "For an update: the memory's new text, which says once all that memory and candidate say. \
                                Null for other actions.",
                "properties": { "title": { "type": "string" }, "body": { "type": "string" } },
                "required": ["title", "body"],
                "additionalProperties": false,
            },
        },
        "required": ["candidate_id", "type", "action", "matched_file", "quote", "reason"],
        "additionalProperties": false,
    });
    let decisions = json!({ "type": "array", "items": decision, "minItems": 1 });
    one_list("decisions", "One decision a candidate.", &decisions)
}

pub(super) fn one_list(name: &str, description: &str, list: &Value) -> OutputSchema {
    let schema = json!({
        "type": "object",
        "properties": { name: list },
        "required": [name],
        "additionalProperties": false,
    });
    OutputSchema { name: name.to_owned(), description: description.to_owned(), schema }
}

pub(super) fn validators(cases: &[Case], store: &Arc<Store>) -> Vec<Validator> {
    let once = {
        let cases = cases.to_vec();
        Validator::new(
            "one action per candidate",
            Weight::Should,
            move |answer: &Value, _: &RunEffects| check_counts(&read(answer), &cases),
        )
    };
    let (cases, store) = (cases.to_vec(), Arc::clone(store));
    let holds = Validator::new("holds", Weight::Should, move |answer: &Value, _: &RunEffects| {
        faults(answer, &cases, &store)
    });
    vec![once, holds]
}

pub(super) fn faults(answer: &Value, cases: &[Case], store: &Store) -> Vec<String> {
    let mut faults = Vec::new();
    for decision in read(answer) {
        match look(&decision, cases, store) {
            Ok((_, text_fault)) => faults.extend(text_fault),
            Err(wrong) => faults.extend(wrong),
        }
    }
    faults
}

/// Returns the valid rulings in an answer. If only the merged text is invalid, the candidate is
/// appended to the memory instead.
pub(super) fn rulings(answer: &Value, cases: &[Case], store: &Store) -> Vec<LeadRuling> {
    let mut rulings = Vec::new();
    let decisions = read(answer);
    let is_only = |decision: &LeadDecision| {
        let same = decisions.iter().filter(|other| other.candidate_id == decision.candidate_id);
        same.count() == 1
    };
    for decision in decisions.iter().filter(|decision| is_only(decision)).cloned() {
        let Ok((target, text_fault)) = look(&decision, cases, store) else { continue };
        let case = cases.iter().find(|case| case.candidate_id == decision.candidate_id);
        let shown = case.into_iter().flat_map(|case| &case.near);
        let seen = target.as_ref().map(|target| {
            let mut known = shown.filter(|near| near.at.id == target.at.id);
            // The lead found this target itself and read it during the run, so use the file's
            // current hash.
            known.next().map_or_else(|| hash_of(target), |near| near.seen)
        });
        rulings.push(LeadRuling {
            candidate_id: decision.candidate_id,
            action: decision.action,
            target: target.map(|memory| memory.at.id),
            seen,
            quote: decision.quote,
            reason: decision.reason,
            merged: decision
                .merged
                .filter(|_| decision.action == LeadAction::Update && text_fault.is_none()),
        });
    }
    rulings
}

fn hash_of(memory: &Memory) -> ContentHash {
    ContentHash::of(memory.document.as_str().as_bytes())
}

fn read(answer: &Value) -> Vec<LeadDecision> {
    let decisions = answer.get("decisions").and_then(Value::as_array);
    let decisions = decisions.into_iter().flatten().take(MAX_DECISIONS);
    decisions.filter_map(|decision| LeadDecision::deserialize(decision).ok()).collect()
}

fn check_counts(decisions: &[LeadDecision], cases: &[Case]) -> Vec<String> {
    let mut faults = Vec::new();
    for case in cases {
        let id = &case.candidate_id;
        match decisions.iter().filter(|decision| decision.candidate_id == *id).count() {
            1 => {}
            0 => faults.push(format!("{id}: no decision")),
            n => faults.push(format!("{id}: {n} decisions; give one action per candidate")),
        }
    }
    faults
}

/// Checks a decision. Returns the memory that the decision refers to, and any problem with its
/// merged text.
fn look(
    decision: &LeadDecision,
    cases: &[Case],
    store: &Store,
) -> Result<(Option<Memory>, Option<String>), Vec<String>> {
    let id = &decision.candidate_id;
    let Some(case) = cases.iter().find(|case| case.candidate_id == *id) else {
        return Err(vec![format!("{id}: unknown candidate")]);
    };
    let named = |why: String| format!("{id}: {why}");
    let mut faults = Vec::new();
    let is_long = |words: &str| MAX_WORDS_CHARS < words.chars().count();
    if is_long(&decision.quote) || is_long(&decision.reason) {
        faults
            .push(named(format!("quote and reason may have at most {MAX_WORDS_CHARS} characters")));
    }
    let own = case.memory_type();
    if decision.r#type != own.as_str() {
        faults.push(named(format!("the candidate is a {own}, not a {}", decision.r#type)));
    }
    let target = if decision.action == LeadAction::Add {
        let texts = case.quotes.iter().chain([&case.title, &case.body]);
        if !texts.into_iter().any(|text| occurs(&decision.quote, text)) {
            faults.push(named("the quote does not occur in the candidate".to_owned()));
        }
        None
    } else {
        let (target, wrong) = target(decision, own, store);
        faults.extend(wrong.into_iter().map(named));
        target
    };
    if !faults.is_empty() {
        return Err(faults);
    }
    let text_fault = target.as_ref().and_then(|target| text_fault(decision, case, target));
    Ok((target, text_fault.map(named)))
}

fn target(
    decision: &LeadDecision,
    own: MemoryType,
    store: &Store,
) -> (Option<Memory>, Vec<String>) {
    let Some(file) = &decision.matched_file else {
        return (None, vec!["the matched file is missing".to_owned()]);
    };
    let at = match place(file) {
        Ok(at) => at,
        Err(why) => return (None, vec![why]),
    };
    let mut faults = Vec::new();
    // An update across types is added as a memory of its own, so its text cannot be merged.
    if decision.action == LeadAction::Update && at.memory_type != own {
        faults.push(format!(
            "`{file}` is a {}, but the candidate is a {own}; choose add or supersede",
            at.memory_type
        ));
    }
    let memory = store.get(at.id.as_str()).ok().filter(|memory| memory.at.path == at.path);
    let Some(memory) = memory else {
        faults.push(format!("memory `{file}` not found"));
        return (None, faults);
    };
    let claimants = store.claimants(&memory.at.id).unwrap_or_default();
    if Overturned::of(&memory, !claimants.is_empty()) != Overturned::No {
        faults.push(format!("`{file}` is already superseded"));
    }
    let body = memory.document.body();
    if !occurs(&decision.quote, &memory.title) && !occurs(&decision.quote, body) {
        faults.push(format!("the quote does not occur in `{file}`"));
    }
    (Some(memory), faults)
}

/// Returns the problem with an update's merged text, if any. All text that models write for
/// memories goes through the same checks.
fn text_fault(decision: &LeadDecision, case: &Case, target: &Memory) -> Option<String> {
    if decision.action != LeadAction::Update {
        return None;
    }
    let Some(merged) = &decision.merged else {
        return Some("`merged`, the memory's new text, is missing".to_owned());
    };
    let shown = case.near.iter().find(|near| near.at.id == target.at.id);
    let body = shown.map_or(target.document.body(), |near| near.body.as_str());
    let sources = [
        MergeSource { name: "the memory", title: &target.title, body },
        MergeSource { name: "the candidate", title: &case.title, body: &case.body },
    ];
    let result = Profile::of(&merged.title, &merged.body);
    for source in &sources {
        if let Some(lost) = lost_sentence(source, &result) {
            let name = source.name;
            return Some(format!(
                "the merged text omits this from {name}: {}",
                lost.escape_debug()
            ));
        }
    }
    merged.fault(&sources).map(|why| format!("the merged text was rejected: {why}"))
}

/// Returns the first source sentence that the merged text does not cover. A merge must not lose
/// anything that a user has written into a memory.
fn lost_sentence<'s>(source: &MergeSource<'s>, result: &Profile) -> Option<&'s str> {
    let lines = std::iter::once(source.title).chain(source.body.lines());
    let mut sentences = lines.flat_map(|line| line.split_inclusive(". ")).map(str::trim);
    sentences.find(|sentence| Profile::of("", sentence).share_held_by(result) < MIN_KEPT)
}

/// Parses the path, relative to the memory root, of a memory that decisions may refer to.
pub(super) fn place(file: &str) -> Result<Located, String> {
    let below = file.trim_start_matches("./");
    let below = below.strip_prefix("memory/").unwrap_or(below);
    let at = Located::from_path(&format!("memory/{below}"));
    let at = at.ok_or_else(|| format!("`{}` is not the path of a memory", file.escape_debug()))?;
    match (at.memory_type, at.area) {
        (MemoryType::Summary, _) => {
            Err(format!("`{file}` is a summary, which only the run that wrote it may change"))
        }
        (_, StoreArea::Archived) => Err(format!("`{file}` was archived by a user")),
        (MemoryType::Decision | MemoryType::Learning, StoreArea::Active) => Ok(at),
    }
}

pub(super) fn occurs(quote: &str, text: &str) -> bool {
    let quote = collapse_whitespace(quote);
    MIN_QUOTE_CHARS <= quote.chars().count() && collapse_whitespace(text).contains(&quote)
}
