//! Imports statements from instruction files as candidates for review.
//!
//! Each candidate refers to a line in a file, and its evidence is the text of the file. Statements
//! that have already been imported, have been rejected or are already in a memory are skipped, so
//! repeating an import adds nothing.

mod sources;

use nacre_base::text::collapse_whitespace;
use nacre_memory::search::MemoryIndex;
use nacre_memory::{
    Actor, Basis, Claim, Draft, IMPORTED, LearningKind, Memory, MemoryType, Profile, Quote,
    Speaker, Status, slug,
};
use nacre_traces::instructions::{NotTaken, Split, Statement, blank_out, split};
use nacre_types::{
    ImportReport, ImportRequest, ImportSkip, ImportedCandidate, ImportedFile, ReplacedMemory,
    RunMode, SkippedText,
};

pub(crate) use self::sources::loaded_text;
use self::sources::{SourceFile, sources};
use crate::memory::warn_redacted;
use crate::prelude::*;
use crate::recording::CommandChange;
use crate::run::change::Reversal;
use crate::sync::pipeline::said_already;

/// Reviewing more candidates than this would be impractical.
const MAX_CANDIDATES: usize = 300;

pub fn import(host: &Host, request: &ImportRequest, events: &Events) -> Result<ImportReport> {
    let scoped = host.store_to_write(request.scope)?;
    let root = host.project.as_ref().map(|project| project.path.as_path());
    let files = sources(host, root, request)?;
    let mut report = ImportReport {
        dry_run: request.dry_run,
        files: Vec::new(),
        candidates: Vec::new(),
        skipped: Vec::new(),
        change: None,
    };
    let mut taken = Vec::new();
    let mut taker = StatementFilter::open(host, &scoped)?;
    for file in &files {
        events.check_cancelled()?;
        look_through(file, &mut taker, &mut taken, &mut report);
    }
    warn_of_personal(&scoped, &files, &taken, events);
    let mut ids = Vec::new();
    if !request.dry_run && !taken.is_empty() {
        let command = CommandChange::new(RunMode::Import, "import");
        ids = store(host, &scoped, &taken, &command, events)?;
        report.change = command.id();
    }
    let ids = ids.into_iter().map(Some).chain(std::iter::repeat(None));
    report.candidates = taken.iter().zip(ids).map(|(taken, id)| candidate(taken, id)).collect();
    Ok(report)
}

fn store(
    host: &Host,
    scoped: &ScopedStore,
    taken: &[NewCandidate],
    command: &CommandChange<'_>,
    events: &Events,
) -> Result<Vec<String>> {
    let mut batch = scoped.store.begin(&host.owner("import"), host.settings().lock.wait)?;
    let mut ids = Vec::new();
    for one in taken {
        let id = match &one.replaces {
            Some((older, Status::Candidate)) => {
                batch.replace_candidate(older, &one.draft, host.now())?
            }
            Some(_) | None => batch.add_candidate(&one.draft, host.now())?,
        };
        ids.push(id.to_string());
    }
    let redacted = batch.redactions().clone();
    command.commit(host, scoped, batch, Reversal::Plan)?;
    warn_redacted(events, &redacted);
    Ok(ids)
}

fn warn_of_personal(
    scoped: &ScopedStore,
    files: &[SourceFile],
    taken: &[NewCandidate],
    events: &Events,
) {
    let is_told = |file: &&SourceFile| {
        file.is_personal && taken.iter().any(|taken| taken.label == file.label)
    };
    let names: Vec<&str> = files.iter().filter(is_told).map(|file| file.label.as_str()).collect();
    if scoped.store.scope().is_private() || names.is_empty() {
        return;
    }
    let message = format!("Private until now: {}", names.join(", "));
    let hint = "Accepted memories are shared with the project. To keep them private: nacre import \
     PATH --scope global_only";
    events.warning(message, Some(hint));
}

