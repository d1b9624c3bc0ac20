//! Skills: instructions in a file that an agent takes up when it needs them.
//!
//! A skill can take tools away from the agent that uses it and can never give it one: `allowed-tools` is a set that
//! the pipeline intersects with what the agent has.

mod parse;
mod registry;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use parse::BadSkill;
pub use registry::{SkillPlaces, SkillProblem, SkillRegistry, SkillsReport};

/// What stands in the instructions for the words that the skill was called with.
const ARGUMENTS: &str = "$ARGUMENTS";

/// The tools by which an agent takes up skills; a narrowing leaves them, or a skill could never follow another.
const ALWAYS: &[&str] = &["skill_list", "skill_activate"];

/// Instructions with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    pub license: Option<String>,
    /// The only tools that may be used with it; `None` leaves all.
    pub allowed_tools: Option<BTreeSet<String>>,
    pub body: String,
    pub origin: Origin,
    /// Its file; none for one inside the program.
    pub path: Option<PathBuf>,
}

/// Whose skill it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It came with the repository.
    Project,
    User,
    Bundled,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Bundled => "bundled",
        }
    }
}

impl Skill {
    /// The instructions for these words: in the place that asks for them, or else at the end.
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

/// The skills that one run has taken up.
#[derive(Debug, Default)]
pub struct ActiveSkills(Mutex<Vec<Skill>>);

impl ActiveSkills {
    /// Takes up a skill; returns whether it was not among them.
    pub fn add(&self, skill: Skill) -> bool {
        let mut active = self.lock();
        let is_new = active.iter().all(|known| known.name != skill.name);
        active.retain(|known| known.name != skill.name);
        active.push(skill);
        is_new
    }

    /// By name, in the order in which they were taken up.
    pub fn names(&self) -> Vec<String> {
        self.lock().iter().map(|skill| skill.name.clone()).collect()
    }

    /// The tools that the skills leave, for `Pipeline::narrow`; `None` leaves all.
    ///
    /// Skills that each name their tools leave those that one of them names.
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
            origin: Origin::Project,
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
        /// Whatever skills say, an agent never has a tool that it had not before.
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
