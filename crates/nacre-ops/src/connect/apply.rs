//! Applies a plan, records every change to a file, and makes Codex trust Nacre's hooks.

use nacre_base::config::agents;
use nacre_base::fs::{ChangeSet, Writer};
use nacre_traces::agent_config::{ConnectedPart, Undo, is_ours};
use nacre_traces::agents::ADAPTERS;
use nacre_types::{ConnectReport, WiringOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::listing::Dialogue;
use super::plan::{AgentFile, Plan, PlannedFile, Planner};
use super::report;
use crate::host::{
    agent_named, agent_names, if_there, program_path, read_connected_agents, read_text,
};
use crate::prelude::*;
use crate::recording::replace_text;
use crate::status::find_disconnected;

/// First reverts an earlier change that was interrupted, unless this is a dry run.
pub(super) fn begin<'h>(host: &'h Host, wiring: &WiringOptions) -> Result<Planner<'h>> {
    if !wiring.dry_run {
        settle(host)?;
    }
    Planner::open(host)
}

/// Writes the planned changes if the user approved this exact plan.
pub(super) fn apply(host: &Host, plan: &Plan, wiring: &WiringOptions) -> Result<()> {
    let agreed = wiring.plan.as_ref();
    if agreed.is_some_and(|agreed| *agreed != plan.digest()) && plan.list_changed().next().is_some()
    {
        return Err(report_conflict("The files have changed since they were shown"));
    }
    if plan.list_changed().next().is_none() && plan.new == plan.old {
        return Ok(());
    }
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("connect"), host.own_settings().lock.wait)?;
    if Ledger::read(host)? != plan.old {
        return Err(report_conflict("Another process connected an agent in the meantime"));
    }
    announce(plan).write(&writer, &before_texts(plan))?;
    let mut done = Vec::new();
    if let Err(error) = write_all(plan, &mut done).and_then(|()| read_back(plan)) {
        take_back(&done);
        plan.old.write(&writer, &BTreeMap::new())?;
        return Err(error);
    }
    for (path, _) in plan.list_changed().filter(|(_, file)| file.after.is_none()) {
        remove_empty(plan.old.files.get(path).map_or(&[], |record| record.folders.as_slice()));
    }
    let mut backups = plan.backups.clone();
    backups.extend(before_texts(plan));
    plan.new.write(&writer, &backups)
}

/// Writes all files. On error, `done` contains the files that were already written.
fn write_all<'p>(plan: &'p Plan, done: &mut Vec<&'p PlannedFile>) -> Result<()> {
    for (_, file) in plan.list_changed() {
        write(&file.place, file.before.as_deref(), file.after.as_deref())?;
        done.push(file);
    }
    Ok(())
}

fn report_conflict(message: &str) -> OpError {
    OpError::new(ErrorCode::Conflict, message).hint("Nothing was changed. Run the command again")
}

/// Returns the ledger, including the changes that are about to be made.
fn announce(plan: &Plan) -> Ledger {
    let hash = |text: &Option<String>| text.as_ref().map(|text| ContentHash::of(text.as_bytes()));
    let pending = plan.list_changed().map(|(path, file)| PendingFile {
        path: path.to_owned(),
        before: hash(&file.before),
        after: hash(&file.after),
        folders: if file.before.is_none() { file.place.missing_folders() } else { Vec::new() },
    });
    Ledger { pending: pending.collect(), ..plan.old.clone() }
}

fn before_texts(plan: &Plan) -> BTreeMap<ContentHash, String> {
    let texts = plan.list_changed().filter_map(|(_, file)| file.before.clone());
    texts.map(|text| (ContentHash::of(text.as_bytes()), text)).collect()
}

/// Changes a file from `before` to `after`. Fails if the file contains neither, because the user
/// must have edited it.
fn write(place: &AgentFile, before: Option<&str>, after: Option<&str>) -> Result<()> {
    let (before, after) = (before.map(str::as_bytes), after.map(str::as_bytes));
    replace_text(&place.scope()?, &place.rel, before, after)
}

/// Restores files, except those that the user has edited in the meantime.
fn take_back(done: &[&PlannedFile]) {
    for file in done.iter().rev() {
        let _ = write(&file.place, file.after.as_deref(), file.before.as_deref());
        if file.before.is_none() {
            remove_empty(&file.place.missing_folders());
        }
    }
}

