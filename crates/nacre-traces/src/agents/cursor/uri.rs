//! Resolves the project directory from Cursor's URIs and paths. A directory is stored as a path, as
//! a `file://` or `vscode-remote://` URI, or as a JSON object with the parts of a URI. A remote
//! directory's path includes its host, so that it is never mistaken for a local path.

use crate::transcript::toolkit::*;
use std::collections::BTreeMap;

const PATH_ARGUMENTS: &str = "targetFile target_file relativeWorkspacePath path file_path filePath \
    targetDirectory target_directory working_directory cwd";
const MAX_FILES: usize = 4096;
const MAX_PATH: usize = 4096;
/// The directory that contains most of the files is considered a project only at this depth or
/// deeper, as in `/home/name/project`.
const MIN_DEPTH: usize = 3;
/// Maximum depth of a project directory. All of a path's ancestors are counted, and an untrusted
/// path may have thousands of components.
const MAX_DEPTH: usize = 32;

/// Returns the path in a URI. A remote path is prefixed with its host.
pub(crate) fn path_of(address: &str) -> Option<String> {
    let address = address.trim();
    if address.is_empty() || MAX_PATH < address.len() {
        return None;
    }
    match address.split_once("://") {
        Some(("file", rest)) => {
            // A file URI with a host refers to a Windows share.
            let (host, path) = rest.split_at(rest.find('/')?);
            let path = local_path(&percent_decode(path));
            let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
            Some(if is_here { path } else { format!("//{}{path}", percent_decode(host)) })
        }
        Some(("vscode-remote", rest)) => remote_path(rest),
        // URIs with other schemes, such as drafts, diffs and settings pages, have no path.
        Some(_) => None,
        None if is_absolute(address) => Some(local_path(address)),
        None => None,
    }
}

/// `raw` is a string or an object with the parts of a URI.
pub(super) fn path_of_value(raw: &str) -> Option<String> {
    if let Some(text) = text_of(raw) {
        return path_of(&text);
    }
    let fields = Fields::read(raw)?;
    for key in ["external", "folder", "configPath"] {
        if let Some(path) = path_of(&fields.string(key)) {
            return Some(path);
        }
    }
    let scheme = fields.word("scheme");
    if scheme == "vscode-remote" {
        let (host, path) = (fields.string("authority"), fields.string("path"));
        return path_of(&format!("vscode-remote://{host}{path}"));
    }
    if !scheme.is_empty() && scheme != "file" {
        return None;
    }
    let plain = ["fsPath", "path", "_fsPath"].iter().find_map(|key| path_of(&fields.string(key)));
    plain.or_else(|| path_of_value(fields.raw("uri")))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.starts_with("\\\\") || drive(path).is_some()
}

