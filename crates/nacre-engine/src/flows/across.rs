//! Memories of several projects, side by side: which of them say otherwise than another, in one project or in two.
//!
//! Compared as a maintenance compares the memories of one store, and told only: what holds in one repository need not hold in another, and
//! what is contested in one is for a maintenance or a person to settle.

use jiff::Timestamp;
use nacre_core::memory::{Kinship, Likeness, Memory, MemoryType, Profile, kinship};
use nacre_core::search::{Builtin, EmbedError, Embedder as _, near_words};

use super::sync::decided::claimed;

/// More memories are not compared: every pair is looked at.
pub const MAX_COMPARED: usize = 2000;

/// How near two must be in meaning to be about the same thing.
const MIN_LIKENESS: f32 = 0.35;

/// So many are told at most.
const MAX_FOUND: usize = 200;

/// A memory is compared by the words of its first page.
const MAX_PAGE_BYTES: usize = 16 << 10;

/// A memory, and the number of its project.
#[derive(Clone, Debug)]
pub struct ProjectClaim {
    pub project: usize,
    pub memory: Memory,
}

/// Two memories of which the newer says otherwise; places in the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opposed {
    pub newer: usize,
    pub older: usize,
    pub likelihood: f32,
}

/// The pairs that contradict each other, the surest first: memories of one type in a project, decisions in two of them. Of the pairs
/// in a project, and of those in two, each older one is named once.
pub fn opposed(claims: &[ProjectClaim], embedder: &Builtin) -> Result<Vec<Opposed>, EmbedError> {
    let claims = claims.get(..MAX_COMPARED).unwrap_or(claims);
    let read: Vec<Claim<'_>> = claims.iter().map(Claim::of).collect();
    let embed = |text: &dyn Fn(&Claim<'_>) -> String| {
        let texts: Vec<String> = read.iter().map(text).collect();
        embedder.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let titles = embed(&|claim| claim.title.to_owned())?;
    let wholes = embed(&|claim| format!("{}\n{}", claim.title, claim.body))?;
    // By the older one: the surest in its own project, and in another.
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
    Ok(found)
}

/// What is learned in one project is seldom meant for another; what is decided may be.
fn are_comparable(a: &ProjectClaim, b: &ProjectClaim) -> bool {
    let is_one_type = a.memory.at.memory_type == b.memory.at.memory_type;
    let is_decision = a.memory.at.memory_type == MemoryType::Decision;
    is_one_type && (is_decision || a.project == b.project)
}

/// What a memory is compared by.
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
        let body = claimed(&body[..body.floor_char_boundary(MAX_PAGE_BYTES)]);
        let profile = Profile::of(&memory.title, &body);
        let said = memory.updated.or(memory.created).unwrap_or_default();
        Self { title: &memory.title, body, profile, said }
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>().clamp(0.0, 1.0)
}
