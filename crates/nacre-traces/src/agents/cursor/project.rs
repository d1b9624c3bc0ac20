//! Finds a Cursor session's project directory. Nearly every version of Cursor stores the directory
//! in a different place: the conversation, a list of headers, or the workspace database. If none of
//! these contain it, it is inferred from the files that the bubbles touched.

use crate::transcript::toolkit::*;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::bubble::Bubbles;
use super::uri::{TouchedFiles, parent, path_of, path_of_value};

const MAX_WORKSPACES: usize = 4096;
const MAX_LINKS: usize = 200_000;
/// Bounds of the keys under which panes list their open conversations.
const PANE_KEYS: (&str, &str) =
    ("workbench.panel.composerChatViewPane", "workbench.panel.composerChatViewPanf");
const VIEW_PREFIX: &str = "workbench.panel.aichat.view.";

/// Returns a value from `ItemTable`. Overlong values are dropped.
pub(super) fn item(store: &Store, key: &str) -> Result<Option<String>> {
    let sql = "SELECT value FROM ItemTable WHERE key = ?1 AND octet_length(value) <= ?2";
    let read = |row: &rusqlite::Row<'_>| store::text(row, 0).map(Cow::into_owned);
    Ok(store.first(sql, (key, MAX_VALUE.cast_signed()), read)?.flatten())
}

/// Candidates for the project directory, most reliable first.
#[derive(Default)]
pub(super) struct Project {
    /// Cursor's `User` directory, which contains the workspace directories.
    user_directory: Option<PathBuf>,
    pub(super) folders: Vec<String>,
    /// For a multi-root workspace, the directory that contains its `.code-workspace` file.
    several: Option<String>,
    hints: Vec<String>,
    files: TouchedFiles,
}

impl Project {
    /// `database` is in `User/globalStorage` or `User/workspaceStorage/<id>`.
    pub(super) fn of_database(database: &Path) -> Self {
        let directory = database.parent();
        let mut project = Self { user_directory: user_directory(database), ..Self::default() };
        if let Some(directory) = directory {
            project.note_workspace_file(directory);
        }
        project
    }

    pub(super) fn note_workspace(&mut self, id: &str) {
        let is_name = !id.is_empty() && !id.contains(['/', '\\']) && id != "." && id != "..";
        if let Some(user) = self.user_directory.clone().filter(|_| is_name) {
            self.note_workspace_file(&user.join("workspaceStorage").join(id));
        }
    }

    fn note_workspace_file(&mut self, directory: &Path) {
        let Some(text) = whole::sidecar(&directory.join("workspace.json")) else { return };
        let fields = Fields::of(&text);
        if let Some(folder) = path_of_value(fields.raw("folder")) {
            self.folders.push(folder);
        }
        for key in ["workspace", "configuration"] {
            self.note_several(path_of_value(fields.raw(key)));
        }
    }

    /// The project of a multi-root workspace is the directory that contains its `.code-workspace`
    /// file. Unsaved workspaces have no such file.
    fn note_several(&mut self, file: Option<String>) {
        let file = file.filter(|file| file.ends_with(".code-workspace"));
        if let Some(folder) = file.as_deref().and_then(parent) {
            self.several.get_or_insert_with(|| folder.to_owned());
        }
    }

    pub(super) fn note_composer(&mut self, composer: &Fields) {
        let identifier = composer.object("workspaceIdentifier");
        if let Some(folder) = path_of_value(identifier.raw("uri")) {
            self.folders.insert(0, folder);
        }
        self.note_several(path_of_value(identifier.raw("configPath")));
        self.note_workspace(&identifier.string("id"));
        let context = composer.object("context");
        for list in ["fileSelections", "folderSelections", "selections"] {
            self.files.note_all(context.raw(list));
        }
        for uri in composer.object("originalFileStates").members().map(|(uri, _)| uri) {
            if let Some(path) = path_of(uri) {
                self.files.note(path);
            }
        }
        self.files.note_all(composer.raw("allAttachedFileCodeChunksUris"));
        for uri in composer.items("workspaceUris") {
            self.hints.extend(path_of_value(uri));
        }
    }

