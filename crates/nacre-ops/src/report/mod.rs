//! Reports which memories were learned, merged, archived and used in a store. A cloned repository
//! can contain run directories, so the amount of data read from each is limited.

mod page;
#[cfg(test)]
mod tests;

use jiff::SignedDuration;
use nacre_memory::{
    LocalState, Memory, MemoryError, MemoryType, Quote, Speaker, Stage, Status, StoreArea, Vitals,
};
use nacre_types::{
    CandidateVerb, MaintainAction, MaintainVerb, MemoryUse, ProjectReport, RepeatedClaim,
    ReportRequest, ReportedAction, RunReport, SessionAction, StoreFigures, StoreScope,
};

use self::page::{html_page, is_page};
use crate::hook_notes::told_by_session;
use crate::host::parse_when;
use crate::prelude::*;
use crate::run::folder::{RunId, list};
use crate::run::show::RunReader;

const DEFAULT_SINCE: &str = "30d";

const MAX_BYTES: u64 = 64 << 20;

const MAX_LISTED: usize = 10;

/// Younger memories never count as unused.
const YOUNG: SignedDuration = SignedDuration::from_hours(24 * 14);

/// Maximum number of weeks in the chart. The totals include earlier weeks as well.
const MAX_WEEKS: usize = 53;

pub fn report(host: &Host, request: &ReportRequest) -> Result<ProjectReport> {
    let (project, figures) = collect(host, request)?;
    if let Some(file) = &request.html {
        write_page(host, file, request.force, &html_page(&figures, &project))?;
    }
    Ok(ProjectReport { project, html: request.html.clone(), report: figures })
}

/// Writes the report page. Overwrites an existing file only if it is a report page written by
/// Nacre, or if `force` is set.
fn write_page(host: &Host, file: &str, force: bool, page: &str) -> Result<()> {
    let named = host.environment.folder.join(file);
    let name = named.file_name().and_then(|name| name.to_str());
    let folder = named.parent().map(|folder| host.environment.absolute(folder));
    let (Some(name), Some(folder)) = (name, folder.filter(|_| !named.is_dir())) else {
        return Err(OpError::usage(format!("`{file}` is not a valid file name"))
            .hint("Name a file in an existing directory"));
    };
    let path = folder.join(name);
    let existing = path.symlink_metadata().ok();
    // Devices, pipes and link targets are never replaced, even with `force`.
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        let message = format!("`{file}` is not a regular file");
        return Err(OpError::new(ErrorCode::Refused, message)
            .hint("Choose a new file name; Nacre does not write to links, devices or pipes"));
    }
    let n_bytes = existing.map_or(0, |existing| existing.len());
    let is_ours =
        || n_bytes <= MAX_BYTES && std::fs::read(&path).is_ok_and(|bytes| is_page(&bytes));
    if !force && n_bytes > 0 && !is_ours() {
        let message = format!("`{file}` was not written by `nacre report`");
        return Err(OpError::new(ErrorCode::Refused, message)
            .hint("Choose another file, or add --force to overwrite it"));
    }
    let scope = WriteScope::open(&folder, Access::Shared)?;
    scope.put_output(&RelPath::new(name)?, page.as_bytes(), &host.owner("report"))?;
    Ok(())
}

pub fn page(host: &Host, request: &ReportRequest) -> Result<String> {
    let (project, figures) = collect(host, request)?;
    Ok(html_page(&figures, &project))
}

fn collect(host: &Host, request: &ReportRequest) -> Result<(String, StoreFigures)> {
    let now = host.now();
    let since = parse_when(request.since.as_deref().unwrap_or(DEFAULT_SINCE), now)?;
    let scoped = host.store_to_write(None)?;
    let mut figures = store_report(&scoped.store, since, now)?.figures;
    count_given(&mut figures, &scoped.store, &told_by_session(host));
    let project = host.project.as_ref().filter(|_| scoped.scope == StoreScope::Project);
    let global = || StoreScope::Global.as_str().to_owned();
    Ok((project.map_or_else(global, |project| host.name_of(&project.path)), figures))
}

/// Counts the memories from this store that hooks provided to recent sessions.
fn count_given(figures: &mut StoreFigures, store: &Store, sessions: &[Vec<String>]) {
    let mut given: BTreeMap<&str, Option<bool>> = BTreeMap::new();
    for session in sessions {
        let mut has_any = false;
        for id in session {
            let is_used = given.entry(id).or_insert_with(|| is_used(store, &id.parse().ok()?));
            has_any |= is_used.is_some();
        }
        figures.n_given_sessions += usize::from(has_any);
    }
    figures.n_given = given.values().flatten().count();
    figures.n_given_used = given.values().flatten().filter(|is_used| **is_used).count();
}

