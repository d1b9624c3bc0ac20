//! Tests with small data sets in every format, including that newer decisions rank above superseded
//! ones.

use std::collections::HashSet;

use nacre_memory::search::{Record, Voice};

use super::*;

fn measured(format: Format, text: &str, beside: &str) -> RetrievalReport {
    let haystacks = datasets::read(format, text, beside).unwrap();
    measure(&haystacks, Mode::Hybrid)
}

#[test]
fn locomo_is_read() {
    let text = r#"[{"sample_id": "c1", "conversation": {
        "speaker_a": "Ana", "speaker_b": "Bo", "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "I adopted a grey parrot."},
                      {"speaker": "Bo", "dia_id": "D1:2", "text": "I bought a canoe.", "blip_caption": "a red canoe"}]},
        "qa": [{"question": "What animal did Ana adopt?", "evidence": ["D1:1"], "category": 4},
               {"question": "What colour is the boat?", "evidence": ["D:1:2; D9:9"], "category": 1},
               {"question": "What did nobody say?", "evidence": ["D1:1"], "category": 5}]}]"#;
    let report = measured(Format::Locomo, text, "");
    assert_eq!((report.ranking.overall.questions, report.records), (2, 2));
    assert!(report.ranking.overall.recall_1 > 0.99);
    assert_eq!(report.ranking.categories.len(), 2);
}

#[test]
fn longmemeval_and_devmembench_are_read() {
    let line = r#"{"question_id": "q", "question_type": "knowledge-update", "question": "Where do I park?",
        "question_date": "2023/05/30 (Tue) 08:00", "answer_session_ids": ["a", "b"], "sessions": [
        {"id": "a", "ts": "2023/05/01 (Mon) 08:00", "text": "I park in the garage."},
        {"id": "b", "ts": "2023/05/20 (Sat) 08:00", "text": "I park on the street from now on."},
        {"id": "c", "ts": "2023/05/21 (Sun) 08:00", "text": "Soup recipes please."}]}"#;
    let report = measured(Format::Longmemeval, &line.replace('\n', " "), "");
    assert_eq!((report.ranking.overall.questions, report.ranking.overall.ordered), (1, 1));
    assert!(report.ranking.overall.recall_5 > 0.99);
    let questions = r#"[{"questionId": "Q1", "questionType": "tech", "question": "Which database does shop use?",
        "haystackSessionIds": ["S1"]}]"#;
    let sessions = r#"[{"sessionId": "S1", "metadata": {"date": "2025-01-15", "project": "shop"},
        "messages": [{"role": "user", "content": "Use PostgreSQL as the database."}]},
        {"sessionId": "S2", "metadata": {"date": "2025-01-16", "project": "blog"},
        "messages": [{"role": "user", "content": "Use SQLite as the database."}]}]"#;
    assert!(measured(Format::Devmembench, questions, sessions).ranking.overall.recall_1 > 0.99);
}

#[test]
fn a_wrong_file_is_told_with_its_line() {
    let error =
        datasets::read(Format::Jsonl, "{\"type\":\"record\",\"id\":\"a\",\"text\":\"x\"}\n{}", "")
            .unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    assert!(datasets::read(Format::Locomo, "{}", "").is_err());
    assert!(datasets::read(Format::Devmembench, "[]", "nothing").is_err());
}

#[test]
fn the_newer_decision_stands_first() {
    let text = include_str!("../../../../nacre/tests/fixtures/search/supersession.jsonl");
    let report = measured(Format::Jsonl, text, "");
    let newer = |category: &str| report.ranking.categories[category].newer_first.unwrap();
    assert!(newer("linked") >= 0.95, "{}", newer("linked"));
    assert!(newer("unlinked alike") >= 0.80, "{}", newer("unlinked alike"));
    // Two claims about the same subject are not necessarily versions of each other.
    assert!(report.ranking.categories["sibling"].recall_1 >= 0.90);
}

/// A session from a trace, with messages in the given order.
fn traced(path: &str, lines: &[(Voice, &str)]) -> messages::TracedSession {
    let message = |(idx, (voice, text)): (usize, &(Voice, &str))| messages::TracedMessage {
        record: Record {
            key: format!("{path}#{idx}"),
            voice: *voice,
            body: (*text).to_owned(),
            time_ms: idx as i64,
            ..Record::default()
        },
        text: (*text).to_owned(),
    };
    let messages = lines.iter().enumerate().map(message).collect();
    messages::TracedSession { path: path.to_owned(), name: String::new(), messages }
}

const QUESTIONS: &str = r#"
{"id": "q1", "question": "which port does the server use", "half": "tune", "changed": true, "answers": [{"session": "s.jsonl", "quote": "use port 9090", "role": "user"}], "older": [{"session": "s.jsonl", "quote": "listens on port 8080", "role": "assistant"}]}
{"id": "q2", "question": "which format was chosen", "changed": false, "answers": [{"session": "s.jsonl", "quote": "\"Which format?\"=\"Also .tgz\"", "role": "tool"}]}
{"id": "q3", "question": "what did the tool print", "changed": false, "answers": [{"session": "s.jsonl", "quote": "exit code 3", "role": "tool"}]}
{"id": "q4", "question": "who", "changed": false, "answers": [{"session": "other.md", "quote": "x", "role": "user"}]}
"#;

#[test]
fn messages_are_found_by_their_quotes() {
    let lines = [
        (Voice::Assistant, "The server listens on\nport 8080."),
        (Voice::User, "No, use port 9090."),
        (Voice::Assistant, "You said: use port 9090."),
        (Voice::User, "Also .tgz"),
    ];
    // A resumed session repeats the earlier messages.
    let sessions = vec![traced("s.jsonl", &lines), traced("again.jsonl", &lines[1..2])];
    let set = messages::read(QUESTIONS, sessions).unwrap();
    let [first, second] = &set.haystack.questions[..] else { panic!("{set:?}") };
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<HashSet<_>>();
    assert_eq!(first.truth, [keys(&["s.jsonl#1", "again.jsonl#0"])]);
    assert_eq!((first.outdated.clone(), &*first.category), (keys(&["s.jsonl#0"]), "tune changed"));
    assert_eq!(
        (&second.truth[..], &*second.category),
        (&[keys(&["s.jsonl#3"])][..], "all lasting")
    );
    let left_out: Vec<&str> = set.left_out.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(left_out, ["q3", "q4"]);
    let report = measure(&[set.haystack], Mode::Hybrid);
    assert_eq!(report.ranking.categories["tune changed"].newer_first, Some(1.0));
    assert_eq!(report.baseline.unwrap().overall.questions, 2);
    let error = messages::read("{}", Vec::new()).unwrap_err();
    assert!(error.to_string().contains("line 1"), "{error}");
}
