//! `nacre memory search`

use clap::{Args, ValueEnum};
use nacre_core::base::{Shown, ShownLine};
use nacre_core::memory::{MemoryId, MemoryType};
use nacre_core::search::{Kin, MemoryHit, MemoryIndex, MemoryOptions, Mode, Query, parse_time};
use serde::Serialize;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::output::{MemoryOutput, broken_file, memory_row, not_verified, warn_broken};
use super::{ScopeArg, TypeName};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::ScopedStore;

/// Find memories by their words and their meaning
///
/// Words are looked for in titles, tags, texts and evidence, and what means the same is found too. A
/// "quoted phrase" must occur as it is. Filters stand among the words: type:decision tag:auth
/// kind:pitfall file:src/db.rs agent:codex status:stale after:2026-01 before:7d. What was overturned
/// is left out, or shown below what overturned it with --history. The project's memories come first;
/// global ones fill up.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words, "quoted phrases" and filters
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this type
    #[arg(long, short = 't', value_enum)]
    r#type: Option<TypeName>,
    /// Only memories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only memories that changed since this day, moment or age, such as 2026-01 or 7d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// What to go by
    #[arg(long, value_enum, default_value_t = ModeName::Hybrid)]
    mode: ModeName,
    /// Show what was overturned below what overturned it
    #[arg(long)]
    history: bool,
    /// Show why each memory was found
    #[arg(long)]
    explain: bool,
    /// Archived ones too
    #[arg(long)]
    archived: bool,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

/// What a search goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Words and meaning
    Hybrid,
    /// Words alone
    Lexical,
    /// Meaning alone
    Semantic,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Hybrid => Self::Hybrid,
            ModeName::Lexical => Self::Lexical,
            ModeName::Semantic => Self::Semantic,
        }
    }
}

#[derive(Serialize)]
struct SearchOutput {
    query: String,
    hits: Vec<HitOutput>,
    total: usize,
    broken: Vec<nacre_api::wire::BrokenFile>,
}

#[derive(Serialize)]
struct HitOutput {
    #[serde(flatten)]
    memory: MemoryOutput,
    score: f32,
    snippet: String,
    why: WhyOutput,
    /// What it overturned, newest first.
    history: Vec<MemoryOutput>,
    /// Those of them whose own files do not say so.
    not_verified: Vec<String>,
}

#[derive(Serialize)]
struct WhyOutput {
    terms: Vec<String>,
    lexical: f32,
    similarity: f32,
    edges: Vec<EdgeOutput>,
}

#[derive(Serialize)]
pub(super) struct EdgeOutput {
    kind: &'static str,
    id: String,
    shared: Option<String>,
}

impl EdgeOutput {
    pub(super) fn new(kin: &Kin) -> Self {
        Self { kind: kin.kind.as_str(), id: kin.id.clone(), shared: kin.shared.clone() }
    }
}

pub(crate) fn cmd_search(ui: &mut Ui, host: &Host, args: &SearchArgs) -> Result<Exit, OpError> {
    let text = args.query.join(" ");
    let query = query_of(host, args, &text)?;
    let stores = host.stores_to_read(args.scope.mode())?;
    let limit = match args.limit.unwrap_or(host.settings().memory.max_results) {
        0 => usize::MAX,
        limit => limit,
    };
    let mut hits: Vec<(MemoryHit, &ScopedStore)> = Vec::new();
    let mut broken = Vec::new();
    let mut total = 0;
    // The project's come first; what is left of the limit is filled from the global ones.
    for scoped in &stores {
        let options = MemoryOptions {
            mode: args.mode.into(),
            limit: limit - hits.len(),
            archived: args.archived,
        };
        let owner = host.owner("memory search");
        let embedder = host.embedder(&scoped.settings)?;
        let index = MemoryIndex::open(&scoped.store, &*embedder, &owner, host.now())?;
        let found = index.search(&query, &options)?;
        total += found.total;
        hits.extend(found.hits.into_iter().map(|hit| (hit, scoped)));
        broken.extend(found.broken.iter().map(|unreadable| broken_file(unreadable, scoped)));
    }
    let exit = if broken.is_empty() { Exit::Done } else { Exit::Partial };
    if ui.is_json() {
        let hits = hits.iter().map(|(hit, scoped)| hit_output(hit, scoped)).collect();
        ui.json(&SearchOutput { query: text, hits, total, broken })?;
        return Ok(exit);
    }
    print(ui, &hits, total, args)?;
    warn_broken(ui, &broken);
    Ok(exit)
}

