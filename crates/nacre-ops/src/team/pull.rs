//! Pulls memories from a team's server, and stores transcripts that team members send to this
//! server.

use jiff::SignedDuration;
use nacre_base::fs::{FolderEntry, Writer};
use nacre_memory::Brought;
use nacre_types::{
    EmptyRequest, HandOverRequest, ItemId, MovedMemories, MovedMemory, OfferReport, OfferedMemory,
    PullReport, RunMode, TranscriptEntry, TranscriptListReport, TranscriptPutReport,
    TranscriptPutRequest, TranscriptShowReport, TranscriptState,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::push::{MAX_MEMORIES, bring};
use super::{Remote, TeamState, Version};
use crate::host::if_there;
use crate::prelude::*;
use crate::recording::CommandChange;
use crate::run::change::Reversal;

/// Maximum number of memories per pull. The next pull fetches the rest.
const MAX_BROUGHT: usize = 2000;

/// Maximum number of pages. A server that returns more pages than this is faulty.
const MAX_PAGES: usize = 200;

pub fn pull(host: &Host, dry_run: bool, events: &Events) -> Result<PullReport> {
    let remote = Remote::open(host, None, None)?;
    let mut state = remote.read_state()?;
    let mut report = PullReport {
        from: remote.url.clone(),
        project: remote.project.clone(),
        dry_run,
        ..PullReport::default()
    };
    let offered = fetch_offered(&remote, events)?;
    let store = &remote.scoped.store;
    let mut wanted = select_wanted(store, &state, offered, &mut report)?;
    if dry_run {
        let is_new = |id: &String| !state.came.contains_key(id);
        let ids = wanted.into_iter().map(|(memory, _)| memory.id);
        (report.new, report.updated) = ids.partition(is_new);
        return Ok(report);
    }
    report.waiting = wanted.len().saturating_sub(MAX_BROUGHT);
    wanted.truncate(MAX_BROUGHT);
    if !wanted.is_empty() {
        let brought = fetch(&remote, &wanted, events)?;
        store_all(host, &remote, &brought, &mut state, &mut report)?;
        remote.write_state(&state)?;
    }
    Ok(report)
}

fn fetch_offered(remote: &Remote<'_>, events: &Events) -> Result<Vec<OfferedMemory>> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    for _ in 0..MAX_PAGES {
        events.check_cancelled()?;
        let query: Vec<(&str, &str)> =
            after.iter().map(|after| ("after", after.as_str())).collect();
        let OfferReport { memories, more } = remote.get("/api/pull", &query)?;
        all.extend(memories);
        match more {
            // Stop if the pages do not advance, to prevent an endless loop.
            Some(more) if after.as_ref() < Some(&more) => after = Some(more),
            Some(_) | None => break,
        }
    }
    Ok(all)
}

/// A memory to fetch, and the hash of the local version that it may replace.
type Wanted = (OfferedMemory, Option<ContentHash>);

/// Selects memories that do not exist locally, and received memories that have since changed on the
/// server but not locally.
fn select_wanted(
    store: &Store,
    state: &TeamState,
    offered: Vec<OfferedMemory>,
    report: &mut PullReport,
) -> Result<Vec<Wanted>> {
    let mut wanted = Vec::new();
    for memory in offered {
        let Ok(id) = memory.id.parse::<MemoryId>() else { continue };
        let came = state.came.get(&memory.id);
        let here = match store.places(&id)?.first() {
            Some(at) => Some(ContentHash::of(&store.read_file(&at.path)?)),
            None => None,
        };
        let is_known = came.is_some_and(|came| came.there == memory.hash);
        let unchanged =
            came.and_then(|came| came.here.parse().ok()).filter(|was| here == Some(*was));
        match here {
            Some(hash) if is_known || hash.to_string() == memory.hash => report.same += 1,
            None if is_known => report.forgotten += 1,
            None => wanted.push((memory, None)),
            Some(_) if unchanged.is_some() => wanted.push((memory, unchanged)),
            Some(_) => report.differ.push(memory.id),
        }
    }
    Ok(wanted)
}

type Fetched = (MovedMemory, Wanted);

fn fetch(remote: &Remote<'_>, wanted: &[Wanted], events: &Events) -> Result<Vec<Fetched>> {
    let mut fetched = Vec::new();
    for part in wanted.chunks(MAX_MEMORIES) {
        events.check_cancelled()?;
        let ids = part.iter().map(|(memory, _)| memory.id.clone()).collect();
        let MovedMemories { memories } = remote.post("/api/pull", &HandOverRequest { ids })?;
        for memory in memories {
            let asked = part.iter().find(|(offered, _)| offered.id == memory.id);
            // Ignore memories that were not requested.
            let Some(asked) = asked else { continue };
            if !fetched.iter().any(|(before, _): &Fetched| before.id == memory.id) {
                fetched.push((memory, asked.clone()));
            }
        }
    }
    Ok(fetched)
}

