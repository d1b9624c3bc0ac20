//! Manages the shared server's access tokens, audit log, database and shared memory index.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use nacre_base::config::projects::Project;
use nacre_memory::search::{News, SharedUnits, place_of_shared_unit};
use nacre_team::people::{
    AuditEntry, AuditFilter, Permissions, TokenHash, TokenRecord, is_person_name, token_text,
};
use nacre_team::postgres::database::{Database, Migration, NEWEST};
use nacre_team::postgres::queue::SharedQueue;
use nacre_team::postgres::search::SharedRecords;
use nacre_traces::catalog::{JobQueue as _, QueueFilter};
use nacre_types::{
    AccessScope, AuditLine, AuditReport, AuditRequest, DatabaseState, MoveStores, MovedStores,
    ProjectScope, ServerMigrateReport, ServerStatusReport, TokenAddReport, TokenAddRequest,
    TokenEntry, TokenListReport, TokenState,
};

use crate::host::{open_catalog, parse_when, unknown_project};
use crate::prelude::*;
use crate::tasks::row_limit;

pub fn status(host: &Host) -> Result<ServerStatusReport> {
    let database = host.require_database()?;
    let seen = host.database_status();
    let seen = seen.ok_or_else(|| OpError::failed("No database is configured"))?;
    let schema = match seen.state {
        DatabaseState::Away => None,
        DatabaseState::Connected | DatabaseState::Slow | DatabaseState::Unusable => {
            database.schema_version().ok()
        }
    };
    let mut sessions = BTreeMap::new();
    if seen.state.is_usable() {
        for counts in SharedQueue::open(&database)?.counts()?.values() {
            for (state, n_found) in &counts.by_state {
                *sessions.entry(state.as_str().to_owned()).or_default() += n_found;
            }
        }
    }
    let next = match schema {
        Some(found) if found < NEWEST => Some("nacre server migrate"),
        Some(_) if seen.state.is_usable() => Some("nacre up"),
        Some(_) => None,
        None => Some("nacre config get server.database"),
    };
    let next = next.map(str::to_owned);
    let server = host.server_id()?;
    Ok(ServerStatusReport { database: seen, schema, needed_schema: NEWEST, sessions, server, next })
}

/// The report contains the token, which is not stored anywhere.
pub fn add_token(host: &Host, request: &TokenAddRequest) -> Result<TokenAddReport> {
    host.check_user("issue a token")?;
    host.check_owner()?;
    let TokenAddRequest { person, scope, projects, expires } = request;
    let permissions = permissions(host, *scope, projects)?;
    let expires = expires.as_deref().map(|text| end(text, host.now())).transpose()?;
    let token = token_text(&host.environment.random_bytes()?);
    let hash = TokenHash::of(&token);
    let new = TokenRecord {
        id: hash.id(),
        person: person.clone(),
        hash,
        permissions,
        created: host.now(),
        expires,
        revoked: None,
    };
    // Reject invalid names before anything is created.
    if !is_person_name(person) {
        let name = person.clone();
        return Err(nacre_team::people::PeopleError::BadName { name }.into());
    }
    let record = host.people_to_change()?.add_token(&new)?;
    Ok(TokenAddReport { token, entry: entry(&record, host.now()) })
}

pub fn list_tokens(host: &Host, person: Option<&str>) -> Result<TokenListReport> {
    host.check_owner()?;
    let mut tokens = match host.people()? {
        Some(people) => people.tokens()?,
        None => Vec::new(),
    };
    tokens.retain(|token| person.is_none_or(|person| *person == token.person));
    Ok(TokenListReport { tokens: tokens.iter().map(|token| entry(token, host.now())).collect() })
}

pub fn revoke_token(host: &Host, id: &str) -> Result<TokenEntry> {
    host.check_owner()?;
    let none = || {
        OpError::not_found(format!("Token `{id}` not found"))
            .hint("`nacre server token` lists all tokens")
    };
    let mut people = host.people()?.ok_or_else(none)?;
    let record = people.revoke(id, host.now())?;
    Ok(entry(&record, host.now()))
}

fn permissions(host: &Host, scope: AccessScope, projects: &[ProjectScope]) -> Result<Permissions> {
    if projects.is_empty() {
        return Ok(Permissions::everywhere(scope));
    }
    let mut permissions = Permissions::default();
    for ProjectScope { project, scope: own } in projects {
        if !host.projects.iter().any(|known| known.name == *project) {
            return Err(unknown_project(&host.projects, project, ErrorCode::NoProject));
        }
        permissions = permissions.with(project, own.unwrap_or(scope));
    }
    Ok(permissions)
}

