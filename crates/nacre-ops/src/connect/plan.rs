//! Plans the edits to agents' settings files.

use std::fs;

use nacre_base::format_unified_diff;
use nacre_traces::agent_config::{
    ConnectedPart, Edit, EditError, EntryState, FileEdit, MARK, Places, Undo,
};
use nacre_traces::agents::{AgentSpec, claude_config_folders, connectable_agent, trust};
use nacre_types::{ChangeKind, FileChange};

use super::apply::{self, EntryRecord, FileRecord, Ledger};
use super::listing::AgentFiles;
use crate::host::{homes, short};
use crate::prelude::*;

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

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) old: Ledger,
    pub(super) new: Ledger,
    pub(super) files: BTreeMap<PathBuf, PlannedFile>,
    pub(super) backups: BTreeMap<ContentHash, String>,
}

impl Plan {
    pub(super) fn list_changed(&self) -> impl Iterator<Item = (&Path, &PlannedFile)> {
        let files = self.files.iter().filter(|(_, file)| file.changes());
        files.map(|(path, file)| (path.as_path(), file))
    }

    /// Returns a hash that identifies exactly this set of changes.
    pub(super) fn digest(&self) -> String {
        let mut text = String::new();
        for (path, file) in self.list_changed() {
            let hash = |text: &Option<String>| match text {
                Some(text) => ContentHash::of(text.as_bytes()).to_string(),
                None => "-".to_owned(),
            };
            text += &format!("{}\0{}\0{}\n", path.display(), hash(&file.before), hash(&file.after));
        }
        ContentHash::of(text.as_bytes()).short()
    }
}

pub(super) struct Planner<'h> {
    host: &'h Host,
    pub(super) files: AgentFiles,
    pub(super) plan: Plan,
}

impl<'h> Planner<'h> {
    pub(super) fn open(host: &'h Host) -> Result<Self> {
        let old = Ledger::read(host)?;
        let new = old.clone();
        let plan = Plan { old, new, files: BTreeMap::new(), backups: BTreeMap::new() };
        Ok(Self { host, files: AgentFiles::of(host)?, plan })
    }

    /// Returns the edit for a part, or `None` if the agent does not support it.
    pub(super) fn plain_edit(&self, spec: &AgentSpec, part: ConnectedPart) -> Option<FileEdit> {
        spec.edit(part, &self.files.places, &self.files.program(false))
    }

