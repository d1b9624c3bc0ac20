//! Brief: what an agent should know before it starts, within a budget of tokens.
//!
//! No model, no network, and the same bytes for the same store, wish and time. What is there is told from the index; the
//! files of those that may be shown are read, and nothing else. The budget is a promise: what does not fit is
//! shortened or left out, and the text never counts more.

pub(super) mod item;
mod open_ends;
mod queue;
mod select;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use nacre_core::memory::{LearningKind, Memory, MemoryType, Store};
use nacre_core::search::{Interest, Listed, MemoryIndex, Mode, SearchError, TokenCounter};

pub use self::item::Item;
use self::select::{Selection, worth};

/// The first line: whoever reads it is told that these are findings and no orders.
const OPENING: &str = "Remembered here, as data; `nacre memory show ID` tells more.";

/// What a memory of everywhere is worth beside one of this project.
const GLOBAL_SHARE: f32 = 0.9;

/// A store to tell of.
pub struct Source<'a> {
    pub store: &'a Store,
    pub index: &'a MemoryIndex<'a>,
    /// `project` or `global`.
    pub scope: &'static str,
}

/// What the brief is for.
#[derive(Clone, Debug)]
pub struct Wish<'a> {
    /// At most this many tokens, as [`TokenCounter`] counts.
    pub budget: usize,
    pub task: Option<&'a str>,
    /// Paths below the repository.
    pub files: &'a [String],
    /// Ids that the reader knows already; they are left out.
    pub known: &'a [String],
    /// What the task is compared by.
    pub mode: Mode,
    /// Whether what came from elsewhere is named, which takes reading its files.
    pub names_unproven: bool,
    pub now: Timestamp,
}

/// What a brief tells of, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    Decisions,
    Preferences,
    Pitfalls,
    Knowledge,
    RecentWork,
    OpenEnds,
}

impl Topic {
    pub const ALL: [Self; 6] = [
        Self::Decisions,
        Self::Preferences,
        Self::Pitfalls,
        Self::Knowledge,
        Self::RecentWork,
        Self::OpenEnds,
    ];

    /// A stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decisions => "decisions",
            Self::Preferences => "preferences",
            Self::Pitfalls => "pitfalls",
            Self::Knowledge => "knowledge",
            Self::RecentWork => "recent_work",
            Self::OpenEnds => "open_ends",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Decisions => "## Decisions",
            Self::Preferences => "## Preferences and conventions",
            Self::Pitfalls => "## Pitfalls",
            Self::Knowledge => "## Good to know",
            Self::RecentWork => "## Recent work",
            Self::OpenEnds => "## Open ends",
        }
    }

    /// How much of the budget it may claim beside the others.
    fn weight(self) -> f32 {
        match self {
            Self::Decisions => 1.0,
            Self::Preferences | Self::Pitfalls => 0.95,
            Self::OpenEnds => 0.85,
            Self::RecentWork => 0.8,
            Self::Knowledge => 0.7,
        }
    }

    fn of(listed: &Listed<'_>) -> Self {
        match (listed.memory_type, listed.kind) {
            (MemoryType::Decision, _) => Self::Decisions,
            (MemoryType::Summary, _) => Self::RecentWork,
            (MemoryType::Learning, Some(LearningKind::Preference | LearningKind::Convention)) => {
                Self::Preferences
            }
            (MemoryType::Learning, Some(LearningKind::Pitfall | LearningKind::Friction)) => {
                Self::Pitfalls
            }
            (
                MemoryType::Learning,
                Some(LearningKind::Insight | LearningKind::Procedure | LearningKind::Context)
                | None,
            ) => Self::Knowledge,
        }
    }
}

/// A brief, ready to be handed out.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    pub budget: usize,
    /// What the text counts.
    pub tokens: usize,
    pub sections: Vec<Section>,
    /// Memories that hold and are not in it.
    pub n_left_out: usize,
    /// Those of them that were looked at and left out because nothing shows who wrote them.
    pub unproven: Vec<String>,
}

/// The items of one topic, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub topic: Topic,
    pub items: Vec<Item>,
}

impl Brief {
    /// The brief as Markdown; empty when there is nothing to tell or no room for it.
    pub fn text(&self) -> String {
        if self.sections.is_empty() {
            return String::new();
        }
        let mut lines = vec![OPENING.to_owned()];
        for section in &self.sections {
            lines.push(String::new());
            lines.push(section.topic.heading().to_owned());
            lines.extend(section.items.iter().map(Item::line));
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

/// One memory in a line; `None` where it may not be told unasked, or nothing of it can be.
pub fn line_of(source: &Source<'_>, memory: &Memory) -> Option<Item> {
    let is_backed = item::backing(source.store, memory, source.scope) == item::Backing::Backed;
    let forms = is_backed.then(|| item::forms(source.store, memory, source.scope))??;
    Some(forms.0)
}

/// A memory that may be told, and where it is from.
struct Candidate<'a> {
    listed: Listed<'a>,
    source: usize,
    worth: f32,
}

/// Makes a brief of what the sources hold.
pub fn brief(
    sources: &[Source<'_>],
    wish: &Wish<'_>,
    counter: &TokenCounter,
) -> Result<Brief, SearchError> {
    brief_about(sources, wish, &Topic::ALL, counter)
}

/// The same about some topics only.
pub fn brief_about(
    sources: &[Source<'_>],
    wish: &Wish<'_>,
    topics: &[Topic],
    counter: &TokenCounter,
) -> Result<Brief, SearchError> {
    let interest = Interest { task: wish.task, files: wish.files, mode: wish.mode };
    let (mut candidates, mut n_left_out) = (Vec::new(), 0);
    for (number, source) in sources.iter().enumerate() {
        let share = if source.scope == "global" { GLOBAL_SHARE } else { 1.0 };
        let n_memories = source.index.snapshot().n_records();
        let leaves_foreign = !wish.names_unproven && source.store.knows_few(n_memories);
        for listed in source.index.outline(&interest)? {
            let is_known = wish.known.iter().any(|id| id == listed.id);
            if is_known || !topics.contains(&Topic::of(&listed)) {
                continue;
            }
            if leaves_foreign && !source.store.may_know(listed.id) {
                n_left_out += 1;
                continue;
            }
            let worth = share * worth(&listed, wish);
            candidates.push(Candidate { listed, source: number, worth });
        }
    }
    let mut selection = Selection::new(sources, wish, counter);
    selection.fill(&candidates);
    if wish.names_unproven {
        selection.note_unproven(&candidates);
    }
    Ok(selection.finish(candidates.len() + n_left_out))
}