fn read_back(plan: &Plan) -> Result<()> {
    for (path, file) in plan.list_changed() {
        if file.place.read()? != file.after {
            return Err(report_conflict(&format!(
                "`{}` was changed by another program in the meantime",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Removes empty directories, innermost first. Errors are ignored.
fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        let parts = folder.parent().zip(folder.file_name().and_then(|name| name.to_str()));
        let Some((parent, name)) = parts else { continue };
        let scope = WriteScope::open(parent, Access::Private);
        if let (Ok(scope), Ok(name)) = (scope, RelPath::new(name)) {
            let _ = scope.remove_empty_folder(&name);
        }
    }
}

fn settle(host: &Host) -> Result<()> {
    if Ledger::read(host)?.pending.is_empty() {
        return Ok(());
    }
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("connect"), host.own_settings().lock.wait)?;
    let ledger = Ledger::read(host)?;
    for file in ledger.pending.iter().rev() {
        undo(host, file)?;
    }
    Ledger { pending: Vec::new(), ..ledger }.write(&writer, &BTreeMap::new())
}

fn undo(host: &Host, pending: &PendingFile) -> Result<()> {
    let place = AgentFile::find(&pending.path, &[PathBuf::from("/")])?;
    let now = place.read()?;
    let is = |hash: Option<ContentHash>| {
        hash == now.as_ref().map(|text| ContentHash::of(text.as_bytes()))
    };
    if is(pending.after) && !is(pending.before) {
        let before = match pending.before {
            None => None,
            Some(hash) => Some(backup(host, &hash).ok_or_else(|| {
                OpError::failed(format!("The backup of `{}` is missing", pending.path.display())).hint(
                    "Check the file, then move `connect/ledger.json` out of the global directory",
                )
            })?),
        };
        write(&place, now.as_deref(), before.as_deref())?;
    }
    if pending.before.is_none() {
        remove_empty(&pending.folders);
    }
    Ok(())
}

pub fn codex_program(host: &Host) -> Result<PathBuf> {
    program_path(host, "codex").ok_or_else(|| {
        OpError::new(ErrorCode::NotSet, "`codex` was not found in PATH")
            .hint("Start codex and trust the hooks when it asks")
    })
}

/// Makes Codex trust every Nacre hook that it lists.
pub(super) fn trust(host: &Host, wiring: &WiringOptions) -> Result<ConnectReport> {
    let mut planner = begin(host, wiring)?;
    let codex = codex_program(host)?;
    let folder = planner.files.places.codex.clone();
    let hashes = hashes(host, &codex, &folder).map_err(|why| {
        OpError::new(ErrorCode::Unavailable, "Codex could not list its hooks")
            .because(why)
            .hint("Start codex and trust the hooks when it asks")
    })?;
    if hashes.is_empty() {
        return Err(
            OpError::not_found("Codex has no hooks from Nacre").hint("nacre connect codex --hooks")
        );
    }
    planner.add_trust(hashes)?;
    let plan = planner.plan;
    if !wiring.dry_run {
        apply(host, &plan, wiring)?;
    }
    report(host, &plan)
}

fn hashes(host: &Host, codex: &Path, folder: &Path) -> Result<Vec<(String, String)>, String> {
    let mut server = Dialogue::start(host, codex, &["app-server"])?;
    let client = json!({"clientInfo": {"name": "nacre", "title": "Nacre", "version": env!("CARGO_PKG_VERSION")}});
    server.ask("initialize", client, None)?;
    server.tell("initialized", None)?;
    let cwds = json!({"cwds": [folder]});
    let listed = server.ask("hooks/list", cwds, None)?;
    let mut hashes = Vec::new();
    collect(&listed, &mut hashes);
    hashes.sort();
    hashes.dedup();
    match listed.pointer("/data/0/errors/0/message").and_then(Value::as_str) {
        // If Codex cannot load its settings, it lists no hooks.
        Some(why) if hashes.is_empty() => Err(why.to_owned()),
        Some(_) | None => Ok(hashes),
    }
}

/// Finds Nacre's hooks anywhere in the response, because the response format differs between Codex
/// versions.
fn collect(value: &Value, hashes: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, hashes)),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            let hook = text("command").zip(text("key")).zip(text("currentHash"));
            if let Some(((command, key), hash)) = hook
                && is_ours(command, "codex")
            {
                hashes.push((key.to_owned(), hash.to_owned()));
            }
            members.values().for_each(|value| collect(value, hashes));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(super) const TRUST_NOTE: &str = "Codex only runs trusted hooks: run `nacre connect codex \
    --trust-hooks`, or trust them when codex asks";

const APPROVAL_NOTE: &str =
    "Codex calls Nacre's tools without asking for approval (`default_tools_approval_mode`)";

pub(super) fn notes(plan: &Plan) -> Vec<String> {
    let brings = |end: &str, sign: &str| {
        let has = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(sign));
        plan.files
            .iter()
            .any(|(path, file)| path.ends_with(end) && has(&file.after) && !has(&file.before))
    };
    let mut notes = Vec::new();
    if brings("config.toml", "default_tools_approval_mode") {
        notes.push(APPROVAL_NOTE.to_owned());
    }
    if brings(".agents/skills/nacre/SKILL.md", "") {
        notes.push("Other agents also read the skill from `~/.agents/skills`".to_owned());
    }
    let holds = |record: &FileRecord, part: ConnectedPart| {
        record.entries.iter().any(|entry| entry.is("codex", part))
    };
    let mut written = plan.list_changed().filter_map(|(path, _)| plan.new.files.get(path));
    let is_trusted = plan.new.files.values().any(|record| holds(record, ConnectedPart::Trust));
    if !is_trusted && written.any(|record| holds(record, ConnectedPart::Hooks)) {
        notes.push(TRUST_NOTE.to_owned());
    }
    notes
}

const LEDGER_FILE: &str = "connect/ledger.json";
const BACKUP: &str = "connect/backup";
const VERSION: u32 = 1;
const MAX_BYTES: u64 = 16 << 20;

/// A record of everything that Nacre has written to agents' files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ledger {
    pub(super) version: u32,
    /// The modified files, keyed by path after all links are resolved.
    pub(super) files: BTreeMap<PathBuf, FileRecord>,
    /// Keys and hashes of the Codex hooks that the user trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) trust: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pending: Vec<PendingFile>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { version: VERSION, files: BTreeMap::new(), trust: Vec::new(), pending: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRecord {
    /// The hash of the file without Nacre's entries. `None` if the file did not exist.
    pub(super) base: Option<ContentHash>,
    pub(super) after: ContentHash,
    pub(super) entries: Vec<EntryRecord>,
    /// Directories created for the file, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryRecord {
    pub(super) agent: String,
    pub(super) part: ConnectedPart,
    #[serde(default)]
    pub(super) guard: bool,
    #[serde(default)]
    pub(super) undo: Undo,
}

