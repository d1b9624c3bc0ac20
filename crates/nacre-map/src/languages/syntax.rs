//! Trees, made within bounds that need no clock.
//!
//! A grammar that has lost its way in a text can take very long to find out. The parser reports after every hundred of its steps,
//! asks for the text in blocks and for memory in pieces; all of it is counted, and that much is allowed as real code of that
//! size needs, a few times over. The same text always ends the same way. `examples/hostile.rs` measures both real code and
//! texts that are made to be dear.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::OnceLock;

use ast_grep_core::tree_sitter::LanguageExt as _;
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use super::counted;
use super::language::Language;
use super::rules::{Rule, WRAPPERS, import_nodes, rules};
use super::{MAX_TEXT_BYTES, ParseError};

/// The text is handed out in blocks of this size: a scanner that looks far ahead again and again asks for many of them.
const BLOCK_BYTES: usize = 256;

/// What a text took of its parser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseCost {
    /// One for each hundred steps.
    pub reports: usize,
    /// Blocks of text that were asked for.
    pub blocks: usize,
    /// Pieces of memory that were taken and given back; a large one counts as several.
    pub dropped: usize,
    /// Pieces of memory that were held at once, of 100 to 250 bytes each.
    pub held: usize,
    /// Places on the parser's stack, for what is not closed yet.
    pub stacked: usize,
}

/// What every text may take, however short. Tables of numbers and C++ that is read as C need it: they take the most for each byte.
const FREE: ParseCost =
    ParseCost { reports: 10_000, blocks: 10_000, dropped: 200_000, held: 200_000, stacked: 3_000 };

/// What a text may take beyond that for each thousand bytes. Real code takes up to 26,
/// 17, 130 (but for one test of a lexer, 380) and 1,070, and at most 1,000 places on the stack.
const PER_1000_BYTES: ParseCost =
    ParseCost { reports: 30, blocks: 20, dropped: 150, held: 850, stacked: 0 };

impl ParseCost {
    /// What a text of that size may take.
    pub(super) fn allowed(size: usize) -> Self {
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

/// The tree of a text.
pub(super) fn tree_of(text: &str, language: Language) -> Result<Tree, ParseError> {
    if MAX_TEXT_BYTES < text.len() {
        return Err(ParseError::TooLarge { size: text.len() });
    }
    let most = ParseCost::allowed(text.len());
    let (tree, cost) = parsed(text, language, most)?;
    tree.filter(|_| cost.is_within(most)).ok_or(ParseError::TooHard { language })
}

/// Whether a parser is stopped that takes too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    Kept,
    Lifted,
}

/// What a text takes of its parser, for measuring what the bounds should be and whether they hold.
pub fn parse_cost(text: &str, language: Language, bounds: Bounds) -> Result<ParseCost, ParseError> {
    let most = match bounds {
        Bounds::Kept => ParseCost::allowed(text.len()),
        Bounds::Lifted => ParseCost { stacked: usize::MAX, ..ParseCost::allowed(usize::MAX) },
    };
    Ok(parsed(text, language, most)?.1)
}

fn parsed(
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
    // One that was used before has memory at hand, and would take less of it.
    let mut parser = Parser::new();
    let grammar = language.grammar().get_ts_language();
    parser.set_language(&grammar).map_err(|_| ParseError::Grammar { language })?;
    Ok(within_bounds(&mut parser, text, most))
}

/// Texts of Kotlin with more expressions in strings are not parsed: where these lie in each other 512 deep, its scanner ends the
/// whole process.
const MAX_KOTLIN_EXPRESSIONS: usize = 450;

/// Whether a grammar may end the process over a text.
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
        // A scanner that looks ahead for ever finds an end; the next report ends the rest. No character is cut in two: the
        // parser would ask for the rest of it, and cannot stand that there is none.
        let is_within = note(0, 1);
        let end = if is_within { text.floor_char_boundary(at + BLOCK_BYTES) } else { at };
        text.get(at..end).unwrap_or_default().as_bytes()
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    note(0, 0);
    (tree, cost.get())
}

/// Whether nodes of a tree lie in more nodes than that.
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
    counted::count_allocations();
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