    pub(super) fn note_folder(&mut self, address: &str) {
        self.folders.extend(path_of(address));
    }

    pub(super) fn take_bubbles(&mut self, bubbles: Bubbles) {
        self.hints.extend(bubbles.hints);
        self.take_files(bubbles.files);
    }

    pub(super) fn take_files(&mut self, files: TouchedFiles) {
        self.files = files.merge(std::mem::take(&mut self.files));
    }

    pub(super) fn settle(&self, out: &mut Emitter) {
        for folder in self.folders.iter().chain(&self.hints) {
            out.note_cwd(folder);
        }
        if out.facts.cwd.is_none()
            && let Some(folder) = self.files.folder().as_ref().or(self.several.as_ref())
        {
            out.note_cwd(folder);
        }
    }
}

fn user_directory(database: &Path) -> Option<PathBuf> {
    let directory = database.parent()?;
    let above = directory.parent()?;
    if directory.file_name()? == "globalStorage" {
        return Some(above.to_owned());
    }
    (above.file_name()? == "workspaceStorage").then(|| above.parent().map(Path::to_owned))?
}

#[derive(Debug, Default)]
pub(super) struct Links(HashMap<String, String>);

impl Links {
    pub(super) fn find(store: &Store, database: &Path) -> Self {
        let mut links = Self::default();
        links.read_headers(store);
        let Some(user) = user_directory(database) else { return links };
        let Ok(entries) = fs::read_dir(user.join("workspaceStorage")) else { return links };
        let mut directories: Vec<PathBuf> =
            entries.flatten().take(MAX_WORKSPACES).map(|entry| entry.path()).collect();
        directories.sort();
        // One budget applies to all workspaces in a sync.
        let _budget = SyncBudget::begin();
        for directory in directories {
            let Some(id) = directory.file_name().and_then(|id| id.to_str()) else { continue };
            if let Ok(store) = Store::open(&directory.join("state.vscdb")) {
                links.read_workspace(&store, id);
            }
        }
        links
    }

    pub(super) fn workspace(&self, composer: &str) -> Option<&str> {
        self.0.get(composer).map(String::as_str)
    }

    fn link(&mut self, composer: &str, workspace: &str) {
        // The workspace ID becomes part of the session's stored revision.
        if is_session_id(composer) && is_session_id(workspace) && self.0.len() < MAX_LINKS {
            self.0.entry(composer.to_owned()).or_insert_with(|| workspace.to_owned());
        }
    }

    fn read_headers(&mut self, store: &Store) {
        // Ignore errors: databases without headers do not have this table.
        let headers = item(store, "composer.composerHeaders").ok().flatten().unwrap_or_default();
        for raw in Fields::of(&headers).items("allComposers") {
            let header = Fields::of(raw);
            let workspace = header.object("workspaceIdentifier").string("id");
            self.link(&header.string("composerId"), &workspace);
        }
    }

    fn read_workspace(&mut self, store: &Store, workspace: &str) {
        // Ignore errors for the same reason as above.
        let listed = item(store, "composer.composerData").ok().flatten().unwrap_or_default();
        let fields = Fields::of(&listed);
        for raw in fields.items("allComposers") {
            self.link(&Fields::of(raw).string("composerId"), workspace);
        }
        for list in ["selectedComposerIds", "lastFocusedComposerIds"] {
            for id in fields.items(list) {
                self.link(&text_of(id).unwrap_or_default(), workspace);
            }
        }
        self.link(&fields.string("selectedComposerId"), workspace);
        let sql = "SELECT value FROM ItemTable \
            WHERE key >= ?1 AND key < ?2 AND octet_length(value) <= ?3";
        let params = (PANE_KEYS.0, PANE_KEYS.1, MAX_VALUE.cast_signed());
        let panes = store.rows(sql, params, |row| {
            let value = store::text(row, 0).unwrap_or_default();
            for (key, _) in Fields::of(&value).members() {
                if let Some(id) = key.strip_prefix(VIEW_PREFIX) {
                    self.link(id, workspace);
                }
            }
            Wish::More
        });
        drop(panes);
    }
}
