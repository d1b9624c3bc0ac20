//! LoCoMo: long conversations between two people, in dated sessions. Each turn is a record.

use std::collections::HashSet;

use nacre_memory::search::{Level, Record, Unit};
use serde_json::Value;

use super::{DatasetError, Haystack, Question, single_keys, time};

/// Category of questions that deliberately have no answer. Recall is undefined for them.
const ADVERSARIAL: u64 = 5;

pub(crate) fn read(text: &str) -> Result<Vec<Haystack>, DatasetError> {
    let wrong = |reason: &str| DatasetError::new("locomo", reason);
    let conversations: Vec<Value> =
        serde_json::from_str(text).map_err(|error| DatasetError::new("locomo", error))?;
    let mut haystacks = Vec::new();
    for conversation in conversations {
        let turns = conversation.get("conversation").ok_or_else(|| wrong("no `conversation`"))?;
        let units = sessions(turns);
        let known: HashSet<&str> =
            units.iter().flat_map(|unit| &unit.records).map(|record| record.key.as_str()).collect();
        let asked =
            conversation.get("qa").and_then(Value::as_array).ok_or_else(|| wrong("no `qa`"))?;
        let questions = asked.iter().enumerate().filter_map(|(idx, qa)| question(idx, qa, &known));
        let questions = questions.collect();
        haystacks.push(Haystack {
            units,
            level: Level::Records,
            is_conversation: true,
            has_baseline: false,
            questions,
        });
    }
    Ok(haystacks)
}

fn sessions(turns: &Value) -> Vec<Unit> {
    (1..)
        .map(|number| (number, turns.get(format!("session_{number}"))))
        .take_while(|(number, session)| session.is_some() || *number < 60)
        .filter_map(|(number, session)| Some((number, session?.as_array()?)))
        .map(|(number, session)| {
            let date = turns.get(format!("session_{number}_date_time")).and_then(Value::as_str);
            let time_ms = time::milliseconds(date.unwrap_or_default());
            let records = session.iter().map(|turn| record(turn, time_ms)).collect();
            Unit { key: format!("session_{number}"), records, ..Unit::default() }
        })
        .collect()
}

fn record(turn: &Value, time_ms: i64) -> Record {
    let text = |key: &str| turn.get(key).and_then(Value::as_str).unwrap_or_default();
    let caption = text("blip_caption");
    let shared = if caption.is_empty() { String::new() } else { format!(" [shares {caption}]") };
    Record {
        key: text("dia_id").to_owned(),
        body: format!("{}{shared}", text("text")),
        speaker: text("speaker").to_owned(),
        time_ms,
        ..Record::default()
    }
}

fn question(idx: usize, qa: &Value, known: &HashSet<&str>) -> Option<Question> {
    let category = qa.get("category").and_then(Value::as_u64)?;
    let evidence = qa.get("evidence").and_then(Value::as_array)?;
    let truth: HashSet<String> = evidence
        .iter()
        .filter_map(Value::as_str)
        .flat_map(turn_ids)
        .filter(|id| known.contains(id.as_str()))
        .collect();
    (category != ADVERSARIAL && !truth.is_empty()).then(|| Question {
        id: idx.to_string(),
        text: qa.get("question").and_then(Value::as_str).unwrap_or_default().to_owned(),
        category: name_of(category).to_owned(),
        truth: single_keys(truth),
        ..Question::default()
    })
}

/// Returns the turn IDs in an evidence string, which may list several IDs in different notations.
fn turn_ids(evidence: &str) -> Vec<String> {
    let evidence = evidence.replace("D:", "D");
    let id = |word: &str| {
        let (session, turn) = word.strip_prefix('D')?.split_once(':')?;
        Some(format!("D{}:{}", session.parse::<u32>().ok()?, turn.parse::<u32>().ok()?))
    };
    evidence.split(|c: char| !c.is_alphanumeric() && c != ':').filter_map(id).collect()
}

fn name_of(category: u64) -> &'static str {
    match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        _ => "other",
    }
}
