//! Memories as they go over the wire.

use nacre_api::wire::{
    self as api, BrokenFile, EdgeKind, FoundMemory, MemoryEdge, MemoryEntry, MemoryQuote,
    MemoryType, Speaker, TrustLevel, WhyFound,
};
use nacre_core::memory::{self, LearningKind, Memory, StoreArea, Trust, Unreadable};
use nacre_core::search::{Kin, KinKind};

use crate::host::{ScopedStore, StoreHit};

pub(crate) fn memory_type(of: memory::MemoryType) -> MemoryType {
    match of {
        memory::MemoryType::Decision => MemoryType::Decision,
        memory::MemoryType::Learning => MemoryType::Learning,
        memory::MemoryType::Summary => MemoryType::Summary,
    }
}

pub(crate) fn core_type(of: MemoryType) -> memory::MemoryType {
    match of {
        MemoryType::Decision => memory::MemoryType::Decision,
        MemoryType::Learning => memory::MemoryType::Learning,
        MemoryType::Summary => memory::MemoryType::Summary,
    }
}

pub(crate) fn learning_kind(of: LearningKind) -> api::LearningKind {
    match of {
        LearningKind::Insight => api::LearningKind::Insight,
        LearningKind::Procedure => api::LearningKind::Procedure,
        LearningKind::Pitfall => api::LearningKind::Pitfall,
        LearningKind::Friction => api::LearningKind::Friction,
        LearningKind::Preference => api::LearningKind::Preference,
        LearningKind::Convention => api::LearningKind::Convention,
        LearningKind::Context => api::LearningKind::Context,
    }
}

/// Words that were said, and where.
pub(crate) fn quote(of: memory::Quote) -> MemoryQuote {
    let memory::Quote { text, speaker: by, place, at } = of;
    MemoryQuote { text, speaker: speaker(by), place, at }
}

pub(crate) fn speaker(of: memory::Speaker) -> Speaker {
    match of {
        memory::Speaker::Human => Speaker::Human,
        memory::Speaker::User => Speaker::User,
        memory::Speaker::Assistant => Speaker::Assistant,
        memory::Speaker::Tool => Speaker::Tool,
    }
}

/// A memory without its text.
pub(crate) fn entry(memory: &Memory, scoped: &ScopedStore) -> MemoryEntry {
    MemoryEntry {
        id: memory.at.id.to_string(),
        r#type: memory_type(memory.at.memory_type),
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
    }
}

/// A memory that was read whole, with how far it is trusted where that is little.
pub(crate) fn labelled(memory: &Memory, scoped: &ScopedStore) -> MemoryEntry {
    MemoryEntry { trust: label(scoped.store.trust_of(memory)), ..entry(memory, scoped) }
}

/// The level, where what has it is told to nobody unasked.
pub(crate) fn label(trust: Trust) -> Option<TrustLevel> {
    match trust {
        Trust::Quarantined => Some(TrustLevel::Quarantined),
        Trust::Foreign => Some(TrustLevel::Foreign),
        Trust::Derived => Some(TrustLevel::Derived),
        Trust::Assistant | Trust::User | Trust::Human => None,
    }
}

pub(crate) fn broken(unreadable: &Unreadable, scoped: &ScopedStore) -> BrokenFile {
    BrokenFile {
        path: scoped.store.path().join(unreadable.path.as_str()).display().to_string(),
        line: unreadable.line(),
        message: unreadable.reason(),
    }
}

pub(super) fn edge(kin: &Kin) -> MemoryEdge {
    MemoryEdge { kind: edge_kind(kin.kind), id: kin.id.clone(), shared: kin.shared.clone() }
}

pub(super) fn edge_kind(of: KinKind) -> EdgeKind {
    match of {
        KinKind::Supersedes => EdgeKind::Supersedes,
        KinKind::SupersededBy => EdgeKind::SupersededBy,
        KinKind::Contradicts => EdgeKind::Contradicts,
        KinKind::Newer => EdgeKind::NewerThan,
        KinKind::Related => EdgeKind::Related,
        KinKind::SameSession => EdgeKind::SameSession,
        KinKind::SameFile => EdgeKind::SameFile,
        KinKind::SameSymbol => EdgeKind::SameSymbol,
        KinKind::SharedTag => EdgeKind::SharedTag,
    }
}

/// A memory that was found in a store.
pub(super) fn found_memory(StoreHit { hit, trust, scoped }: &StoreHit<'_>) -> FoundMemory {
    FoundMemory {
        memory: MemoryEntry { trust: label(*trust), ..entry(&hit.memory, scoped) },
        score: hit.score,
        snippet: hit.snippet.clone(),
        why: WhyFound {
            terms: hit.why.terms.clone(),
            lexical: hit.why.lexical,
            similarity: hit.why.similarity,
            edges: hit.why.edges.iter().map(edge).collect(),
        },
        history: hit.history.iter().map(|memory| entry(memory, scoped)).collect(),
        not_verified: hit.unverified().map(|older| older.at.id.to_string()).collect(),
    }
}
