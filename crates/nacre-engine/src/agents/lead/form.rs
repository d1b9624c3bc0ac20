//! What a lead hands in, and whether it holds: every candidate once, targets that are there, words that stand in them.

use std::sync::Arc;

use nacre_core::base::ContentHash;
use nacre_core::memory::{Located, Memory, MemoryType, Shelf, Status, Store, TYPES};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Case, LeadRuling};
use crate::lifecycle::{Validator, Weight};
use crate::model::OutputSchema;
use crate::record::RunEffects;

/// A shorter quote stands in every file.
const MIN_QUOTE_CHARS: usize = 4;

/// What becomes of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeadAction {
    Add,
    Update,
    NoOp,
    Supersede,
}

impl LeadAction {
    pub(super) const NAMES: [&'static str; 4] = ["add", "update", "no_op", "supersede"];

    /// Whether the memory that it is about is changed, and so has to be of the candidate's type.
    fn changes_target(self) -> bool {
        matches!(self, Self::Update | Self::Supersede)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decisions {
    decisions: Vec<LeadDecision>,
}

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
}

/// The names of the types that a candidate can have.
fn claim_types() -> Vec<&'static str> {
    let claims = TYPES.iter().filter(|spec| spec.memory_type != MemoryType::Summary);
    claims.map(|spec| spec.name).collect()
}

/// Where the file of a memory may lie, in words.
pub(super) fn places() -> String {
    let claims = TYPES.iter().filter(|spec| spec.memory_type != MemoryType::Summary);
    claims.map(|spec| format!("`{}/ID.md`", spec.folder)).collect::<Vec<_>>().join(" or ")
}

/// The form of a lead's answer. It knows the candidates, so that a model cannot name others.
pub(super) fn output(cases: &[Case]) -> OutputSchema {
    let ids: Vec<&str> = cases.iter().map(|case| case.candidate_id.as_str()).collect();
    let file = format!("The file of the memory, {}; null for an addition.", places());
    let decision = json!({
        "type": "object",
        "properties": {
            "candidate_id": { "type": "string", "enum": ids },
            "type": { "type": "string", "enum": claim_types(), "description": "The candidate's type." },
            "action": { "type": "string", "enum": LeadAction::NAMES },
            "matched_file": { "type": ["string", "null"], "description": file },
            "quote": { "type": "string", "minLength": 1, "maxLength": 400,
                "description": "Words of the matched file, letter for letter; of the candidate for an addition." },
            "reason": { "type": "string", "minLength": 1, "maxLength": 400, "description": "One sentence." },
        },
        "required": ["candidate_id", "type", "action", "matched_file", "quote", "reason"],
        "additionalProperties": false,
    });
    OutputSchema {
        name: "decisions".to_owned(),
        description: "One decision a candidate.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "decisions": { "type": "array", "items": decision, "minItems": 1 } },
            "required": ["decisions"],
            "additionalProperties": false,
        }),
    }
}

/// What a lead's answer must pass before anybody acts on it.
pub(super) fn validators(cases: &[Case], store: &Arc<Store>) -> Vec<Validator> {
    let once = {
        let cases = cases.to_vec();
        Validator::new(
            "one action a candidate",
            Weight::Must,
            move |answer: &Value, _: &RunEffects| counted(&read(answer), &cases),
        )
    };
    let (cases, store) = (cases.to_vec(), Arc::clone(store));
    let holds = Validator::new("holds", Weight::Must, move |answer: &Value, _: &RunEffects| {
        let decisions = read(answer);
        let looked = decisions.iter().map(|decision| look(decision, &cases, &store).err());
        looked.flatten().collect()
    });
    vec![once, holds]
}

/// The rulings of an answer that was accepted; one that does not hold any more is left out.
pub(super) fn rulings(answer: &Value, cases: &[Case], store: &Store) -> Vec<LeadRuling> {
    let mut rulings = Vec::new();
    for decision in read(answer) {
        let Ok(target) = look(&decision, cases, store) else { continue };
        let case = cases.iter().find(|case| case.candidate_id == decision.candidate_id);
        let shown = case.into_iter().flat_map(|case| &case.near);
        let seen = target.as_ref().map(|target| {
            let mut known = shown.filter(|near| near.at.id == target.at.id);
            // What the lead found by itself was read a moment ago.
            known.next().map_or_else(|| hash_of(target), |near| near.seen)
        });
        rulings.push(LeadRuling {
            candidate_id: decision.candidate_id,
            action: decision.action,
            target: target.map(|memory| memory.at.id),
            seen,
            quote: decision.quote,
            reason: decision.reason,
        });
    }
    rulings
}

