//! Extracts facts for the overview from the README, the manifests, and files that may be shown.
//!
//! Only files that may be shown are read, and each is read once.

use std::collections::{BTreeMap, BTreeSet};

use nacre_base::redact::redact;
use nacre_types::ProjectCommand;

use super::commands::project_commands;
use super::declared::{Declared, is_declaring};
use super::places::{CodeRole, folder_of, place_of};
use super::readme::{first_paragraph, first_sentence};
use crate::artifact::FileRow;

const MAX_MANIFESTS: usize = 64;

const MAX_AREA_CHARS: usize = 100;

pub(super) type ReadText<'r> = dyn Fn(&str) -> Option<String> + 'r;

#[derive(Debug, Default)]
pub(super) struct TextFacts {
    pub(super) about: Option<String>,
    pub(super) commands: Vec<ProjectCommand>,
    pub(super) declared: Declared,
    /// Generated files among those that have been read.
    pub(super) generated: BTreeSet<usize>,
    /// Programs that are excluded from the build, among the files that have been read.
    pub(super) helpers: BTreeSet<usize>,
    /// Files that contain `main` but are not programs, among the files that have been read.
    pub(super) no_programs: BTreeSet<usize>,
    looked_at: BTreeSet<usize>,
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

    pub(super) fn look_at(
        &mut self,
        indices: impl IntoIterator<Item = usize>,
        files: &[(&str, FileRow)],
        text: &ReadText<'_>,
    ) {
        for idx in indices {
            let Some((path, _)) = files.get(idx).filter(|_| self.looked_at.insert(idx)) else {
                continue;
            };
            let Some(text) = text(path) else { continue };
            if is_generated_text(&text) {
                self.generated.insert(idx);
            }
            if is_left_out_of_build(&text) {
                self.helpers.insert(idx);
            }
            if !starts_program(path, &text) {
                self.no_programs.insert(idx);
            }
        }
    }

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

fn is_readme(path: &str, folder: &str) -> bool {
    let name = name_of(path);
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

/// Markers of generated files are in the first lines, before any code.
const MAX_BYTES: usize = 1_500;
const MAX_LINES: usize = 30;

const MARKS: &[&str] = &[
    "@generated",
    "code generated by",
    "autogenerated",
    "auto-generated",
    "automatically generated",
    "generated by the protocol buffer compiler",
    "this file was generated",
    "this file is generated",
];

fn is_generated_text(text: &str) -> bool {
    let head = head(text);
    let has = |words: &str| head.contains(words);
    MARKS.iter().any(|mark| has(mark))
        || has("generated") && (has("do not edit") || has("do not modify"))
}

/// Returns whether a Go file is excluded from the build. This is common for programs that are run
/// by hand.
fn is_left_out_of_build(text: &str) -> bool {
    let head = head(text);
    let is_apart = |line: &str| {
        let rest = line.strip_prefix("//go:build ").or_else(|| line.strip_prefix("// +build "));
        rest.is_some_and(|rest| matches!(rest.trim(), "ignore" | "generate" | "tools" | "tool"))
    };
    head.lines().any(is_apart)
}

/// Returns whether a file that contains `main` starts a program. In Java, `main` may also occur in
/// a comment.
fn starts_program(path: &str, text: &str) -> bool {
    let is_start = |line: &str| {
        let before = line.split("static void main(").next().unwrap_or_default();
        before.len() < line.len()
            && matches!(before.trim(), "" | "public" | "public final" | "final public")
    };
    !path.ends_with(".java") || text.lines().any(is_start)
}

fn head(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_BYTES);
    let lines: Vec<&str> = text[..end].lines().take(MAX_LINES).collect();
    lines.join("\n").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_sign_what_they_write() {
        let cases = [
            ("// Code generated by conversion-gen. DO NOT EDIT.\npackage a\n", true),
            ("/* eslint-disable */\n// @generated\n", true),
            ("# Generated from tide.y\n# Do not edit\n", true),
            ("//! Marks of generated code.\nfn is_generated() {}\n", false),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_generated_text(text), expected, "{text}");
        }
        let late = format!("{}// Code generated by x\n", "a();\n".repeat(400));
        assert!(!is_generated_text(&late));
    }
}
