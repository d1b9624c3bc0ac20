//! Records every call, and counts it toward the call budget.

use crate::model::ToolCall;
use crate::record::{BoundedText, Fault, ToolFacts};
use crate::tools::pipeline::execute::Performed;
use crate::tools::pipeline::shape::Shaped;
use crate::tools::tool::{ToolError, ToolSpec};

#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    pub facts: ToolFacts,
    pub spill: Option<String>,
}

impl CallRecord {
    pub(super) fn new(
        step: u32,
        call: &ToolCall,
        spec: Option<&ToolSpec>,
        done: &Performed,
        shaped: &Shaped,
    ) -> Self {
        // Use the name that the model wrote, because the tool may not exist.
        let tool: String = call.name.chars().take(80).collect();
        let facts = ToolFacts {
            step,
            call: BoundedText::new(&call.id),
            tool: BoundedText::new(&tool),
            category: spec.map(|spec| spec.category),
            fault: done.result.as_ref().err().map(|error| error.fault),
            duration_us: u64::try_from(done.took.as_micros()).unwrap_or(u64::MAX),
            bytes_in: call.arguments.as_object().to_string().len() as u64,
            bytes_out: shaped.said_bytes as u64,
            shown_bytes: shaped.text.len() as u64,
            changed: done.changed.iter().take(ToolFacts::MAX_CHANGED).cloned().collect(),
            n_changed: done.changed.len(),
        };
        Self { facts, spill: shaped.spill.clone() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetState {
    Within,
    /// At least 90 % of the budget has been used.
    Nearly,
    /// The next model call gets no tools, so that the run ends with an answer.
    Spent,
}

#[derive(Debug)]
pub(super) struct CallBudget {
    pub(super) limit: u32,
    pub(super) used: u32,
    noticed: BudgetState,
}

impl CallBudget {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, used: 0, noticed: BudgetState::Within }
    }

    /// Counts one call. Returns false if the call exceeds the budget.
    pub(super) fn take(&mut self) -> bool {
        self.used = self.used.saturating_add(1);
        self.used <= self.limit
    }

    pub(super) fn refusal(&self) -> ToolError {
        let what = format!("All {} tool calls of this run have been used", self.limit);
        ToolError::new(Fault::BudgetSpent, what, "Answer now with the information that you have.")
    }

    pub(super) fn settle(&mut self) -> (BudgetState, Option<String>) {
        let left = self.limit.saturating_sub(self.used);
        let state = match left {
            0 => BudgetState::Spent,
            _ if u64::from(self.used) * 10 >= u64::from(self.limit) * 9 => BudgetState::Nearly,
            _ => BudgetState::Within,
        };
        let is_new = state != self.noticed;
        self.noticed = state;
        let notice = match state {
            BudgetState::Within => None,
            BudgetState::Nearly => Some(format!(
                "{left} of {} tool calls are left. Finish the most important work and answer.",
                self.limit
            )),
            BudgetState::Spent => Some("No tool calls are left. Answer now.".to_owned()),
        };
        (state, notice.filter(|_| is_new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notice_comes_once_at_nine_tenths_and_once_at_the_end() {
        let mut budget = CallBudget::new(20);
        let mut notices = Vec::new();
        for call in 1..=25 {
            let is_within = budget.take();
            assert_eq!(is_within, call <= 20, "call {call}");
            if let (_, Some(notice)) = budget.settle() {
                notices.push((call, notice));
            }
        }
        assert_eq!(
            notices,
            [
                (
                    18,
                    "2 of 20 tool calls are left. Finish the most important work and answer."
                        .to_owned()
                ),
                (20, "No tool calls are left. Answer now.".to_owned()),
            ]
        );
    }

    #[test]
    fn a_run_without_calls_is_spent_from_the_start() {
        let mut budget = CallBudget::new(0);
        assert!(!budget.take());
        assert_eq!(budget.settle().0, BudgetState::Spent);
    }
}
