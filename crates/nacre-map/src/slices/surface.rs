//! What files offer to others: their public symbols.

use nacre_core::base::redact::redact;
use serde::{Deserialize, Serialize};

use super::map::Map;
use super::overview::Listed;
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

/// The surfaces of the first files that have one, as far as the limits go.
pub(super) fn surfaces(
    map: &Map,
    in_order: &[usize],
    n_files: usize,
    n_symbols: usize,
) -> Listed<Surface> {
    let mut items = Vec::new();
    let mut total = 0;
    for file in in_order.iter().map(|idx| &map.files[*idx]) {
        let public = file.analysis.symbols.iter().filter(|symbol| is_offered(symbol));
        let n_public = public.clone().count();
        if n_public == 0 {
            continue;
        }
        total += 1;
        if items.len() < n_files {
            let symbols = public.take(n_symbols).map(|symbol| SurfaceSymbol {
                name: symbol.name.clone(),
                kind: symbol.kind,
                line: symbol.first_line,
                signature: redact(&symbol.signature).into_owned(),
            });
            let symbols = Listed { total: n_public, items: symbols.collect() };
            items.push(Surface { path: file.path.to_string(), symbols });
        }
    }
    Listed { total, items }
}

/// Modules say where things are and implementations what was offered already.
fn is_offered(symbol: &SymbolFacts) -> bool {
    let is_thing = !matches!(symbol.kind, SymbolKind::Module | SymbolKind::Implementation);
    symbol.visibility == Visibility::Public && is_thing
}
