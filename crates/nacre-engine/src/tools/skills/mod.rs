//! Skills: instructions in a file that an agent activates when needed.
//!
//! A skill can remove tools from an agent but never add any. Any repository may contain a
//! `SKILL.md`, so the file's size, depth and word count are limited, and errors in it are reported.

mod registry;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nacre_types::SkillOrigin;
use serde::Deserialize;
use serde_saphyr::Options;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

pub use registry::{SkillRegistry, SkillsReport};

const ARGUMENTS: &str = "$ARGUMENTS";

/// The tools for activating skills. They are never removed, so that an agent can switch to another
/// skill.
const ALWAYS: &[&str] = &["skill_list", "skill_activate"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub license: Option<String>,
    /// The only tools that may be used with this skill. `None` allows all.
    pub allowed_tools: Option<BTreeSet<String>>,
    pub body: String,
    pub origin: SkillOrigin,
    /// Path of the skill's file, or `None` for a bundled skill.
    pub path: Option<PathBuf>,
}

impl Skill {
    /// Returns the instructions with these arguments inserted at the placeholder, or appended if
    /// there is none.
    pub fn instructions(&self, arguments: &str) -> String {
        let arguments = arguments.trim();
        if self.body.contains(ARGUMENTS) {
            return self.body.replace(ARGUMENTS, arguments);
        }
        match arguments {
            "" => self.body.clone(),
            arguments => format!("{}\n\nArguments: {arguments}", self.body),
        }
    }
}

#[derive(Debug, Default)]
pub struct ActiveSkills(Mutex<Vec<Skill>>);

impl ActiveSkills {
    /// Activates a skill. Returns whether the skill was inactive before.
    pub fn add(&self, skill: Skill) -> bool {
        let mut active = self.lock();
        let is_new = active.iter().all(|known| known.name != skill.name);
        active.retain(|known| known.name != skill.name);
        active.push(skill);
        is_new
    }

    pub fn names(&self) -> Vec<String> {
        self.lock().iter().map(|skill| skill.name.clone()).collect()
    }

    /// Returns the allowed tools for `Pipeline::narrow`, or `None` if all are allowed.
    ///
    /// If several skills restrict the tools, every tool in any of their lists is allowed.
    pub fn narrowing(&self) -> Option<BTreeSet<String>> {
        let active = self.lock();
        let mut sets = active.iter().filter_map(|skill| skill.allowed_tools.as_ref()).peekable();
        sets.peek()?;
        let always = ALWAYS.iter().map(|name| (*name).to_owned());
        Some(sets.flatten().cloned().chain(always).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Skill>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MAX_BYTES: u64 = 64 << 10;
const MAX_HEAD_BYTES: usize = 8 << 10;

const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1024;
const MAX_DEPTH: usize = 8;
const MAX_TOOLS: usize = 100;

/// Other agents' names for tools that Nacre also has. A name with a pattern, such as `Bash(git *)`,
/// is not mapped, because Nacre could not enforce the pattern.
const FOREIGN_TOOLS: &[(&str, &str)] = &[
    ("Read", "file_read"),
    ("Glob", "file_find"),
    ("Grep", "file_search"),
    ("Write", "file_create"),
    ("Edit", "file_edit"),
    ("MultiEdit", "file_edit"),
    ("Bash", "shell_run"),
    ("WebFetch", "web_fetch"),
    ("WebSearch", "web_search"),
    ("TodoWrite", "checklist_set"),
];

#[derive(Debug, Deserialize)]
struct Head {
    name: Option<String>,
    description: Option<String>,
    license: Option<String>,
    #[serde(rename = "allowed-tools")]
    allowed_tools: Option<Words>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Text(String),
}

fn parse(bytes: &[u8], folder: &str, origin: SkillOrigin) -> Result<Skill, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text")?;
    let (head, body) =
        split(text).ok_or("it does not begin with a header between two `---` lines")?;
    if MAX_HEAD_BYTES < head.len() {
        return Err(format!(
            "the header between the `---` lines is longer than {MAX_HEAD_BYTES} bytes"
        ));
    }
    let head: Head = serde_saphyr::from_str_with_options(head, options())
        .map_err(|error| format!("its header cannot be read: {:.200}", error.to_string()))?;
    let name = head.name.ok_or("it has no `name`")?;
    if !is_name(&name) {
        return Err(bad_name());
    }
    if name != folder {
        return Err("its name differs from its directory name".to_owned());
    }
    let description = head.description.unwrap_or_default().trim().to_owned();
    if description.is_empty() {
        return Err("it has no `description`".to_owned());
    }
    if MAX_DESCRIPTION_CHARS < description.chars().count() {
        return Err(format!("its description is longer than {MAX_DESCRIPTION_CHARS} characters"));
    }
    let allowed_tools = head.allowed_tools.map(tools).transpose()?;
    Ok(Skill {
        name,
        description,
        license: head.license,
        allowed_tools,
        body: body.trim().to_owned(),
        origin,
        path: None,
    })
}

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

fn is_name(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    };
    text.len() <= MAX_NAME_CHARS && text.split('-').all(is_word)
}

fn bad_name() -> String {
    format!(
        "its name may contain only lowercase letters, digits and single dashes, at most \
         {MAX_NAME_CHARS} characters"
    )
}

fn tools(words: Words) -> Result<BTreeSet<String>, String> {
    let words = match words {
        Words::List(list) => list,
        Words::Text(text) => apart(&text),
    };
    if MAX_TOOLS < words.len() {
        return Err(format!("it allows more than {MAX_TOOLS} tools"));
    }
    let ours = |word: &str| {
        let known = FOREIGN_TOOLS.iter().find(|(foreign, _)| *foreign == word);
        known.map_or(word, |(_, ours)| ours).to_owned()
    };
    let words = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty());
    Ok(words.map(ours).collect())
}

