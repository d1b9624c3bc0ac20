//! The chat panel of 2024 and the prompts typed into an editor: lists in a workspace's database.

use std::collections::HashSet;

use super::super::emit::Emitter;
use super::super::event::{Lane, WordSource};
use super::super::facts::Ending;
use super::super::view::{Fields, items};
use super::super::voice::{self, Spot};
use super::bubble::{Bubbles, Speaker};
use super::project::Project;

/// The kinds of prompts that are no part of a chat or a composer: edits in place and in a terminal.
const PLACED_KINDS: [&str; 2] = ["1", "3"];

/// Reads one tab of the chat panel.
pub(super) fn read_tab(raw: &str, project: &mut Project, out: &mut Emitter<'_>) {
    let tab = Fields::of(raw);
    out.note_title(&tab.string("chatTitle"));
    if let Some(time) = tab.time("lastSendTime") {
        out.note_time(time);
    }
    let id = tab.string("tabId");
    let mut bubbles = Bubbles::new(Lane::Main);
    for (idx, raw) in tab.items("bubbles").into_iter().enumerate() {
        bubbles.read(&format!("chatdata:{id}/{idx}"), raw, &Fields::default(), out);
    }
    out.facts.ending = match bubbles.last {
        Speaker::Agent => Ending::Finished,
        Speaker::Person => Ending::Active,
        Speaker::Nobody => Ending::Unknown,
    };
    project.take_bubbles(bubbles);
}

/// The prompts that were typed into an editor, each once, with their place in the list.
pub(super) fn placed_prompts(prompts: &str) -> Vec<(usize, String)> {
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

/// Reads the prompts that were typed into an editor.
pub(super) fn read_prompts(prompts: &str, out: &mut Emitter<'_>) {
    for (idx, text) in placed_prompts(prompts) {
        out.report.lines += 1;
        let row = format!("aiService.prompts/{idx}");
        let place = voice::row(&row);
        let spot = Spot { place: &place, key: &row, time: None, lane: Lane::Main };
        voice::words(&spot, WordSource::Prompt, &text, out);
    }
}
