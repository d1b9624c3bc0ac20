//! Which files change, and how: all of it is decided before anything is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nacre_core::agent_config::{
    AgentSpec, Edit, EntryState, FileEdit, MARK, Part, Places, Program, Undo, agent_spec, trust,
};
use nacre_core::base::ContentHash;

use super::ledger::{self, EntryRecord, FileRecord, Ledger};
use super::place::{AgentFile, invalid};
use crate::error::OpError;
use crate::host::{Host, homes};

/// A file that is looked at, and what it is to hold.
#[derive(Clone, Debug)]
pub(super) struct PlannedFile {
    pub(super) place: AgentFile,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl PlannedFile {
    pub(super) fn changes(&self) -> bool {
        self.before != self.after
    }
}

/// What a command changes.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) old: Ledger,
    pub(super) new: Ledger,
    pub(super) files: BTreeMap<PathBuf, PlannedFile>,
    /// Texts that the new ledger names.
    pub(super) backups: BTreeMap<ContentHash, String>,
}

impl Plan {
    pub(super) fn changed(&self) -> impl Iterator<Item = (&Path, &PlannedFile)> {
        let files = self.files.iter().filter(|(_, file)| file.changes());
        files.map(|(path, file)| (path.as_path(), file))
    }

    /// A name for exactly these changes.
    pub(super) fn digest(&self) -> String {
        let mut text = String::new();
        for (path, file) in self.changed() {
            let hash = |text: &Option<String>| {
                text.as_ref()
                    .map_or("-".to_owned(), |text| ContentHash::of(text.as_bytes()).to_string())
            };
            text += &format!("{}\0{}\0{}\n", path.display(), hash(&file.before), hash(&file.after));
        }
        ContentHash::of(text.as_bytes()).short()
    }
}

/// Makes a plan, agent by agent.
pub(super) struct Planner<'h> {
    host: &'h Host,
    places: Places,
    /// Where files may lie once links are followed.
    roots: Vec<PathBuf>,
    program: PathBuf,
    pub(super) plan: Plan,
}

impl<'h> Planner<'h> {
    /// Looks around.
    pub(super) fn open(host: &'h Host) -> Result<Self, OpError> {
        let (places, roots) = places(host)?;
        let program = host.environment.program.clone().unwrap_or_else(|| PathBuf::from("nacre"));
        let old = Ledger::read(host)?;
        let new = old.clone();
        let plan = Plan { old, new, files: BTreeMap::new(), backups: BTreeMap::new() };
        Ok(Self { host, places, roots, program, plan })
    }

    /// Whether an agent left something on this machine.
    pub(super) fn is_used(&self, spec: &AgentSpec) -> bool {
        spec.signs(&self.places).iter().any(|sign| sign.exists())
    }

