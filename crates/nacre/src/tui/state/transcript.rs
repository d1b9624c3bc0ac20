//! The transcript: a bounded window of cells, what part of it is on the screen, and the lines of that part.
//!
//! The place on the screen is kept as a cell and a line of it, never as a number of lines from the top: cells far away are neither
//! laid out nor counted.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use nacre_api::wire::FilePatch;
use ratatui_core::text::Line;

use super::cell::{Cell, CellId, CellKind, MAX_BYTES, ToolCell};
use super::layout::{Laid, Paper, open_fence};

/// Cells beyond this are dropped, the oldest first, while the person looks at the end.
const MAX_CELLS: usize = 6_000;

/// The same for their size.
const MAX_CELL_BYTES: usize = 16 * 1024 * 1024;

/// A person who reads further up keeps this many times as much.
const SLACK: usize = 2;

/// Lines are kept for this many cells.
const MAX_LAID: usize = 300;

/// The part of the transcript that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scroll {
    /// The end, as it grows.
    Follow,
    /// From this line of this cell on.
    At { cell: CellId, line: usize },
}

/// A line of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The place of its cell.
    pub(crate) idx: usize,
    /// Its line there; `None` for the empty line before it.
    pub(crate) line: Option<usize>,
}

/// The cells, and where the person looks.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    cells: VecDeque<Cell>,
    bytes: usize,
    next_id: CellId,
    /// How many cells were dropped at the beginning.
    pub(crate) n_dropped: usize,
    laid: BTreeMap<CellId, Laid>,
    n_frames: u64,
    paper: Paper,
    pub(crate) scroll: Scroll,
    /// The lines on the screen, from the top.
    pub(crate) shown: Vec<Shown>,
    height: usize,
    /// Whether something came that is below the screen.
    pub(crate) has_news: bool,
}

impl Transcript {
    pub(crate) fn new(paper: Paper) -> Self {
        Self {
            cells: VecDeque::new(),
            bytes: 0,
            next_id: 0,
            n_dropped: 0,
            laid: BTreeMap::new(),
            n_frames: 0,
            paper,
            scroll: Scroll::Follow,
            shown: Vec::new(),
            height: 0,
            has_news: false,
        }
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

    /// Puts a cell at the end.
    pub(crate) fn push(&mut self, kind: CellKind) -> CellId {
        let id = self.next_id;
        self.next_id += 1;
        self.bytes += kind.bytes();
        self.cells.push_back(Cell { id, kind, is_open: false, revision: 0, sequence: None });
        self.has_news |= self.scroll != Scroll::Follow;
        self.drop_old();
        id
    }

    /// Puts cells before all others, and keeps the place on the screen.
    pub(crate) fn prepend(&mut self, kinds: Vec<(u64, CellKind)>) {
        for (sequence, kind) in kinds.into_iter().rev() {
            let id = self.cells.front().map_or(self.next_id, |cell| cell.id) - 1;
            self.bytes += kind.bytes();
            let sequence = Some(sequence);
            self.cells.push_front(Cell { id, kind, is_open: false, revision: 0, sequence });
        }
    }

    /// Says which item of the session the last cell is.
    pub(crate) fn set_sequence(&mut self, sequence: u64) {
        if let Some(cell) = self.cells.back_mut() {
            cell.sequence = Some(sequence);
        }
    }

    /// The number of the first item that is here, where it is known.
    pub(crate) fn first_sequence(&self) -> Option<u64> {
        self.cells.front().and_then(|cell| cell.sequence)
    }

    pub(crate) fn clear(&mut self) {
        let (paper, height) = (self.paper, self.height);
        // Ids go on, so that nobody takes a new cell for an old one.
        *self = Self { next_id: self.next_id, height, ..Self::new(paper) };
    }

    /// Changes a cell. One that was dropped meanwhile is left alone.
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

    /// Adds words to what the agent says; the cell that the next words belong to. A cell that grew long is left for a new one.
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
        let text = super::cell::bounded(&format!("{fence}{words}"));
        self.push(CellKind::Assistant { text, is_interrupted: false })
    }

    /// Adds to what the agent thinks. Whether there was room: a cell that grew long is left for a new one.
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

    /// The call with this id, looked for from the end.
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

    /// The changes of files since the person's last words, or all that are here.
    pub(crate) fn patches(&self, is_whole_session: bool) -> Vec<FilePatch> {
        let is_words = |kind: &CellKind| matches!(kind, CellKind::User { is_steering: false, .. });
        let turn = self.cells.iter().rposition(|cell| is_words(&cell.kind)).unwrap_or(0);
        let begin = if is_whole_session { 0 } else { turn };
        let tools = self.cells.iter().skip(begin).filter_map(|cell| match &cell.kind {
            CellKind::Tool(tool) => Some(tool),
            CellKind::User { .. }
            | CellKind::Assistant { .. }
            | CellKind::Reasoning { .. }
            | CellKind::Notice { .. } => None,
        });
        tools.flat_map(|tool| tool.patches.iter().cloned()).collect()
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

    /// Whether an empty line stands before a cell.
    fn has_gap(&self, idx: usize) -> bool {
        let Some(before) = idx.checked_sub(1) else { return false };
        let is_tool = |idx: usize| self.cells.get(idx).is_some_and(|cell| cell.kind.is_tool());
        !(is_tool(before) && is_tool(idx))
    }

    /// The lines of a cell that is laid out.
    pub(crate) fn lines(&self, idx: usize) -> &[Line<'static>] {
        let laid = self.cells.get(idx).and_then(|cell| self.laid.get(&cell.id));
        laid.map_or(&[], |laid| &laid.lines)
    }

    /// Lays a cell out; how many lines it fills, with the gap before it.
    fn measure(&mut self, idx: usize) -> usize {
        let gap = usize::from(self.has_gap(idx));
        let Some(cell) = self.cells.get(idx) else { return 0 };
        let laid = self.laid.entry(cell.id).or_insert_with(|| Laid::new(self.paper));
        laid.refresh(cell, self.paper);
        laid.wanted = self.n_frames;
        laid.lines.len() + gap
    }

    /// Decides what is on the screen, and lays it out.
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
        // At the end there is nothing to look past.
        if self.shown.len() < height && self.scroll != Scroll::Follow {
            self.scroll = Scroll::Follow;
            self.has_news = false;
            self.shown.clear();
            let (idx, line) = self.top();
            self.fill(idx, line);
        }
        self.forget_lines();
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
            self.shown.extend(lines.map(|line| Shown { idx, line: line.checked_sub(gap) }));
            skip = 0;
        }
    }

    /// The cell and line at the top of the screen.
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

    /// The place that is so many lines above another.
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

    /// Moves the screen up. Whether it is at the beginning.
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
        self.scroll = match self.cells.get(idx) {
            Some(cell) => Scroll::At { cell: cell.id, line },
            None => Scroll::Follow,
        };
    }

    /// Moves the screen as little as needed to show a cell.
    pub(crate) fn reveal(&mut self, id: CellId) {
        let Some(target) = self.idx_of(id) else { return };
        let n_lines = self.measure(target);
        let first = self.shown.first().map_or(0, |shown| shown.idx);
        let is_whole = |shown: &&Shown| shown.idx == target && shown.line.is_some();
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

    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// Lines that were not wanted lately are given up.
    fn forget_lines(&mut self) {
        if self.laid.len() > MAX_LAID {
            let now = self.n_frames;
            self.laid.retain(|_, laid| laid.wanted == now);
        }
    }
}
