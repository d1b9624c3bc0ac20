//! Lists the sessions of the queue, the latest change first.

use nacre_api::wire::{QueueListReport, QueueListRequest};
use nacre_core::catalog::QueueFilter;

use super::wire::{core_state, queue_job};
use crate::error::OpError;
use crate::host::{Host, open_queue};

pub fn list(host: &Host, request: &QueueListRequest) -> Result<QueueListReport, OpError> {
    let QueueListRequest { status, limit } = request;
    let limit = limit.unwrap_or(host.settings().memory.max_results);
    let filter = QueueFilter { state: status.map(core_state), ..QueueFilter::default() };
    let jobs = open_queue(host)?.jobs().jobs(&filter)?;
    let total = jobs.len();
    let limit = if limit == 0 { total } else { limit };
    Ok(QueueListReport { jobs: jobs.into_iter().take(limit).map(queue_job).collect(), total })
}