/// Parses a duration such as `90d` or `12h`, or a date such as `2027-01-31`. A date expires at
/// 00:00 UTC.
fn end(text: &str, now: Timestamp) -> Result<Timestamp> {
    let wrong = || {
        OpError::usage(format!("`{text}` is neither a duration such as 90d nor a future date"))
            .hint("Examples: --expires 90d, --expires 12h, --expires 2027-01-31")
    };
    let hours = [('h', 1), ('d', 24), ('w', 24 * 7)].into_iter().find_map(|(unit, hours)| {
        let count: i64 = text.strip_suffix(unit)?.parse().ok()?;
        (1..=10_000).contains(&count).then(|| count * hours)
    });
    let end = match hours {
        Some(hours) => now.checked_add(SignedDuration::from_hours(hours)).ok(),
        None => text
            .parse::<jiff::civil::Date>()
            .ok()
            .and_then(|day| day.to_zoned(TimeZone::UTC).ok().map(|day| day.timestamp())),
    };
    end.filter(|end| now < *end).ok_or_else(wrong)
}

fn entry(token: &TokenRecord, now: Timestamp) -> TokenEntry {
    let TokenRecord { id, person, permissions, created, expires, revoked, .. } = token;
    let projects = permissions
        .projects()
        .map(|(project, scope)| ProjectScope { project: project.to_owned(), scope: Some(scope) });
    TokenEntry {
        id: id.clone(),
        person: person.clone(),
        everywhere: permissions.everywhere,
        projects: projects.collect(),
        created: created.to_string(),
        expires: expires.map(|time| time.to_string()),
        state: match (revoked, token.is_valid(now)) {
            (Some(_), _) => TokenState::Revoked,
            (None, true) => TokenState::Valid,
            (None, false) => TokenState::Expired,
        },
    }
}

const USUAL: usize = 50;

pub fn audit(host: &Host, request: &AuditRequest) -> Result<AuditReport> {
    host.check_owner()?;
    let AuditRequest { person, project, since, limit } = request;
    let filter = AuditFilter {
        who: person.clone(),
        project: project.clone(),
        since: since.as_deref().map(|since| parse_when(since, host.now())).transpose()?,
        limit: row_limit(*limit, USUAL),
    };
    let entries = match host.people()? {
        Some(people) => people.audit(&filter)?,
        None => Vec::new(),
    };
    let line = |AuditEntry { at, who, what, project, outcome }| AuditLine {
        at: at.to_string(),
        who,
        what,
        project,
        outcome,
    };
    Ok(AuditReport { entries: entries.into_iter().map(line).collect() })
}

const BATCH: usize = 1000;

pub fn migrate(
    host: &Host,
    direction: Option<MoveStores>,
    events: &Events,
) -> Result<ServerMigrateReport> {
    let database = host.require_database()?;
    let Migration { from, to, steps } = database.migrate()?;
    let moved = match direction {
        Some(MoveStores::FromEmbedded) => Some(from_embedded(host, &database, events)?),
        Some(direction @ MoveStores::ToEmbedded) => {
            let jobs = SharedQueue::open(&database)?.jobs(&QueueFilter::default())?;
            let sessions = open_catalog(host)?.adopt(&jobs)? as u64;
            Some(MovedStores { direction, sessions, memories: 0 })
        }
        None => None,
    };
    let next = match direction {
        Some(MoveStores::ToEmbedded) => "nacre config set --unset server.database",
        Some(MoveStores::FromEmbedded) | None => "nacre up",
    };
    let steps = steps.into_iter().map(str::to_owned).collect();
    Ok(ServerMigrateReport { from, to, steps, moved, next: next.to_owned() })
}

/// Copies sessions and memories to the database. Sessions that are already in the database are left
/// unchanged.
fn from_embedded(host: &Host, database: &Database, events: &Events) -> Result<MovedStores> {
    let mut catalog = open_catalog(host)?;
    let mut queue = SharedQueue::open(database)?.for_server(&host.server_id()?);
    // Requeue sessions that were claimed by a crashed sync on this machine.
    catalog.give_back("", host.now())?;
    let offered = catalog.list_offered(0)?;
    queue.offer(&offered)?;
    let jobs = catalog.jobs(&QueueFilter::default())?;
    for batch in jobs.chunks(BATCH) {
        queue.take_runs(batch)?;
    }
    let memories = feed(host, events)? as u64;
    let direction = MoveStores::FromEmbedded;
    Ok(MovedStores { direction, sessions: offered.len() as u64, memories })
}