/// Returns whether a memory was ever cited or confirmed, or `None` if the store does not contain
/// it.
fn is_used(store: &Store, id: &MemoryId) -> Option<bool> {
    store.places(id).ok().filter(|places| !places.is_empty())?;
    let state = store.state(id).ok().flatten();
    Some(state.is_some_and(|state| state.citations + state.confirmations > 0))
}

pub(crate) struct StoreReport {
    since: Timestamp,
    until: Timestamp,
    pub(crate) figures: StoreFigures,
    /// Active memories learned in this period, newest first, limited to `MAX_LISTED`. `n_newest` is
    /// the total number of such memories.
    pub(crate) newest: Vec<MemoryUse>,
    pub(crate) n_newest: usize,
}

pub(crate) fn store_report(
    store: &Store,
    since: Timestamp,
    now: Timestamp,
) -> Result<StoreReport, MemoryError> {
    let listing = store.outlines(|_| true)?;
    let figures = StoreFigures {
        since: since.to_string(),
        until: now.to_string(),
        learned_by_week: weeks(since, now),
        confidence: vec![0; 10],
        n_broken: listing.broken.len(),
        ..StoreFigures::default()
    };
    let mut report = StoreReport { since, until: now, figures, newest: Vec::new(), n_newest: 0 };
    let all = counted_runs(store)?;
    let there: BTreeSet<&str> =
        listing.memories.iter().map(|memory| memory.at.id.as_str()).collect();
    let made = all.iter().filter(|run| run.is_within(since, now)).flat_map(|run| &run.made);
    let gone: BTreeSet<&String> = made.filter(|id| !there.contains(id.as_str())).collect();
    report.figures.n_taken_back = gone.len();
    let runs = without_undone(all);
    let learned = learning_times(&runs);
    for memory in &listing.memories {
        // A claim counts as learned when Nacre reads the session, even if the session is older.
        let at = learned.get(memory.at.id.as_str()).copied().or(memory.created);
        report.add_memory(store, memory, at)?;
    }
    report.sort_lists();
    report.add_runs(runs);
    Ok(report)
}

/// Returns when Nacre learned each memory and read each session with a summary.
pub(crate) fn learned_at(store: &Store) -> Result<BTreeMap<String, Timestamp>, MemoryError> {
    let runs = without_undone(counted_runs(store)?);
    Ok(learning_times(&runs).into_iter().map(|(id, at)| (id.to_owned(), at)).collect())
}

fn counted_runs(store: &Store) -> Result<Vec<CountedRun>, MemoryError> {
    let mut reader = RunReader::new(store);
    let run = |id: RunId| Some(CountedRun::of(&id, reader.record(&id).ok().flatten()?));
    Ok(list(store)?.into_iter().take(MAX_RUNS).filter_map(run).collect())
}

impl StoreReport {
    fn add_memory(
        &mut self,
        store: &Store,
        memory: &Memory,
        at: Option<Timestamp>,
    ) -> Result<(), MemoryError> {
        let learned = at.filter(|at| *at >= self.since);
        if memory.at.memory_type == MemoryType::Summary {
            self.figures.sessions += usize::from(learned.is_some());
            return Ok(());
        }
        let id = &memory.at.id;
        // Unreadable evidence and state are ignored here and reported by `doctor`.
        let (evidence, state) = (store.evidence(id).ok().flatten(), store.state(id).ok().flatten());
        if state.as_ref().is_some_and(|state| state.merged_into.is_some()) {
            *self.figures.memories.entry("merged".to_owned()).or_default() += 1;
            return Ok(());
        }
        *self.figures.memories.entry(memory.status.as_str().to_owned()).or_default() += 1;
        if let Some(learned) = learned {
            let what = memory.kind.map_or(memory.at.memory_type.as_str(), |kind| kind.as_str());
            *self.figures.learned.entry(what.to_owned()).or_default() += 1;
            *self.figures.learned_now.entry(fate(memory).to_owned()).or_default() += 1;
            if let Some(n) = self.figures.learned_by_week.get_mut(&week_of(learned)) {
                *n += 1;
            }
        }
        if memory.at.area == StoreArea::Archived || memory.status == Status::Superseded {
            return Ok(());
        }
        let quotes = evidence.as_ref().map_or(&[][..], |evidence| &evidence.quotes);
        self.figures.repeats.extend(repeated_claim(memory, quotes, state.as_ref(), at));
        let vitals = Vitals::of(memory, evidence.as_ref(), state.as_ref());
        let stage = stage(memory, state.as_ref()).as_str().to_owned();
        *self.figures.stages.entry(stage).or_default() += 1;
        let effective = vitals.effective(self.until);
        let tenth = ((effective * 10.0) as usize).min(self.figures.confidence.len() - 1);
        self.figures.confidence[tenth] += 1;
        let listed = MemoryUse {
            id: id.to_string(),
            title: memory.title.clone(),
            uses: vitals.n_uses,
            citations: state.as_ref().map_or(0, |state| state.citations),
            confirmations: state.as_ref().map_or(0, |state| state.confirmations),
            effective: (effective * 100.0).round() / 100.0,
        };
        if learned.is_some() && memory.status == Status::Active {
            self.newest.push(listed.clone());
        }
        let last = at.map_or(vitals.last_confirmed, |at| at.max(vitals.last_confirmed));
        match listed.uses {
            0 if self.until.duration_since(last) >= YOUNG => self.figures.never_used.push(listed),
            0 => self.figures.n_young += 1,
            _ => self.figures.most_used.push(listed),
        }
        Ok(())
    }