fn look_through(
    file: &SourceFile,
    taker: &mut StatementFilter<'_>,
    taken: &mut Vec<NewCandidate>,
    report: &mut ImportReport,
) {
    let text = match &file.text {
        Ok(text) => text,
        Err(fault) => {
            let (file, skipped) = (file.label.clone(), Some(*fault));
            report.files.push(ImportedFile { file, found: 0, added: 0, skipped });
            return;
        }
    };
    let store = taker.store();
    let mut skip = |line: usize, reason: ImportSkip, text: &str, known: Option<MemoryId>| {
        let (file, text) = (file.label.clone(), store.redact_text(text));
        let known = known.map(|id| id.to_string());
        report.skipped.push(SkippedText { file, line, reason, text, known });
    };
    let (text, own_blocks) = blank_out(text);
    own_blocks.into_iter().for_each(|line| skip(line, ImportSkip::OwnBlock, "", None));
    let Split { statements, left_out } = split(&text);
    for left in &left_out {
        let is_long = left.reason == NotTaken::TooLong;
        let reason = if is_long { ImportSkip::TooLong } else { ImportSkip::NotAStatement };
        skip(left.line, reason, &left.text, None);
    }
    let quotes: BTreeSet<String> =
        statements.iter().map(|one| collapse_whitespace(&taker.clean(&one.quote))).collect();
    let before = taken.len();
    for statement in &statements {
        if MAX_CANDIDATES <= taken.len() {
            // Statements over the limit are not compared with the store, because each comparison is
            // slow.
            skip(statement.line, ImportSkip::OverLimit, "", None);
            continue;
        }
        match taker.take(file, statement, &quotes) {
            Ok(one) => taken.push(one),
            Err((reason, known)) => skip(statement.line, reason, &statement.title, known),
        }
    }
    let (found, added) = (statements.len(), taken.len() - before);
    report.files.push(ImportedFile { file: file.label.clone(), found, added, skipped: None });
}

fn candidate(taken: &NewCandidate, id: Option<String>) -> ImportedCandidate {
    let kind = match taken.draft.claim {
        Claim::Decision => None,
        Claim::Learning(kind) => Some(kind.as_str().to_owned()),
    };
    let replaces = taken.replaces.as_ref().map(|(older, status)| ReplacedMemory {
        id: older.to_string(),
        done: *status == Status::Candidate,
    });
    ImportedCandidate {
        id,
        title: taken.draft.title.clone(),
        r#type: taken.draft.claim.memory_type(),
        kind,
        file: taken.label.clone(),
        line: taken.line,
        replaces,
    }
}

const REDACTED: &str = "[redacted:";

struct NewCandidate {
    draft: Draft,
    label: String,
    line: usize,
    /// The memory that was imported from an earlier version of this line, and its status.
    replaces: Option<(MemoryId, Status)>,
}

struct StatementFilter<'a> {
    scoped: &'a ScopedStore,
    is_owners: bool,
    now: String,
    imported: Vec<ImportedMemory>,
    /// The index used to compare meanings. Without it, only words are compared.
    near: Option<MemoryIndex<'a>>,
    profiles: Vec<Profile>,
    replaced: BTreeSet<MemoryId>,
}

impl<'a> StatementFilter<'a> {
    fn open(host: &Host, scoped: &'a ScopedStore) -> Result<Self> {
        // If the index cannot be opened, only words are compared.
        let near = MemoryIndex::peek(&scoped.store, host.now()).ok();
        // All memories that were ever imported, whether active or archived.
        let listing = scoped.store.list(|at| at.memory_type != MemoryType::Summary)?;
        let imported = listing.memories.iter();
        let imported = imported.filter_map(|memory| of_file(&scoped.store, memory)).collect();
        Ok(Self {
            scoped,
            is_owners: host.actor == Actor::Owner,
            now: host.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            imported,
            near,
            profiles: Vec::new(),
            replaced: BTreeSet::new(),
        })
    }

