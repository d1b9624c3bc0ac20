//! Trees, made within bounds that need no clock.
//!
//! A grammar that has lost its way in a text can take very long to find out. The parser reports after every hundred of its steps
//! and asks for the text in blocks; so many of both are allowed as a text of that size can need. The same text always ends the
//! same way.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use ast_grep_core::tree_sitter::LanguageExt as _;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::language::Language;
use super::rules::{Rule, WRAPPERS, import_nodes, rules};
use super::{MAX_TEXT_BYTES, ParseError};

/// The text is handed out in blocks of this size: a scanner that looks far ahead again and again asks for many of them.
const BLOCK_BYTES: usize = 4_096;

/// Blocks that every text may take, and how often each of its own may be asked for. Real code needs three times.
const FREE_BLOCKS: usize = 1_000;
const ASKED_PER_BLOCK: usize = 20;

/// Reports that every text may take, and how many bytes earn one more. Real code needs one in fifty bytes.
const FREE_REPORTS: usize = 1_000;
const BYTES_PER_REPORT: usize = 20;

thread_local! {
    static PARSERS: RefCell<HashMap<Language, Parser>> = RefCell::new(HashMap::new());
}

/// The tree of a text.
pub(super) fn tree_of(text: &str, language: Language) -> Result<Tree, ParseError> {
    if MAX_TEXT_BYTES < text.len() {
        return Err(ParseError::TooLarge { size: text.len() });
    }
    if !language.has_grammar() {
        return Err(ParseError::Grammar { language });
    }
    PARSERS.with_borrow_mut(|parsers| {
        let parser = parsers.entry(language).or_insert_with(Parser::new);
        if parser.language().is_none() {
            let grammar = language.grammar().get_ts_language();
            parser.set_language(&grammar).map_err(|_| ParseError::Grammar { language })?;
        }
        let tree = within_bounds(parser, text.as_bytes());
        // What an abandoned parse left behind would be taken up by the next one.
        parser.reset();
        tree.ok_or(ParseError::TooHard { language })
    })
}

fn within_bounds(parser: &mut Parser, text: &[u8]) -> Option<Tree> {
    let max_reports = FREE_REPORTS + text.len() / BYTES_PER_REPORT;
    let max_blocks = FREE_BLOCKS + text.len() / BLOCK_BYTES * ASKED_PER_BLOCK;
    let (mut n_reports, n_blocks) = (0, Cell::new(0));
    let mut report = |_: &ParseState| {
        n_reports += 1;
        let is_lost = max_reports < n_reports || max_blocks < n_blocks.get();
        if is_lost { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let mut read = |at: usize, _| {
        n_blocks.set(n_blocks.get() + 1);
        // A scanner that looks ahead for ever finds an end; the next report ends the rest.
        let is_lost = max_blocks < n_blocks.get();
        let end = if is_lost { at } else { text.len().min(at + BLOCK_BYTES) };
        text.get(at..end).unwrap_or_default()
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.filter(|_| n_blocks.get() <= max_blocks)
}

/// What a kind of node means to a walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meaning {
    pub(super) rule: Option<&'static Rule>,
    pub(super) is_import: bool,
    pub(super) is_wrapper: bool,
}

/// The meanings of all kinds of nodes of a language, by the number that its grammar gave them.
pub(super) fn meanings(language: Language) -> &'static [Meaning] {
    static TABLES: OnceLock<HashMap<Language, Vec<Meaning>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| {
        let known = Language::all().filter(|language| language.has_grammar());
        known.map(|language| (language, table(language))).collect()
    });
    tables.get(&language).map_or(&[], Vec::as_slice)
}

fn table(language: Language) -> Vec<Meaning> {
    let grammar = language.grammar().get_ts_language();
    let meaning = |id: usize| {
        let id = u16::try_from(id).ok()?;
        let kind = grammar.node_kind_for_id(id).filter(|_| grammar.node_kind_is_named(id))?;
        Some(Meaning {
            rule: rules(language).iter().find(|rule| rule.node == kind),
            is_import: import_nodes(language).contains(&kind),
            is_wrapper: WRAPPERS.contains(&kind),
        })
    };
    (0..grammar.node_kind_count()).map(|id| meaning(id).unwrap_or_default()).collect()
}
