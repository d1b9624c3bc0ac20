//! Reports the changes to the code map since an earlier state, either once or continuously.

use std::sync::mpsc::{Receiver, sync_channel};

use nacre_map::artifact::MapState;
use nacre_map::indexer::{
    Delta, FileChange, Verify, WordCounting, delta_of_all, delta_since, delta_since_git,
};
use nacre_map::slices::TooSmall;
use nacre_map::watch::{Live, Now, Watch};
use nacre_types::{
    AffectedFile, AffectedFolder, CodeChange, CodeDelta, DeltaReport, DeltaRequest, FileDelta,
    MapCommand, MapRevision, RefreshRequest, Since, WatchLine, WatchMode, WatchNotice,
    WatchNoticeKind, WatchRequest,
};

use super::code_map::{self, CodeMap, MapAccess, check_client, cost, largest, longest_payload};
use crate::host::as_task;
use crate::prelude::*;

/// Maximum number of affected files to list without a summary by directory.
const MAX_PLAIN_AFFECTED: usize = 40;

/// Makes a delta fit the budget. Omits affected files first, then their directories, and finally
/// changed files. Omitted changed files appear on the next page.
pub(super) fn fit(
    mut delta: CodeDelta,
    budget: usize,
    cost: &dyn Fn(&CodeDelta) -> usize,
) -> Result<CodeDelta, TooSmall> {
    if cost(&delta) <= budget {
        return Ok(delta);
    }
    if delta.affected_folders.is_empty() {
        delta.affected_folders = folders_of(&delta.affected);
    }
    let cut = |n_affected: usize, n_folders: usize, n_files: usize| {
        let mut cut = delta.clone();
        cut.affected.truncate(n_affected);
        cut.affected_folders.truncate(n_folders);
        if n_files < cut.files.len() {
            cut.files.truncate(n_files);
            // `None` if no file fits. Such a page is rejected below.
            cut.next = cut.files.last().map(|file| file.path.clone());
        }
        cut
    };
    let (n_folders, n_files) = (delta.affected_folders.len(), delta.files.len());
    let most = |n_all: usize, cut: &dyn Fn(usize) -> CodeDelta| {
        largest(n_all, &|n| cost(&cut(n)) <= budget).map(cut)
    };
    let by_affected = most(delta.affected.len(), &|n| cut(n, n_folders, n_files));
    let by_folders = || most(n_folders, &|n| cut(0, n, n_files));
    let by_files = || most(n_files, &|n| cut(0, 0, n));
    let found = by_affected.or_else(by_folders).or_else(by_files);
    // A page without files would make no progress, so paging would never end.
    let found = found.filter(|cut| n_files == 0 || !cut.files.is_empty());
    found.ok_or_else(|| TooSmall { budget, needed: cost(&cut(0, 0, n_files.min(1))) })
}

fn folders_of(affected: &[AffectedFile]) -> Vec<AffectedFolder> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for AffectedFile { path, .. } in affected {
        *counts.entry(path.rsplit_once('/').map_or("", |(folder, _)| folder)).or_default() += 1;
    }
    let mut folders: Vec<AffectedFolder> = counts
        .into_iter()
        .map(|(path, files)| AffectedFolder { path: path.to_owned(), files })
        .collect();
    folders.sort_by(|one, other| (other.files, &one.path).cmp(&(one.files, &other.path)));
    folders
}

impl CodeMap {
    pub(super) fn delta(&self, since: &Since) -> Result<Delta> {
        let current = &self.current;
        match since {
            Since::Beginning => Ok(delta_of_all(current)),
            Since::Revision(revision) => Ok(delta_since(current, *revision)?),
            Since::Git(reference) => Ok(delta_since_git(current, &self.options, reference)?),
            Since::Client(name) => {
                check_client(name)?;
                let seen = self.cache.seen_by(&current.project, name);
                let seen = seen.filter(|seen| current.artifact.knows(*seen));
                let delta = seen.map(|seen| delta_since(current, seen.revision));
                // A client receives the whole map if it is unknown or its last state is no longer
                // stored.
                Ok(delta.and_then(Result::ok).unwrap_or_else(|| delta_of_all(current)))
            }
        }
    }

    /// Returns the changes since the last commit. If the project has no commits, returns the
    /// changes since the first map.
    fn delta_by_default(&self) -> Result<(Since, Delta)> {
        let since = Since::Git("HEAD".to_owned());
        if let Ok(delta) = self.delta(&since) {
            return Ok((since, delta));
        }
        let first = MapRevision { number: 1, ..self.current.revision() };
        let since = Since::Revision(first);
        let delta = self.delta(&since)?;
        Ok((since, delta))
    }

