//! Keeps a project's map up to date by a watch: nothing happened, and no file is looked at.
//!
//! Events come late, for another thread reads them. Therefore each answer first passes a barrier, by which it is certain that
//! everything before it was told. What no event tells, such as another setting, is asked for by a handful of looks; whatever is
//! not certain is looked at as if there were no watch.

use super::{Mode, News, Watch, WatchFault};
use crate::artifact::Cache;
use crate::indexer::{
    Current, RefreshError, RefreshOptions, Told, git_folder, is_due, refresh, refresh_told,
};

/// Where more is told than this, a whole look is as good.
const MAX_TOLD: usize = 256;

/// New folders may bring others. Who makes them faster than this is looked at again next time.
const MAX_ROUNDS: usize = 8;

/// What keeps a map up to date.
#[derive(Debug)]
pub struct Live {
    watch: Watch,
    /// What must be looked at again, whether or not something is told of it.
    doubtful: Told,
    /// Whether every folder of the map is watched, and was looked at since.
    is_settled: bool,
}

/// How a map came to be up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// Nothing had happened, and nothing was looked at.
    Nowhere,
    /// Only where something had happened, or may have.
    WhereTold,
    Everywhere,
}

/// What it took to bring a map up to date.
#[derive(Debug)]
pub struct Now {
    pub looked: Looked,
    /// Whether more happened than the system could tell.
    pub is_lost: bool,
    /// Why there are no events any more, told once.
    pub fault: Option<WatchFault>,
}

impl Live {
    pub fn new(watch: Watch) -> Self {
        Self { watch, doubtful: Told::default(), is_settled: false }
    }

    pub fn mode(&self) -> Mode {
        self.watch.mode()
    }

    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Whether every folder of the map is watched. Otherwise something may happen that no event tells of, and it is time to look
    /// again before long.
    pub fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Brings the map up to what was on the disk when this was called. It must be the one that the last call left.
    pub fn now(
        &mut self,
        cache: &Cache,
        current: &mut Current,
        options: &RefreshOptions,
    ) -> Result<Now, RefreshError> {
        let news = self.watch.news();
        let is_lost = news == News::Lost;
        let looked = self.look(news, cache, current, options)?;
        let mut fault = None;
        if looked == Looked::Nowhere {
            current.stays();
        } else {
            fault = self.settle(cache, current, options)?;
            self.doubtful = Told::doubtful(current);
        }
        Ok(Now { looked, is_lost, fault })
    }

    fn look(
        &mut self,
        news: News,
        cache: &Cache,
        current: &mut Current,
        options: &RefreshOptions,
    ) -> Result<Looked, RefreshError> {
        let told = self.told(news, current).filter(|_| !is_due(current, options));
        // Until this look has come to its end, nothing is certain.
        let is_settled = std::mem::replace(&mut self.is_settled, false);
        let looked = match told.filter(|_| is_settled) {
            Some(told) if told.is_empty() => Looked::Nowhere,
            Some(told) if refresh_told(cache, current, &told, options) => Looked::WhereTold,
            Some(_) | None => {
                *current = refresh(cache, &current.project, options)?;
                Looked::Everywhere
            }
        };
        self.is_settled = looked == Looked::Nowhere;
        Ok(looked)
    }

    /// Where to look; `None` for everywhere.
    fn told(&self, news: News, current: &Current) -> Option<Told> {
        let News::At(places) = news else { return None };
        let mut told = self.doubtful.clone();
        for place in &places {
            // What is elsewhere is git's, whose index is looked at each time.
            if let Ok(inside) = place.strip_prefix(&current.project.root) {
                told.add(inside);
            }
        }
        (told.len() <= MAX_TOLD).then_some(told)
    }

    /// Watches the folders that belong to the map now. What happened in a new one before it was watched is seen by one more
    /// look, as long as there is time: all rounds have the one deadline.
    fn settle(
        &mut self,
        cache: &Cache,
        current: &mut Current,
        options: &RefreshOptions,
    ) -> Result<Option<WatchFault>, RefreshError> {
        for _ in 0..MAX_ROUNDS {
            let git = git_folder(&current.project.root);
            let git = git.as_ref().and_then(|folder| folder.to_str());
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
