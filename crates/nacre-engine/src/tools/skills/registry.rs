//! Where skills are found: the person's own folder, the program, and the project's two folders.
//!
//! A project's skill never replaces another: where its name is taken it is called `project:NAME`.
//! A registry belongs to one workspace, so that two projects in one process never see each other's skills. It looks at
//! the disk whenever it is asked and reads again only what changed. Links are not followed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nacre_core::safefs::{Access, EntryKind, FileStamp, Folder, FsError, RelPath, WriteScope};

use super::parse::{self, BadSkill, Parsed};
use super::{Origin, Skill};

/// The file of a skill in its folder.
const SKILL_FILE: &str = "SKILL.md";

/// A folder with more skills than this is not somebody's registry; the rest is counted.
const MAX_PER_PLACE: usize = 200;

/// Skills that come with the program.
const BUNDLED: &[(&str, &str)] =
    &[("commit", include_str!("bundled/commit.md")), ("review", include_str!("bundled/review.md"))];

/// The folders that skills are looked for in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillPlaces {
    /// The root of the workspace.
    pub workspace: Option<PathBuf>,
    /// The global folder.
    pub home: Option<PathBuf>,
}

/// The skills of one workspace.
#[derive(Debug)]
pub struct SkillRegistry {
    places: SkillPlaces,
    /// What was read, by file, and how the file was then.
    read: Mutex<HashMap<PathBuf, Seen>>,
}

type Seen = (FileStamp, Result<Parsed, BadSkill>);

/// What is on a registry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillsReport {
    /// By name.
    pub skills: Vec<Skill>,
    pub problems: Vec<SkillProblem>,
}

/// A folder that is no skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillProblem {
    pub path: PathBuf,
    pub why: BadSkill,
}

impl SkillRegistry {
    pub fn new(places: SkillPlaces) -> Self {
        Self { places, read: Mutex::default() }
    }

    /// Looks at all places, those of the person first and the project's last.
    pub fn look(&self) -> SkillsReport {
        let mut found: BTreeMap<String, Skill> = BTreeMap::new();
        let mut problems = Vec::new();
        let files = |origin, root: &Option<PathBuf>, folder| {
            let files = root.iter().flat_map(|root| self.look_in(root, folder));
            files.map(|(path, parsed)| (origin, Some(path), parsed)).collect::<Vec<_>>()
        };
        let bundled = |(name, text): &(&str, &str)| {
            (Origin::Bundled, None, parse::parse(text.as_bytes(), name))
        };
        let SkillPlaces { workspace, home } = &self.places;
        let mut all = files(Origin::User, home, "skills");
        all.extend(BUNDLED.iter().map(bundled));
        all.extend(files(Origin::Project, workspace, ".agents/skills"));
        all.extend(files(Origin::Project, workspace, ".claude/skills"));
        for (origin, path, parsed) in all {
            match parsed {
                Ok(parsed) => {
                    let mut skill = skill(parsed, origin, path);
                    let other = found.get(&skill.name).map(|other| other.origin);
                    if origin == Origin::Project && other.is_some_and(|other| other != origin) {
                        skill.name = format!("project:{}", skill.name);
                    }
                    found.entry(skill.name.clone()).or_insert(skill);
                }
                Err(why) => problems.extend(path.map(|path| SkillProblem { path, why })),
            }
        }
        SkillsReport { skills: found.into_values().collect(), problems }
    }

    /// The skill of that name.
    pub fn find(&self, name: &str) -> Option<Skill> {
        self.look().skills.into_iter().find(|skill| skill.name == name)
    }

    fn look_in(&self, root: &Path, folder: &str) -> Vec<(PathBuf, Result<Parsed, BadSkill>)> {
        let full = root.join(folder);
        let opened = || -> Result<Option<(WriteScope, Folder)>, FsError> {
            let scope = WriteScope::open(root, Access::Shared)?;
            Ok(scope.folder(&RelPath::new(folder)?)?.map(|opened| (scope, opened)))
        };
        let (scope, opened) = match opened() {
            Ok(Some(opened)) => opened,
            Ok(None) => return Vec::new(),
            Err(error) => return vec![(full, Err(unreadable(&error)))],
        };
        let entries = match opened.list() {
            Ok(entries) => entries,
            Err(error) => return vec![(full, Err(unreadable(&error)))],
        };
        let folders = entries.into_iter().filter(|entry| entry.kind != EntryKind::File);
        let mut found = Vec::new();
        for entry in folders.take(MAX_PER_PLACE) {
            let path = full.join(&entry.name).join(SKILL_FILE);
            let place = RelPath::new(&format!("{folder}/{}/{SKILL_FILE}", entry.name));
            let parsed = match (entry.kind, place) {
                (EntryKind::Folder, Ok(place)) => self.read(&scope, &place, &path, &entry.name),
                (EntryKind::Folder, Err(_)) => Err(BadSkill::BadName),
                (EntryKind::File | EntryKind::Other, _) => {
                    Err(BadSkill::Unreadable("it is a link".to_owned()))
                }
            };
            found.push((path, parsed));
        }
        found
    }

    /// Reads a file, unless it is as it was.
    fn read(
        &self,
        scope: &WriteScope,
        place: &RelPath,
        path: &Path,
        folder: &str,
    ) -> Result<Parsed, BadSkill> {
        let stamp =
            scope.stamp(place).map_err(|error| unreadable(&error))?.ok_or(BadSkill::NoFile)?;
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, parsed)) = read.get(path)
            && *before == stamp
        {
            return parsed.clone();
        }
        let parsed = scope
            .read(place, parse::MAX_BYTES)
            .map_err(|error| unreadable(&error))
            .and_then(|bytes| parse::parse(&bytes, folder));
        read.insert(path.to_owned(), (stamp, parsed.clone()));
        parsed
    }
}

fn skill(parsed: Parsed, origin: Origin, path: Option<PathBuf>) -> Skill {
    let Parsed { name, description, license, allowed_tools, body } = parsed;
    Skill { name, description, license, allowed_tools, body, origin, path }
}

fn unreadable(error: &FsError) -> BadSkill {
    BadSkill::Unreadable(error.to_string())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests play the people who write skills")]

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
        SkillRegistry::new(SkillPlaces {
            workspace: Some(workspace.to_owned()),
            home: Some(home.to_owned()),
        })
    }

    fn shown(report: &SkillsReport) -> Vec<String> {
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
            shown(&report)[1..],
            [
                "one project agents",
                "project:commit project stranger",
                "project:two project claude",
                "review user user",
                "two user user"
            ]
        );
        assert!(shown(&report)[0].starts_with("commit bundled "));
    }

    // Acolyte defect 23: one list of skills for all projects of a process.
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

    // Acolyte defect 22: what changed on disk was seen after a restart only.
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
        assert_eq!(shown(&report)[1], "good project good");
        let problems: Vec<String> = report
            .problems
            .iter()
            .map(|problem| {
                format!(
                    "{}: {}",
                    problem.path.strip_prefix(&skills).unwrap().display(),
                    problem.why
                )
            })
            .collect();
        assert_eq!(problems.len(), 5, "{problems:?}");
        assert!(problems[0].starts_with("empty/SKILL.md: it has no `SKILL.md`"), "{problems:?}");
        assert!(problems[1].contains("more than the 65536 allowed"), "{problems:?}");
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
            let parsed = parse::parse(text.as_bytes(), name).unwrap();
            assert!(
                parsed.allowed_tools.is_some_and(|tools| !tools.is_empty())
                    && !parsed.body.is_empty()
            );
        }
    }
}
