//! An overview after edits that change little of it: what it says of the edited files is told anew, and no other file is looked at.
//!
//! An overview depends on which files there are, on where imports lead, on a few roles of each file and its size, on how many lines
//! of code there are, and on the texts of some files. With it is kept what it took from texts, so that an edit which changes none of that is seen to.

use std::cmp::Ordering;

use super::basis::OverviewBasis;
use super::made_paths::MadePaths;
use super::overview::{Limits, Overview, size_class, sort_languages};
use super::places::{CodeRole, place_of};
use super::surface::surface;
use super::text_facts::{ReadText, TextMarks};
use crate::artifact::ChangedFile;
use crate::languages::{Analysis, Depth, Language, Outline, Problem};
use crate::resolve::leads_alike;

/// Edits, and where what is known of the edited files is asked for.
pub struct Edits<'e> {
    pub changed: &'e [ChangedFile<'e>],
    pub made: &'e MadePaths,
    pub text: &'e ReadText<'e>,
    pub analysis: &'e dyn Fn(&str) -> Option<Analysis>,
}

impl OverviewBasis {
    /// The overview after edits, as it would be made anew; `None` where that is not certain.
    pub fn carried_over(&self, mut overview: Overview, edits: &Edits<'_>) -> Option<Overview> {
        let mut lines: Vec<u64> = self.areas.iter().map(|(_, lines)| *lines).collect();
        for change in edits.changed {
            if !self.is_told_alike(change, edits) {
                return None;
            }
            self.show_surface(&mut overview, &change.path, edits)?;
            self.count_lines(&mut overview, &mut lines, change, edits.made)?;
        }
        // Which parts are shown, and which library comes first, depends on their order.
        if !self.is_in_same_order(&lines) {
            return None;
        }
        for area in &mut overview.areas.items {
            area.lines = lines[self.areas.iter().position(|(path, _)| *path == area.path)?];
        }
        sort_languages(&mut overview.languages);
        Some(overview)
    }

    /// Whether everything but lines and symbols is told of a file as before.
    fn is_told_alike(&self, change: &ChangedFile<'_>, edits: &Edits<'_>) -> bool {
        let ChangedFile { path, before, after, is_known, lines, .. } = change;
        let language = Language::of_path(path);
        let marks = |path: &str| (edits.text)(path).map(|text| TextMarks::of(path, &text));
        let has_same_marks = match self.looked_at.get(path) {
            Some(known) => known.is_some() && *known == marks(path),
            None => true,
        };
        !self.read.contains(path)
            && (language.is_none() || *is_known)
            && leads_alike(language, before, after)
            && roles(before) == roles(after)
            && size_class(lines.0) == size_class(lines.1)
            && has_same_marks
    }

    /// Shows the symbols of a file as they are now, where they are shown.
    fn show_surface(&self, overview: &mut Overview, path: &str, edits: &Edits<'_>) -> Option<()> {
        if !self.offering.iter().any(|one| one == path) {
            return Some(());
        }
        let analysis = (edits.analysis)(path).filter(|analysis| analysis.depth == Depth::Full)?;
        let limit = Limits::of(overview.detail).symbols;
        let now = surface(path, &analysis.symbols, limit);
        let shown = overview.public_surface.items.iter_mut().find(|shown| shown.path == path);
        match (shown, now) {
            (Some(shown), Some(now)) => *shown = now,
            (None, None) => {}
            (Some(_), None) | (None, Some(_)) => return None,
        }
        Some(())
    }

    /// Counts the lines of a file as they are now: for its language, and for the part of the project that it lies in.
    fn count_lines(
        &self,
        overview: &mut Overview,
        lines: &mut [u64],
        change: &ChangedFile<'_>,
        made: &MadePaths,
    ) -> Option<()> {
        let ChangedFile { path, lines: (before, after), .. } = change;
        let place = place_of(path);
        let Some(language) = Language::of_path(path).filter(|_| before != after) else {
            return Some(());
        };
        let recounted =
            |count: u64| count.checked_sub(u64::from(*before))?.checked_add(u64::from(*after));
        if place != CodeRole::Vendored {
            let mut languages = overview.languages.iter_mut();
            let count = languages.find(|count| count.language == language.name())?;
            count.lines = recounted(count.lines)?;
        }
        if place == CodeRole::Source && !made.has(path) {
            let count = lines.get_mut(self.area_of(path)?)?;
            *count = recounted(*count)?;
        }
        Some(())
    }

    /// The part of the project that a file lies in: the innermost around it.
    fn area_of(&self, path: &str) -> Option<usize> {
        let is_around = |area: &str| {
            area.is_empty() || path.strip_prefix(area).is_some_and(|rest| rest.starts_with('/'))
        };
        let around = self.areas.iter().enumerate().filter(|(_, (area, _))| is_around(area));
        around.max_by_key(|(_, (area, _))| area.len()).map(|(at, _)| at)
    }

    /// Whether the parts, which are ordered by lines, stand to each other and to nothing as they did.
    fn is_in_same_order(&self, lines: &[u64]) -> bool {
        let before = self.areas.iter().map(|(_, lines)| *lines);
        order_of(before).eq(order_of(lines.iter().copied()))
    }
}

/// How each number stands to the next one, and whether it is none.
fn order_of(numbers: impl Iterator<Item = u64> + Clone) -> impl Iterator<Item = (bool, Ordering)> {
    let next = numbers.clone().skip(1).chain([0]);
    numbers.zip(next).map(|(one, next)| (one == 0, one.cmp(&next)))
}

/// What an overview needs to know of a file besides its imports.
fn roles(outline: &Outline<'_>) -> (bool, bool, bool, Option<Problem>) {
    (outline.is_entry, outline.is_test, outline.is_public, outline.problem)
}

#[cfg(test)]
mod tests;
