//! Lists the conversations in a `state.vscdb`. Each has a revision that changes whenever its rows
//! change. The revision also contains the conversation's workspace, so that reading the
//! conversation does not require searching all workspaces again.

use crate::transcript::toolkit::*;
use std::borrow::Cow;
use std::collections::HashSet;

use super::composer::find_placed_prompts;
use super::project::{Links, item};

pub(super) const COMPOSERS: &str = "composer.composerData";
pub(super) const TABS: &str = "workbench.panel.aichat.view.aichat.chatdata";
pub(super) const PROMPTS: &str = "aiService.prompts";
/// ID of the session that collects all prompts typed into an editor.
pub(super) const PROMPTS_SESSION: &str = "prompts";

/// Limits the number of database queries. No real user has this many sessions.
const MAX_SESSIONS: usize = 20_000;
const LINK_MARK: char = '@';

struct ListedComposer {
    id: String,
    revision: String,
    /// Whether the conversation itself refers to its workspace.
    is_linked: bool,
}

pub(super) fn sessions(source: &TraceSource) -> Result<Vec<Trace>> {
    let store = Store::open(&source.path)?;
    let mut found = Vec::new();
    if store.has_table("cursorDiskKV")? {
        found = composers(&store)?;
        loose_bubbles(&store, &mut found)?;
        if found.iter().any(|found| !found.is_linked) {
            let links = Links::find(&store, &source.path);
            for found in found.iter_mut().filter(|found| !found.is_linked) {
                if let Some(workspace) = links.workspace(&found.id) {
                    found.revision.push(LINK_MARK);
                    found.revision.push_str(workspace);
                }
            }
        }
    }
    if store.has_table("ItemTable")? {
        found.extend(list_composers(&store, COMPOSERS, "allComposers", composer_id)?);
        found.extend(list_composers(&store, TABS, "tabs", tab_id)?);
        let prompts = item(&store, PROMPTS)?.unwrap_or_default();
        if !find_placed_prompts(&prompts).is_empty() {
            found.push(ListedComposer::new(PROMPTS_SESSION.to_owned(), prompts.as_bytes()));
        }
    }
    store.close()?;
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found.dedup_by(|a, b| a.id == b.id);
    let trace = |found: ListedComposer| Trace {
        source: source.clone(),
        session: Some(found.id),
        revision: Some(found.revision),
    };
    Ok(found.into_iter().map(trace).collect())
}

pub(super) fn parse_linked_workspace(revision: Option<&str>) -> Option<&str> {
    revision?.split_once(LINK_MARK).map(|(_, workspace)| workspace)
}

impl ListedComposer {
    fn new(id: String, content: &[u8]) -> Self {
        let revision = blake3::hash(content).to_hex()[..16].to_owned();
        Self { id, revision, is_linked: true }
    }
}

/// Omits drafts and conversations without their own row.
fn composers(store: &Store) -> Result<Vec<ListedComposer>> {
    let mut found = Vec::new();
    let sql = "SELECT substr(key, 14), value FROM cursorDiskKV \
        WHERE key >= 'composerData:' AND key < 'composerData;' AND octet_length(value) <= ?1";
    let mut candidates = Vec::new();
    store.rows(sql, [MAX_VALUE.cast_signed()], |row| {
        let (Some(id), Some(value)) = (store::text(row, 0), store::text(row, 1)) else {
            return Wish::More;
        };
        if is_id(&id) {
            let composer = Fields::of(&value);
            let is_inline = !composer.items("conversation").is_empty();
            let has_state = 8 < composer.raw("conversationState").len();
            let mut one = ListedComposer::new(id.into_owned(), value.as_bytes());
            one.is_linked = !composer.object("workspaceIdentifier").is_empty();
            candidates.push((one, is_inline || has_state));
        }
        if candidates.len() < MAX_SESSIONS { Wish::More } else { Wish::Enough }
    })?;
    for (mut one, has_talk) in candidates {
        let bubbles = bubbles_revision(store, &one.id)?;
        if has_talk || bubbles.is_some() {
            one.revision.push_str(&bubbles.unwrap_or_default());
            found.push(one);
        }
    }
    Ok(found)
}

/// Returns a revision that changes when a bubble is added or rewritten. Cursor rewrites a row by
/// replacing it, which changes its row ID.
fn bubbles_revision(store: &Store, id: &str) -> Result<Option<String>> {
    let sql = "SELECT count(*), max(rowid), CAST(total(rowid) AS INTEGER) FROM cursorDiskKV \
        WHERE key >= ?1 AND key < ?2";
    let (from, to) = (format!("bubbleId:{id}:"), format!("bubbleId:{id};"));
    let read = |row: &rusqlite::Row<'_>| {
        let column = |idx| store::number(row, idx).unwrap_or_default();
        (0 < column(0)).then(|| format!("-{}-{}-{}", column(0), column(1), column(2)))
    };
    Ok(store.first(sql, (&from, &to), read)?.flatten())
}

/// Finds conversations that have bubbles but no row of their own.
fn loose_bubbles(store: &Store, found: &mut Vec<ListedComposer>) -> Result<()> {
    let sql = "SELECT key FROM cursorDiskKV WHERE key >= ?1 AND key < 'bubbleId;' \
        ORDER BY key LIMIT 1";
    let known: HashSet<String> = found.iter().map(|known| known.id.clone()).collect();
    let mut from = "bubbleId:".to_owned();
    while found.len() < MAX_SESSIONS {
        let key = store.first(sql, [&from], |row| store::text(row, 0).map(Cow::into_owned))?;
        let Some(key) = key.flatten() else { return Ok(()) };
        let id = key.split(':').nth(1).unwrap_or_default().to_owned();
        // Skip all remaining keys of this conversation.
        let next = format!("bubbleId:{id};");
        if next <= from {
            return Ok(());
        }
        from = next;
        if is_id(&id) && !known.contains(&id) {
            let revision = bubbles_revision(store, &id)?.unwrap_or_default();
            found.push(ListedComposer { id, revision, is_linked: false });
        }
    }
    Ok(())
}

/// Lists conversations that are stored together as one list.
fn list_composers(
    store: &Store,
    key: &str,
    list: &str,
    id_of: fn(&Fields) -> Option<String>,
) -> Result<Vec<ListedComposer>> {
    let value = item(store, key)?.unwrap_or_default();
    let found = Fields::of(&value)
        .items(list)
        .into_iter()
        .filter_map(|raw| Some(ListedComposer::new(id_of(&Fields::of(raw))?, raw.as_bytes())))
        .take(MAX_SESSIONS)
        .collect();
    Ok(found)
}

pub(super) fn composer_id(composer: &Fields) -> Option<String> {
    let id = composer.string("composerId").into_owned();
    (is_id(&id) && !composer.items("conversation").is_empty()).then_some(id)
}

pub(super) fn tab_id(tab: &Fields) -> Option<String> {
    let id = tab.string("tabId").into_owned();
    let has_words = |raw: &str| {
        let bubble = Fields::of(raw);
        ["text", "rawText"].iter().any(|key| !bubble.string(key).trim().is_empty())
    };
    (is_id(&id) && tab.items("bubbles").into_iter().any(has_words)).then_some(id)
}

fn is_id(id: &str) -> bool {
    is_session_id(id) && !id.contains([':', LINK_MARK])
}
