//! Nacre's own format: one JSON object per line, either a record or a question.
//!
//! `docs/evaluation.md` describes the format. Records with the same `session` are adjacent. Each
//! hit is a record.

use std::collections::{BTreeMap, HashSet};

use nacre_memory::search::{Level, Link, LinkKind, Record, Standing, Unit, Voice};
use serde::Deserialize;

use super::{DatasetError, Haystack, Question, single_keys, time};

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
enum Line {
    Record {
        id: String,
        text: String,
        #[serde(default)]
        title: String,
        #[serde(default)]
        time: String,
        #[serde(default)]
        speaker: String,
        #[serde(default)]
        role: String,
        #[serde(default)]
        session: String,
        #[serde(default)]
        supersedes: Vec<String>,
        #[serde(default)]
        haystack: String,
    },
    Question {
        #[serde(default)]
        id: String,
        text: String,
        truth: HashSet<String>,
        #[serde(default)]
        outdated: HashSet<String>,
        #[serde(default)]
        category: String,
        #[serde(default)]
        time: String,
        #[serde(default)]
        haystack: String,
    },
}

#[derive(Default)]
struct Parts {
    units: BTreeMap<String, Vec<Record>>,
    overturned: HashSet<String>,
    questions: Vec<Question>,
}

pub(crate) fn read(text: &str) -> Result<Vec<Haystack>, DatasetError> {
    let mut haystacks: BTreeMap<String, Parts> = BTreeMap::new();
    for (idx, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line)
            .map_err(|error| DatasetError::new("jsonl", format!("line {}: {error}", idx + 1)))?;
        take(line, &mut haystacks);
    }
    Ok(haystacks.into_values().map(finish).collect())
}

fn take(line: Line, haystacks: &mut BTreeMap<String, Parts>) {
    match line {
        Line::Record { id, text, title, time, speaker, role, session, supersedes, haystack } => {
            let parts = haystacks.entry(haystack).or_default();
            parts.overturned.extend(supersedes.iter().cloned());
            let link = |to: &String| Link { kind: LinkKind::Supersedes, to: to.clone() };
            let unit = if session.is_empty() { id.clone() } else { session };
            let mut facets: Vec<(&'static str, String)> = vec![("id", id.clone())];
            facets.extend(supersedes.iter().map(|id| ("supersedes", id.clone())));
            parts.units.entry(unit).or_default().push(Record {
                links: supersedes.iter().map(link).collect(),
                facets,
                time_ms: time::milliseconds(&time),
                voice: match role.as_str() {
                    "user" => Voice::User,
                    "assistant" => Voice::Assistant,
                    "tool" => Voice::Tool,
                    _ => Voice::None,
                },
                key: id,
                title,
                body: text,
                speaker,
                ..Record::default()
            });
        }
        Line::Question { id, text, truth, outdated, category, time, haystack } => {
            let asked = time::parse(&time);
            let truth = single_keys(truth);
            let question = Question { id, text, category, asked, truth, outdated };
            haystacks.entry(haystack).or_default().questions.push(question);
        }
    }
}

fn finish(parts: Parts) -> Haystack {
    let Parts { units, overturned, questions } = parts;
    let unit = |(key, mut records): (String, Vec<Record>)| {
        for record in records.iter_mut().filter(|record| overturned.contains(&record.key)) {
            record.standing = Standing::Superseded;
        }
        Unit { key, records, ..Unit::default() }
    };
    let is_conversation = units.values().any(|records| records.len() > 1);
    let units = units.into_iter().map(unit).collect();
    Haystack { units, level: Level::Records, is_conversation, has_baseline: false, questions }
}
