//! The project register: a TOML file that gives every repository a name.
//!
//! ```toml
//! [projects.pearl]
//! path = "/home/ana/pearl"
//! also = ["/home/ana/old/pearl"]
//! ```
//!
//! Callers pass absolute, resolved paths. Paths are compared by components, so `/a/bc` is not
//! inside `/a/b`.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml_edit::{Item, Key, TableLike, Value as Toml};

use super::document::{self, Doc, entries, write_key};
use super::error::{BadValue, ConfigError, ConfigPlace, Result, did_you_mean, nearest, shorten};
use super::value::describe;

const MAX_NAME_BYTES: usize = 64;
const NAME_RULE: &str =
    "1 to 64 characters from `a-z`, `0-9`, `.`, `_` and `-`, starting with a letter or digit";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub name: String,
    pub path: PathBuf,
    /// Other directories whose sessions belong to the project, such as its path before it moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<PathBuf>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Projects {
    list: Vec<Project>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("Invalid project name `{name}`: expected {NAME_RULE}")]
    BadName { name: String },
    #[error("Invalid project path `{}`: expected an absolute UTF-8 path without `..`", path.display())]
    BadPath { path: PathBuf },
    #[error("Project `{name}` is already registered, with path `{}`", path.display())]
    NameTaken { name: String, path: PathBuf },
    #[error("Path `{}` is already registered, as project `{name}`", path.display())]
    PathTaken { path: PathBuf, name: String },
    #[error("No project named `{name}`")]
    NoSuchProject { name: String, nearest: Option<String> },
}

impl ProjectError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Config(error) => error.hint(),
            Self::NameTaken { path, .. } => Some(format!(
                "Choose another name. If the project has moved, add its new path with `--also {}`",
                path.display()
            )),
            Self::PathTaken { name, .. } => {
                Some(format!("To rename it, run `nacre project remove {name}` first"))
            }
            Self::NoSuchProject { nearest: Some(nearest), .. } => Some(did_you_mean(nearest)),
            Self::NoSuchProject { nearest: None, .. } => {
                Some("Run `nacre project` to see every project".to_owned())
            }
            Self::BadName { .. } | Self::BadPath { .. } => None,
        }
    }
}

impl Projects {
    pub fn parse(text: &str, origin: &Path) -> Result<Self> {
        let doc = Doc::parse(text, origin)?;
        let mut list: Vec<Project> = Vec::new();
        for (key, name, item) in entries(doc.root()) {
            if name != "projects" {
                return Err(unknown(&[name], doc.place(key), "projects"));
            }
            let projects = item.as_table_like().ok_or_else(|| {
                bad(&["projects"], doc.place(key), "a table `[projects.NAME]`", describe(item))
            })?;
            for (key, name, item) in entries(projects) {
                let project = read_project(&doc, key, name, item)?;
                if let Some(other) = list.iter().find(|other| other.path == project.path) {
                    let found = format!("the path of `{}`", other.name);
                    return Err(bad(&["projects", name], doc.place(key), "a unique path", found));
                }
                list.push(project);
            }
        }
        Ok(Self { list })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Project> {
        self.list.iter()
    }

    /// Returns the project that contains `dir`. If projects are nested, returns the innermost one.
    pub fn containing(&self, dir: &Path) -> Option<&Project> {
        let around = self.list.iter().filter(|project| dir.starts_with(&project.path));
        around.max_by_key(|project| project.path.components().count())
    }

    pub fn find(&self, name_or_path: &str) -> Option<&Project> {
        // A name contains no `/`, so it cannot be mistaken for an absolute path.
        let path = Path::new(name_or_path);
        self.list.iter().find(|project| project.name == name_or_path || project.path == path)
    }

    pub fn select(&self, is_wanted: impl Fn(&str) -> bool) -> Self {
        let list = self.list.iter().filter(|project| is_wanted(&project.name));
        Self { list: list.cloned().collect() }
    }

    pub fn with(&self, project: Project) -> Self {
        let list = self.list.iter().cloned().chain([project]);
        Self { list: list.collect() }
    }

    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest::among(name, self.list.iter().map(|project| project.name.as_str()))
    }
}

/// Adds the project to the register's text, or replaces its `also`. The text is unchanged if the
/// register already has this entry.
pub fn add(text: &str, origin: &Path, project: &Project) -> Result<String, ProjectError> {
    let projects = Projects::parse(text, origin)?;
    let Project { name, path, also } = project;
    if !is_name(name) {
        return Err(ProjectError::BadName { name: shorten(name) });
    }
    if let Some(path) = also.iter().chain([path]).find(|path| !is_resolved(path)) {
        return Err(ProjectError::BadPath { path: path.to_owned() });
    }
    let is_like = |known: &&Project| known.name == *name || known.path == *path;
    if let Some(known) = projects.iter().find(is_like) {
        if known == project {
            return Ok(text.to_owned());
        }
        let Project { name: other, path: place, .. } = known.clone();
        match (other == *name, place == *path) {
            (true, true) => return add(&remove(text, origin, name)?, origin, project),
            (true, false) => return Err(ProjectError::NameTaken { name: other, path: place }),
            (false, _) => return Err(ProjectError::PathTaken { path: place, name: other }),
        }
    }
    let new_text = insert(&Doc::parse(text, origin)?, project);
    Projects::parse(&new_text, origin)?;
    Ok(new_text)
}

