//! Parses source code within deterministic limits, because a grammar's error recovery can take a
//! very long time.
//!
//! Progress reports, block reads and memory allocations are counted, and limited to a few times
//! what real code of the same size needs (measured by `nacre-lab map grammars`).

use std::cell::Cell;
use std::ops::ControlFlow;

use ast_grep_core::tree_sitter::LanguageExt as _;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::counted;
use super::language::Language;
use super::{MAX_TEXT_BYTES, ParseError};

/// The source is passed to the parser in blocks of this size, so that repeated long lookahead is
/// counted.
const BLOCK_BYTES: usize = 256;

/// How much work a parser did on one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseCost {
    /// Number of progress reports, one per hundred parser steps.
    pub reports: usize,
    pub blocks: usize,
    /// Number of freed memory blocks. A large block counts as several.
    pub dropped: usize,
    /// Peak number of simultaneously allocated memory blocks of 100 to 250 bytes each.
    pub held: usize,
    /// Maximum number of nodes on the parser's stack. These nodes represent unclosed constructs.
    pub stacked: usize,
}

/// Allowance for every file, regardless of its size. It covers the inputs that cost the most per
/// byte: tables of numbers, and C++ parsed as C.
const FREE: ParseCost =
    ParseCost { reports: 10_000, blocks: 10_000, dropped: 200_000, held: 200_000, stacked: 3_000 };

/// Additional allowance per thousand bytes. Per thousand bytes, real code needs up to 26 reports,
/// 17 blocks, 130 freed blocks (380 in one lexer test) and 1,070 held blocks. The number of stack
/// nodes does not depend on the size and is at most 1,000.
const PER_1000_BYTES: ParseCost =
    ParseCost { reports: 30, blocks: 20, dropped: 150, held: 850, stacked: 0 };

impl ParseCost {
    pub(super) fn limit_for(size: usize) -> Self {
        let most =
            |free: usize, more: usize| free.saturating_add(more.saturating_mul(size) / 1_000);
        Self {
            reports: most(FREE.reports, PER_1000_BYTES.reports),
            blocks: most(FREE.blocks, PER_1000_BYTES.blocks),
            dropped: most(FREE.dropped, PER_1000_BYTES.dropped),
            held: most(FREE.held, PER_1000_BYTES.held),
            stacked: most(FREE.stacked, PER_1000_BYTES.stacked),
        }
    }

    fn is_within(self, most: Self) -> bool {
        self.reports <= most.reports
            && self.blocks <= most.blocks
            && self.dropped <= most.dropped
            && self.held <= most.held
            && self.stacked <= most.stacked
    }
}

pub(super) fn tree_of(text: &str, language: Language) -> Result<Tree, ParseError> {
    if MAX_TEXT_BYTES < text.len() {
        return Err(ParseError::TooLarge { size: text.len() });
    }
    let most = ParseCost::limit_for(text.len());
    let (tree, cost) = parse_with_cost(text, language, most)?;
    tree.filter(|_| cost.is_within(most)).ok_or(ParseError::TooHard { language })
}

/// Measures how much work it takes to parse a file. The limits are based on these measurements.
pub fn parse_cost(
    text: &str,
    language: Language,
    is_limited: bool,
) -> Result<ParseCost, ParseError> {
    let most = match is_limited {
        true => ParseCost::limit_for(text.len()),
        false => ParseCost { stacked: usize::MAX, ..ParseCost::limit_for(usize::MAX) },
    };
    Ok(parse_with_cost(text, language, most)?.1)
}

fn parse_with_cost(
    text: &str,
    language: Language,
    most: ParseCost,
) -> Result<(Option<Tree>, ParseCost), ParseError> {
    if !language.has_grammar() {
        return Err(ParseError::Grammar { language });
    }
    if would_abort(text, language) {
        return Err(ParseError::TooHard { language });
    }
    counted::count_allocations();
    // Use a new parser for each measurement, because a reused parser has spare memory and would
    // allocate less.
    let mut parser = Parser::new();
    let grammar = language.grammar().get_ts_language();
    parser.set_language(&grammar).map_err(|_| ParseError::Grammar { language })?;
    Ok(within_bounds(&mut parser, text, most))
}

/// Kotlin files with more string interpolations than this are not parsed. If 512 interpolations are
/// nested, the grammar's scanner aborts the process.
const MAX_KOTLIN_EXPRESSIONS: usize = 450;

fn would_abort(text: &str, language: Language) -> bool {
    let expressions = || memchr::memmem::find_iter(text.as_bytes(), "${");
    language == Language::Kotlin && expressions().nth(MAX_KOTLIN_EXPRESSIONS).is_some()
}

fn within_bounds(parser: &mut Parser, text: &str, most: ParseCost) -> (Option<Tree>, ParseCost) {
    counted::start();
    let cost = Cell::new(ParseCost::default());
    let note = |n_reports: usize, n_blocks: usize| {
        let counted::Counts { n_dropped, n_held, n_stacked } = counted::counts();
        let ParseCost { reports, blocks, held, stacked, .. } = cost.get();
        cost.set(ParseCost {
            reports: reports + n_reports,
            blocks: blocks + n_blocks,
            dropped: n_dropped,
            held: held.max(usize::try_from(n_held).unwrap_or(0)),
            stacked: stacked.max(usize::try_from(n_stacked).unwrap_or(0)),
        });
        cost.get().is_within(most)
    };
    let mut report = |_: &ParseState| match note(1, 0) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let mut read = |at: usize, _| {
        // Once a limit is exceeded, make the source appear to end here. This stops an endless
        // lookahead, and the next progress report cancels the parser. Blocks end at character
        // boundaries, because the parser fails on split characters.
        let is_within = note(0, 1);
        let end = if is_within { text.floor_char_boundary(at + BLOCK_BYTES) } else { at };
        text.get(at..end).unwrap_or_default().as_bytes()
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    note(0, 0);
    (tree, cost.get())
}

pub(super) fn is_deeper_than(tree: &Tree, most: usize) -> bool {
    let mut cursor = tree.walk();
    let mut depth = 0;
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if most < depth {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}
