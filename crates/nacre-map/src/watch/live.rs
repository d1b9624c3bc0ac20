//! Keeps a map up to date with a file watcher, so that no files are read while nothing changes.
//!
//! Events may be delayed, so each update first passes a barrier to ensure that all earlier events
//! have been received. If that cannot be confirmed, the map is refreshed as if there were no
//! watcher.

use nacre_base::git::GitFolder;
use nacre_types::WatchMode;

use super::{News, Watch, WatchFault};
use crate::artifact::Cache;
use crate::indexer::{Current, RefreshError, RefreshOptions, refresh};

/// New directories may contain other new directories. After this many rounds, any remaining
/// directories are left for the next update.
const MAX_ROUNDS: usize = 8;

#[derive(Debug)]
pub struct Live {
    pub watch: Watch,
    /// Whether every folder in the map is watched and the map has been refreshed since the last
    /// watch was added. If false, some changes may not cause an event, so the caller should refresh
    /// soon.
    pub is_settled: bool,
}

#[derive(Debug)]
pub struct Now {
    /// Whether files were compared with the map. If false, nothing changed.
    pub is_refreshed: bool,
    pub is_lost: bool,
    /// Why events are no longer being received. Reported only once.
    pub fault: Option<WatchFault>,
}

impl Live {
    pub fn new(watch: Watch) -> Self {
        Self { watch, is_settled: false }
    }

    pub fn mode(&self) -> WatchMode {
        self.watch.mode()
    }

    /// Brings the map up to date with the disk as of this call. `current` must be the map from the
    /// previous call.
    pub fn now(
        &mut self,
        cache: &Cache,
        current: &mut Current,
        options: &RefreshOptions,
    ) -> Result<Now, RefreshError> {
        let news = self.watch.news();
        let is_lost = news == News::Lost;
        if news == News::Nothing && self.is_settled && !current.is_due(options) {
            current.stays();
            return Ok(Now { is_refreshed: false, is_lost, fault: None });
        }
        // The map may be incomplete until the refresh succeeds.
        self.is_settled = false;
        *current = refresh(cache, &current.project, options)?;
        let fault = self.settle(cache, current, options)?;
        Ok(Now { is_refreshed: true, is_lost, fault })
    }

    /// Watches all of the map's current directories. A new directory may change before it is
    /// watched, so the map is refreshed until there are no new directories or the deadline passes.
    fn settle(
        &mut self,
        cache: &Cache,
        current: &mut Current,
        options: &RefreshOptions,
    ) -> Result<Option<WatchFault>, RefreshError> {
        for _ in 0..MAX_ROUNDS {
            let git = GitFolder::of(&current.project.root);
            let git = git.as_ref().and_then(|git| git.own().to_str());
            let folders = current.artifact.folders().keys().map(String::as_str);
            match self.watch.follow(folders.chain(git)) {
                Ok(0) => {
                    self.is_settled = true;
                    return Ok(None);
                }
                Ok(_) if options.deadline.is_over() => return Ok(None),
                Ok(_) => *current = refresh(cache, &current.project, options)?,
                Err(fault) => return Ok(Some(fault)),
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
