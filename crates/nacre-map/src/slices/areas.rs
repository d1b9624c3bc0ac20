//! Divides a project into areas: its packages or, if it has none, the main directories of its own
//! code.
//!
//! Only the project's own code counts. A directory or package that contains most of the code is
//! replaced by its children.

use std::collections::BTreeMap;

use nacre_types::{CodeApart, CodeArea};

use super::declared::is_package_file;
use super::places::{CodeRole, folder_of};
use super::survey::{Node, Survey};
use crate::artifact::FileRow;

/// A directory or package that contains more than this percentage of the code is divided.
const ROOF_SHARE: usize = 60;

/// A package with less than this percentage of its parent package's code is merged into the parent.
const PART_SHARE: usize = 30;

const MAX_DEPTH: usize = 12;

/// Counts code files that are not the project's own code, such as tests and copies.
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

/// Returns the areas, largest first.
pub(super) fn areas(survey: &Survey, files: &[(&str, FileRow)]) -> Vec<CodeArea> {
    let is_own = |idx: usize| survey.nodes.get(idx).is_some_and(Node::is_own);
    let own: Vec<(&str, u32)> = (0..files.len())
        .filter(|idx| is_own(*idx))
        .map(|idx| (files[idx].0, files[idx].1.lines))
        .collect();
    let packages = outer_packages(packages(files, &own), &own);
    let by_folder = if packages.len() < 2 {
        divide_directories(&own)
    } else {
        divide_packages(&own, &packages)
    };
    let mut areas: Vec<CodeArea> = by_folder
        .into_iter()
        .map(|(path, (files, lines))| CodeArea { path: path.to_owned(), files, lines, about: None })
        .collect();
    areas.sort_by(|one, other| (other.lines, &one.path).cmp(&(one.lines, &other.path)));
    areas
}

/// Number of files and number of lines of code.
type Size = (usize, u64);

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

/// Removes packages that make up only a small part of an enclosing package, such as configuration
/// or tools with their own manifest.
fn outer_packages<'p>(packages: Vec<&'p str>, own: &[(&'p str, u32)]) -> Vec<&'p str> {
    let size = |folder: &str| {
        // Paths below a directory are adjacent in the list, and `0` is the character after `/`.
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

/// Returns the packages and their sizes. A package that contains most of the code is replaced by
/// its directories.
fn divide_packages<'p>(own: &[(&'p str, u32)], packages: &[&'p str]) -> BTreeMap<&'p str, Size> {
    let mut files_of: BTreeMap<&str, Vec<(&'p str, u32)>> = BTreeMap::new();
    // Files in the same directory are adjacent, except where a subdirectory's files come between
    // them.
    for files in own.chunk_by(|(one, _), (other, _)| folder_of(one) == folder_of(other)) {
        let folder = files.first().map_or("", |(path, _)| folder_of(path));
        files_of.entry(package_around(folder, packages)).or_default().extend(files);
    }
    let mut sizes = BTreeMap::new();
    for (package, files) in files_of {
        if is_roof(files.len(), own.len()) {
            sizes.extend(divide_directories(&files));
        } else {
            let size: &mut Size = sizes.entry(package).or_default();
            files.iter().for_each(|(_, lines)| grow(size, *lines));
        }
    }
    sizes
}

/// Returns the innermost package that contains a directory, or the first component of the
/// directory's path if no package contains it.
fn package_around<'p>(folder: &'p str, packages: &[&'p str]) -> &'p str {
    let mut around = folder;
    while !around.is_empty() && packages.binary_search(&around).is_err() {
        around = folder_of(around);
    }
    if around.is_empty() { folder.split('/').next().unwrap_or_default() } else { around }
}

fn is_roof(n_files: usize, n_all: usize) -> bool {
    n_all * ROOF_SHARE < n_files * 100
}

/// Returns the top-level directories. A directory that contains most of the code is divided.
fn divide_directories<'p>(own: &[(&'p str, u32)]) -> BTreeMap<&'p str, Size> {
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

/// Returns a directory's child directories, and the directory itself if it directly contains files.
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
        divide_directories(&own).into_keys().collect()
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
        let parts: Vec<&str> = divide_packages(&own, &["sea", "sea-macros"]).into_keys().collect();
        assert_eq!(parts, ["sea-macros", "sea/src", "sea/src/net", "sea/src/sync", "tools"]);
        let parts: Vec<&str> =
            divide_packages(&own[..3], &["sea", "sea-macros"]).into_keys().collect();
        assert_eq!(parts, ["sea-macros", "sea/src", "sea/src/net"]);
    }
}
