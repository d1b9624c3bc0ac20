//! What files offer to others: their public symbols.

use nacre_core::base::redact::redact;
use serde::{Deserialize, Serialize};

use super::listed::Listed;
use crate::languages::{SymbolFacts, SymbolKind, Visibility};

/// The public symbols of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surface {
    pub path: String,
    pub symbols: Listed<SurfaceSymbol>,
}

/// A public symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurfaceSymbol {
    pub name: String,
    pub kind: SymbolKind,
    pub line: u32,
    pub signature: String,
}

/// The public symbols of a file, as many as the limit says; `None` when it has none.
pub(super) fn surface(path: &str, symbols: &[SymbolFacts], limit: usize) -> Option<Surface> {
    // What a trait asks for was offered by the trait, and `__init__` by its class.
    let is_implied =
        |name: &str| name.contains(" for ") || name.rsplit('.').next().is_some_and(is_dunder);
    let is_offered = |symbol: &&SymbolFacts| {
        let is_public = symbol.visibility == Visibility::Public && symbol.kind.is_offered();
        is_public && !is_implied(&symbol.name)
    };
    let public = symbols.iter().filter(is_offered);
    let total = public.clone().count();
    let items = public.take(limit).map(|symbol| SurfaceSymbol {
        name: symbol.name.clone(),
        kind: symbol.kind,
        line: symbol.first_line,
        signature: redact(&symbol.signature).into_owned(),
    });
    let symbols = Listed { total, items: items.collect() };
    (0 < total).then(|| Surface { path: path.to_owned(), symbols })
}

fn is_dunder(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}
