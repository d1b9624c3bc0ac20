//! Removes names and paths that identify the user and their machine before text is shared.
//!
//! Paths below the repository become relative, home directories become `~`, and the account and
//! machine names become `USER` and `HOST`. Home directories on other machines are recognized by
//! their format, because a session may have been recorded elsewhere. The replacement is idempotent.

use std::borrow::Cow;
use std::path::Path;

/// Parent directories of home directories. The next component is the account name.
const HOME_PARENTS: &[&str] =
    &["/home/", "/Users/", "\\Users\\", "\\\\Users\\\\", "-home-", "-Users-"];

/// Names of shared directories that are siblings of home directories.
const SHARED_FOLDERS: &[&str] = &["Shared", "Public", "Default", "linuxbrew", "shared", "public"];

/// Names that do not identify anyone or are common in technical writing.
const COMMON_NAMES: &str = "
    admin agent azureuser build builder claude codespace codex coder copilot cursor debian
    default deploy desktop developer docker fedora gemini gitlab gitpod guest hosts jenkins
    laptop linux local localhost localdomain macbook machine nacre nginx nobody opencode
    owner postgres project runner server service staging student system tester ubuntu users
    vagrant vscode worker workspace
";

/// Shorter names are often ordinary words, such as `max`.
const MIN_NAME_CHARS: usize = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalNames {
    /// The repository and home directory paths with their replacements, longer path first.
    folders: Vec<(String, &'static str)>,
    names: Vec<(String, &'static str)>,
}

impl LocalNames {
    pub fn new(
        repository: Option<&Path>,
        home: Option<&Path>,
        user: Option<&str>,
        host: Option<&str>,
    ) -> Self {
        let path = |path: &Path| Some(path.to_str()?.trim_end_matches('/').to_owned());
        // Paths such as `/` or `/home` are prefixes of unrelated paths.
        let is_deep = |path: &String| path.matches('/').count() > 1;
        let repository = repository.and_then(path).map(|path| (path, ""));
        let home_path = home.and_then(path).map(|path| (path, "~"));
        let mut folders: Vec<(String, &'static str)> =
            repository.into_iter().chain(home_path).filter(|(path, _)| is_deep(path)).collect();
        folders.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let of_home = home.and_then(Path::file_name).and_then(|name| name.to_str());
        let short_host = host.and_then(|host| host.split('.').next());
        let users = [user, of_home].into_iter().flatten().map(|name| (name, "USER"));
        let hosts = [host, short_host].into_iter().flatten().map(|name| (name, "HOST"));
        let mut names: Vec<(String, &'static str)> = Vec::new();
        for (name, instead) in hosts.chain(users) {
            let name = name.to_lowercase();
            if is_telling(&name) && !names.iter().any(|(known, _)| *known == name) {
                names.push((name, instead));
            }
        }
        Self { folders, names }
    }

    pub fn remove_from<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for (folder, instead) in &self.folders {
            if text.contains(folder.as_str()) {
                text = Cow::Owned(without_folder(&text, folder, instead));
            }
        }
        if HOME_PARENTS.iter().any(|parent| text.contains(parent)) || text.contains("/root/") {
            text = Cow::Owned(without_homes(&text));
        }
        for (name, instead) in &self.names {
            if let Some(clean) = without_name(&text, name, instead) {
                text = Cow::Owned(clean);
            }
        }
        text
    }
}

fn is_telling(name: &str) -> bool {
    name.chars().count() >= MIN_NAME_CHARS
        && !COMMON_NAMES.split_ascii_whitespace().any(|common| common == name)
        && name.chars().all(|c| c.is_alphanumeric() || "._-".contains(c))
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || "._-~".contains(c)
}

/// Replaces a directory's path, except where it is only a prefix of a longer name.
fn without_folder(text: &str, folder: &str, instead: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        clean.push_str(before);
        let begins = !clean.ends_with(is_path_char);
        let ends = !after.starts_with(|c: char| c.is_alphanumeric() || "_-".contains(c));
        let (put, skipped) = match (begins && ends, instead, after.strip_prefix('/')) {
            (false, _, _) => (folder, after),
            (true, "", Some(below)) if below.starts_with(is_path_char) => ("", below),
            (true, "", _) => (".", after),
            (true, instead, _) => (instead, after),
        };
        clean.push_str(put);
        rest = skipped;
    }
    clean + rest
}

fn without_homes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let found = HOME_PARENTS.iter().filter_map(|parent| Some((rest.find(parent)?, *parent)));
        let Some((at, parent)) = found.min_by_key(|(at, _)| *at) else { break };
        let after = &rest[at + parent.len()..];
        let is_encoded = parent.starts_with('-');
        let is_inside =
            |c: char| c.is_alphanumeric() || c == '_' || (!is_encoded && ".-".contains(c));
        let end = after.find(|c: char| !is_inside(c)).unwrap_or(after.len());
        let name = after[..end].trim_end_matches('.');
        let below = &after[name.len()..];
        clean.push_str(&rest[..at]);
        if name.is_empty() || SHARED_FOLDERS.contains(&name) {
            clean.push_str(parent);
            clean.push_str(name);
        } else if is_encoded || clean.ends_with(is_path_char) {
            clean.push_str(parent);
            clean.push('~');
        } else {
            clean.truncate(clean.len() - drive_bytes(&clean));
            clean.push('~');
        }
        rest = below;
    }
    without_folder(&(clean + rest), "/root", "~")
}