/// Returns the drive prefix, such as `c:` for `c:\x` or `c:/x`.
fn drive(path: &str) -> Option<&str> {
    match path.as_bytes() {
        [letter, b':'] | [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => {
            Some(&path[..2])
        }
        _ => None,
    }
}

/// Converts a URI path to native form. For example, `/c:/x` becomes `c:\x`.
fn local_path(path: &str) -> String {
    let bare = path.strip_prefix('/').filter(|rest| drive(rest).is_some()).unwrap_or(path);
    let path = match drive(bare) {
        Some(_) => bare.replace('/', "\\"),
        None => bare.to_owned(),
    };
    without_end(&path).to_owned()
}

/// Removes a trailing separator, unless the path is a root.
fn without_end(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    if trimmed.is_empty() || trimmed.ends_with(':') { path } else { trimmed }
}

fn remote_path(rest: &str) -> Option<String> {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (host, path) = (percent_decode(host), percent_decode(path));
    let (kind, name) = host.split_once('+').unwrap_or((&host, ""));
    match kind {
        // WSL paths are on the local machine.
        "wsl" => Some(without_end(&path).to_owned()),
        // The host name encodes the local directory that is mounted in the container.
        "dev-container" => {
            let folder = host_folder(name);
            Some(folder.unwrap_or_else(|| format!("vscode-remote://{host}{path}")))
        }
        _ => Some(format!("vscode-remote://{host}{}", without_end(&path))),
    }
}

fn host_folder(name: &str) -> Option<String> {
    let bytes = from_hex(name.split('@').next()?)?;
    let text = String::from_utf8(bytes).ok()?;
    let path = Fields::read(&text).map(|fields| fields.string("hostPath").into_owned());
    path_of(&path.unwrap_or(text))
}

pub(super) fn from_hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let (pairs, _) = digits.as_bytes().as_chunks::<2>();
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

pub(super) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

pub(super) fn parent(path: &str) -> Option<&str> {
    let path = without_end(path);
    let at = path.rfind(['/', '\\'])?;
    (0 < at).then(|| &path[..at])
}

/// Returns a path's ancestors that could be projects, deepest first.
fn folders_above(path: &str) -> Vec<&str> {
    let mut above: Vec<&str> = std::iter::successors(parent(path), |path| parent(path)).collect();
    above.drain(..above.len().saturating_sub(MAX_DEPTH));
    above
}

/// Counts of the files that a session touched. Unless there is better evidence, the directory that
/// contains most of these files is taken to be the project.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchedFiles(BTreeMap<String, u32>);

impl TouchedFiles {
    pub(super) fn note(&mut self, path: String) {
        if self.0.len() < MAX_FILES || self.0.contains_key(&path) {
            *self.0.entry(path).or_default() += 1;
        }
    }

    pub(super) fn merge(mut self, other: Self) -> Self {
        for (path, n_times) in other.0 {
            if self.0.len() < MAX_FILES || self.0.contains_key(&path) {
                *self.0.entry(path).or_default() += n_times;
            }
        }
        self
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn note_arguments(&mut self, arguments: &str) {
        let arguments = Fields::of(arguments);
        for key in PATH_ARGUMENTS.split_whitespace() {
            if let Some(path) = path_of(&arguments.string(key)) {
                self.note(path);
            }
        }
    }

    /// Adds the path of each element in a JSON array. The path is either the element itself or its
    /// `uri`.
    pub(super) fn note_all(&mut self, array: &str) {
        for path in items(array).into_iter().filter_map(path_of_value) {
            self.note(path);
        }
    }

    /// Returns the deepest directory that contains more than half of the files or, if there is
    /// none, the directory of the most frequently touched file.
    pub(super) fn folder(&self) -> Option<String> {
        let mut n_below: BTreeMap<&str, usize> = BTreeMap::new();
        for file in self.0.keys() {
            for folder in folders_above(file) {
                *n_below.entry(folder).or_default() += 1;
            }
        }
        let depth = |path: &str| path.split(['/', '\\']).filter(|part| !part.is_empty()).count();
        let shared = n_below
            .iter()
            .filter(|(path, n_files)| self.0.len() < **n_files * 2 && MIN_DEPTH <= depth(path))
            .max_by_key(|(path, _)| path.len())
            .map(|(path, _)| (*path).to_owned());
        shared.or_else(|| {
            let (file, _) = self.0.iter().max_by_key(|(_, n_times)| **n_times)?;
            parent(file).map(str::to_owned)
        })
    }

    pub(super) fn folder_of_slug(&self, slug: &str) -> Option<String> {
        self.0.keys().find_map(|file| above_of_slug(file, slug))
    }
}

pub(super) fn above_of_slug(path: &str, slug: &str) -> Option<String> {
    let above = folders_above(path);
    // A deeper path cannot be a project directory.
    let itself = Some(path).filter(|_| above.len() < MAX_DEPTH);
    let mut folders = itself.into_iter().chain(above);
    folders.find(|folder| is_slug_of(slug, folder)).map(str::to_owned)
}

/// Returns whether Cursor could have derived the slug from the path, by replacing each run of other
/// characters with `-`.
fn is_slug_of(slug: &str, path: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
        parts.filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect()
    };
    !slug.is_empty() && words(slug) == words(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_paths() {
        let cases = [
            ("file:///home/me/my%20project", Some("/home/me/my project")),
            ("file:///home/me/p%C3%BC/", Some("/home/me/pü")),
            ("file:///c%3A/Users/me/app", Some("c:\\Users\\me\\app")),
            ("file://localhost/srv/app", Some("/srv/app")),
            ("file://server/share/app", Some("//server/share/app")),
            ("vscode-remote://wsl%2Bubuntu/home/me/app", Some("/home/me/app")),
            (
                "vscode-remote://ssh-remote%2Bbox/home/me/app",
                Some("vscode-remote://ssh-remote+box/home/me/app"),
            ),
            ("vscode-remote://dev-container%2B2f686f6d652f6d65/workspaces/app", Some("/home/me")),
            (
                "vscode-remote://dev-container%2B7b22686f737450617468223a222f61227d/workspaces/a",
                Some("/a"),
            ),
            ("vscode-remote://dev-container%2Bzz/w", Some("vscode-remote://dev-container+zz/w")),
            ("/plain/path/", Some("/plain/path")),
            ("c:\\Users\\me", Some("c:\\Users\\me")),
            ("untitled:Untitled-1", None),
            ("https://example.com/a", None),
            ("relative/path", None),
            ("file:///home/100%", Some("/home/100%")),
            ("", None),
        ];
        for (address, path) in cases {
            assert_eq!(path_of(address).as_deref(), path, "{address}");
        }
    }

    #[test]
    fn objects_name_paths_too() {
        let windows = r#"{"$mid":1,"fsPath":"c:\\a\\b","external":"file:///c%3A/a/b","path":"/c:/a/b","scheme":"file"}"#;
        assert_eq!(path_of_value(windows).as_deref(), Some("c:\\a\\b"));
        let nested = r#"{"uri":{"scheme":"file","path":"/srv/x.rs"},"isCurrentFile":true}"#;
        assert_eq!(path_of_value(nested).as_deref(), Some("/srv/x.rs"));
        let remote = r#"{"scheme":"vscode-remote","authority":"ssh-remote+h","path":"/x"}"#;
        assert_eq!(path_of_value(remote).as_deref(), Some("vscode-remote://ssh-remote+h/x"));
        assert_eq!(path_of_value(r#"{"scheme":"untitled","path":"/x"}"#), None);
        assert_eq!(path_of_value("12"), None);
    }

    #[test]
    fn most_files_tell_the_folder() {
        let mut files = TouchedFiles::default();
        for path in ["/home/me/app/src/a.rs", "/home/me/app/README.md", "/etc/hosts"] {
            files.note(path.to_owned());
        }
        assert_eq!(files.folder().as_deref(), Some("/home/me/app"));
        let mut apart = TouchedFiles::default();
        for path in ["/a/x", "/b/y", "/b/y", "/c/z"] {
            apart.note(path.to_owned());
        }
        assert_eq!(apart.folder().as_deref(), Some("/b"));
        assert_eq!(TouchedFiles::default().folder(), None);
    }

    #[test]
    fn of_a_path_without_end_only_its_beginning_is_counted() {
        let deep = format!("/home/me/app{}", "/y".repeat(2040));
        let above = folders_above(&deep);
        assert_eq!(above.len(), MAX_DEPTH);
        assert_eq!(above.last(), Some(&"/home"));
        let mut files = TouchedFiles::default();
        (0..3).for_each(|n| files.note(format!("/home/me/app/{n}{}", "/y".repeat(2040))));
        assert_eq!(files.folder().as_deref(), Some("/home/me/app"));
        assert_eq!(files.folder_of_slug("home-me-app").as_deref(), Some("/home/me/app"));
    }

    #[test]
    fn a_slug_is_found_in_the_files() {
        let mut files = TouchedFiles::default();
        files.note("/Users/me/my-app.v2/src/main.rs".to_owned());
        let found = files.folder_of_slug("Users-me-my-app-v2");
        assert_eq!(found.as_deref(), Some("/Users/me/my-app.v2"));
        assert_eq!(files.folder_of_slug("Users-me-other"), None);
    }
}
