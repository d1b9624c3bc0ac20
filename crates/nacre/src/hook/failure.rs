//! Recognizes a failed shell command, and returns what it printed.
//!
//! Some agents report an error; others pass only the output, either as text or in an object.

use serde_json::Value;

/// Number of bytes to read from the end of the output.
const MAX_BYTES: usize = 4000;

/// Lowercase prefixes of lines that indicate a failure. Used only if the output does not include an
/// exit code.
const FAILURES: [&str; 7] =
    ["error", "exception", "fail", "fatal", "npm err", "panic", "traceback"];

/// Returns the end of the output, or `None` if the command did not fail. Indented lines are left
/// out: most belong to stack traces, which contain many names that match memories by chance.
pub(super) fn read(input: &Value) -> Option<String> {
    let (error, result) = (input["error"].as_str(), &input["tool_response"]);
    let text = error.or(result.as_str()).or(result["llmContent"].as_str())?;
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES))..];
    let is_failed = error.is_some() || says_failure(&end.to_ascii_lowercase());
    let lines = end.lines().filter(|line| !line.starts_with([' ', '\t']));
    is_failed.then(|| lines.collect::<Vec<_>>().join("\n"))
}

fn says_failure(output: &str) -> bool {
    let code = output.rsplit_once("exit code").and_then(|(_, after)| {
        let digits = after.trim_start_matches([':', ' ']);
        digits.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
    });
    let begins = |line: &str| FAILURES.iter().any(|start| line.starts_with(start));
    code.map_or_else(|| output.lines().any(begins), |code| code != 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_is_known_by_its_error_its_exit_code_or_its_words() {
        let gemini = |text: &str| json!({"tool_response": {"llmContent": text}});
        let codex = |text: &str| json!({"tool_response": text});
        let long = "x".repeat(9_000) + "\nfatal: no such ref";
        for (input, expected) in [
            (json!({"error": "Exit code 1\nno table"}), Some("Exit code 1\nno table")),
            (
                gemini("Output: a\nExit Code: 1\nSignal: 0"),
                Some("Output: a\nExit Code: 1\nSignal: 0"),
            ),
            (gemini("Error: (none)\nExit Code: 0"), None),
            (codex("a\nerror[E0382]: moved\n   --> b.rs:3"), Some("a\nerror[E0382]: moved")),
            (codex("3 files changed, no error"), None),
            (codex(&long), Some(&long[long.len() - 4000..])),
            (json!({"error": {"message": "x"}, "tool_response": ["error"]}), None),
            (json!({}), None),
        ] {
            assert_eq!(read(&input).as_deref(), expected, "{input}");
        }
    }
}
