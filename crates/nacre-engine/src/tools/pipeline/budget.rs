//! How many calls a run may make: a notice when nine of ten are used, a refusal when all are.

use super::super::tool::ToolError;
use crate::record::Fault;

/// Where a run stands with its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetState {
    Within,
    /// Nine of ten calls are used.
    Nearly,
    /// The next model call should have no tools: a run ends with an answer.
    Spent,
}

#[derive(Debug)]
pub(super) struct CallBudget {
    limit: u32,
    used: u32,
    /// What the model was last told of.
    told: BudgetState,
}

impl CallBudget {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, used: 0, told: BudgetState::Within }
    }

    /// Counts one call; false when it is one too many.
    pub(super) fn take(&mut self) -> bool {
        self.used = self.used.saturating_add(1);
        self.used <= self.limit
    }

    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    pub(super) fn used(&self) -> u32 {
        self.used
    }

    pub(super) fn refusal(&self) -> ToolError {
        let what = format!("All {} tool calls of this run are used", self.limit);
        ToolError::new(Fault::BudgetSpent, what, "Answer now, with what you already know.")
    }

    /// Where the run stands after a step, with a sentence for the model where that is new.
    pub(super) fn settle(&mut self) -> (BudgetState, Option<String>) {
        let left = self.limit.saturating_sub(self.used);
        let state = match left {
            0 => BudgetState::Spent,
            // In whole numbers: used * 10 >= limit * 9.
            _ if u64::from(self.used) * 10 >= u64::from(self.limit) * 9 => BudgetState::Nearly,
            _ => BudgetState::Within,
        };
        let is_new = state != self.told;
        self.told = state;
        let notice = match state {
            BudgetState::Within => None,
            BudgetState::Nearly => Some(format!(
                "{left} of {} tool calls are left. Finish what matters and answer.",
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
                (18, "2 of 20 tool calls are left. Finish what matters and answer.".to_owned()),
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