/// Writes all memories as a single change, which can be undone.
fn store_all(
    host: &Host,
    remote: &Remote<'_>,
    fetched: &[Fetched],
    state: &mut TeamState,
    report: &mut PullReport,
) -> Result<()> {
    let store = &remote.scoped.store;
    let mut batch = store.begin(&host.owner("pull"), host.settings().lock.wait)?;
    for (memory, (_, replaces)) in fetched {
        let id = memory.id.clone();
        match bring(&mut batch, memory, *replaces).ok().flatten() {
            Some(Brought::New) => report.new.push(id),
            Some(Brought::Updated) => report.updated.push(id),
            Some(Brought::Same) => report.same += 1,
            Some(Brought::Forgotten) => report.forgotten += 1,
            Some(Brought::Differs) | None => report.differ.push(id),
        }
    }
    if !report.new.is_empty() || !report.updated.is_empty() {
        let command = CommandChange::new(RunMode::Import, "pull");
        command.commit(host, &remote.scoped, batch, Reversal::Plan)?;
        report.change = command.id();
    }
    for (memory, (offered, _)) in fetched {
        let Ok(id) = memory.id.parse::<MemoryId>() else { continue };
        let Some(at) = store.places(&id)?.into_iter().next() else { continue };
        let here = ContentHash::of(&store.read_file(&at.path)?).to_string();
        let is_ours = report.differ.contains(&memory.id);
        if !is_ours {
            let there = offered.hash.clone();
            state.came.insert(memory.id.clone(), Version { there, here });
        }
    }
    Ok(())
}

const INBOX: &str = "inbox";

pub(super) const MAX_TRANSCRIPT_BYTES: u64 = 4 << 20;

const MAX_TRANSCRIPTS: usize = 5000;

/// How long an incomplete transcript is kept after its last part arrives.
const PART_LIFE: SignedDuration = SignedDuration::from_hours(24);

const MAX_NAME: usize = 200;

const MAX_FACTS_BYTES: u64 = 16 << 10;

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

struct Inbox {
    scope: WriteScope,
}

