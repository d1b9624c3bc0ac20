//! One conversation of Cursor's composer, from the global database or from a workspace's own.
//!
//! The order is that of the list of headers, for times are missing or wrong. Rows without a header
//! were taken back by the person; they are read last and marked so.

use std::collections::HashSet;

use rusqlite::Row;

use super::super::emit::Emitter;
use super::super::error::Result;
use super::super::event::{EventKind, Lane, Origin};
use super::super::facts::{Ending, LinkKind, SessionRole, Undone};
use super::super::store::{self, MAX_VALUE, Store, Wish};
use super::super::view::{Fields, text_of};
use super::super::voice::{self, Spot};
use super::blobs;
use super::bubble::{Bubbles, Speaker};
use super::project::Project;

/// The most bubbles of one conversation.
const MAX_BUBBLES: usize = 200_000;

/// A value by its key, unless it is too long.
pub(super) const KV_VALUE: &str = "SELECT octet_length(value), \
    CASE WHEN octet_length(value) <= ?2 THEN value END FROM cursorDiskKV WHERE key = ?1";

/// Reads a conversation of the global database.
pub(super) fn read_composer(
    store: &Store,
    id: &str,
    project: &mut Project,
    out: &mut Emitter<'_>,
) -> Result<()> {
    let key = format!("composerData:{id}");
    let mut value = String::new();
    let found = store.rows(KV_VALUE, (&key, MAX_VALUE.cast_signed()), |row| {
        value = column_text(row, 1, out).unwrap_or_default();
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
    if bubbles.last == Speaker::Nobody && !state.is_empty() {
        blobs::read_state(store, &state, bubbles.lane, project, out)?;
    }
    finish(&key, &composer, (&bubbles, n_missing), out);
    project.note_composer(&composer);
    project.take_bubbles(bubbles);
    Ok(())
}

/// Reads a conversation that stands whole in a list of a workspace's database.
pub(super) fn read_listed(raw: &str, row: &str, project: &mut Project, out: &mut Emitter<'_>) {
    let composer = Fields::of(raw);
    let mut bubbles = Bubbles::new(note_role(&composer, out));
    note_composer(&composer, out);
    read_inline(row, &composer.items("conversation"), &mut bubbles, out);
    finish(row, &composer, (&bubbles, 0), out);
    project.note_composer(&composer);
    project.take_bubbles(bubbles);
}

fn read_inline(row: &str, inline: &[&str], bubbles: &mut Bubbles, out: &mut Emitter<'_>) {
    for (idx, raw) in inline.iter().enumerate() {
        bubbles.read(&format!("{row}/conversation/{idx}"), raw, &Fields::default(), out);
    }
}

/// Reads the rows of a conversation's bubbles; returns how many headers have no row.
fn read_rows(
    store: &Store,
    id: &str,
    composer: &Fields<'_>,
    bubbles: &mut Bubbles,
    out: &mut Emitter<'_>,
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
        out.facts.undone.push(Undone { from: first, to: out.next_sequence() - 1 });
        bubbles.last = last;
    }
    Ok(n_missing)
}

/// Reads the row of one bubble; `false` where there is none, or it is empty.
fn read_row(
    store: &Store,
    key: &str,
    header: &Fields<'_>,
    bubbles: &mut Bubbles,
    out: &mut Emitter<'_>,
) -> Result<bool> {
    let mut is_there = false;
    let found = store.rows(KV_VALUE, (key, MAX_VALUE.cast_signed()), |row| {
        let size = store::number(row, 0);
        is_there = size.is_some();
        match column_text(row, 1, out) {
            Some(value) => bubbles.read(key, &value, header, out),
            None if size.is_some() => too_long(key, bubbles.lane, out),
            None => {}
        }
        Wish::Enough
    });
    store.survive(found, out)?;
    Ok(is_there)
}

/// A column as text; what had to be mended is counted.
pub(super) fn column_text(row: &Row<'_>, idx: usize, out: &mut Emitter<'_>) -> Option<String> {
    let bytes = store::bytes(row, idx)?;
    let text = String::from_utf8_lossy(bytes);
    out.report.invalid_utf8 += u64::from(matches!(text, std::borrow::Cow::Owned(_)));
    Some(text.into_owned())
}

fn too_long(key: &str, lane: Lane, out: &mut Emitter<'_>) {
    out.report.lines += 1;
    out.report.long_lines += 1;
    let place = voice::row(key);
    let spot = Spot { place: &place, key: "", time: None, lane };
    voice::failure(&spot, "A row that is too long to be read", out);
}

fn note_role(composer: &Fields<'_>, out: &mut Emitter<'_>) -> Lane {
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

fn note_composer(composer: &Fields<'_>, out: &mut Emitter<'_>) {
    out.note_title(&composer.string("name"));
    for key in ["createdAt", "lastUpdatedAt"] {
        if let Some(time) = composer.time(key) {
            out.note_time(time);
        }
    }
    out.note_model(&composer.object("modelConfig").string("modelName"));
    out.note_branch(&composer.string("createdOnBranch"));
    for branch in composer.items("branches") {
        out.note_branch(&Fields::of(branch).string("branchName"));
    }
    out.note_branch(&composer.object("activeBranch").string("branchName"));
}

fn finish(
    row: &str,
    composer: &Fields<'_>,
    (bubbles, n_missing): (&Bubbles, u64),
    out: &mut Emitter<'_>,
) {
    let recap = composer.object("latestConversationSummary");
    let text = match text_of(recap.raw("summary")) {
        Some(text) => text.decode(),
        None => recap.object("summary").string("summary"),
    };
    let place = voice::row(row);
    let spot = Spot { place: &place, key: "", time: None, lane: bubbles.lane };
    if !text.trim().is_empty() {
        out.push(spot.draft(EventKind::Compaction, Origin::Host, ""));
        voice::recap(&spot, &text, out);
    }
    let is_quiet = composer.items("generatingBubbleIds").is_empty() && !bubbles.waits();
    let is_whole = n_missing == 0;
    out.facts.ending = match (composer.word("status"), bubbles.last) {
        // Where no bubble spoke, whatever did has told.
        (_, Speaker::Nobody) => out.facts.ending,
        ("generating", _) | (_, Speaker::Person) => Ending::Active,
        ("completed" | "aborted", Speaker::Agent) if is_quiet && is_whole => Ending::Finished,
        ("completed" | "aborted", Speaker::Agent) if !is_quiet => Ending::Active,
        _ => Ending::Unknown,
    };
}