/// Updates the shared index. Returns `None` if this server is not the leader. Projects that cannot
/// be read are reported and skipped.
///
/// All servers sharing a database must have the same projects, because memories from projects not
/// registered on the leader are removed.
pub fn feed_shared_index(host: &Host, events: &Events) -> Result<Option<usize>> {
    if !host.has_database() || !host.is_leader()? {
        return Ok(None);
    }
    feed(host, events).map(Some)
}

fn feed(host: &Host, events: &Events) -> Result<usize> {
    let Some(mut records) = host.open_shared_records()? else { return Ok(0) };
    let mut units = SharedUnits::new(records.fingerprints()?);
    let mut n_fed = 0;
    for project in host.projects.iter() {
        n_fed += feed_project(host, &mut units, &mut records, project, events)?;
    }
    let names: Vec<&str> = host.projects.iter().map(|project| project.name.as_str()).collect();
    let forgotten = units.forget_others(&names);
    if !forgotten.gone.is_empty() {
        n_fed += apply(&mut records, &forgotten)?;
    }
    Ok(n_fed)
}

/// Removes a memory from the shared index and returns whether it was found. Returns `None` if there
/// is no shared index or the project is not registered. If the database is unavailable, the index
/// is updated later.
pub(super) fn forget_shared(host: &Host, id: &MemoryId, events: &Events) -> Option<Result<bool>> {
    let name = host.project.as_ref().and_then(|project| project.name.as_deref());
    let project = host.projects.iter().find(|project| Some(project.name.as_str()) == name)?;
    if !host.has_database() {
        return None;
    }
    let forgotten = || {
        let Some(mut records) = host.open_shared_records()? else { return Ok(true) };
        let mut units = SharedUnits::new(records.fingerprints()?);
        feed_project(host, &mut units, &mut records, project, events)?;
        let known = records.fingerprints()?;
        let mut places = known.keys().filter_map(|key| place_of_shared_unit(key));
        Ok(!places.any(|(of, at)| of == project.name && at.id == *id))
    };
    Some(forgotten())
}

fn feed_project(
    host: &Host,
    units: &mut SharedUnits,
    records: &mut SharedRecords,
    project: &Project,
    events: &Events,
) -> Result<usize> {
    let store = match host.store_at(&project.path) {
        Ok(scoped) => scoped.store,
        Err(error) => {
            events.warn(&error);
            return Ok(0);
        }
    };
    let mut n_fed = 0;
    while let Some(news) = units.news_of(&project.name, &store, host.now())? {
        events.check_cancelled()?;
        let is_last = !news.is_partial;
        n_fed += apply(records, &news)?;
        if is_last {
            break;
        }
    }
    Ok(n_fed)
}

fn apply(records: &mut SharedRecords, news: &News) -> Result<usize> {
    records.apply(news)?;
    Ok(news.units.len() + news.gone.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::Place;

    #[test]
    fn an_end_lies_in_the_future() {
        let now: Timestamp = "2026-11-17T12:00:00Z".parse().unwrap();
        let ends = |text| end(text, now).map(|end| end.to_string()).ok();
        assert_eq!(ends("90d").as_deref(), Some("2027-02-15T12:00:00Z"));
        assert_eq!(ends("2027-01-31").as_deref(), Some("2027-01-31T00:00:00Z"));
        for wrong in ["", "0d", "-1d", "d", "2026-11-17", "2020-01-01", "soon", "99999999w"] {
            assert_eq!(ends(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_is_shown_once_and_kept_as_a_hash() {
        let place = Place::new();
        let host = place.host();
        let asked = |project: &str| TokenAddRequest {
            person: "ana".to_owned(),
            scope: AccessScope::Write,
            projects: vec![ProjectScope { project: project.to_owned(), scope: None }],
            expires: None,
        };
        assert_eq!(add_token(&host, &asked("nowhere")).unwrap_err().code, ErrorCode::NoProject);
        let name = host.projects.iter().next().unwrap().name.clone();
        let added = add_token(&host, &asked(&name)).unwrap();
        let listed = list_tokens(&host, None).unwrap();
        assert_eq!(listed.tokens, std::slice::from_ref(&added.entry));
        let kept = std::fs::read(host.home().unwrap().join("people.sqlite3")).unwrap();
        let secret = added.token.as_bytes();
        assert!(!kept.windows(secret.len()).any(|piece| piece == secret));
        let revoked = revoke_token(&host, &added.entry.id).unwrap();
        assert_eq!(revoked.state, TokenState::Revoked);
        let unknown = revoke_token(&host, "none");
        assert_eq!(unknown.unwrap_err().code, ErrorCode::NotFound);
    }
}