    pub(super) fn can_take(&self, spec: &AgentSpec, part: Part) -> bool {
        spec.edit(part, &self.places, &self.program(false)).is_some()
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    fn program(&self, has_guard: bool) -> Program {
        Program { path: self.program.clone(), has_guard }
    }

    /// Plans parts of an agent; those that it cannot take are left out.
    pub(super) fn add(
        &mut self,
        spec: &'static AgentSpec,
        parts: &[Part],
        guard: bool,
    ) -> Result<(), OpError> {
        if !self.program.is_absolute() {
            return Err(OpError::failed("Cannot tell where this program is"));
        }
        for part in parts {
            let had_guard = self.entries().any(|entry| entry.is(spec.name, *part) && entry.guard);
            let guard = *part == Part::Hooks && (guard || had_guard);
            if let Some(edit) = spec.edit(*part, &self.places, &self.program(guard)) {
                let path = self.locate(&edit)?;
                let undo = Undo::default();
                let entry = EntryRecord { agent: spec.name.to_owned(), part: *part, guard, undo };
                self.change(&path, Some(&entry), None)?;
                let is_new = self.plan.files.get(&path).is_some_and(PlannedFile::changes);
                // Hooks that changed have other hashes, and have to be trusted again.
                if *part == Part::Hooks && is_new {
                    self.remove(spec, &[Part::Trust])?;
                }
            }
        }
        Ok(())
    }

    /// Plans that Codex may run hooks.
    pub(super) fn add_trust(&mut self, hashes: Vec<(String, String)>) -> Result<(), OpError> {
        let edit = trust(&self.places, &hashes);
        let path = self.locate(&edit)?;
        // The old hashes are taken out by their keys before they are forgotten.
        self.change(&path, None, Some(("codex", Part::Trust)))?;
        self.plan.new.trust = hashes;
        let (agent, part) = ("codex".to_owned(), Part::Trust);
        let entry = EntryRecord { agent, part, guard: false, undo: Undo::default() };
        self.change(&path, Some(&entry), None)
    }

    /// Plans to take parts of an agent out; says whether there was any.
    pub(super) fn remove(
        &mut self,
        spec: &'static AgentSpec,
        parts: &[Part],
    ) -> Result<bool, OpError> {
        let mut parts = parts.to_vec();
        if parts.contains(&Part::Hooks) {
            parts.push(Part::Trust);
        }
        let mut found = false;
        for part in parts {
            let holds =
                |record: &FileRecord| record.entries.iter().any(|entry| entry.is(spec.name, part));
            let files = self.plan.new.files.iter().filter(|(_, record)| holds(record));
            let mut paths: Vec<PathBuf> = files.map(|(path, _)| path.clone()).collect();
            if paths.is_empty() {
                paths.extend(self.unrecorded(spec, part)?);
            }
            found |= !paths.is_empty();
            for path in paths {
                self.look_at(&path)?;
                self.change(&path, None, Some((spec.name, part)))?;
            }
            if part == Part::Trust && spec.name == "codex" {
                self.plan.new.trust.clear();
            }
        }
        Ok(found)
    }

    /// The file that has an entry of ours although no record says so.
    fn unrecorded(&mut self, spec: &AgentSpec, part: Part) -> Result<Option<PathBuf>, OpError> {
        let Some(edit) = spec.edit(part, &self.places, &self.program(false)) else {
            return Ok(None);
        };
        let path = self.locate(&edit)?;
        let Some(text) = self.current(&path) else { return Ok(None) };
        let is_there = edit.edit.state(text).map_err(|error| unusable(&path, &error))?;
        Ok((is_there != EntryState::Missing).then_some(path))
    }

    fn entries(&self) -> impl Iterator<Item = &EntryRecord> {
        self.plan.new.files.values().flat_map(|record| &record.entries)
    }

    fn current(&self, path: &Path) -> Option<&str> {
        self.plan.files.get(path)?.after.as_deref()
    }

    /// Finds the file of an edit, and reads it.
    fn locate(&mut self, edit: &FileEdit) -> Result<PathBuf, OpError> {
        let path = file_of(edit);
        self.look_at(path)
    }

    fn look_at(&mut self, path: &Path) -> Result<PathBuf, OpError> {
        let place = AgentFile::find(path, &self.roots)?;
        let path = place.path();
        if !self.plan.files.contains_key(&path) {
            let before = place.read()?;
            let file = PlannedFile { place, after: before.clone(), before };
            self.plan.files.insert(path.clone(), file);
        }
        Ok(path)
    }

    /// What belongs into a file for an entry.
    fn edit_of(&self, entry: &EntryRecord) -> Option<Edit> {
        let edit = match entry.part {
            Part::Trust => Some(trust(&self.places, &self.plan.new.trust)),
            Part::Mcp | Part::Hooks | Part::Skill => {
                let spec = agent_spec(&entry.agent)?;
                spec.edit(entry.part, &self.places, &self.program(entry.guard))
            }
        };
        edit.map(|edit| edit.edit)
    }

    /// Plans a file with one entry more or less. It is written from the text without us, so that nothing piles up.
    fn change(
        &mut self,
        path: &Path,
        more: Option<&EntryRecord>,
        less: Option<(&str, Part)>,
    ) -> Result<(), OpError> {
        let failed = |error| unusable(path, &error);
        let Some(file) = self.plan.files.get(path).cloned() else { return Ok(()) };
        let record = self.plan.new.files.get(path).cloned();
        let mut entries = record.as_ref().map(|record| record.entries.clone()).unwrap_or_default();
        if let Some((agent, part)) = less {
            entries.retain(|entry| !entry.is(agent, part));
        }
        if let Some(more) = more {
            match entries.iter_mut().find(|entry| entry.is(&more.agent, more.part)) {
                Some(entry) => entry.guard = more.guard,
                None => entries.push(more.clone()),
            }
            if self.is_current(file.after.as_deref(), &entries).map_err(failed)? {
                // Somebody wrote the same by hand, or another agent shares the file.
                if let Some(record) = self.plan.new.files.get_mut(path) {
                    record.entries = entries;
                }
                return Ok(());
            }
        }
        let base = match &record {
            Some(record) => self.without_us(&file, record).map_err(failed)?,
            None => self.without_strays(&file, more, less).map_err(failed)?,
        };
        let mut after = base.clone().map(|(text, _)| text);
        for entry in &mut entries {
            let Some(edit) = self.edit_of(entry) else { continue };
            let (text, undo) = edit.put(after.as_deref()).map_err(failed)?;
            (after, entry.undo) = (Some(text), undo);
        }
        let kept = base.map(|(_, kept)| kept);
        self.note(path, file, record.as_ref(), entries, (kept, after))
    }

    fn is_current(
        &self,
        text: Option<&str>,
        entries: &[EntryRecord],
    ) -> Result<bool, nacre_core::agent_config::EditError> {
        let Some(text) = text else { return Ok(false) };
        for entry in entries {
            let Some(edit) = self.edit_of(entry) else { return Ok(false) };
            if edit.state(text)? != EntryState::Current {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The text without us twice: to write on, and to keep. The very bytes that were there, where nobody changed the file since.
    fn without_us(
        &self,
        file: &PlannedFile,
        record: &FileRecord,
    ) -> Result<Option<(String, String)>, nacre_core::agent_config::EditError> {
        let twice = |text: String| (text.clone(), text);
        let Some(text) = &file.after else { return Ok(None) };
        if ContentHash::of(text.as_bytes()) == record.after {
            match record.base {
                None => return Ok(None),
                Some(hash) => {
                    let kept = self.plan.backups.get(&hash).cloned();
                    if let Some(text) = kept.or_else(|| ledger::backup(self.host, &hash)) {
                        return Ok(Some(twice(text)));
                    }
                }
            }
        }
        let mut left = Some(text.clone());
        for entry in record.entries.iter().rev() {
            let Some(edit) = self.edit_of(entry) else { continue };
            left = match left {
                Some(text) => edit.remove(&text, &entry.undo)?,
                None => None,
            };
        }
        let is_ours_alone = |text: &String| record.base.is_none() && is_blank(text);
        Ok(left.filter(|text| !is_ours_alone(text)).map(twice))
    }

    /// The text of a file that no record is about, without what an older connection may have left in it.
    fn without_strays(
        &self,
        file: &PlannedFile,
        more: Option<&EntryRecord>,
        less: Option<(&str, Part)>,
    ) -> Result<Option<(String, String)>, nacre_core::agent_config::EditError> {
        let Some(text) = &file.after else { return Ok(None) };
        let named = less.map(|(agent, part)| EntryRecord {
            agent: agent.to_owned(),
            part,
            guard: false,
            undo: Undo::default(),
        });
        let Some(edit) = named.as_ref().or(more).and_then(|entry| self.edit_of(entry)) else {
            return Ok(Some((text.clone(), text.clone())));
        };
        let is_ours = edit.whole().is_some() && text.contains(MARK);
        if is_ours {
            return Ok(None);
        }
        let is_removed = less.is_some() || matches!(edit, Edit::Hooks { .. });
        let left = match is_removed && edit.whole().is_none() {
            true => edit.remove(text, &Undo::default())?.unwrap_or_default(),
            false => text.clone(),
        };
        let kept = if less.is_some() { left.clone() } else { text.clone() };
        Ok(Some((left, kept)))
    }

    /// Takes a file's new text into the plan.
    fn note(
        &mut self,
        path: &Path,
        mut file: PlannedFile,
        record: Option<&FileRecord>,
        entries: Vec<EntryRecord>,
        (kept, after): (Option<String>, Option<String>),
    ) -> Result<(), OpError> {
        file.after = after;
        if file.changes() {
            file.place.check_writable()?;
        }
        match &file.after {
            Some(after) if !entries.is_empty() => {
                let base = kept.as_ref().map(|text| ContentHash::of(text.as_bytes()));
                self.plan.backups.extend(base.zip(kept));
                let known = record.map(|record| record.folders.clone());
                let made = || {
                    if file.before.is_none() { file.place.missing_folders() } else { Vec::new() }
                };
                let folders = known.unwrap_or_else(made);
                let after = ContentHash::of(after.as_bytes());
                self.plan
                    .new
                    .files
                    .insert(path.to_owned(), FileRecord { base, after, entries, folders });
            }
            Some(_) | None => {
                self.plan.new.files.remove(path);
            }
        }
        self.plan.files.insert(path.to_owned(), file);
        Ok(())
    }
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

fn unusable(path: &Path, error: &nacre_core::agent_config::EditError) -> OpError {
    invalid(path, &error.to_string())
}

/// The file that an edit is about: the first that is there.
pub(super) fn file_of(edit: &FileEdit) -> &Path {
    let found = edit.candidates.iter().find(|path| path.exists());
    found.or(edit.candidates.first()).map_or(Path::new(""), PathBuf::as_path)
}

/// Where the agents keep their files, and below which folders those may lie.
pub(super) fn places(host: &Host) -> Result<(Places, Vec<PathBuf>), OpError> {
    let homes = homes(host)?;
    let usual = Places::at(&homes.home);
    let claude = homes.claude_config.first().filter(|path| path.is_absolute());
    let named = |path: &Option<PathBuf>| path.clone().filter(|path| path.is_absolute());
    let (codex, config) = (named(&homes.codex_home), named(&homes.xdg_config));
    let named = [Some(&homes.home), claude, codex.as_ref(), config.as_ref()];
    let roots = named.into_iter().flatten().map(|root| host.environment.absolute(root)).collect();
    let places = Places {
        claude_json: claude.map_or(usual.claude_json, |folder| folder.join(".claude.json")),
        claude: claude.cloned().unwrap_or(usual.claude),
        codex: codex.unwrap_or(usual.codex),
        config: config.unwrap_or(usual.config),
        home: usual.home,
    };
    Ok((places, roots))
}
