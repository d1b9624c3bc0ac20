//! Questions to a person that a call waits for, and what was allowed for the rest of a session.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nacre_api::wire::{AnsweredBy, ApprovalAnswer, ApprovalAnswerReport, ApprovalAnswerRequest};
use tokio::sync::oneshot;

use crate::error::OpError;

/// Without an answer for this long it is a no.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// The questions of all turns that wait for an answer.
#[derive(Default)]
pub(super) struct Approvals {
    waiting: Mutex<BTreeMap<String, oneshot::Sender<ApprovalAnswer>>>,
}

impl Approvals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, oneshot::Sender<ApprovalAnswer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a question. The first answer counts.
    pub(super) fn answer(
        &self,
        request: &ApprovalAnswerRequest,
    ) -> Result<ApprovalAnswerReport, OpError> {
        let ApprovalAnswerRequest { approval, answer } = request;
        let waiting = self.lock().remove(approval);
        let is_taken = waiting.is_some_and(|waiting| waiting.send(answer.clone()).is_ok());
        if is_taken {
            return Ok(ApprovalAnswerReport { approval: approval.clone() });
        }
        let shown: String = approval.chars().take(60).collect();
        Err(OpError::not_found(format!("Nobody waits for an answer to `{shown}` any more")))
    }

    /// Puts a question that is told by `tell`, and waits for its answer.
    pub(super) async fn ask(
        &self,
        approval: &str,
        tell: impl FnOnce(),
    ) -> (ApprovalAnswer, AnsweredBy) {
        let (sender, answer) = oneshot::channel();
        self.lock().insert(approval.to_owned(), sender);
        // Taken away with the question, whatever becomes of it: a turn that is cancelled waits no longer.
        let _place = Place { approvals: self, approval };
        tell();
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => (answer, AnsweredBy::Person),
            Ok(Err(_)) | Err(_) => {
                (ApprovalAnswer::Deny { reason: "Nobody answered".to_owned() }, AnsweredBy::Timeout)
            }
        }
    }
}

struct Place<'a> {
    approvals: &'a Approvals,
    approval: &'a str,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.approvals.lock().remove(self.approval);
    }
}
