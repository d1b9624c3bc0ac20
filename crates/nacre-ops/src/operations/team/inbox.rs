//! The transcripts that people sent to a server: each person's in a folder of their own below the server's home.
//!
//! They are stored, listed, shown, shared and forgotten, and nothing else: no sync reads them and no search finds them. Whoever did not send
//! one, and may not do everything, is told of it only when it is shared.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use nacre_api::wire::{
    TranscriptEntry, TranscriptForgetReport, TranscriptListReport, TranscriptListRequest,
    TranscriptPutReport, TranscriptPutRequest, TranscriptRequest, TranscriptShowReport,
    TranscriptState,
};
use nacre_core::base::ContentHash;
use nacre_core::safefs::{Access, Entry, RelPath, WriteScope, Writer};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::OpError;
use crate::host::Host;

/// The folder below the home.
const INBOX: &str = "inbox";

/// No transcript is larger.
pub(super) const MAX_BYTES: u64 = 4 << 20;

/// Transcripts of one person in one project, also unfinished ones.
const MAX_TRANSCRIPTS: usize = 5000;

/// How long an unfinished transcript is kept after its last piece.
const PART_LIFE: SignedDuration = SignedDuration::from_hours(24);

/// The longest name of a session or an agent.
const MAX_NAME: usize = 200;

/// What stands beside a transcript is never larger.
const MAX_FACTS_BYTES: u64 = 16 << 10;

/// What is known about a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Facts {
    person: Option<String>,
    agent: String,
    session: String,
    hash: String,
    bytes: u64,
    at: String,
    shared: bool,
}

/// The transcripts of one person in one project.
struct Inbox {
    scope: WriteScope,
}

/// Takes in a piece. The whole is kept when its last piece is there and it is what its hash says.
pub fn put(host: &Host, request: &TranscriptPutRequest) -> Result<TranscriptPutReport, OpError> {
    let TranscriptPutRequest { agent, session, hash, bytes, offset, text, share } = request;
    let answer = |state, received| Ok(TranscriptPutReport { state, received });
    let is_name = |name: &str| !name.is_empty() && name.len() <= MAX_NAME;
    if !is_name(agent) || !is_name(session) || hash.parse::<ContentHash>().is_err() {
        return answer(TranscriptState::Invalid, 0);
    }
    if MAX_BYTES < *bytes {
        return answer(TranscriptState::TooLarge, 0);
    }
    let store = host.project_store()?.ok_or_else(|| host.no_project())?.store;
    let inbox = Inbox::of_caller(host)?;
    let writer = inbox.scope.lock(&host.owner("push"), wait(host))?;
    let id = id_of(host, agent, session)?;
    if let Some(facts) = inbox.facts(&id)?.filter(|facts| facts.hash == *hash) {
        if *share && !facts.shared {
            write_facts(&writer, &id, &Facts { shared: true, ..facts })?;
        }
        return answer(TranscriptState::Known, *bytes);
    }
    let ids = inbox.ids_in_use(&writer, host.now() - PART_LIFE)?;
    if !ids.contains(&id) && MAX_TRANSCRIPTS <= ids.len() {
        return answer(TranscriptState::Full, 0);
    }
    let part = RelPath::new(&format!("{id}.part"))?;
    let mut received = inbox.received(&part, hash)?;
    if received.len() as u64 != *offset {
        return answer(TranscriptState::Partial, received.len() as u64);
    }
    received.push_str(text);
    let n_received = received.len() as u64;
    if n_received < *bytes && !text.is_empty() {
        writer.write_atomic(&part, format!("{hash}\n{received}").as_bytes())?;
        return answer(TranscriptState::Partial, n_received);
    }
    let is_whole = ContentHash::of(received.as_bytes()).to_string() == *hash;
    let is_transcript =
        received.lines().all(|line| serde_json::from_str::<IgnoredAny>(line).is_ok());
    writer.remove_derived(&part)?;
    if n_received != *bytes || !is_whole || !is_transcript {
        return answer(TranscriptState::Invalid, 0);
    }
    // Whoever sent it took the secrets out; what the rules here know beyond that goes as well.
    writer.write_atomic(&text_path(&id)?, store.redacted(&received).as_bytes())?;
    let facts = Facts {
        person: host.caller.person().map(str::to_owned),
        agent: agent.clone(),
        session: session.clone(),
        hash: hash.clone(),
        bytes: *bytes,
        at: host.now().to_string(),
        shared: *share,
    };
    write_facts(&writer, &id, &facts)?;
    answer(TranscriptState::Taken, n_received)
}

