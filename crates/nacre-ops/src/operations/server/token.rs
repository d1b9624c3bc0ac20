//! Tokens of people: given, listed, ended.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use nacre_api::wire::{
    AccessScope as WireScope, ErrorCode, ProjectScope, TokenAddReport, TokenAddRequest, TokenEntry,
    TokenListReport, TokenListRequest, TokenRevokeReport, TokenRevokeRequest, TokenState,
};
use nacre_core::people::{
    AccessScope, NewToken, Permissions, TokenHash, TokenRecord, is_person_name, token_text,
};

use crate::error::OpError;
use crate::host::Host;

/// Gives a person a token. Its text is in the report and nowhere else.
pub fn add(host: &Host, request: &TokenAddRequest) -> Result<TokenAddReport, OpError> {
    host.check_user("give somebody a token")?;
    host.check_owner()?;
    let TokenAddRequest { person, scope, projects, expires } = request;
    let permissions = permissions(host, *scope, projects)?;
    let expires = expires.as_deref().map(|text| end(text, host.now())).transpose()?;
    let mut random = [0; 32];
    (host.environment.random)(&mut random)
        .map_err(|error| OpError::failed(format!("The system gives no random bytes: {error}")))?;
    let token = token_text(&random);
    let new = NewToken {
        person: person.clone(),
        hash: TokenHash::of(&token),
        permissions,
        created: host.now(),
        expires,
    };
    // Nothing is made for a name that cannot be.
    if !is_person_name(person) {
        let name = person.clone();
        return Err(nacre_core::people::PeopleError::BadName { name }.into());
    }
    let record = host.people_to_change()?.add_token(&new)?;
    Ok(TokenAddReport { token, entry: entry(&record, host.now()) })
}

/// Every token, without its text.
pub fn list(host: &Host, request: &TokenListRequest) -> Result<TokenListReport, OpError> {
    host.check_owner()?;
    let TokenListRequest { person } = request;
    let mut tokens = match host.people()? {
        Some(people) => people.tokens()?,
        None => Vec::new(),
    };
    tokens.retain(|token| person.as_ref().is_none_or(|person| *person == token.person));
    Ok(TokenListReport { tokens: tokens.iter().map(|token| entry(token, host.now())).collect() })
}

/// Ends a token at once.
pub fn revoke(host: &Host, request: &TokenRevokeRequest) -> Result<TokenRevokeReport, OpError> {
    host.check_owner()?;
    let TokenRevokeRequest { id } = request;
    let none = || {
        OpError::not_found(format!("There is no token `{id}`"))
            .hint("`nacre server token list` shows every token")
    };
    let mut people = host.people()?.ok_or_else(none)?;
    let record = people.revoke(id, host.now())?;
    Ok(TokenRevokeReport { entry: entry(&record, host.now()) })
}

fn permissions(
    host: &Host,
    scope: WireScope,
    projects: &[ProjectScope],
) -> Result<Permissions, OpError> {
    let core = |scope: WireScope| match scope {
        WireScope::Read => AccessScope::Read,
        WireScope::Write => AccessScope::Write,
        WireScope::Admin => AccessScope::Admin,
    };
    if projects.is_empty() {
        return Ok(Permissions::everywhere(core(scope)));
    }
    let mut permissions = Permissions::default();
    for ProjectScope { project, scope: own } in projects {
        if !host.projects.iter().any(|known| known.name == *project) {
            let message = format!("No project is named `{project}`");
            let error = OpError { code: ErrorCode::NoProject, ..OpError::failed(message) };
            return Err(match host.projects.nearest(project) {
                Some(name) => error.hint(format!("Did you mean `{name}`?")),
                None => error.hint("`nacre project list` shows every project"),
            });
        }
        permissions = permissions.with(project, core(own.unwrap_or(scope)));
    }
    Ok(permissions)
}

/// When a token ends: after a time such as `90d` or `12h`, or when a day such as `2027-01-31` begins.
fn end(text: &str, now: Timestamp) -> Result<Timestamp, OpError> {
    let wrong = || {
        OpError::usage(format!("`{text}` is neither a time such as 90d nor a day to come"))
            .hint("--expires 90d, --expires 12h or --expires 2027-01-31")
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
    let wire = |scope: AccessScope| match scope {
        AccessScope::Read => WireScope::Read,
        AccessScope::Write => WireScope::Write,
        AccessScope::Admin => WireScope::Admin,
    };
    let projects = permissions.projects().map(|(project, scope)| ProjectScope {
        project: project.to_owned(),
        scope: Some(wire(scope)),
    });
    TokenEntry {
        id: id.clone(),
        person: person.clone(),
        everywhere: permissions.scope_everywhere().map(wire),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::testing::Place;

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
            scope: WireScope::Write,
            projects: vec![ProjectScope { project: project.to_owned(), scope: None }],
            expires: None,
        };
        assert_eq!(add(&host, &asked("nowhere")).unwrap_err().code, ErrorCode::NoProject);
        let name = host.projects.iter().next().unwrap().name.clone();
        let added = add(&host, &asked(&name)).unwrap();
        let listed = list(&host, &TokenListRequest::default()).unwrap();
        assert_eq!(listed.tokens, std::slice::from_ref(&added.entry));
        let kept = std::fs::read(host.home().unwrap().join("people.sqlite3")).unwrap();
        let secret = added.token.as_bytes();
        assert!(!kept.windows(secret.len()).any(|piece| piece == secret));
        let revoked = revoke(&host, &TokenRevokeRequest { id: added.entry.id }).unwrap();
        assert_eq!(revoked.entry.state, TokenState::Revoked);
        let unknown = revoke(&host, &TokenRevokeRequest { id: "none".to_owned() });
        assert_eq!(unknown.unwrap_err().code, ErrorCode::NotFound);
    }
}
