//! The folders of a project in a few lines.
//!
//! The room goes where the files are: the folder with the most files is opened first, again and again, until the lines are
//! used up. A folder of very many folders, such as tests by topic, stays one line.

use std::collections::BTreeMap;

const MAX_LINES: usize = 40;

/// A folder with more folders in it is not opened.
const MAX_OPENED: usize = 14;

/// A folder of fewer files is not worth its lines.
const MIN_OPENED: usize = 6;

/// A folder with what is in it.
#[derive(Default)]
pub(super) struct Folder {
    /// Files in it and below.
    n_files: usize,
    /// Files in it.
    n_own: usize,
    inside: BTreeMap<String, Self>,
}

/// One line: a folder, or the files of an opened one.
struct Shown<'a> {
    path: String,
    folder: &'a Folder,
    is_opened: bool,
}

impl Folder {
    /// Counts a file that lies in the folder of these names.
    pub(super) fn add<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        let mut folder = self;
        folder.n_files += 1;
        for name in names {
            folder = folder.inside.entry(name.to_owned()).or_default();
            folder.n_files += 1;
        }
        folder.n_own += 1;
    }

    fn shown<'a>(&'a self, path: &str) -> impl Iterator<Item = Shown<'a>> {
        let below =
            |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        let shown = move |(name, folder): (&String, &'a Self)| {
            let (mut path, mut folder) = (below(name), folder);
            // A folder that only holds another is no line of its own.
            while folder.n_own == 0
                && folder.inside.len() == 1
                && let Some((name, only)) = folder.inside.first_key_value()
            {
                path = format!("{path}/{name}");
                folder = only;
            }
            Shown { path, folder, is_opened: false }
        };
        self.inside.iter().map(shown).collect::<Vec<_>>().into_iter()
    }

    /// The folders below this one.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut list: Vec<Shown<'_>> = self.shown("").collect();
        while let Some(at) = next_to_open(&list) {
            let Shown { path, folder, .. } = list.swap_remove(at);
            list.extend(folder.shown(&path));
            if folder.n_own > 0 {
                list.push(Shown { path, folder, is_opened: true });
            }
        }
        list.sort_by(|a, b| a.path.cmp(&b.path));
        let n_more = list.len().saturating_sub(MAX_LINES);
        let mut lines: Vec<String> = list.iter().take(MAX_LINES).map(Shown::line).collect();
        if n_more > 0 {
            lines.push(format!("and {n_more} more folders"));
        }
        lines
    }
}

/// The folder with the most files whose folders still have room.
fn next_to_open(list: &[Shown<'_>]) -> Option<usize> {
    let n_free = MAX_LINES.checked_sub(list.len())?;
    let can_be = |shown: &Shown<'_>| {
        let n_inside = shown.folder.inside.len();
        !shown.is_opened
            && (1..=MAX_OPENED).contains(&n_inside)
            && n_inside <= n_free
            && MIN_OPENED <= shown.folder.n_files
    };
    let open = list.iter().enumerate().filter(|(_, shown)| can_be(shown));
    open.max_by_key(|(_, shown)| shown.folder.n_files).map(|(at, _)| at)
}

impl Shown<'_> {
    fn line(&self) -> String {
        let n_files = if self.is_opened { self.folder.n_own } else { self.folder.n_files };
        let files = if n_files == 1 { "file" } else { "files" };
        let n_inside = self.folder.inside.len();
        match self.is_opened || n_inside <= MAX_OPENED {
            true => format!("{}/ ({n_files} {files})", self.path),
            false => format!("{}/ ({n_files} {files} in {n_inside} folders)", self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(paths: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut top = Folder::default();
        paths.into_iter().for_each(|path| top.add(path.split('/')));
        top.lines()
    }

    fn files(folder: &str, n: usize) -> Vec<String> {
        vec![folder.to_owned(); n]
    }

    #[test]
    fn the_room_goes_where_the_files_are() {
        let crates = ["core", "engine"].into_iter().flat_map(|name| {
            let rooms = ["base", "store"].map(|room| format!("crates/{name}/src/{room}"));
            rooms
                .into_iter()
                .flat_map(|room| files(&room, 9))
                .chain(files(&format!("crates/{name}"), 1))
        });
        let tests = (0..200).map(|n| format!("tests/topic{n}"));
        let told =
            lines(crates.chain(tests).chain(files("docs/images", 2)).chain(files("docs", 1)));
        assert_eq!(
            told,
            [
                "crates/core/ (1 file)",
                "crates/core/src/base/ (9 files)",
                "crates/core/src/store/ (9 files)",
                "crates/engine/ (1 file)",
                "crates/engine/src/base/ (9 files)",
                "crates/engine/src/store/ (9 files)",
                "docs/ (3 files)",
                "tests/ (200 files in 200 folders)",
            ]
        );
    }

    #[test]
    fn a_project_of_very_many_folders_is_cut() {
        let told = lines((0..200).map(|n| format!("folder{n}")));
        assert_eq!(
            (told.len(), told.last().map(String::as_str)),
            (41, Some("and 160 more folders"))
        );
    }
}
