//! The transcript: a limited number of cells, the scroll position, and cached lines.
//!
//! The scroll position consists of a cell and a line within it, so that off-screen cells need not
//! be laid out.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use nacre_types::FilePatch;
use ratatui_core::text::Line;

use super::cell::{Cell, CellId, CellKind, MAX_BYTES, ToolCell};
use super::layout::{CellLayout, Paper, open_fence};

/// Maximum number of cells while the transcript's end is shown. The oldest cells are dropped.
const MAX_CELLS: usize = 6_000;

/// Maximum total size of the cells while the transcript's end is shown.
const MAX_CELL_BYTES: usize = 16 * 1024 * 1024;

/// While the user has scrolled up, both limits are multiplied by this factor.
const SLACK: usize = 2;

const MAX_LAID: usize = 300;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scroll {
    #[default]
    /// Keeps the end in view as the transcript grows.
    Follow,
    At {
        cell: CellId,
        line: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VisibleLine {
    pub(crate) idx: usize,
    /// The line within the cell, or `None` for the empty line before the cell.
    pub(crate) line: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    cells: VecDeque<Cell>,
    bytes: usize,
    next_id: CellId,
    pub(crate) n_dropped: usize,
    laid: BTreeMap<CellId, CellLayout>,
    n_frames: u64,
    paper: Paper,
    pub(crate) scroll: Scroll,
    pub(crate) shown: Vec<VisibleLine>,
    pub(crate) height: usize,
    /// Whether there is new content below the visible part.
    pub(crate) has_news: bool,
}

impl Transcript {
    pub(crate) fn new(paper: Paper) -> Self {
        Self { paper, ..Self::default() }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn cell(&self, idx: usize) -> Option<&Cell> {
        self.cells.get(idx)
    }

    pub(crate) fn cells(&self) -> impl DoubleEndedIterator<Item = &Cell> {
        self.cells.iter()
    }

    pub(crate) fn idx_of(&self, id: CellId) -> Option<usize> {
        self.cells.binary_search_by_key(&id, |cell| cell.id).ok()
    }

    pub(crate) fn push(&mut self, kind: CellKind) -> CellId {
        let id = self.next_id;
        self.next_id += 1;
        self.bytes += kind.bytes();
        self.cells.push_back(Cell { id, kind, is_open: false, revision: 0, sequence: None });
        self.has_news |= self.scroll != Scroll::Follow;
        self.drop_old();
        id
    }

    pub(crate) fn prepend(&mut self, kinds: Vec<(u64, CellKind)>) {
        for (sequence, kind) in kinds.into_iter().rev() {
            let id = self.cells.front().map_or(self.next_id, |cell| cell.id) - 1;
            self.bytes += kind.bytes();
            let sequence = Some(sequence);
            self.cells.push_front(Cell { id, kind, is_open: false, revision: 0, sequence });
        }
    }

    pub(crate) fn set_sequence(&mut self, sequence: u64) {
        if let Some(cell) = self.cells.back_mut() {
            cell.sequence = Some(sequence);
        }
    }

    pub(crate) fn first_sequence(&self) -> Option<u64> {
        self.cells.front().and_then(|cell| cell.sequence)
    }

    pub(crate) fn clear(&mut self) {
        let (paper, height) = (self.paper, self.height);
        // Ids are not reused.
        *self = Self { next_id: self.next_id, height, ..Self::new(paper) };
    }

    /// Changes a cell. Does nothing if the cell was dropped.
    pub(crate) fn change(&mut self, id: CellId, change: impl FnOnce(&mut CellKind)) {
        let Some(idx) = self.idx_of(id) else { return };
        let cell = &mut self.cells[idx];
        let before = cell.kind.bytes();
        change(&mut cell.kind);
        cell.revision = cell.revision.wrapping_add(1);
        self.bytes = self.bytes + cell.kind.bytes() - before;
        self.has_news |= self.scroll != Scroll::Follow;
    }

    pub(crate) fn remove(&mut self, id: CellId) {
        let Some(idx) = self.idx_of(id) else { return };
        if let Some(cell) = self.cells.remove(idx) {
            self.bytes -= cell.kind.bytes();
            self.laid.remove(&id);
        }
        if matches!(self.scroll, Scroll::At { cell, .. } if cell == id) {
            let next = self.cells.get(idx).map(|cell| Scroll::At { cell: cell.id, line: 0 });
            self.scroll = next.unwrap_or(Scroll::Follow);
        }
    }

    /// Appends text to an answer, or starts a new cell if the answer becomes too long. Returns the
    /// id of the cell that contains the new text.
    pub(crate) fn extend_words(&mut self, id: CellId, words: &str) -> CellId {
        let Some(idx) = self.idx_of(id) else { return id };
        let CellKind::Assistant { text, .. } = &self.cells[idx].kind else { return id };
        if text.len() + words.len() <= MAX_BYTES
            || !text.ends_with('\n') && text.len() < 2 * MAX_BYTES
        {
            self.change(id, |kind| {
                if let CellKind::Assistant { text, .. } = kind {
                    text.push_str(words);
                }
            });
            return id;
        }
        let fence = open_fence(text).map(|fence| format!("{fence}\n")).unwrap_or_default();
        let text = super::cell::bound_text(&format!("{fence}{words}"));
        self.push(CellKind::Assistant { text, is_interrupted: false })
    }

    /// Appends text to a reasoning cell. Returns `false` if the cell is already too long.
    pub(crate) fn extend_reasoning(&mut self, id: CellId, words: &str) -> bool {
        let cell = self.idx_of(id).and_then(|idx| self.cells.get(idx));
        let Some(CellKind::Reasoning { text }) = cell.map(|cell| &cell.kind) else { return false };
        if text.len() + words.len() > MAX_BYTES {
            return false;
        }
        self.change(id, |kind| {
            if let CellKind::Reasoning { text } = kind {
                text.push_str(words);
            }
        });
        true
    }

    pub(crate) fn find_call(&self, call: &str) -> Option<CellId> {
        let is_it = |cell: &&Cell| matches!(&cell.kind, CellKind::Tool(tool) if tool.call == call);
        self.cells.iter().rev().find(is_it).map(|cell| cell.id)
    }

    pub(crate) fn change_tool(&mut self, id: CellId, change: impl FnOnce(&mut ToolCell)) {
        self.change(id, |kind| {
            if let CellKind::Tool(tool) = kind {
                change(tool);
            }
        });
    }

    pub(crate) fn patches(&self, is_whole_session: bool) -> Vec<FilePatch> {
        let is_words = |kind: &CellKind| matches!(kind, CellKind::User { is_steering: false, .. });
        let turn = self.cells.iter().rposition(|cell| is_words(&cell.kind)).unwrap_or(0);
        let begin = if is_whole_session { 0 } else { turn };
        let patches = |cell: &Cell| {
            let CellKind::Tool(tool) = &cell.kind else { return Vec::new() };
            tool.patches.clone()
        };
        self.cells.iter().skip(begin).flat_map(patches).collect()
    }

    pub(crate) fn toggle(&mut self, id: CellId) {
        let Some(idx) = self.idx_of(id) else { return };
        if self.cells[idx].kind.can_fold() {
            self.cells[idx].is_open = !self.cells[idx].is_open;
        }
    }

    pub(crate) fn set_all_open(&mut self, is_open: bool) {
        for cell in self.cells.iter_mut().filter(|cell| cell.kind.can_fold()) {
            cell.is_open = is_open;
        }
    }

    fn drop_old(&mut self) {
        let slack = if self.scroll == Scroll::Follow { 1 } else { SLACK };
        while self.cells.len() > MAX_CELLS * slack || self.bytes > MAX_CELL_BYTES * slack {
            let Some(cell) = self.cells.pop_front() else { return };
            self.bytes -= cell.kind.bytes();
            self.laid.remove(&cell.id);
            self.n_dropped += 1;
            if matches!(self.scroll, Scroll::At { cell: at, .. } if at == cell.id) {
                self.scroll = Scroll::Follow;
            }
        }
    }

    fn has_gap(&self, idx: usize) -> bool {
        let Some(before) = idx.checked_sub(1) else { return false };
        let is_tool = |idx: usize| self.cells.get(idx).is_some_and(|cell| cell.kind.is_tool());
        !(is_tool(before) && is_tool(idx))
    }

    pub(crate) fn lines(&self, idx: usize) -> &[Line<'static>] {
        let laid = self.cells.get(idx).and_then(|cell| self.laid.get(&cell.id));
        laid.map_or(&[], |laid| &laid.lines)
    }

    /// Lays out a cell. Returns the cell's number of lines, including the empty line before it.
    fn measure(&mut self, idx: usize) -> usize {
        let gap = usize::from(self.has_gap(idx));
        let Some(cell) = self.cells.get(idx) else { return 0 };
        let laid = self.laid.entry(cell.id).or_insert_with(|| CellLayout::new(self.paper));
        laid.refresh(cell, self.paper);
        laid.wanted = self.n_frames;
        laid.lines.len() + gap
    }

    pub(crate) fn settle(&mut self, paper: Paper, height: usize) {
        self.paper = paper;
        self.height = height;
        self.n_frames += 1;
        self.shown.clear();
        if self.scroll == Scroll::Follow {
            self.has_news = false;
            self.drop_old();
        }
        let (idx, line) = self.top();
        self.fill(idx, line);
        // The end of the transcript is visible, so follow it from now on.
        if self.shown.len() < height && self.scroll != Scroll::Follow {
            self.scroll = Scroll::Follow;
            self.has_news = false;
            self.shown.clear();
            let (idx, line) = self.top();
            self.fill(idx, line);
        }
        // Drops cached lines that were not used in this frame.
        if self.laid.len() > MAX_LAID {
            self.laid.retain(|_, laid| laid.wanted == self.n_frames);
        }
    }

    fn fill(&mut self, idx: usize, line: usize) {
        let mut skip = line;
        for idx in idx..self.cells.len() {
            if self.shown.len() >= self.height {
                return;
            }
            let n_lines = self.measure(idx);
            let gap = usize::from(self.has_gap(idx));
            let room = self.height - self.shown.len();
            let lines: Range<usize> = skip.min(n_lines)..n_lines.min(skip + room);
            self.shown.extend(lines.map(|line| VisibleLine { idx, line: line.checked_sub(gap) }));
            skip = 0;
        }
    }

    fn top(&mut self) -> (usize, usize) {
        match self.scroll {
            Scroll::At { cell, line } => {
                let idx = self.idx_of(cell).unwrap_or(0);
                let n_lines = self.measure(idx);
                (idx, line.min(n_lines.saturating_sub(1)))
            }
            Scroll::Follow => self.up(self.cells.len(), 0, self.height),
        }
    }

    /// Returns the position `by` lines above the given one.
    fn up(&mut self, mut idx: usize, line: usize, by: usize) -> (usize, usize) {
        let mut missing = by.saturating_sub(line);
        if missing == 0 {
            return (idx, line - by);
        }
        while idx > 0 {
            idx -= 1;
            let n_lines = self.measure(idx);
            if n_lines >= missing {
                return (idx, n_lines - missing);
            }
            missing -= n_lines;
        }
        (0, 0)
    }

    /// Scrolls up, and returns whether the start of the transcript was reached.
    pub(crate) fn scroll_up(&mut self, by: usize) -> bool {
        let (idx, line) = self.top();
        let (idx, line) = self.up(idx, line, by);
        self.go_to(idx, line);
        (idx, line) == (0, 0)
    }

    pub(crate) fn scroll_down(&mut self, by: usize) {
        if self.scroll == Scroll::Follow {
            return;
        }
        let (mut idx, line) = self.top();
        let mut target = line + by;
        while idx < self.cells.len() {
            let n_lines = self.measure(idx);
            if target < n_lines {
                break;
            }
            target -= n_lines;
            idx += 1;
        }
        self.go_to(idx, target);
    }

    pub(crate) fn go_to(&mut self, idx: usize, line: usize) {
        let cell = self.cells.get(idx);
        self.scroll = cell.map_or(Scroll::Follow, |cell| Scroll::At { cell: cell.id, line });
    }

    /// Scrolls only as far as needed to show a cell.
    pub(crate) fn reveal(&mut self, id: CellId) {
        let Some(target) = self.idx_of(id) else { return };
        let n_lines = self.measure(target);
        let first = self.shown.first().map_or(0, |shown| shown.idx);
        let is_whole = |shown: &&VisibleLine| shown.idx == target && shown.line.is_some();
        let n_shown = self.shown.iter().filter(is_whole).count();
        if n_shown >= n_lines.min(self.height).saturating_sub(1).max(1) {
            return;
        }
        if target <= first || n_lines >= self.height {
            self.go_to(target, 0);
        } else {
            let (idx, line) = self.up(target + 1, 0, self.height);
            self.go_to(idx, line);
        }
    }
}