fn drive_bytes(text: &str) -> usize {
    let letter = text
        .strip_suffix(':')
        .and_then(|text| text.strip_suffix(|c: char| c.is_ascii_alphabetic()));
    match letter {
        Some(before) if !before.ends_with(char::is_alphanumeric) => 2,
        Some(_) | None => 0,
    }
}

/// Replaces a name wherever it is a separate word outside web addresses. Returns `None` if the name
/// does not occur.
fn without_name(text: &str, name: &str, instead: &str) -> Option<String> {
    let lower = text.to_lowercase();
    // If lowercasing changes the length, offsets in the lowercase text do not match the original.
    let haystack = if lower.len() == text.len() { lower.as_str() } else { text };
    if !haystack.contains(name) {
        return None;
    }
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in haystack.match_indices(name) {
        let end = at + name.len();
        if at < done || !text.is_char_boundary(at) || !text.is_char_boundary(end) {
            continue;
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let stands_alone = !text[..at].ends_with(is_word) && !text[end..].starts_with(is_word);
        if !stands_alone || is_in_address(text, at) {
            continue;
        }
        clean.push_str(&text[done..at]);
        clean.push_str(instead);
        done = end;
    }
    clean.push_str(&text[done..]);
    Some(clean)
}

fn is_in_address(text: &str, at: usize) -> bool {
    let start = text[..at].rfind(|c: char| c.is_whitespace() || "<>\"'`(".contains(c));
    let token = &text[start.map_or(0, |start| start + 1)..at];
    token.contains("://") && !token.starts_with("file:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> LocalNames {
        let (root, home) = (Path::new("/home/winnifred/code/shop"), Path::new("/home/winnifred"));
        LocalNames::new(Some(root), Some(home), Some("winnifred"), Some("thinkpad-7.fritz.box"))
    }

    #[test]
    fn a_shared_text_names_no_machine_and_no_person() {
        for (text, expected) in [
            ("See /home/winnifred/code/shop/src/a.rs:3.", "See src/a.rs:3."),
            ("cd /home/winnifred/code/shop && ls", "cd . && ls"),
            ("/home/winnifred/code/shop-old/a", "~/code/shop-old/a"),
            ("in `/home/winnifred/.ssh/config`", "in `~/.ssh/config`"),
            ("file:///home/winnifred/x", "file://~/x"),
            ("/Users/ada/dev/a, C:\\Users\\Ada\\dev and C:/Users/Ada.", "~/dev/a, ~\\dev and ~."),
            ("\"C:\\\\Users\\\\Ada\\\\x\"", "\"~\\\\x\""),
            (
                "~/.claude/projects/-home-ada-code-shop/1.jsonl",
                "~/.claude/projects/-home-~-code-shop/1.jsonl",
            ),
            ("/mnt/home/ada/x", "/mnt/home/~/x"),
            ("/root/x and /rooted", "~/x and /rooted"),
            ("winnifred@thinkpad-7:~/code$ ls", "USER@HOST:~/code$ ls"),
            ("Winnifred runs it on thinkpad-7.fritz.box", "USER runs it on HOST"),
            ("https://github.com/winnifred/shop", "https://github.com/winnifred/shop"),
            ("/Users/Shared/x, /etc/hosts, /home/", "/Users/Shared/x, /etc/hosts, /home/"),
            ("winnifreds thinkpad-77", "winnifreds thinkpad-77"),
        ] {
            let clean = names().remove_from(text).into_owned();
            assert_eq!(clean, expected, "{text}");
            assert_eq!(names().remove_from(&clean), clean, "twice: {text}");
        }
    }

    #[test]
    fn a_name_that_is_a_word_stays() {
        let names = LocalNames::new(None, Some(Path::new("/home/max")), Some("admin"), Some("dev"));
        let text = "max 3 admin connections on dev";
        assert_eq!(names.remove_from(text), text);
        assert_eq!(names.remove_from("/home/max/x"), "~/x");
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "([a-z /~.:\\\\]|/home/|/Users/|winnifred|İ|ß){0,40}") {
            let clean = names().remove_from(&text).into_owned();
            proptest::prop_assert!(!clean.contains("/home/winnifred/"));
        }
    }
}
