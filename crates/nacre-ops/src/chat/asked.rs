//! A turn as it was asked for.

use nacre_api::wire::ChatStartRequest;
use nacre_engine::record::state::SessionRecord;

/// What the person asked, and where.
pub(super) struct Asked {
    pub(super) session: SessionRecord,
    pub(super) request: ChatStartRequest,
}