/// Stores a part of a transcript. After the last part, the transcript is accepted if its hash is
/// correct.
pub fn put(host: &Host, request: &TranscriptPutRequest) -> Result<TranscriptPutReport> {
    let TranscriptPutRequest { agent, session, hash, bytes, offset, text, share } = request;
    let answer = |state, received| Ok(TranscriptPutReport { state, received });
    let is_name = |name: &str| !name.is_empty() && name.len() <= MAX_NAME;
    if !is_name(agent) || !is_name(session) || hash.parse::<ContentHash>().is_err() {
        return answer(TranscriptState::Invalid, 0);
    }
    if MAX_TRANSCRIPT_BYTES < *bytes {
        return answer(TranscriptState::TooLarge, 0);
    }
    let store = host.project_store()?.ok_or_else(|| host.no_project())?.store;
    let inbox = Inbox::of_caller(host)?;
    let writer = inbox.scope.lock(&host.owner("push"), host.settings().lock.wait)?;
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
    let mut received = inbox.read_part(&part, hash)?;
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
    // The sender has already removed secrets, but this server's rules may detect more.
    writer.write_atomic(&text_path(&id)?, store.redact_text(&received).as_bytes())?;
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

pub fn list(host: &Host, _: &EmptyRequest) -> Result<TranscriptListReport> {
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

pub fn show(host: &Host, request: &ItemId) -> Result<TranscriptShowReport> {
    let (inbox, facts) = find(host, &request.id, &is_visible)?;
    // Redaction can make a stored text exceed the upload limit.
    let bytes = inbox.scope.read(&text_path(&request.id)?, MAX_TRANSCRIPT_BYTES * 2)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(TranscriptShowReport { transcript: entry(request.id.clone(), facts), text })
}

/// Removes a transcript. Only the sender and administrators may remove a transcript.
pub fn forget(host: &Host, request: &ItemId) -> Result<ItemId> {
    let (inbox, _) = find(host, &request.id, &is_own)?;
    let writer = inbox.scope.lock(&host.owner("push"), host.settings().lock.wait)?;
    let part = RelPath::new(&format!("{}.part", request.id))?;
    for path in [text_path(&request.id)?, part, facts_path(&request.id)?] {
        writer.remove_derived(&path)?;
    }
    Ok(ItemId { id: request.id.clone() })
}

/// Shares a transcript. Only the sender and administrators may share a transcript.
pub fn share(host: &Host, request: &ItemId) -> Result<TranscriptShowReport> {
    let (inbox, facts) = find(host, &request.id, &is_own)?;
    let writer = inbox.scope.lock(&host.owner("push"), host.settings().lock.wait)?;
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

/// Finds a transcript. If the caller may not access the transcript, returns the same error as for a
/// missing one.
fn find(host: &Host, id: &str, may: &dyn Fn(&Host, &Facts) -> bool) -> Result<(Inbox, Facts)> {
    let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let inboxes = if is_id { Inbox::all(host)? } else { Vec::new() };
    for inbox in inboxes {
        if let Some(facts) = inbox.facts(id)?.filter(|facts| may(host, facts)) {
            return Ok((inbox, facts));
        }
    }
    Err(OpError::not_found("Transcript not found").hint("nacre push --list"))
}

impl Inbox {
    fn of_caller(host: &Host) -> Result<Self> {
        let (project, person) = (project_of(host)?, person_folder(host));
        let mut scope = host.home_folder(INBOX)?;
        for name in [project, person] {
            scope = WriteScope::create_inside(scope.path(), &name, Access::Private)?;
        }
        Ok(Self { scope })
    }

    fn all(host: &Host) -> Result<Vec<Self>> {
        let folder = host.home()?.join(INBOX);
        let project = project_of(host)?;
        let opened = WriteScope::open_inside(&folder, &project, Access::Private);
        let Some(scope) = if_there(opened)? else { return Ok(Vec::new()) };
        let people = scope.root()?.list()?;
        let folder = folder.join(&project);
        let open = |name: &str| WriteScope::open_inside(&folder, name, Access::Private).ok();
        Ok(people.iter().filter_map(|entry| Some(Self { scope: open(&entry.name)? })).collect())
    }

    fn ids(&self) -> Result<Vec<String>> {
        let entries = self.scope.root()?.list()?;
        let ids = entries.iter().filter_map(|entry| entry.name.strip_suffix(".json"));
        Ok(ids.map(str::to_owned).collect())
    }

    /// Returns the ids of the stored transcripts. Also removes incomplete transcripts that are
    /// older than `oldest`.
    fn ids_in_use(&self, writer: &Writer<'_>, oldest: Timestamp) -> Result<BTreeSet<String>> {
        let folder = self.scope.root()?;
        let is_old = |name: &str| {
            folder.stamp(name).is_some_and(|stamp| stamp.modified < oldest.as_nanosecond())
        };
        let mut ids = BTreeSet::new();
        for FolderEntry { name, .. } in folder.list()? {
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

    fn facts(&self, id: &str) -> Result<Option<Facts>> {
        let bytes = self.scope.read_optional(&facts_path(id)?, MAX_FACTS_BYTES)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn read_part(&self, part: &RelPath, hash: &str) -> Result<String> {
        let bytes = self.scope.read_optional(part, MAX_TRANSCRIPT_BYTES + MAX_NAME as u64)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let of_hash = text.strip_prefix(hash).and_then(|rest| rest.strip_prefix('\n'));
        Ok(of_hash.unwrap_or_default().to_owned())
    }
}

fn write_facts(writer: &Writer<'_>, id: &str, facts: &Facts) -> Result<()> {
    let text = serde_json::to_vec(facts).map_err(std::io::Error::other)?;
    Ok(writer.write_atomic(&facts_path(id)?, &text)?)
}

fn entry(id: String, facts: Facts) -> TranscriptEntry {
    let Facts { person, agent, session, hash, bytes, at, shared } = facts;
    TranscriptEntry { id, person, agent, session, hash, bytes, at, shared }
}

/// Returns an id that is unique for each combination of session, user and project.
fn id_of(host: &Host, agent: &str, session: &str) -> Result<String> {
    let (project, person) = (project_of(host)?, person_folder(host));
    Ok(ContentHash::of(format!("{project}\0{person}\0{agent}\0{session}").as_bytes()).short())
}

/// Returns the name of the caller's directory. The caller's name is hashed, because some file
/// systems do not distinguish names that differ only by case.
fn person_folder(host: &Host) -> String {
    match host.caller.person() {
        Some(person) => ContentHash::of(person.as_bytes()).short(),
        None => "owner".to_owned(),
    }
}

fn project_of(host: &Host) -> Result<String> {
    let name = host.project.as_ref().and_then(|project| project.name.clone());
    name.ok_or_else(|| host.no_project())
}

fn text_path(id: &str) -> Result<RelPath> {
    Ok(RelPath::new(&format!("{id}.jsonl"))?)
}

fn facts_path(id: &str) -> Result<RelPath> {
    Ok(RelPath::new(&format!("{id}.json"))?)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test fills the inbox and ages a file")]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::test::Place;

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
        // This clock is set far in the past, so no file is old.
        let host = place.host_at("2001-01-01T00:00:00Z");
        assert_eq!(put(&host, &piece("first")).unwrap().state, TranscriptState::Partial);
        let folder = place.root().join(".nacre/inbox/work/owner");
        let part = |number: usize| folder.join(format!("{number:016x}.part"));
        for number in 1..MAX_TRANSCRIPTS {
            fs::write(part(number), "").unwrap();
        }
        assert_eq!(put(&host, &piece("second")).unwrap().state, TranscriptState::Full);
        // An interrupted upload of a transcript can be continued.
        let next = TranscriptPutRequest { offset: 2, ..piece("first") };
        assert_eq!(put(&host, &next).unwrap().received, 4);
        let old = fs::File::options().append(true).open(part(1)).unwrap();
        let age = Duration::try_from(PART_LIFE).unwrap() + Duration::from_secs(1);
        old.set_modified(SystemTime::from(host.now()) - age).unwrap();
        assert_eq!(put(&host, &piece("second")).unwrap().state, TranscriptState::Partial);
        assert!(!part(1).exists() && part(2).exists());
    }
}
