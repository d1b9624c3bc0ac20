//! Reports recent activity by day: sessions, memories, and the cost of runs.

use jiff::SignedDuration;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use nacre_engine::model::Cost;
use nacre_memory::{MemoryType, StoreArea};
use nacre_traces::catalog::DayActivity;
use nacre_types::{
    AgentActivity, MemoryGrowth, OverviewDay, OverviewReport, RunMode, RunStatsReport, SinceRequest,
};

use super::tasks;
use crate::host::{has_catalog, open_catalog, parse_when, start_of};
use crate::prelude::*;
use crate::report::learned_at;
use crate::run::folder::{self, RunId};

const DEFAULT_SINCE: &str = "30d";

const MAX_AGE: SignedDuration = SignedDuration::from_hours(24 * 3653);

/// The modes of automatic runs. Runs in any other mode are changes made by the user.
const WORK: [RunMode; 4] = [RunMode::Sync, RunMode::Hot, RunMode::Cold, RunMode::Maintain];

pub fn overview(host: &Host, request: &SinceRequest) -> Result<OverviewReport> {
    let until = host.now();
    let since = parse_when(request.since.as_deref().unwrap_or(DEFAULT_SINCE), until)?;
    let since = since.max(until.saturating_sub(MAX_AGE).unwrap_or(since)).min(until);
    let first = day_of(since);
    let mut days = days(first, day_of(until));
    let mut activity = Vec::new();
    if has_catalog(host) {
        let project = host.project_key();
        activity = open_catalog(host)?.activity(project.as_deref(), start_of(first))?;
    }
    add_activity(&mut days, &activity);
    add_costs(host, &mut days, first)?;
    let (mut memories, mut growth) = (BTreeMap::new(), BTreeMap::new());
    for scoped in [host.project_store()?, host.global_store()?].into_iter().flatten() {
        count_memories(&scoped, &mut memories, &mut growth, &mut days)?;
        let is_work = |run: &&RunId| WORK.iter().any(|mode| run.is_of(*mode));
        for run in folder::list(&scoped.store)?.iter().filter(is_work) {
            if let Some(day) = days.get_mut(&day_of(run.time())) {
                day.runs += 1;
            }
        }
    }
    let growth = add_growth(&mut days, &growth);
    let RunStatsReport { models, tools } = tasks::stats(host)?;
    Ok(OverviewReport {
        since: since.to_string(),
        until: until.to_string(),
        days: days.into_values().collect(),
        agents: agents(activity),
        memories,
        growth,
        models,
        tools,
    })
}

/// Days are in UTC, so that they are the same on all of the user's machines.
fn day_of(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

fn days(first: Date, last: Date) -> BTreeMap<Date, OverviewDay> {
    let dates = first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last);
    let empty = |day: Date| OverviewDay {
        day: day.to_string(),
        cost_nano_dollars: Some(0),
        ..OverviewDay::default()
    };
    dates.map(|day| (day, empty(day))).collect()
}

fn add_activity(days: &mut BTreeMap<Date, OverviewDay>, activity: &[DayActivity]) {
    for one in activity {
        let Ok(day) = one.day.parse::<Date>() else { continue };
        // A session's date can be in the future if the clock was wrong.
        let Some(day) = days.get_mut(&day) else { continue };
        *day.sessions.entry(one.agent.clone()).or_default() += one.sessions;
        day.input_tokens = day.input_tokens.saturating_add(one.input_tokens);
        day.cached_tokens = day.cached_tokens.saturating_add(one.cached_tokens);
        day.output_tokens = day.output_tokens.saturating_add(one.output_tokens);
    }
}

fn agents(activity: Vec<DayActivity>) -> Vec<AgentActivity> {
    let mut agents: BTreeMap<String, (AgentActivity, Timestamp)> = BTreeMap::new();
    for one in activity {
        let empty = AgentActivity { agent: one.agent.clone(), ..AgentActivity::default() };
        let (agent, last) = agents.entry(one.agent).or_insert((empty, Timestamp::MIN));
        agent.sessions += one.sessions;
        agent.input_tokens = agent.input_tokens.saturating_add(one.input_tokens);
        agent.cached_tokens = agent.cached_tokens.saturating_add(one.cached_tokens);
        agent.output_tokens = agent.output_tokens.saturating_add(one.output_tokens);
        *last = (*last).max(one.last);
    }
    let agents = agents.into_values();
    agents.map(|(agent, last)| AgentActivity { last: last.to_string(), ..agent }).collect()
}

fn add_costs(host: &Host, days: &mut BTreeMap<Date, OverviewDay>, first: Date) -> Result<()> {
    let Some(state) = tasks::open_state(host)? else { return Ok(()) };
    for spent in state.sum_spending_by_day(host.project_key().as_deref(), start_of(first))? {
        let Ok(day) = spent.day.parse::<Date>() else { continue };
        if let Some(day) = days.get_mut(&day) {
            day.cost_nano_dollars = spent.cost.map(Cost::nano_dollars);
        }
    }
    Ok(())
}

