//! Reads, compares and copies file trees.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use nacre_base::ContentHash;

/// Maps relative paths to contents. A directory's path ends with `/`, and its content is empty.
pub(crate) type Tree = BTreeMap<String, Vec<u8>>;

pub(crate) fn read(root: &Path, is_left_out: impl Fn(&str) -> bool) -> io::Result<Tree> {
    let mut tree = Tree::new();
    let mut queue = vec![(root.to_owned(), String::new())];
    while let Some((dir, prefix)) = queue.pop() {
        let entries = match fs::read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if is_left_out(&name) {
                continue;
            }
            let kind = entry.file_type()?;
            if kind.is_dir() {
                tree.insert(format!("{name}/"), Vec::new());
                queue.push((entry.path(), format!("{name}/")));
            } else if kind.is_file() {
                tree.insert(name, fs::read(entry.path())?);
            } else {
                tree.insert(name, b"not a file".to_vec());
            }
        }
    }
    Ok(tree)
}

pub(crate) fn difference(a: &Tree, b: &Tree) -> Option<String> {
    let lacks = |tree: &Tree, path: &str| !path.ends_with('/') && !tree.contains_key(path);
    let missing = a.keys().find(|path| lacks(b, path)).map(|path| format!("-{path}"));
    let added = b.keys().find(|path| lacks(a, path)).map(|path| format!("+{path}"));
    let changed = a
        .iter()
        .find(|(path, bytes)| b.get(*path).is_some_and(|other| other != *bytes))
        .map(|(path, _)| format!("~{path}"));
    missing.or(added).or(changed)
}

pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Returns the type, mode, times, content and link target of each path.
pub(crate) fn fingerprint(
    root: &Path,
    is_left_out: impl Fn(&Path) -> bool,
) -> io::Result<BTreeMap<PathBuf, String>> {
    let mut seen = BTreeMap::new();
    let mut queue = vec![root.to_owned()];
    while let Some(path) = queue.pop() {
        if is_left_out(&path) {
            continue;
        }
        let metadata = fs::symlink_metadata(&path)?;
        let stamp = format!("{:o} {}.{}", metadata.mode(), metadata.mtime(), metadata.mtime_nsec());
        let content = if metadata.is_dir() {
            queue.extend(fs::read_dir(&path)?.filter_map(Result::ok).map(|entry| entry.path()));
            String::new()
        } else if metadata.is_symlink() {
            fs::read_link(&path)?.display().to_string()
        } else {
            ContentHash::of(&fs::read(&path)?).short()
        };
        seen.insert(path, format!("{stamp} {content}"));
    }
    Ok(seen)
}
