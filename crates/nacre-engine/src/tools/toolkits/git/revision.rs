//! Names of commits that a model wrote.

use super::super::super::tool::ToolError;
use crate::record::Fault;

/// Takes a name such as `HEAD~2`, `v1.0` or a hash; nothing that git could take for an option, a range or a file.
pub(super) fn revision(text: &str) -> Result<String, ToolError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@{}^~-+#".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@');
    let is_good = starts_well && text.len() <= 200 && text.chars().all(is_plain);
    if is_good && !text.contains("..") && !text.contains("^{/") {
        return Ok(format!("{text}^{{commit}}"));
    }
    let shown: String = text.chars().take(80).collect();
    let what = format!("`{shown}` names no commit");
    Err(ToolError::new(Fault::Arguments, what, "Name one such as `HEAD~1` or a hash."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_of_commits_pass() {
        for text in ["HEAD", "HEAD~2", "v1.0", "feature/x-y", "@{1}", "a1b2c3", "main^2"] {
            assert!(revision(text).is_ok(), "{text}");
        }
        let long = "a".repeat(201);
        for text in [
            "",
            "-p",
            "--output=x",
            "a..b",
            "HEAD:.env",
            ":/x",
            "a b",
            "a\nb",
            "^main",
            "HEAD^{/x}",
            &long,
        ] {
            assert!(revision(text).is_err(), "{text}");
        }
    }
}