    fn sort_lists(&mut self) {
        self.figures.n_never_used = self.figures.never_used.len();
        self.figures.n_used = self.figures.most_used.len();
        self.figures.most_used.sort_by(|a, b| b.uses.cmp(&a.uses).then_with(|| a.id.cmp(&b.id)));
        self.figures
            .never_used
            .sort_by(|a, b| a.effective.total_cmp(&b.effective).then_with(|| a.id.cmp(&b.id)));
        self.figures.repeats.sort_by(|a, b| {
            let (more, fewer) = (b.before + b.after, a.before + a.after);
            more.cmp(&fewer).then_with(|| a.id.cmp(&b.id))
        });
        self.n_newest = self.newest.len();
        // Ids start with the date, so sorting by id sorts by date.
        self.newest.sort_by(|a, b| b.id.cmp(&a.id));
        self.newest.truncate(MAX_LISTED);
        self.figures.most_used.truncate(MAX_LISTED);
        self.figures.never_used.truncate(MAX_LISTED);
    }

    fn add_runs(&mut self, mut runs: Vec<CountedRun>) {
        runs.retain(|run| run.is_within(self.since, self.until));
        let last = runs.iter().find_map(|run| run.open_contradictions);
        let figures = &mut self.figures;
        figures.open_contradictions = last.unwrap_or_default();
        for run in runs {
            figures.merged.extend(run.merged);
            figures.archived.extend(run.archived);
            figures.contradictions.extend(run.overturned);
        }
    }
}

/// Returns how often a claim was repeated, or `None` if only one session made it. Of sessions that
/// are not quoted, only the time of the last one is known.
fn repeated_claim(
    memory: &Memory,
    quotes: &[Quote],
    state: Option<&LocalState>,
    learned: Option<Timestamp>,
) -> Option<RepeatedClaim> {
    let is_late = |at: &str| learned.zip(at.parse().ok()).is_some_and(|(known, at)| known < at);
    let mut quoted: BTreeMap<&str, bool> = BTreeMap::new();
    for quote in quotes {
        let session = quote.place.rsplit_once(':').map_or("", |(session, _)| session);
        *quoted.entry(session).or_insert(true) &= is_late(&quote.at);
    }
    let n_confirmed = state.map_or(0, |state| state.confirmed_in.len());
    let last = state.and_then(|state| state.last_confirmed.as_deref()).unwrap_or_default();
    let n_late = quoted.values().filter(|is_late| **is_late).count();
    let after = n_late + if is_late(last) { n_confirmed } else { 0 };
    let n_repeated = (quoted.len() + n_confirmed).checked_sub(1).filter(|n| *n > 0)?;
    let is_persons = quotes.iter().any(|quote| quote.speaker <= Speaker::User);
    let source = memory.source.as_deref().and_then(|source| source.split_once(':'));
    Some(RepeatedClaim {
        id: memory.at.id.to_string(),
        title: memory.title.clone(),
        by: if is_persons { Speaker::User } else { Speaker::Assistant },
        agent: source.map(|(agent, _)| agent.to_owned()),
        before: n_repeated.saturating_sub(after),
        after: after.min(n_repeated),
    })
}

fn fate(memory: &Memory) -> &'static str {
    match (memory.at.area, memory.status) {
        (StoreArea::Archived, _) | (StoreArea::Active, Status::Archived) => "archived",
        (StoreArea::Active, Status::Candidate) => "to review",
        (StoreArea::Active, Status::Superseded) => "superseded",
        (StoreArea::Active, Status::Stale) => "stale",
        (StoreArea::Active, Status::Active) => "in use",
    }
}

fn stage(memory: &Memory, state: Option<&LocalState>) -> Stage {
    let life = state.and_then(|state| state.life.as_ref());
    let of_status = nacre_memory::stage_of(memory.status);
    life.filter(|life| life.stage == Stage::Established && of_status == Stage::Validated)
        .map_or(of_status, |life| life.stage)
}