    fn store(&self) -> &'a Store {
        &self.scoped.store
    }

    fn clean(&self, text: &str) -> String {
        self.store().redact_text(&self.store().shareable(text))
    }

    /// Converts a statement to a candidate. `quotes` contains all statements in its file.
    fn take(
        &mut self,
        file: &SourceFile,
        statement: &Statement,
        quotes: &BTreeSet<String>,
    ) -> Result<NewCandidate, (ImportSkip, Option<MemoryId>)> {
        let draft = self.draft(file, statement);
        let (title, body) = (draft.title.as_str(), draft.body.as_str());
        let quote = collapse_whitespace(&draft.quotes[0].text);
        if let Some(known) = self.imported.iter().find(|one| one.quotes.contains(&quote)) {
            return Err((ImportSkip::Imported, Some(known.id.clone())));
        }
        if [title, body, quote.as_str()].iter().any(|text| text.contains(REDACTED)) {
            return Err((ImportSkip::Secret, None));
        }
        if self.store().is_forgotten(title, body).unwrap_or(false) {
            return Err((ImportSkip::Rejected, None));
        }
        let profile = Profile::of(title, body);
        if self.profiles.iter().any(|known| known.holds(&profile) || profile.holds(known)) {
            return Err((ImportSkip::Repeated, None));
        }
        let replaces = self.find_changed_line(file, &draft, &profile, quotes);
        if replaces.is_none()
            && let Some(known) = self.said_already(&draft)
        {
            return Err((ImportSkip::Known, Some(known)));
        }
        self.profiles.push(profile);
        self.replaced.extend(replaces.iter().map(|(id, _)| id.clone()));
        // An active memory stays in place until the user accepts its replacement.
        let related = replaces.iter().filter(|(_, status)| *status != Status::Candidate);
        let related = related.map(|(id, _)| id.clone()).collect();
        let (label, line) = (file.label.clone(), statement.line);
        Ok(NewCandidate { draft: Draft { related, ..draft }, label, line, replaces })
    }

    /// Returns the memory that was imported from the same place, if its text is no longer in the
    /// file.
    fn find_changed_line(
        &self,
        file: &SourceFile,
        draft: &Draft,
        profile: &Profile,
        quotes: &BTreeSet<String>,
    ) -> Option<(MemoryId, Status)> {
        let is_gone = |one: &&ImportedMemory| {
            one.label == file.label && !one.quotes.iter().any(|quote| quotes.contains(quote))
        };
        let gone = self.imported.iter().filter(is_gone);
        let free = gone.filter(|one| !self.replaced.contains(&one.id));
        let scored = free.map(|one| (one.likeness(&draft.tags, profile), one));
        let best = scored.filter(|(score, _)| *score > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, one)| (one.id.clone(), one.status))
    }

    /// Returns the memory that already contains the claim, using the same rule as `sync`.
    fn said_already(&self, draft: &Draft) -> Option<MemoryId> {
        let index = self.near.as_ref()?;
        let found = said_already(self.store(), index, draft).ok().flatten();
        found.map(|(id, _)| id)
    }

    fn draft(&self, file: &SourceFile, statement: &Statement) -> Draft {
        let (confidence, basis) = match file.speaker {
            Speaker::Human | Speaker::User => (0.8, Basis::Stated),
            Speaker::Assistant | Speaker::Tool => (0.6, Basis::Inferred),
        };
        // The headings above the statement, nearest last.
        let topics = &statement.topics[statement.topics.len().saturating_sub(MAX_TAGS)..];
        let tags = topics.iter().map(|topic| slug(topic)).filter(|tag| !tag.is_empty());
        Draft {
            claim: claim_of(statement),
            title: self.clean(&statement.title),
            body: self.clean(&statement.body),
            tags: tags.map(|tag| self.clean(&tag)).collect(),
            applies: Vec::new(),
            related: Vec::new(),
            source: format!("{IMPORTED}{}", file.label),
            confidence,
            basis: Some(basis),
            importance: None,
            quotes: vec![Quote {
                text: self.clean(&statement.quote),
                // If the file was chosen by an agent, its text is not attributed to the user.
                speaker: if self.is_owners { file.speaker } else { Speaker::Tool },
                place: format!("{}:{}", file.label, statement.line),
                at: self.now.clone(),
            }],
            limit: file.limit,
        }
    }
}

