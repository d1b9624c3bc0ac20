//! Reads a `SKILL.md`: a few keys between two lines of dashes, and the instructions below them.
//!
//! Such a file comes with any repository, so its size, depth and words are bounded, and what is wrong with it is a
//! value to report, never a reason to stop.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_saphyr::Options;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

/// The largest file that is read, and the largest part of it between the dashes.
pub(super) const MAX_BYTES: u64 = 64 << 10;
const MAX_HEAD_BYTES: usize = 8 << 10;

const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1024;
const MAX_DEPTH: usize = 8;
const MAX_TOOLS: usize = 100;

/// Names that other agents give to tools that we have too. A name with a pattern, such as `Bash(git *)`, is not among
/// them: the pattern could not be held to, so the tool is not granted.
const FOREIGN_TOOLS: &[(&str, &[&str])] = &[
    ("Read", &["file_read"]),
    ("Glob", &["file_find"]),
    ("Grep", &["file_search"]),
    ("Write", &["file_create"]),
    ("Edit", &["file_edit"]),
    ("MultiEdit", &["file_edit"]),
    ("Bash", &["shell_run"]),
    ("WebFetch", &["web_fetch"]),
    ("WebSearch", &["web_search"]),
    ("TodoWrite", &["checklist_set", "checklist_update"]),
];

/// What a file of instructions says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) license: Option<String>,
    pub(super) allowed_tools: Option<BTreeSet<String>>,
    pub(super) body: String,
}

/// Why a file is no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSkill {
    #[error("it has no `SKILL.md`")]
    NoFile,
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("it is not text")]
    NotText,
    #[error("it does not begin with keys between two lines of `---`")]
    NoKeys,
    #[error("the keys between the lines of `---` are more than {MAX_HEAD_BYTES} bytes")]
    LongHead,
    #[error("its keys cannot be read: {0}")]
    Yaml(String),
    #[error("it has no `{0}`")]
    Missing(&'static str),
    #[error(
        "its name may have small letters, digits and single dashes only, at most {MAX_NAME_CHARS}"
    )]
    BadName,
    #[error("its name is not that of its folder")]
    OtherName,
    #[error("its description is longer than {MAX_DESCRIPTION_CHARS} characters")]
    LongDescription,
    #[error("it allows more than {MAX_TOOLS} tools")]
    ManyTools,
}

/// The keys that mean something here; others are for other programs.
#[derive(Debug, Deserialize)]
struct Head {
    name: Option<String>,
    description: Option<String>,
    license: Option<String>,
    #[serde(rename = "allowed-tools")]
    allowed_tools: Option<Words>,
}

/// A list, or its words in one text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Text(String),
}

pub(super) fn parse(bytes: &[u8], folder: &str) -> Result<Parsed, BadSkill> {
    let text = std::str::from_utf8(bytes).map_err(|_| BadSkill::NotText)?;
    let (head, body) = split(text).ok_or(BadSkill::NoKeys)?;
    if MAX_HEAD_BYTES < head.len() {
        return Err(BadSkill::LongHead);
    }
    let head: Head = serde_saphyr::from_str_with_options(head, options())
        .map_err(|error| BadSkill::Yaml(error.to_string().chars().take(200).collect()))?;
    let name = head.name.ok_or(BadSkill::Missing("name"))?;
    if !is_name(&name) {
        return Err(BadSkill::BadName);
    }
    if name != folder {
        return Err(BadSkill::OtherName);
    }
    let description = head.description.unwrap_or_default().trim().to_owned();
    if description.is_empty() {
        return Err(BadSkill::Missing("description"));
    }
    if MAX_DESCRIPTION_CHARS < description.chars().count() {
        return Err(BadSkill::LongDescription);
    }
    let allowed_tools = head.allowed_tools.map(tools).transpose()?;
    Ok(Parsed {
        name,
        description,
        license: head.license,
        allowed_tools,
        body: body.trim().to_owned(),
    })
}

/// Returns what stands between the two lines of dashes, and what follows.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Whether small letters and digits stand between single dashes.
pub(super) fn is_name(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    text.len() <= MAX_NAME_CHARS && text.split('-').all(is_word)
}

fn tools(words: Words) -> Result<BTreeSet<String>, BadSkill> {
    let words = match words {
        Words::List(list) => list,
        Words::Text(text) => apart(&text),
    };
    if MAX_TOOLS < words.len() {
        return Err(BadSkill::ManyTools);
    }
    let mut names = BTreeSet::new();
    for word in words {
        match FOREIGN_TOOLS.iter().find(|(foreign, _)| *foreign == word.trim()) {
            Some((_, ours)) => names.extend(ours.iter().map(|name| (*name).to_owned())),
            None => names.extend(Some(word.trim().to_owned()).filter(|word| !word.is_empty())),
        }
    }
    Ok(names)
}

