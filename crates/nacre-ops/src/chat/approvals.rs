//! Approval prompts for tool calls, and the user's responses.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nacre_engine::confine::Program;
use nacre_engine::tools::{ApprovalRequest, Approver, AskingPerson};
use nacre_types::{
    AnsweredBy, ApprovalAnswer, ApprovalAnswerReport, ApprovalAnswerRequest, TaskUpdate,
};
use tokio::sync::oneshot;

use super::ChatShared;
use super::log::TaskLog;
use crate::prelude::*;

/// How long to wait for approval before denying a call.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Default)]
pub(super) struct Approvals {
    waiting: Mutex<BTreeMap<String, oneshot::Sender<ApprovalAnswer>>>,
}

impl Approvals {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, oneshot::Sender<ApprovalAnswer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only the first response to a prompt counts.
    pub(super) fn answer(&self, request: &ApprovalAnswerRequest) -> Result<ApprovalAnswerReport> {
        let ApprovalAnswerRequest { approval, answer } = request;
        let waiting = self.lock().remove(approval);
        let is_taken = waiting.is_some_and(|waiting| waiting.send(answer.clone()).is_ok());
        if is_taken {
            return Ok(ApprovalAnswerReport { approval: approval.clone() });
        }
        let shown: String = approval.chars().take(60).collect();
        Err(OpError::not_found(format!("The approval request `{shown}` is no longer pending")))
    }

    /// Calls `tell` to report the prompt, then waits for a response.
    pub(super) async fn ask(
        &self,
        approval: &str,
        tell: impl FnOnce(),
    ) -> (ApprovalAnswer, AnsweredBy) {
        let (sender, answer) = oneshot::channel();
        self.lock().insert(approval.to_owned(), sender);
        // Removes the prompt on drop, even if the turn is cancelled.
        let _pending = PendingQuestion { approvals: self, approval };
        tell();
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => (answer, AnsweredBy::Person),
            Ok(Err(_)) | Err(_) => (deny("Nobody answered"), AnsweredBy::Timeout),
        }
    }
}

struct PendingQuestion<'a> {
    approvals: &'a Approvals,
    approval: &'a str,
}

impl Drop for PendingQuestion<'_> {
    fn drop(&mut self) {
        self.approvals.lock().remove(self.approval);
    }
}

/// Longer runs of spaces or empty lines are replaced with a count.
const MAX_BLANKS: usize = 40;
const MAX_EMPTY_LINES: usize = 2;

pub(super) struct TurnApprover {
    pub(super) chats: Arc<ChatShared>,
    pub(super) log: Arc<TaskLog>,
}

impl TurnApprover {
    async fn put(&self, request: &ApprovalRequest) -> ApprovalAnswer {
        let Ok(number) = self.chats.environment.random_bytes() else {
            return deny("Could not create the approval request");
        };
        let approval = format!("ask_{:016x}", u64::from_le_bytes(number));
        let (answer, by) = if self.log.latest.receiver_count() == 0 {
            (deny("No client was connected to answer"), AnsweredBy::Nobody)
        } else {
            let question = question(&approval, request);
            let tell = || self.log.tell(TaskUpdate::Approval(question));
            self.chats.approvals.ask(&approval, tell).await
        };
        self.log.tell(TaskUpdate::Decided { approval, answer: answer.clone(), by });
        answer
    }
}

impl Approver for TurnApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> AskingPerson<'a> {
        Box::pin(self.put(request))
    }
}

fn deny(reason: &str) -> ApprovalAnswer {
    ApprovalAnswer::Deny { reason: reason.to_owned() }
}

fn question(approval: &str, request: &ApprovalRequest) -> nacre_types::ApprovalRequest {
    let command = request.program.as_ref().map(|program| match program {
        Program::Argv { name, arguments } => {
            let words = std::iter::once(name).chain(arguments);
            let words: Vec<_> = words.map(|word| quote_word(word)).collect();
            without_gaps(&words.join(" "))
        }
        Program::Script(script) => without_gaps(script),
    });
    nacre_types::ApprovalRequest {
        approval: approval.to_owned(),
        call: request.call.clone(),
        tool: request.tool.clone(),
        summary: request.summary.clone(),
        touches: request.footprint.clone(),
        diff: request.diff.as_deref().map(diff_without_gaps),
        is_diff_cut: request.is_diff_cut,
        command,
        host: request.host.clone(),
    }
}

/// Quotes a word as a shell would, so that one word with spaces is not mistaken for two.
fn quote_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''")).into()
}

/// Replaces long runs of spaces and empty lines with a count, so that the end of a command cannot
/// be hidden from the user.
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

/// Like `without_gaps`, but for a diff, in which each line starts with `+`, `-` or a space.
fn diff_without_gaps(diff: &str) -> String {
    let mut text = String::with_capacity(diff.len());
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        let (side, rest) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let is_empty = |line: &str| line.strip_prefix(side).is_some_and(|it| it.trim().is_empty());
        let mut n_empty = usize::from(is_empty(line));
        while n_empty > 0 && lines.next_if(|next| is_empty(next)).is_some() {
            n_empty += 1;
        }
        text += &match n_empty {
            0 => format!("{side}{}\n", without_gaps(rest)),
            1..=MAX_EMPTY_LINES => format!("{side}\n").repeat(n_empty),
            n => format!("{side}[{n} empty lines]\n"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_in_a_diff() {
        let diff = format!(
            "--- a\n+++ a\n@@ -1,1 +1,9 @@\n fn a() {{}}\n+ok();{}evil();\n{}+evil();\n \n \n-\n",
            " ".repeat(3000),
            "+  \n".repeat(200)
        );
        let shown = "--- a\n+++ a\n@@ -1,1 +1,9 @@\n fn a() {}\n+ok(); [3000 blanks] evil();\n\
            +[200 empty lines]\n+evil();\n \n \n-\n";
        assert_eq!(diff_without_gaps(&diff), shown);
    }

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
        let words = ["sh", "-c", "a b", "it's", ""].map(quote_word).join(" ");
        assert_eq!(words, r"sh -c 'a b' 'it'\''s' ''");
    }
}