pub fn list(host: &Host, _: &TranscriptListRequest) -> Result<TranscriptListReport, OpError> {
    let mut transcripts = Vec::new();
    for inbox in Inbox::all(host)? {
        for id in inbox.ids()? {
            let facts = inbox.facts(&id)?.filter(|facts| is_visible(host, facts));
            transcripts.extend(facts.map(|facts| entry(id, facts)));
        }
    }
    transcripts.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.id.cmp(&b.id)));
    Ok(TranscriptListReport { transcripts })
}

pub fn show(host: &Host, request: &TranscriptRequest) -> Result<TranscriptShowReport, OpError> {
    let (inbox, facts) = found(host, &request.id, &is_visible)?;
    // Rules that take out a secret may make it a little longer.
    let bytes = inbox.scope.read(&text_path(&request.id)?, MAX_BYTES * 2)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(TranscriptShowReport { transcript: entry(request.id.clone(), facts), text })
}

/// Removes a transcript for good. Only whoever sent it may, and whoever may do everything.
pub fn forget(host: &Host, request: &TranscriptRequest) -> Result<TranscriptForgetReport, OpError> {
    let (inbox, _) = found(host, &request.id, &is_own)?;
    let writer = inbox.scope.lock(&host.owner("push"), wait(host))?;
    let part = RelPath::new(&format!("{}.part", request.id))?;
    for path in [text_path(&request.id)?, part, facts_path(&request.id)?] {
        writer.remove_derived(&path)?;
    }
    Ok(TranscriptForgetReport { id: request.id.clone() })
}

/// Lets everybody read a transcript who may read the project. Only whoever sent it may, and whoever may do everything.
pub fn share(host: &Host, request: &TranscriptRequest) -> Result<TranscriptShowReport, OpError> {
    let (inbox, facts) = found(host, &request.id, &is_own)?;
    let writer = inbox.scope.lock(&host.owner("push"), wait(host))?;
    write_facts(&writer, &request.id, &Facts { shared: true, ..facts })?;
    drop(writer);
    show(host, request)
}

fn is_own(host: &Host, facts: &Facts) -> bool {
    facts.person.as_deref() == host.caller.person() || host.caller.permissions.allow_everything()
}

fn is_visible(host: &Host, facts: &Facts) -> bool {
    facts.shared || is_own(host, facts)
}

/// A transcript that the caller may have. Of any other the answer is the one for a name that nobody has.
fn found(
    host: &Host,
    id: &str,
    may: &dyn Fn(&Host, &Facts) -> bool,
) -> Result<(Inbox, Facts), OpError> {
    let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let inboxes = if is_id { Inbox::all(host)? } else { Vec::new() };
    for inbox in inboxes {
        if let Some(facts) = inbox.facts(id)?.filter(|facts| may(host, facts)) {
            return Ok((inbox, facts));
        }
    }
    Err(OpError::not_found("There is no such transcript").hint("nacre push --list"))
}

impl Inbox {
    /// That of the caller, made where it is missing.
    fn of_caller(host: &Host) -> Result<Self, OpError> {
        let (project, person) = (project_of(host)?, person_folder(host));
        host.home_scope()?;
        let mut folder = host.home()?.to_owned();
        for name in [INBOX, project.as_str()] {
            WriteScope::create_inside(&folder, name, Access::Private)?;
            folder.push(name);
        }
        let scope = WriteScope::create_inside(&folder, &person, Access::Private)?;
        Ok(Self { scope })
    }

    /// Those of everybody in the project.
    fn all(host: &Host) -> Result<Vec<Self>, OpError> {
        let folder = host.home()?.join(INBOX);
        let project = project_of(host)?;
        let scope = match WriteScope::open_inside(&folder, &project, Access::Private) {
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            scope => scope?,
        };
        let people = scope.root()?.list()?;
        let folder = folder.join(&project);
        let open = |name: &str| WriteScope::open_inside(&folder, name, Access::Private).ok();
        Ok(people.iter().filter_map(|entry| Some(Self { scope: open(&entry.name)? })).collect())
    }

    fn ids(&self) -> Result<Vec<String>, OpError> {
        let entries = self.scope.root()?.list()?;
        let ids = entries.iter().filter_map(|entry| entry.name.strip_suffix(".json"));
        Ok(ids.map(str::to_owned).collect())
    }

