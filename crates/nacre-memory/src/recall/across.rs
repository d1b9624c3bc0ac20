//! Finds contradictory memories within a project and between projects.
//!
//! Memories are compared as in maintenance, but the pairs are only reported, because two
//! repositories may differ for good reasons.

use jiff::Timestamp;

use super::claim_text;
use crate::search::{Builtin, near_words};
use crate::{Kinship, Likeness, Memory, MemoryType, Profile, kinship};

/// Maximum number of memories to compare. Every memory is compared with every other one.
pub const MAX_COMPARED: usize = 2000;

/// Minimum similarity for two memories to be treated as being about the same topic.
const MIN_LIKENESS: f32 = 0.35;

/// Maximum number of pairs to report.
const MAX_FOUND: usize = 200;

/// Number of bytes of each memory's body to compare.
const MAX_PAGE_BYTES: usize = 16 << 10;

#[derive(Clone, Debug)]
pub struct ProjectClaim {
    pub project: usize,
    pub memory: Memory,
}

/// Two contradictory memories, as indexes into the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opposed {
    pub newer: usize,
    pub older: usize,
    pub likelihood: f32,
}

/// Returns the contradictory pairs, most likely first. Only decisions are compared between
/// projects. For each older memory, there is at most one pair within its project and one with
/// another project.
pub fn find_opposed(claims: &[ProjectClaim]) -> Vec<Opposed> {
    let claims = claims.get(..MAX_COMPARED).unwrap_or(claims);
    let read: Vec<Claim<'_>> = claims.iter().map(Claim::of).collect();
    let model = Builtin::shipped();
    let titles: Vec<Vec<f32>> = read.iter().map(|claim| model.embed(claim.title)).collect();
    let whole = |claim: &Claim<'_>| model.embed(&format!("{}\n{}", claim.title, claim.body));
    let wholes: Vec<Vec<f32>> = read.iter().map(whole).collect();
    // For each older memory, the most likely pair within its project and the most likely pair with
    // another project.
    let mut surest: Vec<[Option<Opposed>; 2]> = vec![[None; 2]; read.len()];
    for a in 0..read.len() {
        for b in a + 1..read.len() {
            if !are_comparable(&claims[a], &claims[b]) {
                continue;
            }
            let whole = cosine(&wholes[a], &wholes[b]);
            if whole < MIN_LIKENESS {
                continue;
            }
            let likeness = Likeness { titles: cosine(&titles[a], &titles[b]), whole };
            let (newer, older) = if read[a].said > read[b].said { (a, b) } else { (b, a) };
            let (kin, likelihood) =
                kinship(&read[newer].profile, &read[older].profile, likeness, &near_words);
            let known = &mut surest[older][usize::from(claims[a].project != claims[b].project)];
            let is_surer = known.is_none_or(|known| known.likelihood < likelihood);
            if kin == Kinship::Against && is_surer {
                *known = Some(Opposed { newer, older, likelihood });
            }
        }
    }
    let mut found: Vec<Opposed> = surest.into_iter().flatten().flatten().collect();
    found.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood).then(a.older.cmp(&b.older)));
    found.truncate(MAX_FOUND);
    found
}

/// Only decisions are compared between projects, because a learning rarely applies to another
/// project.
fn are_comparable(a: &ProjectClaim, b: &ProjectClaim) -> bool {
    let is_decision = |claim: &ProjectClaim| claim.memory.at.memory_type == MemoryType::Decision;
    a.project == b.project || (is_decision(a) && is_decision(b))
}

struct Claim<'m> {
    title: &'m str,
    body: String,
    profile: Profile,
    said: Timestamp,
}

impl<'m> Claim<'m> {
    fn of(claim: &'m ProjectClaim) -> Self {
        let memory = &claim.memory;
        let body = memory.document.body();
        let body = claim_text(&body[..body.floor_char_boundary(MAX_PAGE_BYTES)]);
        let profile = Profile::of(&memory.title, &body);
        // A review updates the summaries of its sessions, so ignore when they last changed.
        let is_summary = memory.at.memory_type == MemoryType::Summary;
        let changed = memory.updated.filter(|_| !is_summary);
        let said = changed.or(memory.created).unwrap_or_default();
        Self { title: &memory.title, body, profile, said }
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
}
