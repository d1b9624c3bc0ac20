//! LongMemEval: each question has its own haystack of sessions. Each hit is a session.

use nacre_memory::search::{Level, Record, Unit, Voice};
use serde::Deserialize;

use super::{DatasetError, Haystack, Question, single_keys, time};

#[derive(Deserialize)]
struct Line {
    question_id: String,
    question_type: String,
    question: String,
    question_date: String,
    answer_session_ids: Vec<String>,
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
struct Session {
    id: String,
    ts: String,
    text: String,
}

pub(crate) fn read(text: &str) -> Result<Vec<Haystack>, DatasetError> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.enumerate().map(|(idx, line)| haystack(idx, line)).collect()
}

fn haystack(idx: usize, line: &str) -> Result<Haystack, DatasetError> {
    let line: Line = serde_json::from_str(line)
        .map_err(|error| DatasetError::new("longmemeval", format!("line {}: {error}", idx + 1)))?;
    let mut truth: Vec<(i64, String)> = Vec::new();
    let mut units = Vec::new();
    for session in line.sessions {
        let time_ms = time::milliseconds(&session.ts);
        if line.answer_session_ids.contains(&session.id) {
            truth.push((time_ms, session.id.clone()));
        }
        units.push(unit(session, time_ms));
    }
    truth.sort();
    // If a question is about a value that changed over time, the last session contains the current
    // value.
    let newest = truth.last().map(|(_, id)| id.clone());
    let outdated = truth.iter().map(|(_, id)| id.clone()).filter(|id| Some(id) != newest.as_ref());
    let outdated = outdated.filter(|_| line.question_type == "knowledge-update").collect();
    let question = Question {
        text: line.question,
        category: line.question_type,
        asked: time::parse(&line.question_date),
        truth: single_keys(line.answer_session_ids),
        outdated,
        id: line.question_id.clone(),
    };
    Ok(Haystack {
        units,
        level: Level::Units,
        is_conversation: true,
        has_baseline: false,
        questions: vec![question],
    })
}

fn unit(session: Session, time_ms: i64) -> Unit {
    let record = Record {
        key: session.id.clone(),
        body: session.text,
        voice: Voice::User,
        time_ms,
        ..Record::default()
    };
    Unit { records: vec![record], key: session.id, ..Unit::default() }
}
