//! Sent prompts, unanswered requests, the running turn, and token usage.

use std::collections::BTreeMap;

use nacre_types::{Attachment, RecalledNote, TurnUsage};

use super::cell::CellId;
use crate::tui::text::{clean_line, group_digits};

#[derive(Clone, Debug, Default)]
pub(crate) struct Prompt {
    /// The request that sent the prompt; `None` if another client sent it.
    pub(crate) request: Option<u64>,
    pub(crate) task: Option<String>,
    pub(crate) text: String,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) position: Option<u32>,
    pub(crate) is_shown: bool,
    pub(crate) is_withdrawn: bool,
}

impl Prompt {
    pub(crate) fn is_waiting(&self) -> bool {
        !self.is_shown && !self.is_withdrawn
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct RunningTurn {
    pub(crate) task: String,
    pub(crate) since: u64,
    pub(crate) model: String,
    pub(crate) step: u32,
    pub(crate) n_calls: usize,
    pub(crate) is_stopping: bool,
    /// The cell that streamed text is appended to.
    pub(crate) words: Option<CellId>,
    /// Cells with the current step's text. The agent may still replace their text.
    pub(crate) step_cells: Vec<CellId>,
    pub(crate) reasoning: Option<CellId>,
}

impl RunningTurn {
    pub(crate) fn new(task: &str, model: &str, now: u64) -> Self {
        Self { task: task.to_owned(), since: now, model: model.to_owned(), ..Self::default() }
    }

    /// Ends the text cell, so later text starts a new one.
    pub(crate) fn end_text(&mut self) {
        (self.words, self.reasoning) = (None, None);
    }
}

pub(crate) fn add_recalled(list: &mut Vec<RecalledNote>, notes: &[RecalledNote]) {
    const MAX_NOTES: usize = 500;
    for note in notes {
        let is_new = !list.iter().any(|known| known.id == note.id);
        if is_new && list.len() < MAX_NOTES {
            let title = clean_line(&note.title);
            list.push(RecalledNote { id: note.id.clone(), title });
        }
    }
}

/// What a request is for, which determines how its response is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Hello,
    Open,
    Items,
    EarlierItems,
    Rename,
    Change,
    List,
    Search { query: String },
    Export,
    Start,
    Steer { text: String },
    Abort,
    Undo,
    Follow,
    Skills { is_asked: bool },
    Answer,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    pub(crate) last: u64,
    open: BTreeMap<u64, Purpose>,
}

impl Requests {
    pub(crate) fn add(&mut self, purpose: Purpose) -> u64 {
        self.last += 1;
        self.open.insert(self.last, purpose);
        self.last
    }

    /// Removes a request and returns what it was for. Returns `None` for an unknown id.
    pub(crate) fn take(&mut self, id: u64) -> Option<Purpose> {
        self.open.remove(&id)
    }

    pub(crate) fn is_open(&self, purpose: &Purpose) -> bool {
        self.open.values().any(|open| open == purpose)
    }
}

/// Token usage and cost since the session was opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionUsage {
    past: TurnUsage,
    pub(crate) turn: TurnUsage,
    pub(crate) n_turns: usize,
    is_cost_partial: bool,
}

impl SessionUsage {
    pub(crate) fn end_turn(&mut self, usage: TurnUsage) {
        self.past.input = self.past.input.saturating_add(usage.input);
        self.past.output = self.past.output.saturating_add(usage.output);
        match usage.cost_usd {
            Some(cost) => self.past.cost_usd = Some(self.past.cost_usd.unwrap_or(0.0) + cost),
            None => self.is_cost_partial = true,
        }
        self.past.context = usage.context;
        self.past.window = usage.window;
        self.turn = TurnUsage { input: 0, output: 0, cost_usd: None, ..usage };
        self.n_turns += 1;
    }

    pub(crate) fn input(&self) -> u64 {
        self.past.input.saturating_add(self.turn.input)
    }

    pub(crate) fn output(&self) -> u64 {
        self.past.output.saturating_add(self.turn.output)
    }

    pub(crate) fn cost(&self) -> Option<f64> {
        match (self.past.cost_usd, self.turn.cost_usd) {
            (None, None) => None,
            (past, turn) => Some(past.unwrap_or(0.0) + turn.unwrap_or(0.0)),
        }
    }

    pub(crate) fn context_percent(&self) -> Option<u64> {
        let TurnUsage { context, window, .. } = self.turn;
        (window > 0).then(|| context.saturating_mul(100) / window)
    }

    pub(crate) fn report(&self) -> String {
        let cost = match (self.cost(), self.is_cost_partial) {
            (Some(cost), false) => dollars(cost),
            (Some(cost), true) => format!("{} plus turns without a known price", dollars(cost)),
            (None, _) => "the model's price is unknown".to_owned(),
        };
        let (used, window) = (group_digits(self.turn.context), group_digits(self.turn.window));
        let context = match self.context_percent() {
            Some(percent) => format!("{used} of {window} tokens ({percent}%)"),
            None => "not known yet".to_owned(),
        };
        format!(
            "Since this screen was opened:\n\nTurns    {}\nInput    {} tokens\nOutput   {} tokens\nCost     {cost}\nWindow   {context}",
            self.n_turns,
            group_digits(self.input()),
            group_digits(self.output()),
        )
    }
}

pub(crate) fn dollars(amount: f64) -> String {
    if amount < 0.1 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}
