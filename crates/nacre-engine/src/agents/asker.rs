//! The agent behind `nacre ask`: answers a question from memories and cites an ID in each sentence.
//!
//! The answer consists of plain sentences, so that the caller can check each one as soon as it is
//! complete. The caller also verifies every ID.

use std::time::Duration;

use nacre_memory::recall::Passage;

use crate::lifecycle::{AgentSpec, Completion};
use crate::model::Role;
use crate::tools::{Budgets, Exec, MemoryUse, Permissions, quote_passage};

/// The exact text that the agent must return if the memories do not contain the answer.
pub const NOT_KNOWN: &str = "NOT KNOWN";

/// Searches session transcripts. This tool is offered only once a session has been read.
const TRACE_SEARCH: &str = "trace_search";

const PROMPT: &str = include_str!("asker.md").trim_ascii_end();

const TOOLS: &[&str] = &[
    "memory_recall",
    "trace_search",
    "file_read",
    "file_find",
    "file_search",
    "code_outline",
    "code_symbols",
];

const BUDGETS: Budgets = Budgets {
    steps: 8,
    tool_calls: 12,
    wall: Duration::from_secs(300),
    context_tokens: 32_000,
    answer_tokens: 2048,
    total_tokens: Some(300_000),
};

pub fn asker(permissions: &Permissions, offered: &[&str]) -> AgentSpec {
    let has_traces = offered.contains(&TRACE_SEARCH);
    AgentSpec {
        name: "ask",
        role: Role::Ask,
        prompt: prompt(has_traces),
        tools: TOOLS.iter().copied().filter(|tool| has_traces || *tool != TRACE_SEARCH).collect(),
        permissions: Permissions {
            reads: permissions.reads.clone(),
            denied: permissions.denied.clone(),
            exec: Exec::Nothing,
            memory: MemoryUse::Reads,
            ..Permissions::default()
        },
        budgets: BUDGETS,
        completion: Completion::EndTurn { signals: false },
        sums_up: false,
    }
}

fn prompt(has_traces: bool) -> String {
    let (traces, places) = match has_traces {
        true => (
            "`trace_search` finds what was said in earlier sessions, ",
            "A message of `trace_search` is cited by its place, as it is given: `[ab12cd34:7]`. ",
        ),
        false => ("", ""),
    };
    PROMPT.replace("{traces}", traces).replace("{places}", places)
}

/// Builds the prompt from the question and the matching passages. Every passage line starts with a
/// quote marker.
pub fn build_prompt(question: &str, passages: &[Passage]) -> String {
    if passages.is_empty() {
        return format!("{question}\n\nNo memory fits these words; look for others.");
    }
    let quoted: Vec<String> = passages.iter().map(quote_passage).collect();
    format!("{question}\n\nMemories that fit, best first:\n\n{}", quoted.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Area;

    #[test]
    fn an_asker_can_change_nothing_whoever_asks_it() {
        let generous = Permissions {
            reads: vec![Area::Tree(None)],
            writes: vec![Area::Tree(None)],
            denied: vec!["*.key".to_owned()],
            exec: Exec::Anything,
            network: true,
            memory: MemoryUse::Changes,
        };
        let spec = asker(&generous, &[TRACE_SEARCH]);
        assert!(spec.permissions.is_read_only());
        assert!(!spec.permissions.network);
        assert_eq!(spec.permissions.exec, Exec::Nothing);
        assert!(!spec.tools.contains(&"delegate"));
        assert_eq!(spec.permissions.denied, ["*.key"]);
    }

    #[test]
    fn the_prompt_says_the_words_that_the_host_listens_for() {
        assert!(PROMPT.contains(NOT_KNOWN));
    }

    #[test]
    fn the_prompt_names_only_tools_that_are_offered() {
        for offered in [&[][..], &[TRACE_SEARCH]] {
            let spec = asker(&Permissions::read_only(), offered);
            let is_offered = !offered.is_empty();
            assert_eq!(spec.prompt.contains(TRACE_SEARCH), is_offered, "{}", spec.prompt);
            assert_eq!(spec.tools.contains(&TRACE_SEARCH), is_offered);
            assert!(!spec.prompt.contains(['{', '}']), "{}", spec.prompt);
        }
    }
}