    /// The ids that have a file, after the parts from before `oldest` are removed.
    fn ids_in_use(
        &self,
        writer: &Writer<'_>,
        oldest: Timestamp,
    ) -> Result<BTreeSet<String>, OpError> {
        let folder = self.scope.root()?;
        let is_old = |name: &str| {
            folder.stamp(name).is_some_and(|stamp| stamp.modified < oldest.as_nanosecond())
        };
        let mut ids = BTreeSet::new();
        for Entry { name, .. } in folder.list()? {
            match name.rsplit_once('.') {
                Some((_, "part")) if is_old(&name) => {
                    writer.remove_derived(&RelPath::new(&name)?)?;
                }
                Some((id, "json" | "part")) => drop(ids.insert(id.to_owned())),
                Some(_) | None => {}
            }
        }
        Ok(ids)
    }

    fn facts(&self, id: &str) -> Result<Option<Facts>, OpError> {
        let bytes = self.scope.read_optional(&facts_path(id)?, MAX_FACTS_BYTES)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// What came so far of the version with this hash.
    fn received(&self, part: &RelPath, hash: &str) -> Result<String, OpError> {
        let bytes = self.scope.read_optional(part, MAX_BYTES + MAX_NAME as u64)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let of_hash = text.strip_prefix(hash).and_then(|rest| rest.strip_prefix('\n'));
        Ok(of_hash.unwrap_or_default().to_owned())
    }
}

fn write_facts(writer: &Writer<'_>, id: &str, facts: &Facts) -> Result<(), OpError> {
    let text = serde_json::to_vec(facts).map_err(std::io::Error::other)?;
    Ok(writer.write_atomic(&facts_path(id)?, &text)?)
}

fn entry(id: String, facts: Facts) -> TranscriptEntry {
    let Facts { person, agent, session, hash, bytes, at, shared } = facts;
    TranscriptEntry { id, person, agent, session, hash, bytes, at, shared }
}

/// One name a session of a person in a project.
fn id_of(host: &Host, agent: &str, session: &str) -> Result<String, OpError> {
    let (project, person) = (project_of(host)?, person_folder(host));
    Ok(ContentHash::of(format!("{project}\0{person}\0{agent}\0{session}").as_bytes()).short())
}

/// Names differ by case alone at times, and folders may not.
fn person_folder(host: &Host) -> String {
    match host.caller.person() {
        Some(person) => ContentHash::of(person.as_bytes()).short(),
        None => "owner".to_owned(),
    }
}

fn project_of(host: &Host) -> Result<String, OpError> {
    let name = host.project.as_ref().and_then(|project| project.name.clone());
    name.ok_or_else(|| host.no_project())
}

fn text_path(id: &str) -> Result<RelPath, OpError> {
    Ok(RelPath::new(&format!("{id}.jsonl"))?)
}

fn facts_path(id: &str) -> Result<RelPath, OpError> {
    Ok(RelPath::new(&format!("{id}.json"))?)
}

fn wait(host: &Host) -> Duration {
    host.settings().lock.wait
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test fills the inbox and ages a file")]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;
    use crate::operations::testing::Place;

    fn piece(session: &str) -> TranscriptPutRequest {
        TranscriptPutRequest {
            agent: "claude".to_owned(),
            session: session.to_owned(),
            hash: ContentHash::of(b"never whole").to_string(),
            bytes: 100,
            offset: 0,
            text: "{}".to_owned(),
            share: false,
        }
    }

    #[test]
    fn unfinished_transcripts_count_and_old_ones_go() {
        let place = Place::new();
        // By this clock no file of today is old.
        let host = place.host_at("2001-01-01T00:00:00Z");
        assert_eq!(put(&host, &piece("first")).unwrap().state, TranscriptState::Partial);
        let folder = place.root().join(".nacre/inbox/work/owner");
        let part = |number: usize| folder.join(format!("{number:016x}.part"));
        for number in 1..MAX_TRANSCRIPTS {
            fs::write(part(number), "").unwrap();
        }
        assert_eq!(put(&host, &piece("second")).unwrap().state, TranscriptState::Full);
        // One that has begun continues.
        let next = TranscriptPutRequest { offset: 2, ..piece("first") };
        assert_eq!(put(&host, &next).unwrap().received, 4);
        let old = fs::File::options().append(true).open(part(1)).unwrap();
        let age = Duration::try_from(PART_LIFE).unwrap() + Duration::from_secs(1);
        old.set_modified(SystemTime::from(host.now()) - age).unwrap();
        assert_eq!(put(&host, &piece("second")).unwrap().state, TranscriptState::Partial);
        assert!(!part(1).exists() && part(2).exists());
    }
}
