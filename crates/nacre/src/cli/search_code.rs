//! `nacre search-code`

use clap::Args;
use nacre_api::wire::{CodeSearchMode, SearchCodeRequest};
use nacre_ops::{Host, OpError, map as ops};

use super::exit::Exit;
use super::map::{Format, print_payload};
use super::ui::Ui;

/// Search the code by words, by a piece of text, or by a regular expression
///
/// Words are found in any form and ranked as `nacre context` ranks them. `--fixed` and a query in double quotes mean a piece of text,
/// `--regex` a regular expression; both are matched line by line, and only in files that can match. Lines are shown below the symbol
/// that they lie in. Files that define what is asked for come first; tests, vendored and generated code count less. Text that looks
/// like a secret is replaced.
#[derive(Debug, Args)]
pub(crate) struct SearchCodeArgs {
    /// Words, a piece of text, or a regular expression
    #[arg(value_name = "QUERY")]
    query: String,
    /// Read the query as a regular expression
    #[arg(long, short = 'e', conflicts_with = "fixed")]
    regex: bool,
    /// Read the query as a piece of text
    #[arg(long, short = 'F')]
    fixed: bool,
    /// Take upper and lower case for the same [default: unless the pattern has a letter in upper case]
    #[arg(long, short = 'i')]
    ignore_case: bool,
    /// Tell upper from lower case
    #[arg(long, short = 's', conflicts_with = "ignore_case")]
    case_sensitive: bool,
    /// Only files that match: `src`, `*.rs`, `src/**/*.py`, or `!tests` to leave out (can be repeated)
    #[arg(long = "path", short = 'g', value_name = "GLOB")]
    paths: Vec<String>,
    /// Only files of this language
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<String>,
    /// Show this many lines before and behind each match, at most 10
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0)]
    context: u32,
    /// Show at most this many matches, or files with `--files-only`
    #[arg(long, short = 'n', value_name = "N", default_value_t = ops::DEFAULT_MATCHES)]
    limit: usize,
    /// Tokens that the answer may have
    #[arg(long, value_name = "TOKENS", default_value_t = ops::DEFAULT_BUDGET)]
    budget: usize,
    /// List files alone, without their lines
    #[arg(long, short = 'l')]
    files_only: bool,
    /// Read every file again instead of believing its times
    #[arg(long)]
    refresh: bool,
    /// Fail when the map was not up to date, and write nothing
    #[arg(long, conflicts_with = "refresh")]
    strict: bool,
}

impl SearchCodeArgs {
    fn mode(&self) -> Option<CodeSearchMode> {
        match (self.regex, self.fixed) {
            (true, _) => Some(CodeSearchMode::Regex),
            (_, true) => Some(CodeSearchMode::Fixed),
            (false, false) => None,
        }
    }

    fn ignore_case(&self) -> Option<bool> {
        match (self.ignore_case, self.case_sensitive) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            (false, false) => None,
        }
    }
}

pub(crate) fn cmd_search_code(
    ui: &mut Ui,
    host: &Host,
    args: &SearchCodeArgs,
) -> Result<Exit, OpError> {
    let request = SearchCodeRequest {
        project: None,
        refresh: args.refresh,
        strict: args.strict,
        format: Format::choose(None, ui),
        query: args.query.clone(),
        mode: args.mode(),
        ignore_case: args.ignore_case(),
        paths: args.paths.clone(),
        language: args.lang.clone(),
        context: Some(args.context),
        limit: Some(args.limit),
        budget: Some(args.budget),
        files_only: args.files_only,
    };
    let answer = ops::search_code(host, &request, &ui.events())?;
    print_payload(ui, &answer.payload)
}