/// Takes words apart at blanks and commas that are not in brackets.
fn apart(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_gap = depth == 0 && (c == ',' || c.is_whitespace());
        match words.last_mut() {
            Some(word) if !is_gap => word.push(c),
            Some(_) | None => words.push(String::new()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_documents: 1,
            max_depth: MAX_DEPTH,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        emit_comments: false,
        with_snippet: false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn skill(head: &str) -> Result<Parsed, BadSkill> {
        parse(format!("---\n{head}\n---\nDo it.\n").as_bytes(), "tidy-up")
    }

    #[test]
    fn a_skill_is_its_keys_and_its_instructions() {
        let parsed =
            skill("name: tidy-up\ndescription: Tidies.\nmetadata: {a: {b: 1}}\nlicense: MIT")
                .unwrap();
        assert_eq!(parsed.name, "tidy-up");
        assert_eq!((parsed.description.as_str(), parsed.body.as_str()), ("Tidies.", "Do it."));
        assert_eq!((parsed.license.as_deref(), parsed.allowed_tools), (Some("MIT"), None));
        let windows =
            "\u{feff}---\r\nname: tidy-up\r\ndescription: |\r\n  Two\r\n  lines\r\n---\r\n";
        assert_eq!(parse(windows.as_bytes(), "tidy-up").unwrap().description, "Two\nlines");
    }

    #[test]
    fn tools_are_a_list_or_words_and_a_pattern_grants_nothing() {
        for (written, expected) in [
            ("file_read git_diff", "file_read git_diff"),
            (
                "Read, Grep,Bash(git add:*, git commit:*)",
                "Bash(git add:*, git commit:*) file_read file_search",
            ),
            ("[file_read, TodoWrite]", "checklist_set checklist_update file_read"),
            ("\"\"", ""),
        ] {
            let parsed =
                skill(&format!("name: tidy-up\ndescription: x\nallowed-tools: {written}")).unwrap();
            let tools: Vec<String> = parsed.allowed_tools.unwrap().into_iter().collect();
            assert_eq!(tools.join(" "), expected, "{written}");
            assert!(!tools.contains(&"shell_run".to_owned()));
        }
    }

    #[test]
    fn what_is_no_skill_says_why() {
        let long = "x".repeat(1025);
        let deep = format!(
            "name: tidy-up\ndescription: x\nmetadata: {}{}",
            "[".repeat(50),
            "]".repeat(50)
        );
        let cases = [
            ("description: x".to_owned(), "it has no `name`"),
            ("name: tidy-up".to_owned(), "it has no `description`"),
            ("name: other\ndescription: x".to_owned(), "its name is not that of its folder"),
            (
                "name: Tidy\ndescription: x".to_owned(),
                "its name may have small letters, digits and single dashes only, at most 64",
            ),
            (
                format!("name: tidy-up\ndescription: {long}"),
                "its description is longer than 1024 characters",
            ),
        ];
        for (head, expected) in cases {
            assert_eq!(skill(&head).unwrap_err().to_string(), expected);
        }
        for head in
            ["name: [", "name: &a tidy-up\ndescription: *a", "name: tidy-up\nname: tidy-up", &deep]
        {
            assert!(matches!(skill(head), Err(BadSkill::Yaml(_))), "{head}");
        }
        for text in ["", "name: x", "---\nname: x\n", "--- \n---"] {
            assert_eq!(parse(text.as_bytes(), "x"), Err(BadSkill::NoKeys), "{text:?}");
        }
        assert_eq!(parse(b"---\n\xff\n---\n", "x"), Err(BadSkill::NotText));
        assert_eq!(skill(&format!("name: {}", "a".repeat(9000))), Err(BadSkill::LongHead));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_skill_or_a_reason(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes, "x");
            let framed = [b"---\n".as_slice(), &bytes, b"\n---\n"].concat();
            let _ = parse(&framed, "x");
        }

        #[test]
        fn any_keys_are_a_skill_or_a_reason(head in "[-a-z:{}\\[\\]&*!|>'\"# \n]{0,200}") {
            if let Ok(parsed) = skill(&head) {
                prop_assert_eq!(parsed.name, "tidy-up");
            }
        }
    }
}
