//! Lists, searches and shows memories, either in the stores of the current project and the user, or
//! in all registered projects.

use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};

use nacre_base::{ContentHash, ShownLine, parse_time};
use nacre_memory::recall::GradedHit;
use nacre_memory::search::{
    Graph, GraphOptions, LibraryOptions, MemoryOptions, Mode, Query, Readable, RecordHit,
    place_of_shared_unit, snippet, spellings,
};
use nacre_memory::{
    Actor, Evidence, Feedback, LearningKind, Located, Memory, MemoryType, ShortIds, Status,
    StoreArea, Trust, Unreadable,
};
use nacre_traces::catalog::Catalog;
use nacre_types::{
    BrokenFile, FoundMemory, GraphNode, GraphReport, GraphRequest, MemoryEntry, MemoryEvidence,
    MemoryFeedback, MemoryLink, MemoryListReport, MemoryListRequest, MemoryRelatedReport,
    MemoryRelatedRequest, MemorySearchReport, MemorySearchRequest, MemoryShowReport,
    MemoryShowRequest, MemorySort, RelatedMemory, SaidBy, Scope, TrustLevel, WhyFound,
};

use crate::host::{LocatedStore, ScopedStore, SearchableStore, search_stores};
use crate::prelude::*;
use crate::run::change::changes;
use crate::trace::session_of;

pub fn list(host: &Host, request: &MemoryListRequest) -> Result<MemoryListReport> {
    let MemoryListRequest { r#type, kind, status, tag, archived, all, .. } = request;
    let MemoryListRequest { sort, offset, limit, scope, .. } = request;
    let wanted_type = *r#type;
    let area = if *archived { StoreArea::Archived } else { StoreArea::Active };
    let stores = host.stores_to_read(*scope)?;
    let mut found = Vec::new();
    let mut unreadable = Vec::new();
    for scoped in &stores {
        let listing = scoped.store.outlines(|at| {
            at.area == area && wanted_type.is_none_or(|wanted| at.memory_type == wanted)
        })?;
        let is_asked_for = |memory: &Memory| {
            let has_tag = tag.as_ref().is_none_or(|tag| memory.tags.contains(tag));
            let has_kind = kind.is_none_or(|kind| memory.kind == Some(kind));
            let has_status = status.is_none_or(|status| memory.status == status);
            has_tag && has_kind && has_status
        };
        let asked_for = listing.memories.into_iter().filter(is_asked_for);
        found.extend(asked_for.map(|memory| (memory, scoped, None)));
        unreadable.extend(listing.broken.iter().map(|file| to_broken_file(file, scoped)));
    }
    let is_owner = host.actor == Actor::Owner;
    if !is_owner {
        grade(host, &stores, &mut found);
        found.retain(|(.., trust)| trust.is_some_and(|trust| trust != Trust::Quarantined));
    }
    let n_found = found.len();
    if !all && wanted_type.is_none() {
        found.retain(|(memory, ..)| memory.at.memory_type != MemoryType::Summary);
    }
    let hidden_summaries = Some(n_found - found.len()).filter(|n_hidden| *n_hidden > 0);
    found.sort_by(|(a, of_a, _), (b, of_b, _)| {
        let newest = || b.updated.cmp(&a.updated).then_with(|| b.at.id.cmp(&a.at.id));
        let usual = || of_a.scope.cmp(&of_b.scope).then_with(newest);
        sort.map_or(Ordering::Equal, |sort| compare(a, b, sort)).then_with(usual)
    });
    let total = found.len();
    found.drain(..total.min(*offset));
    found.truncate(host.max_results(*limit));
    if is_owner {
        grade(host, &stores, &mut found);
    }
    let memories = found.iter().map(list_entry).collect();
    Ok(MemoryListReport { memories, total, hidden_summaries, broken: unreadable })
}

type Listed<'s> = (Memory, &'s ScopedStore, Option<Trust>);

