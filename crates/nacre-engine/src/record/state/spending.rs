//! Stores the cost of each model response in a separate row, and computes statistics about tools
//! and models.

use std::time::Duration;

use jiff::Timestamp;
use nacre_types::{ModelStats, ToolStats};
use rusqlite::named_params;

use crate::model::{Amount, Cost, KNOWN_PROGRAMS, Spent};
use crate::record::state::db::{Result, State, count, rows, whole};

/// How long rows are kept. No spending limit covers a period longer than this.
const KEPT: Duration = Duration::from_secs(400 * 24 * 3600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentOn {
    pub project: Option<String>,
    pub session: String,
}

/// Selects the rows to sum. A field that is `None` does not restrict the selection.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpentFilter<'a> {
    pub since: Option<Timestamp>,
    pub project: Option<&'a str>,
    pub session: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaySpent {
    /// The day as `YYYY-MM-DD`.
    pub day: String,
    /// Total cost, or `None` if the price of any call is unknown.
    pub cost: Option<Cost>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpentSum {
    pub calls: u64,
    pub amount: Amount,
    pub unpriced_calls: u64,
}

impl State {
    pub fn spend(&mut self, on: &SpentOn, spent: &Spent, now: Timestamp) -> Result<()> {
        let kept = i64::try_from(KEPT.as_micros()).unwrap_or(i64::MAX);
        let usage = spent.usage;
        self.write(|transaction| {
            let oldest = now.as_microsecond().saturating_sub(kept);
            transaction.execute("DELETE FROM spending WHERE at < ?1", [oldest])?;
            transaction.execute(
                "INSERT INTO spending (at, project, session, role, model, input, cache_read, cache_write, output, cost)
                 VALUES (:at, :project, :session, :role, :model, :input, :cache_read, :cache_write, :output, :cost)",
                named_params! {
                    ":at": now.as_microsecond(), ":project": on.project, ":session": on.session,
                    ":role": spent.role.as_str(), ":model": spent.model.to_string(),
                    ":input": whole(usage.input), ":cache_read": whole(usage.cache_read),
                    ":cache_write": whole(usage.cache_write), ":output": whole(usage.output),
                    ":cost": spent.cost.map(|cost| whole(cost.nano_dollars())),
                },
            )?;
            Ok(())
        })
    }

    /// Returns the number of sessions, other than `except`, that installed agents have read since
    /// `since`.
    pub fn agent_sessions(&self, since: Timestamp, except: &str) -> Result<u64> {
        let of_agents: Vec<String> = KNOWN_PROGRAMS
            .iter()
            .map(|known| format!("model LIKE '{}/%'", known.provider))
            .collect();
        let query = format!(
            "SELECT count(DISTINCT session) FROM spending
             WHERE at >= :since AND session != :except AND role IN ('extract', 'summarize', 'lead') AND ({})",
            of_agents.join(" OR ")
        );
        self.read(|connection| {
            let values = named_params! { ":since": since.as_microsecond(), ":except": except };
            Ok(connection.query_row(&query, values, |row| count(row, 0))?)
        })
    }

    pub fn sum_spending_by_day(
        &self,
        project: Option<&str>,
        since: Timestamp,
    ) -> Result<Vec<DaySpent>> {
        self.read(|connection| {
            let sql = "SELECT date(at / 1000000, 'unixepoch') AS day,
                    CASE WHEN count(cost) = count(*) THEN cast(min(total(cost), 9e18) AS INTEGER) END
                 FROM spending WHERE at >= :since AND (:project IS NULL OR project = :project)
                 GROUP BY day ORDER BY day";
            let values = named_params! { ":since": since.as_microsecond(), ":project": project };
            rows(connection, sql, values, |row| {
                let cost = row.get::<_, Option<i64>>(1)?.map(i64::unsigned_abs);
                let day = row.get::<_, Option<String>>(0)?.unwrap_or_default();
                Ok(DaySpent { day, cost: cost.map(Cost::from_nano_dollars) })
            })
        })
    }

    pub fn sum_spending(&self, filter: SpentFilter<'_>) -> Result<SpentSum> {
        let SpentFilter { since, project, session } = filter;
        self.read(|connection| {
            let sum = connection.query_row(
                // Servers may report arbitrary numbers, and SQLite's `sum` fails on integer
                // overflow.
                "SELECT count(*),
                        cast(min(total(0.0 + input + cache_read + cache_write + output), 9e18) AS INTEGER),
                        cast(min(total(cost), 9e18) AS INTEGER), count(*) - count(cost)
                 FROM spending WHERE at >= :since AND (:project IS NULL OR project = :project)
                   AND (:session IS NULL OR session = :session)",
                named_params! {
                    ":since": since.map_or(i64::MIN, Timestamp::as_microsecond),
                    ":project": project, ":session": session,
                },
                |row| {
                    Ok(SpentSum {
                        calls: count(row, 0)?,
                        amount: Amount {
                            tokens: count(row, 1)?,
                            cost: Cost::from_nano_dollars(count(row, 2)?),
                        },
                        unpriced_calls: count(row, 3)?,
                    })
                },
            )?;
            Ok(sum)
        })
    }
}

impl State {
    pub fn tool_stats(&self) -> Result<Vec<ToolStats>> {
        self.read(|connection| {
            let mut rows = connection.prepare_cached(
                "SELECT tool, duration, fault, bytes_out, shown FROM tool_call ORDER BY tool, duration",
            )?;
            let mut rows = rows.query([])?;
            let mut all: Vec<ToolStats> = Vec::new();
            let mut durations: Vec<u64> = Vec::new();
            while let Some(row) = rows.next()? {
                let tool: String = row.get(0)?;
                if all.last().is_none_or(|stats| stats.tool != tool) {
                    finish(all.last_mut(), &mut durations);
                    all.push(ToolStats { tool, ..ToolStats::default() });
                }
                let Some(stats) = all.last_mut() else { continue };
                durations.push(count(row, 1)?);
                stats.calls += 1;
                if let Some(fault) = row.get::<_, Option<String>>(2)? {
                    *stats.errors.entry(fault).or_default() += 1;
                }
                stats.bytes_out = stats.bytes_out.saturating_add(count(row, 3)?);
                stats.shown_bytes = stats.shown_bytes.saturating_add(count(row, 4)?);
            }
            finish(all.last_mut(), &mut durations);
            Ok(all)
        })
    }

    pub fn model_stats(&self) -> Result<Vec<ModelStats>> {
        self.read(|connection| {
            // Servers may report arbitrary numbers, and SQLite's `sum` fails on integer overflow.
            let sql = "SELECT model, count(*), cast(min(total(input), 9e18) AS INTEGER),
                   cast(min(total(cache_read), 9e18) AS INTEGER), cast(min(total(output), 9e18) AS INTEGER),
                   CASE WHEN count(cost) = count(*) THEN cast(min(total(cost), 9e18) AS INTEGER) END
                 FROM model_call GROUP BY model ORDER BY model";
            rows(connection, sql, [], |row| {
                Ok(ModelStats {
                    model: row.get(0)?,
                    calls: count(row, 1)?,
                    input: count(row, 2)?,
                    cached: count(row, 3)?,
                    output: count(row, 4)?,
                    cost_nano_dollars: row.get::<_, Option<i64>>(5)?.map(i64::unsigned_abs),
                })
            })
        })
    }
}

fn finish(stats: Option<&mut ToolStats>, durations: &mut Vec<u64>) {
    if let Some(stats) = stats {
        stats.p50_us = percentile(durations, 50);
        stats.p95_us = percentile(durations, 95);
    }
    durations.clear();
}

/// Returns the nearest-rank percentile of the sorted values, or 0 if there are none.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Role, Usage};
    use crate::record::state::support_tests::{Home, at};

    fn make_spent(input: u64, cost: Option<u64>) -> Spent {
        Spent {
            role: Role::Extract,
            model: "own/m".parse().unwrap(),
            usage: Usage { input, output: 1, ..Usage::default() },
            cost: cost.map(Cost::from_nano_dollars),
        }
    }

    #[test]
    fn a_day_has_a_cost_where_every_price_is_known() {
        let home = Home::new();
        let mut state = home.open();
        let on =
            |project: &str| SpentOn { project: Some(project.to_owned()), session: String::new() };
        let day = |text: &str| text.parse::<Timestamp>().unwrap();
        for (project, cost, at) in [
            ("/a", Some(3), "2026-11-01T00:00:00Z"),
            ("/b", Some(4), "2026-11-01T23:59:59Z"),
            ("/a", None, "2026-11-02T00:00:00Z"),
            ("/a", Some(9), "2026-10-31T23:59:59Z"),
        ] {
            state.spend(&on(project), &make_spent(1, cost), day(at)).unwrap();
        }
        let since = day("2026-11-01T00:00:00Z");
        let costs = |project: Option<&str>| {
            let days = state.sum_spending_by_day(project, since).unwrap().into_iter();
            days.map(|day| (day.day, day.cost.map(Cost::nano_dollars))).collect::<Vec<_>>()
        };
        let unknown = ("2026-11-02".to_owned(), None);
        let first = |cost: u64| ("2026-11-01".to_owned(), Some(cost));
        assert_eq!(costs(None), [first(7), unknown.clone()]);
        assert_eq!(costs(Some("/a")), [first(3), unknown]);
        assert_eq!(costs(Some("/c")), []);
    }

    #[test]
    fn sessions_that_agents_read_are_counted_once_each() {
        let home = Home::new();
        let mut state = home.open();
        let on = |session: &str| SpentOn { project: None, session: session.to_owned() };
        let by = |model: &str, role: Role| Spent {
            role,
            model: model.parse().unwrap(),
            ..make_spent(9, None)
        };
        let agent = by("claude-code/haiku", Role::Extract);
        state.spend(&on("early"), &agent, at(0)).unwrap();
        for session in ["a", "a", "b"] {
            state.spend(&on(session), &agent, at(100)).unwrap();
        }
        state.spend(&on("c"), &by("codex/default", Role::Summarize), at(100)).unwrap();
        state.spend(&on("led"), &by("claude-code/haiku", Role::Lead), at(100)).unwrap();
        state.spend(&on("ask"), &by("codex/default", Role::Ask), at(100)).unwrap();
        state.spend(&on("served"), &by("openai/gpt-5", Role::Extract), at(100)).unwrap();
        assert_eq!(state.agent_sessions(at(50), "new").unwrap(), 4);
        assert_eq!(state.agent_sessions(at(50), "a").unwrap(), 3);
        assert_eq!(state.agent_sessions(at(0), "new").unwrap(), 5);
    }

    #[test]
    fn what_was_spent_is_added_up_by_time_project_and_session() {
        let home = Home::new();
        let mut state = home.open();
        let on = |project: Option<&str>, session: &str| SpentOn {
            project: project.map(str::to_owned),
            session: session.to_owned(),
        };
        state.spend(&on(Some("/a"), "s1"), &make_spent(9, Some(5)), at(0)).unwrap();
        state.spend(&on(Some("/a"), "s2"), &make_spent(19, None), at(100)).unwrap();
        state.spend(&on(None, "s1"), &make_spent(29, Some(7)), at(200)).unwrap();
        let sum = |filter: SpentFilter<'_>| {
            let SpentSum { calls, amount, unpriced_calls } = state.sum_spending(filter).unwrap();
            (calls, amount.tokens, amount.cost.nano_dollars(), unpriced_calls)
        };
        let all = SpentFilter::default();
        assert_eq!(sum(all), (3, 60, 12, 1));
        assert_eq!(sum(SpentFilter { since: Some(at(100)), ..all }), (2, 50, 7, 1));
        assert_eq!(sum(SpentFilter { project: Some("/a"), ..all }), (2, 30, 5, 1));
        assert_eq!(sum(SpentFilter { session: Some("s1"), ..all }), (2, 40, 12, 0));
        assert_eq!(sum(SpentFilter { session: Some("s3"), ..all }), (0, 0, 0, 0));
    }

    #[test]
    fn numbers_without_bounds_can_be_added_up() {
        let home = Home::new();
        let mut state = home.open();
        let on = SpentOn { project: None, session: "s".to_owned() };
        for _ in 0..3 {
            state.spend(&on, &make_spent(u64::MAX, Some(u64::MAX)), at(0)).unwrap();
        }
        let sum = state.sum_spending(SpentFilter::default()).unwrap();
        assert_eq!((sum.calls, sum.amount.tokens), (3, 9_000_000_000_000_000_000));
    }

    #[test]
    fn rows_that_count_for_no_limit_are_let_go() {
        let home = Home::new();
        let mut state = home.open();
        let on = SpentOn { project: None, session: "s".to_owned() };
        state.spend(&on, &make_spent(1, None), at(0)).unwrap();
        state.spend(&on, &make_spent(2, None), at(401 * 24 * 3600)).unwrap();
        assert_eq!(state.sum_spending(SpentFilter::default()).unwrap().calls, 1);
    }
}

#[cfg(test)]
mod facts_tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let hundred: Vec<u64> = (1..=100).collect();
        for (sorted, p50, p95) in [
            (&hundred[..], 50, 95),
            (&[7][..], 7, 7),
            (&[1, 9][..], 1, 9),
            (&[][..], 0, 0),
            (&[1, 2, 3][..], 2, 3),
        ] {
            assert_eq!((percentile(sorted, 50), percentile(sorted, 95)), (p50, p95), "{sorted:?}");
        }
    }
}
