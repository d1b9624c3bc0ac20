//! Of two records that say nearly the same, the newer goes first.
//!
//! A decision and its later amendment share their rare words; two decisions about one component share few.
//! So likeness is the share of words that both hold, each weighed by how rare it is in this index: a
//! measure that needs no model and no tuning to a scale.

use super::group::Group;
use super::kin::{Kin, KinKind};
use super::snapshot::Snapshot;
use super::terms::Terms;
use super::words;

/// As many of the best hits are compared.
const MAX_COMPARED: usize = 20;

/// From this likeness on two records are taken for versions of one claim.
const MIN_ALIKE: f32 = 0.14;

/// A newer one must match the question at least so well, as a share of the older one's score.
const MIN_SHARE: f32 = 0.6;

/// What is known of a hit; its text is read only when there is something to compare it with.
struct Compared {
    row: usize,
    time_ms: i64,
}

/// Where texts and the worth of their words come from, and who may stand above whom.
struct Source<'a> {
    snapshot: &'a Snapshot,
    text_of: &'a dyn Fn(usize) -> Option<String>,
    may_pass: &'a dyn Fn(usize, usize) -> bool,
}

impl Source<'_> {
    fn terms(&self, of: &Compared) -> &Terms {
        self.snapshot.terms(of.row, || self.terms_of(of.row))
    }

    fn terms_of(&self, row: usize) -> Terms {
        let texts = &self.snapshot.layout().rows;
        let text = (self.text_of)(row).unwrap_or_default();
        let mut terms = Vec::new();
        words::each_term(&text, |term| terms.push(term.to_owned()));
        terms.sort_unstable();
        terms.dedup();
        let weigh = |term: String| {
            let weight = texts.rarity(self.snapshot.n_holding(term.as_bytes()) as usize);
            (term, weight)
        };
        let weights: Vec<(String, f32)> = terms.into_iter().map(weigh).collect();
        Terms::new(weights)
    }
}

/// Puts newer records above older ones that say nearly the same. `text_of` gives a row's text, and `may_pass` tells
/// whether a newer row may stand above an older one.
pub(super) fn newer_first(
    snapshot: &Snapshot,
    groups: &mut Vec<Group>,
    text_of: &dyn Fn(usize) -> Option<String>,
    may_pass: &dyn Fn(usize, usize) -> bool,
) {
    let source = Source { snapshot, text_of, may_pass };
    let n_compared = groups.len().min(MAX_COMPARED);
    let mut compared: Vec<Compared> = groups[..n_compared]
        .iter()
        .map(|group| Compared {
            row: group.best.row,
            time_ms: snapshot.row(group.best.row).time_ms,
        })
        .collect();
    for upper in 0..n_compared {
        // Each move puts a newer one here, so there are at most as many as there are below.
        while let Some(lower) = newer_below(&source, groups, &compared, upper) {
            let older = snapshot.key(groups[upper].best.row).to_owned();
            let score = groups[upper].best.score;
            let mut newer = groups.remove(lower);
            newer.edges.push(Kin { kind: KinKind::Newer, id: older, shared: None });
            newer.best.score = score;
            groups.insert(upper, newer);
            let moved = compared.remove(lower);
            compared.insert(upper, moved);
        }
    }
}

/// The best hit below `upper` that is newer, says nearly the same and matches well enough.
fn newer_below(
    source: &Source<'_>,
    groups: &[Group],
    compared: &[Compared],
    upper: usize,
) -> Option<usize> {
    let top = &compared[upper];
    (upper + 1..compared.len()).find(|lower| {
        let other = &compared[*lower];
        other.time_ms > top.time_ms
            && (source.may_pass)(other.row, top.row)
            && groups[*lower].best.score >= MIN_SHARE * groups[upper].best.score
            && source.terms(top).likeness(source.terms(other)) >= MIN_ALIKE
    })
}
