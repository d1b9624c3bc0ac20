//! Converts DevMemBench sessions to memories.

use serde::Deserialize;

use super::measure::{Page, Question};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    session_id: String,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    question: String,
    haystack_session_ids: Vec<String>,
}

/// Reads DevMemBench. Each message becomes a memory, and every message in a session counts as an
/// answer to that session's questions.
pub(crate) fn read_sessions(sessions: &str, questions: &str) -> (Vec<Page>, Vec<Question>) {
    let sessions: Vec<Session> = serde_json::from_str(sessions).unwrap();
    let asked: Vec<Asked> = serde_json::from_str(questions).unwrap();
    let mut pages = Vec::new();
    for session in &sessions {
        for (number, message) in session.messages.iter().enumerate() {
            let line = message.content.split_whitespace().collect::<Vec<_>>().join(" ");
            let title: String = line.chars().take(90).collect();
            let id = format!("20250101-{}-{number}", session.session_id.to_lowercase());
            let (kind, body) = ("insight".to_owned(), message.content.clone());
            pages.push(Page { id, kind, title, body });
        }
    }
    let question = |asked: Asked| {
        let sessions = asked.haystack_session_ids.iter();
        let heads: Vec<String> =
            sessions.map(|id| format!("20250101-{}-", id.to_lowercase())).collect();
        let is_right = |page: &&Page| heads.iter().any(|head| page.id.starts_with(head.as_str()));
        let right = pages.iter().filter(is_right).map(|page| page.id.clone()).collect();
        Question { text: asked.question, right }
    };
    let questions = asked.into_iter().map(question).collect();
    (pages, questions)
}
