//! Matches one rule of the table around an anchor.

use super::finding::{FoundSecret, Weight};
use super::judge;
use super::rules::{Check, Cover, LONG, Part, Rule};
use super::text::{Edge, Text};

/// Returns the secret that `rule` sees around the anchor at `start..end`.
pub(super) fn find(
    text: &mut Text<'_>,
    rule: &'static Rule,
    start: usize,
    end: usize,
) -> Option<FoundSecret> {
    if !reaches(text, rule, end) {
        return None;
    }
    let first = match rule.lead {
        None => start,
        Some((set, min, max)) => {
            let lead = text.run_start(set, start, max);
            (start >= lead + min).then_some(lead)?
        }
    };
    let is_touched =
        !rule.touching.is_empty() && text.slice(0, first).ends_with(rule.touching.as_bytes());
    if rule.cover == Cover::Whole && !is_touched && !text.is_edge(rule.edge, first) {
        return None;
    }
    let last = parts_end(text, rule, end)?;
    let body = match rule.lead {
        None => text.slice(end, last),
        Some(_) => text.slice(first, last),
    };
    let is_real = match rule.check {
        Check::Plausible => judge::is_plausible(body),
        Check::Generated => judge::is_generated(body) && judge::is_plausible(body),
        Check::Random => judge::is_random(body) && judge::is_plausible(body),
    };
    let start = match rule.cover {
        Cover::Whole => first,
        Cover::AfterAnchor => end,
    };
    is_real.then_some(FoundSecret::new(start..last, rule.kind, Weight::Shape))
}

/// Says whether the body could be long enough, by its last needed byte alone: few anchors in prose
/// and code are followed by anything that long.
fn reaches(text: &Text<'_>, rule: &Rule, pos: usize) -> bool {
    match rule.parts.first() {
        Some(Part::Run(set, min @ 1.., _)) => {
            text.at(pos + min - 1).is_some_and(|byte| set.has(byte))
        }
        Some(Part::Run(..) | Part::Lit(_)) | None => true,
    }
}

fn parts_end(text: &mut Text<'_>, rule: &Rule, mut pos: usize) -> Option<usize> {
    for part in rule.parts {
        match *part {
            Part::Lit(literal) => {
                pos = text
                    .rest(pos)
                    .starts_with(literal.as_bytes())
                    .then_some(pos + literal.len())?;
            }
            Part::Run(set, min, max) => {
                let run_end = text.run_end(set, pos);
                // Behind a distinctive prefix a longer run is two secrets glued together.
                let max = match rule.edge {
                    Edge::Word => max.max(LONG),
                    Edge::Blob => max,
                };
                pos = (min..=max).contains(&(run_end - pos)).then_some(run_end)?;
            }
        }
    }
    Some(pos)
}
