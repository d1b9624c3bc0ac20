//! Reads and edits `agents.toml`, which lists the connected agents and where each keeps its traces.
//!
//! The file is in the global directory and has one table per agent. If it is missing, every agent's
//! traces are read from their default directory.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, value};

type Result<T, E = AgentsError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    #[error("Cannot read `{}` as TOML", path.display())]
    Malformed { path: PathBuf, source: toml_edit::TomlError },
    #[error("Unknown key `{key}` in `{}`", path.display())]
    UnknownKey { path: PathBuf, key: String },
    #[error("`paths` for `{agent}` in `{}` is not a list of absolute paths", path.display())]
    BadPaths { path: PathBuf, agent: String },
    #[error("The agent `{agent}` is not connected")]
    NotConnected { agent: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedAgent {
    pub name: String,
    /// If empty, the agent's default trace directory is used.
    pub paths: Vec<PathBuf>,
}

pub fn parse(text: &str, origin: &Path) -> Result<Vec<ConnectedAgent>> {
    let document = document(text, origin)?;
    let unknown =
        |key: &str| AgentsError::UnknownKey { path: origin.to_owned(), key: key.to_owned() };
    let mut agents = Vec::new();
    for (key, item) in document.iter() {
        let table = item.as_table_like().filter(|_| key == "agents").ok_or_else(|| unknown(key))?;
        for (name, item) in table.iter() {
            let entry = item.as_table_like().ok_or_else(|| unknown(&format!("agents.{name}")))?;
            if let Some((key, _)) = entry.iter().find(|(key, _)| *key != "paths") {
                return Err(unknown(&format!("agents.{name}.{key}")));
            }
            let paths = entry.get("paths").map_or_else(|| Some(Vec::new()), absolute_paths);
            let bad = || AgentsError::BadPaths { path: origin.to_owned(), agent: name.to_owned() };
            agents.push(ConnectedAgent { name: name.to_owned(), paths: paths.ok_or_else(bad)? });
        }
    }
    Ok(agents)
}

/// Adds an agent to the register, or replaces its paths if it is already registered.
pub fn connect(text: &str, origin: &Path, name: &str, paths: &[PathBuf]) -> Result<String> {
    let mut document = document(text, origin)?;
    let agents = document.entry("agents").or_insert_with(implicit_table);
    let mut entry = Table::new();
    if !paths.is_empty() {
        entry["paths"] =
            value(paths.iter().map(|path| path.display().to_string()).collect::<Array>());
    }
    agents[name] = Item::Table(entry);
    Ok(document.to_string())
}

pub fn disconnect(text: &str, origin: &Path, name: &str) -> Result<String> {
    let mut document = document(text, origin)?;
    let agents = document.get_mut("agents").and_then(Item::as_table_like_mut);
    if agents.and_then(|agents| agents.remove(name)).is_none() {
        return Err(AgentsError::NotConnected { agent: name.to_owned() });
    }
    Ok(document.to_string())
}

fn document(text: &str, origin: &Path) -> Result<DocumentMut> {
    text.parse().map_err(|source| AgentsError::Malformed { path: origin.to_owned(), source })
}

fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn absolute_paths(item: &Item) -> Option<Vec<PathBuf>> {
    let paths = item.as_array()?.iter().map(|path| path.as_str().map(PathBuf::from));
    paths.collect::<Option<Vec<_>>>().filter(|paths| paths.iter().all(|path| path.is_absolute()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_connected_and_taken_out() {
        let origin = Path::new("agents.toml");
        let text = connect("# mine\n", origin, "codex", &[PathBuf::from("/traces")]).unwrap();
        let text = connect(&text, origin, "claude", &[]).unwrap();
        let names: Vec<String> =
            parse(&text, origin).unwrap().into_iter().map(|agent| agent.name).collect();
        assert_eq!(names, ["codex", "claude"]);
        assert!(text.contains("# mine\n"));
        let text = disconnect(&text, origin, "codex").unwrap();
        assert_eq!(
            parse(&text, origin).unwrap(),
            [ConnectedAgent { name: "claude".into(), paths: Vec::new() }]
        );
        assert!(disconnect(&text, origin, "codex").is_err());
    }

    #[test]
    fn mistakes_are_named() {
        let origin = Path::new("agents.toml");
        for text in
            ["x = 1", "[agents.codex]\npath = 'x'", "[agents.codex]\npaths = ['relative']", "["]
        {
            assert!(parse(text, origin).is_err(), "{text}");
        }
    }
}
