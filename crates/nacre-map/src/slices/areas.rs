//! The parts that a project is made of: its packages, or else the folders that divide its own code.
//!
//! Only own code counts. A folder or package that holds nearly everything is no part but a roof: what lies in it is told
//! instead.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::declared::is_package_file;
use super::places::{CodeRole, folder_of};
use super::survey::{Node, Survey};
use crate::artifact::FileRow;

/// A folder with more than this share of the code, in hundredths, is divided.
const ROOF_SHARE: usize = 60;

/// A package with less than this share of the one around it, in hundredths, is a part of that.
const PART_SHARE: usize = 30;

/// Folders are divided at most so deep.
const MAX_DEPTH: usize = 12;

/// A part of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// Empty for what lies in no folder.
    pub path: String,
    pub files: usize,
    pub lines: u64,
    /// What its manifest or README says it is.
    pub about: Option<String>,
}

/// Files of code, by what they are apart from the project's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeApart {
    pub tests: usize,
    /// Examples, benchmarks and documents.
    pub aside: usize,
    pub vendored: usize,
    pub generated: usize,
}

/// Counts the code that is not the project's own.
pub(super) fn code_apart(survey: &Survey) -> CodeApart {
    let mut apart = CodeApart::default();
    for node in survey.nodes.iter().filter(|node| node.language.is_some()) {
        match node.place {
            CodeRole::Source => {}
            CodeRole::Test => apart.tests += 1,
            CodeRole::Aside => apart.aside += 1,
            CodeRole::Vendored => apart.vendored += 1,
            CodeRole::Generated => apart.generated += 1,
        }
    }
    apart
}

/// The parts of a project, largest first.
pub(super) fn areas(survey: &Survey, files: &[(&str, FileRow)]) -> Vec<Area> {
    let is_own = |idx: usize| survey.nodes.get(idx).is_some_and(Node::is_own);
    let own: Vec<(&str, u32)> = (0..files.len())
        .filter(|idx| is_own(*idx))
        .map(|idx| (files[idx].0, files[idx].1.lines))
        .collect();
    let packages = outer_packages(packages(files, &own), &own);
    let by_folder =
        if packages.len() < 2 { divided(&own) } else { divided_packages(&own, &packages) };
    let mut areas: Vec<Area> = by_folder
        .into_iter()
        .map(|(path, (files, lines))| Area { path: path.to_owned(), files, lines, about: None })
        .collect();
    areas.sort_by(|one, other| (other.lines, &one.path).cmp(&(one.lines, &other.path)));
    areas
}

/// Files and lines of code.
type Size = (usize, u64);

/// Folders below the root that a manifest makes a package and that hold own code.
fn packages<'p>(files: &[(&'p str, FileRow)], own: &[(&str, u32)]) -> Vec<&'p str> {
    let is_package = |path: &&str| is_package_file(path.rsplit('/').next().unwrap_or(path));
    let paths = files.iter().map(|(path, _)| *path).filter(is_package);
    let mut folders: Vec<&str> = paths.map(folder_of).filter(|folder| !folder.is_empty()).collect();
    folders.sort_unstable();
    folders.dedup();
    folders.retain(|folder| {
        let at = own.partition_point(|(path, _)| path < folder);
        own[at..]
            .iter()
            .take_while(|(path, _)| path.starts_with(folder))
            .any(|(path, _)| is_in(path, folder))
    });
    folders
}

