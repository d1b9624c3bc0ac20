//! What an overview takes from texts themselves: the README, manifests, and who wrote the files that it shows.
//!
//! Few files are read, those that may be shown, and each once however often the overview is made to fit a budget.

use std::collections::{BTreeMap, BTreeSet};

use nacre_core::base::redact::redact;
use serde::{Deserialize, Serialize};

use super::commands::{ProjectCommand, project_commands};
use super::declared::{Declared, is_declaring};
use super::generated::{is_generated_text, is_left_out_of_build, starts_program};
use super::places::{CodeRole, folder_of, place_of};
use super::readme::{first_paragraph, first_sentence};
use crate::artifact::FileRow;

/// So many manifests are read, those nearest to the root.
const MAX_MANIFESTS: usize = 64;

/// What is told about one area.
const MAX_AREA_CHARS: usize = 100;

/// Reads a file of the project.
pub(super) type ReadText<'r> = dyn Fn(&str) -> Option<String> + 'r;

/// What the first lines of a text tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextMarks {
    /// Whether a program wrote it.
    is_generated: bool,
    /// Whether it is left out of the build.
    is_helper: bool,
    /// Whether it starts a program, where others like it only speak of one.
    is_program: bool,
}

impl TextMarks {
    pub(super) fn of(path: &str, text: &str) -> Self {
        Self {
            is_generated: is_generated_text(text),
            is_helper: is_left_out_of_build(text),
            is_program: starts_program(path, text),
        }
    }
}

/// What texts say.
#[derive(Debug, Default)]
pub(super) struct TextFacts {
    pub(super) about: Option<String>,
    pub(super) commands: Vec<ProjectCommand>,
    pub(super) declared: Declared,
    /// Files that a program wrote, of those that were looked at.
    pub(super) generated: BTreeSet<usize>,
    /// Programs that are left out of the build, of those that were looked at.
    pub(super) helpers: BTreeSet<usize>,
    /// Files that only speak of a program, of those that were looked at.
    pub(super) no_programs: BTreeSet<usize>,
    /// All that were looked at; `None` for those that could not be read.
    pub(super) looked_at: BTreeMap<usize, Option<TextMarks>>,
}

impl TextFacts {
    pub(super) fn read(files: &[(&str, FileRow)], text: &ReadText<'_>) -> Self {
        let paths = files.iter().map(|(path, _)| *path);
        let readme = paths.clone().find(|path| !path.contains('/') && is_readme(path, ""));
        let about = readme.and_then(|path| first_paragraph(&text(path)?));
        let is_file = |path: &str| files.binary_search_by(|(known, _)| (*known).cmp(path)).is_ok();
        let is_own = |path: &&str| matches!(place_of(path), CodeRole::Source);
        let mut manifests: Vec<&str> =
            paths.clone().filter(|path| is_declaring(name_of(path))).filter(is_own).collect();
        manifests.sort_by_key(|path| (path.matches('/').count(), *path));
        let mut declared = Declared::default();
        for path in manifests.into_iter().take(MAX_MANIFESTS) {
            declared.read(path, &text(path).unwrap_or_default(), &is_file);
        }
        let described = || declared.about.get("").cloned();
        Self {
            about: about.or_else(described).map(|words| redact(&words).into_owned()),
            commands: redacted(project_commands(paths, &is_file, text)),
            declared,
            ..Self::default()
        }
    }

    /// Takes a look at the first lines of some files.
    pub(super) fn look_at(
        &mut self,
        indices: impl IntoIterator<Item = usize>,
        files: &[(&str, FileRow)],
        text: &ReadText<'_>,
    ) {
        for idx in indices {
            let Some((path, _)) = files.get(idx).filter(|_| !self.looked_at.contains_key(&idx))
            else {
                continue;
            };
            let marks = text(path).map(|text| TextMarks::of(path, &text));
            self.looked_at.insert(idx, marks);
            let Some(marks) = marks else { continue };
            let TextMarks { is_generated, is_helper, is_program } = marks;
            let sets = [
                (&mut self.generated, is_generated),
                (&mut self.helpers, is_helper),
                (&mut self.no_programs, !is_program),
            ];
            for (set, _) in sets.into_iter().filter(|(_, is_in)| *is_in) {
                set.insert(idx);
            }
        }
    }

    /// What some folders say they are: their manifest, or else their README.
    pub(super) fn about_folders<'p>(
        &self,
        folders: impl IntoIterator<Item = &'p str>,
        files: &[(&str, FileRow)],
        text: &ReadText<'_>,
    ) -> BTreeMap<String, String> {
        let mut told = BTreeMap::new();
        for folder in folders.into_iter().filter(|folder| !folder.is_empty()) {
            let declared = self.declared.about.get(folder).cloned();
            let readme = || {
                let at = files.partition_point(|(path, _)| *path < folder);
                let around = files[at..].iter().map(|(path, _)| *path);
                let path = around
                    .take_while(|path| path.starts_with(folder))
                    .find(|path| is_readme(path, folder))?;
                first_paragraph(&text(path)?)
            };
            if let Some(words) = declared.or_else(readme) {
                let words = redact(&first_sentence(&words, MAX_AREA_CHARS)).into_owned();
                told.insert(folder.to_owned(), words);
            }
        }
        told
    }
}

fn redacted(mut commands: Vec<ProjectCommand>) -> Vec<ProjectCommand> {
    for one in &mut commands {
        one.command = redact(&one.command).into_owned();
    }
    commands
}

/// Whether a file is the README of a folder.
fn is_readme(path: &str, folder: &str) -> bool {
    let name = name_of(path);
    // Nearly all others begin otherwise.
    if !name.starts_with(['r', 'R']) {
        return false;
    }
    let (stem, end) = name.split_once('.').unwrap_or((name, ""));
    folder_of(path) == folder
        && stem.eq_ignore_ascii_case("readme")
        && matches!(end, "" | "md" | "markdown" | "rst" | "txt" | "adoc")
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
