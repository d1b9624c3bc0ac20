//! An analysis as bytes.

use super::codec::{Decoder, Encoder};
use crate::languages::{
    Analysis, AnalysisRef, Depth, Import, ImportKind, ImportRef, Language, Outline, Problem,
    SymbolFacts, SymbolKind, SymbolRef, Visibility,
};

/// Grows whenever the same text would be analysed to something else; older analyses are then made again.
pub(super) const ANALYSIS_FORMAT: u32 = 3;

const DEPTHS: &[Depth] = &[Depth::None, Depth::Glance, Depth::Full];

const IMPORT_KINDS: &[ImportKind] = &[
    ImportKind::Module,
    ImportKind::Child,
    ImportKind::Path,
    ImportKind::System,
    ImportKind::Reexport,
    ImportKind::Type,
];

const SYMBOL_KINDS: &[SymbolKind] = &[
    SymbolKind::Function,
    SymbolKind::Method,
    SymbolKind::Class,
    SymbolKind::Struct,
    SymbolKind::Enum,
    SymbolKind::Interface,
    SymbolKind::Implementation,
    SymbolKind::Module,
    SymbolKind::Type,
    SymbolKind::Constant,
    SymbolKind::Macro,
];

const VISIBILITIES: &[Visibility] =
    &[Visibility::Public, Visibility::Internal, Visibility::Private];

const PROBLEMS: &[Problem] =
    &[Problem::NotText, Problem::TooLarge, Problem::Broken, Problem::TooMany, Problem::Unreadable];

pub(super) fn encode(analysis: &AnalysisRef<'_>, to: &mut Encoder) {
    let AnalysisRef { depth, imports, symbols, is_entry, is_test, problem } = analysis;
    to.byte(code(DEPTHS, *depth));
    to.byte(u8::from(*is_entry) | u8::from(*is_test) << 1);
    to.byte(problem.map_or(0, |problem| code(PROBLEMS, problem) + 1));
    to.list(imports, |to, Import { text, line, kind }| {
        to.text(text);
        to.number(u64::from(*line));
        to.byte(code(IMPORT_KINDS, *kind));
    });
    to.list(symbols, |to, symbol| {
        to.text(symbol.name);
        to.byte(code(SYMBOL_KINDS, symbol.kind));
        to.number(u64::from(symbol.first_line));
        to.number(u64::from(symbol.last_line));
        to.byte(code(VISIBILITIES, symbol.visibility));
        to.text(&symbol.signature);
        to.word(symbol.signature_hash);
        to.word(symbol.body_hash);
    });
}

pub(super) fn decode(bytes: &[u8]) -> Option<Analysis> {
    let mut from = Decoder::new(bytes);
    let whole = decode_whole(&mut from)?;
    let symbols = from.list(|from| {
        Some(SymbolFacts {
            name: from.text()?.to_owned(),
            kind: meaning(SYMBOL_KINDS, from.byte()?)?,
            first_line: from.small()?,
            last_line: from.small()?,
            visibility: meaning(VISIBILITIES, from.byte()?)?,
            signature: from.text()?.to_owned(),
            signature_hash: from.word()?,
            body_hash: from.word()?,
        })
    })?;
    from.is_empty().then_some(Analysis { symbols, ..whole })
}

/// What stands before the symbols.
fn decode_whole(from: &mut Decoder<'_>) -> Option<Analysis> {
    let depth = meaning(DEPTHS, from.byte()?)?;
    let (is_entry, is_test) = decode_roles(from.byte()?);
    let problem = decode_problem(from.byte()?)?;
    let imports = from.list(|from| {
        Some(Import {
            text: from.text()?.to_owned(),
            line: from.small()?,
            kind: meaning(IMPORT_KINDS, from.byte()?)?,
        })
    })?;
    Some(Analysis { depth, imports, symbols: Vec::new(), is_entry, is_test, problem })
}

fn decode_roles(roles: u8) -> (bool, bool) {
    (roles & 1 != 0, roles & 2 != 0)
}

fn decode_problem(code: u8) -> Option<Option<Problem>> {
    match code {
        0 => Some(None),
        code => meaning(PROBLEMS, code - 1).map(Some),
    }
}

/// Reads what an analysis says of the text as a whole; a tenth of the work, and no text of it is copied.
pub(super) fn decode_outline(bytes: &[u8], language: Language) -> Option<Outline<'_>> {
    let mut from = Decoder::new(bytes);
    from.byte()?;
    let (is_entry, is_test) = decode_roles(from.byte()?);
    let problem = decode_problem(from.byte()?)?;
    let imports = from.list(|from| {
        let (text, line) = (from.text()?, from.small()?);
        Some(ImportRef { text, line, kind: meaning(IMPORT_KINDS, from.byte()?)? })
    })?;
    let has_names = language.is_found_by_names();
    let (mut symbols, mut is_public) = (Vec::new(), false);
    for _ in 0..from.number()? {
        let name = if has_names { from.text()? } else { from.skip_text().map(|()| "")? };
        let kind = meaning(SYMBOL_KINDS, from.byte()?)?;
        from.number()?;
        from.number()?;
        let visibility = meaning(VISIBILITIES, from.byte()?)?;
        from.skip_text()?;
        from.word()?;
        from.word()?;
        is_public |= visibility == Visibility::Public && kind.is_offered();
        if has_names {
            symbols.push(SymbolRef { name, kind });
        }
    }
    let outline = Outline { imports, symbols, is_entry, is_test, is_public, problem };
    from.is_empty().then_some(outline)
}

/// The names of an analysis' symbols, in their order, without reading more than it takes to find them.
pub(super) fn names(bytes: &[u8]) -> Option<Vec<&str>> {
    let mut from = Decoder::new(bytes);
    for _ in 0..3 {
        from.byte()?;
    }
    from.list(|from| {
        from.text()?;
        from.number()?;
        from.byte()
    })?;
    from.list(|from| {
        let name = from.text()?;
        from.byte()?;
        from.number()?;
        from.number()?;
        from.byte()?;
        from.text()?;
        from.word()?;
        from.word()?;
        Some(name)
    })
}

/// How deep an analysis went, by its first byte.
pub(super) fn depth_of(bytes: &[u8]) -> Depth {
    bytes.first().and_then(|code| meaning(DEPTHS, *code)).unwrap_or_default()
}

fn code<T: Copy + PartialEq>(table: &[T], value: T) -> u8 {
    let at = table.iter().position(|known| *known == value);
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

fn meaning<T: Copy>(table: &[T], code: u8) -> Option<T> {
    table.get(usize::from(code)).copied()
}