const MAX_TAGS: usize = 2;

/// Words in headings, with the kind of claim expected below such a heading.
const HEADINGS: &[(&[&str], Claim)] = &[
    (&["decision", "decided", "adr"], Claim::Decision),
    (
        &["pitfall", "gotcha", "caveat", "known issue", "troubleshoot", "watch out", "mistake"],
        Claim::Learning(LearningKind::Pitfall),
    ),
    (
        &[
            "command", "build", "setup", "install", "deploy", "releas", "workflow", "how to",
            "running",
        ],
        Claim::Learning(LearningKind::Procedure),
    ),
    (
        &["overview", "architecture", "structure", "about", "layout", "background", "stack"],
        Claim::Learning(LearningKind::Context),
    ),
    (&["preference"], Claim::Learning(LearningKind::Preference)),
];

/// Words in the statement itself. These take precedence over the heading.
const WORDS: &[(&[&str], Claim)] = &[
    (&["we decided", "we chose", "decided to", "decided against"], Claim::Decision),
    (&["the user prefers", "i prefer", "the user wants", "i like "], PREFERENCE),
    (
        &["always ", "never ", "must ", "do not ", "don't ", "prefer ", "avoid ", "use "],
        Claim::Learning(LearningKind::Convention),
    ),
];

const PREFERENCE: Claim = Claim::Learning(LearningKind::Preference);

fn claim_of(statement: &Statement) -> Claim {
    if statement.is_commands {
        return Claim::Learning(LearningKind::Procedure);
    }
    let title = statement.title.to_lowercase();
    let by_words = WORDS.iter().find(|(words, _)| words.iter().any(|word| title.contains(word)));
    let by_heading = || {
        statement.topics.iter().rev().find_map(|topic| {
            let topic = topic.to_lowercase();
            HEADINGS.iter().find(|(words, _)| words.iter().any(|word| topic.contains(word)))
        })
    };
    let found = by_words.or_else(by_heading);
    found.map_or(Claim::Learning(LearningKind::Convention), |(_, claim)| *claim)
}

/// Two lines that share at least this fraction of their words are versions of the same line.
const SAME_LINE: f32 = 0.5;

struct ImportedMemory {
    id: MemoryId,
    status: Status,
    label: String,
    tags: Vec<String>,
    profile: Profile,
    quotes: Vec<String>,
}

fn of_file(store: &Store, memory: &Memory) -> Option<ImportedMemory> {
    let label = memory.imported_from()?.to_owned();
    let quotes = store.evidence(&memory.at.id).ok().flatten()?.quotes;
    let is_overturned = memory.says_overturned() || memory.is_archived();
    Some(ImportedMemory {
        id: memory.at.id.clone(),
        status: if is_overturned { Status::Superseded } else { memory.status },
        label,
        tags: memory.tags.clone(),
        profile: Profile::of(&memory.title, memory.document.body()),
        quotes: quotes.iter().map(|quote| collapse_whitespace(&quote.text)).collect(),
    })
}

impl ImportedMemory {
    /// Returns the similarity to an earlier version of the line. Returns 0 if the two lines are
    /// unrelated.
    fn likeness(&self, tags: &[String], profile: &Profile) -> f32 {
        let share = profile.share_held_by(&self.profile).min(self.profile.share_held_by(profile));
        let holds = matches!(self.status, Status::Active | Status::Candidate | Status::Stale);
        if holds && self.tags == tags && share >= SAME_LINE { share } else { 0.0 }
    }
}
