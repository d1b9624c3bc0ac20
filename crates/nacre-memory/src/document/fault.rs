//! Errors in memory files, with line numbers.

use super::{MAX_DEPTH, MAX_ENTRIES, MAX_FILE_BYTES, MAX_FRONTMATTER_BYTES};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Line {line}: {fault}")]
pub struct Broken {
    /// 1-based, counted from the start of the file rather than of the frontmatter.
    pub line: usize,
    pub fault: Fault,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the file is empty; a memory must start with a `---` line")]
    Empty,
    #[error("the file is longer than {MAX_FILE_BYTES} bytes")]
    FileTooLong,
    #[error("the text is not valid UTF-8")]
    NotUtf8,
    #[error("the text contains a NUL character")]
    Nul,
    #[error("the file does not start with a `---` line")]
    NoOpeningFence,
    #[error("the frontmatter is not closed: its second `---` line is missing")]
    NoClosingFence,
    #[error("the frontmatter is longer than {MAX_FRONTMATTER_BYTES} bytes")]
    FrontmatterTooLong,
    #[error("the frontmatter has more than {MAX_ENTRIES} keys")]
    TooManyEntries,
    #[error("unresolved git merge conflict")]
    ConflictMarker,
    #[error("the frontmatter contains the character `{}`", .0.escape_unicode())]
    Unprintable(char),
    #[error("the line is indented with a tab; use spaces")]
    TabIndent,
    #[error("the line does not have the form `key: value`")]
    NotAnEntry,
    #[error("the key `{key}` is already defined on line {first_line}")]
    DuplicateKey { key: String, first_line: usize },
    #[error("merge keys (`<<`) are not supported")]
    MergeKey,
    #[error("anchors (`&name`) are not supported; quote the value if it is text")]
    Anchor,
    #[error("aliases (`*name`) are not supported; quote the value if it is text")]
    Alias,
    #[error("tags (`!name`) are not supported; quote the value if it is text")]
    Tag,
    #[error("the value is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    #[error("the value of `{key}` is not a string")]
    NotText { key: String },
    #[error("the value of `{key}` is not a list of strings")]
    NotList { key: String },
    #[error("the value of `{key}` is not a number")]
    NotNumber { key: String },
    #[error("the frontmatter is not valid YAML: {reason}")]
    Yaml { reason: String },
}

impl Fault {
    pub(super) fn on_line(self, line: usize) -> Broken {
        Broken { line, fault: self }
    }
}
