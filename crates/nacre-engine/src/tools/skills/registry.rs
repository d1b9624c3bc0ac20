//! Finds skills in the user's directory, in Nacre itself, and in two project directories.
//!
//! A project's skill never replaces another one. If the name is taken, the project's skill is
//! renamed to `project:NAME`. Each workspace has its own registry, so that projects in one process
//! never share skills. Symbolic links are not followed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nacre_base::fs::{Access, EntryKind, Folder, FsError, RelPath, WriteScope};
use nacre_types::{PathProblem, SkillOrigin};

use crate::tools::skills::{MAX_BYTES, Skill, bad_name, parse};

const SKILL_FILE: &str = "SKILL.md";

/// Maximum skills per directory. Skills beyond this limit are counted but not loaded.
const MAX_PER_PLACE: usize = 200;

const BUNDLED: &[(&str, &str)] =
    &[("commit", include_str!("bundled/commit.md")), ("review", include_str!("bundled/review.md"))];

#[derive(Debug, Default)]
pub struct SkillRegistry {
    pub workspace: Option<PathBuf>,
    pub home: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillsReport {
    pub skills: Vec<Skill>,
    pub problems: Vec<PathProblem>,
}

impl SkillRegistry {
    /// Loads the user's skills first and the project's skills last.
    pub fn look(&self) -> SkillsReport {
        let mut found: BTreeMap<String, Skill> = BTreeMap::new();
        let mut problems = Vec::new();
        let files = |origin, root: &Option<PathBuf>, folder| {
            root.iter().flat_map(|root| look_in(root, folder, origin)).collect::<Vec<_>>()
        };
        let bundled = |(name, text): &(&str, &str)| {
            (PathBuf::new(), parse(text.as_bytes(), name, SkillOrigin::Bundled))
        };
        let Self { workspace, home } = self;
        let mut all = files(SkillOrigin::User, home, "skills");
        all.extend(BUNDLED.iter().map(bundled));
        all.extend(files(SkillOrigin::Project, workspace, ".agents/skills"));
        all.extend(files(SkillOrigin::Project, workspace, ".claude/skills"));
        for (path, parsed) in all {
            match parsed {
                Ok(mut skill) => {
                    let other = found.get(&skill.name).map(|other| other.origin);
                    if skill.origin == SkillOrigin::Project
                        && other.is_some_and(|other| other != SkillOrigin::Project)
                    {
                        skill.name = format!("project:{}", skill.name);
                    }
                    found.entry(skill.name.clone()).or_insert(skill);
                }
                Err(why) => problems.push(PathProblem { path: path.display().to_string(), why }),
            }
        }
        SkillsReport { skills: found.into_values().collect(), problems }
    }

    pub fn find(&self, name: &str) -> Option<Skill> {
        self.look().skills.into_iter().find(|skill| skill.name == name)
    }
}

fn look_in(
    root: &Path,
    folder: &str,
    origin: SkillOrigin,
) -> Vec<(PathBuf, Result<Skill, String>)> {
    let full = root.join(folder);
    let opened = || -> Result<Option<(WriteScope, Folder)>, FsError> {
        let scope = WriteScope::open(root, Access::Shared)?;
        Ok(scope.folder(&RelPath::new(folder)?)?.map(|opened| (scope, opened)))
    };
    let listed = opened()
        .and_then(|opened| opened.map(|(scope, opened)| Ok((scope, opened.list()?))).transpose());
    let (scope, entries) = match listed {
        Ok(Some(listed)) => listed,
        Ok(None) => return Vec::new(),
        Err(error) => return vec![(full, Err(unreadable(&error)))],
    };
    let folders = entries.into_iter().filter(|entry| entry.kind != EntryKind::File);
    let mut found = Vec::new();
    for entry in folders.take(MAX_PER_PLACE) {
        let path = full.join(&entry.name).join(SKILL_FILE);
        let place = RelPath::new(&format!("{folder}/{}/{SKILL_FILE}", entry.name));
        let parsed = match (entry.kind, place) {
            (EntryKind::Folder, Ok(place)) => {
                let skill = read(&scope, &place, origin);
                skill.map(|skill| Skill { path: Some(path.clone()), ..skill })
            }
            (EntryKind::Folder, Err(_)) => Err(bad_name()),
            (EntryKind::File | EntryKind::Other, _) => {
                Err("it is a symbolic link, which is not read".to_owned())
            }
        };
        found.push((path, parsed));
    }
    found
}

fn read(scope: &WriteScope, place: &RelPath, origin: SkillOrigin) -> Result<Skill, String> {
    scope.stamp(place).map_err(|error| unreadable(&error))?.ok_or("it has no `SKILL.md`")?;
    let bytes = scope.read(place, MAX_BYTES).map_err(|error| unreadable(&error))?;
    let folder = place.parent();
    parse(&bytes, folder.as_ref().map_or("", RelPath::name), origin)
}

fn unreadable(error: &FsError) -> String {
    format!("it cannot be read: {error}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests act as the authors of skills")]

    use std::fs;

