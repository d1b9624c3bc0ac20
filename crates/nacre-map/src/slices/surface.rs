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
    let is_offered =
        |symbol: &&SymbolFacts| symbol.visibility == Visibility::Public && symbol.kind.is_offered();
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