/// Leaves out packages that are a small part of another: configurations and tools that have a manifest of their own.
fn outer_packages<'p>(packages: Vec<&'p str>, own: &[(&'p str, u32)]) -> Vec<&'p str> {
    let size = |folder: &str| {
        // What lies below a folder stands together, and `0` is the letter after the slash.
        let before =
            |end: char| own.partition_point(|(path, _)| *path < format!("{folder}{end}").as_str());
        before('0') - before('/')
    };
    let is_part = |inner: &&str| {
        let around = packages.iter().filter(|outer| is_in(inner, outer));
        around.map(|outer| size(outer)).any(|outer| size(inner) * 100 < outer * PART_SHARE)
    };
    let parts: Vec<&str> = packages.iter().copied().filter(is_part).collect();
    packages.into_iter().filter(|folder| !parts.contains(folder)).collect()
}

/// The packages; one that holds nearly everything is told by its folders.
fn divided_packages<'p>(own: &[(&'p str, u32)], packages: &[&'p str]) -> BTreeMap<&'p str, Size> {
    let mut files_of: BTreeMap<&str, Vec<(&'p str, u32)>> = BTreeMap::new();
    // The files of a folder stand together, but for what lies in folders between them.
    for files in own.chunk_by(|(one, _), (other, _)| folder_of(one) == folder_of(other)) {
        let folder = files.first().map_or("", |(path, _)| folder_of(path));
        files_of.entry(package_around(folder, packages)).or_default().extend(files);
    }
    let mut sizes = BTreeMap::new();
    for (package, files) in files_of {
        if is_roof(files.len(), own.len()) {
            sizes.extend(divided(&files));
        } else {
            let size: &mut Size = sizes.entry(package).or_default();
            files.iter().for_each(|(_, lines)| grow(size, *lines));
        }
    }
    sizes
}

/// The innermost package around a folder. What is in no package is told by its first folder.
fn package_around<'p>(folder: &'p str, packages: &[&'p str]) -> &'p str {
    let mut around = folder;
    while !around.is_empty() && packages.binary_search(&around).is_err() {
        around = folder_of(around);
    }
    if around.is_empty() { folder.split('/').next().unwrap_or_default() } else { around }
}

/// Whether a folder with so many files holds nearly everything.
fn is_roof(n_files: usize, n_all: usize) -> bool {
    n_all * ROOF_SHARE < n_files * 100
}

/// The folders of the root; one that holds nearly everything is divided.
fn divided<'p>(own: &[(&'p str, u32)]) -> BTreeMap<&'p str, Size> {
    let mut roof = "";
    let mut sizes = children(own, roof);
    for _ in 0..MAX_DEPTH {
        let large =
            sizes.iter().find(|(path, (files, _))| **path != roof && is_roof(*files, own.len()));
        let Some((path, _)) = large.map(|(path, size)| (*path, *size)) else { break };
        let below = children(own, path);
        if below.len() < 2 && below.contains_key(path) {
            break;
        }
        sizes.remove(path);
        sizes.extend(below);
        roof = path;
    }
    sizes
}

/// The folders right below one, and itself for the files that lie in it.
fn children<'p>(own: &[(&'p str, u32)], folder: &'p str) -> BTreeMap<&'p str, Size> {
    let mut sizes: BTreeMap<&str, Size> = BTreeMap::new();
    for (path, lines) in own.iter().filter(|(path, _)| is_in(path, folder)) {
        let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let child = path[start..].find('/').map_or(folder, |at| &path[..start + at]);
        grow(sizes.entry(child).or_default(), *lines);
    }
    sizes
}

fn grow(size: &mut Size, lines: u32) {
    *size = (size.0 + 1, size.1 + u64::from(lines));
}

fn is_in(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(own: &[&'static str]) -> Vec<&'static str> {
        let own: Vec<(&str, u32)> = own.iter().map(|path| (*path, 1)).collect();
        divided(&own).into_keys().collect()
    }

    #[test]
    fn a_folder_with_nearly_everything_is_divided() {
        assert_eq!(
            names(&["setup.py", "sea/a.py", "sea/db/b.py", "sea/db/c.py", "sea/http/d.py"]),
            ["", "sea", "sea/db", "sea/http"]
        );
        assert_eq!(
            names(&["cmd/a.go", "main.go", "models/b.go", "models/c.go"]),
            ["", "cmd", "models"]
        );
        assert_eq!(names(&["a/b/c/d.rs", "a/b/c/e.rs"]), ["a/b/c"]);
        assert_eq!(names(&[]), [""; 0]);
    }

    #[test]
    fn a_package_with_nearly_everything_is_told_by_its_folders() {
        let own = [
            ("sea-macros/src/lib.rs", 1),
            ("sea/src/lib.rs", 1),
            ("sea/src/net/tcp.rs", 1),
            ("sea/src/net/udp.rs", 1),
            ("sea/src/sync/lock.rs", 1),
            ("tools/run.rs", 1),
        ];
        let parts: Vec<&str> = divided_packages(&own, &["sea", "sea-macros"]).into_keys().collect();
        assert_eq!(parts, ["sea-macros", "sea/src", "sea/src/net", "sea/src/sync", "tools"]);
        let parts: Vec<&str> =
            divided_packages(&own[..3], &["sea", "sea-macros"]).into_keys().collect();
        assert_eq!(parts, ["sea-macros", "sea/src", "sea/src/net"]);
    }
}
