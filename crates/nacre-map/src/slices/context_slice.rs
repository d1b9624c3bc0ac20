//! The context of a task: what is asked for, and what comes out.

use serde::Serialize;

use super::relevance::Why;
use crate::artifact::RelativePath;
use crate::languages::SymbolKind;

/// What a context is asked for.
pub struct ContextRequest<'r> {
    /// What is to be done, in words; may be empty.
    pub task: &'r str,
    /// Tokens that the answer may have.
    pub budget: usize,
    /// Whether only files are listed, without their code.
    pub is_files_only: bool,
    /// The text of a file as it was analysed; `None` when it is another one by now.
    pub text: &'r dyn Fn(&RelativePath) -> Option<String>,
    /// What a slice costs as it will be printed, with everything around it.
    pub cost: &'r dyn Fn(&ContextSlice) -> usize,
}

/// What a task needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContextSlice {
    pub budget: usize,
    /// The most relevant first.
    pub files: Vec<ContextFile>,
    pub left_out: LeftOut,
}

/// A file, and what of it fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextFile {
    pub path: String,
    pub why: Vec<Why>,
    /// What it has of the task, the rarest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// In the order of the file.
    pub symbols: Vec<ContextSymbol>,
}

/// A symbol, in as much detail as fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextSymbol {
    pub name: String,
    pub kind: SymbolKind,
    pub first_line: u32,
    pub last_line: u32,
    pub form: Form,
    /// The whole symbol, its signature, or nothing.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// How much of a symbol is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    Name,
    Signature,
    Body,
}

impl Form {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Signature => "signature",
            Self::Body => "body",
        }
    }
}

/// What was relevant and did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub symbols: usize,
    pub files: usize,
    /// Some of those files with the number of their symbols, the most relevant first.
    pub listed: Vec<(String, usize)>,
}