/// Splits at spaces and commas outside of brackets.
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
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn skill(name: &str, tools: Option<&[&str]>, body: &str) -> Skill {
        Skill {
            name: name.to_owned(),
            description: format!("About {name}"),
            license: None,
            allowed_tools: tools.map(|tools| tools.iter().map(|tool| (*tool).to_owned()).collect()),
            body: body.to_owned(),
            origin: SkillOrigin::Project,
            path: None,
        }
    }

    #[test]
    fn arguments_stand_where_the_skill_wants_them() {
        for (body, arguments, expected) in [
            ("Fix $ARGUMENTS now. ($ARGUMENTS)", " #12 ", "Fix #12 now. (#12)"),
            ("Fix $ARGUMENTS.", "", "Fix ."),
            ("Fix it.", "#12", "Fix it.\n\nArguments: #12"),
            ("Fix it.", "  ", "Fix it."),
            ("Say $ARGUMENTS", "$ARGUMENTS twice", "Say $ARGUMENTS twice"),
        ] {
            assert_eq!(skill("x", None, body).instructions(arguments), expected);
        }
    }

    #[test]
    fn two_skills_that_narrow_leave_what_one_of_them_needs() {
        let active = ActiveSkills::default();
        assert_eq!(active.narrowing(), None);
        assert!(active.add(skill("free", None, "")));
        assert_eq!(active.narrowing(), None);
        assert!(active.add(skill("one", Some(&["file_read"]), "")));
        assert!(active.add(skill("two", Some(&["git_diff"]), "")));
        assert!(!active.add(skill("two", Some(&["git_log"]), "")), "read again");
        let left: Vec<String> = active.narrowing().unwrap().into_iter().collect();
        assert_eq!(left, ["file_read", "git_log", "skill_activate", "skill_list"]);
        assert_eq!(active.names(), ["free", "one", "two"]);
    }

    proptest! {
        /// A skill never gives an agent additional tools.
        #[test]
        fn a_skill_only_takes_away(
            agent in proptest::collection::btree_set("[a-e]", 0..5),
            skills in proptest::collection::vec(proptest::option::of(proptest::collection::btree_set("[a-h]", 0..4)), 0..4),
        ) {
            let active = ActiveSkills::default();
            for (number, tools) in skills.into_iter().enumerate() {
                active.add(Skill { allowed_tools: tools, ..skill(&number.to_string(), None, "") });
            }
            let left: BTreeSet<String> = match active.narrowing() {
                Some(narrowing) => agent.intersection(&narrowing).cloned().collect(),
                None => agent.clone(),
            };
            prop_assert!(left.is_subset(&agent));
        }
    }
}

#[cfg(test)]
mod parse_tests {
    use proptest::prelude::*;

    use super::*;

    fn skill(head: &str) -> Result<Skill, String> {
        parse(format!("---\n{head}\n---\nDo it.\n").as_bytes(), "tidy-up", SkillOrigin::User)
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
        assert_eq!(
            parse(windows.as_bytes(), "tidy-up", SkillOrigin::User).unwrap().description,
            "Two\nlines"
        );
    }

    #[test]
    fn tools_are_a_list_or_words_and_a_pattern_grants_nothing() {
        for (written, expected) in [
            ("file_read git_diff", "file_read git_diff"),
            (
                "Read, Grep,Bash(git add:*, git commit:*)",
                "Bash(git add:*, git commit:*) file_read file_search",
            ),
            ("[file_read, TodoWrite]", "checklist_set file_read"),
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
            ("name: other\ndescription: x".to_owned(), "its name differs from its directory name"),
            (
                "name: Tidy\ndescription: x".to_owned(),
                "its name may contain only lowercase letters, digits and single dashes, at most 64 \
                 characters",
            ),
            (
                format!("name: tidy-up\ndescription: {long}"),
                "its description is longer than 1024 characters",
            ),
        ];
        for (head, expected) in cases {
            assert_eq!(skill(&head).unwrap_err(), expected);
        }
        for head in
            ["name: [", "name: &a tidy-up\ndescription: *a", "name: tidy-up\nname: tidy-up", &deep]
        {
            let why = skill(head).unwrap_err();
            assert!(why.starts_with("its header cannot be read: "), "{head}: {why}");
        }
        for text in ["", "name: x", "---\nname: x\n", "--- \n---"] {
            let why = parse(text.as_bytes(), "x", SkillOrigin::User).unwrap_err();
            assert!(why.starts_with("it does not begin with a header"), "{text:?}: {why}");
        }
        let why = parse(b"---\n\xff\n---\n", "x", SkillOrigin::User).unwrap_err();
        assert_eq!(why, "it is not text");
        let why = skill(&format!("name: {}", "a".repeat(9000))).unwrap_err();
        assert!(why.ends_with("longer than 8192 bytes"), "{why}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_skill_or_a_reason(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes, "x", SkillOrigin::User);
            let framed = [b"---\n".as_slice(), &bytes, b"\n---\n"].concat();
            let _ = parse(&framed, "x", SkillOrigin::User);
        }

        #[test]
        fn any_keys_are_a_skill_or_a_reason(head in "[-a-z:{}\\[\\]&*!|>'\"# \n]{0,200}") {
            if let Ok(parsed) = skill(&head) {
                prop_assert_eq!(parsed.name, "tidy-up");
            }
        }
    }
}
