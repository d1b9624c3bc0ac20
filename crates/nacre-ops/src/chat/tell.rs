//! Converts an agent run's events to messages for clients.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nacre_engine::lifecycle::Item;
use nacre_engine::model::{Cost, Usage};
use nacre_engine::record::{DeltaKind, Event, Listener, Record};
use nacre_engine::tools::Checklist;
use nacre_types::{FilePatch, RecalledNote, TaskUpdate, TurnUsage};
use serde_json::Value;

use super::log::TaskLog;
use super::requests::{checklist, outcome};

/// Longer results are truncated in messages. The stored item has the complete result.
const SHOWN_BYTES: usize = 8 << 10;

const SUMMARY_CHARS: usize = 120;

const TELLING: &[&str] = &[
    "path", "script", "url", "query", "pattern", "to", "title", "id", "name", "revision",
    "message", "question", "symbol",
];

pub(super) struct TurnReporter {
    log: Arc<TaskLog>,
    checklist: Checklist,
    told: Mutex<ReportedUsage>,
}

#[derive(Default)]
struct ReportedUsage {
    usage: Usage,
    cost: Option<Cost>,
    has_unknown_cost: bool,
    window: (u64, u64),
    durations: BTreeMap<String, u64>,
    patches: BTreeMap<String, Vec<FilePatch>>,
}