    /// Returns one page of a delta. A limit of 0 means no limit. The totals and the affected files
    /// cover the whole delta.
    fn page(&self, since: Since, delta: Delta, limit: usize, after: Option<&str>) -> CodeDelta {
        let n_threads = self.options.n_threads;
        let affected = self.current.find_affected(&self.cache, self.keeping(), &delta, n_threads);
        let count = |change| delta.count(change);
        let [added, modified, removed, renamed] =
            [CodeChange::Added, CodeChange::Modified, CodeChange::Removed, CodeChange::Renamed]
                .map(count);
        let is_after = |file: &FileChange| after.is_none_or(|after| after < file.path.as_str());
        let mut files: Vec<FileDelta> =
            delta.files.into_iter().filter(is_after).map(FileDelta::from).collect();
        let is_cut = limit != 0 && limit < files.len();
        if is_cut {
            files.truncate(limit);
        }
        let is_long = MAX_PLAIN_AFFECTED < affected.len();
        CodeDelta {
            since,
            added,
            modified,
            removed,
            renamed,
            next: files.last().filter(|_| is_cut).map(|file| file.path.clone()),
            files,
            affected_total: affected.len(),
            affected_folders: if is_long { folders_of(&affected) } else { Vec::new() },
            affected,
        }
    }
}

pub fn delta(host: &Host, request: &DeltaRequest, events: &Events) -> Result<DeltaReport> {
    let access =
        MapAccess::from_request(request.project.as_deref(), request.refresh, request.strict);
    code_map::ask(host, access, MapCommand::Delta, events, |map| answer_delta(map, request, events))
}

fn answer_delta(map: &CodeMap, request: &DeltaRequest, events: &Events) -> Result<DeltaReport> {
    let DeltaRequest { client, since, limit, after, budget, .. } = request;
    let (since, delta) = match since {
        Some(since) => (since.clone(), map.delta(since)?),
        None => map.delta_by_default()?,
    };
    let seen_by = match &since {
        Since::Client(name) => Some(name.clone()),
        Since::Beginning | Since::Revision(_) | Since::Git(_) => client.clone(),
    };
    let mut delta = map.page(since, delta, limit.unwrap_or(0), after.as_deref());
    let header = map.header(MapCommand::Delta);
    if let Some(budget) = budget {
        let report = |delta: &CodeDelta| DeltaReport { map: header.clone(), delta: delta.clone() };
        delta = fit(delta, *budget, &|delta| cost(&longest_payload(&report(delta))))?;
    }
    // A client is marked as up to date only after it has received the last page.
    map.mark_seen(seen_by.as_deref().filter(|_| delta.next.is_none()), events)?;
    Ok(DeltaReport { map: header, delta })
}

pub fn refresh(host: &Host, request: &RefreshRequest, events: &Events) -> Result<DeltaReport> {
    as_task(host, "refresh", "Reread all code", events, |events| read_all(host, request, events))
}

fn read_all(host: &Host, request: &RefreshRequest, events: &Events) -> Result<DeltaReport> {
    let RefreshRequest { project, limit, after, .. } = request;
    let usual = MapAccess::usual(project.as_deref());
    let cancel = Some(events.cancel());
    let access = MapAccess { trust: Verify::Contents, cancel, events: Some(events), ..usual };
    events.step("Reading the code");
    let map = CodeMap::open(host, access, "refresh")?;
    events.check_cancelled()?;
    map.warn_of_postponed(events);
    let before = map.current.before;
    let since = before.map_or(Since::Beginning, Since::Revision);
    let delta = match map.delta(&since) {
        Ok(delta) => delta,
        // The previous revision belongs to an artifact that could not be read completely.
        Err(_) => map.delta(&Since::Beginning)?,
    };
    let delta = map.page(since, delta, limit.unwrap_or(0), after.as_deref());
    Ok(DeltaReport { map: map.header(MapCommand::Refresh), delta })
}

pub(crate) fn bring_up_to_date(host: &Host, root: &str, events: &Events) -> Result<()> {
    let (cancel, words) = (Some(events.cancel()), WordCounting::Now);
    let access = MapAccess { cancel, words, ..MapAccess::usual(Some(root)) };
    let map = CodeMap::open(host, access, "serve")?;
    // An earlier refresh may have skipped word counting.
    map.bags(&map.current.artifact.files());
    Ok(())
}

/// With a shorter polling interval, a large project would be checked nonstop.
pub const MIN_INTERVAL_MS: u64 = 50;

/// A burst of changes ends when nothing has changed for this long, or once it has lasted a few
/// times this long.
const QUIET: Duration = Duration::from_millis(20);
const MAX_QUIETS: usize = 4;

