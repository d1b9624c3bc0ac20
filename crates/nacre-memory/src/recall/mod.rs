//! Recall without a language model: the brief at the start of a session, memories that match a
//! prompt, and answers that quote memories.
//!
//! Memories are shown as data, not as instructions. [`item::backing`] decides which of them may be
//! shown unasked.

mod across;
mod brief;
mod graded;
mod item;
mod passage;
mod prompt;
mod tokens;

use nacre_types::StoreScope;

use crate::search::MemoryIndex;

pub use across::{MAX_COMPARED, Opposed, ProjectClaim, find_opposed};
pub use brief::{Wish, brief, brief_about, brief_text, short_ids};
pub use graded::{GradedHit, lower_contradicted, order_hits};
pub use item::{claim_text, item_of, line};
pub use passage::{OverturnedPassage, Passage, RecallStore, Recalled, Told, recall, tell};
pub use prompt::{Occasion, Prompt, PromptMatch, PromptMatches, Prompted, match_prompt};
pub use tokens::count_tokens;

pub struct Source<'a> {
    pub index: &'a MemoryIndex<'a>,
    pub scope: StoreScope,
}
