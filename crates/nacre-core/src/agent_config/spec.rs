//! What is known of an agent: where it is found, and what belongs into which of its files.

use std::path::PathBuf;

use super::commands::Program;
use super::edit::Edit;
use super::parts::Part;
use super::places::Places;

/// An entry and the file that it belongs into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// Where the file may be: the first that is there, or else the first.
    pub candidates: Vec<PathBuf>,
    pub edit: Edit,
}

impl FileEdit {
    pub(super) fn new(path: PathBuf, edit: Edit) -> Self {
        Self { candidates: vec![path], edit }
    }
}

/// How a part is written.
pub(super) type PartEdit = fn(&Places, &Program) -> FileEdit;

/// A coding agent that can be connected. A part that it cannot take, or that nobody has seen it take, is `None`.
#[derive(Debug)]
pub struct AgentSpec {
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Variables that it sets in the shells that it starts.
    pub shell_variables: &'static [&'static str],
    /// Files and folders of which one is there where the agent is used.
    pub(super) signs: fn(&Places) -> Vec<PathBuf>,
    pub(super) mcp: Option<PartEdit>,
    pub(super) hooks: Option<PartEdit>,
    pub(super) skill: Option<PartEdit>,
}

impl AgentSpec {
    /// Files and folders of which one is there where the agent is used.
    pub fn signs(&self, places: &Places) -> Vec<PathBuf> {
        (self.signs)(places)
    }

    /// What belongs into the agent's files for a part; `None` where it cannot take it.
    pub fn edit(&self, part: Part, places: &Places, program: &Program) -> Option<FileEdit> {
        let edit = match part {
            Part::Mcp => self.mcp,
            Part::Hooks => self.hooks,
            Part::Skill => self.skill,
            // It has to be asked for, from Codex itself.
            Part::Trust => None,
        };
        edit.map(|edit| edit(places, program))
    }
}