const DEFAULT_INTERVAL_MS: u64 = 2_000;

pub fn watch(
    host: &Host,
    request: &WatchRequest,
    emit: &mut dyn FnMut(&WatchLine) -> Result<()>,
) -> Result<()> {
    let WatchRequest { project, interval_ms, poll, count } = request;
    let interval_ms = interval_ms.unwrap_or(DEFAULT_INTERVAL_MS);
    if interval_ms < MIN_INTERVAL_MS {
        let message = format!("The interval must be at least {MIN_INTERVAL_MS} milliseconds");
        return Err(OpError::usage(message));
    }
    let interval = Duration::from_millis(interval_ms);
    let map = CodeMap::open(host, MapAccess::usual(project.as_deref()), "watch")?;
    let root = &map.current.project.root;
    // A capacity of one is enough, because every iteration starts with an update.
    let (bell, rings) = sync_channel(1);
    let ring = bell.clone();
    let live = Live::new(match poll {
        true => Watch::polling(root),
        false => Watch::new(root, move || {
            let _ = ring.try_send(());
        }),
    });
    let (seen, since) = (map.current.artifact.head().state(), map.revision());
    let mut watching = Watching { map, live, seen, since, emit };
    watching.begin()?;
    let mut n_changes = 0;
    loop {
        n_changes += usize::from(watching.report_change()?);
        if *count != 0 && *count <= n_changes {
            return Ok(());
        }
        wait(&rings, &watching.live, interval);
        let now = watching.map.update(host, &mut watching.live)?;
        watching.report(now)?;
    }
}

fn wait(rings: &Receiver<()>, live: &Live, interval: Duration) {
    // Changes can be missed until every directory is watched.
    if !live.is_settled || live.mode() == WatchMode::Polling {
        let _ = rings.recv_timeout(interval);
        return;
    }
    let _ = rings.recv();
    for _ in 0..MAX_QUIETS {
        let n_told = live.watch.n_told();
        let is_quiet = rings.recv_timeout(QUIET).is_err();
        if is_quiet && live.watch.n_told() == n_told {
            return;
        }
    }
}

struct Watching<'w> {
    map: CodeMap,
    live: Live,
    /// The last reported state, even if it could not be stored.
    seen: MapState,
    /// The revision of the last reported state that was stored.
    since: MapRevision,
    emit: &'w mut dyn FnMut(&WatchLine) -> Result<()>,
}

impl Watching<'_> {
    fn begin(&mut self) -> Result<()> {
        if !self.map.options.deadline.is_over() {
            match self.map.catch_up(&mut self.live) {
                Ok(now) => self.report(now)?,
                Err(error) if error.is_late() => {}
                Err(error) => return Err(error.into()),
            }
        }
        let is_polling = self.live.mode() == WatchMode::Polling;
        let notice = if is_polling { WatchNoticeKind::Polling } else { WatchNoticeKind::Watching };
        self.notice(notice, None)
    }

    fn report(&mut self, now: Now) -> Result<()> {
        if now.is_lost {
            self.notice(WatchNoticeKind::Overflow, None)?;
        }
        match now.fault {
            Some(fault) => self.notice(WatchNoticeKind::Polling, Some(fault.to_string())),
            None => Ok(()),
        }
    }

    fn notice(&mut self, notice: WatchNoticeKind, why: Option<String>) -> Result<()> {
        (self.emit)(&WatchLine::Notice(WatchNotice {
            command: MapCommand::Watch,
            notice,
            mode: self.live.mode(),
            revision: self.map.current.revision(),
            watched_folders: self.live.watch.n_watched(),
            why,
        }))
    }

    fn report_change(&mut self) -> Result<bool> {
        let artifact = &self.map.current.artifact;
        let state = artifact.head().state();
        if self.seen == state {
            return Ok(false);
        }
        // If the reported state could not be stored, its changes are reported again.
        let is_known = artifact.knows(self.seen);
        let revision = if is_known { self.seen.revision } else { self.since };
        let since = Since::Revision(revision);
        let (since, delta) = match self.map.delta(&since) {
            Ok(delta) => (since, delta),
            // The artifact has been rebuilt in the meantime.
            Err(_) => (Since::Beginning, self.map.delta(&Since::Beginning)?),
        };
        let delta = self.map.page(since, delta, 0, None);
        let report = DeltaReport { map: self.map.header(MapCommand::Watch), delta };
        (self.emit)(&WatchLine::Change(Box::new(report)))?;
        (self.seen, self.since) = (state, self.map.revision());
        Ok(true)
    }
}
