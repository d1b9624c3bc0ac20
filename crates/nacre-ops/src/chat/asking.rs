//! Puts the questions of a run to whoever follows its turn.

use std::borrow::Cow;
use std::sync::Arc;

use nacre_api::wire::{self, AnsweredBy, TaskUpdate};
use nacre_engine::tools::{
    ApprovalAnswer, ApprovalPolicy, ApprovalRequest, Approver, AskingPerson, PreviewProgram,
};

use super::log::TaskLog;
use super::shared::{ChatShared, random};

/// Longer runs of blanks, and of lines without words, are shown as a count.
const MAX_BLANKS: usize = 40;
const MAX_EMPTY_LINES: usize = 2;

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
        PreviewProgram::Argv(words) => {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            without_gaps(&words.join(" "))
        }
        PreviewProgram::Script(script) => without_gaps(script),
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

/// A word of a command as a shell would read it, so that it can be told from two.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")).into(),
    }
}

/// A command with runs of blanks and of empty lines as a count, so that nothing hides behind them.
fn without_gaps(command: &str) -> String {
    let mut text = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(start) = rest.find(char::is_whitespace) {
        let (before, gap) = rest.split_at(start);
        let gap = &gap[..gap.find(|c: char| !c.is_whitespace()).unwrap_or(gap.len())];
        text.push_str(before);
        rest = &rest[start + gap.len()..];
        match (gap.matches('\n').count(), gap.chars().count()) {
            (0, n) if n > MAX_BLANKS => text.push_str(&format!(" [{n} blanks] ")),
            (n, _) if n > MAX_EMPTY_LINES => text.push_str(&format!("\n[{} empty lines]\n", n - 1)),
            (1.., n) if n > 2 * MAX_BLANKS => text.push_str(&format!("\n[{n} blanks]\n")),
            (_, _) => text.push_str(gap),
        }
    }
    text + rest
}

/// The policy in the engine's words.
pub(super) fn engine_policy(policy: wire::ApprovalPolicy) -> ApprovalPolicy {
    match policy {
        wire::ApprovalPolicy::Ask => ApprovalPolicy::Ask,
        wire::ApprovalPolicy::AutoEdit => ApprovalPolicy::AutoEdit,
        wire::ApprovalPolicy::Full => ApprovalPolicy::Full,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_in_a_command() {
        let hidden = format!(
            "ls -la{}; echo HIDDENPART\n{}echo HIDDENTAIL",
            " ".repeat(3000),
            "\n".repeat(200)
        );
        let shown = "ls -la [3000 blanks] ; echo HIDDENPART\n[200 empty lines]\necho HIDDENTAIL";
        assert_eq!(without_gaps(&hidden), shown);
        let code = "if x; then\n    make  -j\n\nfi\n";
        assert_eq!(without_gaps(code), code);
        assert_eq!(without_gaps(&format!("a{}\n\u{3000}b", " ".repeat(90))), "a\n[92 blanks]\nb");
        let words = ["sh", "-c", "a b", "it's", ""].map(quoted).join(" ");
        assert_eq!(words, r"sh -c 'a b' 'it'\''s' ''");
    }
}
