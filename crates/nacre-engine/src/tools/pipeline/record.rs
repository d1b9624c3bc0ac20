//! What is written down about every call, and the sums of it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::tool::ToolSpec;
use super::execute::Performed;
use super::is_denial;
use super::shape::Shaped;
use crate::model::ToolCall;
use crate::record::{BoundedText, CacheUse, ToolFacts};
use crate::record::{Category, Change, Fault};
use crate::record::{RunEffects, ShownLines};

/// The facts about one call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    pub call_id: String,
    /// As the model wrote it, which need not be a tool that exists.
    pub tool: String,
    pub category: Option<Category>,
    /// Why it did not work; `None` when it did.
    pub fault: Option<Fault>,
    pub cache: CacheUse,
    pub took: Duration,
    pub argument_bytes: usize,
    /// What the tool said, and how much of it the model reads.
    pub said_bytes: usize,
    pub shown_bytes: usize,
    /// The file that keeps all of it, where it was cut.
    pub spill: Option<String>,
    /// Secrets that were taken out.
    pub n_redacted: usize,
    pub changed: Vec<Change>,
    pub changes_memory: bool,
}

impl CallRecord {
    pub(super) fn new(
        call: &ToolCall,
        spec: Option<&ToolSpec>,
        done: &Performed,
        shaped: &Shaped,
    ) -> Self {
        Self {
            call_id: call.id.clone(),
            tool: call.name.chars().take(80).collect(),
            category: spec.map(|spec| spec.category),
            fault: done.result.as_ref().err().map(|error| error.fault),
            cache: done.cache,
            took: done.took,
            argument_bytes: call.arguments.as_object().to_string().len(),
            said_bytes: shaped.said_bytes,
            shown_bytes: shaped.text.len(),
            spill: shaped.spill.clone(),
            n_redacted: shaped.n_redacted,
            changed: done.changed.clone(),
            changes_memory: done.changes_memory,
        }
    }

    /// The same for the event of the call.
    pub(super) fn facts(&self, step: u32) -> ToolFacts {
        ToolFacts {
            step,
            call: BoundedText::new(&self.call_id),
            tool: BoundedText::new(&self.tool),
            category: self.category,
            fault: self.fault,
            cache: self.cache,
            duration_us: u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
            bytes_in: self.argument_bytes as u64,
            bytes_out: self.said_bytes as u64,
            shown_bytes: self.shown_bytes as u64,
            changed: self.changed.iter().take(ToolFacts::MAX_CHANGED).cloned().collect(),
            n_changed: self.changed.len(),
        }
    }
}

/// Sums over the calls of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    pub calls: u32,
    pub failed: u32,
    /// Calls for what the agent may not have.
    pub denied: u32,
    pub budget_blocked: u32,
    pub cache_hits: u32,
    pub memory_changes: u32,
    pub by_category: BTreeMap<Category, u32>,
    pub by_fault: BTreeMap<Fault, u32>,
    pub changed: Vec<Change>,
    /// The sum over calls, also those that ran together.
    pub took: Duration,
    /// The lines of files that results showed.
    pub shown: ShownLines,
}

impl Tally {
    pub(super) fn add(&mut self, record: &CallRecord) {
        self.calls += 1;
        self.took += record.took;
        self.cache_hits += u32::from(record.cache == CacheUse::Hit);
        if let Some(category) = record.category {
            *self.by_category.entry(category).or_default() += 1;
        }
        match record.fault {
            Some(fault) => {
                self.failed += 1;
                self.denied += u32::from(is_denial(fault));
                self.budget_blocked += u32::from(fault == Fault::BudgetSpent);
                *self.by_fault.entry(fault).or_default() += 1;
            }
            None => self.memory_changes += u32::from(record.changes_memory),
        }
        self.changed.extend(record.changed.iter().cloned());
    }

    /// The same as an agent's answer is checked against.
    pub fn effects(&self) -> RunEffects {
        RunEffects {
            changed: self.changed.clone(),
            tool_calls: self.calls,
            failed_calls: self.failed,
            denied_calls: self.denied,
            memory_changes: self.memory_changes,
            shown: self.shown.clone(),
        }
    }
}