fn grade(host: &Host, stores: &[ScopedStore], found: &mut [Listed<'_>]) {
    for scoped in stores {
        let here = found.iter_mut().filter(|(_, of, _)| std::ptr::eq(*of, scoped));
        let here: Vec<&mut Listed<'_>> = here.collect();
        let files: Vec<Located> = here.iter().map(|(memory, ..)| memory.at.clone()).collect();
        for (one, trust) in here.into_iter().zip(host.levels(scoped, &files)) {
            one.2 = trust;
        }
    }
}

/// Converts a memory to a list entry. Omits the text if the memory is quarantined.
fn list_entry((memory, scoped, trust): &Listed<'_>) -> MemoryEntry {
    let entry = MemoryEntry { trust: trust.and_then(label), ..entry(memory, scoped) };
    match trust {
        Some(Trust::Quarantined) => {
            MemoryEntry { title: String::new(), tags: Vec::new(), applies: Vec::new(), ..entry }
        }
        _ => entry,
    }
}

/// Compares memories by a field. Missing values sort last.
fn compare(a: &Memory, b: &Memory, sort: MemorySort) -> Ordering {
    let title = |memory: &Memory| Some(memory.title.to_lowercase());
    match sort {
        MemorySort::Updated => in_order(a.updated, b.updated, false),
        MemorySort::UpdatedDescending => in_order(a.updated, b.updated, true),
        MemorySort::Created => in_order(a.created, b.created, false),
        MemorySort::CreatedDescending => in_order(a.created, b.created, true),
        MemorySort::Title => in_order(title(a), title(b), false),
        MemorySort::TitleDescending => in_order(title(a), title(b), true),
        MemorySort::Confidence => in_order(a.confidence, b.confidence, false),
        MemorySort::ConfidenceDescending => in_order(a.confidence, b.confidence, true),
    }
}

fn in_order<T: PartialOrd>(a: Option<T>, b: Option<T>, is_descending: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if is_descending => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (Some(a), Some(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

pub(crate) fn entry(memory: &Memory, scoped: &ScopedStore) -> MemoryEntry {
    MemoryEntry {
        id: memory.at.id.to_string(),
        r#type: memory.at.memory_type,
        kind: memory.kind.map(LearningKind::as_str).map(str::to_owned),
        title: memory.title.clone(),
        status: memory.status.as_str().to_owned(),
        confidence: memory.confidence,
        tags: memory.tags.clone(),
        applies: memory.applies.clone(),
        related: memory.related.iter().map(ToString::to_string).collect(),
        created: memory.created.map(|time| time.to_string()),
        updated: memory.updated.map(|time| time.to_string()),
        archived: memory.at.area == StoreArea::Archived,
        scope: scoped.scope,
        path: scoped.store.path().join(memory.at.path.as_str()).display().to_string(),
        trust: None,
        replaced_by: memory.superseded_by.as_ref().map(ToString::to_string),
    }
}

pub(crate) fn label_entry(memory: &Memory, scoped: &ScopedStore) -> MemoryEntry {
    MemoryEntry { trust: label(scoped.store.trust_of(memory)), ..entry(memory, scoped) }
}

/// Returns the level to display, or `None` if memories of this level may be shown without a
/// request.
pub(crate) fn label(trust: TrustLevel) -> Option<TrustLevel> {
    (!trust.is_offered()).then_some(trust)
}

pub(crate) fn to_broken_file(unreadable: &Unreadable, scoped: &ScopedStore) -> BrokenFile {
    BrokenFile {
        path: scoped.store.path().join(unreadable.path.as_str()).display().to_string(),
        line: unreadable.line(),
        message: unreadable.reason(),
    }
}

fn to_found_memory(found: &GradedHit, stores: &[SearchableStore]) -> FoundMemory {
    let (hit, scoped) = (&found.hit, &stores[found.store].scoped);
    let entry = |memory: &Memory| entry(memory, scoped);
    let replaced_by = hit.contradicted_by.as_ref().map(ToString::to_string);
    let memory = entry(&hit.memory);
    let replaced_by = memory.replaced_by.clone().or(replaced_by);
    FoundMemory {
        memory: MemoryEntry { trust: label(found.trust), replaced_by, ..memory },
        score: hit.score,
        snippet: hit.snippet.clone(),
        why: hit.why.clone(),
        history: hit.history.iter().map(entry).collect(),
        same: found.same.iter().map(ToString::to_string).collect(),
        not_verified: hit.find_unverified().map(|older| older.at.id.to_string()).collect(),
    }
}

pub fn search(host: &Host, request: &MemorySearchRequest) -> Result<MemorySearchReport> {
    let query = query(host, request)?;
    let limit = host.max_results(request.limit);
    let options = MemoryOptions { mode: request.mode, limit, archived: request.archived };
    let stores = if request.all_projects {
        let options = MemoryOptions { limit: limit.min(MAX_LIMIT), ..options };
        if let Some(report) = search_shared(host, request, &query, &options)? {
            return Ok(report);
        }
        let projects = host.projects.iter();
        // A store that cannot be opened is skipped.
        let opened = projects.filter_map(|project| host.store_at(&project.path).ok());
        opened.map(|scoped| host.searchable(scoped, "memory search")).collect::<Vec<_>>()
    } else {
        host.searchable_stores(request.scope, "memory search")?
    };
    let wants_summaries = limit == usize::MAX
        || query.facets.iter().any(|(name, value)| name == "type" && value == "summary");
    let wanted = MemoryOptions { limit: limit.saturating_add(SPARE), ..options };
    let mut found = search_stores(&stores, &query, &wanted)?;
    let mut n_summaries = 0;
    found.hits.retain(|found| {
        let is_summary = found.hit.memory.at.memory_type == MemoryType::Summary;
        n_summaries += usize::from(is_summary);
        wants_summaries || !is_summary || n_summaries <= MAX_SUMMARIES
    });
    found.hits.truncate(limit);
    host.settle_found(&stores, &mut found.hits);
    Ok(MemorySearchReport {
        query: request.query.clone(),
        hits: found.hits.iter().map(|hit| to_found_memory(hit, &stores)).collect(),
        total: found.total,
        broken: found.broken.iter().map(|(file, scoped)| to_broken_file(file, scoped)).collect(),
    })
}

fn query(host: &Host, request: &MemorySearchRequest) -> Result<Query> {
    let now = host.now();
    let mut query = Query::parse(&request.query, now);
    if query.is_empty() {
        return Err(OpError::usage("The search is empty").hint("nacre memory search sqlite queue"));
    }
    check_filters(&query)?;
    if let Some(of) = request.r#type {
        query = query.with_facet("type", of.as_str());
    }
    if let Some(tag) = &request.tag {
        query = query.with_facet("tag", tag);
    }
    if let Some(since) = &request.since {
        let time = parse_time(since, now).ok_or_else(|| {
            OpError::usage(format!("`{}` is not a valid date, time or age", ShownLine(since)))
                .hint("Use a form such as 2026-01-31, 2026-01 or 7d")
        })?;
        query.after = Some(time);
    }
    Ok(query)
}

/// Rejects values that no memory can have, instead of finding nothing.
fn check_filters(query: &Query) -> Result<()> {
    for (name, value) in &query.facets {
        let known = match name.as_str() {
            "type" => MemoryType::NAMES,
            "kind" => LearningKind::NAMES,
            "status" => Status::NAMES,
            _ => continue,
        };
        if !known.contains(&value.as_str()) {
            let message = format!("`{}` is not a value of `{name}:`", ShownLine(value));
            let hint = format!("It takes one of: {}", known.join(", "));
            return Err(OpError::usage(message).hint(hint));
        }
    }
    Ok(())
}

const MAX_LIMIT: usize = 1000;

/// Maximum number of summaries among the results, so that they do not hide the memories.
const MAX_SUMMARIES: usize = 3;

/// The number of additional hits to fetch, because some are filtered out later.
const SPARE: usize = 20;

/// Searches the shared index. Returns `None` if there isn't a shared index.
fn search_shared(
    host: &Host,
    request: &MemorySearchRequest,
    query: &Query,
    options: &MemoryOptions,
) -> Result<Option<MemorySearchReport>> {
    let Some(records) = host.open_shared_records()? else { return Ok(None) };
    let names = host.projects.iter().map(|project| project.name.as_str());
    let wanted = LibraryOptions {
        mode: options.mode,
        limit: options.limit + SPARE,
        now_ms: host.now().as_millisecond(),
    };
    let hits = records.search(query, &Readable::projects(names), wanted)?;
    let report = from_hits(host, query, options, &hits)?;
    Ok(Some(MemorySearchReport { query: request.query.clone(), ..report }))
}

/// Converts hits to memories. Omits memories that were deleted or archived, or that contain
/// untrusted instructions.
fn from_hits(
    host: &Host,
    query: &Query,
    options: &MemoryOptions,
    hits: &[RecordHit],
) -> Result<MemorySearchReport> {
    let mut stores: BTreeMap<&str, Option<ScopedStore>> = BTreeMap::new();
    let mut found = Vec::new();
    for hit in hits {
        let Some((name, at)) = place_of_shared_unit(&hit.unit) else { continue };
        let Some(project) = host.projects.iter().find(|project| project.name == name) else {
            continue;
        };
        // A store that cannot be opened is skipped.
        let opened = stores.entry(name).or_insert_with(|| host.store_at(&project.path).ok());
        let Some(scoped) = opened else { continue };
        if scoped.store.hides(&at) {
            continue;
        }
        let Ok(memory) = scoped.store.load(&at) else { continue };
        let trust = scoped.store.trust_of(&memory);
        let is_put_away = memory.is_archived() || memory.says_overturned();
        if trust == Trust::Quarantined || (is_put_away && !options.archived) {
            continue;
        }
        let (terms, similarity) = (hit.terms.clone(), hit.similarity);
        found.push(FoundMemory {
            snippet: snippet(memory.document.body(), &query.text),
            memory: MemoryEntry { trust: label(trust), ..entry(&memory, scoped) },
            score: hit.score,
            why: WhyFound { terms, lexical: hit.score, similarity, edges: Vec::new() },
            history: Vec::new(),
            same: Vec::new(),
            not_verified: Vec::new(),
        });
    }
    let total = found.len();
    found.truncate(options.limit);
    Ok(MemorySearchReport { query: String::new(), hits: found, total, broken: Vec::new() })
}

pub fn show(host: &Host, request: &MemoryShowRequest, events: &Events) -> Result<MemoryShowReport> {
    let MemoryShowRequest { id, evidence, history, text, scope } = request;
    let LocatedStore { scoped, also_in } = host.store_of(events, *scope, id)?;
    let memory = scoped.store.get(id)?;
    let trust = host.levels(&scoped, std::slice::from_ref(&memory.at)).first().copied().flatten();
    if trust.is_none_or(|trust| trust == Trust::Quarantined) && host.actor != Actor::Owner {
        return Err(host.refuse("view a quarantined memory"));
    }
    let (supersedes, superseded_by) = links(&scoped.store, &memory)?;
    let evidence = if *evidence { scoped.store.evidence(&memory.at.id)? } else { None };
    let unproven = evidence.is_some() && scoped.store.proof_of(&memory).is_none();
    let evidence = evidence.map(|Evidence { version, id, quotes }| MemoryEvidence {
        version,
        id: id.to_string(),
        quotes,
        unproven,
    });
    let history =
        if *history { Some(scoped.store.history(&host.git(), &memory.at)?) } else { None };
    let shown = entry(&memory, &scoped);
    let replaced_by = shown.replaced_by.clone();
    let replaced_by = replaced_by.or_else(|| find_contradicting(host, *scope, &memory));
    Ok(MemoryShowReport {
        memory: MemoryEntry { trust: trust.and_then(label), replaced_by, ..shown },
        level: trust,
        session: session_of(&memory),
        also_in,
        supersedes,
        superseded_by,
        body: memory.document.body().trim().to_owned(),
        version: version_of(memory.document.as_str().as_bytes()),
        text: text.then(|| memory.document.as_str().to_owned()),
        feedback: feedback(&scoped.store, &memory.at.id),
        evidence,
        history,
    })
}

/// Returns a later memory that contradicts this one. Failures are ignored, because `show` must work
/// without an index.
fn find_contradicting(host: &Host, scope: Option<Scope>, memory: &Memory) -> Option<String> {
    let stores = host.searchable_stores(scope, "memory show").ok()?;
    let options = MemoryOptions { mode: Mode::Hybrid, limit: SPARE, archived: false };
    let found = search_stores(&stores, &Query::plain(&memory.title), &options).ok()?;
    let shown = found.hits.iter().find(|found| found.hit.memory.at == memory.at)?;
    shown.hit.contradicted_by.as_ref().map(ToString::to_string)
}

pub(super) fn version_of(bytes: &[u8]) -> String {
    ContentHash::of(bytes).short()
}

/// Returns the memories that `memory` supersedes, and the memories that supersede it.
fn links(store: &Store, memory: &Memory) -> Result<(Vec<MemoryLink>, Vec<MemoryLink>)> {
    let unverified = store.find_unverified_claims(memory);
    let link = |id: &MemoryId, verified: bool| MemoryLink { id: id.to_string(), verified };
    let supersedes = memory.supersedes.iter().map(|id| link(id, !unverified.contains(id)));
    let is_named = |claimant: &Memory| memory.superseded_by.as_ref() == Some(&claimant.at.id);
    let claimants = store.claimants(&memory.at.id)?;
    let claimed = claimants.iter().filter(|claimant| !is_named(claimant));
    let claimed = claimed.map(|claimant| link(&claimant.at.id, memory.says_overturned()));
    let said = memory.superseded_by.iter().map(|id| link(id, true));
    Ok((supersedes.collect(), said.chain(claimed).collect()))
}

/// Returns the feedback on a memory. An unreadable state is ignored here, because `doctor` reports
/// it.
fn feedback(store: &Store, id: &MemoryId) -> Option<MemoryFeedback> {
    let Feedback { verdict, by, note, at } = store.state(id).ok().flatten()?.feedback.pop()?;
    let by = match by {
        Some(Actor::Owner) => SaidBy::Owner,
        Some(Actor::Agent | Actor::Reader) => SaidBy::Agent,
        Some(Actor::Person) => SaidBy::Person,
        None => SaidBy::Unknown,
    };
    Some(MemoryFeedback { verdict, by, note, at })
}

pub fn list_related(
    host: &Host,
    request: &MemoryRelatedRequest,
    events: &Events,
) -> Result<MemoryRelatedReport> {
    let MemoryRelatedRequest { id, limit, scope } = request;
    let LocatedStore { scoped, also_in } = host.store_of(events, *scope, id)?;
    let id = scoped.store.locate(id)?.id;
    let searchable = host.searchable(scoped, "memory related");
    let mut found = searchable.index()?.find_related(id.as_str());
    let store = &searchable.scoped.store;
    found.retain(|(_, memory)| store.trust_of(memory) != Trust::Quarantined);
    let total = found.len();
    found.truncate(host.max_results(*limit));
    let related = found.into_iter().map(|(edge, memory)| RelatedMemory {
        edge,
        memory: label_entry(&memory, &searchable.scoped),
    });
    Ok(MemoryRelatedReport { id: id.to_string(), related: related.collect(), total, also_in })
}

const DEFAULT_LIMIT: usize = 500;
const MAX_NODES: usize = 5000;

/// Maximum average number of edges per node, to keep the graph readable.
const EDGES_PER_NODE: usize = 10;

pub fn graph(host: &Host, request: &GraphRequest) -> Result<GraphReport> {
    let GraphRequest { limit, archived, all, scope } = request;
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if MAX_NODES < limit {
        return Err(OpError::usage(format!("`limit` is {limit}, but must be at most {MAX_NODES}")));
    }
    let options = GraphOptions { archived: *archived, summaries: *all, limit };
    let mut report =
        GraphReport { nodes: Vec::new(), edges: Vec::new(), left_out: 0, left_out_edges: 0 };
    for searchable in &host.searchable_stores(*scope, "memory graph")? {
        add_store(&mut report, searchable, &options)?;
    }
    // The sort is stable, so among nodes with equal degree, project memories come first.
    report.nodes.sort_by_key(|node| Reverse(node.degree));
    report.left_out += report.nodes.len().saturating_sub(limit);
    report.nodes.truncate(limit);
    bound_edges(&mut report);
    Ok(report)
}

/// Adds a store to the report. If an earlier store contains the same id, that store's memory is
/// used.
fn add_store(
    report: &mut GraphReport,
    searchable: &SearchableStore,
    options: &GraphOptions,
) -> Result<()> {
    let index = searchable.index()?;
    let Graph { nodes, ties, n_left_out } = index.graph(options);
    report.left_out += n_left_out + index.n_postponed();
    let known: HashSet<String> = report.nodes.iter().map(|node| node.memory.id.clone()).collect();
    let mut spelled: HashMap<String, HashMap<String, String>> = HashMap::new();
    for node in nodes.iter().filter(|node| !known.contains(&node.id)) {
        let Some(memory) = index.read_node(node) else { continue };
        if searchable.scoped.store.trust_of(&memory) == Trust::Quarantined {
            continue;
        }
        spelled.insert(node.id.clone(), spellings(&memory));
        let memory = entry(&memory, &searchable.scoped);
        report.nodes.push(GraphNode { memory, degree: node.degree });
    }
    for mut edge in ties {
        let (Some(own), true) = (spelled.get(&edge.from), spelled.contains_key(&edge.to)) else {
            continue;
        };
        let spelling = edge.shared.as_ref().and_then(|shared| own.get(shared).cloned());
        edge.shared = spelling.or(edge.shared);
        report.edges.push(edge);
    }
    Ok(())
}

/// Keeps only edges between displayed nodes, strongest kinds first, up to an average of
/// [`EDGES_PER_NODE`] edges per node.
fn bound_edges(report: &mut GraphReport) {
    let GraphReport { nodes, edges, left_out_edges, .. } = report;
    let shown: HashSet<&str> = nodes.iter().map(|node| node.memory.id.as_str()).collect();
    edges.retain(|edge| shown.contains(edge.from.as_str()) && shown.contains(edge.to.as_str()));
    edges.sort_by_key(|edge| edge.kind as u8);
    let max_edges = nodes.len() * EDGES_PER_NODE;
    *left_out_edges = edges.len().saturating_sub(max_edges);
    edges.truncate(max_edges);
}

pub fn short_ids(host: &Host, scope: Option<Scope>) -> Result<ShortIds> {
    let mut ids = Vec::new();
    for scoped in &host.stores_to_read(scope)? {
        ids.extend(scoped.store.locate_all()?.into_iter().map(|at| at.id.to_string()));
    }
    Ok(ShortIds::new(ids))
}

const MAX_IDS: usize = 200;

pub fn complete(host: &Host, prefix: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for scoped in host.stores_to_read(None).unwrap_or_default() {
        let located = scoped.store.locate_all().unwrap_or_default();
        ids.extend(located.into_iter().map(|at| at.id.to_string()));
        ids.extend(changes(&scoped.store).unwrap_or_default().into_iter().map(|change| change.id));
    }
    // A missing catalog is not created.
    let home = host.home.as_ref().filter(|_| host.caller.permissions.allow_everything());
    let file = home.map(|home| home.join("catalog.sqlite3")).filter(|file| file.is_file());
    let catalog = file.and_then(|file| Catalog::open(&file).ok());
    ids.extend(catalog.and_then(|it| it.keys_starting(prefix).ok()).unwrap_or_default());
    ids.retain(|id| id.starts_with(prefix));
    ids.truncate(MAX_IDS);
    ids
}
