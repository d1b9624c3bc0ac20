//! Reads one conversation from Cursor's composer, stored in the global database or a workspace
//! database. The header list defines the order, because times can be missing or wrong. Rows without
//! a header were undone by the user, so they are read last and marked as undone.

use crate::transcript::toolkit::*;
use std::collections::HashSet;

use super::blobs;
use super::bubble::Bubbles;
use super::project::Project;

const MAX_BUBBLES: usize = 200_000;

/// Selects a key's value. Overlong values are dropped.
pub(super) const KV_VALUE: &str = "SELECT octet_length(value), \
    CASE WHEN octet_length(value) <= ?2 THEN value END FROM cursorDiskKV WHERE key = ?1";

pub(super) fn read_composer(
    store: &Store,
    id: &str,
    project: &mut Project,
    out: &mut Emitter,
) -> Result<()> {
    let key = format!("composerData:{id}");
    let mut value = String::new();
    let found = store.rows(KV_VALUE, (&key, MAX_VALUE.cast_signed()), |row| {
        value = store::read_counted_text(row, 1, out).unwrap_or_default();
        Wish::Enough
    });
    store.survive(found, out)?;
    let composer = Fields::of(&value);
    let mut bubbles = Bubbles::new(note_role(&composer, out));
    note_composer(&composer, out);
    let n_missing = match composer.items("conversation") {
        inline if !inline.is_empty() => {
            read_inline(&key, &inline, &mut bubbles, out);
            0
        }
        _ => read_rows(store, id, &composer, &mut bubbles, out)?,
    };
    let state = composer.string("conversationState");
    if bubbles.last == TurnState::Unknown && !state.is_empty() {
        blobs::read_state(store, &state, bubbles.lane, project, out)?;
    }
    finish(&key, &composer, &bubbles, n_missing, out);
    project.note_composer(&composer);
    project.take_bubbles(bubbles);
    Ok(())
}

/// Reads a conversation from a list in a workspace database.
pub(super) fn read_listed(raw: &str, row: &str, project: &mut Project, out: &mut Emitter) {
    let composer = Fields::of(raw);
    let mut bubbles = Bubbles::new(note_role(&composer, out));
    note_composer(&composer, out);
    read_inline(row, &composer.items("conversation"), &mut bubbles, out);
    finish(row, &composer, &bubbles, 0, out);
    project.note_composer(&composer);
    project.take_bubbles(bubbles);
}

fn read_inline(row: &str, inline: &[&str], bubbles: &mut Bubbles, out: &mut Emitter) {
    for (idx, raw) in inline.iter().enumerate() {
        bubbles.read(&format!("{row}/conversation/{idx}"), raw, &Fields::default(), out);
    }
}

/// Reads the rows of the bubbles, and returns how many headers have no row.
fn read_rows(
    store: &Store,
    id: &str,
    composer: &Fields,
    bubbles: &mut Bubbles,
    out: &mut Emitter,
) -> Result<u64> {
    let headers = composer.items("fullConversationHeadersOnly");
    let map = composer.object("conversationMap");
    let mut listed = HashSet::new();
    let mut n_missing = 0;
    for raw in headers.into_iter().take(MAX_BUBBLES) {
        let header = Fields::of(raw);
        let bubble_id = header.string("bubbleId");
        let row_key = format!("bubbleId:{id}:{bubble_id}");
        if bubble_id.is_empty() || !listed.insert(row_key.clone()) {
            out.report.repeated += u64::from(!bubble_id.is_empty());
            continue;
        }
        let in_map = map.raw(&bubble_id);
        if !in_map.is_empty() {
            bubbles.read(&row_key, in_map, &header, out);
        } else if !read_row(store, &row_key, &header, bubbles, out)? {
            n_missing += 1;
        }
    }
    let mut loose = Vec::new();
    let (from, to) = (format!("bubbleId:{id}:"), format!("bubbleId:{id};"));
    let sql = "SELECT key FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 ORDER BY rowid";
    let found = store.rows(sql, (&from, &to), |row| {
        let key = store::text(row, 0).filter(|key| !listed.contains(key.as_ref()));
        loose.extend(key.map(std::borrow::Cow::into_owned));
        if loose.len() < MAX_BUBBLES { Wish::More } else { Wish::Enough }
    });
    store.survive(found, out)?;
    let (first, last) = (out.next_sequence(), bubbles.last);
    for key in loose {
        let id = key.rsplit(':').next().unwrap_or_default().replace(['"', '\\'], "");
        let header = format!("{{\"bubbleId\":\"{id}\"}}");
        read_row(store, &key, &Fields::of(&header), bubbles, out)?;
    }
    if !listed.is_empty() && first < out.next_sequence() {
        note_undone(first, out);
        bubbles.last = last;
    }
    Ok(n_missing)
}

