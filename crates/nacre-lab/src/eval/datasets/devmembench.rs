//! DevMemBench: short coding sessions from several projects, with questions about the decisions
//! made in them.

use nacre_memory::search::{Level, Record, Unit, Voice};
use serde::Deserialize;

use super::{DatasetError, Haystack, Question, single_keys, time};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    question_id: String,
    question_type: String,
    question: String,
    haystack_session_ids: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    session_id: String,
    metadata: Metadata,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Metadata {
    date: String,
    #[serde(default)]
    project: String,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: String,
}

pub(crate) fn read(questions: &str, sessions: &str) -> Result<Vec<Haystack>, DatasetError> {
    let wrong = |error: serde_json::Error| DatasetError::new("devmembench", error);
    let questions: Vec<Asked> = serde_json::from_str(questions).map_err(wrong)?;
    let sessions: Vec<Session> = serde_json::from_str(sessions).map_err(wrong)?;
    let answerable = questions.into_iter().filter(|asked| !asked.haystack_session_ids.is_empty());
    let questions = answerable.map(|asked| Question {
        id: asked.question_id,
        text: asked.question,
        category: asked.question_type,
        truth: single_keys(asked.haystack_session_ids),
        ..Question::default()
    });
    Ok(vec![Haystack {
        questions: questions.collect(),
        units: sessions.into_iter().map(unit).collect(),
        level: Level::Units,
        is_conversation: true,
        has_baseline: false,
    }])
}

fn unit(session: Session) -> Unit {
    let time_ms = time::milliseconds(&session.metadata.date);
    let project = &session.metadata.project;
    let records = session.messages.into_iter().enumerate().map(|(idx, message)| Record {
        key: format!("{}#{idx}", session.session_id),
        body: message.content,
        voice: if message.role == "user" { Voice::User } else { Voice::Assistant },
        facets: vec![("project", project.clone())],
        time_ms,
        ..Record::default()
    });
    Unit { records: records.collect(), key: session.session_id.clone(), ..Unit::default() }
}
