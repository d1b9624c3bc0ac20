//! Creates a store and, without using a model, asks questions with known answers about it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::tools::{MemoryHandle, recall};
use nacre_memory::recall::tell;
use nacre_memory::{Rules, Store};

const LIMIT: usize = 5;

pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) title: String,
    pub(crate) body: String,
}

/// A question and the IDs of the memories that answer it. The list may be empty.
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) right: BTreeSet<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) known: usize,
    /// Number of questions whose answer contains the right memory. `first` counts those for which
    /// it is ranked first.
    pub(crate) right: usize,
    pub(crate) first: usize,
    /// Number of questions without an answer. `declined` counts those for which none was returned.
    pub(crate) unknown: usize,
    pub(crate) declined: usize,
    pub(crate) missed: Vec<String>,
    /// One line per question, for tuning the thresholds.
    pub(crate) rows: String,
}

/// Parses lines of the form `id | kind | title | body | question`, and a list of questions without
/// an answer.
pub(crate) fn read_table(memories: &str, unknown: &str) -> (Vec<Page>, Vec<Question>) {
    let (mut pages, mut questions) = (Vec::new(), Vec::new());
    for line in memories.lines() {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [id, kind, title, body, text] = parts[..] else {
            panic!("expected five columns: {line}")
        };
        let [id, kind, title, body] = [id, kind, title, body].map(str::to_owned);
        questions.push(Question { text: text.to_owned(), right: BTreeSet::from([id.clone()]) });
        pages.push(Page { id, kind, title, body });
    }
    let nothing = |text: &str| Question { text: text.to_owned(), right: BTreeSet::new() };
    questions.extend(unknown.lines().map(nothing));
    (pages, questions)
}

pub(crate) fn measure(folder: &Path, pages: &[Page], questions: &[Question]) -> Measured {
    pages.iter().for_each(|page| write(folder, page));
    let store = Store::new(WriteScope::open(folder, Access::Private).unwrap(), Rules::default());
    let stores = [MemoryHandle {
        store: Arc::new(store),
        owner: Owner { pid: 1, command: "bench".to_owned(), since: String::new() },
        patience: Duration::ZERO,
        source: "bench".to_owned(),
        is_claims_only: false,
    }];
    let now: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
    let mut measured = Measured::default();
    for question in questions {
        let nacre_memory::recall::Recalled { passages, n_broken, .. } =
            recall(&stores, &question.text, LIMIT, now).unwrap();
        assert_eq!(n_broken, 0, "every page must be a valid memory");
        for passage in passages.iter().take(2) {
            let is_right = question.right.contains(passage.id.as_str());
            let _ = writeln!(
                measured.rows,
                "{}\t{is_right}\t{:.3}\t{:.3}\t{:.3}\t{}\t{}",
                question.right.len(),
                passage.score,
                passage.lexical,
                passage.similarity,
                question.text,
                passage.id
            );
        }
        let told = tell(&question.text, passages);
        let ids: Vec<&str> = told.iter().map(|told| told.passage.id.as_str()).collect();
        measured.count(question, &ids);
    }
    measured
}

impl Measured {
    fn count(&mut self, question: &Question, ids: &[&str]) {
        if question.right.is_empty() {
            self.unknown += 1;
            self.declined += usize::from(ids.is_empty());
            if !ids.is_empty() {
                self.missed.push(format!("answered: {} with {}", question.text, ids[0]));
            }
            return;
        }
        self.known += 1;
        let is_right = |id: &&str| question.right.contains(*id);
        self.first += usize::from(ids.first().is_some_and(is_right));
        if ids.iter().any(is_right) {
            self.right += 1;
        } else {
            self.missed.push(format!("missed: {}", question.text));
        }
    }
}

fn write(folder: &Path, page: &Page) {
    let Page { id, kind, title, body } = page;
    let (place, kind) = match kind.as_str() {
        "decision" => ("decisions", String::new()),
        kind => ("learnings", format!("kind: {kind}\n")),
    };
    let folder = folder.join("memory").join(place);
    fs::create_dir_all(&folder).unwrap();
    let title = serde_json::to_string(title).unwrap();
    let text = format!("---\nid: {id}\ntitle: {title}\n{kind}---\n\n{body}\n");
    fs::write(folder.join(format!("{id}.md")), text).unwrap();
}