impl EntryRecord {
    pub(super) fn new(agent: &str, part: ConnectedPart) -> Self {
        Self { agent: agent.to_owned(), part, guard: false, undo: Undo::default() }
    }

    pub(super) fn is(&self, agent: &str, part: ConnectedPart) -> bool {
        self.agent == agent && self.part == part
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PendingFile {
    pub(super) path: PathBuf,
    pub(super) before: Option<ContentHash>,
    pub(super) after: Option<ContentHash>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
}

impl Ledger {
    pub(super) fn read(host: &Host) -> Result<Self> {
        let Some(scope) = open(host)? else { return Ok(Self::default()) };
        let bytes = scope.read_optional(&RelPath::new(LEDGER_FILE)?, MAX_BYTES)?;
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        match serde_json::from_str::<Self>(&String::from_utf8_lossy(&bytes)) {
            Ok(ledger) if ledger.version == VERSION => Ok(ledger),
            Ok(_) | Err(_) => Err(OpError::failed(format!(
                "`{LEDGER_FILE}` in the global directory is damaged or has an unsupported version"
            ))
            .hint(
                "Move it out of the way. `nacre connect AGENT --remove` then removes the entries \
                 that it recognizes",
            )),
        }
    }

    /// Writes the ledger and the backups it refers to. Removes backups that are no longer needed.
    pub(super) fn write(
        &self,
        writer: &Writer<'_>,
        backups: &BTreeMap<ContentHash, String>,
    ) -> Result<()> {
        let scope = writer.scope();
        let mut set = ChangeSet::new();
        let mut json = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        json.push(b'\n');
        let path = RelPath::new(LEDGER_FILE)?;
        set.put(path.clone(), scope.read_optional(&path, MAX_BYTES)?.as_deref(), json);
        let bases = self.files.values().filter_map(|record| record.base);
        let needed: BTreeSet<ContentHash> =
            bases.chain(self.pending.iter().filter_map(|file| file.before)).collect();
        for (hash, text) in backups.iter().filter(|(hash, _)| needed.contains(hash)) {
            let path = backup_path(hash)?;
            if !scope.has(&path)? {
                set.create(path, text.clone().into_bytes());
            }
        }
        for entry in scope.list(&RelPath::new(BACKUP)?)? {
            let is_needed = entry.name.parse().is_ok_and(|hash| needed.contains(&hash));
            if let (false, Ok(path)) =
                (is_needed, RelPath::new(&format!("{BACKUP}/{}", entry.name)))
            {
                set.remove(path.clone(), &scope.read(&path, MAX_BYTES)?);
            }
        }
        writer.commit(set)?;
        Ok(())
    }
}

/// Returns the original text of a file, or `None` if the backup is missing or damaged.
pub(super) fn backup(host: &Host, hash: &ContentHash) -> Option<String> {
    let scope = open(host).ok()??;
    let bytes = scope.read(&backup_path(hash).ok()?, MAX_BYTES).ok()?;
    (ContentHash::of(&bytes) == *hash).then(|| String::from_utf8(bytes).ok())?
}

fn backup_path(hash: &ContentHash) -> Result<RelPath> {
    Ok(RelPath::new(&format!("{BACKUP}/{hash}"))?)
}

fn open(host: &Host) -> Result<Option<WriteScope>> {
    if_there(WriteScope::open(host.home()?, Access::Private))
}

pub(super) const REGISTER_FILE: &str = "agents.toml";

/// Returns the agent register's text, or `None` if there is no register.
pub(super) fn register_text(host: &Host) -> Result<Option<String>> {
    read_text(host.home()?, REGISTER_FILE)
}

pub(super) fn is_readable(name: &str) -> bool {
    ADAPTERS.iter().any(|adapter| adapter.agent().as_str() == name)
}

pub(super) fn is_registered(host: &Host, name: &str) -> Result<bool> {
    let chosen = read_connected_agents(host)?;
    Ok(chosen.is_some_and(|chosen| chosen.iter().any(|agent| agent.name == name)))
}

/// Registers an agent with these paths. When no paths are given, does nothing if the agent is
/// already registered, or if no register exists (in which case all agents are read).
pub(super) fn register_agent(host: &Host, name: &str, paths: &[String]) -> Result<()> {
    let agent = agent_named(name)?;
    if paths.is_empty() && (read_connected_agents(host)?.is_none() || is_registered(host, name)?) {
        return Ok(());
    }
    let paths = absolute(host, paths)?;
    edit(host, |text, origin| Ok(agents::connect(text, origin, agent.as_str(), &paths)?))
}

fn absolute(host: &Host, paths: &[String]) -> Result<Vec<PathBuf>> {
    let paths = paths.iter().map(|path| host.environment.absolute(Path::new(path)));
    let paths: Vec<PathBuf> = paths.collect();
    match paths.iter().find(|path| !path.exists()) {
        Some(missing) => Err(OpError::not_found(format!(
            "No file or directory found at `{}`",
            missing.display()
        ))),
        None => Ok(paths),
    }
}

/// Registers every agent that has traces. If no register exists, does nothing, because all agents
/// are read in that case.
pub(super) fn register_found(host: &Host) -> Result<()> {
    if read_connected_agents(host)?.is_none() {
        return Ok(());
    }
    let found = find_disconnected(host);
    edit(host, |text, origin| {
        let mut text = text.to_owned();
        for name in &found {
            text = agents::connect(&text, origin, name, &[])?;
        }
        Ok(text)
    })
}

pub(super) fn agents_read(host: &Host) -> Result<Vec<&'static str>> {
    let chosen = read_connected_agents(host)?;
    let is_read = |name: &&str| {
        chosen.as_ref().is_none_or(|chosen| chosen.iter().any(|agent| agent.name == *name))
    };
    Ok(agent_names().filter(is_read).collect())
}

/// Stops reading an agent's traces. If there is no register, creates one that contains all other
/// agents.
pub(super) fn unregister_agent(host: &Host, name: &str) -> Result<()> {
    let has_register = read_connected_agents(host)?.is_some();
    edit(host, |text, origin| {
        if has_register {
            return Ok(agents::disconnect(text, origin, name)?);
        }
        let others = agent_names().filter(|other| *other != name);
        let mut text = text.to_owned();
        for other in others {
            text = agents::connect(&text, origin, other, &[])?;
        }
        Ok(text)
    })
}

fn edit(host: &Host, change: impl FnOnce(&str, &Path) -> Result<String>) -> Result<()> {
    host.edit_text(&host.home_scope()?, REGISTER_FILE, "connect", change)?;
    Ok(())
}