    use super::*;

    fn write(root: &Path, place: &str, name: &str, words: &str) {
        let folder = root.join(place).join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join(SKILL_FILE),
            format!("---\nname: {name}\ndescription: {words}\n---\nDo {words}.\n"),
        )
        .unwrap();
    }

    fn registry(workspace: &Path, home: &Path) -> SkillRegistry {
        SkillRegistry { workspace: Some(workspace.to_owned()), home: Some(home.to_owned()) }
    }

    fn describe_skills(report: &SkillsReport) -> Vec<String> {
        report
            .skills
            .iter()
            .map(|skill| format!("{} {} {}", skill.name, skill.origin.as_str(), skill.description))
            .collect()
    }

    #[test]
    fn a_project_replaces_no_skill() {
        let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(work.path(), ".agents/skills", "one", "agents");
        write(work.path(), ".claude/skills", "one", "claude");
        write(work.path(), ".claude/skills", "two", "claude");
        write(home.path(), "skills", "two", "user");
        write(home.path(), "skills", "review", "user");
        write(work.path(), ".claude/skills", "commit", "stranger");
        let report = registry(work.path(), home.path()).look();
        assert_eq!(report.problems, []);
        assert_eq!(
            describe_skills(&report)[1..],
            [
                "one project agents",
                "project:commit project stranger",
                "project:two project claude",
                "review user user",
                "two user user"
            ]
        );
        assert!(describe_skills(&report)[0].starts_with("commit bundled "));
    }

    // Regression test: projects in the same process must not share skills.
    #[test]
    fn two_workspaces_never_see_each_others_skills() {
        let (one, two, home) = (
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
        );
        write(one.path(), ".agents/skills", "mine", "one");
        write(two.path(), ".agents/skills", "mine", "two");
        write(two.path(), ".agents/skills", "other", "two");
        let registries = [registry(one.path(), home.path()), registry(two.path(), home.path())];
        let look = |registry: &SkillRegistry, words: &str, n_skills: usize| {
            for _ in 0..50 {
                assert_eq!(registry.look().skills.len(), n_skills);
                assert_eq!(registry.find("mine").unwrap().description, words);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| look(&registries[0], "one", 3));
            scope.spawn(|| look(&registries[1], "two", 4));
        });
    }

    // Regression test: changes on disk must take effect without a restart.
    #[test]
    fn a_change_is_seen_at_the_next_look() {
        let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let registry = registry(work.path(), home.path());
        assert!(registry.find("one").is_none());
        write(work.path(), ".agents/skills", "one", "first");
        assert_eq!(registry.find("one").unwrap().description, "first");
        write(work.path(), ".agents/skills", "one", "other");
        assert_eq!(registry.find("one").unwrap().description, "other");
        fs::remove_dir_all(work.path().join(".agents")).unwrap();
        assert!(registry.find("one").is_none());
    }

    #[test]
    fn hostile_places_are_told_and_harm_nobody() {
        let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let skills = work.path().join(".agents/skills");
        write(work.path(), ".agents/skills", "good", "good");
        write(work.path(), "elsewhere", "linked", "hunter2");
        std::os::unix::fs::symlink(work.path().join("elsewhere/linked"), skills.join("linked"))
            .unwrap();
        for name in ["huge", "pipe", "empty", "inner"] {
            fs::create_dir(skills.join(name)).unwrap();
        }
        fs::write(skills.join("huge/SKILL.md"), "x".repeat(70_000)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", skills.join("inner/SKILL.md")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(skills.join("pipe/SKILL.md"))
            .status()
            .unwrap();
        assert!(made.success());
        let report = registry(work.path(), home.path()).look();
        assert_eq!(describe_skills(&report)[1], "good project good");
        let problems: Vec<String> = report
            .problems
            .iter()
            .map(|problem| {
                format!(
                    "{}: {}",
                    Path::new(&problem.path).strip_prefix(&skills).unwrap().display(),
                    problem.why
                )
            })
            .collect();
        assert_eq!(problems.len(), 5, "{problems:?}");
        assert!(problems[0].starts_with("empty/SKILL.md: it has no `SKILL.md`"), "{problems:?}");
        assert!(problems[1].contains("exceeds the limit of 65536"), "{problems:?}");
        assert!(!format!("{report:?}").contains("hunter2"));
    }

    #[test]
    fn a_shelf_is_looked_at_so_far_and_no_farther() {
        let (work, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for number in 0..MAX_PER_PLACE + 20 {
            fs::create_dir_all(work.path().join(format!(".agents/skills/s{number}"))).unwrap();
        }
        assert_eq!(registry(work.path(), home.path()).look().problems.len(), MAX_PER_PLACE);
    }

    #[test]
    fn the_skills_of_the_program_are_sound() {
        for (name, text) in BUNDLED {
            let parsed = parse(text.as_bytes(), name, SkillOrigin::Bundled).unwrap();
            assert!(
                parsed.allowed_tools.is_some_and(|tools| !tools.is_empty())
                    && !parsed.body.is_empty()
            );
        }
    }
}