impl TurnReporter {
    pub(super) fn new(log: Arc<TaskLog>, checklist: Checklist) -> Self {
        Self { log, checklist, told: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, ReportedUsage> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn usage(&self) -> TurnUsage {
        let told = self.lock();
        let output = told.usage.output;
        TurnUsage {
            input: told.usage.total() - output,
            output,
            context: told.window.0,
            window: told.window.1,
            cost_usd: told.cost.filter(|_| !told.has_unknown_cost).map(Cost::dollars),
        }
    }

    pub(super) fn report_saved(&self, items: &[Item]) {
        for item in items {
            if let Item::ToolResult { call, tool, status, text, .. } = item {
                self.tell_result(call, tool, outcome(*status, text), text);
            } else if let Item::Notice { text } = item {
                self.notice(text);
            }
        }
    }

    fn tell_result(&self, call: &str, tool: &str, outcome: nacre_types::ToolOutcome, text: &str) {
        let duration_ms = self.lock().durations.remove(call).unwrap_or(0) / 1000;
        let patches = self.lock().patches.remove(call).unwrap_or_default();
        let shown = &text[..text.floor_char_boundary(SHOWN_BYTES)];
        let (call, tool) = (call.to_owned(), tool.to_owned());
        let recalled = parse_recalled(&tool, text);
        let changes_list = tool.starts_with("checklist_");
        let text = first_lines(shown, text);
        self.log.tell(TaskUpdate::ToolResult { call, tool, outcome, text, patches, duration_ms });
        if !recalled.is_empty() {
            self.log.tell(TaskUpdate::Memory { recalled });
        }
        if changes_list {
            let items = checklist(&self.checklist.items());
            self.log.tell(TaskUpdate::Checklist { items });
        }
    }

    fn notice(&self, text: &str) {
        self.log.tell(TaskUpdate::Notice { text: text.to_owned() });
    }

    fn count(&self, usage: Usage, cost: Option<Cost>) {
        let mut told = self.lock();
        told.usage = told.usage.plus(usage);
        match cost {
            Some(cost) => told.cost = Some(told.cost.map_or(cost, |sum| sum.plus(cost))),
            None => told.has_unknown_cost = true,
        }
    }
}

impl Listener for TurnReporter {
    fn hear(&self, record: &Arc<Record>) {
        // A subagent has its own task, and its findings are in the call's result.
        if record.task != self.log.task {
            return;
        }
        #[expect(clippy::wildcard_enum_match_arm, reason = "clients see no other events")]
        match &record.event {
            Event::RunPrepare { model, .. } => {
                self.log.tell(TaskUpdate::Running { model: model.to_string() });
            }
            Event::StepStart { step } => self.log.tell(TaskUpdate::Step { step: *step }),
            Event::ContextPlan { tokens, limit, .. } => {
                self.lock().window = (*tokens as u64, *limit as u64);
            }
            Event::ModelDelta { kind: DeltaKind::Text, text } => self.log.say(text),
            Event::ModelDelta { kind: DeltaKind::Reasoning, text } => self.log.think(text),
            Event::ModelDelta { kind: DeltaKind::Replacement, text } => {
                self.log.tell(TaskUpdate::TextReplaced { text: text.clone() });
            }
            Event::ModelFinish(facts) => {
                self.count(facts.usage, facts.cost);
                self.log.tell(TaskUpdate::Usage(self.usage()));
            }
            Event::ToolCall { call, tool, arguments, .. } => {
                let text = arguments.as_str();
                let arguments: Value =
                    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
                let (call, tool) = (call.to_string(), tool.to_string());
                let summary = summary(&arguments);
                self.log.tell(TaskUpdate::ToolCall { call, tool, summary, arguments });
            }
            Event::ToolResult(facts) => {
                self.lock().durations.insert(facts.call.to_string(), facts.duration_us);
            }
            Event::ToolPatches { call, patches } => {
                let mut told = self.lock();
                let kept = told.patches.entry(call.to_string()).or_default();
                kept.extend(patches.iter().cloned());
            }
            Event::SkillOn { skill } => {
                self.log.tell(TaskUpdate::Skill { skill: skill.to_string() });
            }
            Event::RunSteer { text, .. } => {
                self.log.tell(TaskUpdate::Steered { text: text.to_string() });
            }
            Event::ModelRetry { why, wait_ms, .. } => {
                let seconds = wait_ms.div_ceil(1000);
                self.notice(&format!("No response: {why}. Retrying in {seconds} s"));
            }
            Event::ModelFallback { why, to, .. } => {
                self.notice(&format!("No response: {why}. Switching to {to}"));
            }
            Event::BudgetNotice { used, limit } => {
                self.notice(&format!("{used} of {limit} tool calls used"));
            }
            Event::BudgetBlock { limit } => {
                self.notice(&format!("All {limit} tool calls of this turn have been used"));
            }
            Event::ContextSummary { .. } => {
                self.notice("The beginning of the conversation was summarized to save space");
            }
            Event::Notice { text } => self.notice(text.as_str()),
            Event::Error { what, .. } => self.notice(what.as_str()),
            _ => {}
        }
    }
}

fn summary(arguments: &Value) -> String {
    let argv = arguments["argv"]
        .as_array()
        .map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "));
    let telling = TELLING.iter().find_map(|name| arguments[*name].as_str().map(str::to_owned));
    let text = argv.or(telling).unwrap_or_else(|| match arguments {
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.is_empty() => String::new(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            arguments.to_string()
        }
    });
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut short: String = line.trim().chars().take(SUMMARY_CHARS).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}

/// Parses the memories in a search result, one per line: `ID (type, status): title`.
fn parse_recalled(tool: &str, text: &str) -> Vec<RecalledNote> {
    if tool != "memory_search" {
        return Vec::new();
    }
    let note = |line: &str| {
        let (id, rest) = line.split_once(" (")?;
        let (_, title) = rest.split_once("): ")?;
        let is_id = id.starts_with(|c: char| c.is_ascii_digit()) && !id.contains(' ');
        is_id.then(|| RecalledNote { id: id.to_owned(), title: title.to_owned() })
    };
    text.lines().filter_map(note).collect()
}

/// Returns the complete lines in `cut`, followed by the number of omitted lines.
fn first_lines(cut: &str, text: &str) -> String {
    if cut.len() == text.len() {
        return text.to_owned();
    }
    // If the first line alone exceeds the limit, it is truncated.
    let whole = cut.rfind('\n').map_or(cut, |end| &cut[..=end]);
    let n_more = text[whole.len()..].lines().count();
    let end = if whole.ends_with('\n') { "" } else { "\n" };
    format!("{whole}{end}[{n_more} more lines are not shown]\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_result_ends_with_a_whole_line_and_says_what_is_left_out() {
        let text: String = (1..=10_000).map(|n| format!("{n}\n")).collect();
        let shown = first_lines(&text[..SHOWN_BYTES], &text);
        let lines: Vec<&str> = shown.lines().collect();
        let n_shown = lines.len() - 1;
        assert_eq!(lines[n_shown - 1], n_shown.to_string());
        assert_eq!(lines[n_shown], format!("[{} more lines are not shown]", 10_000 - n_shown));
        assert_eq!(first_lines("short\n", "short\n"), "short\n");
        let long = "x".repeat(20_000);
        assert!(first_lines(&long[..9], &long).ends_with("xx\n[1 more lines are not shown]\n"));
    }

    #[test]
    fn a_call_is_summed_up_by_what_it_is_about() {
        for (arguments, expected) in [
            (json!({ "path": "src/a.rs", "limit": 3 }), "src/a.rs"),
            (json!({ "argv": ["cargo", "test", "-p", "a"] }), "cargo test -p a"),
            (json!({ "script": "\n\nmake\nmake install" }), "make…"),
            (json!({}), ""),
            (json!({ "staged": true }), r#"{"staged":true}"#),
            (json!("{ broken"), "{ broken"),
        ] {
            assert_eq!(summary(&arguments), expected);
        }
        let text = "20260101-a (decision, active): Use SQLite\n  One file\nno (b): c";
        let notes = parse_recalled("memory_search", text);
        assert_eq!(notes.iter().map(|note| note.id.as_str()).collect::<Vec<_>>(), ["20260101-a"]);
        let long = summary(&json!({ "query": "x".repeat(500) }));
        assert_eq!(long.chars().count(), SUMMARY_CHARS + 1);
    }
}