/// Returns `false` if the bubble's row is missing or empty.
fn read_row(
    store: &Store,
    key: &str,
    header: &Fields,
    bubbles: &mut Bubbles,
    out: &mut Emitter,
) -> Result<bool> {
    let mut is_there = false;
    let found = store.rows(KV_VALUE, (key, MAX_VALUE.cast_signed()), |row| {
        let size = store::number(row, 0);
        is_there = size.is_some();
        match store::read_counted_text(row, 1, out) {
            Some(value) => bubbles.read(key, &value, header, out),
            None if size.is_some() => {
                let place = voice::row(key);
                let spot = Spot { place: &place, key: "", time: None, lane: bubbles.lane };
                voice::long_row(&spot, out);
            }
            None => {}
        }
        Wish::Enough
    });
    store.survive(found, out)?;
    Ok(is_there)
}

fn note_role(composer: &Fields, out: &mut Emitter) -> Lane {
    let info = composer.object("subagentInfo");
    let parent = [info.string("parentComposerId"), composer.string("parentComposerId")]
        .into_iter()
        .find(|id| !id.is_empty());
    let Some(parent) = parent else { return Lane::Main };
    out.facts.role = SessionRole::SubAgent;
    let call = info.string("toolCallId");
    out.note_link(LinkKind::Parent, &parent, (!call.is_empty()).then_some(&*call));
    Lane::Sidechain
}

fn note_composer(composer: &Fields, out: &mut Emitter) {
    out.note_title(&composer.string("name"));
    for key in ["createdAt", "lastUpdatedAt"] {
        out.note_time(composer.time(key));
    }
    out.note_model(&composer.object("modelConfig").string("modelName"));
    out.note_branch(&composer.string("createdOnBranch"));
    for branch in composer.items("branches") {
        out.note_branch(&Fields::of(branch).string("branchName"));
    }
    out.note_branch(&composer.object("activeBranch").string("branchName"));
}

fn finish(row: &str, composer: &Fields, bubbles: &Bubbles, n_missing: u64, out: &mut Emitter) {
    let recap = composer.object("latestConversationSummary");
    let text = match text_of(recap.raw("summary")) {
        Some(text) => text,
        None => recap.object("summary").string("summary"),
    };
    let place = voice::row(row);
    let spot = Spot { place: &place, key: "", time: None, lane: bubbles.lane };
    if !text.trim().is_empty() {
        out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, ""));
        voice::recap(&spot, &text, out);
    }
    let is_quiet = composer.items("generatingBubbleIds").is_empty() && !bubbles.waits();
    let is_whole = n_missing == 0;
    out.facts.ending = match (composer.word("status"), bubbles.last) {
        // If there are no bubbles, keep the ending that was set while reading the blobs.
        (_, TurnState::Unknown) => out.facts.ending,
        ("generating", _) | (_, TurnState::Open) => Ending::Active,
        ("completed" | "aborted", TurnState::Closed) if is_quiet && is_whole => Ending::Finished,
        ("completed" | "aborted", TurnState::Closed) if !is_quiet => Ending::Active,
        _ => Ending::Unknown,
    };
}

/// Kinds of prompts entered outside chats and composers: inline edits and terminal commands.
const PLACED_KINDS: [&str; 2] = ["1", "3"];

pub(super) fn read_tab(raw: &str, project: &mut Project, out: &mut Emitter) {
    let tab = Fields::of(raw);
    out.note_title(&tab.string("chatTitle"));
    out.note_time(tab.time("lastSendTime"));
    let id = tab.string("tabId");
    let mut bubbles = Bubbles::new(Lane::Main);
    for (idx, raw) in tab.items("bubbles").into_iter().enumerate() {
        bubbles.read(&format!("chatdata:{id}/{idx}"), raw, &Fields::default(), out);
    }
    out.facts.ending = bubbles.last.ending(false);
    project.take_bubbles(bubbles);
}

/// Returns the distinct prompts typed into an editor, with their positions in the list.
pub(super) fn find_placed_prompts(prompts: &str) -> Vec<(usize, String)> {
    let mut seen = HashSet::new();
    let mut placed = Vec::new();
    for (idx, raw) in items(prompts).into_iter().enumerate() {
        let prompt = Fields::of(raw);
        let text = prompt.string("text");
        let is_placed = PLACED_KINDS.contains(&prompt.raw("commandType"));
        if is_placed && !text.trim().is_empty() && seen.insert(text.to_string()) {
            placed.push((idx, text.into_owned()));
        }
    }
    placed
}

pub(super) fn read_prompts(prompts: &str, out: &mut Emitter) {
    for (idx, text) in find_placed_prompts(prompts) {
        out.report.lines += 1;
        let row = format!("aiService.prompts/{idx}");
        let place = voice::row(&row);
        let spot = Spot { place: &place, key: &row, time: None, lane: Lane::Main };
        voice::words(&spot, WordSource::Prompt, &text, out);
    }
}
