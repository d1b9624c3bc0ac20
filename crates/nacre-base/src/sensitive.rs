//! Lists of sensitive files: files that contain secrets, and files that other programs execute or
//! take instructions from.
//!
//! The sandbox, the map, the hook guard, file tools and approvals share these lists. An entry
//! consists of the last components of a path. It matches in any directory, ignoring case, and an
//! entry for a directory includes its contents. A name may contain one `*`, which matches any
//! characters.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Files that contain keys, passwords, sessions or histories. Files whose names only mention
/// secrets, such as `secret_redaction.py`, are code and are not listed.
pub const SECRETS: &str = include_str!("sensitive/secrets.txt");

/// Files that other programs act on at startup: hooks, tasks, agent instructions and servers, and
/// settings that name programs. File tools treat every file with a leading dot this way. Some of
/// these files are listed anyway, because changes made by sandboxed programs are checked only
/// against this list.
const ACTED_ON: &str = include_str!("sensitive/acted_on.txt");

/// `.env.*` files that are templates without values.
const TEMPLATES: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];

pub fn secret_places() -> impl Iterator<Item = &'static str> {
    SECRETS.split_ascii_whitespace()
}

/// Returns the entry in [`SECRETS`] that matches the file or directory itself, ignoring its parent
/// directories.
pub fn secret_rule(path: &str) -> Option<&'static str> {
    /// Maps the last component in lower case to its entries, so that most paths need only one
    /// lookup. The key is empty for entries whose last component contains a `*`.
    static ROWS: LazyLock<HashMap<String, Vec<&'static str>>> = LazyLock::new(|| {
        let mut rows: HashMap<String, Vec<&'static str>> = HashMap::new();
        for row in secret_places() {
            let name = last_name(row).to_ascii_lowercase();
            let key = if name.contains('*') { String::new() } else { name };
            rows.entry(key).or_default().push(row);
        }
        rows
    });
    let name = last_name(path).to_ascii_lowercase();
    let rows = [name.as_str(), ""].into_iter().filter_map(|key| ROWS.get(key)).flatten();
    let found = rows.copied().find(|row| fits(row, path));
    found.filter(|_| !TEMPLATES.contains(&name.as_str()))
}

pub fn list_acted_on_places() -> impl Iterator<Item = &'static str> {
    ACTED_ON.split_ascii_whitespace()
}

/// Returns whether other programs may act on the file or one of its parent directories at startup.
/// No list is complete, so every name with a leading dot is included.
pub fn is_acted_on(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
        || with_folders(path).any(|path| list_acted_on_places().any(|row| fits(row, path)))
}

pub fn with_folders(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.filter_map(|end| path.get(..end))
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn fits(row: &str, path: &str) -> bool {
    let mut names = path.rsplit('/');
    row.rsplit('/').all(|wanted| names.next().is_some_and(|name| name_fits(wanted, name)))
}

fn name_fits(wanted: &str, name: &str) -> bool {
    let Some((start, end)) = wanted.split_once('*') else {
        return wanted.eq_ignore_ascii_case(name);
    };
    let (name, n_fixed) = (name.as_bytes(), start.len() + end.len());
    n_fixed <= name.len()
        && name[..start.len()].eq_ignore_ascii_case(start.as_bytes())
        && name[name.len() - end.len()..].eq_ignore_ascii_case(end.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_last_names() {
        let rule = |path| (path, secret_rule(path).unwrap_or("-"));
        let cases = [
            (".env", ".env"),
            ("app/.ENV.production", ".env.*"),
            (".env.", ".env.*"),
            (".env.Example", "-"),
            (".envoy", "-"),
            ("src/secret_redaction.py", "-"),
            ("certs/Server.PEM", "*.pem"),
            ("a/.pem", "*.pem"),
            ("home/ada/.gemini/oauth_creds.json", ".gemini/oauth_creds.json"),
            ("oauth_creds.json", "-"),
            (".cargo/credentials.toml", ".cargo/credentials*"),
            (".cargo/config.toml", "-"),
            ("x/.config/bravesoftware", ".config/BraveSoftware"),
            (".local/share/opencode/mcp-auth.json", ".local/share/opencode/*auth.json"),
            ("日本/é", "-"),
            ("", "-"),
        ];
        for (path, expected) in cases {
            assert_eq!(rule(path), (path, expected));
        }
    }

    #[test]
    fn what_others_act_on_is_known_with_what_is_below_it() {
        for path in [
            ".git/hooks/pre-commit",
            ".claude/settings.json",
            ".mcp.json",
            ".cursor/mcp.json",
            ".gemini/settings.json",
            ".vscode/tasks.json",
            ".husky/pre-commit",
            ".github/workflows/x.yml",
            ".devcontainer/devcontainer.json",
            ".cargo/config.toml",
            ".git/info/attributes",
            "AGENTS.md",
            "sub/claude.md",
            "mise.toml",
            ".Rprofile",
            "r/.irbrc",
            ".mise/config.toml",
            ".githooks/pre-commit",
            ".gitea/workflows/x.yml",
            "nacre.code-workspace",
        ] {
            assert!(is_acted_on(path), "{path}");
        }
        for path in ["src/main.rs", "docs/agents.md.txt", "hooks/pre-commit", "git/config", ""] {
            assert!(!is_acted_on(path), "{path}");
        }
    }
}