fn hash_of(memory: &Memory) -> ContentHash {
    ContentHash::of(memory.document.as_str().as_bytes())
}

fn read(answer: &Value) -> Vec<LeadDecision> {
    // The schema was checked before.
    serde_json::from_value::<Decisions>(answer.clone())
        .map(|read| read.decisions)
        .unwrap_or_default()
}

fn counted(decisions: &[LeadDecision], cases: &[Case]) -> Vec<String> {
    let mut faults = Vec::new();
    for case in cases {
        let id = &case.candidate_id;
        match decisions.iter().filter(|decision| decision.candidate_id == *id).count() {
            1 => {}
            0 => faults.push(format!("{id}: there is no decision about it")),
            n => faults.push(format!("{id}: there are {n} decisions; one action a candidate")),
        }
    }
    faults
}

/// Holds one decision against the store; returns the memory that it is about.
fn look(decision: &LeadDecision, cases: &[Case], store: &Store) -> Result<Option<Memory>, String> {
    let id = &decision.candidate_id;
    let case = cases.iter().find(|case| case.candidate_id == *id);
    let case = case.ok_or_else(|| format!("{id}: no such candidate was asked about"))?;
    looked(decision, case, store).map_err(|why| format!("{id}: {why}"))
}

fn looked(decision: &LeadDecision, case: &Case, store: &Store) -> Result<Option<Memory>, String> {
    let own = case.memory_type();
    if decision.r#type != own.as_str() {
        return Err(format!("it is a {own}, not a {}", decision.r#type));
    }
    if decision.action == LeadAction::Add {
        let texts = case.quotes.iter().chain([&case.title, &case.body]);
        let is_there = texts.into_iter().any(|text| occurs(&decision.quote, text));
        return if is_there { Ok(None) } else { Err("the candidate does not say that".to_owned()) };
    }
    let Some(file) = &decision.matched_file else {
        return Err("name the matched file".to_owned());
    };
    let at = place(file)?;
    if decision.action.changes_target() && at.memory_type != own {
        return Err(format!("`{file}` is a {}, and the candidate is a {own}", at.memory_type));
    }
    let memory = store.get(at.id.as_str()).map_err(|_| format!("there is no memory `{file}`"))?;
    if memory.at.path != at.path {
        return Err(format!("there is no memory `{file}`"));
    }
    if memory.status == Status::Superseded {
        return Err(format!("`{file}` was overturned already"));
    }
    let is_there =
        occurs(&decision.quote, &memory.title) || occurs(&decision.quote, memory.document.body());
    if is_there { Ok(Some(memory)) } else { Err(format!("the quote does not occur in `{file}`")) }
}

/// The place of a memory that may be decided about. Paths are relative to the memory root.
pub(super) fn place(file: &str) -> Result<Located, String> {
    let below = file.trim_start_matches("./");
    let below = below.strip_prefix("memory/").unwrap_or(below);
    let at = Located::from_path(&format!("memory/{below}"));
    let at = at.ok_or_else(|| format!("`{}` is no place of a memory", file.escape_debug()))?;
    match (at.memory_type, at.shelf) {
        (MemoryType::Summary, _) => {
            Err(format!("`{file}` is a summary; each run writes its own, and no other is changed"))
        }
        (_, Shelf::Archived) => Err(format!("`{file}` was put away by a person")),
        (MemoryType::Decision | MemoryType::Learning, Shelf::Active) => Ok(at),
    }
}

/// Whether a text holds the quote, white space aside.
pub(super) fn occurs(quote: &str, text: &str) -> bool {
    let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let quote = folded(quote);
    MIN_QUOTE_CHARS <= quote.chars().count() && folded(text).contains(&quote)
}
