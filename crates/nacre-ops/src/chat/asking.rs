//! Puts the questions of a run to whoever follows its turn.

use std::sync::Arc;

use nacre_api::wire::{self, AnsweredBy, TaskUpdate};
use nacre_engine::tools::{
    ApprovalAnswer, ApprovalPolicy, ApprovalRequest, Approver, AskingPerson, PreviewProgram,
};

use super::log::TaskLog;
use super::shared::{ChatShared, random};

/// Asks the clients of one turn.
pub(super) struct Asking {
    chats: Arc<ChatShared>,
    log: Arc<TaskLog>,
}

impl Asking {
    pub(super) fn new(chats: Arc<ChatShared>, log: Arc<TaskLog>) -> Self {
        Self { chats, log }
    }

    async fn put(&self, request: &ApprovalRequest) -> ApprovalAnswer {
        let Ok(number) = random(&self.chats.environment) else {
            return ApprovalAnswer::Denied { reason: "The question could not be put".to_owned() };
        };
        let approval = format!("ask_{number:016x}");
        if self.log.n_followers() == 0 {
            return self.decided(&approval, no("Nobody was there to ask"), AnsweredBy::Nobody);
        }
        let question = question(&approval, request);
        let tell = || self.log.tell(TaskUpdate::Approval(question));
        let (answer, by) = self.chats.approvals.ask(&approval, tell).await;
        self.decided(&approval, answer, by)
    }

    fn decided(
        &self,
        approval: &str,
        answer: wire::ApprovalAnswer,
        by: AnsweredBy,
    ) -> ApprovalAnswer {
        let told = match &answer {
            wire::ApprovalAnswer::Once => ApprovalAnswer::Once,
            wire::ApprovalAnswer::Session => ApprovalAnswer::Session,
            wire::ApprovalAnswer::Deny { reason } => {
                ApprovalAnswer::Denied { reason: reason.clone() }
            }
        };
        self.log.tell(TaskUpdate::Decided { approval: approval.to_owned(), answer, by });
        told
    }
}

impl Approver for Asking {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> AskingPerson<'a> {
        Box::pin(self.put(request))
    }
}

fn no(reason: &str) -> wire::ApprovalAnswer {
    wire::ApprovalAnswer::Deny { reason: reason.to_owned() }
}

fn question(approval: &str, request: &ApprovalRequest) -> wire::ApprovalRequest {
    let command = request.program.as_ref().map(|program| match program {
        PreviewProgram::Argv(words) => words.join(" "),
        PreviewProgram::Script(script) => script.clone(),
    });
    wire::ApprovalRequest {
        approval: approval.to_owned(),
        call: request.call.clone(),
        tool: request.tool.clone(),
        summary: request.summary.clone(),
        touches: request.footprint.clone(),
        diff: request.diff.clone(),
        is_diff_cut: request.is_diff_cut,
        command,
        host: request.host.clone(),
    }
}

/// The policy in the engine's words.
pub(super) fn engine_policy(policy: wire::ApprovalPolicy) -> ApprovalPolicy {
    match policy {
        wire::ApprovalPolicy::Ask => ApprovalPolicy::Ask,
        wire::ApprovalPolicy::AutoEdit => ApprovalPolicy::AutoEdit,
        wire::ApprovalPolicy::Full => ApprovalPolicy::Full,
    }
}