pub fn remove(text: &str, origin: &Path, name: &str) -> Result<String, ProjectError> {
    let projects = Projects::parse(text, origin)?;
    let doc = Doc::parse(text, origin)?;
    let Some(new_text) = document::remove(&doc, &["projects", name]) else {
        let nearest = projects.nearest(name).map(str::to_owned);
        return Err(ProjectError::NoSuchProject { name: shorten(name), nearest });
    };
    Projects::parse(&new_text, origin)?;
    Ok(new_text)
}

/// Derives a valid, unused name from the name of the repository's directory.
pub fn name_for(path: &Path, existing: &Projects) -> String {
    let folder = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let mut base = String::new();
    for c in folder.unwrap_or_default().chars() {
        match c {
            'a'..='z' | '0'..='9' | '.' | '_' => base.push(c),
            _ if base.ends_with('-') => {}
            _ => base.push('-'),
        }
    }
    let edge = |c: char| !c.is_ascii_alphanumeric();
    let base = base.trim_start_matches(edge).trim_end_matches('-');
    let base = if base.is_empty() { "project" } else { base };

    let suffixes = (1_usize..).map(|n| if n == 1 { String::new() } else { format!("-{n}") });
    let mut names = suffixes.map(|suffix| {
        let room = MAX_NAME_BYTES - suffix.len();
        format!("{}{suffix}", &base[..base.len().min(room)])
    });
    let is_free = |name: &String| !existing.iter().any(|project| project.name == *name);
    names.find(is_free).unwrap_or_default()
}

fn read_project(doc: &Doc<'_>, key: Option<&Key>, name: &str, item: &Item) -> Result<Project> {
    if !is_name(name) {
        let found = format!("`{}`", shorten(name));
        return Err(bad(&["projects", name], doc.place(key), NAME_RULE, found));
    }
    let table = item.as_table_like().ok_or_else(|| {
        bad(&["projects", name], doc.place(key), "a table with a `path`", describe(item))
    })?;
    let (mut path, mut also) = (None, Vec::new());
    for (key, field, item) in entries(table) {
        let at = ["projects", name, field];
        let invalid = |expected| bad(&at, doc.place(key), expected, describe(item));
        let resolved = |text: &str| Some(PathBuf::from(text)).filter(|path| is_resolved(path));
        match field {
            "path" => {
                let found = item.as_str().and_then(resolved);
                path = Some(found.ok_or_else(|| invalid("an absolute path without `..`"))?);
            }
            "also" => {
                let invalid = || invalid("a list of absolute paths without `..`");
                let all = item.as_array().ok_or_else(invalid)?.iter();
                let all = all.map(|one| one.as_str().and_then(resolved));
                also = all.collect::<Option<_>>().ok_or_else(invalid)?;
            }
            _ => return Err(unknown(&at, doc.place(key), "path")),
        }
    }
    let missing = || bad(&["projects", name], doc.place(key), "a `path`", "none".to_owned());
    Ok(Project { name: name.to_owned(), path: path.ok_or_else(missing)?, also })
}

fn insert(doc: &Doc<'_>, Project { name, path, also }: &Project) -> String {
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let mut fields = vec![("path", Toml::from(text(path)))];
    if !also.is_empty() {
        fields.push(("also", Toml::from_iter(also.iter().map(text))));
    }
    let mut lines = vec![format!("[projects.{}]", Key::new(name))];
    lines.extend(fields.iter().map(|(key, value)| format!("{key} = {value}")));
    let projects = doc.root().get("projects");
    projects
        .and_then(|item| {
            document::rewrite_inline(doc, item, |table: &mut dyn TableLike| {
                let fields = toml_edit::InlineTable::from_iter(fields);
                table.insert(name, Item::Value(Toml::InlineTable(fields)));
            })
        })
        .unwrap_or_else(|| document::append_table(doc.text, &lines))
}

fn is_name(name: &str) -> bool {
    let valid = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    let first = name.bytes().next();
    name.len() <= MAX_NAME_BYTES
        && name.bytes().all(valid)
        && first.is_some_and(|byte| byte.is_ascii_alphanumeric())
}

fn is_resolved(path: &Path) -> bool {
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    path.is_absolute() && path.to_str().is_some() && !has_parent
}

fn unknown(path: &[&str], place: ConfigPlace, known: &str) -> ConfigError {
    let nearest = path.last().filter(|name| nearest::is_like(name, known));
    let nearest = nearest.map(|_| known.to_owned());
    ConfigError::UnknownProjectKey { key: write_key(path), place, nearest }
}

fn bad(path: &[&str], place: ConfigPlace, expected: &str, found: String) -> ConfigError {
    let expected = expected.to_owned();
    BadValue { key: write_key(path), place, expected, found, nearest: None }.into()
}

#[cfg(test)]
mod tests;
