//! What the person asked for, and the turn that runs.

use nacre_api::wire::{Attachment, RecalledNote};

use super::cell::CellId;
use crate::tui::text::clean_line;

/// Words that were sent and are not done with.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    /// The request that sent them; `None` where another client did.
    pub(crate) request: Option<u64>,
    /// The task, once it is known.
    pub(crate) task: Option<String>,
    pub(crate) text: String,
    pub(crate) attachments: Vec<Attachment>,
    /// How many are before it; `None` until that is said.
    pub(crate) position: Option<u32>,
    /// Whether it stands in the transcript.
    pub(crate) is_shown: bool,
    /// The person took it back.
    pub(crate) is_withdrawn: bool,
}

impl Prompt {
    /// Whether it waits for its turn.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.is_shown && !self.is_withdrawn
    }
}

/// What runs.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) task: String,
    pub(crate) since: u64,
    pub(crate) model: String,
    pub(crate) step: u32,
    pub(crate) n_calls: usize,
    /// The person wants it stopped.
    pub(crate) is_stopping: bool,
    /// The cell that the next words go to.
    pub(crate) words: Option<CellId>,
    /// The cells of this step, which other words may replace.
    pub(crate) step_cells: Vec<CellId>,
    pub(crate) reasoning: Option<CellId>,
}

impl Turn {
    pub(crate) fn new(task: &str, model: &str, now: u64) -> Self {
        Self {
            task: task.to_owned(),
            since: now,
            model: model.to_owned(),
            step: 0,
            n_calls: 0,
            is_stopping: false,
            words: None,
            step_cells: Vec::new(),
            reasoning: None,
        }
    }
}

/// How attachments are named in the transcript, besides those that the words name.
pub(crate) fn labels(text: &str, attachments: &[Attachment]) -> Vec<String> {
    let labels = attachments.iter().map(attachment_label);
    labels.filter(|label| !text.contains(label.as_str())).map(|label| clean_line(&label)).collect()
}

fn attachment_label(attachment: &Attachment) -> String {
    match attachment {
        Attachment::File { path } => format!("@{path}"),
        Attachment::Text { name, text } => {
            let n_lines = crate::tui::text::count(text.lines().count(), "line");
            format!("[{name}: {n_lines}]")
        }
        Attachment::Image { media_type, .. } => format!("[{media_type}]"),
    }
}

/// Adds notes that are not in the list yet.
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
