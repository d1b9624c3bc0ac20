//! One walk over a tree: what is declared, what lies in what, and which statements import.
//!
//! The walk goes by a cursor and keeps what it is inside of on a list of its own: it asks no node for its parent, which
//! tree-sitter would look for from the root, and it recurses nowhere.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::language::Language;
use super::names::{Named, named};
use super::symbol::SymbolKind;
use super::syntax::{Meaning, meanings};

/// A text with more symbols is data, not code.
const MAX_SYMBOLS: usize = 5_000;

/// A text with more imports was made by a program.
const MAX_IMPORTS: usize = 2_000;

/// A tree with more nodes is not walked to its end.
const MAX_NODES: usize = 500_000;

/// Something declared, still tied to the tree.
#[derive(Clone, Debug)]
pub(super) struct Declaration<'t> {
    pub(super) kind: SymbolKind,
    pub(super) name: String,
    /// Where the name stands.
    pub(super) name_at: Range<usize>,
    pub(super) node: Node<'t>,
    /// Where it begins with what stands around it: `export`, decorators.
    pub(super) start: usize,
    pub(super) first_row: usize,
    /// How many declarations it lies in.
    pub(super) depth: usize,
    /// The nearest of those, by its place in the list.
    pub(super) within: Option<usize>,
}

/// A statement that imports.
#[derive(Clone, Debug)]
pub(super) struct Statement<'t> {
    pub(super) node: Node<'t>,
    /// The declarations around it, outermost first, by their places in the list.
    pub(super) within: Vec<usize>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walked<'t> {
    pub(super) declarations: Vec<Declaration<'t>>,
    pub(super) statements: Vec<Statement<'t>>,
    /// Whether there was more than a person would write.
    pub(super) is_cut: bool,
}

/// How far a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// To all declarations that are nobody's own affair.
    Declarations,
    /// To every node: imports may stand inside a function.
    Everything,
}

/// A declaration that the walk is inside of.
#[derive(Clone, Copy)]
struct Open {
    level: usize,
    idx: usize,
    kind: SymbolKind,
}

/// Walks over a tree.
pub(super) fn walk<'t>(tree: &'t Tree, text: &str, language: Language, reach: Reach) -> Walked<'t> {
    let mut walker = Walker {
        text,
        meanings: meanings(language),
        open: Vec::new(),
        wrapper: None,
        walked: Walked::default(),
    };
    let mut cursor = tree.walk();
    let (mut level, mut n_nodes) = (0, 0);
    loop {
        n_nodes += 1;
        if MAX_NODES < n_nodes || walker.is_full() {
            walker.walked.is_cut = true;
            break;
        }
        let is_closed = walker.visit(cursor.node(), level) && reach == Reach::Declarations;
        if !is_closed && cursor.goto_first_child() {
            level += 1;
            continue;
        }
        loop {
            walker.leave(level);
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return walker.walked;
            }
            level -= 1;
        }
    }
    walker.walked
}

struct Walker<'t, 's> {
    text: &'s str,
    meanings: &'static [Meaning],
    open: Vec<Open>,
    /// Where the wrapper that was entered last stands, with what is around it in turn.
    wrapper: Option<Wrapper>,
    walked: Walked<'t>,
}

#[derive(Clone, Copy)]
struct Wrapper {
    level: usize,
    start: usize,
    row: usize,
}

impl<'t> Walker<'t, '_> {
    fn is_full(&self) -> bool {
        MAX_SYMBOLS <= self.walked.declarations.len() || MAX_IMPORTS <= self.walked.statements.len()
    }

    /// Notes what a node is; says whether what it holds is its own affair.
    fn visit(&mut self, node: Node<'t>, level: usize) -> bool {
        let Some(meaning) = self.meanings.get(usize::from(node.kind_id())).copied() else {
            return false;
        };
        if meaning.is_wrapper {
            let around = self.wrapper.filter(|wrapper| wrapper.level + 1 == level);
            let own = Wrapper { level, start: node.start_byte(), row: node.start_position().row };
            self.wrapper = Some(around.map_or(own, |around| Wrapper { level, ..around }));
        }
        if meaning.is_import {
            let within = self.open.iter().map(|open| open.idx).collect();
            self.walked.statements.push(Statement { node, within });
        }
        let is_inside = self.open.last().is_none_or(|open| open.kind.holds_symbols());
        let found =
            meaning.rule.filter(|_| is_inside).and_then(|rule| named(node, rule, self.text));
        found.is_some_and(|found| self.declare(node, level, found))
    }

    fn declare(&mut self, node: Node<'t>, level: usize, found: Named) -> bool {
        let around = self.open.last();
        let is_member = around.is_some_and(|open| open.kind.is_type());
        let is_method = is_member && found.kind == SymbolKind::Function;
        let kind = if is_method { SymbolKind::Method } else { found.kind };
        let wrapper = self.wrapper.filter(|wrapper| wrapper.level + 1 == level);
        let own = (node.start_byte(), node.start_position().row);
        let (start, first_row) = wrapper.map_or(own, |wrapper| (wrapper.start, wrapper.row));
        let idx = self.walked.declarations.len();
        self.walked.declarations.push(Declaration {
            kind,
            name: found.name,
            name_at: found.name_at,
            node,
            start,
            first_row,
            depth: self.open.len(),
            within: around.map(|open| open.idx),
        });
        self.open.push(Open { level, idx, kind });
        !kind.holds_symbols()
    }

    fn leave(&mut self, level: usize) {
        while self.open.last().is_some_and(|open| level <= open.level) {
            self.open.pop();
        }
    }
}
