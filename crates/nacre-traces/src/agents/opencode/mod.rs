//! Reads OpenCode sessions from its JSON tree, its SQLite databases and exported files. The
//! migration from the tree to a database lost sessions for some users, so both are read. A session
//! that is complete in a database is read only from there.

mod database;
mod export;
mod newer;
mod talk;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{AgentSpec, Copies, HookContract, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

use self::talk::SessionParser;
use self::tree::Tree;

pub(crate) struct OpenCode;

const SKIPPED: &str = "\
    snapshot log bin cache node_modules .git target worktree tool-output session_diff";

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&OpenCode),
    marks: &[
        (1, Mark::Database("")),
        (21, Mark::Line(&["\"projectID\""])),
        (21, Mark::Line(&["\"sessionID\""])),
        (21, Mark::Line(&["\"providerID\""])),
    ],
    copies: Copies::Anywhere(&[]),
    variables: &["OPENCODE_DB"],
    shell_variables: &["OPENCODE"],
    signs: |places| vec![places.config.join("opencode"), places.home.join(".local/share/opencode")],
    mcp: Some(|places, program| {
        let command = Json::List(vec![Json::text(program.text()), Json::text("mcp")]);
        let value = Json::Map(vec![
            ("type", Json::text("local")),
            ("command", command),
            ("enabled", Json::Bool(true)),
            SERVER_TIMEOUT,
        ]);
        let folder = places.config.join("opencode");
        let names = ["opencode.json", "opencode.jsonc", "config.json"];
        let candidates = names.iter().map(|name| folder.join(name)).collect();
        FileEdit { candidates, edit: Edit::Member { keys: vec!["mcp", "nacre"], value } }
    }),
    // OpenCode has no hooks. OpenCode only supports plugins that run inside it.
    hooks: Some(|places, program| {
        let path = places.config.join("opencode/plugins/nacre.js");
        script(path, include_str!("plugin.js"), program)
    }),
    skill: Some(edit_shared_skill),
    contract: Some(HookContract::PLUGIN),
    ..AgentSpec::new("opencode", "OpenCode")
};

impl Adapter for OpenCode {
    fn agent(&self) -> Agent {
        Agent::OpenCode
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let data = homes.var_or("XDG_DATA_HOME", ".local/share").join("opencode");
        let mut roots = vec![data.clone()];
        if let Some(database) = homes.var("OPENCODE_DB")
            && database != Path::new(":memory:")
        {
            // Relative names are resolved against the data directory. `join` keeps absolute paths
            // as they are.
            roots.push(data.join(database));
        }
        roots
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let directory = |name: &str| !contains_word(SKIPPED, name);
        let mut discovery =
            walk_with(roots, Agent::OpenCode, &is_database, &directory, &tree_source);
        // A database's stamp covers its write-ahead log. Databases deleted since they were
        // discovered are dropped.
        discovery.sources.retain_mut(|source| {
            if source.path.is_dir() {
                return true;
            }
            let stamp = store::stamp(&source.path);
            source.stamp = stamp.unwrap_or(source.stamp);
            stamp.is_some()
        });
        discovery
    }

    fn sessions(&self, source: &TraceSource) -> Result<Vec<Trace>> {
        if export::is_export(&source.path) {
            return Ok(vec![Trace::whole(source.clone())]);
        }
        let found = match Tree::at(&source.path) {
            Some(tree) => tree_sessions(&tree, &source.path),
            None => {
                let store = Store::open(&source.path)?;
                let found = database::sessions(&store)?;
                store.close()?;
                // IDs are stored and displayed unchanged, so malformed ones are rejected.
                found.into_iter().filter(|(id, _)| is_session_id(id)).collect()
            }
        };
        let trace = |(id, revision)| Trace {
            source: source.clone(),
            session: Some(id),
            revision: Some(revision),
        };
        Ok(found.into_iter().map(trace).collect())
    }

    fn read(&self, trace: &Trace, _from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        if export::is_export(path) {
            return export::read(&trace.source, sink);
        }
        let session = trace.session.as_deref().ok_or_else(|| trace.missing())?;
        let facts = SessionFacts::new(Agent::OpenCode, &short_name(session));
        let mut out = Emitter::new(facts, 0, sink);
        let mut talk = SessionParser::default();
        if let Some(tree) = Tree::at(path) {
            tree.read(session, &mut talk, &mut out)?;
        } else {
            let store = Store::open(path)?;
            database::read(&store, || trace.missing(), session, &mut talk, &mut out)?;
            store.close()?;
        }
        talk.finish(&mut out);
        Ok(out.finish())
    }
}

/// Returns the sessions in a tree, omitting those already stored in full in an adjacent database.
fn tree_sessions(tree: &Tree, storage: &Path) -> BTreeMap<String, String> {
    let stored = count_stored(storage);
    let mut found = BTreeMap::new();
    for (id, info) in tree.sessions() {
        let n_messages = tree.messages_of(&id).len();
        if n_messages == 0 || stored.get(&id).is_some_and(|n_stored| n_messages <= *n_stored) {
            continue;
        }
        let stamp = tree.stamp(&id, &info);
        let modified = stamp.modified.map_or(0, Timestamp::as_millisecond);
        found.insert(id, format!("{n_messages}-{}-{modified}", stamp.size));
    }
    found
}

fn count_stored(storage: &Path) -> BTreeMap<String, usize> {
    let mut stored = BTreeMap::new();
    // The tree is in `<data>/storage` or `<data>/project/<name>/storage`.
    for data in [storage.parent(), storage.ancestors().nth(3)].into_iter().flatten() {
        let Ok(entries) = fs::read_dir(data) else { continue };
        for entry in
            entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_database))
        {
            // If a database cannot be read, keep the tree's sessions, because a duplicate is better
            // than a missing session.
            let counts = Store::open(&entry.path()).and_then(|store| {
                let counts = database::message_counts(&store)?;
                store.close()?;
                Ok(counts)
            });
            stored.extend(counts.unwrap_or_default());
        }
    }
    stored
}

fn is_database(name: &str) -> bool {
    let stem = name.strip_suffix(".db").unwrap_or_default();
    stem == "opencode" || stem.starts_with("opencode-")
}

fn tree_source(storage: &Path) -> Option<TraceSource> {
    let tree = Tree::at(storage)?;
    let mut all = Stamp { size: 0, ..stamp(&fs::metadata(storage).ok()?) };
    for (id, info) in tree.sessions() {
        let one = tree.stamp(&id, &info);
        all.size += one.size;
        all.modified = all.modified.max(one.modified);
    }
    Some(TraceSource { agent: Agent::OpenCode, path: storage.to_owned(), stamp: all })
}