fn week_of(when: Timestamp) -> String {
    let date = when.to_zoned(jiff::tz::TimeZone::UTC).date();
    let monday =
        date.checked_sub(jiff::Span::new().days(i64::from(date.weekday().to_monday_zero_offset())));
    monday.unwrap_or(date).to_string()
}

/// Returns the last `MAX_WEEKS` weeks, each with a count of 0.
fn weeks(since: Timestamp, until: Timestamp) -> BTreeMap<String, usize> {
    let mut weeks = BTreeMap::new();
    let mut at = until;
    while weeks.len() < MAX_WEEKS && at >= since {
        weeks.insert(week_of(at), 0);
        let Ok(before) = at.checked_sub(SignedDuration::from_hours(24 * 7)) else { break };
        at = before;
    }
    weeks.insert(week_of(since.max(at)), 0);
    weeks
}

const MAX_RUNS: usize = 1000;

const MAX_UNDONE_UNDOS: usize = 32;

#[derive(Default)]
struct CountedRun {
    id: String,
    finished_at: Option<Timestamp>,
    /// The ids of the runs that this one undid.
    undoes: Vec<String>,
    open_contradictions: Option<usize>,
    merged: Vec<ReportedAction>,
    archived: Vec<ReportedAction>,
    overturned: Vec<ReportedAction>,
    made: Vec<String>,
    summary: Option<String>,
}

impl CountedRun {
    fn of(id: &RunId, record: RunReport) -> Self {
        let mut run = Self { id: id.to_string(), ..Self::default() };
        let finished_at = match record {
            RunReport::Sync(report) => {
                report.actions.into_iter().for_each(|action| run.add_sync(action));
                run.summary = report.summary_path.as_deref().and_then(summary_id);
                report.finished_at
            }
            RunReport::Maintain(report) => {
                report.actions.into_iter().for_each(|action| run.add_maintenance(action));
                run.open_contradictions = Some(report.contradictions.len());
                report.finished_at
            }
            RunReport::Undo(report) => {
                run.undoes = report.runs;
                run.undoes.push(report.of);
                report.finished_at
            }
        };
        run.finished_at = finished_at.parse().ok();
        run
    }

    fn add_sync(&mut self, action: SessionAction) {
        let SessionAction { action: verb, target, supersedes: with, title, reason, .. } = action;
        if matches!(verb, CandidateVerb::Add | CandidateVerb::Supersede) {
            self.made.extend(target.clone());
        }
        if verb == CandidateVerb::Supersede {
            let (run, target) = (self.id.clone(), target.unwrap_or_default());
            self.overturned.push(ReportedAction { run, target, with, title, reason });
        }
    }

    fn add_maintenance(&mut self, action: MaintainAction) {
        let MaintainAction { action: verb, target, with, title, reason, .. } = action;
        let reported = ReportedAction { run: self.id.clone(), target, with, title, reason };
        if matches!(verb, MaintainVerb::Merge | MaintainVerb::Consolidate) {
            self.merged.push(reported);
        } else if verb == MaintainVerb::Archive {
            self.archived.push(reported);
        } else if verb == MaintainVerb::Supersede {
            self.overturned.push(reported);
        }
    }

    fn is_within(&self, since: Timestamp, until: Timestamp) -> bool {
        self.finished_at.is_some_and(|at| since <= at && at <= until)
    }
}

/// Parses the id from `memory/summaries/DAY/TIME/NAME.md`.
fn summary_id(path: &str) -> Option<String> {
    let mut parts = path.strip_suffix(".md")?.rsplit('/');
    let (name, _, day) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!("{day}-{name}"))
}

fn without_undone(mut runs: Vec<CountedRun>) -> Vec<CountedRun> {
    // An undo that was itself undone has no effect.
    let mut undone: BTreeSet<String> = BTreeSet::new();
    for _ in 0..MAX_UNDONE_UNDOS {
        let holding = runs.iter().filter(|run| !undone.contains(&run.id));
        let now: BTreeSet<String> = holding.flat_map(|run| run.undoes.clone()).collect();
        if std::mem::replace(&mut undone, now.clone()) == now {
            break;
        }
    }
    runs.retain(|run| !undone.contains(&run.id));
    runs
}

fn learning_times(runs: &[CountedRun]) -> BTreeMap<&str, Timestamp> {
    let mut learned = BTreeMap::new();
    for run in runs {
        let Some(at) = run.finished_at else { continue };
        // Runs are ordered newest first, so the oldest run's entry overwrites the others.
        let learned_then = run.made.iter().chain(&run.summary);
        learned.extend(learned_then.map(|id| (id.as_str(), at)));
    }
    learned
}