/// The question, with what the flags add to it.
fn query_of(host: &Host, args: &SearchArgs, text: &str) -> Result<Query, OpError> {
    let now = host.now();
    let mut query = Query::parse(text, now);
    if query.is_empty() {
        return Err(OpError::usage("There is nothing to search for")
            .hint("nacre memory search sqlite queue"));
    }
    if let Some(name) = args.r#type {
        query = query.with_facet("type", MemoryType::from(name).as_str());
    }
    if let Some(tag) = &args.tag {
        query = query.with_facet("tag", tag);
    }
    if let Some(since) = &args.since {
        let time = parse_time(since, now).ok_or_else(|| {
            OpError::usage(format!("`{}` is no day, moment or age", ShownLine(since)))
                .hint("Write it like 2026-01-31, 2026-01 or 7d")
        })?;
        query.after = Some(time);
    }
    Ok(query)
}

fn hit_output(hit: &MemoryHit, scoped: &ScopedStore) -> HitOutput {
    HitOutput {
        memory: MemoryOutput::new(&hit.memory, scoped),
        score: hit.score,
        snippet: hit.snippet.clone(),
        why: WhyOutput {
            terms: hit.why.terms.clone(),
            lexical: hit.why.lexical,
            similarity: hit.why.similarity,
            edges: hit.why.edges.iter().map(EdgeOutput::new).collect(),
        },
        history: hit.history.iter().map(|memory| MemoryOutput::new(memory, scoped)).collect(),
        not_verified: hit.unverified().map(|older| older.at.id.to_string()).collect(),
    }
}

fn print(
    ui: &mut Ui,
    hits: &[(MemoryHit, &ScopedStore)],
    total: usize,
    args: &SearchArgs,
) -> Result<(), OpError> {
    for (hit, scoped) in hits {
        ui.table(&[memory_row(&hit.memory, scoped.scope)])?;
        if !hit.snippet.is_empty() {
            let snippet = ui.paint(Role::Faint, Shown(&hit.snippet).one_line());
            ui.line(format!("    {snippet}"))?;
        }
        let unverified: Vec<&MemoryId> = hit.unverified().map(|older| &older.at.id).collect();
        if let Some(note) = not_verified(&unverified) {
            ui.line(format!("    {}", ui.paint(Role::Warning, note)))?;
        }
        if args.explain {
            ui.line(format!("    {}", ui.paint(Role::Faint, explained(hit))))?;
        }
        for older in hit.history.iter().filter(|_| args.history) {
            let title = Shown(&older.title).one_line();
            let line = format!("overturned {}  {title}", older.at.id);
            ui.line(format!("    {}", ui.paint(Role::Faint, line)))?;
        }
    }
    match (total, total - hits.len()) {
        (0, _) => ui.status("Nothing found."),
        (_, 0) => Ok(()),
        (_, n_more) => ui.status(format!("… {n_more} more; `--limit 0` shows all")),
    }
}

/// Why a memory was found, in one line.
fn explained(hit: &MemoryHit) -> String {
    let why = &hit.why;
    let mut parts = vec![format!("score {:.2}", hit.score)];
    if !why.terms.is_empty() {
        parts.push(format!("words {} ({:.2})", why.terms.join(" "), why.lexical));
    }
    if why.similarity > 0.0 {
        parts.push(format!("meaning {:.2}", why.similarity));
    }
    parts.extend(why.edges.iter().map(|kin| format!("{} {}", kin.kind.as_str(), kin.id)));
    Shown(&parts.join(", ")).one_line()
}