    /// Plans to add an agent's parts. Unsupported parts are skipped.
    pub(super) fn add(
        &mut self,
        spec: &'static AgentSpec,
        parts: &[ConnectedPart],
        guard: bool,
    ) -> Result<()> {
        if !self.files.program.is_absolute() {
            return Err(OpError::failed("Cannot find the path of this program"));
        }
        for part in parts {
            let had_guard = self.entries().any(|entry| entry.is(spec.name, *part) && entry.guard);
            let guard = *part == ConnectedPart::Hooks && (guard || had_guard);
            if let Some(edit) = spec.edit(*part, &self.files.places, &self.files.program(guard)) {
                let path = self.look_at(file_of(&edit))?;
                let entry = EntryRecord { guard, ..EntryRecord::new(spec.name, *part) };
                self.change(&path, Some(&entry), None)?;
                let is_new = self.plan.files.get(&path).is_some_and(PlannedFile::changes);
                // Changed hooks have different hashes and must be trusted again.
                if *part == ConnectedPart::Hooks && is_new {
                    self.remove(spec, &[ConnectedPart::Trust])?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn add_trust(&mut self, hashes: Vec<(String, String)>) -> Result<()> {
        let edit = trust(&self.files.places, &hashes);
        let path = self.look_at(file_of(&edit))?;
        // The old hashes are removed by key, so this must be done before the keys are replaced.
        self.change(&path, None, Some(("codex", ConnectedPart::Trust)))?;
        self.plan.new.trust = hashes;
        self.change(&path, Some(&EntryRecord::new("codex", ConnectedPart::Trust)), None)
    }

    pub(super) fn remove(
        &mut self,
        spec: &'static AgentSpec,
        parts: &[ConnectedPart],
    ) -> Result<bool> {
        let mut parts = parts.to_vec();
        if parts.contains(&ConnectedPart::Hooks) {
            parts.push(ConnectedPart::Trust);
        }
        let mut found = false;
        for part in parts {
            let holds =
                |record: &FileRecord| record.entries.iter().any(|entry| entry.is(spec.name, part));
            let files = self.plan.new.files.iter().filter(|(_, record)| holds(record));
            let mut paths: Vec<PathBuf> = files.map(|(path, _)| path.clone()).collect();
            if paths.is_empty() {
                paths.extend(self.find_unrecorded(spec, part)?);
            }
            found |= !paths.is_empty();
            for path in paths {
                self.look_at(&path)?;
                self.change(&path, None, Some((spec.name, part)))?;
            }
            if part == ConnectedPart::Trust && spec.name == "codex" {
                self.plan.new.trust.clear();
            }
        }
        Ok(found)
    }

    /// Finds an entry that Nacre wrote but that is not in the ledger, and returns its file.
    fn find_unrecorded(
        &mut self,
        spec: &AgentSpec,
        part: ConnectedPart,
    ) -> Result<Option<PathBuf>> {
        let Some(edit) = self.plain_edit(spec, part) else { return Ok(None) };
        let path = self.look_at(file_of(&edit))?;
        let file = self.plan.files.get(&path);
        let Some(text) = file.and_then(|file| file.after.as_deref()) else { return Ok(None) };
        let is_there = edit.edit.state(text).map_err(|error| unusable(&path, &error))?;
        Ok((is_there != EntryState::Missing).then_some(path))
    }

    fn entries(&self) -> impl Iterator<Item = &EntryRecord> {
        self.plan.new.files.values().flat_map(|record| &record.entries)
    }

    fn look_at(&mut self, path: &Path) -> Result<PathBuf> {
        let place = AgentFile::find(path, &self.files.roots)?;
        let path = place.path();
        if !self.plan.files.contains_key(&path) {
            let before = place.read()?;
            let file = PlannedFile { place, after: before.clone(), before };
            self.plan.files.insert(path.clone(), file);
        }
        Ok(path)
    }

    fn edit_of(&self, entry: &EntryRecord) -> Option<Edit> {
        if entry.part == ConnectedPart::Trust {
            return Some(trust(&self.files.places, &self.plan.new.trust).edit);
        }
        let (spec, program) = (connectable_agent(&entry.agent)?, self.files.program(entry.guard));
        spec.edit(entry.part, &self.files.places, &program).map(|edit| edit.edit)
    }

    /// Plans to add or remove one entry, starting from the file's text without Nacre's entries.
    fn change(
        &mut self,
        path: &Path,
        more: Option<&EntryRecord>,
        less: Option<(&str, ConnectedPart)>,
    ) -> Result<()> {
        let failed = |error| unusable(path, &error);
        let Some(mut file) = self.plan.files.get(path).cloned() else { return Ok(()) };
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
                // The user wrote the same text, or the file is shared with another agent.
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
        file.after = after;
        self.note(path, file, record.as_ref(), entries, kept)
    }

    fn is_current(&self, text: Option<&str>, entries: &[EntryRecord]) -> Result<bool, EditError> {
        let Some(text) = text else { return Ok(false) };
        for entry in entries {
            let Some(edit) = self.edit_of(entry) else { return Ok(false) };
            if edit.state(text)? != EntryState::Current {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the text without Nacre's entries, for editing and for the backup. If the file has
    /// not been modified since Nacre wrote it, both are the original text.
    fn without_us(
        &self,
        file: &PlannedFile,
        record: &FileRecord,
    ) -> Result<Option<(String, String)>, EditError> {
        let twice = |text: String| (text.clone(), text);
        let Some(text) = &file.after else { return Ok(None) };
        if ContentHash::of(text.as_bytes()) == record.after {
            match record.base {
                None => return Ok(None),
                Some(hash) => {
                    let kept = self.plan.backups.get(&hash).cloned();
                    if let Some(text) = kept.or_else(|| apply::backup(self.host, &hash)) {
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
        let is_blank = |text: &str| text.trim_start_matches('\u{feff}').trim().is_empty();
        let is_ours_alone = |text: &String| record.base.is_none() && is_blank(text);
        Ok(left.filter(|text| !is_ours_alone(text)).map(twice))
    }

    /// Like `without_us`, but for a file that is not in the ledger and may contain entries from an
    /// older version of Nacre.
    fn without_strays(
        &self,
        file: &PlannedFile,
        more: Option<&EntryRecord>,
        less: Option<(&str, ConnectedPart)>,
    ) -> Result<Option<(String, String)>, EditError> {
        let Some(text) = &file.after else { return Ok(None) };
        let named = less.map(|(agent, part)| EntryRecord::new(agent, part));
        let Some(edit) = named.as_ref().or(more).and_then(|entry| self.edit_of(entry)) else {
            return Ok(Some((text.clone(), text.clone())));
        };
        let is_whole = matches!(edit, Edit::Whole(_));
        if is_whole && text.contains(MARK) {
            return Ok(None);
        }
        let is_removed = less.is_some() || matches!(edit, Edit::Hooks { .. });
        let left = if is_removed && !is_whole {
            edit.remove(text, &Undo::default())?.unwrap_or_default()
        } else {
            text.clone()
        };
        let kept = if less.is_some() { left.clone() } else { text.clone() };
        Ok(Some((left, kept)))
    }

    fn note(
        &mut self,
        path: &Path,
        file: PlannedFile,
        record: Option<&FileRecord>,
        entries: Vec<EntryRecord>,
        kept: Option<String>,
    ) -> Result<()> {
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
                let record = FileRecord { base, after, entries, folders };
                self.plan.new.files.insert(path.to_owned(), record);
            }
            Some(_) | None => {
                self.plan.new.files.remove(path);
            }
        }
        self.plan.files.insert(path.to_owned(), file);
        Ok(())
    }
}

fn unusable(path: &Path, error: &EditError) -> OpError {
    invalid(path, &error.to_string())
}

/// Returns the file to edit: the first candidate that exists, or else the first candidate.
pub(super) fn file_of(edit: &FileEdit) -> &Path {
    let found = edit.candidates.iter().find(|path| path.exists());
    found.or(edit.candidates.first()).map_or(Path::new(""), PathBuf::as_path)
}

/// Returns the agents' files and the directories that must contain them.
pub(super) fn places(host: &Host) -> Result<(Places, Vec<PathBuf>)> {
    let homes = homes(host)?;
    let usual = Places::at(&homes.home);
    let folders = claude_config_folders(&homes);
    let claude = folders.first().filter(|path| path.is_absolute());
    let named = |name: &str| homes.var(name).filter(|path| path.is_absolute());
    let (codex, config) = (named("CODEX_HOME"), named("XDG_CONFIG_HOME"));
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

const MAX_BYTES: u64 = 16 << 20;

/// A file's path, split into the deepest existing directory and the remaining components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentFile {
    folder: PathBuf,
    pub(super) rel: RelPath,
}

impl AgentFile {
    /// Locates the file at `path`, which must be inside one of `roots` once links are resolved.
    pub(super) fn find(path: &Path, roots: &[PathBuf]) -> Result<Self> {
        let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|at| at.is_symlink());
        let real = match nacre_base::platform::canonicalize(path) {
            Ok(real) => real,
            Err(_) if is_link(path) => {
                return Err(refusal_error(path, "It is a broken link"));
            }
            Err(_) => path.to_owned(),
        };
        let above = real.ancestors().skip(1).find(|folder| fs::symlink_metadata(folder).is_ok());
        let above = above.unwrap_or(Path::new("/"));
        let rest = real.strip_prefix(above).unwrap_or(&real).to_owned();
        let folder = nacre_base::platform::canonicalize(above)
            .map_err(|_| refusal_error(path, "A directory in its path is a broken link"))?;
        let real = folder.join(&rest);
        if !roots.iter().any(|root| real.starts_with(root)) {
            let why = "It is a link to a location outside the home directory";
            return Err(refusal_error(path, why).hint(
                "If the home directory was moved, move `connect/ledger.json` out of the global \
                 directory and run the command again",
            ));
        }
        let rest =
            rest.to_str().ok_or_else(|| refusal_error(path, "Its path is not valid UTF-8"))?;
        Ok(Self { rel: RelPath::new(&nacre_base::platform::with_slashes(rest))?, folder })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(self.rel.as_str())
    }

    pub(super) fn missing_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let mut next = self.rel.parent();
        while let Some(folder) = next {
            folders.push(self.folder.join(folder.as_str()));
            next = folder.parent();
        }
        folders.reverse();
        folders
    }

    pub(super) fn read(&self) -> Result<Option<String>> {
        let scope = self.scope()?;
        let Some(bytes) = scope.read_optional(&self.rel, MAX_BYTES)? else { return Ok(None) };
        let invalid = |_| invalid(&self.path(), "It is not valid UTF-8");
        String::from_utf8(bytes).map(Some).map_err(invalid)
    }

    fn check_writable(&self) -> Result<()> {
        let path = self.path();
        match fs::metadata(&path) {
            Ok(file) if file.permissions().readonly() => {
                Err(refusal_error(&path, "It is read-only")
                    .hint(format!("Make it writable and try again: chmod u+w {}", path.display())))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    pub(super) fn scope(&self) -> Result<WriteScope> {
        Ok(WriteScope::open(&self.folder, Access::Private)?)
    }
}

fn refusal_error(path: &Path, why: &str) -> OpError {
    let error = OpError::failed(format!("Cannot change `{}`", path.display()));
    OpError { code: ErrorCode::Refused, causes: vec![why.to_owned()], ..error }
}

fn invalid(path: &Path, why: &str) -> OpError {
    OpError { code: ErrorCode::Invalid, ..refusal_error(path, why) }
        .hint("The file was not changed. Fix it and try again")
}

pub(super) fn changes(host: &Host, plan: &Plan) -> Vec<FileChange> {
    let change = |(path, file): (&Path, &PlannedFile)| {
        let kind = match (&file.before, &file.after) {
            (None, _) => ChangeKind::Create,
            (Some(_), Some(_)) => ChangeKind::Change,
            (Some(_), None) => ChangeKind::Remove,
        };
        let name = short(host, path);
        let diff = format_unified_diff(&name, file.before.as_deref(), file.after.as_deref());
        let records = [plan.old.files.get(path), plan.new.files.get(path)].into_iter().flatten();
        let entries = records.flat_map(|record| &record.entries);
        let agents: BTreeSet<String> = entries.map(|entry| entry.agent.clone()).collect();
        FileChange { diff, path: name, change: kind, agents: agents.into_iter().collect() }
    };
    plan.list_changed().map(change).collect()
}
