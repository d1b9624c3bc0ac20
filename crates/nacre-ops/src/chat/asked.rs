//! A turn as it was asked for.

use nacre_api::wire::{ApprovalPolicy, ChatStartRequest};
use nacre_engine::record::state::SessionRecord;

use super::sessions::policy_of;

/// What the person asked, and where.
pub(super) struct Asked {
    pub(super) session: SessionRecord,
    pub(super) request: ChatStartRequest,
}

impl Asked {
    /// What needs a yes in this turn: what was asked for, else what holds for the session.
    pub(super) fn policy(&self) -> ApprovalPolicy {
        self.request.policy.unwrap_or_else(|| policy_of(&self.session))
    }
}