/// Counts memories by status, and unarchived memories and summaries by the day on which Nacre
/// learned them, like `nacre report`.
fn count_memories(
    scoped: &ScopedStore,
    by_status: &mut BTreeMap<String, usize>,
    by_day: &mut BTreeMap<Date, usize>,
    days: &mut BTreeMap<Date, OverviewDay>,
) -> Result<()> {
    let listing = scoped.store.outlines(|_| true)?;
    let learned = learned_at(&scoped.store)?;
    for memory in &listing.memories {
        let at = learned.get(memory.at.id.as_str()).copied();
        // Unknown dates sort first.
        let came_on = at.or(memory.created).or(memory.updated).map_or(Date::MIN, day_of);
        if memory.at.memory_type == MemoryType::Summary {
            days.entry(came_on).and_modify(|day| day.sessions_read += 1);
            continue;
        }
        let is_archived = memory.at.area == StoreArea::Archived;
        let status = if is_archived { "archived" } else { memory.status.as_str() };
        *by_status.entry(status.to_owned()).or_default() += 1;
        if !is_archived {
            *by_day.entry(came_on).or_default() += 1;
        }
    }
    Ok(())
}

fn add_growth(
    days: &mut BTreeMap<Date, OverviewDay>,
    by_day: &BTreeMap<Date, usize>,
) -> Vec<MemoryGrowth> {
    let Some(first) = days.keys().next().copied() else { return Vec::new() };
    let mut total: usize = by_day.range(..first).map(|(_, n_came)| n_came).sum();
    let mut growth = Vec::new();
    for (date, day) in days {
        day.learned = by_day.get(date).copied().unwrap_or(0);
        total += day.learned;
        growth.push(MemoryGrowth { day: day.day.clone(), total });
    }
    growth
}

#[cfg(test)]
mod tests {
    use nacre_types::{ErrorCode, MemoryAddRequest, Scope, SyncRequest};

    use super::*;
    use crate::events::Events;
    use crate::memory;
    use crate::sync::sync;
    use crate::test::Place;

    fn since(host: &Host, since: &str) -> OverviewReport {
        overview(host, &SinceRequest { since: Some(since.to_owned()) }).unwrap()
    }

    #[test]
    fn days_tell_sessions_memories_and_runs() {
        let place = Place::new();
        place.talk("one", "Always use pnpm here, never npm.");
        place.talk("two", "Rename the server to gateway");
        let host = place.host();
        let empty = overview(&host, &SinceRequest::default()).unwrap();
        assert_eq!((empty.days.len(), empty.agents.len()), (31, 0));
        assert_eq!(empty.days[0].day, "2098-12-02");
        sync(&host, &SyncRequest::default(), &Events::discard()).unwrap();
        let request = MemoryAddRequest {
            title: "Tests run in UTC".to_owned(),
            scope: Some(Scope::GlobalOnly),
            ..MemoryAddRequest::default()
        };
        memory::add(&host, &request, &Events::discard()).unwrap();

        let report = since(&host, "2098-12-30");
        assert_eq!(report.days.len(), 3, "{:?}", report.days);
        assert!(report.agents.is_empty(), "the sessions are older");
        let today = &report.days[2];
        assert_eq!((today.day.as_str(), today.runs), ("2099-01-01", 2));
        assert_eq!(today.cost_nano_dollars, Some(0));
        let totals: Vec<usize> = report.growth.iter().map(|day| day.total).collect();
        let n_memories: usize = report.memories.values().sum();
        assert_eq!(totals[2], n_memories);
        assert!(report.memories.contains_key("active"), "{:?}", report.memories);
        assert_eq!(today.learned, totals[2] - totals[1]);
        assert!(today.learned >= 1, "the memory that was added");
        assert!(today.sessions_read >= 1, "the sessions are older, but they were read today");
    }

    #[test]
    fn agents_are_counted_by_their_sessions() {
        let place = Place::new();
        place.talk("one", "Always use pnpm here, never npm.");
        place.talk("two", "Rename the server to gateway");
        let host = place.host();
        let only_read = SyncRequest { no_extract: true, ..SyncRequest::default() };
        sync(&host, &only_read, &Events::discard()).unwrap();
        let host = place.host_at("2026-11-02T12:00:00Z");
        let report = since(&host, "2026-10-31");
        let sessions = report.days.iter().map(|day| day.sessions.get("generic").copied());
        assert_eq!(sessions.collect::<Vec<_>>(), [None, Some(2), None]);
        let [agent] = report.agents.as_slice() else { panic!("{:?}", report.agents) };
        assert_eq!((agent.agent.as_str(), agent.sessions), ("generic", 2));
        assert_eq!(agent.last, "2026-11-01T10:01:00Z");
        assert!(since(&host, "2026-11-02").agents.is_empty(), "the sessions are older");
        let old = since(&host, "1999-01-01");
        assert!(old.since.starts_with("2016-11"), "{}", old.since);
        let error = overview(&host, &SinceRequest { since: Some("soon".to_owned()) });
        assert_eq!(error.unwrap_err().code, ErrorCode::Usage);
    }
}
